//! The memory that objects are copied to: regions that were taken out of the free set before.
//!
//! Each core has a region of the space, as in the free set. Mutators take a copy's memory there by
//! one swap; workers take buffers. The number of regions is fixed when evacuation begins. So
//! mutators that allocate cannot take what copies need, and the other way round. Where there is no
//! room, objects stay where they are.
//!
//! Refused: a buffer for each mutator. With 500 threads the buffers are more than the copies.

use crate::mutator::Shared;
use crate::object::fill;
use crate::region::{Attempts, Backing, Carve, FreeSet, State};
use crate::sync::{AtomicU32, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering};
use crossbeam_utils::CachePadded;
use std::collections::TryReserveError;

const POISONED: &str = "nothing panics while it is locked";

/// The regions that copies go to.
pub(in crate::collector) struct CopySpace {
    homes: Box<[CachePadded<Home>]>,
    regions: Mutex<Regions>,
    /// `ZealEvacuationFailure`; 0: none.
    fail_every: usize,
    /// Copies so far, if some are to fail. Relaxed: a count.
    copies: AtomicUsize,
}

#[derive(Default)]
struct Home {
    /// The region that the core's threads copy to, plus one; 0: none. Written under the lock.
    region: AtomicU32,
    /// Bytes that mutators copied. Relaxed: a count.
    by_mutators: AtomicU64,
}

#[derive(Default)]
struct Regions {
    /// Regions without a copy, the next one last.
    unused: Vec<usize>,
    used: Vec<usize>,
}

impl CopySpace {
    /// A space without regions, for so many cores. Of the copies, each `fail_every`-th finds no
    /// memory; 0: none of them.
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

    /// Takes up to `wanted` regions of the heap for copies. Returns how many the space has.
    ///
    /// # Errors
    /// If there is no memory for the list of them.
    pub(in crate::collector) fn provide<B: Backing>(
        &self,
        free: &FreeSet<B>,
        wanted: usize,
    ) -> Result<usize, TryReserveError> {
        let mut regions = self.lock();
        let missing = wanted.saturating_sub(regions.unused.len());
        regions.unused.try_reserve(missing)?;
        regions.used.try_reserve(wanted)?;
        for _ in 0..missing {
            let Some(index) = free.take_region(0) else { break };
            regions.unused.push(index);
        }
        Ok(regions.unused.len())
    }

    /// Whether the next copy is to find no memory.
    #[inline]
    pub(super) fn fails(&self) -> bool {
        self.fail_every != 0
            && self.copies.fetch_add(1, Ordering::Relaxed) % self.fail_every == self.fail_every - 1
    }

    /// Takes `bytes`, or up to `desired`, for a thread of core `home`.
    #[inline]
    pub(super) fn allocate<B: Backing>(
        &self,
        free: &FreeSet<B>,
        home: usize,
        bytes: usize,
        desired: usize,
    ) -> Option<Carve> {
        let region = &self.homes[home].region;
        let mut attempts = Attempts::default();
        loop {
            let current = region.load(Ordering::Acquire);
            if let Some(index) = current.checked_sub(1)
                && let Some(carve) = free.carve(index as usize, bytes, desired, &mut attempts)
            {
                return Some(carve);
            }
            if !self.replace(free, home, current) {
                break;
            }
        }
        // The last resort: the rest of any region.
        self.lock().used.iter().find_map(|&index| free.carve(index, bytes, desired.min(bytes), &mut attempts))
    }

    /// Gives the core another region than `current`; `false`: there is none.
    #[cold]
    fn replace<B: Backing>(&self, free: &FreeSet<B>, home: usize, current: u32) -> bool {
        let mut regions = self.lock();
        let region = &self.homes[home].region;
        if region.load(Ordering::Relaxed) != current {
            return true;
        }
        let Some(index) = regions.unused.pop() else { return false };
        free.table().get(index).set_home(home);
        free.table().get(index).set_state(State::Survivor);
        regions.used.push(index);
        region.store(index as u32 + 1, Ordering::Release);
        true
    }

    /// Takes back `[start, end)`: a copy that another thread was faster with, or the rest of a
    /// buffer.
    pub(super) fn take_back<B: Backing>(&self, free: &FreeSet<B>, start: usize, end: usize) {
        let region = free.table().get(free.table().index_of(start));
        region.raise_dirty_together(end);
        if region.move_top(end, start).is_err() {
            // SAFETY: the caller's memory, which nothing refers to.
            unsafe { fill(start, end) };
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

    /// Ends an evacuation: all threads may use the regions with copies, and the others are free
    /// again.
    pub(in crate::collector) fn close(&self, shared: &Shared) {
        let mut regions = self.lock();
        self.homes.iter().for_each(|home| home.region.store(0, Ordering::Relaxed));
        regions.used.drain(..).for_each(|index| shared.free.share_region(index));
        let home = |index: usize| shared.free.table().get(index).home();
        regions.unused.drain(..).for_each(|index| shared.free.give_region(index, home(index)));
    }
}
