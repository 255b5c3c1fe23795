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
        last_panic::remember();
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
        last_panic::tell();
        abort_because(format_args!("aborting, because {}", self.0));
    }
}

/// The test harness keeps what a test prints, its panics too, until the test ends. A test that ends
/// the process would take the message with it.
#[cfg(test)]
mod last_panic {
    use std::cell::RefCell;
    use std::sync::Once;

    thread_local! {
        static LAST: RefCell<String> = const { RefCell::new(String::new()) };
    }

    /// Panics from now on leave their message and their place for `tell`.
    pub(super) fn remember() {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                LAST.set(format!("{panic}\n{}", std::backtrace::Backtrace::capture()));
                before(panic);
            }));
        });
    }

    /// Writes the last panic of this thread where the harness does not keep it.
    pub(super) fn tell() {
        LAST.with_borrow(|last| crate::platform::tell(format_args!("{last}")));
    }
}
