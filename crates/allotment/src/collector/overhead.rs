//! The limit on the cost of collections, for one heap.
//!
//! The rule itself is numbers only, in [`sizing::overhead`](super::sizing). This file takes the
//! numbers from the heap: the time since the last collection, and the free bytes. The time until
//! the last thread has stopped counts as running time, because that thread still ran.
//!
//! Each collector has one [`Overhead`] beside its own state. The limit has a lock of its own,
//! because the embedder's hook resets the counts while threads run.

use super::sizing::{Effort, Extent, Need, OverheadLimit, OverheadSettings};
use crate::mutator::{Cause, GcOverhead};
use crate::region::{Backing, FreeSet};
use crate::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// The counts of one heap.
pub(crate) struct Overhead {
    /// The counts; `None` with `-UseGCOverheadLimit`. The lock is held for a few instructions, and
    /// no holder waits.
    inner: Option<Mutex<Counts>>,
}

/// The counts so far, and the rule that they feed.
struct Counts {
    limit: OverheadLimit,
    /// The heap's age when threads began to run.
    resumed: Duration,
    /// Time in which a thread helped a cycle, and did not run for its program. It counts with the
    /// next collection.
    helped: Duration,
    /// Whether a full collection of this stop has counted already.
    counted: bool,
    /// Commit requests that the system had refused by the last count.
    refusals: usize,
    /// Number of times that the limit was exceeded, and the last measurement.
    exceeded: Option<(u64, GcOverhead)>,
}

/// The bytes of a heap that count for the limit.
struct Room {
    /// Free bytes.
    free_bytes: usize,
    /// All bytes.
    heap_bytes: usize,
}

impl Overhead {
    /// The counts of a heap of this age.
    pub(crate) fn new(settings: Option<OverheadSettings>, age: Duration) -> Overhead {
        let inner = |settings| Counts {
            limit: OverheadLimit::new(settings),
            resumed: age,
            helped: Duration::ZERO,
            counted: false,
            refusals: 0,
            exceeded: None,
        };
        Overhead { inner: settings.map(|settings| Mutex::new(inner(settings))) }
    }

    fn lock(&self) -> Option<MutexGuard<'_, Counts>> {
        let inner = self.inner.as_ref()?;
        Some(inner.lock().expect("nothing that may panic runs under the lock of the limit"))
    }

    /// Begins a stop for an allocation: the first full collection of this stop counts.
    pub(crate) fn begin_stop(&self) {
        if let Some(mut inner) = self.lock() {
            inner.counted = false;
        }
    }

    /// Whether a full collection for this cause may be the deciding one. That collection must free
    /// all it can.
    pub(crate) fn is_near(&self, cause: Cause) -> bool {
        cause == Cause::AllocationFailure && self.lock().is_some_and(|inner| inner.limit.is_near())
    }

    /// Counts a collection that began at age `start` and took `pause`. In the stopped world.
    pub(crate) fn after(
        &self,
        free: &FreeSet<impl Backing>,
        extent: Extent,
        cause: Cause,
        start: Duration,
        pause: Duration,
    ) -> Option<GcOverhead> {
        let mut inner = self.lock()?;
        let Room { free_bytes, heap_bytes } = inner.room(free);
        let need = match cause {
            Cause::AllocationFailure if inner.counted => Need::AllocationStill,
            Cause::AllocationFailure => Need::Allocation,
            Cause::Requested | Cause::Idle | Cause::Interval | Cause::Trigger => Need::None,
            Cause::Zeal => Need::Test,
        };
        inner.counted |= need == Need::Allocation && extent == Extent::Full;
        let between = start.saturating_sub(inner.resumed);
        // Of several threads, some may have helped longer than the mean.
        let helped = std::mem::take(&mut inner.helped).min(between);
        inner.resumed = start + pause;
        let (collecting, running) = (pause + helped, between - helped);
        let effort = Effort { extent, need, collecting, running, free_bytes, heap_bytes };
        let overhead = inner.limit.after(&effort);
        if overhead.exceeded {
            let times = inner.exceeded.map_or(0, |(times, _)| times);
            inner.exceeded = Some((times + 1, overhead));
        }
        Some(overhead)
    }

    /// Counts the help of threads for a cycle as time of collections: `time` is the mean of all
    /// threads.
    pub(crate) fn helped(&self, time: Duration) {
        if let Some(mut inner) = self.lock() {
            inner.helped += time;
        }
    }

    /// Notes the end of a cycle while threads run. If the cycle left enough free, a row of full
    /// collections that left too little has ended.
    pub(crate) fn freed_beside(&self, free: &FreeSet<impl Backing>) {
        let Some(mut inner) = self.lock() else { return };
        let geometry = free.table().geometry();
        let free_bytes = free.free_regions() << geometry.region_shift;
        if inner.limit.leaves_enough(free_bytes, geometry.heap_bytes()) {
            inner.limit.begin_anew();
        }
    }

    /// Number of times that the limit was exceeded, and the last measurement.
    pub(crate) fn exceeded(&self) -> Option<(u64, GcOverhead)> {
        self.lock()?.exceeded
    }

    /// Forgets the counts so far: the embedder released memory.
    pub(crate) fn begin_anew(&self) {
        if let Some(mut inner) = self.lock() {
            inner.limit.begin_anew();
        }
    }

    /// Forgets the counts so far: the heap was emptied at this age.
    pub(crate) fn emptied(&self, age: Duration) {
        if let Some(mut inner) = self.lock() {
            inner.limit.begin_anew();
            (inner.resumed, inner.helped) = (age, Duration::ZERO);
        }
    }
}

