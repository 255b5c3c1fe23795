//! Whether a thread stops a world: it must then wait for nobody who might wait for it.

use std::cell::Cell;

thread_local! {
    /// Whose world this thread stops, or has stopped; null: none.
    static STOPPING: Cell<*const ()> = const { Cell::new(std::ptr::null()) };
}

/// Whether this thread stops a world, or has stopped it: others may be waiting for it.
pub(in crate::mutator) fn is_stopping() -> bool {
    !STOPPING.get().is_null()
}

/// Whether it is the world of these threads: it must not wait for the end of the stop then.
pub(in crate::mutator) fn is_stopping_that<T>(threads: &T) -> bool {
    std::ptr::eq(STOPPING.get(), std::ptr::from_ref(threads).cast())
}

/// That this thread stops a world; until it is dropped.
pub(in crate::mutator) struct Stopping;

impl Stopping {
    pub(in crate::mutator) fn begin<T>(threads: &T) -> Stopping {
        STOPPING.set(std::ptr::from_ref(threads).cast());
        Stopping
    }
}

impl Drop for Stopping {
    fn drop(&mut self) {
        STOPPING.set(std::ptr::null());
    }
}
