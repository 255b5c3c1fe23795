//! The prefetch of generated code: from options to settings.
//!
//! Settings know neither defaults nor origins, and options know no processor. This module knows
//! both.

use crate::options::{OptionId, OptionSet, Options, rules::OF_PREFETCH};
use crate::platform::{PrefetchError, PrefetchInstruction, PrefetchSettings, PrefetchStyle, Processor};

/// Fills the prefetch options that were not given with values for this processor. A user who gives
/// some of them, but no style, wants a style.
pub(super) fn choose(
    set: &OptionSet,
    processor: &Processor,
    chosen: &mut Options,
) -> Result<(), PrefetchError> {
    let ours = PrefetchSettings::recommended(processor);
    let given = |id| set.is_given(id);
    if chosen.allocate_prefetch_distance == 0 {
        chosen.allocate_prefetch_style = PrefetchStyle::None.number();
    } else if !given(OptionId::AllocatePrefetchStyle) && !OF_PREFETCH.iter().copied().any(given) {
        chosen.allocate_prefetch_style = ours.style.number();
    }
    if !given(OptionId::AllocatePrefetchStepSize) {
        chosen.allocate_prefetch_step_size = ours.step;
    }
    if !given(OptionId::AllocatePrefetchInstr) {
        chosen.allocate_prefetch_instr = ours.instruction.number();
    }
    settings(chosen).check(processor)
}

/// The options as generated code takes them.
pub(super) fn settings(options: &Options) -> PrefetchSettings {
    let style = PrefetchStyle::from_number(options.allocate_prefetch_style);
    let instruction = PrefetchInstruction::from_number(options.allocate_prefetch_instr);
    PrefetchSettings {
        // Numbers within the ranges have a name.
        style: style.unwrap_or(PrefetchStyle::None),
        distance: options.allocate_prefetch_distance,
        lines: options.allocate_prefetch_lines,
        instance_lines: options.allocate_instance_prefetch_lines,
        step: options.allocate_prefetch_step_size,
        instruction: instruction.unwrap_or(PrefetchInstruction::Nta),
    }
    .normalized()
}
