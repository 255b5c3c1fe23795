//! The values that follow from the options on this machine: a number wherever the options leave the
//! choice to the heap.
//!
//! The chosen values are written back to a copy of the options, with the origin `ergonomic`. So the
//! options on display are the options in force. A given value is either in force or refused: after
//! the choice the rules are checked again, now against the sizes that the heap chose. (HotSpot
//! moves such a value to the nearest that works, and still shows the given one.)
//!
//! No code here asks the system: the machine comes as a [`Platform`], which a test can make up.

use super::{BuildError, prefetch};
use crate::collector::work::{default_concurrent_workers, default_workers};
use crate::mutator::DEFAULT_SAMPLE_INTERVAL;
use crate::options::{
    CollectorKind, OptionError, OptionId, OptionSet, Options, RefillStrategy, ShenandoahMode,
};
use crate::platform::topology::Topology;
use crate::platform::{Processor, can_advise_huge_pages, limit};
use crate::region::Geometry;
use crate::tlab::sizing::{Config, Settings};

/// The facts about the machine that options depend on, beside the size of its memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Platform {
    /// CPUs that threads of the process run on.
    pub(super) cpus: usize,
    /// Workers of a collection when no option gives their number.
    pub(super) workers: usize,
    pub(super) processor: Processor,
    /// Whether the kernel has transparent huge pages.
    pub(super) huge_pages: bool,
}

/// Options from which a heap can be made.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The values in force.
    pub(super) set: OptionSet,
    pub(super) geometry: Geometry,
    pub(super) sizing: Config,
}

impl Platform {
    pub(super) fn detect(topology: &Topology) -> Platform {
        Platform {
            cpus: topology.cpus().len().max(1),
            workers: default_workers(topology.available_parallelism()),
            processor: Processor::detect(),
            huge_pages: can_advise_huge_pages(),
        }
    }
}

/// Checks the options and chooses the open values. `geometry`, if there is one, replaces the
/// options about regions.
pub(super) fn choose(
    given: &OptionSet,
    geometry: Option<Geometry>,
    platform: &Platform,
) -> Result<Chosen, BuildError> {
    let mut values = given.finish()?;
    // The rules would refuse the regions that tests make up.
    let bound_by_rules = geometry.is_none();
    if values.max_heap_size == 0 {
        values.max_heap_size = limit::default_max_heap_size(values.max_ram_percentage);
    }
    let geometry = match geometry {
        Some(geometry) => geometry,
        None => Geometry::new(values.max_heap_size, values.region_size)?,
    };
    values.max_heap_size = geometry.heap_bytes();
    values.region_size = geometry.region_bytes();
    choose_pages(given, platform, &mut values)?;
    choose_regions(given, platform, &mut values)?;
    choose_collector(given, platform, &mut values);
    let profiles = !values.allocation_profile.as_os_str().is_empty();
    if profiles && !given.is_given(OptionId::AllocationSampleInterval) {
        values.allocation_sample_interval = DEFAULT_SAMPLE_INTERVAL;
    }
    let logs = !values.gc_log.as_os_str().is_empty() && !values.print_gc_details;
    if logs && !given.is_given(OptionId::PrintGC) {
        values.print_gc = true;
    }
    let sizing = Config::new(&sizing_settings(given, geometry, &values));
    if values.use_tlab {
        choose_buffers(given, &sizing, &mut values);
    }
    prefetch::choose(given, &platform.processor, &mut values)?;
    let mut set = given.clone();
    set.resolve(&values);
    if bound_by_rules {
        set.check_together()?;
    }
    Ok(Chosen { set, geometry, sizing })
}

/// Memory of ordinary pages is slower, not wrong: only a user who asked for huge pages gets an
/// error when there are none.
fn choose_pages(given: &OptionSet, platform: &Platform, values: &mut Options) -> Result<(), OptionError> {
    let id = OptionId::UseTransparentHugePages;
    if values.use_transparent_huge_pages && !platform.huge_pages {
        if given.is_given(id) {
            let reason = "this kernel has no such pages, or does not let the process ask for them";
            return not_here(given, id, reason, "false");
        }
        values.use_transparent_huge_pages = false;
    }
    Ok(())
}

