//! The end of a process whose heap cannot be trusted.
//!
//! A collection changes every object. If it meets a reference that leads to no object, it cannot go
//! back to an earlier state. Going on would spread the damage far from its cause. The stopped world
//! catches a panic of an embedder's function that unwinds through a collection.

use crate::platform::abort_because;

/// Prints the finding, and aborts.
#[cold]
#[inline(never)]
pub(crate) fn broken(address: usize, what: &str) -> ! {
    abort_because(format_args!("the heap is broken at {address:#x}: {what}; aborting"))
}
