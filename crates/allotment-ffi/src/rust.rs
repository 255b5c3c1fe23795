//! For programs in Rust that have parts in C: the headers, and a heap of Rust's that C code uses.
//!
//! The crate as an `rlib` has all functions of `allotment.h`, so C code that is linked to the
//! program finds them. The headers are texts: a program that compiles C code at run time needs no
//! source tree. A build script finds them as files, in `include/`.

use crate::heap::al_heap;
use allotment::Heap;
use std::ffi::c_void;
use std::{fmt, ptr};

macro_rules! headers {
    ($($path:literal)*) => {
        /// The headers: each path below the folder of headers, and its content.
        pub const HEADERS: &[(&str, &str)] =
            &[$(($path, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/include/", $path)))),*];
    };
}

headers! {
    "allotment.h"
    "allotment/alloc.h"
    "allotment/base.h"
    "allotment/check.h"
    "allotment/cxx.h"
    "allotment/heap.h"
    "allotment/layout.h"
    "allotment/observe.h"
    "allotment/roots.h"
    "allotment/shape.h"
    "allotment/slots.h"
    "allotment/value.h"
}

/// An `al_heap` of a heap that Rust code made. It is a handle of the [`Heap`], as a clone is. Boxed:
/// C code has its address.
pub struct CHeap(Box<al_heap>);

impl CHeap {
    /// The heap, for C code.
    pub fn new(heap: Heap) -> CHeap {
        CHeap(al_heap::new(heap))
    }

    /// The `al_heap *`, for all functions but `al_heap_free`. It is good as long as this handle.
    pub fn as_ptr(&self) -> *mut c_void {
        ptr::from_ref(&*self.0).cast_mut().cast()
    }
}

impl fmt::Debug for CHeap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CHeap").field(&self.0.heap).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::c_int;
    use std::path::{Path, PathBuf};

    unsafe extern "C" {
        fn al_attach(heap: *mut c_void, mutator: *mut *mut c_void, error: *mut c_void) -> c_int;
        fn al_detach(mutator: *mut c_void);
    }

    #[test]
    fn every_header_is_here() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
        let files = |folder: &Path| -> Vec<PathBuf> {
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
        };
        let mut found = [files(&root), files(&root.join("allotment"))].concat();
        found.retain(|path| path.is_file());
        found.sort();
        let mut known: Vec<PathBuf> = HEADERS.iter().map(|(path, _)| root.join(path)).collect();
        known.sort();
        assert_eq!(found, known, "the list in rust.rs is that of the folder include/");
    }

    #[test]
    fn c_code_attaches_to_a_heap_of_rusts() {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        let for_c = CHeap::new(heap.clone());
        let mut mutator = ptr::null_mut();
        // SAFETY: a heap, a place for the mutator, and no error; then the mutator of this thread.
        unsafe {
            assert_eq!(al_attach(for_c.as_ptr(), &raw mut mutator, ptr::null_mut()), 0);
            assert_eq!(heap.metrics().threads.now, 1);
            al_detach(mutator);
        }
        assert_eq!(heap.metrics().threads.now, 0);
    }
}