/// Regions that threads take memory from.
fn choose_regions(given: &OptionSet, platform: &Platform, values: &mut Options) -> Result<(), OptionError> {
    let id = OptionId::AllocationRegions;
    match asked(given, id, values.allocation_regions) {
        0 => {
            // Without buffers all threads share one pointer; under one lock one region serves all.
            let one = !values.use_tlab || values.refill_strategy == RefillStrategy::Lock;
            values.allocation_regions = if one { 1 } else { platform.cpus };
        }
        // Threads take from the region of their CPU. No thread would take from the further regions.
        more if more > platform.cpus => {
            let reason = format!("there is one for each CPU, and this process has {}", platform.cpus);
            return not_here(given, id, &reason, &format!("0..{}", platform.cpus));
        }
        _ => {}
    }
    Ok(())
}

/// Workers, their buffers, and the age at which an object is old.
fn choose_collector(given: &OptionSet, platform: &Platform, values: &mut Options) {
    // A heap that never collects has no workers.
    if values.collector != CollectorKind::Epsilon {
        fill(given, OptionId::ParallelGCThreads, &mut values.parallel_gc_threads, platform.workers);
    }
    let concurrent =
        values.collector == CollectorKind::Shenandoah && values.shenandoah_gc_mode != ShenandoahMode::Passive;
    if concurrent {
        let workers = default_concurrent_workers(values.parallel_gc_threads);
        fill(given, OptionId::ConcGCThreads, &mut values.conc_gc_threads, workers);
    }
    let (young, old) = (&mut values.young_plab_size, &mut values.old_plab_size);
    for (id, size) in [(OptionId::YoungPLABSize, young), (OptionId::OldPLABSize, old)] {
        fill(given, id, size, values.region_size.min(*size));
    }
    values.initial_tenuring_threshold = values.initial_tenuring_threshold.min(values.max_tenuring_threshold);
}

/// Sizes of buffers that no option gave, as the policy chooses them. 0 remains where the policy
/// computes a size for each thread.
fn choose_buffers(given: &OptionSet, sizing: &Config, values: &mut Options) {
    fill(given, OptionId::TLABSize, &mut values.tlab_size, sizing.tlab_size);
    fill(given, OptionId::MaxTLABSize, &mut values.max_tlab_size, sizing.max_tlab_size);
    fill(given, OptionId::MinTLABSize, &mut values.min_tlab_size, sizing.min_tlab_size);
    if !given.is_given(OptionId::TLABAllocationWeight) {
        values.tlab_allocation_weight = usize::from(sizing.allocation_weight);
    }
}

fn sizing_settings(given: &OptionSet, geometry: Geometry, values: &Options) -> Settings {
    let weight = given.is_given(OptionId::TLABAllocationWeight);
    Settings {
        policy: values.tlab_policy,
        region_size: geometry.region_bytes(),
        capacity: geometry.heap_bytes(),
        tlab_size: asked(given, OptionId::TLABSize, values.tlab_size),
        min_tlab_size: values.min_tlab_size,
        max_tlab_size: asked(given, OptionId::MaxTLABSize, values.max_tlab_size),
        resize: values.resize_tlab,
        waste_target_percent: values.tlab_waste_target_percent,
        refill_waste_fraction: values.tlab_refill_waste_fraction,
        waste_increment: values.tlab_waste_increment,
        allocation_weight: weight.then_some(values.tlab_allocation_weight as u8),
        elasticity: values.tlab_elasticity,
        decay_ms: values.tlab_decay_time,
    }
}

/// `value` if an option gave it, or 0: a value that the heap once chose itself may be chosen again.
fn asked(given: &OptionSet, id: OptionId, value: usize) -> usize {
    if given.is_given(id) { value } else { 0 }
}

/// Makes `chosen` the value of an option, unless an option gave a value other than 0.
fn fill(given: &OptionSet, id: OptionId, value: &mut usize, chosen: usize) {
    if asked(given, id, *value) == 0 {
        *value = chosen;
    }
}

/// The error for a value that would work on another machine.
fn not_here(set: &OptionSet, id: OptionId, reason: &str, range: &str) -> Result<(), OptionError> {
    Err(OptionError::Value {
        name: id.info().name,
        value: set.values().text(id),
        origin: set.origin(id),
        reason: reason.to_owned(),
        range: format!("{range} here"),
    })
}
