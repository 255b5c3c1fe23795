//! Old regions: the slots in their dirty cards, and their order after marking.
//!
//! A young cycle looks at old objects only by their cards, and takes all old objects for live, even
//! dead ones. So the slots of a dead old object lead to objects, as long as only young cycles run.
//! A cycle that ends the marking of old objects covers the dead ones with fillers before the next
//! young cycle. A region whose young objects become old in place is put in order in the same way.
//!
//! ```text
//! slot of an old object refers to a young object   ->   its card is dirty
//! ```
//!
//! Marking cleans the dirty cards, and dirties those again that have such a slot. Mutators write
//! slots meanwhile, and dirty the card after each write. So the card is cleaned first, and its
//! slots are read afterwards (`CardTable::clean_run`).

use super::objects::{Slots, header_at, measure};
use super::tables::{Tables, marked_end};
use crate::collector::kernel::{OldTables, ShapeCache, broken, cover};
use crate::object::{Kind, SlotKind, for_each_slot_between};
use crate::region::{CARD_BYTES, Space};
use std::ops::Range;
use std::sync::atomic::AtomicU64;

#[cfg(test)]
pub(in crate::collector) use check::check_remembered;

/// Bytes of an old region whose slots are visited at once.
pub(super) const PIECE_BYTES: usize = CARD_BYTES * if cfg!(test) { 2 } else { 128 };

/// Calls `visit` with the dirty runs of cards in `range`, in pieces of a bounded size, until it
/// returns `false`. Returns whether it never did.
pub(super) fn for_each_dirty_run(
    tables: &OldTables<'_>,
    range: Range<usize>,
    mut visit: impl FnMut(Range<usize>) -> bool,
) -> bool {
    let mut at = range.start;
    while let Some(run) = tables.cards.next_run(at, range.end) {
        at = run.end.min(run.start / PIECE_BYTES * PIECE_BYTES + PIECE_BYTES);
        if !visit(run.start..at) {
            return false;
        }
    }
    true
}

/// Calls `visit` with all slots in `run`, a part of the old region that begins at `bottom`, and
/// with the addresses of their objects.
///
/// # Safety
/// - From `bottom` to the end of the run, objects and fillers follow each other. Their starts are
///   recorded, and none of them moves.
pub(super) unsafe fn for_each_slot_in(
    shapes: &mut ShapeCache<'_>,
    tables: &OldTables<'_>,
    bottom: usize,
    run: Range<usize>,
    mut visit: impl FnMut(&AtomicU64, SlotKind, usize),
) {
    // SAFETY: starts lead to headers of objects and fillers.
    let size_of = |address: usize| unsafe { size_and_slots(shapes, address).0 };
    let mut object = tables.starts.object_at(run.start, bottom, size_of);
    while object < run.end {
        // SAFETY: as above.
        let (bytes, slots) = unsafe { size_and_slots(shapes, object) };
        if let Some(slots) = slots.filter(|slots| slots.has_slots || slots.words != 0) {
            // SAFETY: an object of that shape. Its slots are aligned words, which all access as
            // atomics.
            unsafe {
                for_each_slot_between(object, slots.shape, run.clone(), |slot, kind| {
                    visit(AtomicU64::from_ptr(slot), kind, object);
                });
            }
        }
        object += bytes;
    }
}

/// # Safety
/// - An object or a filler is at `address`, and does not move.
unsafe fn size_and_slots<'h>(shapes: &mut ShapeCache<'h>, address: usize) -> (usize, Option<Slots<'h>>) {
    // SAFETY: the caller's predicate.
    unsafe {
        match header_at(address).kind() {
            Kind::Filler(bytes) => (bytes, None),
            Kind::Object(_) => {
                let (slots, bytes) = measure(shapes, address);
                (bytes, Some(slots))
            }
            _ => broken(address, "an old region is not parsable"),
        }
    }
}

/// Puts a region in order whose objects are old from now on: the memory of unmarked objects becomes
/// fillers, and the starts of objects are recorded. As long as the marks stay, a thread may do this
/// again.
///
/// # Safety
/// - Marking has ended, and nothing has moved in this region. No thread refers to an object that is
///   neither marked nor above the top at mark start, and no thread allocates in the region.
pub(in crate::collector) unsafe fn settle_old(
    space: &Space,
    tables: &Tables,
    old: &OldTables<'_>,
    index: usize,
) {
    let table = space.free.table();
    let mut shapes = ShapeCache::new(&space.shapes);
    let (bottom, end) = (table.bottom(index), marked_end(&space.free, index));
    old.starts.clear_range(bottom, end.next_multiple_of(CARD_BYTES));
    let gap = |start: usize, end: usize| {
        if start < end {
            // SAFETY: nothing in it is live, as the caller says.
            unsafe { cover(&space.free, start, end) };
            old.starts.record(start, end - start);
        }
    };
    let mut unused = bottom;
    tables.for_each_marked(&space.free, index, |at| {
        gap(unused, at);
        // SAFETY: the first live word after an object is a header.
        let bytes = unsafe { measure(&mut shapes, at) }.1;
        old.starts.record(at, bytes);
        unused = at + bytes;
        bytes
    });
    gap(unused, end);
}

#[cfg(test)]
mod check {
    use super::*;
    use crate::collector::concurrent::tables::is_young;
    use crate::object::reference;
    use std::sync::atomic::Ordering;

    /// Checks that marking has found every young object that an old region refers to, and that each
    /// such slot has a dirty card.
    ///
    /// # Safety
    /// - Nothing has moved, and old regions are in order.
    pub(in crate::collector) unsafe fn check_remembered(space: &Space, tables: &Tables, old: &OldTables<'_>) {
        let (free, table) = (&space.free, space.free.table());
        let mut shapes = ShapeCache::new(&space.shapes);
        let check = |slot: &AtomicU64, kind, object| {
            let Some(address) = reference(slot.load(Ordering::Acquire)) else { return };
            if is_young(free, address) {
                let slot = std::ptr::from_ref(slot).addr();
                let live = kind == SlotKind::Weak || tables.is_live(free, address);
                assert!(
                    live && old.cards.is_dirty(slot),
                    "{object:#x}: slot {slot:#x} {kind:?} holds {address:#x}: live {live}, dirty {}",
                    old.cards.is_dirty(slot)
                );
            }
        };
        for index in free.in_use() {
            if table.get(index).is_tenured() && table.get(index).state().begins_objects() {
                let (bottom, end) = (table.bottom(index), free.object_end(index));
                // SAFETY: the caller's predicate.
                unsafe { for_each_slot_in(&mut shapes, old, bottom, bottom..end, check) };
            }
        }
    }
}
