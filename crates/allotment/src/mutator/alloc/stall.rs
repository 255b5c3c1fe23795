//! The time for which a thread waits for a collection, or makes one: counted, drawn in timelines,
//! shown by probes.

use crate::mutator::{Cause, Outcome, Threads, Watch};
use crate::probes::probe;
use crate::timeline::{Arguments, Category};
use std::time::Instant;

/// A wait that is under way.
pub(super) struct Stall {
    cause: Cause,
    start: Instant,
}

impl Stall {
    pub(super) fn begin(cause: Cause) -> Stall {
        probe!(stall_begin, number(cause));
        Stall { cause, start: Instant::now() }
    }

    /// Ends the wait of the calling thread.
    pub(super) fn end(self, threads: &Threads, watch: &Watch, outcome: Outcome) {
        let time = self.start.elapsed();
        probe!(stall_end, number(self.cause), time.as_nanos());
        let outcome = match outcome {
            Outcome::Found | Outcome::Never => return,
            Outcome::Collected => "collected",
            Outcome::Elsewhere => "another thread stopped the world",
            Outcome::Refused => "the system refused memory",
            Outcome::OverLimit(_) => "collections take too much time",
        };
        if self.cause == Cause::AllocationFailure {
            threads.stalls.record(time);
        }
        if let Some(timeline) = &watch.timeline {
            let name = match self.cause {
                Cause::AllocationFailure => "Allocation stall",
                Cause::Requested => "Requested collection",
                _ => "Collection",
            };
            let arguments = Arguments::default().text("outcome", outcome);
            timeline.did(Category::Stall, name, (self.start, time), arguments);
        }
    }
}

/// The cause as an argument of probes.
fn number(cause: Cause) -> usize {
    match cause {
        Cause::AllocationFailure => 0,
        Cause::Requested => 1,
        _ => 2,
    }
}
