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

/// The options that only threads with their own buffers read, beside those of the next three lists.
const OF_BUFFERS: &[OptionId] = &[
    OptionId::ResizeTLAB,
    OptionId::ZeroTLAB,
    OptionId::TLABSize,
    OptionId::MinTLABSize,
    OptionId::MaxTLABSize,
    OptionId::TLABPolicy,
    OptionId::TLABRefillWasteFraction,
    OptionId::TLABWasteIncrement,
    OptionId::ZeroWindowSize,
    OptionId::AllocatePrefetchStyle,
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
    OptionId::GCInterval,
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

/// The options that only cycles beside threads read: when they begin, and which threads do them
/// or pay for them.
const OF_TRIGGERS: &[OptionId] = &[
    OptionId::ConcGCThreads,
    OptionId::ShenandoahInitFreeThreshold,
    OptionId::ShenandoahLearningSteps,
    OptionId::ShenandoahAllocSpikeFactor,
    OptionId::ShenandoahGuaranteedGCInterval,
    OptionId::ShenandoahPacing,
    OptionId::ShenandoahPacingMaxDelay,
    OptionId::ShenandoahPacingCycleSlack,
    OptionId::ShenandoahPacingSurcharge,
    OptionId::ZealCycles,
];

/// The options that only pacing reads.
const OF_PACING: &[OptionId] = &[
    OptionId::ShenandoahPacingMaxDelay,
    OptionId::ShenandoahPacingCycleSlack,
    OptionId::ShenandoahPacingSurcharge,
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
    check_prefetch(set)?;
    check_collector(set)?;
    check_capacity(set)?;
    check_generations(set)?;
    check_cycles(set)?;
    check_overhead(set)?;
    check_rest(set)
}

/// Refuses the first of `ids` that was given, if `cause` leaves all of them without effect.
fn refuse(
    set: &OptionSet,
    has_no_effect: bool,
    ids: &[OptionId],
    cause: OptionId,
    why: &str,
) -> Result<(), OptionError> {
    match ids.iter().find(|id| set.is_given(**id)) {
        Some(id) if has_no_effect => no_effect(set, *id, cause, why),
        _ => Ok(()),
    }
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

/// Options about buffers and their sizes.
fn check_buffers(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    for ids in [OF_BUFFERS, OF_GROWTH, OF_SHARES, OF_PREFETCH] {
        refuse(set, !options.use_tlab, ids, OptionId::UseTLAB, "where no thread has a buffer")?;
    }
    let is_ignored = |id: &&OptionId| set.is_given(**id) && !looks_at(options.tlab_policy, **id);
    if let Some(&id) = OF_GROWTH.iter().chain(OF_SHARES).find(is_ignored) {
        let users = TlabPolicy::ALL.iter().filter(|policy| looks_at(**policy, id));
        let users = users.map(|policy| policy.name()).collect::<Vec<_>>().join(", ");
        return no_effect(set, id, OptionId::TLABPolicy, &format!("only these policies read it: {users}"));
    }
    let why = "which zeroes the buffer as a whole";
    refuse(set, options.zero_tlab, &[OptionId::ZeroWindowSize], OptionId::ZeroTLAB, why)?;
    refuse(set, !options.resize_tlab, OF_GROWTH, OptionId::ResizeTLAB, "where buffers keep their size")?;
    let (epsilon, shenandoah) = (TlabPolicy::Epsilon, TlabPolicy::Shenandoah8359947);
    // The second policy knows the first size without shares.
    let known = options.tlab_size != 0 || options.tlab_policy == shenandoah;
    let why = "which no cycle changes with TLABPolicy=epsilon";
    refuse(set, known && options.tlab_policy == epsilon, OF_SHARES, OptionId::TLABSize, why)?;
    let why = "where buffers keep the size they begin with";
    refuse(set, known && !options.resize_tlab, OF_SHARES, OptionId::ResizeTLAB, why)?;
    for ids in [OF_GROWTH, OF_SHARES] {
        let why = "which is also the smallest buffer";
        refuse(set, has_one_size(options), ids, OptionId::MaxTLABSize, why)?;
    }
    let same_size = !options.resize_tlab && options.tlab_size != 0 && set.is_given(OptionId::TLABSize);
    // These two policies have their own largest buffer.
    let own_max = [epsilon, shenandoah].contains(&options.tlab_policy)
        && !(options.max_tlab_size != 0 && set.is_given(OptionId::MaxTLABSize));
    let why = "where buffers keep TLABSize under every policy";
    refuse(set, same_size && !own_max, &[OptionId::TLABPolicy], OptionId::ResizeTLAB, why)
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
    let (style, distance) = (OptionId::AllocatePrefetchStyle, OptionId::AllocatePrefetchDistance);
    let off = options.allocate_prefetch_style == 0;
    refuse(set, off && set.is_given(style), OF_PREFETCH, style, "which prefetches nothing")?;
    let (nowhere, why) = (options.allocate_prefetch_distance == 0, "which prefetches nothing ahead");
    refuse(set, nowhere && !off, &[style], distance, why)?;
    // The distance is the first of them.
    refuse(set, nowhere, &OF_PREFETCH[1..], distance, why)?;
    let one_line = options.allocate_prefetch_lines == 1 && options.allocate_instance_prefetch_lines == 1;
    // Style 3 rounds to the step.
    let steps = !one_line || options.allocate_prefetch_style == 3;
    let (step, lines) = (OptionId::AllocatePrefetchStepSize, OptionId::AllocatePrefetchLines);
    refuse(set, !steps, &[step], lines, "where no object has a second line to step to")
}

/// Options about work that the collector does not do, and about printed output.
fn check_collector(set: &OptionSet) -> Result<(), OptionError> {
    let (options, collector) = (set.values(), OptionId::Collector);
    let is = |kind| options.collector == kind;
    refuse(set, is(CollectorKind::Epsilon), OF_COLLECTIONS, collector, "which never collects")?;
    let why = "and only Collector=parallel reads it";
    refuse(set, !is(CollectorKind::Parallel), OF_PARALLEL, collector, why)?;
    let why = "which prints the line of each collection, too";
    refuse(set, options.print_gc_details, &[OptionId::PrintGC], OptionId::PrintGCDetails, why)?;
    let (log, size, files) = (OptionId::GCLog, OptionId::GCLogFileSize, OptionId::NumberOfGCLogFiles);
    let has_no_log = options.gc_log.as_os_str().is_empty();
    refuse(set, has_no_log, &[size, files], log, "so there is no file")?;
    let silent = set.is_given(OptionId::PrintGC) && !options.print_gc && !options.print_gc_details;
    refuse(set, !has_no_log && silent, &[log], OptionId::PrintGC, "which leaves no lines to write")?;
    refuse(set, options.number_of_gc_log_files == 0, &[size], files, "so the log is never renamed")
}

/// Options about the capacity when capacity and committed memory do not change.
fn check_capacity(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    let (initial, max) = (options.initial_heap_size, options.max_heap_size);
    let is_all = |bytes: usize| max != 0 && whole_regions(options, bytes) >= max;
    let follow = [OptionId::MinHeapFreeRatio, OptionId::UncommitDelay];
    let why = "which is all of MaxHeapSize and is kept";
    refuse(set, initial != 0 && is_all(initial), &follow, OptionId::InitialHeapSize, why)?;
    let why = format!("and {} may be in use in any case", format_size(CAPACITY_FLOOR));
    let in_use = initial == 0 && is_all(CAPACITY_FLOOR);
    refuse(set, in_use, &[OptionId::MinHeapFreeRatio], OptionId::MaxHeapSize, &why)
}

/// Options about generations where there are none, or nothing to decide about them.
fn check_generations(set: &OptionSet) -> Result<(), OptionError> {
    let (options, why) = (set.values(), "which has no generations");
    let in_cycles = options.collector == CollectorKind::Shenandoah;
    let young_only = options.shenandoah_gc_mode != ShenandoahMode::Generational;
    refuse(set, in_cycles && young_only, OF_GENERATIONS, OptionId::ShenandoahGCMode, why)?;
    let has_none = !in_cycles && options.collector != CollectorKind::Parallel;
    refuse(set, has_none, OF_GENERATIONS, OptionId::Collector, why)?;
    // The young generation has at least one region.
    let least = whole_regions(options, options.new_size.max(1));
    let fixed = options.max_new_size != 0 && least >= options.max_new_size;
    let why = "which is also the smallest young generation";
    refuse(set, fixed, &[OptionId::GCTimeRatio], OptionId::MaxNewSize, why)?;
    let (buffer, age) = (OptionId::YoungPLABSize, OptionId::MaxTenuringThreshold);
    let why = "so every object that survives becomes old";
    refuse(set, options.max_tenuring_threshold == 0, &[buffer], age, why)
}

/// Options about concurrent cycles if there are none, or none for learning, or no pacing.
fn check_cycles(set: &OptionSet) -> Result<(), OptionError> {
    let (options, mode) = (set.values(), OptionId::ShenandoahGCMode);
    let has_none = options.collector != CollectorKind::Shenandoah;
    for ids in [OF_CYCLES, OF_TRIGGERS, OF_OLD_CYCLES] {
        refuse(set, has_none, ids, OptionId::Collector, "which has no concurrent cycles")?;
    }
    let is = |mode| options.shenandoah_gc_mode == mode;
    let why = "so every cycle runs in a stop, for an allocation";
    refuse(set, is(ShenandoahMode::Passive), OF_TRIGGERS, mode, why)?;
    refuse(set, !is(ShenandoahMode::Generational), OF_OLD_CYCLES, mode, "which has no generations")?;
    let (paced, why) = (options.shenandoah_pacing, "so no thread pays");
    refuse(set, !paced, OF_PACING, OptionId::ShenandoahPacing, why)?;
    let (first, steps) = (OptionId::ShenandoahInitFreeThreshold, OptionId::ShenandoahLearningSteps);
    refuse(set, options.shenandoah_learning_steps == 0, &[first], steps, "so no cycle is for learning")
}

/// Options of an overhead limit that no collection exceeds.
fn check_overhead(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    let (limit, time, free) =
        (OptionId::UseGCOverheadLimit, OptionId::GCTimeLimit, OptionId::GCHeapFreeLimit);
    refuse(set, !options.use_gc_overhead_limit, &[time, free], limit, "so no collections are counted")?;
    refuse(set, options.gc_time_limit == 100, &[free], time, "a share that collections never exceed")?;
    refuse(set, options.gc_heap_free_limit == 0, &[time], free, "and every heap has that much free")
}

/// The seed of distances that are all the same, and the source of buffers.
fn check_rest(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    let unused = options.zeal_interval <= 1 && options.zeal_seed != 0;
    let why = "which leaves no distances to choose";
    refuse(set, unused, &[OptionId::ZealSeed], OptionId::ZealInterval, why)?;
    let (several, regions) = (options.allocation_regions > 1, &[OptionId::AllocationRegions]);
    let why = "where all threads bump one pointer";
    refuse(set, several && !options.use_tlab, regions, OptionId::UseTLAB, why)?;
    let locked = several && options.refill_strategy == RefillStrategy::Lock;
    refuse(set, locked, regions, OptionId::RefillStrategy, "which has one region under the heap lock")
}

/// `bytes` rounded up to regions, if their size is known.
fn whole_regions(options: &Options, bytes: usize) -> usize {
    bytes.next_multiple_of(options.region_size.max(1))
}
