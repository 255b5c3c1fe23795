//! Update: each slot that refers to a moved object gets the object's place.
//!
//! Only objects from before the evacuation can refer to such an object: marked objects, and those
//! that lie between the tops at mark start and the update watermarks. Objects that were born later
//! have words from spans, which refer to copies only. Copies are found by way of their old places:
//! their regions cannot be walked, because mutators are still copying.
//!
//! Mutators store meanwhile. So a slot is changed by compare-and-swap, and keeps a word that a
//! mutator stored.
//!
//! Of the slots of old objects, only those in dirty cards can refer to such an object in a young
//! cycle. All slots of a copy in an old region are updated, and dirty their cards.

use super::delay::passage;
use super::evacuate::{Evacuator, Generations};
use super::objects::{for_each_slot_of, header_at, measure, place_of};
use super::old::{PIECE_BYTES, for_each_dirty_run, for_each_slot_in};
use super::tables::is_young;
use crate::collector::kernel::{ShapeCache, broken};
use crate::object::{Kind, TailSlots, WORD, for_each_fixed_slot, reference, tail_slots, with_reference};
use crate::region::{RegionTable, State};
use std::iter;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Objects after which a worker asks whether it is halted.
const PIECE: usize = if cfg!(test) { 8 } else { 512 };

/// Slots of an array larger than a region that are updated in one go.
const CHUNK: usize = if cfg!(test) { 64 } else { 1 << 13 };

/// A piece of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collector) enum UpdatePiece {
    /// The objects of a region or run at or above an address, without the chunks of a large array.
    /// An address of 0: all of them.
    Objects { region: usize, from: usize },
    /// A chunk of the large array that begins a run.
    Chunk { region: usize, number: usize },
    /// The slots in dirty cards of [`PIECE_BYTES`] of an old region.
    DirtyCards { region: usize, start: usize },
}

impl UpdatePiece {
    /// Bytes of the objects, dead ones included.
    pub(in crate::collector) fn bytes(self, table: &RegionTable) -> usize {
        match self {
            UpdatePiece::Objects { region, from } => {
                table.watermark(region).saturating_sub(from.max(table.bottom(region)))
            }
            UpdatePiece::Chunk { .. } => CHUNK * WORD,
            UpdatePiece::DirtyCards { .. } => PIECE_BYTES,
        }
    }
}

/// One worker that updates.
pub(in crate::collector) struct Updater<'u> {
    evacuator: Evacuator<'u>,
    shapes: ShapeCache<'u>,
    home: usize,
    /// Objects until the worker asks whether it is halted.
    left: usize,
    /// Slots that got a new address.
    pub(in crate::collector) updated: u64,
}

impl<'u> Updater<'u> {
    /// A thread that runs on core `home`.
    pub(in crate::collector) fn new(evacuator: Evacuator<'u>, home: usize) -> Self {
        let shapes = ShapeCache::new(&evacuator.space.shapes);
        Updater { evacuator, shapes, home, left: PIECE, updated: 0 }
    }

    /// Updates a slot.
    #[inline]
    pub(in crate::collector) fn slot(&mut self, slot: &AtomicU64) {
        let bits = slot.load(Ordering::Acquire);
        let Some(address) = reference(bits) else { return };
        let place = self.evacuator.forward(address, self.home);
        if place != address {
            let new = with_reference(bits, place);
            passage();
            // Otherwise a mutator has stored, or healed it.
            let changed = slot.compare_exchange(bits, new, Ordering::Release, Ordering::Relaxed);
            self.updated += u64::from(changed.is_ok());
        }
    }

    /// The pieces of a region or run of which all slots are updated.
    ///
    /// # Safety
    /// - Evacuation has ended, and all that lies below watermarks is parsable.
    pub(in crate::collector) unsafe fn pieces(
        &mut self,
        region: usize,
    ) -> impl Iterator<Item = UpdatePiece> + use<> {
        // SAFETY: the caller's predicate.
        let chunks = unsafe { self.large_tail(region) }.map_or(0, |tail| tail.length.div_ceil(CHUNK));
        let chunks = (0..chunks).map(move |number| UpdatePiece::Chunk { region, number });
        iter::once(UpdatePiece::Objects { region, from: 0 }).chain(chunks)
    }

