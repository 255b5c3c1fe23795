//! The files that a heap writes when it ends.

use crate::mutator::Shared;
use crate::options::Options;
use crate::platform::{process_number, tell};
use crate::profile::AllocationProfile;
use std::path::PathBuf;
use std::sync::Arc;

/// Writes the files when it is dropped, which is when the last clone of its heap is.
pub(super) struct AtEnd {
    shared: Arc<Shared>,
    /// `AllocationProfile`; empty: none.
    profile: PathBuf,
    /// The process that made the heap. Its children must not write over its files.
    process: u32,
}

impl AtEnd {
    /// `None` where there is nothing to write.
    pub(super) fn new(shared: &Arc<Shared>, options: &Options) -> Option<Arc<AtEnd>> {
        let profile = options.allocation_profile.clone();
        let is_wanted = !profile.as_os_str().is_empty() || shared.timeline.is_some();
        let at_end = || AtEnd { shared: shared.clone(), profile, process: process_number() };
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
        if self.profile.as_os_str().is_empty() {
            return;
        }
        let profile = AllocationProfile::take(&self.shared, self.shared.clock.age());
        if let Err(error) = profile.save(&self.profile) {
            tell(format_args!("allotment: {error}; choose another path with AllocationProfile="));
        }
    }
}
