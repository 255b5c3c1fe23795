//! What attached threads do, as other threads can see it without a stop.
//!
//! All that is read here is atomic, or never changes, or is read by the totals of all threads in
//! the same way. Refused: a stop of the world for numbers that are of one instant. A caller
//! often asks because one of the threads does not come to a safepoint, and a stop would wait for
//! that thread.

use super::registry::{Attached, Registry};
use super::state::State;
use crate::mutator::safepoint::{ThreadActivity, ThreadIdentity};
use crate::tlab::statistics::TlabStatistics;

/// An attached thread at about one moment: [`Heap::threads`](crate::Heap::threads).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AttachedThread {
    /// Which thread it is.
    pub identity: ThreadIdentity,
    /// What it does.
    pub activity: ThreadActivity,
    /// Bytes of the buffer that it asks for next. 0 with `-UseTLAB`.
    pub buffer_bytes: usize,
    /// Bytes of objects in the buffer that it has; 0 if it has none.
    pub buffer_used_bytes: usize,
    /// Counts of its buffers since it attached. Objects in the buffer in use do not count yet.
    pub statistics: TlabStatistics,
}

impl AttachedThread {
    /// Bytes of objects that the thread allocated since it attached, those in its buffer included.
    #[must_use]
    pub fn allocated_bytes(&self) -> u64 {
        self.statistics.object_bytes().saturating_add(self.buffer_used_bytes as u64)
    }
}

impl Registry {
    /// The attached threads, in the order in which they stand in the registry.
    pub(crate) fn attached_threads(&self) -> Vec<AttachedThread> {
        let thread = |state: &State| AttachedThread {
            identity: state.identity.clone(),
            activity: state.status.activity(),
            buffer_bytes: if state.shared.policy.use_tlab { state.published.read().size } else { 0 },
            buffer_used_bytes: state.hot.used_about_now().min(state.shared.space.region_bytes()),
            statistics: state.statistics(),
        };
        self.threads.lock().threads.iter().map(Attached::state).map(thread).collect()
    }
}