impl Counts {
    /// The room in the heap. The rests of regions count only if little else is free: to find these
    /// rests takes a look at each region in use.
    fn room(&mut self, free: &FreeSet<impl Backing>) -> Room {
        let geometry = free.table().geometry();
        let refusals = free.commit_failures();
        let before = std::mem::replace(&mut self.refusals, refusals);
        // Memory that the system refuses does not count.
        let (regions, empty) = if before < refusals {
            (free.committed_regions(), free.committed_regions().saturating_sub(free.regions_in_use()))
        } else {
            (geometry.regions, free.free_regions())
        };
        let (bytes, heap_bytes) = (empty << geometry.region_shift, regions << geometry.region_shift);
        let enough = self.limit.leaves_enough(bytes, heap_bytes);
        Room { free_bytes: if enough { bytes } else { bytes + free.room_beside_free() }, heap_bytes }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::options::RefillStrategy;
    use crate::region::{Geometry, RegionTable};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A system that has memory for this many regions.
    struct Lends(AtomicUsize);

    impl Backing for Lends {
        fn commit(&self, _: usize) -> bool {
            self.0.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
        }

        fn uncommit(&self, _: usize) -> bool {
            false
        }
    }

    const MS: Duration = Duration::from_millis(1);

    /// A free set of this many regions, and the limit with a row of one full collection that left
    /// too little.
    fn after_one(regions: usize) -> (FreeSet<Lends>, Overhead) {
        let table = RegionTable::new(1 << 30, Geometry { region_shift: 12, regions });
        let free = FreeSet::new(table, Lends(AtomicUsize::new(regions)), RefillStrategy::Cas, 1);
        while let Some(index) = free.take_region(0) {
            free.table().get(index).set_top(free.table().end(index));
        }
        let settings = OverheadSettings { time_percent: 50, free_percent: 2 };
        let overhead = Overhead::new(Some(settings), Duration::ZERO);
        let first = overhead.after(&free, Extent::Full, Cause::AllocationFailure, MS, MS).expect("it is on");
        assert_eq!((first.full_collections, first.collecting, first.running), (1, MS, MS));
        (free, overhead)
    }

    #[test]
    fn cycles_in_stops_and_help_cost_time_and_are_not_counted() {
        let (free, overhead) = after_one(100);
        overhead.begin_stop();
        overhead.helped(2 * MS);
        // 8 ms after the last collection.
        let cycle = overhead.after(&free, Extent::Young, Cause::AllocationFailure, 10 * MS, 3 * MS);
        let cycle = cycle.expect("it is on");
        assert_eq!((cycle.full_collections, cycle.collecting, cycle.running), (1, 5 * MS, 6 * MS));
        assert!(!cycle.is_beyond_limits(), "45 % of the time");
        overhead.helped(100 * MS);
        let full = overhead.after(&free, Extent::Full, Cause::AllocationFailure, 14 * MS, 2 * MS);
        let full = full.expect("it is on");
        assert_eq!((full.full_collections, full.collecting, full.running), (2, 8 * MS, 6 * MS));
        assert!(full.is_beyond_limits() && !full.exceeded, "57 % of the time, and nothing is free");
    }

    #[test]
    fn a_cycle_beside_threads_that_leaves_enough_ends_the_row() {
        for (given, row) in [(1, 2), (2, 1)] {
            let (free, overhead) = after_one(100);
            (0..given).for_each(|index| free.give_region(index, 0));
            overhead.freed_beside(&free);
            (0..given).for_each(|_| assert!(free.take_region(0).is_some()));
            overhead.begin_stop();
            let full = overhead.after(&free, Extent::Full, Cause::AllocationFailure, 9 * MS, MS);
            assert_eq!(full.map(|full| full.full_collections), Some(row), "{given} of 100 regions");
        }
    }

    #[test]
    fn free_bytes_are_bytes_that_the_system_provides() {
        const SHIFT: u32 = 12;
        let geometry = Geometry { region_shift: SHIFT, regions: 100 };
        let table = RegionTable::new(1 << 30, geometry);
        let free = FreeSet::new(table, Lends(AtomicUsize::new(10)), RefillStrategy::Cas, 1);
        let settings = OverheadSettings { time_percent: 98, free_percent: 5 };
        let overhead = Overhead::new(Some(settings), Duration::ZERO);
        let room = || {
            let Room { free_bytes, heap_bytes } = overhead.lock().expect("it is on").room(&free);
            (free_bytes as f64 / f64::from(1 << SHIFT), heap_bytes >> SHIFT)
        };
        assert_eq!(room(), (100.0, 100));
        let taken: Vec<_> = std::iter::from_fn(|| free.take_region(0)).collect();
        assert_eq!(taken.len(), 10);
        for &index in &taken {
            let full = free.table().end(index);
            free.table().get(index).set_top(full - 8 * index % 512);
        }
        let rest = (0..10).map(|index| 8 * taken[index] % 512).max().expect("ten regions");
        assert_eq!(room(), (rest as f64 / 4096.0, 10), "the system refused the eleventh");
        assert_eq!(room(), (90.0, 100), "it was not asked again");
        free.give_region(taken[0], 0);
        assert!(free.take_region(0).is_some() && free.take_region(0).is_none());
        free.give_region(taken[0], 0);
        assert_eq!(room(), (1.0, 10), "a region is enough, whatever is left of others");
    }
}
