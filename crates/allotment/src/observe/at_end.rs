//! The end of a heap: the thread that answers other processes ends, and files are written.
//!
//! The heap holds an [`AtEnd`] without knowing what it is, and drops it with its last clone.

use super::attach::{AttachListener, Patience};
use super::profile::{AllocationProfile, ProfileError};
use crate::Heap;
use crate::collector::GcLog;
use crate::mutator::Shared;
use crate::platform::{AttachListenerError, tell};
use allotment_output::Place;
use std::path::PathBuf;
use std::sync::Arc;

/// The work of the end. It is done when this is dropped.
struct AtEnd {
    /// Before `files`: nobody asks a heap that writes its last files.
    _listener: Option<AttachListener>,
    _files: Option<Files>,
}

/// Writes the files when it is dropped.
struct Files {
    shared: Arc<Shared>,
    /// `AllocationProfile`: its path and its place.
    profile: Option<(PathBuf, Place)>,
    /// `GCLog`.
    log: Option<Arc<GcLog>>,
    /// The process that made the heap. Its children must not write over its files.
    process: u32,
}

impl Heap {
    /// This heap, which answers other processes under the name `listen_as`, if there is one, and
    /// whose last clone writes the files. The builder calls this last. A heap that could not be
    /// built leaves the files of the run before.
    pub(crate) fn observed(
        self,
        listen_as: Option<&str>,
        profile: Option<(PathBuf, Place)>,
    ) -> Result<Heap, AttachListenerError> {
        self.observed_with(listen_as, Patience::DEFAULT, profile)
    }

    pub(super) fn observed_with(
        self,
        listen_as: Option<&str>,
        patience: Patience,
        profile: Option<(PathBuf, Place)>,
    ) -> Result<Heap, AttachListenerError> {
        let start = |name| AttachListener::start(name, &self, patience);
        let listener = listen_as.map(start).transpose()?;
        let files = Files::of(&self, profile);
        if listener.is_none() && files.is_none() {
            return Ok(self);
        }
        Ok(self.ending_with(AtEnd { _listener: listener, _files: files }))
    }
}

impl Files {
    /// The files of this heap; `None` if it writes none.
    fn of(heap: &Heap, profile: Option<(PathBuf, Place)>) -> Option<Files> {
        let (shared, log) = (heap.shared.clone(), heap.history.log.clone());
        if profile.is_none() && log.is_none() && shared.watch.timeline.is_none() {
            return None;
        }
        Some(Files { shared, profile, log, process: std::process::id() })
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if std::process::id() != self.process {
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
