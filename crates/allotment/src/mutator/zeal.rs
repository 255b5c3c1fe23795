//! Zeal: collections, and failing allocations, at moments that a program does not expect.
//!
//! A program that forgets a root works as long as no collection comes between. With `ZealInterval`
//! a collection comes at every Nth allocation of each thread. With `ZealSeed` the distances are
//! random with that mean; the seed makes a failure repeatable. When zeal is off it costs nothing.
//! When it is on, limits stay 0, so every allocation takes the slow path, which counts. At a due
//! allocation `try_*` fails, as in a full heap. The caller then calls `make_room`, which collects
//! and hands out memory. The count begins anew there, so a program makes progress at N = 1. There
//! is one exception: if another thread's stop came first, the next allocation is due too, and no
//! allocation counts until one has collected. (SpiderMonkey's `JS_GC_ZEAL`; HotSpot's
//! `ScavengeALot`.)
//!
//! `ZealOutOfMemory` finds code that does not survive the end of memory, in the same way: at the
//! Nth allocation `try_*` fails and `make_room` reports that there is no memory, once. Run with 1,
//! 2, 3... until nothing fails, a program has had each of its allocations fail in turn.
//!
//! Refused: a thread that requests collections by the clock. Its failures cannot be repeated.

use crate::random::Random;
use std::cell::Cell;

/// The options of a heap for this schedule.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ZealSchedule {
    /// Allocations from one collection to the next; 0: off.
    pub(crate) interval: usize,
    /// 0: the interval is exact. Otherwise the interval is a mean.
    pub(crate) seed: usize,
    /// The number of the allocation of each thread that fails; 0: none.
    pub(crate) out_of_memory: usize,
}

/// The position of a thread in the schedule. Owner only.
#[derive(Debug)]
pub(super) struct Zeal {
    schedule: ZealSchedule,
    /// Allocations up to and including the one that needs a collection first; 0: a collection is
    /// due now.
    collection_in: Cell<usize>,
    /// Allocations up to and including the one that fails; 0: the failure is due now.
    failure_in: Cell<usize>,
    /// The generator of distances.
    random: Random,
}

impl Zeal {
    /// In both counts: not in the life of a thread.
    const NEVER: usize = usize::MAX;

    /// The schedule of the `thread`-th thread that attaches.
    pub(super) fn new(schedule: ZealSchedule, thread: u64) -> Zeal {
        let random = (schedule.seed as u64) << 32 ^ thread;
        let failure_in = if schedule.out_of_memory == 0 { Zeal::NEVER } else { schedule.out_of_memory };
        let zeal = Zeal {
            schedule,
            collection_in: Cell::new(0),
            failure_in: Cell::new(failure_in),
            random: Random::new(random),
        };
        zeal.begin_anew();
        zeal
    }

    /// Whether every allocation must take the slow path.
    pub(super) fn is_on(&self) -> bool {
        self.schedule.interval != 0 || self.schedule.out_of_memory != 0
    }

    /// Counts an allocation on the slow path. Returns whether it must not succeed without
    /// `make_room`.
    pub(super) fn stops(&self) -> bool {
        self.is_on() && self.is_due()
    }

    /// Whether collections come where a program does not expect them.
    pub(super) fn collects(&self) -> bool {
        self.schedule.interval != 0
    }

    /// Whether the last counted allocation needs a collection first.
    pub(super) fn wants_collection(&self) -> bool {
        self.collection_in.get() == 0
    }

    /// Counts an allocation. Returns whether a collection or a failure is due. While one is due,
    /// nothing more is counted.
    fn is_due(&self) -> bool {
        let (collection, failure) = (&self.collection_in, &self.failure_in);
        if collection.get() > 0 && failure.get() > 0 {
            [collection, failure].iter().for_each(|left| left.set(left.get() - 1));
        }
        collection.get() == 0 || failure.get() == 0
    }

    /// Whether the last counted allocation must fail. Returns true only once.
    pub(super) fn fails(&self) -> bool {
        let fails = self.failure_in.get() == 0;
        if fails {
            self.failure_in.set(Zeal::NEVER);
        }
        fails
    }

    /// A collection has run: the count begins anew.
    pub(super) fn begin_anew(&self) {
        let ZealSchedule { interval, seed, .. } = self.schedule;
        // From 1 to 2N - 1, whose mean is N.
        let random = |span: usize| 1 + (self.random.next() % span as u64) as usize;
        self.collection_in.set(match (interval, seed) {
            (0, _) => Zeal::NEVER,
            (_, 0) => interval,
            _ => random(2 * interval - 1),
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn distances(interval: usize, seed: usize, thread: u64) -> Vec<usize> {
        let zeal = Zeal::new(ZealSchedule { interval, seed, out_of_memory: 0 }, thread);
        let distance = |_| {
            let allocations = (1..).find(|_| zeal.is_due()).unwrap();
            assert!(zeal.is_due(), "until it was served");
            zeal.begin_anew();
            allocations
        };
        (0..2000).map(distance).collect()
    }

    #[test]
    fn without_a_seed_each_distance_is_the_interval() {
        for interval in [1, 2, 7] {
            assert!(distances(interval, 0, 3).iter().all(|&distance| distance == interval));
        }
    }

    #[test]
    fn a_seed_gives_distances_with_that_mean_which_can_be_repeated() {
        assert!(distances(1, 5, 0).iter().all(|&distance| distance == 1));
        let first = distances(10, 5, 1);
        assert_eq!(first, distances(10, 5, 1));
        assert_ne!(first, distances(10, 6, 1));
        assert_ne!(first, distances(10, 5, 2));
        assert!(first.iter().all(|distance| (1..20).contains(distance)));
        let sum: usize = first.iter().sum();
        assert!((19_000..21_000).contains(&sum), "{sum}");
        assert!((1..20).all(|distance| first.contains(&distance)));
    }

    #[test]
    fn one_allocation_fails_wherever_the_collections_are() {
        for (interval, nth) in [(0, 1), (0, 5), (1, 1), (1, 4), (3, 3), (3, 4), (2, 9)] {
            let zeal = Zeal::new(ZealSchedule { interval, seed: 0, out_of_memory: nth }, 0);
            let (mut collections, mut failed) = (0, Vec::new());
            for allocation in 1..=20 {
                if zeal.is_due() {
                    assert!(zeal.is_due());
                    if zeal.collection_in.get() == 0 {
                        collections += 1;
                        zeal.begin_anew();
                    }
                    failed.extend(zeal.fails().then_some(allocation));
                }
            }
            assert_eq!(failed, [nth], "{interval}");
            assert_eq!(collections, 20_usize.checked_div(interval).unwrap_or(0));
        }
    }
}