    /// The pieces of an old region that have dirty cards.
    pub(in crate::collector) fn dirty_pieces(&self, region: usize) -> impl Iterator<Item = UpdatePiece> {
        let tables = self.evacuator.generations.map(|generations| generations.tables);
        let objects = self.old_objects(region);
        let end = objects.end;
        let has_dirty = move |start: &usize| {
            let end = end.min(start + PIECE_BYTES);
            tables.is_some_and(|tables| tables.cards.next_run(*start, end).is_some())
        };
        let starts = objects.step_by(PIECE_BYTES).filter(has_dirty);
        starts.map(move |start| UpdatePiece::DirtyCards { region, start })
    }

    /// The array that begins the run at `index`, if it is live and larger than a region.
    ///
    /// # Safety
    /// - As for [`pieces`](Self::pieces).
    unsafe fn large_tail(&mut self, index: usize) -> Option<TailSlots> {
        let table = self.evacuator.space.free.table();
        if table.get(index).state() != State::HumongousStart {
            return None;
        }
        let address = table.bottom(index);
        // SAFETY: the caller's predicate; a run begins with an object or a filler.
        unsafe {
            if !matches!(header_at(address).kind(), Kind::Object(_)) {
                return None;
            }
            // Another object may keep the run. The array then may be dead, and its referents gone.
            // Its mark tells, even if the run has become old in this cycle.
            if !self.evacuator.tables.is_marked(&self.evacuator.space.free, address) {
                return None;
            }
            let (slots, bytes) = measure(&mut self.shapes, address);
            if bytes > table.geometry().region_bytes() { tail_slots(address, slots.shape) } else { None }
        }
    }

    /// Updates a piece until `halted` is true, which is asked now and then. Returns the rest of the
    /// piece, if there is one.
    ///
    /// # Safety
    /// - As for [`pieces`](Self::pieces), which listed it, or [`dirty_pieces`](Self::dirty_pieces).
    pub(in crate::collector) unsafe fn piece(
        &mut self,
        piece: UpdatePiece,
        halted: &mut dyn FnMut() -> bool,
    ) -> Option<UpdatePiece> {
        // SAFETY: the caller's predicate.
        unsafe {
            match piece {
                UpdatePiece::Objects { region, from } => {
                    let rest = self.marked(region, from, halted);
                    let rest = rest.or_else(|| self.unmarked(region, from, halted));
                    return rest.map(|from| UpdatePiece::Objects { region, from });
                }
                UpdatePiece::Chunk { region, number } => self.chunk(region, number),
                UpdatePiece::DirtyCards { region, start } => self.dirty_cards(region, start),
            }
        }
        None
    }

    /// The objects of an old region that were there when evacuation began.
    fn old_objects(&self, index: usize) -> Range<usize> {
        let free = &self.evacuator.space.free;
        let table = free.table();
        let end = match table.get(index).state() {
            State::HumongousStart => free.object_end(index),
            _ => table.watermark(index),
        };
        table.bottom(index)..end
    }

    /// Updates the slots in dirty cards of a piece of an old region.
    ///
    /// # Safety
    /// - As for [`pieces`](Self::pieces). The region was old when marking began, and is not in the
    ///   set.
    unsafe fn dirty_cards(&mut self, index: usize, start: usize) {
        let Some(Generations { tables, .. }) = self.evacuator.generations else { return };
        let Range { start: bottom, end } = self.old_objects(index);
        let mut shapes = ShapeCache::new(&self.evacuator.space.shapes);
        for_each_dirty_run(&tables, start..end.min(start + PIECE_BYTES), |run| {
            // SAFETY: the caller's predicate: nothing moves in this region.
            unsafe { for_each_slot_in(&mut shapes, &tables, bottom, run, |slot, _, _| self.slot(slot)) };
            true
        });
    }

    /// Updates a slot of an old object, which may be a copy. Its card becomes dirty if the referent
    /// is young.
    fn slot_of_old(&mut self, slot: &AtomicU64) {
        self.slot(slot);
        // The word as it is now: a mutator may have healed the slot, or stored to it.
        if let Some(Generations { tables, .. }) = self.evacuator.generations
            && let Some(address) = reference(slot.load(Ordering::Acquire))
            && is_young(&self.evacuator.space.free, address)
        {
            tables.cards.dirty_concurrently(std::ptr::from_ref(slot).addr());
        }
    }

