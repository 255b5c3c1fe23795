//! The table of handles: roots that may be stored anywhere and dropped by any thread, attached or
//! not.
//!
//! A slot keeps its address for life. A handle reads and writes its own slot without a lock. Only
//! making a handle, dropping it, and a collector's visit take the lock. A free slot holds an
//! immediate, so a visit passes over it as over any word that is not a reference.
//!
//! A collector that works while threads run visits the table [chunk by
//! chunk](RootTable::visit_chunk) and gives the lock back in between. A thread that is not attached
//! may clone and drop handles meanwhile. So the table knows the barriers in force, under its lock,
//! and a change tells what it takes away or copies ([`Changed`]).

use crate::mutator::barrier_bits::FORWARDING;
use crate::object::reference;
use crate::sync::{Mutex, MutexGuard};
use std::alloc::{Layout, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Number of slots made at a time.
const CHUNK: usize = 64;

/// The value of a free slot: no reference.
const FREE: u64 = 1;

/// All handles of one kind.
#[derive(Default)]
pub(in crate::mutator) struct RootTable {
    inner: Mutex<TableSlots>,
    /// Number of slots with a handle. Written under the lock, Relaxed: for readers without it.
    in_use: AtomicUsize,
}

#[derive(Default)]
struct TableSlots {
    chunks: Vec<Chunk>,
    /// Slots without a handle.
    free: Vec<RootSlot>,
    /// The barriers in force, as bits of [`Hot`](crate::mutator::Hot). Changed in stops.
    barriers: u32,
    /// Slots that were made by copying while references are being updated. The update's visit of
    /// the chunks may have passed them.
    copies: Vec<RootSlot>,
    /// Visits of all slots that ended.
    visits: u64,
}

/// The news of a change of the table, for a collector that works meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mutator) struct Changed {
    /// The barriers in force, as bits of [`Hot`](crate::mutator::Hot).
    pub(in crate::mutator) barriers: u32,
    /// The word that was taken away or copied.
    pub(in crate::mutator) word: u64,
}

/// Slots that were made together, in memory of their own. The chunk has a pointer and no `Box`. A
/// box is the only way to its contents, so moving a box (into a vector, or with it) would
/// invalidate the pointer of every slot.
struct Chunk(NonNull<[AtomicU64; CHUNK]>);

// SAFETY: it owns atomics.
unsafe impl Send for Chunk {}
// SAFETY: as above.
unsafe impl Sync for Chunk {}

impl Chunk {
    /// A chunk of free slots; `None`: the system has no memory.
    fn new() -> Option<Chunk> {
        let mut words = Vec::new();
        words.try_reserve_exact(CHUNK).ok()?;
        words.extend((0..CHUNK).map(|_| AtomicU64::new(FREE)));
        let words: Box<[AtomicU64; CHUNK]> = words.into_boxed_slice().try_into().ok()?;
        Some(Chunk(NonNull::from(Box::leak(words))))
    }

    /// The chunk's slots. Their pointers are valid as long as the chunk, wherever the chunk is
    /// moved.
    fn slots(&self) -> impl DoubleEndedIterator<Item = RootSlot> + use<> {
        let first = self.0.cast::<AtomicU64>();
        // SAFETY: the elements of the array.
        (0..CHUNK).map(move |index| RootSlot(unsafe { first.add(index) }))
    }

