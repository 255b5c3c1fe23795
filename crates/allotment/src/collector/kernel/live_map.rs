//! The map of live words in the heap, and the destination of each block of 64 words.
//!
//! ```text
//! block of 512 bytes:  | live: a bit per word, set for every word of a live object | destination |
//! new address = destination of the block + 8 * (live bits below the object's in its block)
//! ```
//!
//! All words of an object have their bits set, not only the first. So the distance that an object
//! slides is a population count, and garbage and gaps are runs of zeroes. An object is live if its
//! header's bit is set: the marker that claims the object sets it by one locked `or`. Both numbers
//! of a block lie side by side, because a look-up needs both. Refused: bits at the first and the
//! last word of an object (as in HotSpot's Parallel; a look-up walks from object to object).
//! Refused: a table of forwarding addresses (a word for each object).
//!
//! Humongous objects have a bit only for their header. A run of regions stays, or moves as it is:
//! then the block of the header has the new place of the block, and nothing is counted.

use super::broken::broken;
use crate::collector::work::{Claimer, Workers};
use crate::mutator::BarrierTables;
use crate::object::WORD;
use crate::platform::{
    MemoryError, PopulationCount, Reservation, huge_page_size, page_size, prefetch_read, prefetch_write,
};
use crate::region::{FreeSet, State};
use std::ops::Range;
// These lie in memory from the system, where the model checker's atomics cannot be.
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of heap that a block describes.
pub(in crate::collector) const BLOCK_BYTES: usize = 64 * WORD;

/// In `destination`: nothing in the block moves.
const IN_PLACE: u64 = 1;
/// In `destination`: objects of the block go to more than one place.
const BREAK: u64 = 2;
/// In `destination`: the block moves as it is, with the memory between its live words.
const WHOLE: u64 = IN_PLACE | BREAK;

/// The entry of a block.
#[repr(C)]
pub(in crate::collector) struct Block {
    /// Bit `i`: word `i` belongs to a live object. Set by the worker that marks the object,
    /// Relaxed: phases are separated by more than an order of stores.
    live: AtomicU64,
    /// New address of the first live word, and flags in the low bits. Set by the worker that plans
    /// the block; 0 until then. Relaxed, as above.
    destination: AtomicU64,
}

const _: () = {
    assert!(size_of::<Block>() == BarrierTables::ENTRY_BYTES && std::mem::offset_of!(Block, live) == 0);
    assert!(BLOCK_BYTES == BarrierTables::MARK_BYTES);
};

/// The destination of a block's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collector) enum Destination {
    /// They do not move.
    InPlace,
    /// One after the other, the first live word to this address.
    At(usize),
    /// One after the other, the first live word to this address, up to a break. The list of breaks
    /// has the places of the others.
    Broken(usize),
    /// All of them by the same distance: the first byte of the block goes to this address.
    Whole(usize),
}

/// The blocks that got a destination in one call.
pub(in crate::collector) struct SentBlocks {
    /// End of the last of them.
    pub(in crate::collector) end: usize,
    /// Bytes of their live words.
    pub(in crate::collector) bytes: usize,
}

/// One block for every 512 bytes of a heap.
pub(in crate::collector) struct LiveMap {
    base: usize,
    blocks: usize,
    memory: Reservation,
    count: PopulationCount,
    /// Bytes of the map that were written since it was last known to be zeroes.
    written: usize,
    /// If more bytes were written, the map's memory is given back between collections.
    kept_bytes: usize,
}

/// The kind of memory that a heap asks for its tables.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pages {
    /// `UseTransparentHugePages`.
    pub(crate) huge: bool,
    /// `AlwaysPreTouch`: bytes of heap whose tables are touched at the start. If there are any, no
    /// table is given back.
    pub(crate) touched_for: usize,
    /// Number of threads that touch them.
    pub(crate) touching: usize,
}

/// A map of at most this many bytes keeps its memory between collections. In such a small heap,
/// zeroing the memory page by page costs more than a collection.
const KEPT_BYTES: usize = if cfg!(test) { 1 << 10 } else { 4 << 20 };

