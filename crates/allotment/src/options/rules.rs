//! Which values cannot work together, and why.
//!
//! No option is accepted and then ignored: whoever sets one expects something to change. So an option that
//! was given is refused where another option leaves it without effect. Ignoring it in silence, as HotSpot
//! does, was refused: it is how measurements come to compare a thing with itself.
//!
//! The rules look at effective values, after every source had its say: in [`OptionSet::finish`], which stands here so that
//! the set, which collects values, knows of no rule.

use super::choices::{CollectorKind, RefillStrategy, TlabPolicy};
use super::error::OptionError;
use super::kinds::format_size;
use super::origin::Origin;
use super::set::OptionSet;
use super::table::{OPTIONS, OptionId, OptionKind, Options};

/// Fewest regions of a heap; Shenandoah's limit as well.
const MIN_REGIONS: usize = 10;

/// What only threads with buffers of their own look at.
const OF_BUFFERS: &[OptionId] = &[
    OptionId::ResizeTLAB,
    OptionId::ZeroTLAB,
    OptionId::TLABSize,
    OptionId::MinTLABSize,
    OptionId::MaxTLABSize,
    OptionId::TLABPolicy,
    OptionId::TLABWasteTargetPercent,
    OptionId::TLABRefillWasteFraction,
    OptionId::TLABWasteIncrement,
    OptionId::TLABAllocationWeight,
    OptionId::TLABElasticity,
    OptionId::TLABDecayTime,
    OptionId::TLABIdlePercent,
    OptionId::ZeroWindowSize,
    OptionId::AllocatePrefetchStyle,
    OptionId::AllocatePrefetchDistance,
    OptionId::AllocatePrefetchLines,
    OptionId::AllocateInstancePrefetchLines,
    OptionId::AllocatePrefetchStepSize,
    OptionId::AllocatePrefetchInstr,
];

/// What only generated code that prefetches looks at, beside the style.
pub(crate) const OF_PREFETCH: &[OptionId] = &[
    OptionId::AllocatePrefetchDistance,
    OptionId::AllocatePrefetchLines,
    OptionId::AllocateInstancePrefetchLines,
    OptionId::AllocatePrefetchStepSize,
    OptionId::AllocatePrefetchInstr,
];

/// What only buffers that grow between collections look at.
const OF_GROWTH: &[OptionId] =
    &[OptionId::TLABElasticity, OptionId::TLABDecayTime, OptionId::TLABIdlePercent];

/// What only heaps that collect look at.
const OF_COLLECTIONS: &[OptionId] = &[
    OptionId::MinHeapFreeRatio,
    OptionId::ParallelGCThreads,
    OptionId::PrintGC,
    OptionId::PrintGCDetails,
    OptionId::UncommitDelay,
    OptionId::VerifyBeforeGC,
    OptionId::VerifyAfterGC,
    OptionId::ZealInterval,
    OptionId::ZealSeed,
    OptionId::ZealMove,
    OptionId::ZealPoison,
    OptionId::ZealProtect,
    OptionId::ZealQuarantine,
];

/// What only collectors with generations look at.
const OF_GENERATIONS: &[OptionId] = &[
    OptionId::NewSize,
    OptionId::MaxNewSize,
    OptionId::InitialTenuringThreshold,
    OptionId::MaxTenuringThreshold,
    OptionId::MaxGCPauseMillis,
    OptionId::GCTimeRatio,
    OptionId::CollectWhenIdle,
    OptionId::YoungPLABSize,
    OptionId::OldPLABSize,
];

/// Whether `policy` looks at the option.
fn looks_at(policy: TlabPolicy, id: OptionId) -> bool {
    match id {
        OptionId::TLABElasticity => policy == TlabPolicy::Epsilon,
        OptionId::TLABDecayTime => matches!(policy, TlabPolicy::Adaptive | TlabPolicy::Epsilon),
        OptionId::TLABIdlePercent => policy == TlabPolicy::Adaptive,
        // Adaptive buffers follow the refills of their thread, not the averages over collections.
        OptionId::TLABWasteTargetPercent | OptionId::TLABAllocationWeight => policy != TlabPolicy::Adaptive,
        _ => true,
    }
}

