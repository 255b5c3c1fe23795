//! The fate of each region that marking has measured: it is free at once, becomes old as it is, is
//! emptied, or stays.
//!
//! [`choose`](super::choose) has HotSpot's rule for the set. This file has the surroundings of the
//! rule: the candidates, the changes by `ZealMove` and requests, and the old regions of mixed
//! cycles. It also decides whether to move anything at all ([`pays`]). Numbers only:
//! `cycle/measure.rs` gathers them.

use super::bytes::percent_of;
use super::choose::{
    Candidate, ChooseSettings, FreeMemory, choose, choose_old, copy_regions, live_bytes, old_reserve,
};
use crate::region::WantedRun;

/// A region without new objects, or a run of them, as marking has left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Measured {
    /// The number of the region, or of the first one of the run.
    pub(super) region: usize,
    /// Bytes up to its top, taken once: mutators allocate there, and give back.
    pub(super) used_bytes: usize,
    /// Bytes of live objects.
    pub(super) live_bytes: usize,
    /// Cycles that a young region has stayed as it is. `None` for an old region.
    pub(super) young_age: Option<u8>,
    /// Whether the objects may move: the region is not a run, and each live object is small.
    pub(super) may_move: bool,
}

/// Which regions are worth a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// Those that the options select.
    Usual,
    /// Each region with garbage: a thread asked for the cycle.
    Thorough,
    /// Each region with live objects: `ZealMove`.
    All,
}

/// A set has to free at least one part in this many of the memory that mutators have until the
/// next cycle without it.
const PAYS: usize = 4;

/// Measured regions, by their fate.
pub(super) struct Sorted {
    /// Regions without a live object.
    pub(super) immediate: Vec<usize>,
    immediate_bytes: usize,
    /// Young regions that become old as they are.
    pub(super) promoted: Vec<usize>,
    /// Regions that may be chosen.
    candidates: Vec<Candidate>,
}

/// Regions that are to be emptied, and those that are to be emptied later.
pub(super) struct Selection {
    pub(super) set: Vec<Candidate>,
    /// There were regions to empty, and a move of them does not pay.
    pub(super) skips: bool,
    /// The part of the set that an earlier cycle has found: old regions of a mixed cycle.
    pub(super) old_set: Vec<Candidate>,
    pub(super) settings: ChooseSettings,
    pub(super) region_bytes: usize,
    /// Old regions that are worth a move, most garbage first.
    pub(super) old_candidates: Vec<Candidate>,
}

/// The memory of the heap at the time of the choice.
pub(super) struct FreeRegions {
    pub(super) region_bytes: usize,
    pub(super) heap_bytes: usize,
    /// Free regions.
    pub(super) free_regions: usize,
    /// Free regions that mutators may take.
    pub(super) regions_left: usize,
    /// Free regions that are kept for copies.
    pub(super) reserve_regions: usize,
    /// Regions that mutators may take before the next cycle begins, if this one frees nothing. 0:
    /// they need memory now, and each region counts.
    pub(super) regions_to_next: usize,
    /// The runs of regions that mutators wanted since the last cycle, if any did.
    pub(super) wanted_run: Option<WantedRun>,
}

impl FreeRegions {
    /// Bytes that mutators have until the next cycle without a move, with these bytes of immediate
    /// garbage. A program that wants runs of regions has the free bytes that are in runs: immediate
    /// garbage need not make runs.
    fn left_bytes(&self, immediate_bytes: usize) -> usize {
        let left_bytes = self.regions_to_next * self.region_bytes;
        match self.wanted_run {
            _ if left_bytes == 0 => 0,
            Some(run) => left_bytes.min(run.free_bytes),
            None => left_bytes + immediate_bytes,
        }
    }
}

/// Whether to move a set with `gained_bytes` of garbage, where mutators have `left_bytes` until the
/// next cycle without the move.
///
/// A cycle marks at the cost `m`, and a move costs `u` more: the copies, and an update of all
/// slots. Without the move, a byte that mutators allocate costs `m / left`. With it, the byte costs
/// `(m + u) / (left + gained)`. So the move pays if `gained / left > u / m`. An update visits the
/// objects that marking has visited, in the order of their addresses, which takes a quarter to all
/// of the time. Here the quarter counts: a move also gathers what lives, which this sum leaves out.
///
/// Garbage that stays is not lost. It adds up until it is worth a move, and where nothing is left,
/// all garbage is.
fn pays(gained_bytes: usize, left_bytes: usize) -> bool {
    gained_bytes.saturating_mul(PAYS) >= left_bytes
}

