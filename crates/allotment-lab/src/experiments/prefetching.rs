//! The prefetch of an allocation, as a parameter of an experiment.
//!
//! A program in Rust chooses at compile time, by the type of a site. Each loop of the lab is
//! therefore compiled both ways. The default is the way that the heap would choose for generated
//! code.
//!
//! Refused: one way for all processors. Where a processor keeps up by itself, a loop that
//! prefetches pays for it at each end of a buffer (`docs/experiments/tlab.md`).

use crate::harness::{Axis, Case, Kind, ParameterError};
use allotment::raw::{PrefetchSettings, PrefetchStyle, Processor};

/// The axis `prefetch`.
pub(super) const PREFETCH: Axis = Axis::new(
    "prefetch",
    "what the allocation prefetches; by-processor: nothing where that gains nothing, otherwise by-size",
    Kind::Choice(&["by-processor", "by-size", "none"]),
    &["by-processor"],
);

/// Whether the loop of `case` prefetches.
///
/// # Errors
/// The case has no such parameter.
pub(super) fn prefetches(case: &Case) -> Result<bool, ParameterError> {
    Ok(match case.text("prefetch")? {
        "by-processor" => PrefetchSettings::recommended(&Processor::detect()).style != PrefetchStyle::None,
        word => word == "by-size",
    })
}
