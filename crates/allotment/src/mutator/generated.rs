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

use super::alloc::Content;
use super::thread::hot::Hot;
use super::thread::state::State;

use super::{BarrierCalls, Mutator, RawMutator, World};
use crate::object::{LENGTH_OFFSET, MIN_OBJECT_BYTES, WORD, array_bytes};
use crate::platform::generated_entry;
use std::ptr::{self, NonNull};

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

/// The slow path of an allocation of one object. Its arguments are the mutator's hot part, the
/// object's header, and its bytes. Returns the object, whose header is written, or null if the heap
/// has no room. Then [`take_out_of_memory`](RawMutator::take_out_of_memory) has the reason. The
/// object is sampled as one object. This is a safepoint.
///
/// # Safety
/// - As for [`AllocateSlow`].
/// - The header is that of a shape of this heap whose objects have that size. It is a shape without
///   a tail.
pub type AllocateObjectSlow = unsafe extern "C" fn(*const Hot, u64, usize) -> *mut u8;

/// The slow path of an allocation of one array. Its arguments are the mutator's hot part, the
/// array's header, and then those of [`AllocateArraySlow`]. Returns the array, whose header and
/// length are written, or null as [`AllocateObjectSlow`]. This is a safepoint.
///
/// # Safety
/// - As for [`AllocateArraySlow`].
/// - The header is that of a shape of this heap with such elements after such a fixed part.
pub type AllocateArrayObjectSlow = unsafe extern "C" fn(*const Hot, u64, usize, usize, usize) -> *mut u8;

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
    /// One object, whose memory need not be zero.
    pub allocate_object: AllocateObjectSlow,
    /// One object, whose memory is zero after the header.
    pub allocate_object_zeroed: AllocateObjectSlow,
    /// One array, whose memory need not be zero.
    pub allocate_array_object: AllocateArrayObjectSlow,
    /// One array, whose memory is zero after the length.
    pub allocate_array_object_zeroed: AllocateArrayObjectSlow,
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
            allocate_object: allocate_object_slow,
            allocate_object_zeroed: allocate_object_zeroed_slow,
            allocate_array_object: allocate_array_object_slow,
            allocate_array_object_zeroed: allocate_array_object_zeroed_slow,
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
    /// [`GeneratedCalls::allocate_object`].
    allocate_object_slow(header: u64, bytes: usize) -> *mut u8 => allocate_object::<false>
);
entry!(
    /// [`GeneratedCalls::allocate_object_zeroed`].
    allocate_object_zeroed_slow(header: u64, bytes: usize) -> *mut u8 => allocate_object::<true>
);
entry!(
    /// [`GeneratedCalls::allocate_array_object`].
    allocate_array_object_slow(header: u64, length: usize, element_bytes: usize, fixed_bytes: usize) -> *mut u8
        => allocate_array_object::<false>
);
entry!(
    /// [`GeneratedCalls::allocate_array_object_zeroed`].
    allocate_array_object_zeroed_slow(header: u64, length: usize, element_bytes: usize, fixed_bytes: usize)
        -> *mut u8 => allocate_array_object::<true>
);
entry!(
    /// [`GeneratedCalls::safepoint`].
    safepoint_slow() => safepoint
);

// `extern "C"`: a panic ends the process instead of unwinding into frames without unwind tables.
extern "C" fn allocate<const ZEROED: bool>(state: &State, bytes: usize) -> *mut u8 {
    memory::<ZEROED>(state, Some(bytes), Content::Objects).map_or(ptr::null_mut(), NonNull::as_ptr)
}

extern "C" fn allocate_array<const ZEROED: bool>(
    state: &State,
    length: usize,
    element_bytes: usize,
    fixed_bytes: usize,
) -> *mut u8 {
    let bytes = array_bytes(fixed_bytes, element_bytes, length);
    memory::<ZEROED>(state, bytes, Content::Objects).map_or(ptr::null_mut(), NonNull::as_ptr)
}

extern "C" fn allocate_object<const ZEROED: bool>(state: &State, header: u64, bytes: usize) -> *mut u8 {
    let Some(object) = memory::<ZEROED>(state, Some(bytes), Content::Object) else { return ptr::null_mut() };
    // SAFETY: the memory is this thread's, and begins with the header.
    unsafe { object.cast::<u64>().write(header) };
    object.as_ptr()
}

extern "C" fn allocate_array_object<const ZEROED: bool>(
    state: &State,
    header: u64,
    length: usize,
    element_bytes: usize,
    fixed_bytes: usize,
) -> *mut u8 {
    let bytes = array_bytes(fixed_bytes, element_bytes, length);
    let Some(array) = memory::<ZEROED>(state, bytes, Content::Object) else { return ptr::null_mut() };
    // SAFETY: the memory is this thread's, and begins with the header and the length.
    unsafe {
        array.cast::<u64>().write(header);
        array.byte_add(LENGTH_OFFSET).cast::<usize>().write(length);
    }
    array.as_ptr()
}

/// Memory for that content. `bytes` is `None` where no number holds the size.
fn memory<const ZEROED: bool>(state: &State, bytes: Option<usize>, content: Content) -> Option<NonNull<u8>> {
    let _inside = state.enter();
    let mut mutator = Mutator::new(state);
    match bytes {
        Some(bytes) if bytes >= MIN_OBJECT_BYTES && bytes.is_multiple_of(WORD) => {
            mutator.raw_mut().memory_for_generated(bytes, ZEROED, content)
        }
        _ => {
            let error = mutator.out_of_memory(bytes.unwrap_or(usize::MAX));
            state.out_of_memory.set(Some(error));
            None
        }
    }
}

extern "C" fn safepoint(state: &State) {
    let _inside = state.enter();
    Mutator::new(state).safepoint();
}
