//! Makes the collector that the options name, from the parts that every collector has.
//!
//! A collector takes its own options from the table through its settings. So the builder of a heap
//! knows collectors by this function only.

use super::epsilon::Epsilon;
use super::mark_compact::MarkCompact;
use super::parallel::Parallel;
use super::parts::Parts;
use super::shenandoah::choose::ChooseSettings;
use super::shenandoah::tenuring::Tenuring;
use super::shenandoah::trigger::TriggerSettings;
use super::shenandoah::{self, Failures, Shenandoah};
use crate::mutator::Collector;
use crate::options::{CollectorKind, ShenandoahMode};
use crate::platform::MemoryError;
use std::sync::Arc;

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
        eager: options.zeal_cycles,
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
