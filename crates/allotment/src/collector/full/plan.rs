//! Plan: a new address for every live object.
//!
//! Live words are taken in order of address and poured into the *gaps* in the same order. Gaps are
//! the memory between pinned objects in compacted regions, the free memory above objects that stay,
//! and free regions. An object that does not fit into the rest of a gap opens the next gap that it
//! fits in.
//!
//! **Invariant:** pouring never overtakes. An object's new address lies in its own gap and not
//! above the object, or in an earlier gap. (The object fits in its old place, so the search for a
//! gap ends there at the latest.) So the slide can move objects in the same order without writing
//! over unmoved ones.
//!
//! The plan works on blocks of 64 words, not on objects: a block costs a population count, whatever
//! its contents. Only at the end of a gap the plan searches for the start of the last object that
//! fits.
//!
//! Runs of regions stay, or take part (`runs.rs`). At its turn a run goes to the lowest regions
//! side by side that are empty by then. The regions that it leaves are gaps for later objects.
//!
//! Workers share the count of live words in each region. Pouring is one worker's: it takes one or
//! two per cent of a collection. So an object's new address does not depend on the number of
//! workers.

mod cursor;
mod places;
mod runs;

use super::forward::{Break, Forwarding};
use super::{Compaction, FullStatistics};
use crate::collector::kernel::{BLOCK_BYTES, LiveMap, ShapeCache, next_block};
use crate::collector::work::{Claimer, Workers};
use crate::object::{WORD, size_of_object};
use crate::region::{FreeSet, Run, Space, State};
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use cursor::Cursor;
use std::collections::TryReserveError;
use std::ops::Range;

/// The role of a region in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegionRole {
    /// Nothing happens: the region has no objects, or all its objects count as live and must not
    /// move.
    Untouched,
    /// The region's objects stay; garbage between them becomes fillers.
    Stays,
    /// The region's objects move, pinned ones excepted.
    Slides,
    /// The region was free, and gets objects or a run; the collection has taken it.
    Taken,
    /// The region is part of a run that moves.
    Shifts,
}

/// One region in the plan.
#[derive(Clone, Debug)]
pub(super) struct RegionPlan {
    pub(super) role: RegionRole,
    /// The pinned objects of the region, by number, if the region slides.
    pub(super) pins: Range<usize>,
    /// End of the region's last object, after the collection.
    pub(super) top: usize,
    /// Whether a moved run will lie there, and no objects.
    pub(super) gets_run: bool,
}

/// A pinned object in a region that slides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pin {
    pub(super) start: usize,
    pub(super) end: usize,
    /// End of the objects that are poured into the gap below it.
    pub(super) filled_to: usize,
}

/// An array of references that is larger than a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct LargeArray {
    pub(super) address: usize,
    /// Number of its slots.
    pub(super) slots: usize,
}

/// A run that moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct MovedRun {
    /// The region at which the run begins now.
    pub(super) from: usize,
    /// The region at which it will begin.
    pub(super) to: usize,
    pub(super) run: Run,
}

/// The plan for the heap.
pub(super) struct Plan {
    pub(super) regions: Vec<RegionPlan>,
    /// For each region whose objects stay because nearly all of them live: the end of its last live
    /// object. 0 for other regions. Written by the worker that counted the region, Relaxed: the
    /// value is read after all workers have finished.
    stays: Vec<AtomicUsize>,
    /// Whether all moving objects have left the region. Written by the worker that moves them,
    /// Release; read, Acquire, by a worker that writes over their old places.
    pub(super) vacated: Vec<AtomicBool>,
    /// In order of address.
    pub(super) arrays: Vec<LargeArray>,
    /// In order of address.
    pub(super) pins: Vec<Pin>,
    pub(super) breaks: Vec<Break>,
    /// In order of their first regions.
    pub(super) runs: Vec<MovedRun>,
    /// Whether the plan also takes regions without memory.
    commits: bool,
}

impl Plan {
    /// Whether any object gets a new address.
    pub(super) fn moves(&self) -> bool {
        self.regions.iter().any(|region| matches!(region.role, RegionRole::Slides | RegionRole::Shifts))
    }