impl LiveMap {
    /// A map of the heap of `heap_bytes` that begins at `base`; both are multiples of 512. The map
    /// uses huge pages if they are asked for and it fills one: where references go everywhere, each
    /// look-up is a miss in the TLB, too.
    pub(in crate::collector) fn new(
        base: usize,
        heap_bytes: usize,
        pages: Pages,
    ) -> Result<LiveMap, MemoryError> {
        debug_assert!(base.is_multiple_of(BLOCK_BYTES));
        let blocks = heap_bytes.div_ceil(BLOCK_BYTES);
        let (bytes, huge) = (blocks * size_of::<Block>(), huge_page_size());
        let by_huge_page = pages.huge && bytes >= huge;
        let alignment = if by_huge_page { huge } else { page_size() };
        let memory = Reservation::reserve(bytes, alignment, "live-map")?;
        if by_huge_page {
            // Without them it is slower, but still correct.
            let _ = memory.advise_huge_pages();
        }
        let touched = pages.touched_for > 0;
        if touched {
            let wanted = LiveMap::bytes_for(pages.touched_for.min(heap_bytes)).next_multiple_of(page_size());
            memory.pretouch(0, wanted, pages.touching)?;
        }
        let kept_bytes = if touched { usize::MAX } else { KEPT_BYTES };
        Ok(LiveMap { base, blocks, memory, count: PopulationCount::detect(), written: 0, kept_bytes })
    }

    /// Takes memory for the map. Nothing is marked as live.
    pub(in crate::collector) fn open(
        &mut self,
        free: &FreeSet,
        workers: Workers<'_>,
    ) -> Result<(), MemoryError> {
        let table = free.table();
        let used = |&index: &usize| !matches!(table.get(index).state(), State::Free | State::Uncommitted);
        let blocks = table.geometry().region_bytes() / BLOCK_BYTES;
        if self.written == 0 {
            self.memory.commit(0, self.memory.bytes())?;
        } else {
            let claimer = Claimer::new(table.len());
            let map = &*self;
            workers.run(&|_| {
                for index in std::iter::from_fn(|| claimer.claim()).filter(used) {
                    let first = (table.bottom(index) - map.base) / BLOCK_BYTES;
                    // SAFETY: the memory holds the blocks of every region and is committed; no
                    // other worker reads these blocks now.
                    unsafe { map.memory.base().cast::<Block>().add(first).write_bytes(0, blocks) };
                }
            });
        }
        let written = (0..table.len()).filter(used).count() * blocks * size_of::<Block>();
        self.written = self.written.max(written).max(1);
        Ok(())
    }

    /// Takes memory for the whole map, for good. Nothing is marked as live.
    pub(in crate::collector) fn open_for_good(&mut self) -> Result<(), MemoryError> {
        self.memory.commit(0, self.memory.bytes())
    }

    /// Clears the marks of `[start, end)`, whole blocks. Other threads may read them, and find any of
    /// them cleared.
    ///
    /// The stores are Relaxed. Refused: `memset`, which is a data race with such a thread.
    pub(in crate::collector) fn clear(&self, start: usize, end: usize) {
        for at in (start..end).step_by(BLOCK_BYTES) {
            let block = self.block(at);
            block.live.store(0, Ordering::Relaxed);
            block.destination.store(0, Ordering::Relaxed);
        }
    }

    /// Whether the part of the map for this many bytes of heap exceeds the assumed size of the
    /// caches.
    pub(in crate::collector) fn is_far(heap_bytes: usize) -> bool {
        const NEAR_BYTES: usize = if cfg!(test) { 1 << 10 } else { 4 << 20 };
        LiveMap::bytes_for(heap_bytes) > NEAR_BYTES
    }

    /// Bytes of the map that describe this many bytes of heap.
    pub(in crate::collector) fn bytes_for(heap_bytes: usize) -> usize {
        heap_bytes / BLOCK_BYTES * size_of::<Block>()
    }

    /// Gives the memory back, if it is more than the map keeps.
    pub(in crate::collector) fn close(&mut self) {
        // If the system does not take the memory, it is cleared before its next use.
        if self.written > self.kept_bytes && self.memory.uncommit(0, self.memory.bytes()).is_ok() {
            self.written = 0;
        }
    }

    /// Whether the map has memory, between two collections.
    #[cfg(test)]
    pub(in crate::collector) fn is_kept(&self) -> bool {
        self.written > 0
    }

    /// The block of an address; aborts if the address is not in the heap.
    #[inline(always)]
    pub(in crate::collector) fn block(&self, address: usize) -> &Block {
        let index = address.wrapping_sub(self.base) / BLOCK_BYTES;
        if index >= self.blocks {
            broken(address, "a reference leads to this address, which is outside the heap");
        }
        // SAFETY: the map is open whenever a caller has an address: `open` is the first step of a
        // collection. The memory holds `blocks` blocks, and any bits are two numbers.
        unsafe { &*self.memory.base().cast::<Block>().add(index) }
    }

