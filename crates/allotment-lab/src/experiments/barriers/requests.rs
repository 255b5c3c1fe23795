//! A thread that asks for cycles.
//!
//! A thread that asks for a collection waits for its end. The thread that measures must not wait,
//! since it holds the cycle in a phase. So it has another thread ask.

use crate::hold::hold;
use allotment::Mutator;
use std::sync::{Condvar, Mutex, PoisonError};

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

/// Ends [`Requests::serve`] when it is dropped, even if the measurement fails.
pub(super) struct End<'r>(pub(super) &'r Requests);

impl Drop for End<'_> {
    fn drop(&mut self) {
        hold(&self.0.state).over = true;
        self.0.changed.notify_all();
    }
}

impl Requests {
    /// Makes a request, and returns its number.
    pub(super) fn make(&self) -> u64 {
        let mut state = hold(&self.state);
        state.made += 1;
        self.changed.notify_all();
        state.made
    }

    /// Whether the collection of request `number` has ended.
    pub(super) fn has_ended(&self, number: u64) -> bool {
        hold(&self.state).ended >= number
    }

    /// Asks for a collection for each request, until the end.
    pub(super) fn serve(&self, mutator: &mut Mutator<'_>) {
        let idle = |state: &mut State| state.made == state.ended && !state.over;
        loop {
            let made = mutator.blocking(|| {
                let state = self.changed.wait_while(hold(&self.state), idle);
                let state = state.unwrap_or_else(PoisonError::into_inner);
                (!state.over).then_some(state.made)
            });
            let Some(made) = made else { return };
            mutator.collect();
            hold(&self.state).ended = made;
        }
    }
}
