//! Puts the parts of a heap together, from chosen options.
//!
//! This is the only module that knows all layers. It translates the options into the terms of each
//! layer, so that no layer reads the option table itself.

use super::choose::Chosen;
use super::hooks::Hooks;
use super::outputs::Outputs;
use super::{BuildError, Heap};
use crate::collector::shenandoah::Failures;
use crate::collector::shenandoah::choose::ChooseSettings;
use crate::collector::shenandoah::tenuring::Tenuring;
use crate::collector::shenandoah::trigger::TriggerSettings;
use crate::collector::verify::{Checks, Level};
use crate::collector::work::Gang;
use crate::collector::{
    Epsilon, History, MarkCompact, Overhead, Pages, Parallel, ParallelParts, Print, Settings, Shenandoah,
    ShenandoahParts, sizing,
};
use crate::mutator::{
    Collector, HERE, Late, Policy, Registry, Sampler, Shared, Threads, Watch, ZealSchedule, hot_bytes,
};
use crate::options::{CollectorKind, Options, RefillStrategy, ShenandoahMode};
use crate::platform::topology::Topology;
use crate::platform::{Clock, MemoryError, ProcessMark, Processor, Reservation, huge_page_size};
use crate::region::{CardTable, Committer, Disposal, FreeSet, Geometry, RefillMode, RegionTable, Space};
use crate::timeline::Timeline;
use crate::tlab::budget::Budget;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Makes the heap of these options; its memory bears that name. It writes no files when it ends, until
/// [`Heap::writing_at_end`].
pub(super) fn assemble(
    chosen: Chosen,
    topology: Topology,
    name: &str,
    hooks: Hooks,
    outputs: &mut Outputs,
) -> Result<Heap, BuildError> {
    let Chosen { set, geometry, sizing } = chosen;
    let options = set.values();
    let reservation = reserve(options, geometry, name)?;
    if options.always_pre_touch && options.initial_heap_size > 0 {
        // All cores touch the memory at once. Each region counts as touched afterwards.
        let bytes = options.initial_heap_size.next_multiple_of(geometry.region_bytes());
        reservation.pretouch(0, bytes.min(geometry.heap_bytes()), topology.available_parallelism())?;
    }
    let base = reservation.base() as usize;
    let free = free_set(options, geometry, reservation);
    if !free.commit_ahead(options.initial_heap_size) {
        return Err(BuildError::InitialHeap { bytes: options.initial_heap_size });
    }
    let cards = CardTable::new(base, geometry.heap_bytes())?;
    let late = Late::new(options.safepoint_timeout_delay).with_hook(hooks.late_thread);
    // A heap that decides by the program's clock repeats itself, in its samples too.
    let seed = if hooks.clock.is_some() || cfg!(test) { 0 } else { random_seed() };
    let sampler = Sampler::new(
        options.allocation_sample_interval,
        options.allocation_sample_memory,
        seed,
        hooks.stack_walker,
    );
    if let (Some(_), Some(path)) = (&hooks.clock, &outputs.timeline) {
        return Err(BuildError::TimelineWithClock { path: path.display().to_string() });
    }
    let clock = Clock::new(hooks.clock);
    let timeline = outputs.timeline.as_deref().map(|path| Timeline::begin(path, &clock, name));
    let timeline = timeline.transpose()?.map(Arc::new);
    let log = outputs.begin_log(&clock)?;
    let history = History::new(clock.clone(), print(options), log, hooks.collection, timeline.clone());
    let history = Arc::new(history);
    let machine = sizing::Machine::new(geometry, &topology, options.parallel_gc_threads);
    let settings = collector_settings(options, geometry, &topology);
    let overhead = Overhead::new(sizing::OverheadSettings::from_options(options), clock.age());
    let cpus: Vec<usize> = topology.cpus().iter().map(|cpu| cpu.number).collect();
    let gang = Gang::new("allotment-gc", machine.workers).on_cpus(&cpus).with_timeline(timeline.clone());
    let capacity = sizing::Capacity::new(
        options.initial_heap_size,
        geometry.region_bytes(),
        options.min_heap_free_ratio,
    );
    // The memory that threads share between two collections.
    let mut between = geometry.heap_bytes();
    let collector: Box<dyn Collector> = match options.collector {
        CollectorKind::Epsilon => Box::new(Epsilon(history.clone())),
        CollectorKind::MarkCompact => {
            free.set_capacity(capacity.after(0));
            let history = history.clone();
            Box::new(MarkCompact::new(base, geometry, history, settings, capacity, gang, overhead)?)
        }
        CollectorKind::Parallel => {
            let (parallel, first) = Parallel::new(ParallelParts {
                base,
                machine,
                gang,
                history: history.clone(),
                settings,
                sizes: sizing::Settings::from(options),
                overhead,
                when_idle: options.collect_when_idle,
                homes: free.homes(),
                young_plab_bytes: options.young_plab_size,
                old_plab_bytes: options.old_plab_size,
            })?;
            free.set_capacity(first.capacity);
            between = first.eden_regions << geometry.region_shift;
            Box::new(Arc::new(parallel))
        }
        CollectorKind::Shenandoah => {
            let workers = Gang::new("allotment-concurrent", options.conc_gc_threads.max(1));
            let workers = workers.on_cpus(&cpus).with_timeline(timeline.clone());
            let (shenandoah, usable) = Shenandoah::new(ShenandoahParts {
                base,
                geometry,
                gang,
                workers,
                history: history.clone(),
                settings,
                overhead,
                homes: free.homes(),
                passive: options.shenandoah_gc_mode == ShenandoahMode::Passive,
                eager: options.zeal_cycles,
                tenuring: Tenuring::of_mode(options),
                trigger: TriggerSettings::from(options),
                goal: capacity,
                choice: ChooseSettings::from(options),
                failures: Failures {
                    degenerated: options.shenandoah_full_gc_threshold,
                    critical_free_percent: options.shenandoah_critical_free_threshold,
                    copy: options.zeal_evacuation_failure,
                },
            })?;
            free.set_capacity(usable);
            Box::new(shenandoah)
        }
    };
    // In tests two CPUs count as four, so that several threads of a stop can be called to help.
    let registry = Registry::new(&sizing, topology.available_parallelism() << u32::from(cfg!(test)), late);
    let shared = Shared {
        process: ProcessMark::new(HERE),
        space: Space::new(free, cards, topology),
        threads: Threads::new(registry),
        policy: Policy {
            budget: Budget::new(&sizing, between, options.tlab_idle_percent),
            sizing,
            use_tlab: options.use_tlab,
            zero_tlab: options.zero_tlab,
            zero_window: options.zero_window_size,
            hot_bytes: if cfg!(test) {
                4 * geometry.region_bytes()
            } else {
                hot_bytes(&Processor::detect(), machine.l2_bytes)
            },
            zeal: ZealSchedule {
                interval: options.zeal_interval,
                seed: options.zeal_seed,
                out_of_memory: options.zeal_out_of_memory,
            },
        },
        watch: Watch {
            sampler,
            timeline,
            clock,
            on_heap_limit: hooks.heap_limit,
            on_out_of_memory: hooks.out_of_memory,
        },
        collector,
    };
    let (shared, options) = (Arc::new(shared), Arc::new(set));
    Ok(Heap { shared, options, history, attach_listener: None, at_end: None })
}

