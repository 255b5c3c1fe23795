//! After a full collection every object is old, so the tables of old regions are written anew.
//!
//! This is a walk over the headers of all live objects, region by region, separate from the full
//! collection. Refused: to note the starts of objects while they move. That would spare the walk,
//! but would put a generational heap's needs into a phase that other collectors use.

use super::ToSpace;
use super::finish::size_of_original;
use crate::collector::kernel::{OldTables, cover, walk_or_abort};
use crate::collector::work::{Claimer, Workers};
use crate::object::{Header, Kind, WORD};
use crate::region::{CARD_BYTES, Space, State};

/// Makes every region in use old, and lets the space of old objects use their free rests.
///
/// # Safety
/// - No mutator is between two safepoints, and every region is parsable up to its top.
pub(crate) unsafe fn adopt_all(space: &Space, tables: &OldTables<'_>, old: &ToSpace, workers: Workers<'_>) {
    let (free, table) = (&space.free, space.free.table());
    free.forget_room();
    old.forget();
    let claimer = Claimer::new(table.len());
    workers.run(&|_| {
        while let Some(index) = claimer.claim() {
            // SAFETY: the caller's predicate, and each region is one worker's.
            unsafe { adopt(space, tables, index) };
        }
    });
    (0..table.len())
        .filter(|&index| table.get(index).state() == State::Old)
        .for_each(|index| old.offer(free, index));
}

/// # Safety
/// - As for [`adopt_all`]; no other worker accesses this region.
unsafe fn adopt(space: &Space, tables: &OldTables<'_>, index: usize) {
    let (free, table) = (&space.free, space.free.table());
    let region = table.get(index);
    let (bottom, mut end) = (table.bottom(index), free.object_end(index));
    match region.state() {
        State::Shared | State::Survivor | State::Old => {
            region.set_state(State::Old);
            tables.clear(bottom, table.end(index));
            let top = end.next_multiple_of(CARD_BYTES);
            // SAFETY: no other thread uses the region above its top.
            unsafe { cover(free, end, top) };
            region.set_top(top);
            end = top;
        }
        State::HumongousStart => {
            region.set_tenured(true);
            tables.clear(bottom, table.end(index + region.run() - 1));
        }
        _ => return,
    }
    // SAFETY: the region is parsable, as the caller says.
    unsafe {
        walk_or_abort(&space.shapes, bottom, end, |object| {
            tables.starts.record(object.address, object.bytes)
        });
    }
}

/// The end of the last object of an old region. Between that end and the region's top is the rest
/// of a card.
///
/// # Safety
/// - As for [`adopt_all`]; the region is old, and the starts of its objects are recorded.
pub(crate) unsafe fn end_of_last(space: &Space, tables: &OldTables<'_>, index: usize) -> usize {
    let table = space.free.table();
    let (bottom, top) = (table.bottom(index), table.get(index).top());
    if top == bottom {
        return bottom;
    }
    // SAFETY: starts lead to headers.
    let header_at = |address: usize| Header::from_bits(unsafe { (address as *const u64).read() });
    // SAFETY: as above.
    let size_of = |address| unsafe { size_of_original(&space.shapes, address, header_at(address)) };
    let last = tables.starts.object_at(top - WORD, bottom, size_of);
    match header_at(last).kind() {
        Kind::Filler(_) => last,
        _ => top,
    }
}
