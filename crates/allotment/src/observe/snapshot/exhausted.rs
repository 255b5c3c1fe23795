//! `SnapshotOnOutOfMemory`: a snapshot of the heap that had no room.
//!
//! A heap writes one such snapshot in its life; [`Heap::reset`] allows no second one. More would
//! fill the disk with the same: a program that catches the error often fails again at once. A
//! request for more than the whole heap writes none, since it says nothing of what is in the heap.
//! The snapshot needs no room in the heap, but 3 % of its size beside it. If it cannot be written,
//! a line on standard error says so, the allocation fails as it would have, and a later failure
//! tries again, a few times. A file that is there is never replaced: it may be that of a process
//! before. The builder has tried the directory. If it was missing then, it is made here.

use super::{SnapshotError, SnapshotSettings, SnapshotSummary};
use crate::Heap;
use crate::mutator::{Mutator, OutOfMemory, OutOfMemoryHook};
use crate::platform::tell;
use allotment_output::Place;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Attempts after which a heap gives up.
const ATTEMPTS: u32 = 3;

impl Heap {
    /// The hook that a heap with this option calls when it has no room. The builder, which is in a
    /// lower layer, asks for it.
    pub(crate) fn when_exhausted(directory: PathBuf) -> OutOfMemoryHook {
        // Whether no thread may begin: one writes, or there is a snapshot, or the attempts are used
        // up. A thread takes it (acquire), and gives it back after a failure (release). No lock,
        // since a thread that waits for one would hold up the stop.
        let closed = AtomicBool::new(false);
        // Attempts that failed. Only the thread that took `closed` reads and writes it.
        let failed = AtomicU32::new(0);
        Arc::new(move |mutator: &mut Mutator<'_>, error: &OutOfMemory| {
            if error.bytes() > error.heap_bytes() || closed.swap(true, Ordering::Acquire) {
                return;
            }
            match write(mutator, &directory) {
                Ok((summary, path)) => tell(format_args!(
                    "allotment: {error}; a snapshot of the {} live objects is in {}",
                    summary.objects,
                    path.display()
                )),
                Err(failure) => {
                    tell(format_args!("allotment: {error}; no snapshot: {failure}"));
                    if failed.fetch_add(1, Ordering::Relaxed) + 1 < ATTEMPTS {
                        closed.store(false, Ordering::Release);
                    }
                }
            }
        })
    }
}

/// Writes a snapshot to a file of its own, and returns where that is.
fn write(mutator: &mut Mutator<'_>, directory: &Path) -> Result<(SnapshotSummary, PathBuf), SnapshotError> {
    if let Err(error) = std::fs::create_dir(directory)
        && error.kind() != std::io::ErrorKind::AlreadyExists
    {
        return Err(SnapshotError::File { path: directory.to_owned(), error });
    }
    // A process that has no room is often killed while it writes.
    Place::remove_left_in(directory, |name| {
        name.to_str().is_some_and(|name| name.starts_with("allotment-") && name.ends_with(".heapsnapshot"))
    });
    let (process, base) = (std::process::id(), mutator.shared().space.free.table().base());
    let mut number = 1;
    let path = loop {
        let path = directory.join(format!("allotment-{process}-{base:x}-{number}.heapsnapshot"));
        // A link that leads nowhere is there, too.
        if path.symlink_metadata().is_err() {
            break path;
        }
        number += 1;
    };
    Ok((mutator.snapshot_to_file(&path, &SnapshotSettings::default())?, path))
}
