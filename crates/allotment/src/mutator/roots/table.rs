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

use super::chunk::{CHUNK, Chunk, FREE, RootSlot};
use super::young::YoungChunks;
use crate::mutator::barrier_bits::FORWARDING;
use crate::object::reference;
use crate::sync::{AtomicU64 as EpochWord, Mutex, MutexGuard};
use std::alloc::{Layout, handle_alloc_error};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// All handles of one kind.
pub(in crate::mutator) struct RootTable {
    inner: Mutex<TableSlots>,
    /// Number of slots with a handle. Written under the lock, Relaxed: for readers without it.
    in_use: AtomicUsize,
    /// How many visits of the handles of young objects were begun, plus one. Written in stops, under
    /// the lock. Relaxed: a thread that reads it without the lock was stopped meanwhile.
    pub(super) epoch: EpochWord,
}

impl Default for RootTable {
    fn default() -> RootTable {
        RootTable { inner: Mutex::default(), in_use: AtomicUsize::new(0), epoch: EpochWord::new(1) }
    }
}

#[derive(Default)]
pub(super) struct TableSlots {
    pub(super) chunks: Vec<Chunk>,
    /// Those of the chunks that young collections visit.
    pub(super) young: YoungChunks,
    /// Slots without a handle.
    free: Vec<RootSlot>,
    /// The barriers in force, as bits of [`Hot`](crate::mutator::Hot). Changed in stops.
    barriers: u32,
    /// Slots that were made by copying while references are being updated. The update's visit of
    /// the chunks may have passed them.
    copies: Vec<RootSlot>,
    /// Visits of all slots that ended, and visits of the slots of young chunks.
    visits: u64,
    /// Slots that visits looked at.
    #[cfg(all(test, not(loom)))]
    visited: usize,
}

/// The handles that a visit looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandleExtent {
    /// All of them.
    All,
    /// Those that may refer to young objects, and some others.
    Young,
}

/// The news of a change of the table, for a collector that works meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mutator) struct Changed {
    /// The barriers in force, as bits of [`Hot`](crate::mutator::Hot).
    pub(in crate::mutator) barriers: u32,
    /// The word that was taken away or copied.
    pub(in crate::mutator) word: u64,
}

impl TableSlots {
    /// A free slot; `None`: the system has no memory.
    fn free(&mut self) -> Option<RootSlot> {
        if self.free.is_empty() {
            self.chunks.try_reserve(1).ok()?;
            // Room for all slots, so that giving one back takes no memory.
            self.free.try_reserve((self.chunks.len() + 1) * CHUNK).ok()?;
            self.young.reserve(self.chunks.len() + 1)?;
            let chunk = Chunk::new()?;
            self.free.extend(chunk.slots().rev());
            self.chunks.push(chunk);
        }
        self.free.pop()
    }

    /// Counts a visit of this number of slots.
    fn count_visited(&mut self, _slots: usize) {
        #[cfg(all(test, not(loom)))]
        {
            self.visited += _slots;
        }
    }
}

impl Drop for TableSlots {
    fn drop(&mut self) {
        // SAFETY: the table goes, which outlives the holders of its slots.
        self.chunks.drain(..).for_each(|chunk| unsafe { chunk.free() });
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

    pub(super) fn lock(&self) -> MutexGuard<'_, TableSlots> {
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

    /// Lets young collections visit the slot, which is being written.
    fn remember(&self, inner: &mut TableSlots, slot: RootSlot) {
        inner.young.add(slot.chunk(), self.epoch.load(Ordering::Relaxed));
    }

    /// Lets young collections visit the slot, to which the calling thread has stored a reference
    /// since its last safepoint.
    #[inline]
    pub(in crate::mutator) fn stored(&self, slot: RootSlot) {
        if !slot.chunk().is_of(self.epoch.load(Ordering::Relaxed)) {
            self.remember_stored(slot);
        }
    }

    #[cold]
    fn remember_stored(&self, slot: RootSlot) {
        self.remember(&mut self.lock(), slot);
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
        self.remember(&mut inner, slot);
        slot.word().store(bits, Ordering::Release);
        Some(slot)
    }

    /// A slot that holds what `copied` makes of the word of `other`. Copied under the lock, so no
    /// visit comes in between.
    pub(in crate::mutator) fn copy(&self, other: RootSlot, copied: impl FnOnce(Changed) -> u64) -> RootSlot {
        let mut inner = self.lock();
        let slot = inner.free().unwrap_or_else(|| out_of_memory());
        self.count(&inner);
        self.remember(&mut inner, slot);
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

    /// Calls `visit` with the slots of chunk `number` of the handles of this `extent`, and those
    /// that were copied meanwhile. `false`: there is no such chunk. The lock is held during the
    /// visit only.
    pub(super) fn visit_chunk(
        &self,
        extent: HandleExtent,
        number: usize,
        mut visit: impl FnMut(&AtomicU64),
    ) -> bool {
        let mut inner = self.lock();
        std::mem::take(&mut inner.copies).iter().for_each(|slot| visit(slot.word()));
        let chunk = match extent {
            HandleExtent::All => inner.chunks.get(number).copied(),
            HandleExtent::Young => inner.young.get(number),
        };
        let is_there = chunk.is_some();
        chunk.iter().flat_map(Chunk::words).for_each(visit);
        inner.visits += u64::from(!is_there);
        inner.count_visited(if is_there { CHUNK } else { 0 });
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

    /// Calls `visit` with every slot of this extent that is in use, and some that are not.
    pub(super) fn visit(&self, extent: HandleExtent, mut visit: impl FnMut(*mut u64)) {
        let inner = &mut *self.lock();
        inner.visits += 1;
        let mut chunks = 0;
        let mut visit = |chunk: Chunk| {
            chunks += 1;
            chunk.slots().for_each(|slot| visit(slot.word().as_ptr()));
        };
        match extent {
            HandleExtent::All => inner.chunks.iter().copied().for_each(&mut visit),
            HandleExtent::Young => inner.young.all().for_each(&mut visit),
        }
        inner.count_visited(chunks * CHUNK);
    }

    /// Slots that visits have looked at since the last call.
    #[cfg(all(test, not(loom)))]
    pub(super) fn take_visited(&self) -> usize {
        std::mem::take(&mut self.lock().visited)
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
        table.visit(HandleExtent::All, |slot| {
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
        table.visit(HandleExtent::All, |_| ());
        assert_eq!(table.visits(), 1);
        assert!(table.visit_chunk(HandleExtent::All, 0, |_| ()));
        assert_eq!(table.visits(), 1, "not all chunks were visited");
        assert!(!table.visit_chunk(HandleExtent::All, 1, |_| ()));
        table.clear();
        assert_eq!(table.visits(), 3);
        assert!(table.give_if_cleared(lives));
    }
}