/// Sorts measured regions. A young region that has stayed for `tenuring_threshold` cycles becomes
/// old as it is if it has at most `promotion_bytes` of garbage.
pub(super) fn sort(measured: &[Measured], tenuring_threshold: Option<u8>, promotion_bytes: usize) -> Sorted {
    let (mut immediate, mut immediate_bytes) = (Vec::new(), 0);
    let (mut promoted, mut candidates) = (Vec::new(), Vec::new());
    for &Measured { region, used_bytes, live_bytes, young_age, may_move } in measured {
        let garbage_bytes = used_bytes - live_bytes;
        let is_grown_up = young_age.zip(tenuring_threshold).is_some_and(|(age, threshold)| age >= threshold);
        if live_bytes == 0 {
            immediate_bytes += used_bytes;
            immediate.push(region);
        } else if is_grown_up && garbage_bytes <= promotion_bytes {
            promoted.push(region);
        } else if may_move {
            candidates.push(Candidate { region, live_bytes, garbage_bytes });
        }
    }
    Sorted { immediate, immediate_bytes, promoted, candidates }
}

/// Chooses among the candidates of `sorted`, and among the old regions that are `waiting` since an
/// earlier cycle. `is_old` tells whether a region is old.
pub(super) fn select(
    sorted: &mut Sorted,
    waiting: &[Candidate],
    options: &ChooseSettings,
    effort: Effort,
    memory: &FreeRegions,
    is_old: impl Fn(usize) -> bool,
) -> Selection {
    let &FreeRegions { region_bytes, heap_bytes, free_regions, regions_left, reserve_regions, .. } = memory;
    let settings = match effort {
        Effort::Usual => *options,
        Effort::Thorough | Effort::All => {
            ChooseSettings { garbage_percent: 0, ignore_percent: 0, immediate_percent: 100, ..*options }
        }
    };
    let mut candidates = std::mem::take(&mut sorted.candidates);
    let moves_all = effort == Effort::All;
    if moves_all {
        // A region without garbage moves like one that is full of garbage.
        candidates.iter_mut().for_each(|candidate| candidate.garbage_bytes = region_bytes);
    }
    let space = FreeMemory {
        region_bytes,
        capacity_bytes: heap_bytes,
        free_bytes: regions_left * region_bytes,
        immediate_bytes: if moves_all { 0 } else { sorted.immediate_bytes },
        reserve_regions: if moves_all { free_regions / 2 } else { free_regions.min(reserve_regions) },
    };
    let mut chosen = choose(&mut candidates, &settings, &space);
    let spare = free_regions.saturating_sub(chosen.copy_regions) / 2;
    let budget = old_reserve(options, space.reserve_regions).min(spare);
    let worth = percent_of(region_bytes, options.old_garbage_percent);
    candidates.retain(|candidate| is_old(candidate.region) && candidate.garbage_bytes >= worth);
    let old_set = choose_old(waiting, options, region_bytes, budget);
    // With old regions in the set, all slots are updated anyway. If many old regions wait, the next
    // cycle begins at once to move them, and would update all slots for these alone.
    let may_skip =
        effort == Effort::Usual && old_set.is_empty() && candidates.len() <= options.expedite_mixed;
    let pays = pays(chosen.garbage_bytes, memory.left_bytes(sorted.immediate_bytes));
    let skips = may_skip && !pays && !chosen.set.is_empty();
    if skips {
        chosen.set.clear();
    }
    Selection { set: chosen.set, skips, old_set, settings, region_bytes, old_candidates: candidates }
}

impl Selection {
    /// Regions that the copies may need. Copies lose some memory at the ends of regions and
    /// buffers.
    pub(super) fn copy_regions(&self) -> usize {
        let copies = |set: &[Candidate], waste| copy_regions(waste, self.region_bytes, live_bytes(set));
        copies(&self.set, self.settings.waste) + copies(&self.old_set, self.settings.old_waste)
    }

    /// The regions of both sets whose copies fit into `regions`. The sets shrink from their ends,
    /// old regions first.
    pub(super) fn fitting(mut self, regions: usize) -> Vec<usize> {
        while self.copy_regions() > regions && self.old_set.pop().or_else(|| self.set.pop()).is_some() {}
        self.set.iter().chain(&self.old_set).map(|candidate| candidate.region).collect()
    }
}
