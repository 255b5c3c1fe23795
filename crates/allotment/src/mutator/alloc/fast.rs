//! The fast path.
//!
//! ```text
//! mov  rax, [mutator]          top
//! lea  rcx, [rax + BYTES]
//! cmp  rcx, [mutator + 8]      limit
//! ja   slow
//! mov  [rax], header
//! mov  [mutator], rcx
//! ```
//!
//! These are six instructions, one of which is a branch that is not taken. A test disassembles the
//! release build and counts them. The slow path initialises the object itself and returns it. So
//! the fast path goes on with an address that it has just written to, which the compiler knows not
//! to be null.

use super::initialise::zero;
use super::refill::Content;
#[cfg(not(any(miri, loom)))]
use crate::mutator::Hot;
use crate::mutator::thread::hot::in_buffer;
use crate::mutator::thread::state::State;
use crate::mutator::{ArraySite, Mutator, OutOfMemory, Prefetch, RawMutator, Site, Zeroing};
use crate::object::{Header, LENGTH_OFFSET, MIN_OBJECT_BYTES, ShapeRef, WORD};
#[cfg(not(any(miri, loom)))]
use crate::platform::bump_below;
use crate::platform::{write_word_and_any_zeroes, write_word_and_zeroes};
use crate::region::Carve;
use std::ptr::NonNull;

impl<'t> RawMutator<'t> {
    /// Allocates an object of a size known at compile time, without a safepoint. `None`: the slow
    /// path has no memory without a safepoint; [`make_room`](Mutator::make_room) may find some.
    ///
    /// The site's policy determines what the memory after the header holds.
    ///
    /// # Safety
    /// - The site's shape was registered with the heap this thread is attached to.
    /// - With [`ByCaller`](crate::mutator::ByCaller): every reference slot is written before the
    ///   next safepoint.
    /// - If a function traces the shape, all that the function reads is written by then, whatever
    ///   the policy.
    /// - The address is used only until this thread's next safepoint. After that the object may
    ///   have moved, and is there only if a root leads to it.
    /// - The object is used only until the heap is reset or its memory is
    ///   [recycled](Self::recycle).
    #[inline(always)]
    pub unsafe fn try_alloc_raw<const BYTES: usize, Z: Zeroing, P: Prefetch>(
        &self,
        site: Site<BYTES, Z, P>,
    ) -> Option<NonNull<u8>> {
        // SAFETY: the caller's predicates; the site checked the size against the shape.
        unsafe { self.try_alloc_with_header::<Z, P>(site.header, BYTES) }
    }

    /// Allocates an object whose header and size the caller knows from elsewhere, such as a type,
    /// without a safepoint. `None` as from [`try_alloc_raw`](Self::try_alloc_raw).
    ///
    /// # Safety
    /// As for [`try_alloc_raw`](Self::try_alloc_raw), and:
    /// - `header` is that of a new object of a shape this heap knows; without a tail `bytes` is its
    ///   size. With a tail it is the size for the length that the caller writes, with any policy,
    ///   before the next safepoint.
    #[inline(always)]
    pub unsafe fn try_alloc_with_header<Z: Zeroing, P: Prefetch>(
        &self,
        header: Header,
        bytes: usize,
    ) -> Option<NonNull<u8>> {
        // SAFETY: the caller's predicates.
        match unsafe { self.alloc_in_buffer::<Z, P>(header, bytes) } {
            Some(start) => Some(start),
            None => self.state().alloc_slow::<Z>(bytes, header),
        }
    }

    /// The fast path alone, for a caller with its own slow path, which begins with
    /// [`try_alloc_with_header`](Self::try_alloc_with_header).
    ///
    /// # Safety
    /// As for [`try_alloc_with_header`](Self::try_alloc_with_header).
    #[inline(always)]
    pub(crate) unsafe fn alloc_in_buffer<Z: Zeroing, P: Prefetch>(
        &self,
        header: Header,
        bytes: usize,
    ) -> Option<NonNull<u8>> {
        let start = self.room::<Z>(bytes)?;
        // SAFETY: `room` gave `bytes` bytes, which are this thread's alone.
        unsafe { initialise::<Z>(start, header, bytes) };
        self.claim::<P>(start, bytes);
        Some(start)
    }

    /// Allocates an object whose tail has `length` elements (0 for a shape without a tail), as
    /// [`try_alloc_raw`](Self::try_alloc_raw). `None` also where no object is that large.
    ///
    /// # Safety
    /// As for [`try_alloc_raw`](Self::try_alloc_raw).
    #[inline(always)]
    pub unsafe fn try_alloc_array_raw<Z: Zeroing, P: Prefetch>(
        &self,
        site: ArraySite<Z, P>,
        length: usize,
    ) -> Option<NonNull<u8>> {
        let bytes = site.shape.bytes_for(length)?;
        // SAFETY: an object of the shape with that length has that size.
        unsafe { self.alloc_array_sized::<Z, P>(bytes, site.shape, length) }
    }

