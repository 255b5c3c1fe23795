//! What watches a heap: samples, the timeline, the clock, and the embedder's hooks.

use crate::mutator::sampling::Sampler;
use crate::mutator::{Mutator, OutOfMemory};
use crate::platform::Clock;
use crate::timeline::Timeline;
use std::sync::Arc;

/// Releases memory if it can, and returns whether it did. See
/// [`HeapBuilder::on_heap_limit`](crate::heap::HeapBuilder::on_heap_limit).
pub(crate) type HeapLimitHook = Arc<dyn Fn(&OutOfMemory) -> bool + Send + Sync>;

/// Called by a thread whose allocation fails, before it goes on.
pub(crate) type OutOfMemoryHook = Arc<dyn Fn(&mut Mutator<'_>, &OutOfMemory) + Send + Sync>;

/// The observers of a heap: samples, a timeline, the clock and hooks.
pub(crate) struct Watch {
    /// The samples of what threads allocate.
    pub(crate) sampler: Sampler,
    /// `Timeline`.
    pub(crate) timeline: Option<Arc<Timeline>>,
    pub(crate) clock: Clock,
    /// Called when a collection did not help. Returns whether it released something.
    pub(crate) on_heap_limit: Option<HeapLimitHook>,
    pub(crate) on_out_of_memory: Option<OutOfMemoryHook>,
}
