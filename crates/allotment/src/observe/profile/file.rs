//! A profile as a file. There is never half of one.
//!
//! The profile goes to a new file beside the old one, which takes its place when it is complete.
//! A pipe or a terminal is written through:
//! [`OutputFile`](allotment_output::OutputFile) says how.

use super::AllocationProfile;
use allotment_output::Place;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why a profile could not be saved.
#[derive(thiserror::Error)]
#[error("cannot write the allocation profile {}: {source}", path.display())]
pub struct ProfileError {
    /// The path that was to be written.
    pub path: PathBuf,
    /// The system's answer.
    pub source: io::Error,
}
crate::debug::debug_is_display!(ProfileError);

impl AllocationProfile {
    /// Writes the profile in pprof's form to a file, in place of what was there. A symbolic link is
    /// followed, and stays. A pipe or a terminal is written through. Of two profiles that
    /// are saved at one path, the later one stays: give each heap and each process a path of its
    /// own.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("heap.pb.gz");
    /// let heap = allotment::Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.set_allocation_sample_interval(allotment::stats::DEFAULT_SAMPLE_INTERVAL);
    /// // ... the program runs ...
    /// heap.allocation_profile().save(path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ProfileError`] if the file cannot be created or written. The file that was there before
    /// stays.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ProfileError> {
        let path = path.as_ref();
        let named = |source| ProfileError { path: path.to_owned(), source };
        Place::open(path).and_then(|place| self.save_at(place)).map_err(named)
    }

    /// Writes the profile to a place that was opened before.
    pub(crate) fn save_at(&self, place: Place) -> io::Result<()> {
        let mut file = place.create()?;
        self.write(&mut file)?;
        file.finish()
    }
}