    /// An object of `shape` with `length` elements, which has `bytes`.
    ///
    /// # Safety
    /// - As for [`try_alloc_array_raw`](Self::try_alloc_array_raw); `bytes` is the size.
    #[inline(always)]
    pub(in crate::mutator) unsafe fn alloc_array_sized<Z: Zeroing, P: Prefetch>(
        &self,
        bytes: usize,
        shape: ShapeRef,
        length: usize,
    ) -> Option<NonNull<u8>> {
        match self.room::<Z>(bytes) {
            Some(start) => {
                // SAFETY: `room` gave `bytes` bytes, which are this thread's alone, as many as the
                // shape needs.
                unsafe { initialise_array::<Z>(start, shape, bytes, length) };
                self.claim::<P>(start, bytes);
                Some(start)
            }
            None => self.state().alloc_array_slow::<Z>(bytes, shape, length),
        }
    }

    /// Allocates an object of a shape known only at run time, zeroed. A safepoint.
    ///
    /// # Errors
    /// [`OutOfMemory`] when the heap has no room for it.
    ///
    /// # Safety
    /// - As for [`try_alloc_raw`](Self::try_alloc_raw).
    #[inline]
    pub unsafe fn alloc_raw(&mut self, shape: ShapeRef, length: usize) -> Result<NonNull<u8>, OutOfMemory> {
        let site: ArraySite = ArraySite::new(shape);
        // SAFETY: the caller's predicates are those of both calls.
        match unsafe { self.try_alloc_array_raw(site, length) } {
            Some(object) => Ok(object),
            // SAFETY: as above.
            None => unsafe { self.duplicate().alloc_with_room(site, length) },
        }
    }

    /// `bytes` at the top of the buffer, if they end below the limit. They belong to no object
    /// until they are [claimed](Self::claim).
    #[inline(always)]
    fn room<Z: Zeroing>(&self, bytes: usize) -> Option<NonNull<u8>> {
        let hot = &self.state().hot;
        // Addresses lie below 2^48 and sizes below 2^46: the sum fits.
        #[cfg(not(any(miri, loom)))]
        // SAFETY: the hot part begins with the top, and the offset is that of a limit, both aligned
        // words of this thread, which other threads read and write with atomics.
        let (start, _) = unsafe {
            let top = std::ptr::from_ref(hot).cast();
            if Z::WANTS_ZEROES {
                bump_below::<{ Hot::ZEROED_LIMIT_OFFSET }>(top, bytes)?
            } else {
                bump_below::<{ Hot::LIMIT_OFFSET }>(top, bytes)?
            }
        };
        #[cfg(any(miri, loom))]
        let start = hot.top();
        #[cfg(any(miri, loom))]
        if start + bytes > if Z::WANTS_ZEROES { hot.limit.zeroed() } else { hot.limit.plain() } {
            return None;
        }
        // SAFETY: a limit above a sum is above 0, so there is a buffer and `start` lies in it.
        Some(unsafe { in_buffer(start) })
    }

    /// Moves the top past `bytes` at `start`, the top. To be called after the bytes are written:
    /// on Zen 3 that is 4 % faster than before.
    #[inline(always)]
    fn claim<P: Prefetch>(&self, start: NonNull<u8>, bytes: usize) {
        let top = start.addr().get() + bytes;
        self.state().hot.set_top(top);
        P::ahead(top, bytes);
    }
}

impl Mutator<'_> {
    /// # Safety
    /// - As for [`alloc_raw`](RawMutator::alloc_raw).
    #[cold]
    #[inline(never)]
    unsafe fn alloc_with_room(mut self, site: ArraySite, length: usize) -> Result<NonNull<u8>, OutOfMemory> {
        let bytes = site.shape.bytes_for(length).unwrap_or(usize::MAX);
        let raw = self.raw_mut();
        let mut room = raw.make_room(bytes)?;
        // SAFETY: the caller's predicates.
        unsafe { raw.alloc_in_array_raw(&mut room, site, length) }.ok_or_else(|| raw.out_of_memory(bytes))
    }
}

