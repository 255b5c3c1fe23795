//! A thread that asks for cycles.
//!
//! A thread that asks for a collection waits for its end. The thread that measures must not wait,
//! since it holds the cycle in a phase. So it has another thread ask.

use allotment::Mutator;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The requests of the thread that measures.
#[derive(Debug, Default)]
pub(super) struct Requests {
    state: Mutex<State>,
    /// Notified when a request is made, and at the end.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Requests so far.
    made: u64,
    /// Requests whose collection has ended.
    ended: u64,
    over: bool,
}

/// Ends the thread that asks, also if the measurement fails.
pub(super) struct End<'r>(&'r Requests);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.changed.notify_all();
    }
}

impl Requests {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends [`serve`](Self::serve) when the result is dropped.
    pub(super) fn end_when_dropped(&self) -> End<'_> {
        End(self)
    }

    /// Makes a request, and returns its number.
    pub(super) fn make(&self) -> u64 {
        let mut state = self.lock();
        state.made += 1;
        self.changed.notify_all();
        state.made
    }

    /// Whether the collection of request `number` has ended.
    pub(super) fn has_ended(&self, number: u64) -> bool {
        self.lock().ended >= number
    }

    /// Asks for a collection for each request, until the end.
    pub(super) fn serve(&self, mutator: &mut Mutator<'_>) {
        let idle = |state: &mut State| state.made == state.ended && !state.over;
        loop {
            let made = mutator.blocking(|| {
                let state = self.changed.wait_while(self.lock(), idle);
                let state = state.unwrap_or_else(PoisonError::into_inner);
                (!state.over).then_some(state.made)
            });
            let Some(made) = made else { return };
            mutator.collect();
            self.lock().ended = made;
        }
    }
}
