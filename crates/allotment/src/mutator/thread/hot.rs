//! The hot part of a mutator's state: the fields that generated code and the Rust fast path use.
//!
//! The hot part is the first 256 bytes of the state, in cache lines of their own. Its offsets are
//! fixed, so a JIT may build them into its code. The first line serves the fast path. The third
//! line serves a thread without buffers, and the fourth has the list of roots. The layout has version
//! 6.
//!
//! ```text
//! start <= top <= end                       buffer
//! plain <= end, zeroed limit <= plain       unless a stop is requested: both 0
//! [top, zeroed) and [clean, end) are zero   zeroed <= end, clean <= end
//! byte [cards + (slot >> 9)] = 1            after every store to a slot of an object
//! ```

use super::barrier_calls::BarrierCalls;
use super::barrier_tables::BarrierTables;
use super::pointer::Pointer;
use crate::mutator::barrier_bits;
use crate::mutator::roots::{LinkEntry, OUTSIDE_ADDRESS, RANGE};
use crate::mutator::safepoint::limit::Limit;
use crate::object::ADDRESS_MASK;
use crate::region::{CARD_SHIFT, DIRTY, Region};
use std::cell::Cell;
use std::mem::offset_of;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A thread's allocation buffer, as the fast path sees it.
///
/// Only the owning thread writes these fields, with four exceptions. Another thread may set
/// [`Hot::LIMIT_OFFSET`] and [`Hot::ZEROED_LIMIT_OFFSET`] to 0, and then sets
/// [`Hot::REQUESTED_OFFSET`]. A thread that has stopped the world may write
/// [`Hot::BARRIERS_OFFSET`].
#[repr(C, align(128))]
pub struct Hot {
    /// Address of the next free byte. The owner writes it; other threads read it for statistics.
    /// Relaxed.
    top: AtomicUsize,
    /// The limits that the fast path compares with.
    pub(in crate::mutator) limit: Limit,
    /// Address after the buffer's last byte. Owner only, as are all following fields unless stated
    /// otherwise.
    end: Cell<usize>,
    /// The barriers in force, as bits ([`Hot::MARKING`] and so on). Written by the owner after a
    /// light stop, before its next work, and by the stopper of the world. Plain, so that a
    /// barrier's test is one instruction.
    pub(in crate::mutator) barriers: Cell<u32>,
    /// The top at which generated code prefetches again, in `AllocatePrefetchStyle=2`. Each new
    /// buffer sets it to `start`; generated code raises it.
    watermark: Cell<usize>,
    /// The heap's card table, biased. Never changes.
    pub(in crate::mutator) cards: usize,
    /// Address of the buffer's first object; `top - start` is the allocated part. Other threads
    /// read it. Relaxed. This field and the following ones are on the next cache line: they are
    /// written once per buffer or window.
    start: AtomicUsize,
    /// `[top, zeroed)` is zero.
    pub(in crate::mutator) zeroed: Cell<usize>,
    /// `[clean, end)` is zero: memory fresh from the system.
    pub(in crate::mutator) clean: Cell<usize>,
    /// The frame from which generated code called the heap, during that call: the address of a
    /// [`GeneratedFrame`](crate::mutator::GeneratedFrame), or 0. The owner writes it. A collector
    /// reads it while the thread is stopped.
    frame: AtomicUsize,
    /// The slow paths of barriers. They never change.
    barrier_calls: BarrierCalls,
    /// The source of objects without a buffer (`UseTLAB=false`).
    pub(in crate::mutator) pointer: Pointer,
    /// Roots in this thread's frames, innermost first; `OUTSIDE` in a blocking region. The owner
    /// writes the list. A collector reads it while the thread is stopped or held in a blocking
    /// region.
    pub(in crate::mutator) links: Cell<LinkEntry>,
    /// The tables that the slow paths of barriers look at first. They never change.
    barrier_tables: BarrierTables,
}

