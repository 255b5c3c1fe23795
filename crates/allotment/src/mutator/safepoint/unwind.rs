//! Ends the process where unwinding would leave data half changed that other threads use.
//!
//! Refused: to poison the heap instead. Every thread would have to be told, in the middle of code
//! that has no error to return.

use crate::platform::abort_because;

/// Ends the process with the given reason when it is dropped, which happens when the guarded code
/// unwinds.
pub(crate) struct AbortOnUnwind(pub(crate) &'static str);

impl AbortOnUnwind {
    /// Ends the guard: the guarded code has finished.
    pub(crate) fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        abort_because(format_args!("aborting, because {}", self.0));
    }
}