    /// The address of the first block, for barriers, which know the form of a block.
    pub(in crate::collector) fn first_block(&self) -> usize {
        self.memory.base().expose_provenance()
    }

    /// Fetches the block of any address, for a later look-up.
    #[inline(always)]
    pub(in crate::collector) fn prefetch(&self, address: usize) {
        prefetch_read(self.likely_block(address));
    }

    /// Fetches the block of any address, for writing: a marker will claim the object. (Otherwise a
    /// line that another marker has written is fetched twice, to read and to mark. Then two markers
    /// took 6 % longer for a tree in random order.)
    #[inline(always)]
    pub(in crate::collector) fn prefetch_to_mark(&self, address: usize) {
        prefetch_write::<0>(self.likely_block(address));
    }

    /// The place of the block of an address, if the address is in the heap.
    #[inline(always)]
    fn likely_block(&self, address: usize) -> usize {
        let index = address.wrapping_sub(self.base) / BLOCK_BYTES;
        self.memory.base().cast::<Block>().wrapping_add(index).addr()
    }

    /// Whether the object at `address` is live.
    #[inline(always)]
    pub(in crate::collector) fn is_live(&self, address: usize) -> bool {
        self.block(address).live() >> bit(address) & 1 != 0
    }

    /// Makes the object at `address` live by the bits of its first `marked` bytes. Returns `false`
    /// if another marker has done so. `LOCKED`: other markers claim objects too. `alone`: the
    /// others rest at the moment, and this worker sees their claims.
    #[inline(always)]
    pub(in crate::collector) fn claim<const LOCKED: bool>(
        &self,
        address: usize,
        marked: usize,
        alone: bool,
    ) -> bool {
        let first = (marked / WORD).min(64 - bit(address));
        let block = self.block(address);
        let is_marked = |words: u64| words >> bit(address) & 1 != 0;
        if is_marked(block.live()) {
            return false;
        }
        let words = ones(first) << bit(address);
        let before = if LOCKED && !alone { block.mark::<true>(words) } else { block.mark::<false>(words) };
        if is_marked(before) {
            return false;
        }
        if first * WORD < marked {
            self.claim_rest::<LOCKED>(address + first * WORD, address + marked);
        }
        true
    }

    /// Claims the words from `at` on; `at` begins a block.
    #[inline(never)]
    fn claim_rest<const LOCKED: bool>(&self, at: usize, end: usize) {
        for at in (at..end).step_by(BLOCK_BYTES) {
            self.block(at).mark::<LOCKED>(ones((end - at) / WORD));
        }
    }

    /// The live bits of `[start, end)`, which lies in one block, at their places in the block.
    #[inline]
    pub(in crate::collector) fn live_between(&self, start: usize, end: usize) -> u64 {
        let words = (end - start) / WORD;
        self.block(start).live() & ones(words) << bit(start)
    }

    /// Bytes of live words in `[start, end)`.
    pub(in crate::collector) fn live_bytes(&self, start: usize, end: usize) -> usize {
        blocks(start..end).map(|part| self.count.of(self.live_between(part.start, part.end)) * WORD).sum()
    }

    /// Live words below `address` in its block, which is `block`.
    #[inline(always)]
    pub(in crate::collector) fn live_words_below(&self, address: usize, block: &Block) -> usize {
        self.count.of(block.live() & ones(bit(address)))
    }

    /// The first live word in `[from, end)`, or `end`.
    #[inline]
    pub(in crate::collector) fn next_live(&self, from: usize, end: usize) -> usize {
        self.find(from, end, |live| live)
    }

    /// The first word in `[from, end)` that is not live, or `end`.
    #[inline]
    pub(in crate::collector) fn next_dead(&self, from: usize, end: usize) -> usize {
        self.find(from, end, |live| !live)
    }

    #[inline(always)]
    fn find(&self, from: usize, end: usize, of: impl Fn(u64) -> u64) -> usize {
        let mut at = from;
        while at < end {
            let bits = of(self.block(at).live()) >> bit(at);
            if bits != 0 {
                return (at + bits.trailing_zeros() as usize * WORD).min(end);
            }
            at = next_block(at);
        }
        end
    }

