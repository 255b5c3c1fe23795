//! The files that a heap writes when it ends.

use super::Heap;
use crate::collector::GcLog;
use crate::mutator::Shared;
use crate::platform::{process_number, tell};
use crate::profile::{AllocationProfile, ProfileError};
use allotment_output::Place;
use std::path::PathBuf;
use std::sync::Arc;

/// Writes the files when it is dropped, which is when the last clone of its heap is.
pub(super) struct AtEnd {
    shared: Arc<Shared>,
    /// `AllocationProfile`: its path and its place.
    profile: Option<(PathBuf, Place)>,
    /// `GCLog`.
    log: Option<Arc<GcLog>>,
    /// The process that made the heap. Its children must not write over its files.
    process: u32,
}

impl Heap {
    /// This heap, whose last clone writes the files. Without this the files that are there stay.
    pub(super) fn writing_at_end(self, profile: Option<(PathBuf, Place)>) -> Heap {
        let (shared, log) = (self.shared.clone(), self.history.log().cloned());
        if profile.is_none() && log.is_none() && shared.watch.timeline.is_none() {
            return self;
        }
        let at_end = AtEnd { shared, profile, log, process: process_number() };
        Heap { at_end: Some(Arc::new(at_end)), ..self }
    }
}

impl Drop for AtEnd {
    fn drop(&mut self) {
        if process_number() != self.process {
            return;
        }
        if let Some(timeline) = &self.shared.watch.timeline {
            timeline.finish();
        }
        if let Some(log) = &self.log {
            log.finish();
        }
        let Some((path, place)) = self.profile.take() else { return };
        let profile = AllocationProfile::take(&self.shared, self.shared.watch.clock.age());
        if let Err(source) = profile.save_at(place) {
            let error = ProfileError { path, source };
            tell(format_args!("allotment: {error}; choose another path with AllocationProfile="));
        }
    }
}
