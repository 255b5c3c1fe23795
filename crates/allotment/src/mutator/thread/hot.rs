//! The hot part: what generated code and the Rust fast path read and write.
//!
//! The first 256 bytes of a mutator's state, cache lines of their own, with fixed offsets that a JIT may build into its
//! code. The fast path's is the first line; the third is that of a thread without buffers. Version 4.
//!
//! ```text
//! start <= top <= end                       buffer
//! plain <= end, zeroed limit <= plain       unless a stop is requested: both 0
//! [top, zeroed) and [clean, end) are zero   zeroed <= end, clean <= end
//! byte [cards + (slot >> 9)] = 1            behind every store to a slot of an object
//! ```

use super::pointer::Pointer;
use crate::mutator::safepoint::limit::Limit;
use crate::region::{CARD_SHIFT, DIRTY, Region};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// A thread's allocation buffer, as the fast path sees it.
///
/// The thread that owns it is the only one that writes, but for [`Hot::LIMIT_OFFSET`] and
/// [`Hot::ZEROED_LIMIT_OFFSET`], which another thread may set to 0, [`Hot::REQUESTED_OFFSET`], which it sets to 1 then, and
/// [`Hot::LOAD_HOOK_OFFSET`], which a thread writes that has stopped the world.
#[repr(C, align(128))]
pub struct Hot {
    /// Address of the next free byte. Written by the owner; others read it for statistics. Relaxed.
    top: AtomicUsize,
    /// What the fast path compares with.
    pub(in crate::mutator) limit: Limit,
    /// Address behind the buffer. Owner only, as all that follow where nothing else is said.
    end: Cell<usize>,
    /// Not 0 while generated code is to hand each reference that it loads to its hook. Written while the world is
    /// stopped; Relaxed.
    load_hook: AtomicU32,
    /// From which top on generated code prefetches again, in `AllocatePrefetchStyle=2`. Set to `start` with each
    /// buffer; generated code raises it.
    watermark: Cell<usize>,
    /// The heap's card table, biased. Never changes.
    cards: usize,
    /// Where this buffer's objects begin; what `top - start` counts. Others read it. Relaxed. On the next line, as all
    /// that follow: they are written once a buffer or window.
    start: AtomicUsize,
    /// `[top, zeroed)` is zero.
    zeroed: Cell<usize>,
    /// `[clean, end)` is zero: memory fresh from the system.
    clean: Cell<usize>,
    /// The frame that generated code called the heap from, while it does: the address of a
    /// [`GeneratedFrame`](crate::mutator::GeneratedFrame), or 0. Written by the owner; a collector reads it while the thread is
    /// stopped.
    frame: AtomicUsize,
    /// Where objects come from without a buffer (`UseTLAB=false`).
    pub(in crate::mutator) pointer: Pointer,
}

