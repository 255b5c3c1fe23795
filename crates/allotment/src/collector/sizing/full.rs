//! When a collection is full, and how much of the heap may be in use before one is thought of.
//!
//! A full collection costs by what lives. It is due when it frees much for that, and only then:
//!
//! - **The capacity** is live / (1 - MinHeapFreeRatio) after a full collection, within InitialHeapSize and MaxHeapSize. If eden
//!   and its copies no longer fit, either enough became old to make a full collection worth while (half of what the capacity has
//!   beside what lived, and at least a sixteenth of that), or eden is what needs the room, and the capacity grows. So
//!   capacity grows without a full collection to at most what eden needs, and no full collection follows another that
//!   left it nothing to free.
//! - **At MaxHeapSize**, eden shrinks to what fits. It is not worth while to wait until nothing does: with
//!   every cycle eden is smaller and the same pause buys less. The best moment to stop is when the next young collection would cost more for a
//!   region of allocation than all collections since the last full one, the coming full one included (the marginal value theorem:
//!   Charnov, "Optimal foraging", 1976; it is also when to clean in a log-structured file system).
//! - **No room** for one region of eden and its copies: there is no choice. The full collection needs no free memory, so eden may have
//!   all of it until then.
//!
//! When to give up is another question: `overhead.rs`.

use super::Capacity;
use super::decision::Reason;
use super::padded::TIME_WEIGHT;
use crate::tlab::sizing::Average;

/// Of the regions that lived, the least part that becomes old between two full collections, if the heap may grow.
const LEAST_GROWTH: usize = 16;

/// Of the capacity, the least part that it grows by.
const STEP: usize = 8;

/// The state of the heap as a whole.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    rule: Capacity,
    regions: usize,
    capacity: usize,
    /// Regions in use after the last full collection.
    base: usize,
    /// Regions of the capacity that were free then.
    headroom: usize,
    full_ns: Average,
    /// Time of young collections since then, in nanoseconds, and the regions of eden that they emptied.
    young_ns: u64,
    eden: usize,
}

/// What the next young collection would be like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prospect {
    /// Regions that eden should have, and those that it and its copies need.
    pub(super) wish: usize,
    pub(super) need: usize,
    /// The expected pause, in nanoseconds.
    pub(super) pause_ns: f32,
    /// Whether pauses matter more than time.
    pub(super) short_pauses: bool,
}

impl Heap {
    pub(super) fn new(rule: Capacity, regions: usize) -> Heap {
        let capacity = rule.after(0).clamp(1, regions);
        let (full_ns, headroom) = (Average::new(TIME_WEIGHT), capacity);
        Heap { rule, regions, capacity, base: 0, headroom, full_ns, young_ns: 0, eden: 0 }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Regions in use after the last full collection, and those that were free of the capacity.
    pub(super) fn proportions(&self) -> (usize, usize) {
        (self.base, self.headroom)
    }

    /// Regions of the capacity that are free.
    pub(super) fn room(&self, free: usize) -> usize {
        self.capacity.saturating_sub(self.regions - free.min(self.regions))
    }

    pub(super) fn after_young(&mut self, pause_ns: u64, eden: usize) {
        self.young_ns = self.young_ns.saturating_add(pause_ns);
        self.eden += eden;
    }

    pub(super) fn after_full(&mut self, pause_ns: u64, in_use: usize) -> Option<Reason> {
        let from = self.capacity;
        self.capacity = self.rule.after(in_use).clamp(1, self.regions);
        self.base = in_use;
        self.headroom = self.capacity.saturating_sub(in_use);
        self.full_ns.sample(pause_ns as f32);
        (self.young_ns, self.eden) = (0, 0);
        (from != self.capacity).then_some(Reason::CapacityFollows { regions: (from, self.capacity) })
    }

    /// Lets the capacity grow if it should. `tenured` regions are old or humongous, `fits` says how large an eden fits so many regions; the result
    /// says why the next collection is full, if it is.
    pub(super) fn decide(
        &mut self,
        (tenured, free): (usize, usize),
        next: Prospect,
        fits: impl Fn(usize) -> usize,
        reasons: &mut Vec<Reason>,
    ) -> Option<Reason> {
        if self.capacity < self.regions && fits(self.room(free)) < next.wish {
            let grown = tenured.saturating_sub(self.base);
            let worth = (self.capacity.saturating_sub(self.base) / 2).max(self.base / LEAST_GROWTH).max(1);
            if grown < worth {
                let from = self.capacity;
                let wanted = (self.regions - free).saturating_add(next.need).max(from + (from / STEP).max(1));
                self.capacity = wanted.min(self.regions);
                let regions = (from, self.capacity);
                reasons.push(Reason::CapacityGrows { regions, grown: (grown, worth) });
            } else if fits(self.room(free)) < next.wish.div_ceil(2) {
                return Some(Reason::FullWorth { grown: (grown, worth) });
            }
        }
        let fitting = fits(self.room(free));
        if fitting == 0 {
            return Some(Reason::FullNoRoom { regions: (self.room(free), next.need + 1 - next.wish) });
        }
        if self.capacity < self.regions || next.short_pauses || self.eden == 0 || self.full_ns.samples() == 0
        {
            return None;
        }
        let young = f64::from(next.pause_ns) / fitting as f64;
        let all = (f64::from(self.full_ns.value()) + self.young_ns as f64) / self.eden as f64;
        (young > all).then_some(Reason::FullCheaper { ns_per_region: (young as u64, all as u64) })
    }
}
