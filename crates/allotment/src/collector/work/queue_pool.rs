//! Task queues that are kept from one collection to the next.
//!
//! New task queues ask the system's allocator for memory, in the pause. Among hundreds of threads,
//! one may have lost its CPU while it held the lock of that allocator. Then the pause waits until
//! that thread runs again, for up to 11 ms when the collection itself took 3 ms. For the same
//! reason task queues keep some of their pieces. Refused: queues for the most workers only. A round
//! ends when all its workers idle, so it would wait for unwanted workers, too.

use super::task_queues::{StackLimits, TaskQueues};
use crate::sync::{Mutex, POISONED};
use std::collections::TryReserveError;

/// Unused task queues, for each number of workers that was wanted.
#[derive(Default)]
pub(crate) struct TaskQueuePool(Mutex<Vec<TaskQueues>>);

impl TaskQueuePool {
    /// Task queues for this many workers, at the beginning of a round. To be [kept](Self::keep)
    /// after the round.
    ///
    /// # Errors
    /// If there were no such queues and there is no memory for new ones.
    pub(crate) fn take(&self, workers: usize, limits: StackLimits) -> Result<TaskQueues, TryReserveError> {
        let mut unused = self.0.lock().expect(POISONED);
        let Some(place) =
            unused.iter().position(|queues| queues.workers() == workers && queues.limits == limits)
        else {
            // Room for its later return.
            unused.try_reserve(1)?;
            return TaskQueues::new(workers, limits);
        };
        let queues = unused.swap_remove(place);
        queues.begin();
        Ok(queues)
    }

    /// Keeps task queues for another time.
    pub(crate) fn keep(&self, queues: TaskQueues) {
        self.0.lock().expect(POISONED).push(queues);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn queues_are_kept_with_some_of_their_pieces_and_used_again() {
        let (pool, limits) = (TaskQueuePool::default(), StackLimits { piece: 4, pieces: 100 });
        for round in 0..3 {
            for workers in [1, 3, 2] {
                let queues = pool.take(workers, limits).unwrap();
                assert_eq!(queues.workers(), workers);
                assert_eq!(queues.kept_pieces() > 0, round > 0, "of the rounds before");
                let mut stack = queues.worker(workers - 1);
                assert!((0..40).all(|entry| stack.push(entry)));
                assert!((0..40).rev().all(|entry| stack.pop() == Some(entry)));
                drop(stack);
                assert!((1..=8 * workers).contains(&queues.kept_pieces()));
                pool.keep(queues);
            }
            assert_eq!(pool.0.lock().unwrap().len(), 3);
        }
        let other = StackLimits { piece: 5, pieces: 100 };
        let queues = pool.take(1, other).unwrap();
        assert_eq!((queues.limits, queues.kept_pieces()), (other, 0));
    }
}
