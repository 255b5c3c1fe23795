//! The files and the directory that a heap's options name, opened when the heap is built.
//!
//! A profile is written at the end of a heap, and a snapshot when memory is short. So the build of
//! a heap fails if such a place cannot be written. Refused: a line on standard error at the end. By
//! then the run is over, and its profile is lost.
//!
//! Here `%p` and `%t` in paths get their values, which are the same in all paths of a heap.

use super::BuildError;
use crate::collector::GcLog;
use crate::options::{OptionId, Options};
use crate::platform::Clock;
use allotment_output::{LogFile, Place, Rotation, expand};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Places of a heap's files. Empty paths of options are `None`.
pub(super) struct Outputs {
    /// `AllocationProfile`: the path, and the place, which has been tried.
    pub(super) profile: Option<(PathBuf, Place)>,
    /// `Timeline`.
    pub(super) timeline: Option<PathBuf>,
    /// `SnapshotOnOutOfMemory`.
    pub(super) snapshots: Option<PathBuf>,
    /// `GCLog`.
    log: Option<PathBuf>,
    rotation: Rotation,
}

impl Outputs {
    /// Tries the places. Files that are there stay as they are.
    pub(super) fn open(options: &Options) -> Result<Outputs, BuildError> {
        let now = SystemTime::now();
        let path = |path: &Path| (!path.as_os_str().is_empty()).then(|| expand(path, now));
        let profile = path(&options.allocation_profile).map(|path| match Place::open(&path) {
            Ok(place) => Ok((path, place)),
            Err(source) => {
                Err(BuildError::File { option: OptionId::AllocationProfile.info().name, path, source })
            }
        });
        let snapshots =
            path(&options.snapshot_on_out_of_memory).map(|path| match Place::try_directory(&path) {
                // The program may change its working directory before the heap is full.
                Ok(()) => Ok(std::path::absolute(&path).unwrap_or(path)),
                Err(source) => Err(BuildError::Directory { path, source }),
            });
        Ok(Outputs {
            profile: profile.transpose()?,
            timeline: path(&options.timeline),
            snapshots: snapshots.transpose()?,
            log: path(&options.gc_log),
            rotation: Rotation {
                file_bytes: options.gc_log_file_size as u64,
                files: options.number_of_gc_log_files,
            },
        })
    }

    /// Begins the log, if there is one. A log that was there gets a number.
    pub(super) fn begin_log(&mut self, clock: &Clock) -> Result<Option<Arc<GcLog>>, BuildError> {
        let Some(path) = self.log.take() else { return Ok(None) };
        let file = LogFile::open(&path, self.rotation).map_err(|source| BuildError::File {
            option: OptionId::GCLog.info().name,
            path: path.clone(),
            source,
        })?;
        let log = GcLog::begin(file, path.clone(), clock.clone());
        Ok(Some(Arc::new(log.map_err(|source| BuildError::Thread { path, source })?)))
    }
}
