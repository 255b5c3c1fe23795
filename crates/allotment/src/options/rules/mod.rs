//! The rules about values that cannot work together, with the reasons.
//!
//! No option is accepted and then ignored: a user who sets one expects an effect. So a given option
//! is refused if another option leaves it without effect (`effect.rs`), and a given value is in
//! force or refused.
//!
//! The rules see effective values, after every source was applied, in [`OptionSet::finish`]. That
//! function is here so that the set, which collects values, knows no rule. A value that the heap
//! chose itself is a value like others, so the rules are checked again after the heap's choice.
//!
//! Refused: to ignore an option silently, or to change its value to the nearest one that works, as
//! HotSpot does. A measurement may then compare a configuration with itself.

mod conflict;
mod effect;

use super::error::OptionError;
use super::items::{OPTIONS, OptionId, Options};
use super::kinds::format_size;
use super::set::OptionSet;
use conflict::{conflict, greater, no_effect, shown, smaller};
pub(crate) use effect::OF_PREFETCH;

/// Fewest regions of a heap. Shenandoah has the same limit.
const MIN_REGIONS: usize = 10;

/// The checks after all values are collected.
impl OptionSet {
    /// The values of all options, each within its limits and none in conflict with another.
    ///
    /// # Errors
    ///
    /// [`OptionError::Value`] for a value outside its limits, [`OptionError::Conflict`] for values
    /// that cannot work together; the first error found.
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
        self.check_together()?;
        Ok(self.values().clone())
    }

    /// Refuses values that cannot work together. Expects each value within its own limits.
    pub(crate) fn check_together(&self) -> Result<(), OptionError> {
        check_heap(self)?;
        effect::check(self)?;
        check_generations(self)?;
        check_cycles(self)?;
        check_sizes(self)
    }
}

/// The rules on the heap's size.
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
    if set.is_given(OptionId::MaxRAMPercentage) && set.is_given(OptionId::MaxHeapSize) {
        return no_effect(set, OptionId::MaxRAMPercentage, OptionId::MaxHeapSize, "which is fixed");
    }
    Ok(())
}

/// The rules on the young generation.
fn check_generations(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    let (min, max, heap) = (options.new_size, options.max_new_size, options.max_heap_size);
    if max != 0 && min > max {
        return greater(set, OptionId::NewSize, OptionId::MaxNewSize);
    }
    for (id, size) in [(OptionId::NewSize, min), (OptionId::MaxNewSize, max)] {
        if heap != 0 && size >= heap {
            let message = format!(
                "{} leaves no room in {} for old objects; lower the one or raise the other",
                shown(set, id),
                shown(set, OptionId::MaxHeapSize),
            );
            return conflict(&[id, OptionId::MaxHeapSize], message);
        }
    }
    // The default yields to a lower maximum, as in HotSpot.
    if set.is_given(OptionId::InitialTenuringThreshold)
        && options.initial_tenuring_threshold > options.max_tenuring_threshold
    {
        return greater(set, OptionId::InitialTenuringThreshold, OptionId::MaxTenuringThreshold);
    }
    Ok(())
}

/// The rules on concurrent cycles.
fn check_cycles(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    let (workers, concurrent) = (options.parallel_gc_threads, options.conc_gc_threads);
    // Both counts are of the same threads.
    if workers != 0 && concurrent > workers && set.is_given(OptionId::ConcGCThreads) {
        return greater(set, OptionId::ConcGCThreads, OptionId::ParallelGCThreads);
    }
    let (garbage, ignored) =
        (options.shenandoah_garbage_threshold, options.shenandoah_ignore_garbage_threshold);
    // The default yields to a higher ShenandoahIgnoreGarbageThreshold, below which no region
    // counts.
    if garbage < ignored && set.is_given(OptionId::ShenandoahGarbageThreshold) {
        let (garbage, ignored) =
            (OptionId::ShenandoahGarbageThreshold, OptionId::ShenandoahIgnoreGarbageThreshold);
        return smaller(set, garbage, ignored);
    }
    Ok(())
}

/// The rules on the sizes of buffers.
fn check_sizes(set: &OptionSet) -> Result<(), OptionError> {
    let options = set.values();
    let (first, max, region) = (options.tlab_size, options.max_tlab_size, options.region_size);
    let min = options.min_tlab_size;
    for (id, size) in [
        (OptionId::MinTLABSize, min),
        (OptionId::TLABSize, first),
        (OptionId::MaxTLABSize, max),
        (OptionId::YoungPLABSize, options.young_plab_size),
        (OptionId::OldPLABSize, options.old_plab_size),
    ] {
        // The defaults yield to smaller regions.
        if region != 0 && size > region && set.is_given(id) {
            return greater(set, id, OptionId::RegionSize);
        }
    }
    for (id, size) in [(OptionId::TLABSize, first), (OptionId::MaxTLABSize, max)] {
        if size != 0 && size < min {
            return smaller(set, id, OptionId::MinTLABSize);
        }
    }
    if max != 0 && first > max {
        return greater(set, OptionId::TLABSize, OptionId::MaxTLABSize);
    }
    Ok(())
}
