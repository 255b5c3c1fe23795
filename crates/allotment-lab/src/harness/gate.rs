//! The gate at which threads wait between two iterations, while the controller reports and its
//! probe reads.
//!
//! Threads sleep here: a spinning thread would take the CPU from the controller.

use crate::hold::hold;
use std::sync::{Condvar, Mutex, PoisonError};

/// A gate in front of each iteration.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    /// The number of iterations that may be entered.
    entered: usize,
    closed: bool,
}

impl Gate {
    /// Lets all threads into the iteration `index`.
    pub(super) fn open(&self, index: usize) {
        hold(&self.state).entered = index + 1;
        self.changed.notify_all();
    }

    /// Ends the waiting of all threads, now and later.
    pub(super) fn close(&self) {
        hold(&self.state).closed = true;
        self.changed.notify_all();
    }

    /// Waits for an iteration; false if there will be none.
    pub(super) fn wait(&self, index: usize) -> bool {
        let blocked = |state: &mut GateState| state.entered <= index && !state.closed;
        let state = self.changed.wait_while(hold(&self.state), blocked);
        !state.unwrap_or_else(PoisonError::into_inner).closed
    }
}