/// Methods of the state, not of the mutator, for the same reason as
/// [`duplicate`](Mutator::duplicate).
impl State {
    /// The rest of an allocation after the fast path: everything except a safepoint.
    ///
    /// Without buffers this is the path of each object. So this function makes its calls last, and
    /// saves no register. A swap waits for all stores before it, including those of saved
    /// registers.
    #[cold]
    #[inline(never)]
    fn alloc_slow<Z: Zeroing>(&self, bytes: usize, header: Header) -> Option<NonNull<u8>> {
        let Some(start) = self.bump_pointer(bytes, Z::WANTS_ZEROES) else {
            return self.alloc_past_pointer::<Z>(bytes, header);
        };
        // SAFETY: `bytes` bytes, which are this thread's alone.
        Some(unsafe { initialise_any::<Z>(start, header, bytes) })
    }

    #[cold]
    #[inline(never)]
    fn alloc_past_pointer<Z: Zeroing>(&self, bytes: usize, header: Header) -> Option<NonNull<u8>> {
        let start = self.memory_past_pointer(bytes, Z::WANTS_ZEROES, Content::Object)?;
        // SAFETY: as above.
        Some(unsafe { initialise_any::<Z>(start, header, bytes) })
    }

    #[cold]
    #[inline(never)]
    fn alloc_array_slow<Z: Zeroing>(
        &self,
        bytes: usize,
        shape: ShapeRef,
        length: usize,
    ) -> Option<NonNull<u8>> {
        let start = self.memory_past_limit(bytes, Z::WANTS_ZEROES, Content::Object)?;
        // SAFETY: `bytes` bytes, which are this thread's alone, as many as the shape needs.
        unsafe { initialise_array::<Z>(start, shape, bytes, length) };
        Some(start)
    }

    /// Memory of `bytes` when the fast path has none.
    #[inline(always)]
    pub(in crate::mutator) fn memory_past_limit(
        &self,
        bytes: usize,
        zeroed: bool,
        content: Content,
    ) -> Option<NonNull<u8>> {
        match self.bump_pointer(bytes, zeroed) {
            Some(start) => Some(start),
            None => self.memory_past_pointer(bytes, zeroed, content),
        }
    }

    #[cold]
    #[inline(never)]
    fn memory_past_pointer(&self, bytes: usize, zeroed: bool, content: Content) -> Option<NonNull<u8>> {
        if self.hot.limit.pending() || self.zeal.stops() {
            return None;
        }
        let Carve { start, dirty, .. } = self.allocate_past_limit(bytes, zeroed, content)?;
        if zeroed {
            // SAFETY: the memory is this thread's.
            unsafe { zero(start, dirty) };
        }
        NonNull::new(start as *mut u8)
    }
}

/// Writes the header, and the body if the policy says so. The size is known at run time only.
///
/// # Safety
/// As for [`initialise`].
#[inline(always)]
unsafe fn initialise_any<Z: Zeroing>(start: NonNull<u8>, header: Header, bytes: usize) -> NonNull<u8> {
    if Z::ZEROES_BODY {
        // SAFETY: the caller's predicates.
        return unsafe { write_word_and_any_zeroes(start, header.bits(), bytes) };
    }
    // SAFETY: the header is the first word of the caller's memory.
    unsafe { start.cast::<u64>().write(header.bits()) };
    start
}

/// Writes the header, and the body if the policy says so.
///
/// # Safety
/// - `[start, start + bytes)` is memory of the caller's alone; `bytes` is a multiple of 8, at least
///   16.
#[inline(always)]
pub(in crate::mutator) unsafe fn initialise<Z: Zeroing>(start: NonNull<u8>, header: Header, bytes: usize) {
    if Z::ZEROES_BODY {
        // SAFETY: the whole object is the caller's.
        unsafe { write_word_and_zeroes(start.as_ptr(), header.bits(), bytes) };
    } else {
        // SAFETY: the header is the first word.
        unsafe { start.cast::<u64>().write(header.bits()) };
    }
}

/// Writes the header, the body if the policy says so, and the length.
///
/// # Safety
/// As for [`initialise`]; `bytes` is the size of an object of `shape` with `length` elements.
#[inline(always)]
pub(in crate::mutator) unsafe fn initialise_array<Z: Zeroing>(
    start: NonNull<u8>,
    shape: ShapeRef,
    bytes: usize,
    length: usize,
) {
    // SAFETY: the caller's predicates.
    unsafe { initialise::<Z>(start, shape.header(), bytes) };
    const { assert!(LENGTH_OFFSET + WORD <= MIN_OBJECT_BYTES) };
    // Without a tail the word is part of the body. Then 0 is its value, or the caller overwrites
    // it.
    let length = if shape.has_tail() { length } else { 0 };
    // SAFETY: every object has a second word; with a tail it is the length.
    unsafe { start.byte_add(LENGTH_OFFSET).cast::<usize>().write(length) };
}
