//! The end of a process whose heap cannot be trusted.
//!
//! A collection changes every object. If it meets something that is none, no state can be gone back to, and going on
//! would spread the damage to where nobody would look for its cause. An embedder's function that unwinds through it is
//! the stopped world's to catch.

use crate::platform::abort_because;

/// Says what was found, and aborts.
#[cold]
#[inline(never)]
pub(crate) fn broken(address: usize, what: &str) -> ! {
    abort_because(format_args!("the heap is broken at {address:#x}: {what}; aborting"))
}
