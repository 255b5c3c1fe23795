//! The files that a heap writes when it ends.

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

impl AtEnd {
    /// `None` where there is nothing to write.
    pub(super) fn new(
        shared: &Arc<Shared>,
        profile: Option<(PathBuf, Place)>,
        log: Option<Arc<GcLog>>,
    ) -> Option<Arc<AtEnd>> {
        let is_wanted = profile.is_some() || log.is_some() || shared.timeline.is_some();
        let at_end = || AtEnd { shared: shared.clone(), profile, log, process: process_number() };
        is_wanted.then(|| Arc::new(at_end()))
    }
}

impl Drop for AtEnd {
    fn drop(&mut self) {
        if process_number() != self.process {
            return;
        }
        if let Some(timeline) = &self.shared.timeline {
            timeline.finish();
        }
        if let Some(log) = &self.log {
            log.finish();
        }
        let Some((path, place)) = self.profile.take() else { return };
        let profile = AllocationProfile::take(&self.shared, self.shared.clock.age());
        if let Err(source) = profile.save_at(place) {
            let error = ProfileError { path, source };
            tell(format_args!("allotment: {error}; choose another path with AllocationProfile="));
        }
    }
}
