//! Makes the collector that the options name, from the parts that every collector has.
//!
//! A collector takes its own options from the table through its settings. So the builder of a heap
//! knows collectors by this function only.

use super::epsilon::Epsilon;
use super::history::History;
use super::mark_compact::MarkCompact;
use super::overhead::Overhead;
use super::parallel::Parallel;
use super::settings::Settings;
use super::shenandoah::choose::ChooseSettings;
use super::shenandoah::tenuring::Tenuring;
use super::shenandoah::trigger::TriggerSettings;
use super::shenandoah::{self, Failures, Shenandoah};
use super::sizing::{Capacity, Machine, OverheadSettings};
use super::work::Gang;
use crate::mutator::Collector;
use crate::options::{CollectorKind, Options, ShenandoahMode};
use crate::platform::MemoryError;
use crate::region::{Geometry, Space};
use crate::timeline::Timeline;
use std::sync::Arc;

/// What a collector is made from.
pub(crate) struct Parts<'h> {
    pub(crate) options: &'h Options,
    pub(crate) space: &'h Space,
    pub(crate) machine: Machine,
    pub(crate) history: Arc<History>,
    pub(crate) timeline: Option<Arc<Timeline>>,
}

/// A heap's collector, and what it says about the heap before the first collection.
pub(crate) struct Built {
    pub(crate) collector: Box<dyn Collector>,
    /// Bytes that threads share between two collections.
    pub(crate) between: usize,
}

/// Makes the collector, and lets as many regions be in use as it wants at first.
///
/// # Errors
/// [`MemoryError`] if the system has no addresses for its tables, or no memory to touch ahead.
pub(crate) fn build(parts: &Parts<'_>) -> Result<Built, MemoryError> {
    let whole = parts.geometry().heap_bytes();
    let built = |collector, between| Built { collector, between };
    Ok(match parts.options.collector {
        CollectorKind::Epsilon => built(Box::new(Epsilon(parts.history.clone())), whole),
        CollectorKind::MarkCompact => built(Box::new(MarkCompact::new(parts)?), whole),
        CollectorKind::Parallel => {
            let (parallel, eden_bytes) = Parallel::new(parts)?;
            built(Box::new(Arc::new(parallel)), eden_bytes)
        }
        CollectorKind::Shenandoah => built(Box::new(shenandoah(parts)?), whole),
    })
}

fn shenandoah(parts: &Parts<'_>) -> Result<Arc<Shenandoah>, MemoryError> {
    let options = parts.options;
    let (shenandoah, usable) = Shenandoah::new(shenandoah::Parts {
        base: parts.base(),
        geometry: parts.geometry(),
        gang: parts.gang(),
        workers: parts.workers("allotment-concurrent", options.conc_gc_threads.max(1)),
        history: parts.history.clone(),
        settings: parts.settings(),
        overhead: parts.overhead(),
        homes: parts.space.free.homes(),
        passive: options.shenandoah_gc_mode == ShenandoahMode::Passive,
        tenuring: Tenuring::of_mode(options),
        trigger: TriggerSettings::from(options),
        goal: parts.capacity(),
        choice: ChooseSettings::from(options),
        failures: Failures {
            degenerated: options.shenandoah_full_gc_threshold,
            critical_free_percent: options.shenandoah_critical_free_threshold,
            copy: options.zeal_evacuation_failure,
        },
    })?;
    parts.space.free.set_capacity(usable);
    Ok(shenandoah)
}

impl Parts<'_> {
    /// The address of the first region.
    pub(super) fn base(&self) -> usize {
        self.space.free.table().bottom(0)
    }

    pub(super) fn geometry(&self) -> Geometry {
        self.machine.geometry
    }

    /// The workers of the stopped world.
    pub(super) fn gang(&self) -> Gang {
        self.workers("allotment-gc", self.machine.workers)
    }

    /// At most `most` workers of this name, on the CPUs of the process.
    fn workers(&self, name: &'static str, most: usize) -> Gang {
        let cpus: Vec<usize> = self.space.topology.cpus().iter().map(|cpu| cpu.number).collect();
        Gang::new(name, most).on_cpus(&cpus).with_timeline(self.timeline.clone())
    }

    pub(super) fn settings(&self) -> Settings {
        Settings::new(self.options, self.geometry(), self.space.topology.available_parallelism())
    }

    pub(super) fn overhead(&self) -> Overhead {
        Overhead::new(OverheadSettings::from_options(self.options), self.history.clock.age())
    }

    /// How many regions may be in use, in a heap without generations.
    pub(super) fn capacity(&self) -> Capacity {
        let Options { initial_heap_size, min_heap_free_ratio, .. } = *self.options;
        Capacity::new(initial_heap_size, self.geometry().region_bytes(), min_heap_free_ratio)
    }
}
