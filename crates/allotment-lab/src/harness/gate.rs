//! Where the controller holds the threads between two iterations, while it reports and its probe
//! looks.
//!
//! Threads sleep here: one that spun would take the CPU from the controller.

use std::sync::{Condvar, Mutex, PoisonError};

/// Where threads wait for their next iteration.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    /// Iterations that may be entered: those with a smaller index.
    entered: usize,
    closed: bool,
}

impl Gate {
    /// Lets all threads into the iteration `index`.
    pub(super) fn open(&self, index: usize) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).entered = index + 1;
        self.changed.notify_all();
    }

    /// Sends all threads home.
    pub(super) fn close(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.changed.notify_all();
    }

    /// Waits for an iteration; false if there will be none.
    pub(super) fn wait(&self, index: usize) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let blocked = |state: &mut GateState| state.entered <= index && !state.closed;
        let state = self.changed.wait_while(state, blocked).unwrap_or_else(PoisonError::into_inner);
        !state.closed
    }
}
