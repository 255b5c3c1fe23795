//! The choice of the regions that a cycle empties: HotSpot's rule for the collection set.
//!
//! Copies need memory before garbage gives any back, so the reserve for copies bounds the set
//! (`ShenandoahEvacReserve`). Within it, regions with most garbage come first: they give most
//! memory back for the fewest copies. A region with little garbage is copied only if too little
//! memory would be free otherwise. If regions without live objects have nearly all of the garbage,
//! the cycle is abbreviated: they are freed, and nothing moves.
//!
//! The walk stops at the first region whose live objects do not fit, as HotSpot's does. Refused: to
//! go on to a smaller one. Regions with less garbage have more live objects, except the few that
//! are not full.
//!
//! Numbers only. The caller leaves out regions that cannot be emptied, and counts those without
//! live objects as immediate garbage.

use super::bytes::percent_of;
use crate::options::Options;
use std::cmp::Reverse;

/// The options that decide which regions are emptied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChooseSettings {
    /// `ShenandoahGarbageThreshold`: percentage of a region.
    pub garbage_percent: usize,
    /// `ShenandoahIgnoreGarbageThreshold`: percentage of a region.
    pub ignore_percent: usize,
    /// `ShenandoahImmediateThreshold`: percentage of all garbage.
    pub immediate_percent: usize,
    /// `ShenandoahMinFreeThreshold`: percentage of the capacity.
    pub min_free_percent: usize,
    /// `ShenandoahEvacReserve`: percentage of the capacity.
    pub reserve_percent: usize,
    /// `ShenandoahEvacWaste`: bytes that a live byte may need, at least 1.
    pub waste: f64,
    /// `ShenandoahOldGarbageThreshold`: percentage of a region.
    pub old_garbage_percent: usize,
    /// `ShenandoahExpediteMixedThreshold`: old regions.
    pub expedite_mixed: usize,
    /// `ShenandoahOldEvacPercent`: percentage of all that is kept free for copies.
    pub old_percent: usize,
    /// `ShenandoahOldEvacWaste`: as `waste`, for copies of old objects.
    pub old_waste: f64,
}

impl From<&Options> for ChooseSettings {
    fn from(options: &Options) -> ChooseSettings {
        ChooseSettings {
            garbage_percent: options.shenandoah_garbage_threshold,
            ignore_percent: options.shenandoah_ignore_garbage_threshold,
            immediate_percent: options.shenandoah_immediate_threshold,
            min_free_percent: options.shenandoah_min_free_threshold,
            reserve_percent: options.shenandoah_evac_reserve,
            waste: options.shenandoah_evac_waste,
            old_garbage_percent: options.shenandoah_old_garbage_threshold,
            expedite_mixed: options.shenandoah_expedite_mixed_threshold,
            old_percent: options.shenandoah_old_evac_percent,
            old_waste: options.shenandoah_old_evac_waste,
        }
    }
}

/// A region that could be emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its number.
    pub region: usize,
    /// Bytes of its live objects.
    pub live_bytes: usize,
    /// Bytes of its garbage.
    pub garbage_bytes: usize,
}

/// The heap at the time of the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeMemory {
    /// Bytes of a region.
    pub region_bytes: usize,
    /// Bytes that mutators and collector may have in use.
    pub capacity_bytes: usize,
    /// Bytes that are free for mutators, without the reserve and without immediate garbage.
    pub free_bytes: usize,
    /// Bytes of garbage in regions without live objects.
    pub immediate_bytes: usize,
    /// Free regions that are kept for copies: at most [`reserve_regions`].
    pub reserve_regions: usize,
}

/// The set, and the numbers that decided about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The regions to empty, most garbage first.
    pub set: Vec<Candidate>,
    /// Bytes of live objects in the set.
    pub live_bytes: usize,
    /// Bytes of garbage in the set.
    pub garbage_bytes: usize,
    /// Bytes of garbage that the set should have, even if they need many copies.
    pub wanted_bytes: usize,
    /// Regions that the copies may need, at most the reserve.
    pub copy_regions: usize,
}

