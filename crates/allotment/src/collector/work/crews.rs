//! Crews that are kept from one collection to the next.
//!
//! A new crew asks the system's allocator for memory, in the pause. Among hundreds of threads, one
//! may have lost its CPU while it held that allocator's lock. Then the pause waits for that
//! thread's turn, for up to 11 ms when the collection itself took 3 ms. For the same reason a crew
//! keeps some of the pieces it made. Refused: one crew of the greatest size. A round ends when all
//! workers of the crew idle, so it would wait for unwanted workers, too.

use super::crew::{Crew, Limits};
use crate::sync::{Mutex, POISONED};
use std::collections::TryReserveError;

/// Unused crews, one for each size that was wanted.
#[derive(Default)]
pub(crate) struct Crews(Mutex<Vec<Crew>>);

impl Crews {
    /// A crew of this many workers, at the beginning of a round. To be [kept](Self::keep) after the
    /// round.
    ///
    /// # Errors
    /// If there was no such crew and there is no memory for one.
    pub(crate) fn take(&self, workers: usize, limits: Limits) -> Result<Crew, TryReserveError> {
        let mut crews = self.0.lock().expect(POISONED);
        let Some(place) = crews.iter().position(|crew| crew.workers() == workers && crew.limits() == limits)
        else {
            // Room for its later return.
            crews.try_reserve(1)?;
            return Crew::new(workers, limits);
        };
        let crew = crews.swap_remove(place);
        crew.begin();
        Ok(crew)
    }

    /// Keeps a crew for another time.
    pub(crate) fn keep(&self, crew: Crew) {
        self.0.lock().expect(POISONED).push(crew);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_crew_is_kept_with_some_of_its_pieces_and_used_again() {
        let (crews, limits) = (Crews::default(), Limits { piece: 4, pieces: 100 });
        for round in 0..3 {
            for workers in [1, 3, 2] {
                let crew = crews.take(workers, limits).unwrap();
                assert_eq!(crew.workers(), workers);
                assert_eq!(crew.kept_pieces() > 0, round > 0, "of the rounds before");
                let mut stack = crew.worker(workers - 1);
                assert!((0..40).all(|entry| stack.push(entry)));
                assert!((0..40).rev().all(|entry| stack.pop() == Some(entry)));
                drop(stack);
                assert!((1..=8 * workers).contains(&crew.kept_pieces()));
                crews.keep(crew);
            }
            assert_eq!(crews.0.lock().unwrap().len(), 3);
        }
        let other = Limits { piece: 5, pieces: 100 };
        let crew = crews.take(1, other).unwrap();
        assert_eq!((crew.limits(), crew.kept_pieces()), (other, 0));
    }
}