/// A number that differs from heap to heap and from process to process. Samples of many processes
/// are then independent.
fn random_seed() -> u64 {
    RandomState::new().hash_one(0)
}

fn reserve(options: &Options, geometry: Geometry, name: &str) -> Result<Reservation, MemoryError> {
    let reservation = Reservation::reserve(geometry.heap_bytes(), granule(options, geometry), name)?;
    if options.use_transparent_huge_pages {
        reservation.advise_huge_pages()?;
    }
    Ok(reservation)
}

/// Bytes of address space that become writable together.
fn granule(options: &Options, geometry: Geometry) -> usize {
    // A protected region must not become accessible together with its neighbour.
    let by_huge_page = options.use_transparent_huge_pages && !options.zeal_protect;
    let huge = if by_huge_page { huge_page_size() } else { 0 };
    geometry.region_bytes().max(huge)
}

fn free_set(options: &Options, geometry: Geometry, reservation: Reservation) -> FreeSet<Committer> {
    let table = RegionTable::new(reservation.base() as usize, geometry);
    let backing = Committer {
        reservation,
        region_bytes: geometry.region_bytes(),
        granule: granule(options, geometry),
        pre_touch: options.always_pre_touch,
    };
    let mode = match options.refill_strategy {
        RefillStrategy::Cas => RefillMode::CompareAndSwap,
        RefillStrategy::Lock => RefillMode::Lock,
    };
    let disposal = Disposal {
        poison: options.zeal_poison,
        protect: options.zeal_protect,
        quarantine: options.zeal_quarantine,
    };
    FreeSet::new(table, backing, mode, options.allocation_regions).with_disposal(disposal)
}

fn collector_settings(options: &Options, geometry: Geometry, topology: &Topology) -> Settings {
    Settings {
        pages: Pages {
            huge: options.use_transparent_huge_pages,
            touching: topology.available_parallelism(),
            touched_for: if options.always_pre_touch {
                options.initial_heap_size.max(geometry.region_bytes())
            } else {
                0
            },
        },
        uncommit_delay_ms: options.uncommit_delay,
        keep_bytes: options.initial_heap_size,
        move_all: options.zeal_move,
        checks: Checks {
            before: options.verify_before_gc,
            after: options.verify_after_gc,
            level: Level::from_number(options.verify_gc_level),
        },
    }
}

fn print(options: &Options) -> Print {
    match (options.print_gc, options.print_gc_details) {
        (_, true) => Print::Details,
        (true, false) => Print::Line,
        (false, false) => Print::Nothing,
    }
}
