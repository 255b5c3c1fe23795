//! What one collection did, as data and as the line that readers of HotSpot's `-Xlog:gc` know.

use crate::mutator::Cause;
use std::fmt;
use std::time::Duration;

/// What a collection looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CollectionKind {
    /// The whole heap, while every thread was stopped.
    Full,
}

impl fmt::Display for CollectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            CollectionKind::Full => "Pause Full",
        })
    }
}

/// A part of a collection and the time it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Its name.
    pub name: &'static str,
    /// How long it took.
    pub time: Duration,
}

/// One collection.
///
/// Prints as `GC(3) Pause Full (Allocation Failure) 24M->10M(64M) 12.345ms`: used before and after, committed
/// in parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionRecord {
    /// Its number, from 0.
    pub number: u64,
    /// What it looked at.
    pub kind: CollectionKind,
    /// Why it began.
    pub cause: Cause,
    /// When the pause began, since the heap was made.
    pub start: Duration,
    /// How long all threads stood still.
    pub pause: Duration,
    /// From the request to stop until the last thread had.
    pub time_to_safepoint: Duration,
    /// The parts of the pause, in order.
    pub phases: Vec<Phase>,
    /// Threads that worked on it.
    pub workers: usize,
    /// Bytes handed out as buffers and objects, before.
    pub used_before: usize,
    /// The same, after.
    pub used_after: usize,
    /// Bytes with memory behind them, after.
    pub committed: usize,
    /// Objects that were found alive.
    pub live_objects: usize,
    /// Their bytes, headers included.
    pub live_bytes: usize,
    /// Bytes of objects that moved.
    pub moved_bytes: usize,
    /// Weak fields and roots that were cleared.
    pub weak_cleared: usize,
    /// Bytes given back to the system.
    pub uncommitted: usize,
}

impl CollectionRecord {
    /// One line for each phase, as `-Xlog:gc+phases` has them: `GC(3) Mark 4.100ms`.
    pub fn phase_lines(&self) -> impl Iterator<Item = String> + '_ {
        self.phases
            .iter()
            .map(|phase| format!("GC({}) {} {}", self.number, phase.name, Milliseconds(phase.time)))
    }
}

impl fmt::Display for CollectionRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "GC({}) {} ({}) {}M->{}M({}M) {}",
            self.number,
            self.kind,
            self.cause,
            self.used_before >> 20,
            self.used_after >> 20,
            self.committed >> 20,
            Milliseconds(self.pause)
        )
    }
}

struct Milliseconds(Duration);

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}ms", self.0.as_secs_f64() * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_prints_as_the_line_users_of_gc_logs_know() {
        let record = CollectionRecord {
            number: 3,
            kind: CollectionKind::Full,
            cause: Cause::AllocationFailure,
            start: Duration::from_secs(1),
            pause: Duration::from_micros(12_345),
            time_to_safepoint: Duration::from_micros(20),
            phases: vec![Phase { name: "Mark", time: Duration::from_micros(4100) }],
            workers: 1,
            used_before: 24 << 20,
            used_after: (11 << 20) - 1,
            committed: 64 << 20,
            live_objects: 7,
            live_bytes: 10 << 20,
            moved_bytes: 0,
            weak_cleared: 0,
            uncommitted: 0,
        };
        assert_eq!(record.to_string(), "GC(3) Pause Full (Allocation Failure) 24M->10M(64M) 12.345ms");
        assert_eq!(record.phase_lines().collect::<Vec<_>>(), ["GC(3) Mark 4.100ms"]);
    }
}