impl Hot {
    /// Version of the layout. It changes with any offset.
    pub const VERSION: u32 = 6;
    /// Offset in bytes of `top`, the address of the next free byte.
    pub const TOP_OFFSET: usize = 0;
    /// Offset in bytes of the limit for memory that need not be zero.
    pub const LIMIT_OFFSET: usize = 8;
    /// Offset in bytes of the limit for memory that must be zero.
    pub const ZEROED_LIMIT_OFFSET: usize = 16;
    /// Offset in bytes of the biased address of the card table. The number of a slot's card plus
    /// this address is the address of the card's byte. The write barrier uses it, see
    /// [`store`](crate::mutator::RawMutator::store).
    pub const CARDS_OFFSET: usize = 56;
    /// Offset in bytes of a word of 4 bytes: the barriers in force, as bits. Mostly 0: a collector
    /// that stops the world sets none. All bits are in the word's first byte, so a barrier is `test
    /// byte [hot + 40], bits`. They change at safepoints only.
    pub const BARRIERS_OFFSET: usize = 40;
    /// Bit of [`BARRIERS_OFFSET`](Self::BARRIERS_OFFSET): a store first hands over what the slot
    /// held.
    pub const MARKING: u32 = barrier_bits::MARKING;
    /// Bit of [`BARRIERS_OFFSET`](Self::BARRIERS_OFFSET): a load of a weak slot gives null if the
    /// referent is dead.
    pub const WEAK: u32 = barrier_bits::WEAK;
    /// Bit of [`BARRIERS_OFFSET`](Self::BARRIERS_OFFSET): a load gives the referent's new place.
    pub const FORWARDING: u32 = barrier_bits::FORWARDING;
    /// Bit of [`BARRIERS_OFFSET`](Self::BARRIERS_OFFSET): generated code hands each loaded
    /// reference to its hook ([`World::set_load_hook`](crate::mutator::World::set_load_hook)).
    pub const HOOK: u32 = barrier_bits::HOOK;
    /// Offset in bytes of the top at which code in `AllocatePrefetchStyle=2` prefetches again. That
    /// code then raises it. Each new buffer sets it to the buffer's start.
    pub const WATERMARK_OFFSET: usize = 48;
    /// Offset in bytes of a word of 4 bytes that is not 0 while a stop is requested. A safepoint
    /// poll reads this word.
    pub const REQUESTED_OFFSET: usize = 24;
    /// Offset in bytes of the address of the [`GeneratedFrame`](crate::mutator::GeneratedFrame)
    /// that called the heap last.
    pub const FRAME_OFFSET: usize = 88;
    /// Offset in bytes of the address of [`BarrierCalls::load`].
    pub const LOAD_SLOW_OFFSET: usize = 96;
    /// Offset in bytes of the address of [`BarrierCalls::load_weak`].
    pub const LOAD_WEAK_SLOW_OFFSET: usize = 104;
    /// Offset in bytes of the address of [`BarrierCalls::store`].
    pub const STORE_SLOW_OFFSET: usize = 112;
    /// Offset in bytes of the address of [`BarrierCalls::compare_exchange`].
    pub const COMPARE_EXCHANGE_SLOW_OFFSET: usize = 120;
    /// Offset in bytes of the address of the region that a thread without buffers takes objects
    /// from. With 0 the slow path has to find a region. The region's top is at
    /// [`REGION_TOP_OFFSET`](Self::REGION_TOP_OFFSET) from that address, its end at
    /// [`REGION_END_OFFSET`](Self::REGION_END_OFFSET). Code must not keep the address over a call
    /// of the heap.
    pub const REGION_OFFSET: usize = 128;
    /// Offset in bytes of the number of objects taken from such a region. Code that takes an object
    /// adds to it.
    pub const REGION_OBJECTS_OFFSET: usize = 136;
    /// Offset in bytes of the number of bytes of those objects.
    pub const REGION_BYTES_OFFSET: usize = 144;
    /// Offset in bytes of the number of compare-and-swaps on a region's top that failed.
    pub const REGION_FAILURES_OFFSET: usize = 152;
    /// Offset in bytes of the head of the list of roots in the thread's frames. To link a
    /// [`RootWord`](crate::mutator::RootWord), a [`RootLink`](crate::mutator::RootLink) or a
    /// [`RootRange`](crate::mutator::RootRange), code stores the head to the entry's first word, and
    /// the entry's address to the head, with 1 added for a link and
    /// [`RANGE_LINK`](Self::RANGE_LINK) for a range. Code unlinks the
    /// entry at the head by storing the entry's first word to the head, and any other entry by a
    /// call of the heap. While the thread is blocking, the head is
    /// [`BLOCKED_LINKS`](Self::BLOCKED_LINKS), and code links nothing.
    pub const LINKS_OFFSET: usize = 192;
    /// Added to the address of a [`RootRange`](crate::mutator::RootRange) on the list.
    pub const RANGE_LINK: usize = RANGE;
    /// The head of the list while its thread is blocking: equal to no entry.
    pub const BLOCKED_LINKS: usize = OUTSIDE_ADDRESS;
    /// From a region's address, the offset in bytes of the address of its next free byte.
    /// Compare-and-swap moves that address.
    pub const REGION_TOP_OFFSET: usize = Region::TOP_OFFSET;
    /// From a region's address, the offset in bytes of the address after its last byte, which
    /// never changes.
    pub const REGION_END_OFFSET: usize = Region::END_OFFSET;
    /// The number of a slot's card is the slot's address shifted right by this many bits.
    pub const CARD_SHIFT: u32 = CARD_SHIFT;
    /// The byte that the barrier stores.
    pub const DIRTY_CARD: u8 = DIRTY;