    /// An empty plan with memory for all that it can hold; `addresses` are those of pinned objects.
    ///
    /// # Errors
    /// If there is no memory for the plan; then nothing has changed.
    pub(super) fn reserve(space: &Space, mut addresses: Vec<usize>) -> Result<Plan, TryReserveError> {
        addresses.sort_unstable();
        addresses.dedup();
        let table = space.free.table();
        let count = table.len();
        let in_state = |state| (0..count).filter(|&index| table.get(index).state() == state).count();
        let mut pins = with_room(addresses.len())?;
        pins.extend(addresses.iter().map(|&start| Pin { start, end: start, filled_to: start }));
        let (mut stays, mut vacated) = (with_room(count)?, with_room(count)?);
        stays.resize_with(count, || AtomicUsize::new(0));
        vacated.resize_with(count, || AtomicBool::new(false));
        Ok(Plan {
            regions: with_room(count)?,
            stays,
            vacated,
            // Each of these arrays continues in a region in which no earlier array continues.
            arrays: with_room(in_state(State::HumongousContinuation))?,
            // Each gap opens with a break. Breaks also begin at each pin, after each pin, and at
            // the bottom of a region.
            breaks: with_room(2 * count + 3 * addresses.len() + 2)?,
            runs: with_room(in_state(State::HumongousStart))?,
            pins,
            commits: false,
        })
    }

    /// Takes an empty region. Returns whether it could be had.
    fn take(&mut self, free: &FreeSet, index: usize) -> bool {
        let region = &mut self.regions[index];
        let taken = free.take_free_region(index);
        let committed = !taken && self.commits && free.table().get(index).state() == State::Uncommitted;
        if committed {
            // A system that has refused is not asked again.
            self.commits = free.take_untouched_region(index);
        }
        let taken = taken || committed && self.commits;
        if taken {
            region.role = RegionRole::Taken;
            region.top = free.table().bottom(index);
        }
        taken
    }

    /// Bottom of gap `number` of a region: below the pin of that number, or above the last one.
    fn gap_start(&self, region: usize, number: usize, bottom: usize) -> usize {
        if number == self.regions[region].pins.start { bottom } else { self.pins[number - 1].end }
    }
}

/// A vector with room for `count` elements.
fn with_room<T>(count: usize) -> Result<Vec<T>, TryReserveError> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(count)?;
    Ok(vector)
}

/// Makes the plan.
pub(super) struct Planner<'p, 'h> {
    pub(super) space: &'h Space,
    pub(super) map: &'h LiveMap,
    pub(super) plan: &'p mut Plan,
    pub(super) compaction: Compaction,
}

impl Planner<'_, '_> {
    /// Frees dead humongous objects, and plans the rest.
    ///
    /// # Safety
    /// - The map marks all live objects, and nothing else.
    pub(super) unsafe fn run(mut self, workers: Workers<'_>, statistics: &mut FullStatistics) {
        let claimer = Claimer::new(self.space.free.table().len());
        workers.run(&|_| {
            while let Some(index) = claimer.claim() {
                self.look_at(index);
            }
        });
        // SAFETY: the caller's predicate.
        unsafe {
            self.assign_roles(statistics);
            self.measure_pins();
        }
        self.plan.commits = self.compaction.moves_runs();
        let cleared = if self.compaction.moves_runs() { self.room_to_clear() } else { 0..0 };
        let mut cursor = Cursor::new(self.detour(), cleared);
        for index in 0..self.plan.regions.len() {
            cursor.source = index;
            match self.plan.regions[index].role {
                // SAFETY: the caller's predicate.
                RegionRole::Slides => unsafe { self.pour_region(index, &mut cursor) },
                // SAFETY: as above.
                RegionRole::Shifts => unsafe { self.place_run(index, &cursor, statistics) },
                RegionRole::Untouched | RegionRole::Stays | RegionRole::Taken => {}
            }
        }
        cursor.close(self.plan);
    }