/// What becomes of the values once all are there.
impl OptionSet {
    /// The values of all options, each within its limits and none in conflict with another.
    ///
    /// # Errors
    ///
    /// [`OptionError::Value`] for a value outside its limits, [`OptionError::Conflict`] for values that
    /// cannot work together; the first that is found.
    pub fn finish(&self) -> Result<Options, OptionError> {
        for info in OPTIONS {
            self.values().check(info.id).map_err(|reason| OptionError::Value {
                name: info.name,
                value: self.values().text(info.id),
                origin: self.origin(info.id),
                reason,
                range: info.range(),
            })?;
        }
        check(self)?;
        Ok(self.values().clone())
    }
}

/// Refuses values that cannot work together. Expects each value within its own limits.
fn check(set: &OptionSet) -> Result<(), OptionError> {
    check_heap(set)?;
    check_effect(set)?;
    check_generations(set)?;
    check_sizes(set)?;
    check_refills(set)
}

/// The heap's size.
fn check_heap(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    let (max, region) = (options.max_heap_size, options.region_size);
    if max == 0 {
        return Ok(());
    }
    if options.initial_heap_size > max {
        return greater(set, OptionId::InitialHeapSize, OptionId::MaxHeapSize);
    }
    if region != 0 && max / region < MIN_REGIONS {
        let message = format!(
            "{} is too small for {}: a heap has at least {MIN_REGIONS} regions, which are {}",
            shown(set, OptionId::MaxHeapSize),
            shown(set, OptionId::RegionSize),
            format_size(MIN_REGIONS * region),
        );
        return conflict(&[OptionId::MaxHeapSize, OptionId::RegionSize], message);
    }
    if given(set, OptionId::MaxRAMPercentage) {
        return no_effect(set, OptionId::MaxRAMPercentage, OptionId::MaxHeapSize, "which is fixed");
    }
    Ok(())
}

/// Options that another one leaves without effect.
fn check_effect(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    if !options.use_tlab
        && let Some(id) = OF_BUFFERS.iter().copied().find(|id| given(set, *id))
    {
        return no_effect(set, id, OptionId::UseTLAB, "where no thread has a buffer");
    }
    for id in OF_BUFFERS.iter().copied().filter(|id| given(set, *id)) {
        if !looks_at(options.tlab_policy, id) {
            let users = TlabPolicy::ALL.iter().filter(|policy| looks_at(**policy, id));
            let users = users.map(|policy| policy.name()).collect::<Vec<_>>().join(", ");
            return no_effect(
                set,
                id,
                OptionId::TLABPolicy,
                &format!("only these policies look at it: {users}"),
            );
        }
    }
    if !options.resize_tlab
        && let Some(id) = OF_GROWTH.iter().copied().find(|id| given(set, *id))
    {
        return no_effect(set, id, OptionId::ResizeTLAB, "where buffers keep their size");
    }
    let style = OptionId::AllocatePrefetchStyle;
    if options.allocate_prefetch_style == 0
        && let Some(id) = OF_PREFETCH.iter().copied().find(|id| given(set, *id))
    {
        return no_effect(set, id, style, "which prefetches nothing");
    }
    let distance = OptionId::AllocatePrefetchDistance;
    if options.allocate_prefetch_distance == 0 {
        let others = OF_PREFETCH.iter().copied().filter(|id| *id != distance);
        let style = (options.allocate_prefetch_style != 0).then_some(style);
        if let Some(id) = style.into_iter().chain(others).find(|id| given(set, *id)) {
            return no_effect(set, id, distance, "which is no distance ahead");
        }
    }
    if options.collector == CollectorKind::Epsilon
        && let Some(id) = OF_COLLECTIONS.iter().copied().find(|id| given(set, *id))
    {
        return no_effect(set, id, OptionId::Collector, "which never collects");
    }
    if options.collector != CollectorKind::Parallel
        && let Some(id) = OF_GENERATIONS.iter().copied().find(|id| given(set, *id))
    {
        return no_effect(set, id, OptionId::Collector, "which has no generations");
    }
    if options.zeal_interval == 0 && options.zeal_seed != 0 && given(set, OptionId::ZealSeed) {
        let why = "which leaves no distances to choose";
        return no_effect(set, OptionId::ZealSeed, OptionId::ZealInterval, why);
    }
    if options.zero_tlab && given(set, OptionId::ZeroWindowSize) {
        return no_effect(
            set,
            OptionId::ZeroWindowSize,
            OptionId::ZeroTLAB,
            "which zeroes the buffer as a whole",
        );
    }
    Ok(())
}