/// Regions to keep free for copies: `ShenandoahEvacReserve` of the capacity, at least 1.
#[must_use]
pub fn reserve_regions(settings: &ChooseSettings, region_bytes: usize, capacity_bytes: usize) -> usize {
    percent_of(capacity_bytes, settings.reserve_percent).div_ceil(region_bytes.max(1)).max(1)
}

/// Regions that copies of `live_bytes` may need: `waste` times as many bytes.
pub(crate) fn copy_regions(waste: f64, region_bytes: usize, live_bytes: usize) -> usize {
    let bytes = (live_bytes as f64 * waste) as usize;
    bytes.max(live_bytes).div_ceil(region_bytes.max(1))
}

/// Bytes of the live objects of these regions at the time of the choice. They may have changed
/// since.
pub(crate) fn live_bytes(set: &[Candidate]) -> usize {
    set.iter().map(|candidate| candidate.live_bytes).sum()
}

/// Regions that copies of old objects may need, beside `reserve_regions` for copies of young ones:
/// `ShenandoahOldEvacPercent` of the sum of both.
pub(crate) fn old_reserve(settings: &ChooseSettings, reserve_regions: usize) -> usize {
    match 100_usize.saturating_sub(settings.old_percent) {
        0 => usize::MAX,
        young => reserve_regions.saturating_mul(settings.old_percent) / young,
    }
}

/// Chooses among old regions that are worth a move, most garbage first: as many as
/// `reserve_regions` have room for.
pub(crate) fn choose_old(
    candidates: &[Candidate],
    settings: &ChooseSettings,
    region_bytes: usize,
    reserve_regions: usize,
) -> Vec<Candidate> {
    let copies = |end: usize| copy_regions(settings.old_waste, region_bytes, live_bytes(&candidates[..end]));
    let fits = |end: &usize| copies(*end) <= reserve_regions;
    let end = (1..=candidates.len()).take_while(fits).last().unwrap_or(0);
    candidates[..end].to_vec()
}

/// Chooses the set among the candidates. Sorts the candidates, most garbage first.
#[must_use]
pub fn choose(candidates: &mut [Candidate], settings: &ChooseSettings, space: &FreeMemory) -> Choice {
    let &FreeMemory { region_bytes, capacity_bytes, free_bytes, immediate_bytes, reserve_regions } = space;
    let sum = |sum: usize, candidate: &Candidate| sum.saturating_add(candidate.garbage_bytes);
    let all_garbage_bytes = candidates.iter().fold(immediate_bytes, sum);
    let reserve_bytes = reserve_regions.saturating_mul(region_bytes);
    // The copies will be taken from the reserve, which the next cycle needs again.
    let most_live = (reserve_bytes as f64 / settings.waste.max(1.0)) as usize;
    let wanted_free = percent_of(capacity_bytes, settings.min_free_percent).saturating_add(most_live);
    let wanted_bytes = wanted_free.saturating_sub(free_bytes.saturating_add(immediate_bytes));
    let is_abbreviated = immediate_bytes > 0
        && immediate_bytes as u128 * 100 >= all_garbage_bytes as u128 * settings.immediate_percent as u128;
    let mut choice =
        Choice { set: Vec::new(), live_bytes: 0, garbage_bytes: 0, wanted_bytes, copy_regions: 0 };
    candidates.sort_unstable_by_key(|candidate| {
        (Reverse(candidate.garbage_bytes), candidate.live_bytes, candidate.region)
    });
    if is_abbreviated {
        return choice;
    }
    let ignored_below = percent_of(region_bytes, settings.ignore_percent).max(1);
    let worth_above = percent_of(region_bytes, settings.garbage_percent);
    for candidate in candidates.iter() {
        let garbage = candidate.garbage_bytes;
        let worth = garbage > worth_above || choice.garbage_bytes < wanted_bytes;
        let live_bytes = choice.live_bytes.saturating_add(candidate.live_bytes);
        let copies = copy_regions(settings.waste, region_bytes, live_bytes);
        // The candidates after this one have no more garbage.
        if garbage < ignored_below || !worth || copies > reserve_regions {
            break;
        }
        choice.set.push(*candidate);
        choice.live_bytes = live_bytes;
        choice.garbage_bytes += garbage;
        choice.copy_regions = copies;
    }
    choice
}
