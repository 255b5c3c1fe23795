//! Epsilon (JEP 318): allocates until the heap is full, and collects nothing.
//!
//! Epsilon suits programs that allocate less than their heap holds, and heaps of a request or a
//! frame, which are reset as a whole. Epsilon is also the zero line of every measurement: a
//! collector costs the time by which it is slower.

use super::History;
use crate::mutator::{Cause, Collector, Mutator, Outcome};
use std::sync::Arc;

/// The collector that does not collect, with an empty history.
pub(super) struct Epsilon(pub(super) Arc<History>);

impl Collector for Epsilon {
    fn name(&self) -> &'static str {
        "epsilon"
    }

    fn collect(&self, _: &mut Mutator<'_>, _: Cause, _: &mut dyn FnMut(&Mutator<'_>) -> bool) -> Outcome {
        Outcome::Never
    }

    fn is_at_rest(&self) -> bool {
        self.0.is_at_rest()
    }
}