    /// The bits of a reference that are its address, for the library's own machine code.
    pub(in crate::mutator) const ADDRESS_MASK: u64 = ADDRESS_MASK;
    /// Offset in bytes of [`BarrierTables::heap`], for the library's own machine code.
    pub(in crate::mutator) const HEAP_OFFSET: usize = offset_of!(Hot, barrier_tables.heap);
    /// Offset in bytes of [`BarrierTables::heap_bytes`].
    pub(in crate::mutator) const HEAP_BYTES_OFFSET: usize = offset_of!(Hot, barrier_tables.heap_bytes);
    /// Offset in bytes of [`BarrierTables::region_shift`].
    pub(in crate::mutator) const REGION_SHIFT_OFFSET: usize = offset_of!(Hot, barrier_tables.region_shift);
    /// Offset in bytes of [`BarrierTables::moving`].
    pub(in crate::mutator) const MOVING_OFFSET: usize = offset_of!(Hot, barrier_tables.moving);
    /// Offset in bytes of [`BarrierTables::borders`].
    pub(in crate::mutator) const BORDERS_OFFSET: usize = offset_of!(Hot, barrier_tables.borders);
    /// Offset in bytes of [`BarrierTables::marks`].
    pub(in crate::mutator) const MARKS_OFFSET: usize = offset_of!(Hot, barrier_tables.marks);

