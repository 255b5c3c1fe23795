//! The time for which a thread waits for a collection, or makes one: counted, drawn in timelines,
//! shown by probes.

use crate::mutator::{Cause, Outcome, Threads, Watch};
use crate::probes::probe;
use crate::timeline::{Arguments, Category};
use std::time::Instant;

/// Runs `collect`, for which the calling thread waits. Returns its outcome.
pub(super) fn stall(
    cause: Cause,
    threads: &Threads,
    watch: &Watch,
    collect: impl FnOnce() -> Outcome,
) -> Outcome {
    probe!(stall_begin, number(cause));
    let start = Instant::now();
    let outcome = collect();
    let time = start.elapsed();
    probe!(stall_end, number(cause), time.as_nanos());
    let text = match outcome {
        Outcome::Found | Outcome::Never => return outcome,
        Outcome::Collected => "collected",
        Outcome::Elsewhere => "another thread stopped the world",
        Outcome::Refused => "the system refused memory",
        Outcome::OverLimit(_) => "collections take too much time",
    };
    if cause == Cause::AllocationFailure {
        threads.stalls.record(time);
    }
    if let Some(timeline) = &watch.timeline {
        let name = match cause {
            Cause::AllocationFailure => "Allocation stall",
            Cause::Requested => "Requested collection",
            _ => "Collection",
        };
        timeline.did(Category::Stall, name, (start, time), Arguments::default().text("outcome", text));
    }
    outcome
}

/// The cause as an argument of probes.
fn number(cause: Cause) -> usize {
    match cause {
        Cause::AllocationFailure => 0,
        Cause::Requested => 1,
        _ => 2,
    }
}
