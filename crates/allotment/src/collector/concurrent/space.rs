//! The memory that objects are copied to: regions that were taken out of the free set before.
//!
//! Each core has a region of the space, as in the free set. Mutators take the memory of a copy
//! there by one swap; workers take buffers. The number of regions is fixed when evacuation begins.
//! So mutators that allocate cannot take the memory of copies, and copies cannot take theirs. If
//! there is no room, objects stay where they are.
//!
//! Copies that are old have regions of their own. The next cycles fill up those that have room.
//!
//! Refused: a buffer for each mutator. With 500 threads the buffers are more than the copies.

use crate::collector::kernel::OldTables;
use crate::mutator::Shared;
use crate::object::fill;
use crate::region::{Attempts, Carve, FreeSet, State};
use crate::sync::{AtomicU32, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering, POISONED};
use crossbeam_utils::CachePadded;
use std::collections::TryReserveError;

/// The generation of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    /// All objects of a heap without generations are young.
    Young,
    Old,
}

/// A later cycle fills up an old region if one part in this many is left.
const WORTH: usize = 8;

/// The regions that copies go to.
pub(in crate::collector) struct CopySpace {
    homes: Box<[CachePadded<Home>]>,
    regions: Mutex<Regions>,
    /// `ZealEvacuationFailure`; 0: none.
    fail_every: usize,
    /// Copies so far, counted if some are to fail. Relaxed: a count.
    copies: AtomicUsize,
}

#[derive(Default)]
struct Home {
    /// By generation: the region that the core's threads copy to, plus one; 0: none. Written under
    /// the lock.
    regions: [AtomicU32; 2],
    /// Bytes that mutators copied. Relaxed: a count.
    by_mutators: AtomicU64,
}

#[derive(Default)]
struct Regions {
    /// Regions without a copy, the next one last.
    unused: Vec<usize>,
    /// By generation.
    used: [Vec<usize>; 2],
    /// Old regions of earlier cycles that have room.
    rests: Vec<usize>,
}

