//! When a collection is full, and how much of the heap may be in use before that.
//!
//! A full collection costs time for live bytes. It is due only when it frees much for that time:
//!
//! - **The capacity** is live / (1 - MinHeapFreeRatio) after a full collection, within
//!   InitialHeapSize and MaxHeapSize. When eden and its copies no longer fit, there are two cases.
//!   A full collection pays if enough became old: half of the capacity beside the live
//!   regions, and at least a sixteenth of the live ones. Otherwise eden needs the room, and the
//!   capacity grows. So the capacity grows without a full collection to at most eden's need, and no
//!   full collection follows another that left it nothing to free.
//! - **At MaxHeapSize**, eden shrinks to the free room. With every cycle eden is smaller and the
//!   same pause buys less, so it does not pay to wait until nothing fits. The best moment to
//!   stop comes when the next young collection would cost more per region of allocation than all
//!   collections since the last full one, the coming full one included. (This is the marginal value
//!   theorem: Charnov, "Optimal foraging", 1976. A log-structured file system cleans by the same
//!   rule.)
//! - **Weak handles** tell a program that an object died, and only a full collection finds dead old
//!   objects. So a heap with weak handles has one after [`MANY_YOUNG`] young collections, as soon
//!   as these have taken [`WEAK_SHARE`] times as long as a full one does.
//! - **No room** for one region of eden and its copies: there is no choice. The full collection
//!   needs no free memory, so eden may have all of it until then.
//!
//! `overhead.rs` decides when to give up.

use super::decision::{Change, Reason};
use super::padded::TIME_WEIGHT;
use super::{Capacity, HeapState};
use crate::tlab::sizing::Average;

/// The least part of the regions that lived that must become old between two full collections, if
/// the heap may grow.
const LEAST_GROWTH: usize = 16;

/// The least part of the capacity by which it grows.
const STEP: usize = 8;

/// Young collections in a row after which a full one clears the weak handles of dead old objects.
pub(super) const MANY_YOUNG: usize = 1024;

/// The time of these young collections, in times of a full one. So such a full collection adds a
/// tenth to the time of collections.
const WEAK_SHARE: f64 = 10.0;

/// The state of the heap as a whole.
#[derive(Clone, Debug)]
pub(super) struct WholeHeap {
    rule: Capacity,
    regions: usize,
    pub(super) capacity: usize,
    /// Regions in use after the last full collection.
    pub(super) base: usize,
    /// Regions of the capacity that were free after the last full collection.
    pub(super) headroom: usize,
    full_ns: Average,
    /// Time of young collections since the last full one, in nanoseconds, and the regions of eden
    /// that they emptied.
    young_ns: u64,
    eden: usize,
    /// Young collections since the last full one.
    young: usize,
}

/// The prospect of the next young collection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prospect {
    /// Regions that eden should have.
    pub(super) wish: usize,
    /// Regions that this eden and its copies need.
    pub(super) need: usize,
    /// The expected pause, in nanoseconds.
    pub(super) pause_ns: f32,
    /// Whether pauses matter more than time.
    pub(super) short_pauses: bool,
}

impl WholeHeap {
    pub(super) fn new(rule: Capacity, regions: usize) -> WholeHeap {
        let capacity = rule.after(0).clamp(1, regions);
        let (full_ns, headroom) = (Average::new(TIME_WEIGHT), capacity);
        WholeHeap { rule, regions, capacity, base: 0, headroom, full_ns, young_ns: 0, eden: 0, young: 0 }
    }

    /// Regions of the capacity that are free.
    pub(super) fn room(&self, free: usize) -> usize {
        self.capacity.saturating_sub(self.regions - free.min(self.regions))
    }

    pub(super) fn after_young(&mut self, pause_ns: u64, eden: usize) {
        self.young_ns = self.young_ns.saturating_add(pause_ns);
        self.eden += eden;
        self.young += 1;
    }

    pub(super) fn after_full(&mut self, pause_ns: u64, in_use: usize) -> Option<Reason> {
        let from = self.capacity;
        self.capacity = self.rule.after(in_use).clamp(1, self.regions);
        self.base = in_use;
        self.headroom = self.capacity.saturating_sub(in_use);
        self.full_ns.sample(pause_ns as f32);
        (self.young_ns, self.eden, self.young) = (0, 0, 0);
        (from != self.capacity)
            .then_some(Reason::CapacityFollows { regions: Change { from, to: self.capacity } })
    }

    /// Lets the capacity grow if it should. `fits` gives the largest eden that fits this many
    /// regions. The result is the reason why the next collection is full, if it is.
    pub(super) fn decide(
        &mut self,
        now: &HeapState,
        next: Prospect,
        fits: impl Fn(usize) -> usize,
        reasons: &mut Vec<Reason>,
    ) -> Option<Reason> {
        let HeapState { tenured, free, .. } = *now;
        if self.capacity < self.regions && fits(self.room(free)) < next.wish {
            let grown = tenured.saturating_sub(self.base);
            let worth = (self.capacity.saturating_sub(self.base) / 2).max(self.base / LEAST_GROWTH).max(1);
            if grown < worth {
                let from = self.capacity;
                let wanted = (self.regions - free).saturating_add(next.need).max(from + (from / STEP).max(1));
                self.capacity = wanted.min(self.regions);
                let regions = Change { from, to: self.capacity };
                reasons.push(Reason::CapacityGrows { regions, grown, worth });
            } else if fits(self.room(free)) < next.wish.div_ceil(2) {
                return Some(Reason::FullWorth { grown, worth });
            }
        }
        let fitting = fits(self.room(free));
        if fitting == 0 {
            let needed = next.need + 1 - next.wish;
            return Some(Reason::FullNoRoom { free: self.room(free), needed });
        }
        if let Some(reason) = self.due_for_weak_handles(now) {
            return Some(reason);
        }
        if self.capacity < self.regions || next.short_pauses || self.eden == 0 || self.full_ns.samples() == 0
        {
            return None;
        }
        let young = f64::from(next.pause_ns) / fitting as f64;
        let all = (f64::from(self.full_ns.value()) + self.young_ns as f64) / self.eden as f64;
        (young > all).then_some(Reason::FullCheaper { young_ns: young as u64, all_ns: all as u64 })
    }

    /// The reason for a full collection that clears weak handles, if one is due.
    fn due_for_weak_handles(&self, now: &HeapState) -> Option<Reason> {
        let HeapState { weak_handles, tenured, .. } = *now;
        // Before the first full collection no time of one is known: 0.
        let has_taken_long = self.young_ns as f64 >= WEAK_SHARE * f64::from(self.full_ns.value());
        let is_due = weak_handles > 0 && tenured > 0 && self.young >= MANY_YOUNG && has_taken_long;
        is_due.then_some(Reason::FullForWeakHandles { young: self.young, handles: weak_handles })
    }
}
