//! The entry points of the heap for generated code: the calls of its slow paths.
//!
//! Machine code that no compiler checked calls the functions of this module. So each function takes
//! numbers, follows the C calling convention, and returns 0 where Rust would return an error. Each
//! may reach a safepoint. There a collector moves objects and must find the references in the
//! frames of the calling code. So each function, while it runs, records where it was called from: a
//! [`GeneratedFrame`](super::GeneratedFrame) on the stack, whose address is in the thread's hot
//! part. The frame's return address is the key of the code's stack map, and its frame pointer leads
//! to the callers. A [`RootProvider`](super::RootProvider) is given the frames of all threads.
//!
//! The slow paths of barriers ([`BarrierCalls`]) reach no safepoint. They lie beside the barriers.
//!
//! Refused:
//! - To record the frame in the generated code: six more instructions at each site, but only one
//!   copy of them here.
//! - A frame pointer read in Rust: only the compiler decides whether there is one.

use super::thread::hot::Hot;
use super::thread::state::State;
use super::{BarrierCalls, Mutator, RawMutator, World};
use crate::object::{MIN_OBJECT_BYTES, WORD, array_bytes};
use crate::platform::generated_entry;
use std::ptr;

/// The slow path of an allocation. Returns memory for objects of that many bytes together, or null
/// if the heap has no room. This is a safepoint.
///
/// # Safety
/// - The first argument is [`RawMutator::hot`] of the calling thread, which is attached and not in
///   [`blocking`](Mutator::blocking), and no `&Mutator` of it is used meanwhile.
/// - The second, in bytes, is a multiple of 8, at least 16; with 0 and with sizes beyond any heap
///   the answer is null.
/// - Every reference that the calling code will use again lies in a root. An example is a slot that
///   a [`RootProvider`](super::RootProvider) finds by the
///   [`GeneratedFrame`](super::GeneratedFrame).
/// - Before the thread's next safepoint, the caller makes objects of all the memory, each with its
///   header. In an object with references, the caller writes every slot.
pub type AllocateSlow = unsafe extern "C" fn(*const Hot, usize) -> *mut u8;

/// The slow path of an array's allocation. Its arguments are the mutator's hot part, the length,
/// the bytes of an element, and the bytes in front of the first element. Returns memory for the
/// array, or null if the heap has no room or no array has that length. This is a safepoint.
///
/// # Safety
/// - As for [`AllocateSlow`]; an element has 1, 2, 4 or 8 bytes, and in front of the first element
///   there are at least 16.
pub type AllocateArraySlow = unsafe extern "C" fn(*const Hot, usize, usize, usize) -> *mut u8;

/// The slow path of a safepoint poll: waits while the world is stopped.
///
/// # Safety
/// - As for [`AllocateSlow`], without the points about memory.
pub type SafepointSlow = unsafe extern "C" fn(*const Hot);

/// The functions that generated code calls. Their addresses are constants of the process, the same
/// for all heaps.
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
    /// The slow paths of barriers. Unlike the others they are not safepoints, keep all registers,
    /// and leave no [`GeneratedFrame`](super::GeneratedFrame).
    pub barriers: BarrierCalls,
}

impl GeneratedCalls {
    /// The functions of this library.
    pub const fn new() -> GeneratedCalls {
        GeneratedCalls {
            allocate: allocate_slow,
            allocate_zeroed: allocate_zeroed_slow,
            allocate_array: allocate_array_slow,
            allocate_array_zeroed: allocate_array_zeroed_slow,
            safepoint: safepoint_slow,
            barriers: BarrierCalls::new(),
        }
    }
}

impl Default for GeneratedCalls {
    fn default() -> GeneratedCalls {
        GeneratedCalls::new()
    }
}

impl RawMutator<'_> {
    /// The hot part of this thread's state, to be given to generated code. The address stays the
    /// same until the thread detaches.
    #[inline]
    pub fn hot(&self) -> *const Hot {
        &raw const self.state().hot
    }
}

impl World<'_> {
    /// Sets whether generated code hands each reference that it loads to its hook. This holds from
    /// here on, for threads that attach later as well. It serves an embedder that examines
    /// references as they are read.
    pub fn set_load_hook(&mut self, on: bool) {
        let others = self.shared().threads.barriers() & !Hot::HOOK;
        self.set_all_barriers(if on { others | Hot::HOOK } else { others });
    }
}

/// An entry of generated code: it keeps a [`GeneratedFrame`](super::GeneratedFrame) on the stack
/// while the named function runs.
macro_rules! entry {
    ($(#[doc = $text:literal])+ $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? => $target:path) => {
        $(#[doc = $text])+
        ///
        /// # Safety
        /// - As the type of the field says.
        #[unsafe(naked)]
        unsafe extern "C" fn $name(hot: *const Hot $(, $argument: $type)*) $(-> $result)? {
            generated_entry!(Hot::FRAME_OFFSET, $target)
        }
    };
}

entry!(
    /// [`GeneratedCalls::allocate`].
    allocate_slow(bytes: usize) -> *mut u8 => allocate::<false>
);
entry!(
    /// [`GeneratedCalls::allocate_zeroed`].
    allocate_zeroed_slow(bytes: usize) -> *mut u8 => allocate::<true>
);
entry!(
    /// [`GeneratedCalls::allocate_array`].
    allocate_array_slow(length: usize, element_bytes: usize, fixed_bytes: usize) -> *mut u8 => allocate_array::<false>
);
entry!(
    /// [`GeneratedCalls::allocate_array_zeroed`].
    allocate_array_zeroed_slow(length: usize, element_bytes: usize, fixed_bytes: usize) -> *mut u8
        => allocate_array::<true>
);
entry!(
    /// [`GeneratedCalls::safepoint`].
    safepoint_slow() => safepoint
);

// `extern "C"`: a panic ends the process instead of unwinding into frames without unwind tables.
extern "C" fn allocate<const ZEROED: bool>(state: &State, bytes: usize) -> *mut u8 {
    if bytes < MIN_OBJECT_BYTES || !bytes.is_multiple_of(WORD) {
        return ptr::null_mut();
    }
    Mutator::new(state).raw_mut().memory_for_generated(bytes, ZEROED)
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
