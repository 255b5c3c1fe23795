//! Heaps: `al_heap_new`, `al_heap_free` and what concerns a heap as a whole.

use crate::callback::outside_of_callbacks;
use crate::error::{Code, Failure, al_error, answer, demanded, given, place_for};
use crate::options::{al_options, builder};
use crate::shape::Tracing;
use allotment::Heap;
use allotment::raw::Hot;
use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::sync::{Mutex, OnceLock};

/// `AL_ABI` of the header that belongs to this library.
const ABI: u32 = Hot::VERSION << 16 | 1;

/// `al_heap`.
pub(crate) struct al_heap {
    pub(crate) heap: Heap,
    /// The trace functions of the heap's shapes. After the heap: they are dropped later.
    #[expect(clippy::vec_box, reason = "shapes have their addresses")]
    tracings: Mutex<Vec<Box<Tracing>>>,
}

impl al_heap {
    /// Boxed: C code has the address.
    pub(crate) fn new(heap: Heap) -> Box<al_heap> {
        Box::new(al_heap { heap, tracings: Mutex::default() })
    }

    /// Keeps a trace function for as long as the heap lives.
    pub(crate) fn keep(&self, tracing: Option<Box<Tracing>>) {
        self.tracings.lock().unwrap_or_else(|error| error.into_inner()).extend(tracing);
    }
}

/// A text of the library as a C string, made once for each text.
pub(crate) fn constant(text: &'static str) -> *const c_char {
    static TEXTS: OnceLock<Mutex<HashMap<&'static str, CString>>> = OnceLock::new();
    let mut texts = TEXTS.get_or_init(Mutex::default).lock().unwrap_or_else(|error| error.into_inner());
    let text = texts.entry(text).or_insert_with(|| c_string(text));
    text.as_ptr()
}

/// The text up to its first NUL.
pub(crate) fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

/// `al_heap_new_abi`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_heap_new_abi(
    abi: u32,
    options: *const al_options,
    heap: *mut *mut al_heap,
    error: *mut al_error,
) -> Code {
    let make = || {
        if abi != ABI {
            return Err(Failure::new(
                Code::Abi,
                format_args!(
                    "the program was compiled with a header of ABI {abi:#x}, and this library has {ABI:#x}: compile it \
                     with the header of this library"
                ),
            ));
        }
        // SAFETY: the header's rules: the pointers are null or lead to what their types say.
        let (place, builder) = unsafe { (place_for(heap, "heap")?, builder(options)?) };
        place.set(Box::into_raw(al_heap::new(builder.build()?)));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { answer(error, make) }
}

/// `al_heap_new` out of line: for programs that have no header, and so no ABI to compare.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_heap_new(
    options: *const al_options,
    heap: *mut *mut al_heap,
    error: *mut al_error,
) -> Code {
    // SAFETY: the caller's predicates are the same.
    unsafe { al_heap_new_abi(ABI, options, heap, error) }
}

/// `al_heap_free`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_heap_free(heap: *mut al_heap, error: *mut al_error) -> Code {
    let free = || {
        outside_of_callbacks()?;
        // SAFETY: the header's rules: null, or a heap of `al_heap_new` that was not freed.
        let Some(own) = (unsafe { heap.as_ref() }) else { return Ok(()) };
        // In a child of `fork()` without a heap only the memory is left to free.
        if own.heap.check_fork().is_ok() {
            let metrics = own.heap.metrics();
            if metrics.threads.now > 0 {
                let threads = metrics.threads.now;
                return Err(Failure::new(
                    Code::Attached,
                    format_args!("{threads} threads are attached to the heap: all have to detach first"),
                ));
            }
            let roots = metrics.roots;
            let held = roots.handles + roots.weak_handles + roots.pinned_objects;
            if held > 0 {
                return Err(Failure::new(
                    Code::Rooted,
                    format_args!("{held} handles and pins of the heap are left: free them first"),
                ));
            }
        }
        // SAFETY: the box of `al_heap_new`, which the caller gives up.
        let own = unsafe { Box::from_raw(heap) };
        // Not only dropped: a thread of the heap's own, or one that detaches, may use the program's
        // functions and data up to the end.
        own.heap.close();
        Ok(())
    };
    // SAFETY: the header's rules: null, or an error with its size.
    unsafe { answer(error, free) }
}

/// `al_heap_reset`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_heap_reset(heap: *mut al_heap, error: *mut al_error) -> Code {
    let reset = || {
        outside_of_callbacks()?;
        // SAFETY: the header's rules: a heap.
        Ok(unsafe { given(heap, "heap")? }.heap.reset()?)
    };
    // SAFETY: the header's rules: null, or an error with its size.
    unsafe { answer(error, reset) }
}

/// `al_heap_uncommit`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_heap_uncommit(heap: *mut al_heap) -> usize {
    // SAFETY: the header's rules: a heap.
    unsafe { demanded(heap, "al_heap_uncommit", "heap") }.heap.uncommit()
}

/// `al_collector`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_collector(heap: *mut al_heap) -> *const c_char {
    // SAFETY: the header's rules: a heap.
    constant(unsafe { demanded(heap, "al_collector", "heap") }.heap.collector())
}

/// `al_request_safepoint`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_request_safepoint(heap: *mut al_heap) {
    // SAFETY: the header's rules: a heap.
    unsafe { demanded(heap, "al_request_safepoint", "heap") }.heap.request_safepoint();
}

/// `al_version`.
#[unsafe(no_mangle)]
extern "C" fn al_version() -> *const c_char {
    constant(env!("CARGO_PKG_VERSION"))
}

/// `al_abi`.
#[unsafe(no_mangle)]
extern "C" fn al_abi() -> u32 {
    ABI
}
