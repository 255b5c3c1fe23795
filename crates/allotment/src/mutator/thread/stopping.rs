//! Whether a thread stops a world. Such a thread must not wait for a thread that may be waiting for
//! it.

use std::cell::Cell;

thread_local! {
    /// The thread registry of the world that this thread stops, or has stopped. Null if none.
    static STOPPING: Cell<*const ()> = const { Cell::new(std::ptr::null()) };
}

/// Whether this thread stops a world, or has stopped it. Other threads may be waiting for it.
pub(in crate::mutator) fn is_stopping() -> bool {
    !STOPPING.get().is_null()
}

/// Whether this thread stops the world of these threads. It must not wait for the end of that stop.
pub(in crate::mutator) fn is_stopping_that<T>(threads: &T) -> bool {
    std::ptr::eq(STOPPING.get(), std::ptr::from_ref(threads).cast())
}

/// Marks this thread as stopping a world until the value is dropped.
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
