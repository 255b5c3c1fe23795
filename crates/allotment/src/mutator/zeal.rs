//! Zeal: collections, and the end of memory, at moments that a program did not expect.
//!
//! A program that forgets a root works as long as no collection comes between. With `ZealInterval` one comes at
//! every Nth allocation of each thread, or, with `ZealSeed`, at random with that mean: the seed is what a
//! failure is repeated with. It costs nothing when it is off: when it is on, limits stay 0, so every allocation
//! takes the slow path, which counts. At a due allocation `try_*` says no, as it does when the heap is full; the
//! caller goes to `make_room`, which collects and then hands out memory. The count begins anew there, so a program
//! gets on at N = 1; only where another thread's stop came first the next allocation is due, too, and no allocation counts
//! until one has collected. (SpiderMonkey's `JS_GC_ZEAL`; HotSpot's `ScavengeALot`.)
//!
//! `ZealOutOfMemory` finds what does not survive the end of memory, in the same way: at the Nth allocation
//! `try_*` says no and `make_room` that there is no memory, once. Run with 1, 2, 3... until nothing fails, a
//! program has had each of its allocations fail in turn.
//!
//! Refused: a thread that requests collections by the clock, whose failures nobody can repeat.

use std::cell::Cell;

/// The options of a heap that say when.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ZealSchedule {
    /// Allocations from one collection to the next; 0: off.
    pub(crate) interval: usize,
    /// 0: the interval is exact. Else it is a mean.
    pub(crate) seed: usize,
    /// The allocation of each thread for which there is no memory; 0: none.
    pub(crate) out_of_memory: usize,
}

/// Where a thread is in the schedule. The owner's own.
#[derive(Debug)]
pub(super) struct Zeal {
    schedule: ZealSchedule,
    /// Allocations up to the one that a collection comes before, that included; 0: it must come now.
    collection_in: Cell<usize>,
    /// Allocations up to the one that fails; 0: it must fail now.
    failure_in: Cell<usize>,
    /// State of the generator of distances.
    random: Cell<u64>,
}

impl Zeal {
    /// In both: not in the life of a thread.
    const NEVER: usize = usize::MAX;

    /// The schedule of the `thread`-th thread that attaches.
    pub(super) fn new(schedule: ZealSchedule, thread: u64) -> Zeal {
        let random = (schedule.seed as u64) << 32 ^ thread;
        let failure_in = if schedule.out_of_memory == 0 { Zeal::NEVER } else { schedule.out_of_memory };
        let zeal = Zeal {
            schedule,
            collection_in: Cell::new(0),
            failure_in: Cell::new(failure_in),
            random: Cell::new(random),
        };
        zeal.begin_anew();
        zeal
    }

    /// Whether every allocation must take the slow path.
    pub(super) fn is_on(&self) -> bool {
        self.schedule.interval != 0 || self.schedule.out_of_memory != 0
    }

    /// Counts an allocation on the slow path; whether it must not succeed without `make_room`.
    pub(super) fn stops(&self) -> bool {
        self.is_on() && self.is_due()
    }

    /// Whether the allocation that was counted last comes behind a collection.
    pub(super) fn wants_collection(&self) -> bool {
        self.collection_in.get() == 0
    }

    /// Counts an allocation; whether something must come first. Once it must, nothing is counted until it did.
    fn is_due(&self) -> bool {
        let (collection, failure) = (&self.collection_in, &self.failure_in);
        if collection.get() > 0 && failure.get() > 0 {
            [collection, failure].iter().for_each(|left| left.set(left.get() - 1));
        }
        collection.get() == 0 || failure.get() == 0
    }

    /// Whether the allocation that was counted last must fail. Says so once.
    pub(super) fn fails(&self) -> bool {
        let fails = self.failure_in.get() == 0;
        if fails {
            self.failure_in.set(Zeal::NEVER);
        }
        fails
    }

    /// The collection was: the count begins anew.
    pub(super) fn begin_anew(&self) {
        let ZealSchedule { interval, seed, .. } = self.schedule;
        // From 1 to 2N - 1, whose mean is N.
        let random = |span: usize| 1 + (self.next_random() % span as u64) as usize;
        self.collection_in.set(match (interval, seed) {
            (0, _) => Zeal::NEVER,
            (_, 0) => interval,
            _ => random(2 * interval - 1),
        });
    }

    /// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    fn next_random(&self) -> u64 {
        self.random.set(self.random.get().wrapping_add(0x9E37_79B9_7F4A_7C15));
        let mut word = self.random.get();
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ word >> 31
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