    /// The address after the last live word in `[start, end)`, or `start`.
    pub(in crate::collector) fn live_end(&self, start: usize, end: usize) -> usize {
        self.end_of_last(start, end, |live| live)
    }

    /// The address after the last word in `[start, end)` that is not live, or `start`. The run of
    /// live words that reaches up to `end` begins there.
    pub(in crate::collector) fn run_start(&self, start: usize, end: usize) -> usize {
        self.end_of_last(start, end, |live| !live)
    }

    fn end_of_last(&self, start: usize, end: usize, of: impl Fn(u64) -> u64) -> usize {
        let mut at = end;
        while at > start {
            let block = (at - WORD) & !(BLOCK_BYTES - 1);
            let bits = of(self.block(block).live()) & ones((at - block) / WORD);
            if bits != 0 {
                return (block + (64 - bits.leading_zeros() as usize) * WORD).max(start);
            }
            at = block;
        }
        start
    }

    /// Notes that live words from `at` to the end of their block go to `to` and following
    /// addresses. If `at` does not begin a block, only the list of breaks has that address.
    pub(in crate::collector) fn send(&self, at: usize, to: usize) {
        let destination = &self.block(at).destination;
        if bit(at) == 0 {
            destination.store(to as u64, Ordering::Relaxed);
        } else {
            destination.fetch_or(BREAK, Ordering::Relaxed);
        }
    }

    /// [Sends](Self::send) the live words of whole blocks, `[start, end)`, to `to` and following
    /// addresses, block by block, until a block has more live bytes than there is `room` for.
    pub(in crate::collector) fn send_blocks(
        &self,
        start: usize,
        end: usize,
        to: usize,
        room: usize,
    ) -> SentBlocks {
        let mut sent = 0;
        for at in (start..end).step_by(BLOCK_BYTES) {
            let block = self.block(at);
            let bytes = self.count.of(block.live()) * WORD;
            if bytes > room - sent {
                return SentBlocks { end: at, bytes: sent };
            }
            if bytes > 0 {
                block.destination.store((to + sent) as u64, Ordering::Relaxed);
            }
            sent += bytes;
        }
        SentBlocks { end, bytes: sent }
    }

    /// Notes that nothing in `[start, end)`, whole blocks, moves.
    pub(in crate::collector) fn leave_in_place(&self, start: usize, end: usize) {
        for part in blocks(start..end) {
            self.block(part.start).destination.store(IN_PLACE, Ordering::Relaxed);
        }
    }

    /// Notes that the block of `address` moves down by `distance` as it is; `distance` is a
    /// multiple of a block.
    pub(in crate::collector) fn shift(&self, address: usize, distance: usize) {
        let to = (address & !(BLOCK_BYTES - 1)) - distance;
        self.block(address).destination.store(to as u64 | WHOLE, Ordering::Relaxed);
    }
}

impl Block {
    /// Marks words; returns the words that were marked before. `LOCKED`: other workers may mark at
    /// the same time.
    #[inline(always)]
    fn mark<const LOCKED: bool>(&self, words: u64) -> u64 {
        if LOCKED {
            return self.live.fetch_or(words, Ordering::Relaxed);
        }
        let before = self.live();
        self.live.store(before | words, Ordering::Relaxed);
        before
    }

    #[inline(always)]
    fn live(&self) -> u64 {
        self.live.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(in crate::collector) fn destination(&self) -> Destination {
        let destination = self.destination.load(Ordering::Relaxed);
        let address = (destination & !WHOLE) as usize;
        match destination & WHOLE {
            0 => Destination::At(address),
            BREAK => Destination::Broken(address),
            IN_PLACE => Destination::InPlace,
            _ => Destination::Whole(address),
        }
    }
}

/// The number of the word at `address` in its block.
#[inline(always)]
pub(in crate::collector) fn bit(address: usize) -> usize {
    address % BLOCK_BYTES / WORD
}

/// The low `count` bits; `count` is at most 64.
#[inline(always)]
pub(in crate::collector) fn ones(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// Address of the block after that of `address`.
#[inline(always)]
pub(in crate::collector) fn next_block(address: usize) -> usize {
    (address & !(BLOCK_BYTES - 1)) + BLOCK_BYTES
}

/// `range`, cut at the borders of blocks.
fn blocks(mut range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    std::iter::from_fn(move || {
        let start = range.start;
        range.start = next_block(start).min(range.end);
        (start < range.end).then_some(start..range.start)
    })
}