impl Hot {
    /// Version of the layout; changes with any offset.
    pub const VERSION: u32 = 4;
    /// Offset in bytes of `top`, the address of the next free byte.
    pub const TOP_OFFSET: usize = 0;
    /// Offset in bytes of the limit for memory that need not be zero.
    pub const LIMIT_OFFSET: usize = 8;
    /// Offset in bytes of the limit for memory that must be zero.
    pub const ZEROED_LIMIT_OFFSET: usize = 16;
    /// Offset in bytes of what is added to the number of a slot's card to have the address of its byte: the
    /// write barrier, see [`Mutator::store`](crate::mutator::Mutator::store).
    pub const CARDS_OFFSET: usize = 56;
    /// Offset in bytes of a word of 4 bytes that is not 0 while loads of references must be handed to the
    /// hook of the code that loads: [`World::set_load_hook`](crate::mutator::World::set_load_hook).
    pub const LOAD_HOOK_OFFSET: usize = 40;
    /// Offset in bytes of the top from which on code in `AllocatePrefetchStyle=2` prefetches again, and which it
    /// then raises. With each buffer it becomes the buffer's start.
    pub const WATERMARK_OFFSET: usize = 48;
    /// Offset in bytes of a word of 4 bytes that is not 0 while a stop is requested: what a safepoint poll looks at.
    pub const REQUESTED_OFFSET: usize = 24;
    /// Offset in bytes of the address of the [`GeneratedFrame`](crate::mutator::GeneratedFrame) that called the heap last.
    pub const FRAME_OFFSET: usize = 88;
    /// Offset in bytes of the address of the region that a thread without buffers takes objects from, or 0: then the slow path
    /// has to find one. The region's top is at [`REGION_TOP_OFFSET`](Self::REGION_TOP_OFFSET) from it, its end at
    /// [`REGION_END_OFFSET`](Self::REGION_END_OFFSET). Not to be kept over a call of the heap.
    pub const REGION_OFFSET: usize = 128;
    /// Offset in bytes of the number of objects that were taken from such a region, which who takes one adds to.
    pub const REGION_OBJECTS_OFFSET: usize = 136;
    /// Offset in bytes of the number of their bytes.
    pub const REGION_BYTES_OFFSET: usize = 144;
    /// Offset in bytes of the number of compare-and-swaps on a region's top that failed.
    pub const REGION_FAILURES_OFFSET: usize = 152;
    /// From a region's address, the offset in bytes of the address of its next free byte. It is moved by compare-and-swap.
    pub const REGION_TOP_OFFSET: usize = Region::TOP_OFFSET;
    /// From a region's address, the offset in bytes of the address behind its last byte. Never changes.
    pub const REGION_END_OFFSET: usize = Region::END_OFFSET;
    /// The number of a slot's card is the slot's address shifted right by so many bits.
    pub const CARD_SHIFT: u32 = CARD_SHIFT;
    /// The byte that the barrier stores.
    pub const DIRTY_CARD: u8 = DIRTY;

    /// No buffer, in the heap whose card table is at `cards`, biased.
    pub(in crate::mutator) fn new(cards: usize) -> Hot {
        Hot {
            top: AtomicUsize::new(0),
            limit: Limit::new(),
            end: Cell::new(0),
            load_hook: AtomicU32::new(0),
            watermark: Cell::new(0),
            cards,
            start: AtomicUsize::new(0),
            zeroed: Cell::new(0),
            clean: Cell::new(0),
            frame: AtomicUsize::new(0),
            pointer: Pointer::new(),
        }
    }

