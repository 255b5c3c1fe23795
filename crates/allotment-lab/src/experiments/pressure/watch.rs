//! The times of a thread's operations, and the allocations that failed, until the shot is over.

use allotment::OutOfMemory;
use std::time::{Duration, Instant};

/// The results of one thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Done {
    /// Times of the operations that are watched.
    pub(super) times: Vec<Duration>,
    /// Operations that were done, watched or not.
    pub(super) work: u64,
    /// Operations in which an allocation failed.
    pub(super) failed: u64,
    /// The time from the beginning of the shot to the first failure.
    pub(super) first_failure: Option<Duration>,
    /// Resident memory at certain moments, in bytes, with the names of its rows.
    pub(super) resident: Vec<(&'static str, u64)>,
}

/// Notes the results of one thread.
#[derive(Debug)]
pub(super) struct Watch {
    began: Instant,
    lasts: Duration,
    pub(super) done: Done,
}

impl Watch {
    /// A watch of a shot that began at `began`.
    pub(super) fn new(began: Instant, lasts: Duration) -> Watch {
        Watch { began, lasts, done: Done::default() }
    }

    /// The time until the shot is over; zero afterwards.
    pub(super) fn left(&self) -> Duration {
        self.lasts.saturating_sub(self.began.elapsed())
    }

    /// Whether the shot is not over.
    pub(super) fn goes_on(&self) -> bool {
        !self.left().is_zero()
    }

    /// Does an operation, and notes its time and its outcome.
    pub(super) fn time(&mut self, operation: impl FnOnce() -> Result<(), OutOfMemory>) {
        let begun = Instant::now();
        let outcome = operation();
        self.done.times.push(begun.elapsed());
        self.note(outcome);
    }

    /// Notes the outcome of an operation whose time is not watched.
    pub(super) fn note(&mut self, outcome: Result<(), OutOfMemory>) {
        match outcome {
            Ok(()) => self.done.work += 1,
            Err(_) => {
                self.done.failed += 1;
                self.done.first_failure.get_or_insert(self.began.elapsed());
            }
        }
    }
}

impl Done {
    /// Adds the results of another thread.
    pub(super) fn add(&mut self, other: Done) {
        self.times.extend(other.times);
        self.work += other.work;
        self.failed += other.failed;
        self.first_failure = [self.first_failure, other.first_failure].into_iter().flatten().min();
        self.resident.extend(other.resident);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use allotment::{Heap, NewSlots, alloc};

    #[test]
    fn operations_are_counted_by_their_outcome() {
        let heap = Heap::builder().max_heap_size(4 << 20).options("Collector=epsilon").unwrap();
        let heap = heap.build().unwrap();
        let mut watch = Watch::new(Instant::now(), Duration::from_secs(600));
        heap.attach(|mutator| {
            for bytes in [1000, 1 << 30, 1000] {
                watch.time(|| alloc!(mutator, NewSlots::new(bytes, 0_u8)).map(drop));
            }
            watch.note(Ok(()));
        })
        .unwrap();
        assert!(watch.goes_on());
        let one = watch.done;
        assert_eq!((one.times.len(), one.work, one.failed), (3, 3, 1));
        let early = one.first_failure.unwrap() / 2;
        let mut all = Done { work: 4, first_failure: Some(early), ..Done::default() };
        all.add(one);
        assert_eq!((all.times.len(), all.work, all.failed), (3, 7, 1));
        assert_eq!(all.first_failure, Some(early));
        assert!(!Watch::new(Instant::now(), Duration::ZERO).goes_on());
    }
}
