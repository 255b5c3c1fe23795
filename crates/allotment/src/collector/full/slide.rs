//! Slide: moves runs of live words to their planned places, in the plan's order.
//!
//! Workers take regions in order of address. The objects of a region go to the same region, to
//! regions before it (the plan never overtakes), or to a region that was free. So a worker writes
//! only
//!
//! - over objects that it has moved itself: it moves the objects of a region in order;
//! - over objects of an earlier region: it waits until the worker that has that region is done;
//! - where nothing lay: free regions, and the memory above objects that stay.
//!
//! The worker that claims a run's first region moves the run as it is. It waits for all regions
//! that the run goes to.
//!
//! The worker with the lowest unfinished region waits for no other, so there is always progress.
//! Where there is little garbage, a region goes into the one just before it, and workers go one by
//! one. But each region adds garbage below. Once there is a region of garbage for each worker,
//! workers no longer meet. Refused: shadow regions (JDK-8220465), which hold objects that cannot be
//! written yet. They need free memory, and the last collection has none.

use super::FullStatistics;
use super::forward::Forwarding;
use super::plan::{MovedRun, Plan, RegionRole};
use crate::collector::work::{Claimer, Workers};
use crate::object::WORD;
use crate::region::RegionTable;
use crate::sync::{AtomicU64, Ordering, Waiting};
use std::ops::Range;

/// A run of at most this many bytes is copied word by word: most runs are shorter than a call
/// takes.
const SHORT: usize = 64;

/// Moves all objects.
///
/// # Safety
/// - The plan is the forwarding's, and nothing has moved.
pub(super) unsafe fn slide(
    table: &RegionTable,
    forwarding: Forwarding<'_>,
    plan: &Plan,
    workers: Workers<'_>,
    statistics: &mut FullStatistics,
) {
    let (regions, total) = (Claimer::new(plan.regions.len()), AtomicU64::new(0));
    workers.run(&|_| {
        let mut mover = Mover { table, forwarding, plan, own: 0, open: 0..0, moved: 0 };
        while let Some(index) = regions.claim() {
            // SAFETY: the caller's predicates, and each region is claimed once.
            unsafe { mover.region(index) };
        }
        total.fetch_add(mover.moved, Ordering::Relaxed);
    });
    statistics.moved_bytes = total.load(Ordering::Relaxed);
}

/// One worker that moves.
struct Mover<'h> {
    table: &'h RegionTable,
    forwarding: Forwarding<'h>,
    plan: &'h Plan,
    /// The region that it empties.
    own: usize,
    /// Addresses of the region that it may write to.
    open: Range<usize>,
    /// Bytes of objects that changed their address.
    moved: u64,
}

impl Mover<'_> {
    /// Moves the contents of region `index`.
    ///
    /// # Safety
    /// - As for [`slide`]; each region before was moved by this worker, or is another's.
    unsafe fn region(&mut self, index: usize) {
        let region = &self.plan.regions[index];
        self.own = index;
        if region.role == RegionRole::Shifts {
            // The run moves with its first region.
            if let Ok(number) = self.plan.runs.binary_search_by_key(&index, |moved| moved.from) {
                // SAFETY: the caller's predicates.
                unsafe { self.run(&self.plan.runs[number]) };
            }
            return;
        }
        if region.role == RegionRole::Slides {
            let mut start = self.table.bottom(index);
            for pin in &self.plan.pins[region.pins.clone()] {
                // SAFETY: the caller's predicates.
                unsafe { self.slide_runs(start, pin.start) };
                start = pin.end;
            }
            // SAFETY: as above.
            unsafe { self.slide_runs(start, self.table.get(index).top()) };
        }
        self.plan.vacated[index].store(true, Ordering::Release);
    }

    /// Moves a run as it is.
    ///
    /// # Safety
    /// - As for [`region`](Self::region); the run begins at the claimed region.
    unsafe fn run(&mut self, moved: &MovedRun) {
        let MovedRun { from, to, run } = *moved;
        (to..from.min(to + run.regions)).for_each(|index| self.wait_until_vacated(index));
        let (source, target) = (self.table.bottom(from) as *const u64, self.table.bottom(to) as *mut u64);
        // SAFETY: the plan sends the run below itself, to regions that were free or that all
        // objects have left. Where the two ranges overlap, the memory is the run's own, and no
        // other worker reads or writes it.
        unsafe { std::ptr::copy(source, target, run.bytes / WORD) };
        self.moved += run.bytes as u64;
        for index in from..from + run.regions {
            self.plan.vacated[index].store(true, Ordering::Release);
        }
    }

    /// Moves the live words in `[start, end)`.
    ///
    /// # Safety
    /// - As for [`slide`]; everything below `start` in its region has moved.
    unsafe fn slide_runs(&mut self, start: usize, end: usize) {
        let (forwarding, map) = (self.forwarding, self.forwarding.map);
        let (_, mut breaks) = forwarding.breaks_around(start);
        // A local copy, because the loop is as fast as it has registers.
        let (mut open, mut moved) = (self.open.clone(), 0);
        let mut at = map.next_live(start, end);
        while at < end {
            let run_end = map.next_dead(at, end);
            while at < run_end {
                while let [first, rest @ ..] = breaks
                    && first.from <= at
                {
                    breaks = rest;
                }
                let stop = breaks.first().map_or(run_end, |next| next.from.min(run_end));
                let to = forwarding.of(at);
                if to != at {
                    if to.wrapping_sub(open.start) >= open.len() {
                        open = self.wait_for(to);
                    }
                    // SAFETY: the words go to one place in this order; the plan sends them below
                    // themselves, or to memory from which all objects have moved, or to a region
                    // that was free.
                    unsafe { move_words(at, to, stop - at) };
                    moved += (stop - at) as u64;
                }
                at = stop;
            }
            at = map.next_live(at, end);
        }
        self.open = open;
        self.moved += moved;
    }

    /// Waits until this worker may write to the region of `to`; returns the region's addresses.
    #[cold]
    #[inline(never)]
    fn wait_for(&self, to: usize) -> Range<usize> {
        let index = self.table.index_of(to);
        if index != self.own {
            self.wait_until_vacated(index);
        }
        self.table.bottom(index)..self.table.end(index)
    }

    /// Waits until all moving objects have left the region.
    fn wait_until_vacated(&self, index: usize) {
        if matches!(self.plan.regions[index].role, RegionRole::Slides | RegionRole::Shifts) {
            let mut waiting = Waiting::new();
            while !self.plan.vacated[index].load(Ordering::Acquire) {
                waiting.longer();
            }
        }
    }
}

/// Copies words, the lowest first.
///
/// # Safety
/// - `bytes` at `from` may be read and at `to` written, whole words; no other thread uses the
///   memory in between.
#[inline(always)]
unsafe fn move_words(from: usize, to: usize, bytes: usize) {
    let (from, to) = (from as *const u64, to as *mut u64);
    if bytes > SHORT {
        // SAFETY: the caller's predicate.
        return unsafe { std::ptr::copy(from, to, bytes / WORD) };
    }
    for index in 0..bytes / WORD {
        // SAFETY: the caller's predicate. Upwards: where the ranges overlap, `to` is the lower one.
        unsafe { to.add(index).write_volatile(from.add(index).read()) };
    }
}
