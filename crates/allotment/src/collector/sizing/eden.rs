//! The size that eden should have, with room for everything.
//!
//! A young collection costs time for survivors and a fixed part, not for eden's size. So a larger
//! eden makes collections rarer, and each byte's share of them smaller. But memory beyond the cache
//! costs the mutators: allocation in an eden of half of L2 for each thread is up to four times as
//! fast as in one beyond L3. So there are three goals, in this order:
//!
//! 1. **Pause** (`MaxGCPauseMillis`): an eden with a longer expected pause shrinks, by up to half.
//! 2. **Throughput** (`GCTimeRatio`): eden grows, at most doubling, until collections would take
//!    their share: mutators should run `ratio` times as long as a collection takes, so
//!    `pause * ratio / time to fill a region`. It takes at most three quarters of the free regions
//!    beside the copies. (In a heap of three times the live bytes, a third costs the simulator's
//!    programs a tenth more time; all leaves no room for objects that become old.)
//! 3. **Cache**: an eden of more than twice the throughput size shrinks by an eighth, down to its
//!    first size: half of L2 for each core, two regions for each if L3 holds them, and some buffers
//!    per thread.
//!
//! Beyond the last cache, throughput gets eden only as long as that pays: `cache.rs`. If many
//! threads' buffers are far more than that cache holds, a small eden saves nothing. Then eden takes
//! half of the free capacity, if that is more than its wish. The capacity does not grow for it.
//!
//! The throughput size comes from averages of the pause and of the time that filled a region. These
//! do not depend on eden's size. A measured share, averaged over edens of different sizes, lags and
//! overshoots. HotSpot begins with a share of the heap, shrinks only for the footprint, and ignores
//! caches.

use super::HeapState;
use super::cache::{CacheTrial, near_regions};
use super::collection::Collection;
use super::decision::{Change, Reason};
use super::padded::{Padded, TIME_WEIGHT};
use super::settings::{Machine, SizingSettings};
use crate::tlab::sizing::Average;

/// Bytes of eden for each thread: 32 of the smallest buffers. A collection loses the unused rests
/// of the threads' buffers, half of one each on average; that is then 1.6 % of eden.
const THREAD_BYTES: usize = 32 * (16 << 10);

/// A size of more than this many times another one is far more.
const FAR: usize = 2;

/// The state of the wish.
#[derive(Clone, Debug)]
pub(super) struct Eden {
    settings: SizingSettings,
    machine: Machine,
    /// The regions that eden should have.
    pub(super) wish: usize,
    pause_ns: Padded,
    regions: Average,
    ns_per_region: Average,
    /// The regions of an eden that the last cache holds, or that eden has in any case.
    near: usize,
    /// Whether the threads' buffers are far more than the last cache holds.
    beyond: bool,
    cache: CacheTrial,
}

impl Eden {
    pub(super) fn new(settings: SizingSettings, machine: Machine) -> Eden {
        let wish = least_eden(&settings, &machine, 1, 0);
        Eden {
            settings,
            machine,
            wish,
            pause_ns: Padded::new(TIME_WEIGHT),
            regions: Average::new(TIME_WEIGHT),
            ns_per_region: Average::new(TIME_WEIGHT),
            near: near_regions(&machine).max(wish),
            beyond: false,
            cache: CacheTrial::new(),
        }
    }

    /// The expected pause of a young collection, in nanoseconds; 0 before the first.
    pub(super) fn pause_ns(&self) -> f32 {
        self.pause_ns.average()
    }

    /// Adds a young collection.
    pub(super) fn observe(&mut self, done: &Collection) {
        if done.eden_regions == 0 {
            return;
        }
        self.pause_ns.sample(done.pause_ns as f32);
        self.regions.sample(done.eden_regions as f32);
        self.ns_per_region.sample(done.mutator_ns as f32 / done.eden_regions as f32);
        // A collection that was asked for early has the pause's fixed part for few regions.
        if done.eden_regions * 2 > self.wish && !self.beyond {
            self.cache.observe(done, self.near);
        }
    }

