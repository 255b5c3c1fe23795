//! The end of a process whose heap cannot be trusted.
//!
//! A collection changes every object. A collection that meets a reference that leads to no object
//! cannot go back to an earlier state. Going on would spread the damage far from its cause. (The
//! stopped world catches a panic of an embedder's function, and ends the process as well.)

use crate::object::{Object, Shapes, walk};
use crate::platform::abort_because;

/// Prints what is wrong at `address`, and aborts.
#[cold]
#[inline(never)]
pub(crate) fn broken(address: usize, what: &str) -> ! {
    abort_because(format_args!("the heap is broken at {address:#x}: {what}; aborting"))
}

/// Calls `visit` with every object and filler in `[start, end)`, in order of address. Aborts where
/// the range is not parsable.
///
/// # Safety
/// - As for [`walk`].
pub(in crate::collector) unsafe fn walk_or_abort<'a>(
    shapes: &'a Shapes,
    start: usize,
    end: usize,
    visit: impl FnMut(Object<'a>),
) {
    // SAFETY: the caller's predicates.
    if let Err(error) = unsafe { walk(shapes, start, end, visit) } {
        broken(start, &error.to_string());
    }
}
