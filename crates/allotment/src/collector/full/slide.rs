//! Slide: moves runs of live words to where the plan wants them, in the plan's order.

use super::forward::Forwarding;
use super::live_map::LiveMap;
use super::plan::{Plan, Role};
use super::{Statistics, Subject};
use crate::object::WORD;
use crate::region::Backing;

/// A run of at most this many bytes is copied word by word: most are shorter than a call takes.
const SHORT: usize = 64;

/// Moves all objects.
///
/// # Safety
/// - The map and the plan are of one collection, and nothing has moved.
pub(super) unsafe fn slide<B: Backing>(
    subject: Subject<'_, B>,
    map: &LiveMap,
    plan: &Plan,
    statistics: &mut Statistics,
) {
    let table = subject.free.table();
    let forwarding = Forwarding::new(map, &plan.breaks);
    for (index, region) in plan.regions.iter().enumerate().filter(|(_, region)| region.role == Role::Slides) {
        let mut start = table.bottom(index);
        for pin in &plan.pins[region.pins.clone()] {
            // SAFETY: the caller's predicates.
            statistics.moved_bytes += unsafe { slide_runs(forwarding, start, pin.start) };
            start = pin.end;
        }
        // SAFETY: as above.
        statistics.moved_bytes += unsafe { slide_runs(forwarding, start, table.get(index).top()) };
    }
}

/// Moves the live words in `[start, end)`; the bytes that changed their address.
///
/// # Safety
/// - As for [`slide`]; everything below `start` has moved.
unsafe fn slide_runs(forwarding: Forwarding<'_>, start: usize, end: usize) -> u64 {
    let map = forwarding.map();
    let mut breaks = forwarding.breaks_from(forwarding.next_break(start));
    let (mut moved, mut at) = (0, map.next_live(start, end));
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
                // SAFETY: the words go to one place in this order; the plan sends them below themselves, or
                // where all has moved, or to a region that was free.
                unsafe { move_words(at, to, stop - at) };
                moved += (stop - at) as u64;
            }
            at = stop;
        }
        at = map.next_live(at, end);
    }
    moved
}

/// # Safety
/// - `bytes` at `from` may be read and at `to` written, whole words; what lies between is nobody's.
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