    /// The regions that eden should have. `free` regions are free beside the expected copies.
    pub(super) fn decide(&mut self, now: &HeapState, free: usize, reasons: &mut Vec<Reason>) -> usize {
        let HeapState { threads, survivors, .. } = *now;
        let (settings, machine) = (self.settings, self.machine);
        let base = least_eden(&settings, &machine, threads, survivors);
        self.near = near_regions(&machine).max(base);
        self.beyond = buffers(&machine, threads) > near_regions(&machine).saturating_mul(FAR);
        let from = self.wish.max(base);
        let mut wish = from;
        if self.pause_ns.known() {
            let needed = self.needed();
            if needed > from {
                wish = needed.min(from.saturating_mul(2)).min((free / 4 * 3).max(from));
            } else if needed.saturating_mul(FAR) < from {
                wish = (from - (from / 8).max(1)).max(base);
            }
            let goal = 1.0 / (1.0 + settings.time_ratio as f64);
            if wish != from {
                let (regions, share) = (Change { from, to: wish }, self.share(from));
                reasons.push(Reason::EdenForShare { regions, share, goal });
            }
            if wish > self.near && !self.beyond && !self.cache.permits_far() {
                reasons.push(Reason::EdenForCache {
                    regions: Change { from: wish, to: self.near },
                    near_ns: self.cache.near.ns(),
                    far_ns: self.cache.far.ns(),
                });
                wish = self.near;
            }
            wish = self.within_pause(wish, reasons);
        }
        let max = self.most_young(survivors);
        if wish > max {
            reasons
                .push(Reason::EdenLimited { regions: Change { from: wish, to: max }, limit: "MaxNewSize" });
            wish = max;
        }
        self.wish = wish;
        wish
    }

    /// The regions that eden may take if `room` regions of the capacity are free: its wish, or half
    /// of `room` if that does not lose a cache.
    pub(super) fn with_spare(&self, survivors: usize, room: usize) -> usize {
        if !self.beyond {
            return self.wish;
        }
        (room / 2).min(self.most_young(survivors)).min(self.fitting()).max(self.wish)
    }

    /// Regions with which young collections take their share of the time.
    fn needed(&self) -> usize {
        let fill_ns = f64::from(self.ns_per_region.value()).max(1.0);
        (f64::from(self.pause_ns.average()) * self.settings.time_ratio as f64 / fill_ns).ceil() as usize
    }

    /// The share of time that young collections take with an eden of this many regions.
    fn share(&self, regions: usize) -> f64 {
        let pause = f64::from(self.pause_ns.average());
        let all = pause + f64::from(self.ns_per_region.value()) * regions as f64;
        if all > 0.0 { pause / all } else { 0.0 }
    }

    /// The most regions with which the goal for pauses is expected to be met, at least 1; no limit
    /// if there is no goal.
    pub(super) fn fitting(&self) -> usize {
        let goal_ns = self.settings.pause_goal_ns;
        match self.pause_of_region_ns() {
            of_region if goal_ns > 0 && of_region > 0.0 => ((goal_ns as f64 / of_region) as usize).max(1),
            _ => usize::MAX,
        }
    }

    /// Nanoseconds that a region of eden adds to a pause, as far as known; 0 before the first
    /// collection.
    fn pause_of_region_ns(&self) -> f64 {
        f64::from(self.pause_ns.padded()) / f64::from(self.regions.value()).max(1.0)
    }

    /// `wish`, or the regions for which the goal for pauses is expected to be met. Pauses are taken
    /// to be proportional to eden, which errs on the safe side if eden grows.
    fn within_pause(&self, wish: usize, reasons: &mut Vec<Reason>) -> usize {
        let fitting = self.fitting();
        if wish <= fitting {
            return wish;
        }
        let max = fitting.max(self.wish / 2).clamp(1, wish);
        if max < wish {
            reasons.push(Reason::EdenForPause {
                regions: Change { from: wish, to: max },
                pause_ns: (self.pause_of_region_ns() * wish as f64) as u64,
                goal_ns: self.settings.pause_goal_ns,
            });
        }
        max
    }

    /// The regions that `MaxNewSize` leaves eden beside survivors, at least 1; no limit if it is
    /// not given.
    fn most_young(&self, survivors: usize) -> usize {
        match self.settings.max_new_bytes {
            0 => usize::MAX,
            bytes => self.machine.regions_of(bytes).saturating_sub(survivors).max(1),
        }
    }
}

/// The fewest regions that eden should have, with this many threads attached and this many regions
/// of survivors: as many as caches hold, or as NewSize says.
pub(crate) fn least_eden(
    settings: &SizingSettings,
    machine: &Machine,
    threads: usize,
    survivors: usize,
) -> usize {
    let active = threads.clamp(1, machine.cores.max(1));
    let region = machine.geometry.region_bytes();
    let cached = machine.regions_of(active.saturating_mul(machine.l2_bytes / 2));
    // A core takes its buffers from a region of its own, and finds the next one without asking
    // others.
    let each = if 2 * active * region <= machine.l3_bytes { 2 } else { 1 };
    let young = machine.regions_of(settings.new_bytes).saturating_sub(survivors);
    cached.max(each * active).max(buffers(machine, threads)).max(young).clamp(1, machine.geometry.regions)
}

/// The regions of the buffers of this many threads.
fn buffers(machine: &Machine, threads: usize) -> usize {
    machine.regions_of(threads.saturating_mul(THREAD_BYTES))
}
