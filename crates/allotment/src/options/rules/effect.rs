//! Options that another option leaves without effect.
//!
//! Each rule here covers one such pair of options. A rule must be true of the code that reads the
//! options: a refused option has no effect in any program. A bound that is not reached does not
//! count. Neither does an option that switches off something already off.

use super::conflict::no_effect;
use crate::options::choices::{CollectorKind, RefillStrategy, ShenandoahMode, TlabPolicy};
use crate::options::error::OptionError;
use crate::options::items::{OptionId, Options};
use crate::options::kinds::format_size;
use crate::options::set::OptionSet;
use crate::options::table::CAPACITY_FLOOR;

/// The options that only threads with their own buffers read.
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

/// The options that only prefetching generated code reads, beside the style.
pub(crate) const OF_PREFETCH: &[OptionId] = &[
    OptionId::AllocatePrefetchDistance,
    OptionId::AllocatePrefetchLines,
    OptionId::AllocateInstancePrefetchLines,
    OptionId::AllocatePrefetchStepSize,
    OptionId::AllocatePrefetchInstr,
];

/// The options that only buffers that grow between collections read.
const OF_GROWTH: &[OptionId] =
    &[OptionId::TLABElasticity, OptionId::TLABDecayTime, OptionId::TLABIdlePercent];

/// The options that only sizing by the share of a cycle's allocation reads.
const OF_SHARES: &[OptionId] = &[OptionId::TLABWasteTargetPercent, OptionId::TLABAllocationWeight];

