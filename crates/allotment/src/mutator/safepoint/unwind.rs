//! Ends the process where unwinding would leave data half changed that other threads use.
//!
//! Refused: to poison the heap instead. Every thread would have to be told, in the middle of code
//! that has no error to return.

use crate::platform::abort_because;

/// Ends the process with the given reason when it is dropped, which happens when the guarded code
/// unwinds.
pub(crate) struct AbortOnUnwind(&'static str);

impl AbortOnUnwind {
    /// Guards the code that follows.
    pub(crate) fn new(reason: &'static str) -> AbortOnUnwind {
        #[cfg(test)]
        last_panics::remember();
        AbortOnUnwind(reason)
    }

    /// Ends the guard: the guarded code has finished.
    pub(crate) fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        #[cfg(test)]
        last_panics::tell();
        abort_because(format_args!("aborting, because {}", self.0));
    }
}

/// The test harness keeps what a test prints, its panics too, until the test ends. A test that ends
/// the process would take the message with it.
#[cfg(test)]
mod last_panics {
    use std::collections::VecDeque;
    use std::sync::{Mutex, Once, PoisonError};

    /// Of all threads: a panic may have poisoned a lock for another thread.
    static LAST: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

    /// Panics that are kept.
    const MOST: usize = 4;

    /// Panics from now on leave their messages and their places for `tell`.
    pub(super) fn remember() {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
                last.truncate(MOST - 1);
                last.push_front(format!("{panic}\n{}", std::backtrace::Backtrace::capture()));
                drop(last);
                before(panic);
            }));
        });
    }

    /// Writes the last panics, latest first, where the harness does not keep them.
    pub(super) fn tell() {
        for panic in &*LAST.lock().unwrap_or_else(PoisonError::into_inner) {
            crate::platform::tell(format_args!("{panic}"));
        }
    }
}
