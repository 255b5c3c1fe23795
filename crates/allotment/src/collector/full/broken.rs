//! The end of a process whose heap cannot be trusted.
//!
//! A collection changes every object. If it meets something that is none, or if an embedder's function
//! unwinds through the middle of it, no state can be gone back to, and going on would spread the damage
//! to where nobody would look for its cause.

/// Says what was found, and aborts.
#[cold]
#[inline(never)]
pub(super) fn broken(address: usize, what: &str) -> ! {
    eprintln!("allotment: the heap is broken at {address:#x}: {what}; aborting");
    std::process::abort()
}

/// Aborts when it is dropped: a collection that changed the heap ends by forgetting it.
pub(super) struct Irrevocable;

impl Drop for Irrevocable {
    fn drop(&mut self) {
        eprintln!("allotment: a root provider or trace function panicked inside a collection; aborting");
        std::process::abort()
    }
}
