//! The table of options.
//!
//! One row describes an option completely: its name, field, type, default, limits, one line of text
//! and HotSpot's counterpart. The rows generate [`Options`](super::Options) and its companions
//! (`items.rs`), the setters of [`OptionSet`](super::OptionSet) and of the heap's builder, the
//! readers and the manual. So an option cannot exist in one of them and be missing in another.
//!
//! Refused: a derive macro on `Options`. It would need its own crate, to write the rows as
//! attributes.

use super::kinds::MIB;

/// The largest number that HotSpot's counts take.
pub(super) const MAX_COUNT: usize = i32::MAX as usize;

/// The largest `AllocatePrefetchDistance`, in bytes.
pub(crate) const MAX_PREFETCH_DISTANCE: usize = 512;
/// The most `AllocatePrefetchLines`.
pub(crate) const MAX_PREFETCH_LINES: usize = 64;
/// The largest `AllocatePrefetchStepSize`, in bytes.
pub(crate) const MAX_PREFETCH_STEP: usize = 512;

/// The bytes that a heap may use before its first full collection, and its least capacity later, if
/// InitialHeapSize is 0.
pub(crate) const CAPACITY_FLOOR: usize = 64 * MIB;

/// Invokes the macro `$callback` with the rows of the option table.
///
/// A row matches the pattern below; `$type` must be in scope. A builder makes its methods with it:
///
/// ```ignore
/// macro_rules! methods {
///     ($($(#[doc = $text:literal])+
///         $name:ident, $field:ident: $type:ty = $default:expr, $limits:expr,
///         [$($hotspot:literal),*] $difference:literal;)+) => {
///         impl HeapBuilder {
///             $($(#[doc = $text])+
///             pub fn $field(mut self, value: $type) -> Self {
///                 self.options.$field(value);
///                 self
///             })+
///         }
///     };
/// }
/// for_each_option!(methods);
/// ```
macro_rules! for_each_option {
    ($callback:ident) => {
        $callback! {
            /// Most bytes the heap may reserve; 0: MaxRAMPercentage of the memory.
            MaxHeapSize, max_heap_size: usize = 0, Size::zero_or(2560 * KIB, 32 * TIB),
                ["MaxHeapSize"] "also written -Xmx there.";
            /// Bytes committed when the heap is made; 0: none before they are used.
            InitialHeapSize, initial_heap_size: usize = 0, Size::between(0, 32 * TIB),
                ["InitialHeapSize"] "0 is 1/64 of the memory there; also written -Xms.";
            /// Percentage of the memory, or of the cgroup's limit on it, that MaxHeapSize=0 stands
            /// for.
            MaxRAMPercentage, max_ram_percentage: f64 = 25.0, Real { min: 0.01, max: 100.0 },
                ["MaxRAMPercentage"] "";
            /// Bytes of a region of the heap; 0: MaxHeapSize/2048 as a power of two.
            RegionSize, region_size: usize = 0, Size::zero_or(256 * KIB, 32 * MIB).power_of_two(),
                ["ShenandoahRegionSize", "G1HeapRegionSize"] "";
            /// Touches pages when they are committed, not when they are first used.
            AlwaysPreTouch, always_pre_touch: bool = false, Switch,
                ["AlwaysPreTouch"] "of tables here the live map, for InitialHeapSize.";
            /// Asks the kernel for huge pages by madvise.
            UseTransparentHugePages, use_transparent_huge_pages: bool = true, Switch,
                ["UseTransparentHugePages"] "off by default there.";
            /// Milliseconds a region is free before its memory goes back to the system.
            UncommitDelay, uncommit_delay: u64 = 300_000, Milliseconds { min: 0, max: MAX_COUNT as u64 },
                ["ShenandoahUncommitDelay"] "";
            /// Milliseconds without a collection after which the heap collects all garbage; 0:
            /// never.
            GCInterval, gc_interval: u64 = 0, Milliseconds { min: 0, max: MAX_COUNT as u64 },
                ["G1PeriodicGCInterval"] "ShenandoahGuaranteedGCInterval works without a load there, too.";
            /// Gives each thread a buffer (TLAB); if off, all threads bump one pointer.
            UseTLAB, use_tlab: bool = true, Switch,
                ["UseTLAB"] "";
            /// Lets buffers change size; if off, a thread's buffers are as large as its first.
            ResizeTLAB, resize_tlab: bool = true, Switch,
                ["ResizeTLAB"] "sizes change at collections there; adaptive and epsilon grow between them.";
            /// Zeroes a buffer when a thread takes it, not ZeroWindowSize bytes at a time.
            ZeroTLAB, zero_tlab: bool = false, Switch,
                ["ZeroTLAB"] "the alternative there is to zero each object.";
            /// Bytes of a thread's first buffer (adaptive: 16k, and of its smallest); 0: TLABPolicy
            /// chooses.
            TLABSize, tlab_size: usize = 0, Size::zero_or(64, GIB).multiple_of(8),
                ["TLABSize"] "";
            /// Fewest bytes of a buffer, where a region has no more.
            MinTLABSize, min_tlab_size: usize = 2 * KIB, Size::between(64, 32 * MIB).multiple_of(8),
                ["MinTLABSize"] "";
            /// Most bytes of a buffer; 0: TLABPolicy chooses, at most a region.
            MaxTLABSize, max_tlab_size: usize = 0, Size::zero_or(64, 32 * MIB).multiple_of(8),
                ["EpsilonMaxTLABSize"] "only Epsilon has it, 4m by default.";
            /// How a thread's next buffer is sized.
            TLABPolicy, tlab_policy: TlabPolicy = TlabPolicy::Adaptive, Choice { names: TlabPolicy::NAMES },
                [] "the policy comes with the release and the collector there.";
            /// Percentage of the memory to allocate from that half-full buffers may waste in a
            /// cycle.
            TLABWasteTargetPercent, tlab_waste_target_percent: usize = 1, Count { min: 1, max: 100 },
                ["TLABWasteTargetPercent"] "";
            /// A buffer that cannot be lengthened in place is kept if more than 1/this of it is
            /// free.
            TLABRefillWasteFraction, tlab_refill_waste_fraction: usize = 64, Count { min: 1, max: MAX_COUNT },
                ["TLABRefillWasteFraction"] "asked at every refill: no buffer grows in place.";
            /// Words (8 bytes) that each allocation outside a kept buffer adds to what may be
            /// dropped.
            TLABWasteIncrement, tlab_waste_increment: usize = 4, Count { min: 0, max: MAX_COUNT },
                ["TLABWasteIncrement"] "";
            /// Percentage that the newest cycle weighs in the averages that size buffers.
            TLABAllocationWeight, tlab_allocation_weight: usize = 35, Count { min: 0, max: 100 },
                ["TLABAllocationWeight"] "Shenandoah sets 90; since JDK-8359947 not if generational.";
            /// Factor by which a thread's buffer may grow at a refill (TLABPolicy=epsilon).
            TLABElasticity, tlab_elasticity: f64 = 1.1, Real { min: 1.0, max: f64::MAX },
                ["EpsilonTLABElasticity"] "";
            /// Milliseconds without a refill after which a thread's buffers shrink (adaptive,
            /// epsilon).
            TLABDecayTime, tlab_decay_time: u64 = 1000, Milliseconds { min: 1, max: MAX_COUNT as u64 },
                ["EpsilonTLABDecayTime"] "buffers fall to their minimum at once there.";
            /// Percentage of eden, or of the heap, that buffers may hold above their least size
            /// (adaptive).
            TLABIdlePercent, tlab_idle_percent: f64 = 5.0, Real { min: 0.1, max: 50.0 },
                [] "idle buffers have no bound there.";
            /// Bytes of a buffer that are zeroed at a time, ahead of allocation.
            ZeroWindowSize, zero_window_size: usize = 8 * KIB, Size::between(64, MIB).multiple_of(8),
                [] "each object is zeroed by itself there, or the buffer by ZeroTLAB.";
            /// When allocations in generated code prefetch: 0 never, 1 always, 2 by a watermark, 3
            /// whole lines.
            AllocatePrefetchStyle, allocate_prefetch_style: usize = 1, Count { min: 0, max: 3 },
                ["AllocatePrefetchStyle"] "the default is 0 on AMD's Zen here, 1 there.";
            /// Bytes ahead of the new top that allocations in generated code prefetch.
            AllocatePrefetchDistance, allocate_prefetch_distance: usize = 256,
                Size::between(0, MAX_PREFETCH_DISTANCE),
                ["AllocatePrefetchDistance"] "192 by default on Intel's there.";
            /// Lines that an array's allocation prefetches; 0: as many as the array has, at most 3.
            AllocatePrefetchLines, allocate_prefetch_lines: usize = 0,
                Count { min: 0, max: MAX_PREFETCH_LINES },
                ["AllocatePrefetchLines"] "3 or 4 by default there, and no 0.";
            /// Lines that other objects' allocations prefetch; 0: as many as the object has, at
            /// most 3.
            AllocateInstancePrefetchLines, allocate_instance_prefetch_lines: usize = 0,
                Count { min: 0, max: MAX_PREFETCH_LINES },
                ["AllocateInstancePrefetchLines"] "1 by default there, and no 0.";
            /// Bytes from one prefetched line to the next; style 3: a power of two.
            AllocatePrefetchStepSize, allocate_prefetch_step_size: usize = 64,
                Size::between(1, MAX_PREFETCH_STEP),
                ["AllocatePrefetchStepSize"] "";
            /// The prefetch instruction: 0 PREFETCHNTA, 1 PREFETCHT0, 2 PREFETCHT2, 3 PREFETCHW.
            AllocatePrefetchInstr, allocate_prefetch_instr: usize = 3, Count { min: 0, max: 3 },
                ["AllocatePrefetchInstr"] "0 by default on AMD's there.";
            /// How a thread takes memory from a region.
            RefillStrategy, refill_strategy: RefillStrategy = RefillStrategy::Cas,
                Choice { names: RefillStrategy::NAMES },
                [] "the strategy comes with the collector there.";
            /// Regions that threads take memory from at once, at most one per CPU; 0: one per CPU.
            AllocationRegions, allocation_regions: usize = 0, Count { min: 0, max: 1024 },
                ["ShenandoahMutatorAllocRegionCount"] "";
            /// Milliseconds after which a thread that keeps a stop of the world waiting is named;
            /// 0: never.
            SafepointTimeoutDelay, safepoint_timeout_delay: u64 = 10_000,
                Milliseconds { min: 0, max: MAX_COUNT as u64 },
                ["SafepointTimeoutDelay"] "without effect there unless SafepointTimeout is on.";
            /// The collector: the action when the heap is full.
            Collector, collector: CollectorKind = CollectorKind::Parallel,
                Choice { names: CollectorKind::NAMES },
                [] "a switch for each collector there: UseSerialGC, UseEpsilonGC.";
            /// Most threads that collect at once; 0: the heap chooses by the number of CPUs.
            ParallelGCThreads, parallel_gc_threads: usize = 0, Count { min: 0, max: 1024 },
                ["ParallelGCThreads"] "";
            /// Percentage of the heap that is free after a collection, before more of MaxHeapSize
            /// is used.
            MinHeapFreeRatio, min_heap_free_ratio: usize = 50, Count { min: 0, max: 95 },
                ["MinHeapFreeRatio"] "40 there.";
            /// Fewest bytes of the young generation, if they are free; 0: the heap chooses.
            NewSize, new_size: usize = 0, Size::zero_or(256 * KIB, 32 * TIB),
                ["NewSize"] "0 is a third of InitialHeapSize there, by NewRatio.";
            /// Most bytes of the young generation; 0: the heap chooses.
            MaxNewSize, max_new_size: usize = 0, Size::zero_or(256 * KIB, 32 * TIB),
                ["MaxNewSize"] "a third of the heap there, by NewRatio.";
            /// Young collections that an object survives before it becomes old, at first.
            InitialTenuringThreshold, initial_tenuring_threshold: usize = 7, Count { min: 0, max: 15 },
                ["InitialTenuringThreshold"] "";
            /// Young collections that an object survives before it becomes old, at most; 0: none.
            MaxTenuringThreshold, max_tenuring_threshold: usize = 15, Count { min: 0, max: 15 },
                ["MaxTenuringThreshold"] "";
            /// Milliseconds that a young collection should not exceed; 0: no goal.
            MaxGCPauseMillis, max_gc_pause_millis: u64 = 0, Milliseconds { min: 0, max: MAX_COUNT as u64 },
                ["MaxGCPauseMillis"] "there the largest number means no goal.";
            /// Time of the program for each time in young collections: N is a share of 1/(1+N).
            GCTimeRatio, gc_time_ratio: usize = 24, Count { min: 0, max: MAX_COUNT },
                ["GCTimeRatio"] "99 there, of the parallel collector; 12 of G1.";
            /// Lets allocations fail when collections take nearly all of the time and free nearly
            /// nothing.
            UseGCOverheadLimit, use_gc_overhead_limit: bool = true, Switch,
                ["UseGCOverheadLimit"] "";
            /// Percentage of the time that collections take, above which UseGCOverheadLimit counts
            /// them.
            GCTimeLimit, gc_time_limit: usize = 98, Count { min: 0, max: 100 },
                ["GCTimeLimit"] "an average there.";
            /// Percentage of MaxHeapSize that is free, below which UseGCOverheadLimit counts full
            /// collections.
            GCHeapFreeLimit, gc_heap_free_limit: usize = 2, Count { min: 0, max: 100 },
                ["GCHeapFreeLimit"] "of each generation's space there.";
            /// Collects young objects when eden is nearly full and all threads are in `blocking`.
            CollectWhenIdle, collect_when_idle: bool = true, Switch,
                [] "G1PeriodicGCInterval is the nearest there.";
            /// Bytes of the largest buffer that a worker copies young objects to (PLAB).
            YoungPLABSize, young_plab_size: usize = 256 * KIB, Size::between(KIB, 32 * MIB).multiple_of(8),
                ["YoungPLABSize"] "in words there, 4096, and all are as large.";
            /// Bytes of the largest buffer that a worker copies old objects to (PLAB).
            OldPLABSize, old_plab_size: usize = 64 * KIB, Size::between(KIB, 32 * MIB).multiple_of(8),
                ["OldPLABSize"] "in words there, 1024, and all are as large.";
            /// When the cycles of Collector=shenandoah run.
            ShenandoahGCMode, shenandoah_gc_mode: ShenandoahMode = ShenandoahMode::Satb,
                Choice { names: ShenandoahMode::NAMES },
                ["ShenandoahGCMode"] "";
            /// Threads that collect while the program runs; 0: a quarter of ParallelGCThreads, at
            /// least 1.
            ConcGCThreads, conc_gc_threads: usize = 0, Count { min: 0, max: 1024 },
                ["ConcGCThreads"] "a quarter of the CPUs there.";
            /// Percentage that is free of what MinHeapFreeRatio allows, below which a cycle begins.
            ShenandoahMinFreeThreshold, shenandoah_min_free_threshold: usize = 10, Count { min: 0, max: 100 },
                ["ShenandoahMinFreeThreshold"] "";
            /// ShenandoahMinFreeThreshold for the first cycles, which learn.
            ShenandoahInitFreeThreshold, shenandoah_init_free_threshold: usize = 70,
                Count { min: 0, max: 100 },
                ["ShenandoahInitFreeThreshold"] "";
            /// Cycles that begin by ShenandoahInitFreeThreshold, to learn how long a cycle takes.
            ShenandoahLearningSteps, shenandoah_learning_steps: usize = 5, Count { min: 0, max: 100 },
                ["ShenandoahLearningSteps"] "";
            /// Percentage of what MinHeapFreeRatio allows that is kept for bursts of allocation.
            ShenandoahAllocSpikeFactor, shenandoah_alloc_spike_factor: usize = 5, Count { min: 0, max: 100 },
                ["ShenandoahAllocSpikeFactor"] "";
            /// Milliseconds after a cycle until the next begins in any case; 0: never.
            ShenandoahGuaranteedGCInterval, shenandoah_guaranteed_gc_interval: u64 = 300_000,
                Milliseconds { min: 0, max: MAX_COUNT as u64 },
                ["ShenandoahGuaranteedGCInterval"] "";
            /// Lets threads pay with work or time for memory that they take while a cycle runs.
            ShenandoahPacing, shenandoah_pacing: bool = true, Switch,
                ["ShenandoahPacing"] "up to JDK 25; threads only wait there.";
            /// Most milliseconds that a thread waits at once for the work of a cycle; 0: it never
            /// waits.
            ShenandoahPacingMaxDelay, shenandoah_pacing_max_delay: u64 = 10,
                Milliseconds { min: 0, max: MAX_COUNT as u64 },
                ["ShenandoahPacingMaxDelay"] "up to JDK 25.";
            /// Percentage of the free memory that threads take without paying, in each step.
            ShenandoahPacingCycleSlack, shenandoah_pacing_cycle_slack: usize = 10, Count { min: 0, max: 100 },
                ["ShenandoahPacingCycleSlack"] "up to JDK 25; in each cycle there.";
            /// Factor by which threads pay more than the step of the cycle is expected to need.
            ShenandoahPacingSurcharge, shenandoah_pacing_surcharge: f64 = 1.1, Real { min: 1.0, max: 100.0 },
                ["ShenandoahPacingSurcharge"] "up to JDK 25.";
            /// Percentage of a region that is garbage, above which its objects are moved.
            ShenandoahGarbageThreshold, shenandoah_garbage_threshold: usize = 25, Count { min: 0, max: 100 },
                ["ShenandoahGarbageThreshold"] "";
            /// Percentage of a region that is garbage, below which the region never moves.
            ShenandoahIgnoreGarbageThreshold, shenandoah_ignore_garbage_threshold: usize = 5,
                Count { min: 0, max: 100 },
                ["ShenandoahIgnoreGarbageThreshold"] "";
            /// Percentage of the garbage in regions without live objects, from which on nothing
            /// moves.
            ShenandoahImmediateThreshold, shenandoah_immediate_threshold: usize = 70,
                Count { min: 0, max: 100 },
                ["ShenandoahImmediateThreshold"] "above which nothing moves there.";
            /// Percentage of the heap that is kept free for copies.
            ShenandoahEvacReserve, shenandoah_evac_reserve: usize = 5, Count { min: 1, max: 100 },
                ["ShenandoahEvacReserve"] "";
            /// Memory that copies may need for each byte of live objects.
            ShenandoahEvacWaste, shenandoah_evac_waste: f64 = 1.2, Real { min: 1.0, max: 100.0 },
                ["ShenandoahEvacWaste"] "";
            /// Percentage of an old region that is garbage, from which on its objects are moved.
            ShenandoahOldGarbageThreshold, shenandoah_old_garbage_threshold: usize = 25,
                Count { min: 1, max: 100 },
                ["ShenandoahOldGarbageThreshold"] "";
            /// Old regions that are worth a move, above which a cycle begins for them.
            ShenandoahExpediteMixedThreshold, shenandoah_expedite_mixed_threshold: usize = 10,
                Count { min: 0, max: MAX_COUNT },
                ["ShenandoahExpediteMixedThreshold"] "";
            /// Percentage of the memory for copies that those of old objects may take, at most.
            ShenandoahOldEvacPercent, shenandoah_old_evac_percent: usize = 75, Count { min: 0, max: 100 },
                ["ShenandoahOldEvacPercent"] "ShenandoahOldEvacRatioPercent up to JDK 25.";
            /// Memory that copies of old objects may need for each byte of live ones.
            ShenandoahOldEvacWaste, shenandoah_old_evac_waste: f64 = 1.4, Real { min: 1.0, max: 100.0 },
                ["ShenandoahOldEvacWaste"] "";
            /// Degenerated cycles in a row before a full collection.
            ShenandoahFullGCThreshold, shenandoah_full_gc_threshold: usize = 3,
                Count { min: 0, max: MAX_COUNT },
                ["ShenandoahFullGCThreshold"] "";
            /// Percentage of the heap that a degenerated cycle has to leave free, or a full
            /// collection follows.
            ShenandoahCriticalFreeThreshold, shenandoah_critical_free_threshold: usize = 1,
                Count { min: 0, max: 100 },
                ["ShenandoahCriticalFreeThreshold"] "";
            /// Mean bytes from one allocation sample to the next; 0: none, or 512k with
            /// AllocationProfile.
            AllocationSampleInterval, allocation_sample_interval: usize = 0, Size::zero_or(16, TIB),
                [] "JVMTI's SetHeapSamplingInterval there.";
            /// The file for a profile of allocation samples, written when the heap ends.
            AllocationProfile, allocation_profile: PathBuf = PathBuf::new(), Path,
                [] "profiles are written by agents and by JFR there.";
            /// Most bytes that allocation samples may take; samples beyond them are dropped and
            /// counted.
            AllocationSampleMemory, allocation_sample_memory: usize = 16 * MIB, Size::between(64 * KIB, TIB),
                [] "samples go to the agent there.";
            /// Prints a line for each collection on standard error, or to GCLog; GCLog turns it on.
            PrintGC, print_gc: bool = false, Switch,
                ["PrintGC"] "-Xlog:gc in later releases.";
            /// Prints what each collection did in detail: phases, ages, cards, workers, decisions.
            PrintGCDetails, print_gc_details: bool = false, Switch,
                ["PrintGCDetails"] "-Xlog:gc* in later releases.";
            /// The file that the lines of PrintGC or PrintGCDetails go to.
            GCLog, gc_log: PathBuf = PathBuf::new(), Path,
                [] "-Xloggc there, -Xlog:gc:file= in later releases.";
            /// Bytes of GCLog after which it gets a number and a new file begins; 0: no limit.
            GCLogFileSize, gc_log_file_size: usize = 20 * MIB, Size::zero_or(4 * KIB, TIB),
                ["GCLogFileSize"] "filesize of -Xlog in later releases.";
            /// Number of numbered files that are kept; 0: none, lines are appended to GCLog.
            NumberOfGCLogFiles, number_of_gc_log_files: usize = 5, Count { min: 0, max: 1000 },
                ["NumberOfGCLogFiles"] "filecount of -Xlog in later releases, where 0 empties the file.";
            /// The file that shows what collections did when, in Chrome's trace format; Perfetto
            /// opens it.
            Timeline, timeline: PathBuf = PathBuf::new(), Path,
                [] "JFR and -Xlog:gc* have this data there.";
            /// Directory for a snapshot when the heap first has no room for an allocation.
            SnapshotOnOutOfMemory, snapshot_on_out_of_memory: PathBuf = PathBuf::new(), Path,
                ["HeapDumpOnOutOfMemoryError", "HeapDumpPath"] "a switch and a path there, and HPROF.";
            /// Listens for other processes of the same user, which ask the heap by `allotment ask`.
            StartAttachListener, start_attach_listener: bool = false, Switch,
                ["StartAttachListener"] "without it, a signal starts the listener there.";
            /// Checks the whole heap before each collection; ends the process if it is broken.
            VerifyBeforeGC, verify_before_gc: bool = false, Switch,
                ["VerifyBeforeGC"] "";
            /// Checks the whole heap after each collection; ends the process if it is broken.
            VerifyAfterGC, verify_after_gc: bool = false, Switch,
                ["VerifyAfterGC"] "";
            /// What checks cover: 1 regions and objects, 2 also strong references, 3 also weak,
            /// freed memory.
            VerifyGCLevel, verify_gc_level: usize = 3, Count { min: 1, max: 3 },
                ["VerifyGCLevel"] "the number of the generation there.";
            /// Collects at every Nth allocation of a thread, to test programs; 0: only when it is
            /// needed.
            ZealInterval, zeal_interval: usize = 0, Count { min: 0, max: MAX_COUNT },
                ["ScavengeALotInterval", "FullGCALotInterval"] "for builds with assertions there.";
            /// Makes ZealInterval a mean, and the distances random from this seed; 0: each is the
            /// same.
            ZealSeed, zeal_seed: usize = 0, Count { min: 0, max: MAX_COUNT },
                [] "none is similar.";
            /// The allocation of each thread for which there is no memory, to test programs; 0:
            /// none.
            ZealOutOfMemory, zeal_out_of_memory: usize = 0, Count { min: 0, max: MAX_COUNT },
                [] "none is similar.";
            /// Moves all that is not pinned at each collection; humongous objects at full ones.
            ZealMove, zeal_move: bool = false, Switch,
                [] "none is similar.";
            /// The copies of a concurrent cycle for which there is no memory: each Nth; 0: none.
            ZealEvacuationFailure, zeal_evacuation_failure: usize = 0, Count { min: 0, max: MAX_COUNT },
                [] "none is similar.";
            /// Has threads help in each concurrent cycle, and marks old objects whenever there are
            /// any.
            ZealCycles, zeal_cycles: bool = false, Switch,
                [] "none is similar.";
            /// Fills freed memory with a pattern, which checks of the heap expect.
            ZealPoison, zeal_poison: bool = false, Switch,
                ["ZapUnusedHeapArea"] "for builds with assertions there.";
            /// Makes freed regions inaccessible until they are used again.
            ZealProtect, zeal_protect: bool = false, Switch,
                [] "ZUnmapBadViews is the nearest there.";
            /// Collections that pass before a freed region is used again, unless the heap is full.
            ZealQuarantine, zeal_quarantine: usize = 0, Count { min: 0, max: MAX_COUNT },
                [] "none is similar.";
        }
    };
}
pub(crate) use for_each_option;
