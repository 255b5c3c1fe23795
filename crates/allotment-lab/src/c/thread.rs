//! Threads that are attached as C code attaches them. The slow paths of the C API serve no others.

use allotment::Mutator;
use allotment::raw::{Hot, RawMutator};
use allotment_ffi::CHeap;
use anyhow::Context;
use std::ffi::{c_int, c_void};
use std::ptr;

unsafe extern "C" {
    fn al_attach(heap: *mut c_void, mutator: *mut *mut c_void, error: *mut c_void) -> c_int;
    fn al_detach(mutator: *mut c_void);
}

/// The calling thread, attached until this is dropped.
struct Attached(*mut c_void);

impl Attached {
    /// # Errors
    /// The library's code.
    #[inline]
    fn new(heap: &CHeap) -> Result<Attached, c_int> {
        let mut mutator = ptr::null_mut();
        // SAFETY: a heap, a place for the mutator, and no error wanted.
        let code = unsafe { al_attach(heap.as_ptr(), &raw mut mutator, ptr::null_mut()) };
        if code == 0 { Ok(Attached(mutator)) } else { Err(code) }
    }
}

impl Drop for Attached {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the mutator of this thread, since the structure holds a pointer and does not leave
        // its thread.
        unsafe { al_detach(self.0) };
    }
}

/// Attaches the calling thread by `al_attach`, and runs `body` with its mutator. `body` hands it to
/// C code by [`RawMutator::hot`].
///
/// # Errors
/// The thread cannot be attached.
pub fn attached<R>(heap: &CHeap, body: impl for<'t> FnOnce(&mut Mutator<'t>) -> R) -> anyhow::Result<R> {
    let thread = Attached::new(heap);
    let thread = thread.map_err(|code| anyhow::anyhow!("al_attach fails with code {code}"))?;
    // SAFETY: the thread has no other mutator. C code gets this one by a borrow, as generated code
    // does. The thread is not blocked.
    unsafe { RawMutator::with_hot(thread.0.cast(), body) }.context("al_attach gave another thread's mutator")
}

/// Attaches the calling thread by `al_attach`, calls `between` with the mutator, and detaches the
/// thread by `al_detach`. Returns whether the thread was attached.
#[inline]
pub fn attach_and_detach(heap: &CHeap, between: impl FnOnce(*const Hot)) -> bool {
    Attached::new(heap).map(|thread| between(thread.0.cast())).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use allotment::Heap;

    #[test]
    fn a_thread_is_attached_while_the_body_runs() {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        let for_c = CHeap::new(heap.clone());
        let threads = || heap.metrics().threads.now;
        let inside = attached(&for_c, |mutator| {
            assert!(mutator.collect());
            (threads(), attached(&for_c, |_| ()).unwrap_err().to_string())
        });
        assert_eq!(inside.unwrap(), (1, "al_attach fails with code 6".into()));
        assert_eq!(threads(), 0);
        let mut seen = 0;
        assert!(attach_and_detach(&for_c, |_| seen = threads()));
        assert_eq!((seen, threads()), (1, 0));
        assert!(heap.attach(|_| !attach_and_detach(&for_c, |_| ())).unwrap());
    }
}
