//! The place where the next object goes.

use super::{Plan, RegionRole};
use crate::collector::kernel::broken;
use crate::region::FreeSet;
use std::ops::Range;

/// The gap that is being filled.
///
/// Gaps come in order of address; only the detour, where there is one, comes first. Where runs
/// move, the regions that planned runs have left are gaps, too. Everything that comes from above
/// the regions to clear passes over them.
pub(super) struct Cursor {
    /// A region to fill before all others.
    detour: Option<usize>,
    /// Whether the detour was reached.
    past_detour: bool,
    /// The region of the gap; `None` before the first one.
    region: Option<usize>,
    /// The lowest region, except the detour, in which no gap was opened yet.
    pub(super) next: usize,
    /// The pin above the gap, or the number after that of the region's last pin.
    pin: usize,
    /// The address of the next object, if it fits.
    pub(super) at: usize,
    end: usize,
    /// The region whose objects are planned now, or begin there.
    pub(super) source: usize,
    /// Regions that get nothing from above them.
    cleared: Range<usize>,
}

impl Cursor {
    /// Before the first gap.
    pub(super) fn new(detour: Option<usize>, cleared: Range<usize>) -> Cursor {
        let past_detour = detour.is_none();
        Cursor { detour, past_detour, region: None, next: 0, pin: 0, at: 0, end: 0, source: 0, cleared }
    }

    /// Whether the region is closed to the objects planned now, whatever its contents.
    pub(super) fn avoids(&self, index: usize) -> bool {
        self.detour == Some(index) || self.passes(index)
    }

    fn passes(&self, index: usize) -> bool {
        self.cleared.contains(&index) && self.source >= self.cleared.end
    }

    /// Bytes to the end of the gap.
    pub(super) fn room(&self) -> usize {
        self.end - self.at
    }

    /// Notes in the plan how far the gap is filled.
    pub(super) fn close(&self, plan: &mut Plan) {
        let Some(index) = self.region else { return };
        let region = &mut plan.regions[index];
        if self.pin < region.pins.end {
            plan.pins[self.pin].filled_to = self.at;
        } else {
            region.top = self.at;
        }
    }

    /// Closes the gap, and opens the next one with room for `bytes`.
    pub(super) fn open_next(&mut self, free: &FreeSet, plan: &mut Plan, bytes: usize) {
        self.close(plan);
        loop {
            match self.region {
                Some(index) if self.pin < plan.regions[index].pins.end => {
                    self.pin += 1;
                    self.open(free, plan, index);
                }
                _ => self.open_region(free, plan),
            }
            if bytes <= self.room() {
                return;
            }
        }
    }

    /// Opens the first gap of the next region that has one.
    fn open_region(&mut self, free: &FreeSet, plan: &mut Plan) {
        loop {
            let (index, passed) = match self.detour {
                Some(detour) if !self.past_detour => {
                    self.past_detour = true;
                    (detour, false)
                }
                _ => {
                    self.next += 1;
                    (self.next - 1, self.passes(self.next - 1))
                }
            };
            let Some(region) = plan.regions.get(index) else {
                broken(self.at, "more is live than was ever allocated");
            };
            let opens = match region.role {
                _ if region.gets_run || passed => false,
                // Nothing overtakes, so all of a moving run is below the objects planned now.
                RegionRole::Slides | RegionRole::Stays | RegionRole::Shifts => true,
                RegionRole::Untouched => plan.take(free, index),
                // The detour is taken when its turn comes again.
                RegionRole::Taken => self.detour != Some(index),
            };
            if !opens {
                continue;
            }
            self.region = Some(index);
            self.pin = plan.regions[index].pins.start;
            return self.open(free, plan, index);
        }
    }

    /// Opens the gap below pin number `self.pin`, or above the last pin.
    fn open(&mut self, free: &FreeSet, plan: &Plan, index: usize) {
        let (region, table) = (&plan.regions[index], free.table());
        // Objects that stay lie at the bottom of their region; elsewhere nothing does.
        let bottom = if region.role == RegionRole::Stays { region.top } else { table.bottom(index) };
        self.at = plan.gap_start(index, self.pin, bottom);
        self.end = if self.pin < region.pins.end { plan.pins[self.pin].start } else { table.end(index) };
    }
}