/// The options that only heaps that collect read.
const OF_COLLECTIONS: &[OptionId] = &[
    OptionId::MinHeapFreeRatio,
    OptionId::UseGCOverheadLimit,
    OptionId::GCTimeLimit,
    OptionId::GCHeapFreeLimit,
    OptionId::ParallelGCThreads,
    OptionId::PrintGC,
    OptionId::PrintGCDetails,
    OptionId::GCLog,
    OptionId::GCLogFileSize,
    OptionId::NumberOfGCLogFiles,
    OptionId::Timeline,
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

/// The options that only heaps with generations read.
const OF_GENERATIONS: &[OptionId] = &[OptionId::InitialTenuringThreshold, OptionId::MaxTenuringThreshold];

/// The options that only the parallel collector reads.
const OF_PARALLEL: &[OptionId] = &[
    OptionId::NewSize,
    OptionId::MaxNewSize,
    OptionId::MaxGCPauseMillis,
    OptionId::GCTimeRatio,
    OptionId::CollectWhenIdle,
    OptionId::YoungPLABSize,
    OptionId::OldPLABSize,
];

/// The options that only cycles beside threads read: when they begin, and which threads do them.
const OF_TRIGGERS: &[OptionId] = &[
    OptionId::ConcGCThreads,
    OptionId::ShenandoahInitFreeThreshold,
    OptionId::ShenandoahLearningSteps,
    OptionId::ShenandoahAllocSpikeFactor,
    OptionId::ShenandoahGuaranteedGCInterval,
    OptionId::ZealCycles,
];

/// The options that only the collector with concurrent cycles reads, beside those.
const OF_CYCLES: &[OptionId] = &[
    OptionId::ShenandoahGCMode,
    OptionId::ShenandoahMinFreeThreshold,
    OptionId::ShenandoahGarbageThreshold,
    OptionId::ShenandoahIgnoreGarbageThreshold,
    OptionId::ShenandoahImmediateThreshold,
    OptionId::ShenandoahEvacReserve,
    OptionId::ShenandoahEvacWaste,
    OptionId::ShenandoahFullGCThreshold,
    OptionId::ShenandoahCriticalFreeThreshold,
    OptionId::ZealEvacuationFailure,
];

/// The options that only concurrent cycles with generations read.
const OF_OLD_CYCLES: &[OptionId] = &[
    OptionId::ShenandoahOldGarbageThreshold,
    OptionId::ShenandoahExpediteMixedThreshold,
    OptionId::ShenandoahOldEvacPercent,
    OptionId::ShenandoahOldEvacWaste,
];

/// Refuses given options that have no effect.
pub(super) fn check(set: &OptionSet) -> Result<(), OptionError> {
    check_buffers(set)?;
    check_sizing(set)?;
    check_prefetch(set)?;
    check_collector(set)?;
    check_log(set)?;
    check_capacity(set)?;
    check_generations(set)?;
    check_cycles(set)?;
    check_overhead(set)?;
    check_zeal(set)?;
    check_refills(set)
}

/// The first of `ids` that was given.
fn first_given(set: &OptionSet, ids: &[OptionId]) -> Option<OptionId> {
    ids.iter().copied().find(|id| set.is_given(*id))
}

/// Whether `policy` reads the option.
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

/// Options about buffers: whether there are buffers, and whether the policy reads the option.
fn check_buffers(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    if !options.use_tlab
        && let Some(id) = first_given(set, OF_BUFFERS)
    {
        return no_effect(set, id, OptionId::UseTLAB, "where no thread has a buffer");
    }
    for id in OF_BUFFERS.iter().copied().filter(|id| set.is_given(*id)) {
        if !looks_at(options.tlab_policy, id) {
            let users = TlabPolicy::ALL.iter().filter(|policy| looks_at(**policy, id));
            let users = users.map(|policy| policy.name()).collect::<Vec<_>>().join(", ");
            let why = format!("only these policies read it: {users}");
            return no_effect(set, id, OptionId::TLABPolicy, &why);
        }
    }
    if options.zero_tlab && set.is_given(OptionId::ZeroWindowSize) {
        let why = "which zeroes the buffer as a whole";
        return no_effect(set, OptionId::ZeroWindowSize, OptionId::ZeroTLAB, why);
    }
    Ok(())
}

/// Options that decide on sizes of buffers when there is nothing to decide.
fn check_sizing(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    if !options.resize_tlab
        && let Some(id) = first_given(set, OF_GROWTH)
    {
        return no_effect(set, id, OptionId::ResizeTLAB, "where buffers keep their size");
    }
    if let Some(id) = first_given(set, OF_SHARES) {
        let epsilon = options.tlab_policy == TlabPolicy::Epsilon;
        // This policy knows the first size without shares.
        let known = options.tlab_size != 0 || options.tlab_policy == TlabPolicy::Shenandoah8359947;
        if known && epsilon {
            let why = "which no cycle changes with TLABPolicy=epsilon";
            return no_effect(set, id, OptionId::TLABSize, why);
        }
        if known && !options.resize_tlab {
            return no_effect(set, id, OptionId::ResizeTLAB, "where buffers keep the size they begin with");
        }
    }
    if has_one_size(options)
        && let Some(id) = OF_GROWTH.iter().chain(OF_SHARES).copied().find(|id| set.is_given(*id))
    {
        return no_effect(set, id, OptionId::MaxTLABSize, "which is also the smallest buffer");
    }
    let same_size = !options.resize_tlab && options.tlab_size != 0 && set.is_given(OptionId::TLABSize);
    // These two policies have their own largest buffer.
    let own_max = matches!(options.tlab_policy, TlabPolicy::Shenandoah8359947 | TlabPolicy::Epsilon)
        && !(options.max_tlab_size != 0 && set.is_given(OptionId::MaxTLABSize));
    if same_size && !own_max && set.is_given(OptionId::TLABPolicy) {
        let why = "where buffers keep TLABSize under every policy";
        return no_effect(set, OptionId::TLABPolicy, OptionId::ResizeTLAB, why);
    }
    Ok(())
}

/// Whether the smallest buffer is the largest.
fn has_one_size(options: &Options) -> bool {
    // Adaptive buffers are never smaller than the first.
    let floor = match options.tlab_policy {
        TlabPolicy::Adaptive => options.tlab_size.max(options.min_tlab_size),
        _ => options.min_tlab_size,
    };
    floor == options.max_tlab_size
}

/// The prefetch of generated code.
fn check_prefetch(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    let style = OptionId::AllocatePrefetchStyle;
    if options.allocate_prefetch_style == 0
        && set.is_given(style)
        && let Some(id) = first_given(set, OF_PREFETCH)
    {
        return no_effect(set, id, style, "which prefetches nothing");
    }
    let distance = OptionId::AllocatePrefetchDistance;
    if options.allocate_prefetch_distance == 0 {
        let others = OF_PREFETCH.iter().copied().filter(|id| *id != distance);
        let style = (options.allocate_prefetch_style != 0).then_some(style);
        if let Some(id) = style.into_iter().chain(others).find(|id| set.is_given(*id)) {
            return no_effect(set, id, distance, "which prefetches nothing ahead");
        }
    }
    let one_line = options.allocate_prefetch_lines == 1 && options.allocate_instance_prefetch_lines == 1;
    // Style 3 rounds to the step.
    if one_line && options.allocate_prefetch_style != 3 && set.is_given(OptionId::AllocatePrefetchStepSize) {
        let (id, lines) = (OptionId::AllocatePrefetchStepSize, OptionId::AllocatePrefetchLines);
        return no_effect(set, id, lines, "where no object has a second line to step to");
    }
    Ok(())
}

/// Options about work that the collector does not do, and about printed output.
fn check_collector(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    if options.collector == CollectorKind::Epsilon
        && let Some(id) = first_given(set, OF_COLLECTIONS)
    {
        return no_effect(set, id, OptionId::Collector, "which never collects");
    }
    if options.collector != CollectorKind::Parallel
        && let Some(id) = first_given(set, OF_PARALLEL)
    {
        return no_effect(set, id, OptionId::Collector, "and only Collector=parallel reads it");
    }
    if options.print_gc_details && set.is_given(OptionId::PrintGC) {
        let why = "which prints the line of each collection, too";
        return no_effect(set, OptionId::PrintGC, OptionId::PrintGCDetails, why);
    }
    Ok(())
}

/// The log of collections, where there is nothing to write, or nothing to rotate.
fn check_log(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    let (log, size, files) = (OptionId::GCLog, OptionId::GCLogFileSize, OptionId::NumberOfGCLogFiles);
    if options.gc_log.as_os_str().is_empty() {
        return match first_given(set, &[size, files]) {
            Some(id) => no_effect(set, id, log, "so there is no file"),
            None => Ok(()),
        };
    }
    if set.is_given(OptionId::PrintGC) && !options.print_gc && !options.print_gc_details {
        return no_effect(set, log, OptionId::PrintGC, "which leaves no lines to write");
    }
    if options.number_of_gc_log_files == 0 && set.is_given(size) {
        return no_effect(set, size, files, "so the log is never renamed");
    }
    Ok(())
}

/// Options about the capacity when capacity and committed memory do not change.
fn check_capacity(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    let (initial, max) = (options.initial_heap_size, options.max_heap_size);
    let is_all = |bytes: usize| max != 0 && whole_regions(options, bytes) >= max;
    if initial != 0 && is_all(initial) {
        let follow = [OptionId::MinHeapFreeRatio, OptionId::UncommitDelay];
        if let Some(id) = first_given(set, &follow) {
            return no_effect(set, id, OptionId::InitialHeapSize, "which is all of MaxHeapSize and is kept");
        }
    }
    if initial == 0 && is_all(CAPACITY_FLOOR) && set.is_given(OptionId::MinHeapFreeRatio) {
        let why = format!("and {} may be in use in any case", format_size(CAPACITY_FLOOR));
        return no_effect(set, OptionId::MinHeapFreeRatio, OptionId::MaxHeapSize, &why);
    }
    Ok(())
}

/// Options about generations where there are none, or nothing to decide about them.
fn check_generations(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    let cause = match options.collector {
        CollectorKind::Parallel => None,
        CollectorKind::Shenandoah if options.shenandoah_gc_mode == ShenandoahMode::Generational => None,
        CollectorKind::Shenandoah => Some(OptionId::ShenandoahGCMode),
        CollectorKind::MarkCompact | CollectorKind::Epsilon => Some(OptionId::Collector),
    };
    if let Some(cause) = cause
        && let Some(id) = first_given(set, OF_GENERATIONS)
    {
        return no_effect(set, id, cause, "which has no generations");
    }
    let max = options.max_new_size;
    // The young generation has at least one region.
    if max != 0
        && whole_regions(options, options.new_size.max(1)) >= max
        && set.is_given(OptionId::GCTimeRatio)
    {
        let why = "which is also the smallest young generation";
        return no_effect(set, OptionId::GCTimeRatio, OptionId::MaxNewSize, why);
    }
    if options.max_tenuring_threshold == 0 && set.is_given(OptionId::YoungPLABSize) {
        let why = "so every object that survives becomes old";
        return no_effect(set, OptionId::YoungPLABSize, OptionId::MaxTenuringThreshold, why);
    }
    Ok(())
}

/// Options about concurrent cycles if there are none, or none for learning.
fn check_cycles(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    if options.collector != CollectorKind::Shenandoah {
        let mut ids = OF_CYCLES.iter().chain(OF_TRIGGERS).chain(OF_OLD_CYCLES).copied();
        return match ids.find(|id| set.is_given(*id)) {
            Some(id) => no_effect(set, id, OptionId::Collector, "which has no concurrent cycles"),
            None => Ok(()),
        };
    }
    if options.shenandoah_gc_mode == ShenandoahMode::Passive
        && let Some(id) = first_given(set, OF_TRIGGERS)
    {
        let why = "so every cycle runs in a stop, for an allocation";
        return no_effect(set, id, OptionId::ShenandoahGCMode, why);
    }
    if options.shenandoah_gc_mode != ShenandoahMode::Generational
        && let Some(id) = first_given(set, OF_OLD_CYCLES)
    {
        return no_effect(set, id, OptionId::ShenandoahGCMode, "which has no generations");
    }
    let (first, steps) = (OptionId::ShenandoahInitFreeThreshold, OptionId::ShenandoahLearningSteps);
    if options.shenandoah_learning_steps == 0 && set.is_given(first) {
        return no_effect(set, first, steps, "so no cycle is for learning");
    }
    Ok(())
}

/// Options of an overhead limit that no collection exceeds.
fn check_overhead(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    let (limit, time, free) =
        (OptionId::UseGCOverheadLimit, OptionId::GCTimeLimit, OptionId::GCHeapFreeLimit);
    if !options.use_gc_overhead_limit
        && let Some(id) = first_given(set, &[time, free])
    {
        return no_effect(set, id, limit, "so no collections are counted");
    }
    if options.gc_time_limit == 100 && set.is_given(free) {
        return no_effect(set, free, time, "a share that collections never exceed");
    }
    if options.gc_heap_free_limit == 0 && set.is_given(time) {
        return no_effect(set, time, free, "and every heap has that much free");
    }
    Ok(())
}

/// Options for a seed when there are no distances that it could change.
fn check_zeal(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    if options.zeal_interval <= 1 && options.zeal_seed != 0 && set.is_given(OptionId::ZealSeed) {
        let why = "which leaves no distances to choose";
        return no_effect(set, OptionId::ZealSeed, OptionId::ZealInterval, why);
    }
    Ok(())
}

/// Options about the source of buffers.
fn check_refills(set: &OptionSet) -> Result<(), OptionError> {
    let (options, id) = (set.values(), OptionId::AllocationRegions);
    if options.allocation_regions <= 1 {
        return Ok(());
    }
    if !options.use_tlab {
        return no_effect(set, id, OptionId::UseTLAB, "where all threads bump one pointer");
    }
    if options.refill_strategy == RefillStrategy::Lock {
        let why = "which has one region under the heap lock";
        return no_effect(set, id, OptionId::RefillStrategy, why);
    }
    Ok(())
}

/// `bytes` rounded up to regions, if their size is known.
fn whole_regions(options: &Options, bytes: usize) -> usize {
    bytes.next_multiple_of(options.region_size.max(1))
}