/// The young generation.
fn check_generations(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    let (min, max, heap) = (options.new_size, options.max_new_size, options.max_heap_size);
    if max != 0 && min > max {
        return greater(set, OptionId::NewSize, OptionId::MaxNewSize);
    }
    for (id, size) in [(OptionId::NewSize, min), (OptionId::MaxNewSize, max)] {
        if heap != 0 && size >= heap {
            let message = format!(
                "{} leaves nothing of {} for what is old; lower the one or raise the other",
                shown(set, id),
                shown(set, OptionId::MaxHeapSize),
            );
            return conflict(&[id, OptionId::MaxHeapSize], message);
        }
    }
    // The default yields to a lower maximum, as HotSpot's does.
    if given(set, OptionId::InitialTenuringThreshold)
        && options.initial_tenuring_threshold > options.max_tenuring_threshold
    {
        return greater(set, OptionId::InitialTenuringThreshold, OptionId::MaxTenuringThreshold);
    }
    Ok(())
}

/// The sizes of buffers.
fn check_sizes(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    let (first, max, region) = (options.tlab_size, options.max_tlab_size, options.region_size);
    let min = options.min_tlab_size;
    for (id, size) in [(OptionId::TLABSize, first), (OptionId::MaxTLABSize, max)] {
        if size != 0 && size < min {
            return smaller(set, id, OptionId::MinTLABSize);
        }
    }
    if max != 0 && first > max {
        return greater(set, OptionId::TLABSize, OptionId::MaxTLABSize);
    }
    for (id, size) in [
        (OptionId::MinTLABSize, options.min_tlab_size),
        (OptionId::MaxTLABSize, max),
        (OptionId::YoungPLABSize, options.young_plab_size),
        (OptionId::OldPLABSize, options.old_plab_size),
    ] {
        if region != 0 && size > region {
            return greater(set, id, OptionId::RegionSize);
        }
    }
    Ok(())
}

/// Where buffers come from.
fn check_refills(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    if options.allocation_regions <= 1 {
        return Ok(());
    }
    if !options.use_tlab {
        return no_effect(
            set,
            OptionId::AllocationRegions,
            OptionId::UseTLAB,
            "where all threads bump one pointer",
        );
    }
    if options.refill_strategy == RefillStrategy::Lock {
        let why = "which has one region under the heap lock";
        return no_effect(set, OptionId::AllocationRegions, OptionId::RefillStrategy, why);
    }
    Ok(())
}

/// Whether somebody gave the option a value.
fn given(set: &OptionSet, id: OptionId) -> bool {
    matches!(set.origin(id), Origin::Given(_))
}

/// An option with its value and origin, as a user writes it.
fn shown(set: &OptionSet, id: OptionId) -> String {
    let (info, value) = (id.info(), set.values().text(id));
    let written = match info.kind {
        OptionKind::Switch(_) => format!("{}{}", if value == "true" { '+' } else { '-' }, info.name),
        _ => format!("{}={value}", info.name),
    };
    format!("{written} {{{}}}", set.origin(id))
}

/// The option `id` has no effect because of `cause`.
fn no_effect(set: &OptionSet, id: OptionId, cause: OptionId, why: &str) -> Result<(), OptionError> {
    let name = id.info().name;
    let message = format!(
        "{} has no effect with {}, {why}; leave it out, or take it back with {name}=default",
        shown(set, id),
        shown(set, cause),
    );
    conflict(&[id, cause], message)
}

/// The value of `id` is greater than that of `limit`, which is its upper bound.
fn greater(set: &OptionSet, id: OptionId, limit: OptionId) -> Result<(), OptionError> {
    let message =
        format!("{} is greater than {}; lower the one or raise the other", shown(set, id), shown(set, limit));
    conflict(&[id, limit], message)
}

/// The value of `id` is smaller than that of `limit`, which is its lower bound.
fn smaller(set: &OptionSet, id: OptionId, limit: OptionId) -> Result<(), OptionError> {
    let message =
        format!("{} is smaller than {}; raise the one or lower the other", shown(set, id), shown(set, limit));
    conflict(&[id, limit], message)
}

/// Values that conflict.
fn conflict(options: &[OptionId], message: String) -> Result<(), OptionError> {
    Err(OptionError::Conflict { options: options.iter().map(|id| id.info().name).collect(), message })
}