    fn words(&self) -> &[AtomicU64; CHUNK] {
        // SAFETY: its own memory, of which there are only shared references.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: `new` made it from a box; the table goes, which outlives the holders of its
        // slots.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// A slot of a table, valid as long as the table.
#[derive(Clone, Copy)]
pub(in crate::mutator) struct RootSlot(NonNull<AtomicU64>);

// SAFETY: an atomic in a table that every holder keeps alive.
unsafe impl Send for RootSlot {}
// SAFETY: as above.
unsafe impl Sync for RootSlot {}

impl RootSlot {
    pub(in crate::mutator) fn word(&self) -> &AtomicU64 {
        // SAFETY: the table outlives its slots' holders, and its chunks do not free their memory
        // before that. The pointer came from the chunk's own pointer, which nothing has
        // invalidated: only shared references to the words exist.
        unsafe { self.0.as_ref() }
    }
}

impl TableSlots {
    /// A free slot; `None`: the system has no memory.
    fn free(&mut self) -> Option<RootSlot> {
        if self.free.is_empty() {
            self.chunks.try_reserve(1).ok()?;
            // Room for all slots, so that giving one back takes no memory.
            self.free.try_reserve((self.chunks.len() + 1) * CHUNK).ok()?;
            let chunk = Chunk::new()?;
            self.free.extend(chunk.slots().rev());
            self.chunks.push(chunk);
        }
        self.free.pop()
    }
}

/// Ends the process, as any allocation of Rust does without memory.
fn out_of_memory() -> ! {
    handle_alloc_error(Layout::new::<[AtomicU64; CHUNK]>())
}

impl RootTable {
    pub(super) fn is_at_rest(&self) -> bool {
        self.inner.try_lock().is_ok()
    }

    fn lock(&self) -> MutexGuard<'_, TableSlots> {
        super::lock_roots(&self.inner, "a thread panicked while it changed the table of roots")
    }

    /// Number of slots with a handle, at about this moment. Takes no lock.
    pub(super) fn in_use(&self) -> usize {
        self.in_use.load(Ordering::Relaxed)
    }

    /// Notes how many slots are in use, for readers without the lock.
    fn count(&self, inner: &TableSlots) {
        self.in_use.store(inner.chunks.len() * CHUNK - inner.free.len(), Ordering::Relaxed);
    }

    /// A slot that holds `bits`. Ends the process if the system has no memory.
    pub(in crate::mutator) fn take(&self, bits: u64) -> RootSlot {
        self.try_take(bits).unwrap_or_else(|| out_of_memory())
    }

    /// A slot that holds `bits`; `None` if the system has no memory.
    pub(in crate::mutator) fn try_take(&self, bits: u64) -> Option<RootSlot> {
        let mut inner = self.lock();
        let slot = inner.free()?;
        self.count(&inner);
        slot.word().store(bits, Ordering::Release);
        Some(slot)
    }

    /// A slot that holds what `copied` makes of the word of `other`. Copied under the lock, so no
    /// visit comes in between.
    pub(in crate::mutator) fn copy(&self, other: RootSlot, copied: impl FnOnce(Changed) -> u64) -> RootSlot {
        let mut inner = self.lock();
        let slot = inner.free().unwrap_or_else(|| out_of_memory());
        self.count(&inner);
        let (barriers, word) = (inner.barriers, other.word().load(Ordering::Acquire));
        slot.word().store(copied(Changed { barriers, word }), Ordering::Release);
        if barriers & FORWARDING != 0 {
            inner.copies.push(slot);
        }
        slot
    }

    /// Takes back a slot. `taken` is called with the word that the slot held, under the lock.
    pub(in crate::mutator) fn give(&self, slot: RootSlot, taken: impl FnOnce(Changed)) {
        let mut inner = self.lock();
        let word = slot.word().swap(FREE, Ordering::Relaxed);
        taken(Changed { barriers: inner.barriers, word });
        inner.free.push(slot);
        self.count(&inner);
    }

    /// Takes back a slot that holds no reference any more; `false`: it holds one. Collectors write
    /// to slots under the lock.
    pub(in crate::mutator) fn give_if_cleared(&self, slot: RootSlot) -> bool {
        let mut inner = self.lock();
        let is_cleared = reference(slot.word().load(Ordering::Relaxed)).is_none();
        if is_cleared {
            slot.word().store(FREE, Ordering::Relaxed);
            inner.free.push(slot);
            self.count(&inner);
        }
        is_cleared
    }

    /// How many visits of all slots have ended. As long as that stays, no slot was cleared.
    pub(in crate::mutator) fn visits(&self) -> u64 {
        self.lock().visits
    }

    /// Puts these barriers in force. In a stop.
    pub(super) fn set_barriers(&self, barriers: u32) {
        let mut inner = self.lock();
        inner.barriers = barriers;
        inner.copies.clear();
    }

    /// Calls `visit` with the slots of chunk `number`, and those that were copied meanwhile.
    /// `false`: there is no such chunk. The lock is held during the visit only.
    pub(super) fn visit_chunk(&self, number: usize, mut visit: impl FnMut(&AtomicU64)) -> bool {
        let mut inner = self.lock();
        std::mem::take(&mut inner.copies).iter().for_each(|slot| visit(slot.word()));
        let chunk = inner.chunks.get(number);
        let is_there = chunk.is_some();
        chunk.into_iter().flat_map(Chunk::words).for_each(visit);
        inner.visits += u64::from(!is_there);
        is_there
    }

    /// Number of slots that hold a reference.
    pub(super) fn references(&self) -> usize {
        let inner = self.lock();
        let words = inner.chunks.iter().flat_map(Chunk::words).map(|slot| slot.load(Ordering::Relaxed));
        words.filter(|&bits| reference(bits).is_some()).count()
    }

    /// Makes every reference null.
    pub(super) fn clear(&self) {
        let mut inner = self.lock();
        inner.visits += 1;
        for slot in inner.chunks.iter().flat_map(Chunk::words) {
            if reference(slot.load(Ordering::Relaxed)).is_some() {
                slot.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Calls `visit` with every slot that is in use, and some that are not.
    pub(super) fn visit(&self, mut visit: impl FnMut(*mut u64)) {
        let mut inner = self.lock();
        inner.visits += 1;
        for chunk in &inner.chunks {
            chunk.slots().for_each(|slot| visit(slot.word().as_ptr()));
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Under Miri, which runs it, a slot's pointer must outlive the moves of the owner of its
    /// chunk.
    #[test]
    fn slots_stay_where_they_are_while_the_table_grows_and_moves() {
        let table = RootTable::default();
        let slots: Vec<_> = (0..5 * CHUNK as u64).map(|number| table.take(2 * number + 1)).collect();
        let table = Box::new(table);
        let copies: Vec<_> = slots.iter().map(|slot| table.copy(*slot, |changed| changed.word)).collect();
        for (number, (slot, copy)) in slots.iter().zip(&copies).enumerate() {
            assert_eq!(slot.word().load(Ordering::Relaxed), 2 * number as u64 + 1);
            assert_eq!(copy.word().load(Ordering::Relaxed), 2 * number as u64 + 1);
        }
        let mut visited = 0;
        table.visit(|slot| {
            // SAFETY: a slot of the table, which no other code uses.
            unsafe { *slot += 8 };
            visited += 1;
        });
        assert_eq!((visited, table.in_use()), (10 * CHUNK, 10 * CHUNK));
        assert_eq!(slots[7].word().load(Ordering::Relaxed), 15 + 8);
        assert_eq!(table.references(), 0, "all are odd");
        slots[3].word().store(64, Ordering::Relaxed);
        assert_eq!(table.references(), 1);
        table.clear();
        assert_eq!((table.references(), slots[3].word().load(Ordering::Relaxed)), (0, 0));
        slots.into_iter().for_each(|slot| table.give(slot, |_| ()));
        assert_eq!(table.in_use(), 5 * CHUNK);
        assert_eq!(table.take(8).word().load(Ordering::Relaxed), 8);
    }

    #[test]
    fn a_slot_is_taken_back_once_it_is_cleared_and_each_visit_counts() {
        let table = RootTable::default();
        let (lives, dies) = (table.try_take(64).unwrap(), table.try_take(72).unwrap());
        assert!(!table.give_if_cleared(lives) && !table.give_if_cleared(dies));
        dies.word().store(0, Ordering::Relaxed);
        assert_eq!(table.in_use(), 2);
        assert!(table.give_if_cleared(dies) && !table.give_if_cleared(lives));
        assert_eq!(table.in_use(), 1);
        assert_eq!(dies.word().load(Ordering::Relaxed), FREE);
        assert_eq!(table.visits(), 0);
        table.visit(|_| ());
        assert_eq!(table.visits(), 1);
        assert!(table.visit_chunk(0, |_| ()));
        assert_eq!(table.visits(), 1, "not all chunks were visited");
        assert!(!table.visit_chunk(1, |_| ()));
        table.clear();
        assert_eq!(table.visits(), 3);
        assert!(table.give_if_cleared(lives));
    }
}
