//! Whether a thread runs a hook of the embedder.
//!
//! Other threads may wait for what the heap does after the hook. If the hook drops the heap, its
//! end must not wait for such a thread: each would wait for the other.
//!
//! Refused: a list of the heap's own threads that may call hooks. Any thread that collects does.

use std::cell::Cell;

thread_local! {
    static IS_IN_HOOK: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread runs a hook.
pub(crate) fn is_in_hook() -> bool {
    IS_IN_HOOK.get()
}

/// Calls a hook.
pub(crate) fn in_hook<R>(hook: impl FnOnce() -> R) -> R {
    /// The state before, which comes back even if the hook panics.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            IS_IN_HOOK.set(self.0);
        }
    }
    let _before = Before(IS_IN_HOOK.replace(true));
    hook()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn a_thread_is_in_a_hook_until_the_outermost_returns_or_panics() {
        assert!(!is_in_hook());
        in_hook(|| {
            assert_eq!(in_hook(|| 7), 7);
            assert!(is_in_hook(), "the outer one goes on");
        });
        assert!(!is_in_hook());
        assert!(catch_unwind(|| in_hook(|| panic!("as the test wants it"))).is_err());
        assert!(!is_in_hook());
    }
}
