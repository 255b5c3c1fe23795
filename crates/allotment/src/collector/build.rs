//! Makes the collector that the options name, from the parts that every collector has.
//!
//! Each collector reads its own options. So the builder of a heap knows collectors by this function
//! only.

use super::epsilon::Epsilon;
use super::mark_compact::MarkCompact;
use super::parallel::Parallel;
use super::parts::Parts;
use super::shenandoah::Shenandoah;
use crate::mutator::Collector;
use crate::options::CollectorKind;
use crate::platform::MemoryError;
use std::sync::Arc;

/// A heap's collector, and the room that the collector leaves between two collections.
pub(crate) struct Built {
    pub(crate) collector: Box<dyn Collector>,
    /// Bytes that threads share between two collections.
    pub(crate) between: usize,
}

/// Makes the collector. The heap may then use as many regions as the collector wants at first.
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
        CollectorKind::Shenandoah => built(Box::new(Shenandoah::new(parts)?), whole),
    })
}