    #[inline(always)]
    pub(in crate::mutator) fn top(&self) -> usize {
        self.top.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(in crate::mutator) fn set_top(&self, top: usize) {
        self.top.store(top, Ordering::Relaxed);
    }

    /// The card table, biased.
    #[inline(always)]
    pub(in crate::mutator) fn cards(&self) -> usize {
        self.cards
    }

    pub(in crate::mutator) fn end(&self) -> usize {
        self.end.get()
    }

    pub(in crate::mutator) fn start(&self) -> usize {
        self.start.load(Ordering::Relaxed)
    }

    pub(in crate::mutator) fn has_buffer(&self) -> bool {
        self.end.get() != 0
    }

    /// Bytes left in the buffer, whatever the limit.
    pub(in crate::mutator) fn free(&self) -> usize {
        self.end.get() - self.top()
    }

    /// Whether loads of generated code call their hook.
    pub(in crate::mutator) fn set_load_hook(&self, on: bool) {
        self.load_hook.store(on.into(), Ordering::Relaxed);
    }

    /// The frame that generated code called the heap from: address of a `GeneratedFrame`, or 0.
    pub(in crate::mutator) fn frame(&self) -> usize {
        self.frame.load(Ordering::Relaxed)
    }

    /// Memory from `[top, ..)` on that is known to be zero begins here and ends at `end`, or is what
    /// the window left.
    pub(in crate::mutator) fn zeroed(&self) -> usize {
        self.zeroed.get()
    }

    pub(in crate::mutator) fn clean(&self) -> usize {
        self.clean.get()
    }

    pub(in crate::mutator) fn set_zeroed(&self, zeroed: usize) {
        self.zeroed.set(zeroed);
    }

    /// Installs the buffer `[start, end)` of which `[clean, end)` is zero. The caller arms.
    pub(in crate::mutator) fn install(&self, start: usize, clean: usize, end: usize) {
        self.start.store(start, Ordering::Relaxed);
        self.top.store(start, Ordering::Relaxed);
        self.watermark.set(start);
        self.end.set(end);
        self.clean.set(clean);
        self.zeroed.set(if clean <= start { end } else { start });
    }

    /// Lengthens the buffer to `end`, where memory below `dirty` may be anything and the rest is zero. The caller arms.
    pub(in crate::mutator) fn extend(&self, dirty: usize, end: usize) {
        let old_end = self.end.replace(end);
        if dirty > old_end {
            self.clean.set(dirty.min(end));
        } else if self.zeroed.get() == old_end {
            self.zeroed.set(end);
        }
    }

    /// Whether `[top, end)` lies in the buffer.
    pub(in crate::mutator) fn holds(&self, top: usize, end: usize) -> bool {
        self.start() <= top && end <= self.end.get()
    }

    /// Goes back to `top` and `end`, which the buffer holds; what was written meanwhile is not clean. The
    /// caller arms.
    pub(in crate::mutator) fn rewind(&self, top: usize, end: usize) {
        let clean = self.clean.get().max(self.top()).min(end);
        self.top.store(top, Ordering::Relaxed);
        self.watermark.set(top);
        self.end.set(end);
        self.clean.set(clean);
        self.zeroed.set(if clean <= top { end } else { top });
    }

    /// No buffer. The caller arms with zeroes.
    pub(in crate::mutator) fn clear(&self) {
        self.pointer.close();
        self.start.store(0, Ordering::Relaxed);
        self.top.store(0, Ordering::Relaxed);
        self.end.set(0);
        self.zeroed.set(0);
        self.clean.set(0);
    }

    /// Sets the limits for a sampling point at `sample_at`, unless a stop is requested.
    pub(in crate::mutator) fn arm(&self, sample_at: usize) {
        let plain = self.end.get().min(sample_at);
        self.limit.arm(plain, plain.min(self.zeroed.get()));
    }

    /// Checks the equations above.
    pub(in crate::mutator) fn verify(&self) {
        let (start, top, end) = (self.start(), self.top(), self.end());
        let (plain, zeroed) = self.limit.both();
        assert!(start <= top && top <= end, "buffer: {start:#x} <= {top:#x} <= {end:#x}");
        // A request that was answered before it had lowered both may be at it still.
        assert!(
            plain <= end && (zeroed <= plain || plain == 0),
            "limits: {zeroed:#x} <= {plain:#x} <= {end:#x}"
        );
        assert!(self.zeroed.get() <= end && self.clean.get() <= end, "zeroes end in the buffer");
    }
}

/// An address inside a buffer as a pointer.
///
/// # Safety
/// - `start` is an address inside a buffer.
#[inline(always)]
pub(in crate::mutator) unsafe fn in_buffer(start: usize) -> NonNull<u8> {
    // SAFETY: no buffer begins at 0.
    unsafe { NonNull::new_unchecked(start as *mut u8) }
}

#[cfg(not(loom))]
const _: () = {
    assert!(std::mem::offset_of!(Hot, top) == Hot::TOP_OFFSET);
    assert!(std::mem::offset_of!(Hot, limit) == Hot::LIMIT_OFFSET);
    assert!(std::mem::offset_of!(Hot, limit) + 8 == Hot::ZEROED_LIMIT_OFFSET);
    assert!(std::mem::offset_of!(Hot, limit) + Limit::REQUESTED_OFFSET == Hot::REQUESTED_OFFSET);
    assert!(std::mem::offset_of!(Hot, load_hook) == Hot::LOAD_HOOK_OFFSET);
    assert!(std::mem::offset_of!(Hot, watermark) == Hot::WATERMARK_OFFSET);
    assert!(std::mem::offset_of!(Hot, cards) == Hot::CARDS_OFFSET);
    assert!(std::mem::offset_of!(Hot, cards) + 8 <= 64, "the fast path has one line");
    assert!(std::mem::offset_of!(Hot, frame) == Hot::FRAME_OFFSET);
    assert!(std::mem::offset_of!(Hot, pointer) == Hot::REGION_OFFSET);
    assert!(Hot::REGION_OFFSET + Pointer::OBJECTS_OFFSET == Hot::REGION_OBJECTS_OFFSET);
    assert!(Hot::REGION_OFFSET + Pointer::BYTES_OFFSET == Hot::REGION_BYTES_OFFSET);
    assert!(Hot::REGION_OFFSET + Pointer::FAILURES_OFFSET == Hot::REGION_FAILURES_OFFSET);
    assert!(size_of::<Hot>() == 256);
};
