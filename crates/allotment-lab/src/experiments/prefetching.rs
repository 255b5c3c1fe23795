//! What an allocation prefetches, as a parameter of an experiment.
//!
//! A program in Rust chooses when it is compiled, by the type of a site. So does each loop of the lab, which has been compiled
//! in both ways; by default that one runs which the heap would choose for generated code. Refused: one way for all. Where a
//! processor keeps up by itself, a loop that prefetches pays for it at each end of a buffer (`docs/experiments/tlab.md`).

use crate::harness::{Axis, Case, Kind, ParameterError};
use allotment::raw::{PrefetchSettings, PrefetchStyle, Processor};

/// The axis `prefetch`.
pub(super) const PREFETCH: Axis = Axis::new(
    "prefetch",
    "what the allocation prefetches; by-processor: nothing where that gains nothing, otherwise by-size",
    Kind::Choice(&["by-processor", "by-size", "none"]),
    &["by-processor"],
);

/// Whether the loop of `case` is the one that prefetches.
///
/// # Errors
/// The case has no such parameter.
pub(super) fn prefetches(case: &Case) -> Result<bool, ParameterError> {
    Ok(match case.text("prefetch")? {
        "by-processor" => PrefetchSettings::recommended(&Processor::detect()).style != PrefetchStyle::None,
        word => word == "by-size",
    })
}
