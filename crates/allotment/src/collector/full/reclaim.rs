//! Reclaim: makes every region parsable again, and gives back unused regions.
//!
//! Workers share the steps that read the map and write to regions. One worker does the bookkeeping:
//! the order in which regions are offered decides where mutators allocate next, and must not depend
//! on the number of workers.

use super::FullStatistics;
use super::plan::{Plan, RegionPlan, RegionRole};
use crate::collector::kernel::{LiveMap, cover};
use crate::collector::work::{Claimer, Workers};
use crate::region::FreeSet;

/// Covers gaps, lowers tops, frees empty regions and offers the others.
///
/// # Safety
/// - Every object is where the plan wants it.
pub(super) unsafe fn reclaim(
    free: &FreeSet,
    map: &LiveMap,
    plan: &Plan,
    workers: Workers<'_>,
    statistics: &mut FullStatistics,
) {
    let table = free.table();
    let claimer = Claimer::new(plan.regions.len());
    workers.run(&|_| {
        while let Some(index) = claimer.claim() {
            let region = &plan.regions[index];
            match region.role {
                RegionRole::Untouched | RegionRole::Shifts => {}
                // SAFETY: the marked objects are the region's own, and have not moved.
                RegionRole::Stays => unsafe {
                    cover_garbage(free, map, table.bottom(index), table.get(index).top());
                },
                // SAFETY: nothing lies between the objects that were poured into a gap and the pin
                // above it.
                RegionRole::Slides | RegionRole::Taken => unsafe { cover_gaps(free, plan, region) },
            }
        }
    });
    free.forget_room();
    let ours = plan.regions.iter().enumerate().filter(|(_, region)| region.role != RegionRole::Untouched);
    for (index, region) in ours {
        if region.gets_run {
            continue;
        }
        if region.top > table.bottom(index) {
            free.offer_region(index, region.top);
        } else {
            free.retire_region(index, table.get(index).home());
            statistics.details.regions_freed +=
                usize::from(matches!(region.role, RegionRole::Slides | RegionRole::Shifts));
        }
    }
    plan.runs.iter().for_each(|moved| free.settle_run(moved.to, &moved.run));
}

/// Makes fillers of the garbage among objects that stay.
///
/// # Safety
/// - Marked words in `[bottom, top)` belong to objects; the memory between them is unused.
unsafe fn cover_garbage(free: &FreeSet, map: &LiveMap, bottom: usize, top: usize) {
    let end = map.live_end(bottom, top);
    let mut dead = map.next_dead(bottom, end);
    while dead < end {
        let live = map.next_live(dead, end);
        // SAFETY: no live object has a word there.
        unsafe { cover(free, dead, live) };
        dead = map.next_dead(live, end);
    }
}

/// Makes fillers of the rests of the gaps below pins.
///
/// # Safety
/// - As for [`reclaim`].
unsafe fn cover_gaps(free: &FreeSet, plan: &Plan, region: &RegionPlan) {
    for pin in &plan.pins[region.pins.clone()] {
        // SAFETY: the rest of the gap below the pin.
        unsafe { cover(free, pin.filled_to, pin.start) };
    }
}