impl CopySpace {
    /// A space without regions, for this number of cores. Of the copies, each `fail_every`-th finds
    /// no memory; 0: none of them.
    pub(in crate::collector) fn new(homes: usize, fail_every: usize) -> CopySpace {
        CopySpace {
            homes: (0..homes.max(1)).map(|_| CachePadded::default()).collect(),
            regions: Mutex::default(),
            fail_every,
            copies: AtomicUsize::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Regions> {
        self.regions.lock().expect(POISONED)
    }

    /// In a child of `fork()`: whether no thread holds the lock.
    pub(in crate::collector) fn is_at_rest(&self) -> bool {
        self.regions.try_lock().is_ok()
    }

    /// Takes up to `wanted` regions of the heap for copies. Returns the number of regions that the
    /// space has.
    ///
    /// # Errors
    /// If there is no memory for the list of regions.
    pub(in crate::collector) fn provide(
        &self,
        free: &FreeSet,
        wanted: usize,
    ) -> Result<usize, TryReserveError> {
        let mut regions = self.lock();
        let missing = wanted.saturating_sub(regions.unused.len());
        regions.unused.try_reserve(missing)?;
        let most = wanted + regions.rests.len();
        for used in &mut regions.used {
            used.try_reserve(most)?;
        }
        for _ in 0..missing {
            let Some(index) = free.take_region(0) else { break };
            // Copies are no part of the rate of allocation.
            free.taken_for_copies(1);
            regions.unused.push(index);
        }
        Ok(regions.unused.len())
    }

    /// Whether the next copy has to find no memory.
    #[inline]
    pub(super) fn fails(&self) -> bool {
        self.fail_every != 0
            && self.copies.fetch_add(1, Ordering::Relaxed) % self.fail_every == self.fail_every - 1
    }

    /// Takes `bytes`, or up to `desired`, for a thread of core `home`. `old` are the tables of old
    /// regions, in a heap with generations.
    #[inline]
    pub(super) fn allocate(
        &self,
        free: &FreeSet,
        old: Option<OldTables<'_>>,
        home: usize,
        generation: Generation,
        bytes: usize,
        desired: usize,
    ) -> Option<Carve> {
        let region = &self.homes[home].regions[generation as usize];
        let mut attempts = Attempts::default();
        loop {
            let current = region.load(Ordering::Acquire);
            if let Some(index) = current.checked_sub(1)
                && let Some(carve) = free.carve(index as usize, bytes, desired, &mut attempts)
            {
                return Some(carve);
            }
            if !self.replace(free, old, home, generation, current) {
                break;
            }
        }
        // The last resort is the rest of any region.
        let regions = self.lock();
        let mut used = regions.used[generation as usize].iter();
        used.find_map(|&index| free.carve(index, bytes, bytes, &mut attempts))
    }

    /// Gives the core another region than `current`. Returns `false` if there is none.
    #[cold]
    fn replace(
        &self,
        free: &FreeSet,
        old: Option<OldTables<'_>>,
        home: usize,
        generation: Generation,
        current: u32,
    ) -> bool {
        let mut regions = self.lock();
        let region = &self.homes[home].regions[generation as usize];
        if region.load(Ordering::Relaxed) != current {
            return true;
        }
        let rest = if generation == Generation::Old { regions.rests.pop() } else { None };
        let Some(index) = rest.or_else(|| regions.unused.pop()) else { return false };
        let (table, new) = (free.table(), free.table().get(index));
        new.set_home(home);
        match old.filter(|_| generation == Generation::Old) {
            Some(tables) if rest.is_none() => {
                tables.clear(table.bottom(index), table.end(index));
                new.set_tenured(true);
                new.set_state(State::Old);
            }
            Some(_) => {}
            None => new.set_state(State::Survivor),
        }
        regions.used[generation as usize].push(index);
        region.store(index as u32 + 1, Ordering::Release);
        true
    }

    /// Takes back `[start, end)`: a copy of an object that another thread copied faster, or the
    /// rest of a buffer.
    pub(super) fn take_back(&self, free: &FreeSet, old: Option<OldTables<'_>>, start: usize, end: usize) {
        let region = free.table().get(free.table().index_of(start));
        region.raise_dirty_together(end);
        if region.move_top(end, start).is_err() {
            // SAFETY: the caller's memory, which nothing refers to.
            unsafe { fill(start, end) };
            if let Some(tables) = old.filter(|_| region.is_tenured()) {
                tables.starts.record(start, end - start);
            }
        }
    }

    /// Counts bytes that a mutator on core `home` copied.
    pub(in crate::collector) fn count(&self, home: usize, bytes: usize) {
        self.homes[home].by_mutators.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes that mutators copied since the last call.
    pub(in crate::collector) fn take_count(&self) -> u64 {
        self.homes.iter().map(|home| home.by_mutators.swap(0, Ordering::Relaxed)).sum()
    }

    /// Ends an evacuation: all threads may use the regions with young copies, and the unused ones
    /// are free again. Returns the bytes that copies took in old regions.
    pub(in crate::collector) fn close(&self, shared: &Shared) -> usize {
        let (mut regions, table) = (self.lock(), shared.space.free.table());
        let Regions { unused, used: [young, old], rests } = &mut *regions;
        for home in &self.homes {
            home.regions.iter().for_each(|region| region.store(0, Ordering::Relaxed));
        }
        young.drain(..).for_each(|index| shared.space.free.share_region(index));
        unused.drain(..).for_each(|index| shared.space.free.give_region(index, table.get(index).home()));
        let room = |index: usize| table.end(index) - table.get(index).top();
        let copied = old.iter().map(|&index| table.get(index).top() - table.watermark(index)).sum();
        for index in old.drain(..) {
            // Without memory for the list the room is lost until the region is emptied.
            if room(index) >= table.geometry().region_bytes() / WORTH && rests.try_reserve(1).is_ok() {
                rests.push(index);
            }
        }
        copied
    }

    /// Old regions of earlier cycles that have room.
    #[cfg(test)]
    pub(in crate::collector) fn rests(&self) -> usize {
        self.lock().rests.len()
    }

    /// Forgets the old regions of earlier cycles of which `gone` is true.
    pub(in crate::collector) fn forget_rests(&self, mut gone: impl FnMut(usize) -> bool) {
        self.lock().rests.retain(|&index| !gone(index));
    }
}