    /// Lets the live objects of a region stay in place, if the collection must not move them or if
    /// that is not worth the move.
    fn look_at(&self, index: usize) {
        let table = self.space.free.table();
        let (bottom, top) = (table.bottom(index), table.get(index).top());
        match table.get(index).state() {
            State::Exclusive => self.map.leave_in_place(bottom, top),
            State::Shared | State::Survivor | State::Old if self.is_left_alone(bottom, top) => {
                self.map.leave_in_place(bottom, top);
                self.plan.stays[index].store(self.map.live_end(bottom, top), Ordering::Relaxed);
            }
            _ => {}
        }
    }

    /// Gives each region its role, and frees dead humongous objects.
    ///
    /// # Safety
    /// - As for [`run`](Self::run).
    unsafe fn assign_roles(&mut self, statistics: &mut FullStatistics) {
        let free = &self.space.free;
        let mut pin = 0;
        for index in 0..free.table().len() {
            let (bottom, top) = (free.table().bottom(index), free.table().get(index).top());
            let first_pin = pin;
            while self.plan.pins.get(pin).is_some_and(|pin| pin.start < free.table().end(index)) {
                pin += 1;
            }
            let mut region = RegionPlan { role: RegionRole::Untouched, pins: 0..0, top, gets_run: false };
            let stays = self.plan.stays[index].load(Ordering::Relaxed);
            match free.table().get(index).state() {
                State::Free
                | State::Uncommitted
                | State::Quarantined
                | State::CollectionSet
                | State::Exclusive => {}
                // SAFETY: the caller's predicate.
                State::HumongousStart if unsafe { self.keep_run(index) } => {
                    if self.may_move(index, first_pin) {
                        (region.role, region.top) = (RegionRole::Shifts, bottom);
                    }
                }
                State::HumongousContinuation => {
                    if self.plan.regions[free.table().first_of_run(index)].role == RegionRole::Shifts {
                        (region.role, region.top) = (RegionRole::Shifts, bottom);
                    }
                }
                State::HumongousStart => {
                    statistics.details.humongous_freed += 1;
                    statistics.details.regions_freed += free.table().get(index).run();
                    free.give_humongous(index);
                    region.top = bottom;
                }
                State::Shared | State::Survivor | State::Old if stays != 0 => {
                    statistics.details.regions_left_alone += 1;
                    region.role = RegionRole::Stays;
                    region.top = stays;
                }
                State::Shared | State::Survivor | State::Old => {
                    region.role = RegionRole::Slides;
                    region.pins = first_pin..pin;
                    region.top = bottom;
                }
            }
            self.plan.regions.push(region);
        }
    }

    /// Whether the objects in `[bottom, top)` stay because too little of this memory is garbage.
    fn is_left_alone(&self, bottom: usize, top: usize) -> bool {
        let Compaction::Garbage { percent } = self.compaction else { return false };
        let live = self.map.live_bytes(bottom, top);
        let garbage = top - bottom - live;
        live > 0 && garbage <= self.space.free.table().geometry().region_bytes() / 100 * percent
    }

    /// Measures pinned objects, and the gaps around them before anything is poured.
    ///
    /// # Safety
    /// - As for [`run`](Self::run).
    unsafe fn measure_pins(&mut self) {
        for index in 0..self.plan.regions.len() {
            let pins = self.plan.regions[index].pins.clone();
            let mut gap_start = self.space.free.table().bottom(index);
            for number in pins {
                let start = self.plan.pins[number].start;
                // SAFETY: a pinned address is an object's.
                let end = start + unsafe { self.size(start) };
                self.plan.pins[number] = Pin { start, end, filled_to: gap_start };
                gap_start = end;
                self.plan.regions[index].top = gap_start;
            }
        }
    }

    /// The free region by way of which everything moves, if everything is to move.
    fn detour(&self) -> Option<usize> {
        let free = &self.space.free;
        let is_free = |&index: &usize| free.table().get(index).state() == State::Free;
        if self.compaction != Compaction::MoveAll {
            return None;
        }
        (0..free.table().len()).find(is_free).or_else(|| {
            let index = free.take_region(0)?;
            free.give_region(index, 0);
            Some(index)
        })
    }