    /// Updates a chunk of the array that begins the run at `index`.
    ///
    /// # Safety
    /// - As for [`pieces`](Self::pieces), which counted it.
    unsafe fn chunk(&mut self, index: usize, chunk: usize) {
        // SAFETY: the caller's predicate.
        let Some(tail) = (unsafe { self.large_tail(index) }) else { return };
        for slot in chunk * CHUNK..tail.length.min((chunk + 1) * CHUNK) {
            // SAFETY: a slot of the array, which all access as atomics.
            self.slot(unsafe { AtomicU64::from_ptr(tail.start.add(slot)) });
        }
    }

    fn goes_on(&mut self, halted: &mut dyn FnMut() -> bool) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return true;
        }
        self.left = PIECE;
        !halted()
    }

    /// Updates the marked objects of region `index` at or above `from`, without the chunks of a
    /// large array. Returns the address at which it was halted, if it was.
    ///
    /// # Safety
    /// - As for [`pieces`](Self::pieces).
    unsafe fn marked(
        &mut self,
        index: usize,
        from: usize,
        halted: &mut dyn FnMut() -> bool,
    ) -> Option<usize> {
        let (free, tables) = (&self.evacuator.space.free, self.evacuator.tables);
        let mut halted_at = None;
        tables.for_each_marked_from(free, index, from, |address| {
            if halted_at.is_some() || !self.goes_on(halted) {
                halted_at.get_or_insert(address);
                return usize::MAX;
            }
            // SAFETY: the caller's predicates.
            unsafe { self.object(place_of(header_at(address), address)) }
        });
        halted_at
    }

    /// Updates the objects above the border of region `index`, as [`marked`](Self::marked) does
    /// those below.
    ///
    /// # Safety
    /// - As for [`pieces`](Self::pieces). `from` is 0, or where this or [`marked`](Self::marked) was
    ///   halted.
    unsafe fn unmarked(
        &mut self,
        index: usize,
        from: usize,
        halted: &mut dyn FnMut() -> bool,
    ) -> Option<usize> {
        let free = &self.evacuator.space.free;
        let table = free.table();
        let (mut at, mut end) = (table.mark_start(index), table.watermark(index).min(table.get(index).top()));
        if table.get(index).state() == State::HumongousStart {
            let is_new = at == table.bottom(index) && table.watermark(index) > at;
            end = if is_new { free.object_end(index) } else { at };
        } else if !table.get(index).state().begins_objects() {
            return None;
        }
        at = at.max(from);
        while at < end {
            if !self.goes_on(halted) {
                return Some(at);
            }
            // SAFETY: objects and fillers follow each other.
            at += match unsafe { header_at(at) }.kind() {
                Kind::Filler(bytes) => bytes,
                // SAFETY: as above.
                Kind::Object(_) => unsafe { self.object(at) },
                _ => broken(at, "no object is there, and the region should be parsable"),
            };
        }
        None
    }

    /// Updates the slots of the object at `address`; returns its size.
    ///
    /// # Safety
    /// - An object is at `address`, which has not moved from there.
    unsafe fn object(&mut self, address: usize) -> usize {
        // SAFETY: the caller's predicate.
        unsafe {
            let (slots, bytes) = measure(&mut self.shapes, address);
            let table = self.evacuator.space.free.table();
            let index = table.index_of(address);
            let is_old = table.get(index).is_tenured();
            // Of the objects of a run, only the first has its array updated by chunks.
            let begins_run = address == table.bottom(index);
            if begins_run
                && bytes > table.geometry().region_bytes()
                && tail_slots(address, slots.shape).is_some()
            {
                for_each_fixed_slot(address, slots.shape, |slot, _| self.slot(AtomicU64::from_ptr(slot)));
            } else if is_old {
                for_each_slot_of(address, slots, |slot, _| self.slot_of_old(slot));
            } else {
                for_each_slot_of(address, slots, |slot, _| self.slot(slot));
            }
            bytes
        }
    }
}
