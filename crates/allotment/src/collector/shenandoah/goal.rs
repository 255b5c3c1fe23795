//! The memory that should be enough for a heap: cycles begin before more is used.
//!
//! If cycles began when the heap is nearly full, the heap would touch all of its memory. The first
//! use of a page costs more than the collection of one, because the system clears the page (0.25 ms
//! a MiB, more than the cycles of a program with few live objects). So triggers see a smaller heap,
//! the *goal*. The goal follows the regions in use after each cycle (`MinHeapFreeRatio`), and grows
//! by a half while cycles take much of the time. Threads may use the whole heap: the goal never
//! makes them wait.
//!
//! Memory within the goal stays committed while cycles follow each other within a second: the
//! program will want that memory again, and the system would clear its pages again.
//!
//! Measured: `trees` with one thread in 512 MiB takes 0.18 s without a goal, 0.13 s with it, and
//! 0.11 s with all pages touched ahead.
//!
//! Refused: HotSpot's `SoftMaxHeapSize`, a goal that the user sets. Users do not know the number.

use crate::collector::sizing::Capacity;
use crate::sync::{AtomicU64, AtomicUsize, Ordering};
use std::ops::Range;
use std::time::Duration;

/// Cycles take much of the time if they run for more than one part in this many.
const MUCH: u32 = 4;
/// The goal grows by at most this factor after one cycle.
const MOST_GROWTH: f64 = 2.0;
/// Otherwise the goal shrinks by one part in this many after each cycle.
const SHRINK: usize = 16;

/// Memory that the program will want again within this time is not given back.
const SOON: Duration = Duration::from_secs(1);

/// The goal of a heap.
pub(super) struct Goal {
    rule: Capacity,
    /// Regions that may be in use before a cycle begins. Written by the thread that ends a cycle.
    /// Relaxed: a hint.
    regions: AtomicUsize,
    /// When the last cycle ended, in ns of the heap's age. Written by the thread that ends a cycle.
    /// Relaxed: a hint.
    ended_ns: AtomicU64,
    /// Ns from the end of the last cycle but one to the end of the last. Written by the thread that
    /// ends a cycle. Relaxed: a hint.
    period_ns: AtomicU64,
}

impl Goal {
    /// The goal of a new heap.
    pub(super) fn new(rule: Capacity) -> Goal {
        let (regions, ended_ns) = (AtomicUsize::new(rule.after(0)), AtomicU64::new(0));
        Goal { rule, regions, ended_ns, period_ns: AtomicU64::new(u64::MAX) }
    }

    /// Regions that may be in use before a cycle begins, of `capacity`.
    pub(super) fn regions(&self, capacity: usize) -> usize {
        self.regions.load(Ordering::Relaxed).min(capacity)
    }

    /// Regions of `capacity` that the program will want soon, at this age of the heap: the goal if
    /// the last cycle ended less than [`SOON`] ago, and less than that after the one before. 0
    /// otherwise: a program that rests wants nothing.
    pub(super) fn regions_wanted_soon(&self, now: Duration, capacity: usize) -> usize {
        let ended = Duration::from_nanos(self.ended_ns.load(Ordering::Relaxed));
        let period = Duration::from_nanos(self.period_ns.load(Ordering::Relaxed));
        if period.max(now.saturating_sub(ended)) < SOON { self.regions(capacity) } else { 0 }
    }

    /// Notes that a cycle has ended. It ran for the time of `cycle`, in the heap's age, and left
    /// `in_use` of `capacity` regions in use.
    pub(super) fn cycle_ended(&self, cycle: Range<Duration>, in_use: usize, capacity: usize) {
        let Range { start: began, end: ended } = cycle;
        let last = Duration::from_nanos(self.ended_ns.swap(ended.as_nanos() as u64, Ordering::Relaxed));
        // The clock may be the program's, and stand still.
        let period = ended.saturating_sub(last).max(Duration::from_nanos(1));
        self.period_ns.store(period.as_nanos() as u64, Ordering::Relaxed);
        let should_last = ended.saturating_sub(began) * MUCH;
        let growth = should_last.div_duration_f64(period).min(MOST_GROWTH);
        let now = self.regions.load(Ordering::Relaxed);
        let other = if growth > 1.0 { (now as f64 * growth) as usize } else { now - now / SHRINK };
        self.regions.store(self.rule.after(in_use).max(other).min(capacity), Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const REGION: usize = 1 << 20;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    #[test]
    fn the_goal_follows_what_is_in_use_and_the_time_of_cycles() {
        let goal = Goal::new(Capacity::new(0, REGION, 50));
        assert_eq!((goal.regions(1000), goal.regions(10)), (64, 10));
        // Cycles are rare: the goal is twice the memory in use, and never below the floor.
        goal.cycle_ended(ms(100)..ms(110), 20, 1000);
        assert_eq!(goal.regions(1000), 64);
        goal.cycle_ended(ms(200)..ms(210), 100, 1000);
        assert_eq!(goal.regions(1000), 200);
        // It shrinks slowly.
        goal.cycle_ended(ms(300)..ms(310), 20, 1000);
        assert_eq!(goal.regions(1000), 188);
        // Cycles take a third of the time, and then half of it.
        goal.cycle_ended(ms(330)..ms(340), 20, 1000);
        assert_eq!(goal.regions(1000), 250);
        goal.cycle_ended(ms(360)..ms(380), 20, 1000);
        assert_eq!(goal.regions(1000), 500);
        // The goal is at most the heap.
        (4..20).for_each(|turn| goal.cycle_ended(ms(turn * 100)..ms(turn * 100 + 90), 20, 1000));
        assert_eq!(goal.regions(2000), 1000);
    }

    #[test]
    fn the_goal_is_wanted_soon_while_cycles_follow_each_other_within_a_second() {
        let goal = Goal::new(Capacity::new(0, REGION, 50));
        assert_eq!(goal.regions_wanted_soon(ms(0), 1000), 0, "no cycle has ended");
        goal.cycle_ended(ms(4990)..ms(5000), 20, 1000);
        assert_eq!(goal.regions_wanted_soon(ms(5000), 1000), 0, "the first cycle came late");
        goal.cycle_ended(ms(5990)..ms(5999), 20, 1000);
        for (now, capacity, wanted) in [(5999, 1000, 64), (5999, 10, 10), (6998, 1000, 64), (6999, 1000, 0)] {
            assert_eq!(goal.regions_wanted_soon(ms(now), capacity), wanted, "{now}");
        }
        goal.cycle_ended(ms(6990)..ms(6999), 20, 1000);
        assert_eq!(goal.regions_wanted_soon(ms(6999), 1000), 0, "a second after the last");
    }
}