    /// A hot part without a buffer, in the heap whose biased card table is at `cards`.
    pub(in crate::mutator) fn new(cards: usize, barrier_tables: BarrierTables) -> Hot {
        Hot {
            top: AtomicUsize::new(0),
            limit: Limit::default(),
            end: Cell::new(0),
            barriers: Cell::new(0),
            watermark: Cell::new(0),
            cards,
            start: AtomicUsize::new(0),
            zeroed: Cell::new(0),
            clean: Cell::new(0),
            frame: AtomicUsize::new(0),
            barrier_calls: BarrierCalls::new(),
            pointer: Pointer::default(),
            links: Cell::new(ptr::null_mut()),
            barrier_tables,
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

    pub(in crate::mutator) fn end(&self) -> usize {
        self.end.get()
    }

    pub(in crate::mutator) fn start(&self) -> usize {
        self.start.load(Ordering::Relaxed)
    }

    pub(in crate::mutator) fn has_buffer(&self) -> bool {
        self.end.get() != 0
    }

    /// Bytes of objects in the buffer, for a thread that is not the owner. 0 if there is no buffer,
    /// or if the owner took another one meanwhile.
    pub(in crate::mutator) fn used_about_now(&self) -> usize {
        let start = self.start();
        // Acquire: if the top is that of another buffer, the second look at the start finds it.
        let used = self.top.load(Ordering::Acquire).saturating_sub(start);
        if start != 0 && start == self.start() { used } else { 0 }
    }

    /// Bytes left in the buffer, regardless of the limit.
    pub(in crate::mutator) fn free(&self) -> usize {
        self.end.get() - self.top()
    }

    /// The barriers in force.
    #[inline(always)]
    pub(in crate::mutator) fn barriers(&self) -> u32 {
        self.barriers.get()
    }

    /// The frame from which generated code called the heap: address of a `GeneratedFrame`, or 0.
    pub(in crate::mutator) fn frame(&self) -> usize {
        self.frame.load(Ordering::Relaxed)
    }

    /// Installs the buffer `[start, end)`, of which `[clean, end)` is zero. The caller arms the
    /// limits.
    pub(in crate::mutator) fn install(&self, start: usize, clean: usize, end: usize) {
        self.start.store(start, Ordering::Relaxed);
        self.top.store(start, Ordering::Release);
        self.watermark.set(start);
        self.end.set(end);
        self.clean.set(clean);
        self.zeroed.set(if clean <= start { end } else { start });
    }

    /// Lengthens the buffer to `end`. Memory below `dirty` may hold anything; the rest is zero. The
    /// caller arms the limits.
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

    /// Goes back to `top` and `end`, which lie in the buffer. Memory written meanwhile is not
    /// clean. The caller arms the limits.
    pub(in crate::mutator) fn rewind(&self, top: usize, end: usize) {
        let clean = self.clean.get().max(self.top()).min(end);
        self.top.store(top, Ordering::Relaxed);
        self.watermark.set(top);
        self.end.set(end);
        self.clean.set(clean);
        self.zeroed.set(if clean <= top { end } else { top });
    }

    /// Removes the buffer. The caller arms the limits with zeroes.
    pub(in crate::mutator) fn clear(&self) {
        self.pointer.close();
        self.start.store(0, Ordering::Relaxed);
        self.top.store(0, Ordering::Release);
        self.end.set(0);
        self.zeroed.set(0);
        self.clean.set(0);
    }

    /// Sets the limits for a sampling point at `sample_at`, unless a stop is requested.
    pub(in crate::mutator) fn arm(&self, sample_at: usize) {
        let plain = self.end.get().min(sample_at);
        self.limit.arm(plain, plain.min(self.zeroed.get()));
    }

    /// Checks the inequalities in the head of this file.
    pub(in crate::mutator) fn verify(&self) {
        let (start, top, end) = (self.start(), self.top(), self.end());
        let (plain, zeroed) = self.limit.both();
        assert!(start <= top && top <= end, "buffer: {start:#x} <= {top:#x} <= {end:#x}");
        // A request that the owner answered early may still be lowering the limits.
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
    assert!(std::mem::offset_of!(Hot, barriers) == Hot::BARRIERS_OFFSET);
    assert!(std::mem::offset_of!(Hot, watermark) == Hot::WATERMARK_OFFSET);
    assert!(std::mem::offset_of!(Hot, cards) == Hot::CARDS_OFFSET);
    assert!(std::mem::offset_of!(Hot, cards) + 8 <= 64, "the fast path has one line");
    assert!(std::mem::offset_of!(Hot, frame) == Hot::FRAME_OFFSET);
    assert!(std::mem::offset_of!(Hot, barrier_calls.load) == Hot::LOAD_SLOW_OFFSET);
    assert!(std::mem::offset_of!(Hot, barrier_calls.load_weak) == Hot::LOAD_WEAK_SLOW_OFFSET);
    assert!(std::mem::offset_of!(Hot, barrier_calls.store) == Hot::STORE_SLOW_OFFSET);
    assert!(std::mem::offset_of!(Hot, barrier_calls.compare_exchange) == Hot::COMPARE_EXCHANGE_SLOW_OFFSET);
    assert!(std::mem::offset_of!(Hot, pointer) == Hot::REGION_OFFSET);
    assert!(Hot::REGION_OFFSET + Pointer::OBJECTS_OFFSET == Hot::REGION_OBJECTS_OFFSET);
    assert!(Hot::REGION_OFFSET + Pointer::BYTES_OFFSET == Hot::REGION_BYTES_OFFSET);
    assert!(Hot::REGION_OFFSET + Pointer::FAILURES_OFFSET == Hot::REGION_FAILURES_OFFSET);
    assert!(std::mem::offset_of!(Hot, links) == Hot::LINKS_OFFSET);
    assert!(size_of::<Hot>() == 256);
};
