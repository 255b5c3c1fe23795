//! Where generated code enters the heap: the calls of its slow paths.
//!
//! A function here is called from machine code that no compiler checked, so it takes numbers, follows the C calling
//! convention, and says with a 0 what Rust says with an error. Each may reach a safepoint, where a collector moves objects
//! and must find the references in the frames of the code that called. So each leaves behind, while it runs, where it was
//! called from: a [`GeneratedFrame`] on the stack, with its address in the thread's hot part. Its return address is the
//! key of the code's stack map, and its frame pointer leads to the callers. A [`RootProvider`](super::RootProvider) is
//! given the frames of all threads.
//!
//! Refused: to note the frame in the generated code (six more instructions at each site; here it is once), and a frame
//! pointer read in Rust (whether there is one then is the compiler's choice).

use super::thread::hot::Hot;
use super::thread::state::State;
use super::{GeneratedFrame, Mutator, World};
use crate::object::{MIN_OBJECT_BYTES, WORD, array_bytes};
#[cfg(not(loom))]
use std::arch::naked_asm;
use std::ptr;

/// A slow path of an allocation: memory for objects of so many bytes together, or null where the heap has no room. A
/// safepoint.
///
/// # Safety
/// - The first argument is [`Mutator::hot`] of the calling thread, which is attached, and no `&Mutator` of it is used
///   meanwhile.
/// - The second, in bytes, is a multiple of 8, at least 16; with 0 and with sizes beyond any heap the answer is null.
/// - Every reference that the calling code will use again lies in a root: in a slot that a
///   [`RootProvider`](super::RootProvider) finds by the [`GeneratedFrame`], say.
/// - The caller makes objects of all the memory, each with its header and, for one with references, no slot unwritten,
///   before the thread's next safepoint.
pub type AllocateSlow = unsafe extern "C" fn(*const Hot, usize) -> *mut u8;

/// The slow path of an array's allocation: the mutator's hot part, the length, the bytes of an element, and those in front
/// of the first one. Memory for the array, or null where the heap has no room or no array is as long. A safepoint.
///
/// # Safety
/// - As for [`AllocateSlow`]; an element has 1, 2, 4 or 8 bytes, and in front of the first there are at least 16.
pub type AllocateArraySlow = unsafe extern "C" fn(*const Hot, usize, usize, usize) -> *mut u8;

/// The slow path of a safepoint poll: waits while the world is stopped.
///
/// # Safety
/// - As for [`AllocateSlow`], without what is said of memory.
pub type SafepointSlow = unsafe extern "C" fn(*const Hot);

/// The functions that generated code calls. Addresses: constants of the process, the same for all heaps.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct GeneratedCalls {
    /// Memory that need not be zero.
    pub allocate: AllocateSlow,
    /// Memory that is zero.
    pub allocate_zeroed: AllocateSlow,
    /// An array that need not be zero.
    pub allocate_array: AllocateArraySlow,
    /// An array that is zero.
    pub allocate_array_zeroed: AllocateArraySlow,
    /// A safepoint.
    pub safepoint: SafepointSlow,
}

#[cfg(not(loom))]
impl GeneratedCalls {
    /// The functions of this library.
    pub const fn new() -> GeneratedCalls {
        GeneratedCalls {
            allocate: allocate_slow,
            allocate_zeroed: allocate_zeroed_slow,
            allocate_array: allocate_array_slow,
            allocate_array_zeroed: allocate_array_zeroed_slow,
            safepoint: safepoint_slow,
        }
    }
}

#[cfg(not(loom))]
impl Default for GeneratedCalls {
    fn default() -> GeneratedCalls {
        GeneratedCalls::new()
    }
}

impl Mutator<'_> {
    /// The hot part of this thread's state, which generated code is given: the same address until the thread detaches.
    #[inline]
    pub fn hot(&self) -> *const Hot {
        &raw const self.state().hot
    }
}

impl World<'_> {
    /// From here on generated code hands each reference that it loads to its hook, or does so no more; threads that
    /// attach later as well. For an embedder that looks at references as they are read.
    pub fn set_load_hook(&mut self, on: bool) {
        self.shared().set_load_hook(on);
        self.states().for_each(|state| state.hot.set_load_hook(on));
    }

    /// The frame of each thread that is in a call from generated code.
    pub(super) fn generated_frames(&self) -> Vec<*const GeneratedFrame> {
        let frames = self.states().map(|state| ptr::with_exposed_provenance(state.hot.frame()));
        frames.filter(|frame: &*const GeneratedFrame| !frame.is_null()).collect()
    }
}

/// An entry of generated code: leaves a [`GeneratedFrame`] while the function runs that it names.
///
/// Behind the call that led here the stack is 8 bytes off a multiple of 16, behind three words pushed it is not.
#[cfg(not(loom))]
macro_rules! entry {
    ($(#[doc = $text:literal])+ $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? => $target:path) => {
        $(#[doc = $text])+
        ///
        /// # Safety
        /// - As the type of the field says.
        #[unsafe(naked)]
        unsafe extern "C" fn $name(hot: *const Hot $(, $argument: $type)*) $(-> $result)? {
            naked_asm!(
                "push rbp",
                "push qword ptr [rdi + {frame}]",
                "mov [rdi + {frame}], rsp",
                "push rdi",
                "call {target}",
                "pop rdi",
                "pop qword ptr [rdi + {frame}]",
                "pop rbp",
                "ret",
                frame = const Hot::FRAME_OFFSET,
                target = sym $target,
            )
        }
    };
}

#[cfg(not(loom))]
entry!(
    /// [`GeneratedCalls::allocate`].
    allocate_slow(bytes: usize) -> *mut u8 => allocate::<false>
);
#[cfg(not(loom))]
entry!(
    /// [`GeneratedCalls::allocate_zeroed`].
    allocate_zeroed_slow(bytes: usize) -> *mut u8 => allocate::<true>
);
#[cfg(not(loom))]
entry!(
    /// [`GeneratedCalls::allocate_array`].
    allocate_array_slow(length: usize, element_bytes: usize, fixed_bytes: usize) -> *mut u8 => allocate_array::<false>
);
#[cfg(not(loom))]
entry!(
    /// [`GeneratedCalls::allocate_array_zeroed`].
    allocate_array_zeroed_slow(length: usize, element_bytes: usize, fixed_bytes: usize) -> *mut u8
        => allocate_array::<true>
);
#[cfg(not(loom))]
entry!(
    /// [`GeneratedCalls::safepoint`].
    safepoint_slow() => safepoint
);

// `extern "C"`: a panic ends the process instead of unwinding into frames that nobody described.
extern "C" fn allocate<const ZEROED: bool>(state: &State, bytes: usize) -> *mut u8 {
    if bytes < MIN_OBJECT_BYTES || !bytes.is_multiple_of(WORD) {
        return ptr::null_mut();
    }
    Mutator::new(state).memory_for_generated(bytes, ZEROED)
}

extern "C" fn allocate_array<const ZEROED: bool>(
    state: &State,
    length: usize,
    element_bytes: usize,
    fixed_bytes: usize,
) -> *mut u8 {
    match array_bytes(fixed_bytes, element_bytes, length) {
        Some(bytes) => allocate::<ZEROED>(state, bytes),
        None => ptr::null_mut(),
    }
}

extern "C" fn safepoint(state: &State) {
    Mutator::new(state).safepoint();
}
