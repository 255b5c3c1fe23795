//! The end of the process, where unwinding would leave half changed what other threads use.
//!
//! To poison the heap instead was refused: every thread would have to be told, in the middle of code that has no error to return.

use crate::platform::abort_because;

/// Ends the process when it is dropped, which is when what it guards unwinds; with the reason.
pub(crate) struct AbortOnUnwind(pub(crate) &'static str);

impl AbortOnUnwind {
    /// What it guarded is over.
    pub(crate) fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        abort_because(format_args!("aborting, because {}", self.0));
    }
}