    /// The size of an object in bytes.
    ///
    /// # Safety
    /// - An unmoved object lies at `address`.
    unsafe fn size(&self, address: usize) -> usize {
        // SAFETY: the caller's predicate.
        unsafe { size_of_object(address, ShapeCache::new(&self.space.shapes).of(address)) }
    }

    /// Gives new addresses to all objects of a region that slides; pinned ones keep theirs.
    ///
    /// # Safety
    /// - As for [`run`](Self::run).
    unsafe fn pour_region(&mut self, index: usize, cursor: &mut Cursor) {
        let table = self.space.free.table();
        let mut start = table.bottom(index);
        for number in self.plan.regions[index].pins.clone() {
            let pin = self.plan.pins[number];
            // SAFETY: the caller's predicate; pins do not overlap objects.
            unsafe { self.pour(start, pin.start, cursor) };
            self.send_apart(pin.start, pin.start);
            let mut at = next_block(pin.start);
            while at < pin.end {
                self.map.send(at, at);
                at = next_block(at);
            }
            start = pin.end;
        }
        // SAFETY: as above.
        unsafe { self.pour(start, table.get(index).top(), cursor) };
    }

    /// Gives new addresses to the live words in `[start, end)`, which cuts no object.
    ///
    /// # Safety
    /// - As for [`run`](Self::run).
    unsafe fn pour(&mut self, start: usize, end: usize, cursor: &mut Cursor) {
        let mut at = start;
        // The place where an object began to go to another gap than those before it, or the current
        // place.
        let mut known = start;
        while at < end {
            // Nearly all of the work: blocks whose words go directly after those of the previous
            // block.
            if at > known && at.is_multiple_of(BLOCK_BYTES) {
                let whole = end & !(BLOCK_BYTES - 1);
                let sent = self.map.send_blocks(at, whole.max(at), cursor.at, cursor.room());
                cursor.at += sent.bytes;
                at = sent.end;
                if at == end {
                    break;
                }
            }
            let stop = next_block(at).min(end);
            let bytes = self.map.live_bytes(at, stop);
            if bytes == 0 {
                at = stop;
            } else if bytes <= cursor.room() {
                self.send(known, at, cursor);
                cursor.at += bytes;
                at = stop;
            } else {
                let last = (at & !(BLOCK_BYTES - 1))
                    + select(self.map.live_between(at, stop), cursor.room() / WORD) * WORD;
                // SAFETY: `known` cuts no object.
                let object = unsafe { self.object_around(known, last) };
                if object.start < at {
                    cursor.at = Forwarding::new(self.map, &self.plan.breaks).of(object.start);
                } else {
                    let below = self.map.live_bytes(at, object.start);
                    if below > 0 {
                        self.send(known, at, cursor);
                        cursor.at += below;
                    }
                }
                cursor.open_next(&self.space.free, self.plan, object.len());
                (at, known) = (object.start, object.start);
            }
        }
    }

    /// Sends live words from `at` to the end of their block to the cursor's position. That is after
    /// the new place of the words before them, unless `at` is `known`.
    fn send(&mut self, known: usize, at: usize, cursor: &Cursor) {
        if at == known {
            self.send_apart(at, cursor.at);
        } else {
            self.map.send(at, cursor.at);
        }
    }

    /// Sends live words from `at` to the end of their block to `to`, wherever the words before them
    /// went.
    fn send_apart(&mut self, at: usize, to: usize) {
        self.map.send(at, to);
        self.plan.breaks.push(Break { from: at, to });
    }

    /// The addresses of the object that the live word at `word` belongs to. `known` is not inside
    /// an object.
    ///
    /// # Safety
    /// - As for [`run`](Self::run).
    unsafe fn object_around(&self, known: usize, word: usize) -> Range<usize> {
        // After a word that is not live, an object begins.
        let mut object = self.map.run_start(known, word);
        loop {
            // SAFETY: objects follow each other up to `word`.
            let end = object + unsafe { self.size(object) };
            if end > word {
                return object..end;
            }
            object = end;
        }
    }
}

/// The position of the set bit of `bits` that has `rank` set bits below it.
fn select(mut bits: u64, rank: usize) -> usize {
    for _ in 0..rank {
        bits &= bits - 1;
    }
    bits.trailing_zeros() as usize
}
