//! Whether a thread stops a world. Such a thread must not wait for a thread that may be waiting for
//! it.

use super::registry::Registry;
use std::cell::Cell;
use std::ptr;

thread_local! {
    /// The threads whose world this thread stops, or has stopped. Null if there are none.
    static STOPPING: Cell<*const Registry> = const { Cell::new(ptr::null()) };
}

/// Whether this thread stops a world, or has stopped it. Other threads may be waiting for it.
pub(in crate::mutator) fn is_stopping() -> bool {
    !STOPPING.get().is_null()
}

/// Whether this thread stops the world of these threads. It must not wait for the end of that stop.
pub(in crate::mutator) fn is_stopping_that(threads: &Registry) -> bool {
    ptr::eq(STOPPING.get(), threads)
}

/// Marks this thread as stopping a world until the value is dropped.
pub(in crate::mutator) struct Stopping;

impl Stopping {
    pub(in crate::mutator) fn begin(threads: &Registry) -> Stopping {
        STOPPING.set(threads);
        Stopping
    }
}

impl Drop for Stopping {
    fn drop(&mut self) {
        STOPPING.set(ptr::null());
    }
}
