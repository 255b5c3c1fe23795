//! Bursts: allocation with the top and the limit in registers.
//!
//! The plain path loads and stores `top` for every object, because other threads may read it. A
//! burst has its own copy of the buffer in two local variables, which the compiler keeps in
//! registers as long as the closure is inlined. The copy is written back when the buffer changes,
//! and on any way out of the closure, unwinding included.
//!
//! The API takes a closure because a guard could be forgotten (`mem::forget`), and later
//! allocations would then overwrite the objects of the burst. A burst reads the limit again after
//! [`LOOK_UP_BYTES`], so a stop request waits no longer than that many bytes take.

use super::fast::{initialise, initialise_array};
use crate::mutator::thread::hot::in_buffer;
use crate::mutator::thread::state::State;
use crate::mutator::{ArraySite, Mutator, NoPrefetch, Prefetch, RawMutator, Site, Zeroing};
use crate::object::{Header, ShapeRef};
use std::cell::Cell;
use std::ptr::NonNull;

/// Bytes after which a burst reads the limit again.
const LOOK_UP_BYTES: usize = 64 << 10;

/// A burst of allocations; see [`RawMutator::burst`].
pub struct Burst<'m, 't> {
    /// The buffer's top. The thread's own copy lags behind.
    top: Cell<usize>,
    /// At most the thread's limits, for any memory and for zeroed memory. A burst that uses only
    /// one of them keeps no register for the other.
    plain_limit: Cell<usize>,
    zeroed_limit: Cell<usize>,
    mutator: &'m mut RawMutator<'t>,
}

impl<'t> RawMutator<'t> {
    /// Runs `body` with an allocator that keeps its place in registers. This is 1.4 to 2 times as
    /// fast for objects of up to a line, as long as the closure is small enough to be inlined.
    ///
    /// ```
    /// use allotment::{Heap, raw::{PerObject, Shape, Site}};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let shape = heap.register(Shape::fixed("Cell", 16))?;
    /// let site: Site<16, PerObject> = Site::new(shape).expect("16 bytes");
    /// let cells = heap.attach(|mutator| {
    ///     // SAFETY: the shape is this heap's, and nothing resets it.
    ///     mutator.raw_mut().burst(|burst| {
    ///         (0..1000).filter_map(|_| unsafe { burst.try_alloc_raw(site) }).count()
    ///     })
    /// })?;
    /// assert_eq!(cells, 1000);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn burst<R>(&mut self, body: impl FnOnce(&Burst<'_, 't>) -> R) -> R {
        let zero = || Cell::new(0);
        let burst = Burst { top: zero(), plain_limit: zero(), zeroed_limit: zero(), mutator: self };
        burst.read_back();
        body(&burst)
    }
}

impl Burst<'_, '_> {
    /// Allocates an object as [`RawMutator::try_alloc_raw`] does.
    ///
    /// # Safety
    /// As for [`RawMutator::try_alloc_raw`].
    #[inline(always)]
    pub unsafe fn try_alloc_raw<const BYTES: usize, Z: Zeroing, P: Prefetch>(
        &self,
        site: Site<BYTES, Z, P>,
    ) -> Option<NonNull<u8>> {
        match self.bump::<Z, P>(BYTES) {
            Some(start) => {
                // SAFETY: `bump` gave `BYTES` bytes, which are this thread's alone.
                unsafe { initialise::<Z>(start, site.header, BYTES) };
                Some(start)
            }
            None => self.written_back(|state, top| state.burst_slow::<Z>(top, BYTES, site.header)),
        }
    }

    /// Allocates an object as [`RawMutator::try_alloc_array_raw`] does.
    ///
    /// # Safety
    /// As for [`RawMutator::try_alloc_raw`].
    #[inline(always)]
    pub unsafe fn try_alloc_array_raw<Z: Zeroing, P: Prefetch>(
        &self,
        site: ArraySite<Z, P>,
        length: usize,
    ) -> Option<NonNull<u8>> {
        let bytes = site.shape.bytes_for(length)?;
        match self.bump::<Z, P>(bytes) {
            Some(start) => {
                // SAFETY: `bump` gave `bytes` bytes, which are this thread's alone, as many as the
                // shape needs.
                unsafe { initialise_array::<Z>(start, site.shape, bytes, length) };
                Some(start)
            }
            None => {
                self.written_back(|state, top| state.burst_array_slow::<Z>(top, bytes, site.shape, length))
            }
        }
    }

    #[inline(always)]
    fn bump<Z: Zeroing, P: Prefetch>(&self, bytes: usize) -> Option<NonNull<u8>> {
        let start = self.top.get();
        let top = start + bytes;
        let limit = if Z::WANTS_ZEROES { self.zeroed_limit.get() } else { self.plain_limit.get() };
        if top > limit {
            return None;
        }
        self.top.set(top);
        P::ahead_in_burst(top, bytes);
        // SAFETY: a limit above a sum is above 0, so there is a buffer and `start` lies in it.
        Some(unsafe { in_buffer(start) })
    }

    /// Passes the top to a call by value, so that the copies stay in registers around the call.
    #[inline(always)]
    fn written_back(&self, slow: impl FnOnce(&State, usize) -> Option<NonNull<u8>>) -> Option<NonNull<u8>> {
        let object = slow(self.mutator.state(), self.top.get());
        self.read_back();
        object
    }

    #[inline(always)]
    fn read_back(&self) {
        let hot = &self.mutator.state().hot;
        self.top.set(hot.top());
        let look_up = hot.top() + LOOK_UP_BYTES;
        self.plain_limit.set(hot.limit.plain().min(look_up));
        self.zeroed_limit.set(hot.limit.zeroed().min(look_up));
    }
}

impl State {
    /// Allocates for a burst whose top is `top`, which becomes the thread's top. The burst may only
    /// have had to read the limit again. Otherwise the thread's own slow path runs.
    ///
    /// `extern "C"`: a panic here, which would be a bug of this crate, ends the process. During
    /// unwinding, the burst would write back a top that is no longer the thread's. And a call that
    /// may unwind makes LLVM reload the header's vector for each object of the loop, a sixth of the
    /// time of one of 16 bytes.
    #[cold]
    #[inline(never)]
    extern "C" fn burst_slow<Z: Zeroing>(
        &self,
        top: usize,
        bytes: usize,
        header: Header,
    ) -> Option<NonNull<u8>> {
        self.hot.set_top(top);
        // SAFETY: the burst's caller gave the header of an object of that size.
        unsafe { Mutator::new(self).raw().try_alloc_with_header::<Z, NoPrefetch>(header, bytes) }
    }

    /// Allocates an array for a burst, as [`burst_slow`](State::burst_slow) does an object.
    #[cold]
    #[inline(never)]
    #[expect(improper_ctypes_definitions, reason = "nothing but this file calls it")]
    extern "C" fn burst_array_slow<Z: Zeroing>(
        &self,
        top: usize,
        bytes: usize,
        shape: ShapeRef,
        length: usize,
    ) -> Option<NonNull<u8>> {
        self.hot.set_top(top);
        // SAFETY: the burst's caller gave the size of an object of that shape and length.
        unsafe { Mutator::new(self).raw().alloc_array_sized::<Z, NoPrefetch>(bytes, shape, length) }
    }
}

impl Drop for Burst<'_, '_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.mutator.state().hot.set_top(self.top.get());
    }
}
