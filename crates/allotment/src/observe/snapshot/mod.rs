//! Snapshots of the heap: who holds my memory?
//!
//! A snapshot is a file with all live objects, their sizes and their references, for tools that
//! others wrote. [`Heap::census`] is the short form: a table of shapes.
//!
//! | file | has |
//! |---|---|
//! | `index.rs` | which addresses are live objects, and their numbers |
//! | `live.rs` | the mark through a stopped heap, and the walk over what it found |
//! | `v8.rs`, `hprof.rs` | the two formats |
//! | `census.rs`, `dominators.rs` | sums by shape, and what they retain |
//! | `json.rs` | numbers and strings as text, by the gigabyte |
//! | `exhausted.rs` | `SnapshotOnOutOfMemory` |
//!
//! The world stands still until the last byte is given to the writer. A stop of the world ends or
//! gives up what a concurrent collector has begun, so no object is forwarded. The tables take less
//! than 3 % of the heap's size and 16 bytes for each root, and nothing is kept for an object.
//! Refused: a copy of the graph that is written after the stop. That needs as much memory as the
//! heap, when memory is what is short.

mod census;
mod dominators;
mod exhausted;
mod hprof;
mod index;
mod json;
mod live;
#[cfg(all(test, not(loom)))]
mod tests;
mod v8;

pub use census::{Census, ShapeCensus};
#[doc(hidden)]
pub use dominators::{Dominators, Graph, NONE};

use crate::Heap;
use crate::mutator::{Mutator, StopError, World};
use allotment_output::OutputFile;
use json::Output;
use live::LiveHeap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The form of a snapshot's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotFormat {
    /// V8's `.heapsnapshot`: for Chrome, VS Code and memlab. They hold it in memory, and work well
    /// up to some ten million objects.
    #[default]
    HeapSnapshot,
    /// HPROF, as JVMs write it: for Eclipse MAT, VisualVM and hprof-slurp. Shapes are classes.
    Hprof,
}

/// The form of a snapshot, and its contents beside objects, sizes and references.
///
/// ```
/// use allotment::stats::{SnapshotFormat, SnapshotSettings};
///
/// let settings = SnapshotSettings::default().format(SnapshotFormat::Hprof).string_bytes(40);
/// assert_eq!((settings.format, settings.string_bytes), (SnapshotFormat::Hprof, 40));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotSettings {
    /// The format.
    pub format: SnapshotFormat,
    /// Bytes of each object's text that are written: of objects whose tail is plain bytes, such as
    /// [`Str`](crate::Str). 0, the default: none. A snapshot travels further than a process does,
    /// and texts may be secrets.
    pub string_bytes: usize,
}

impl SnapshotSettings {
    /// These settings with that format.
    #[must_use]
    pub fn format(self, format: SnapshotFormat) -> SnapshotSettings {
        SnapshotSettings { format, ..self }
    }

    /// These settings with that many bytes of each object's text.
    #[must_use]
    pub fn string_bytes(self, string_bytes: usize) -> SnapshotSettings {
        SnapshotSettings { string_bytes, ..self }
    }
}

/// The counts of a snapshot that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotSummary {
    /// Live objects.
    pub objects: u64,
    /// Their bytes, headers included.
    pub bytes: u64,
    /// References from live objects to live objects, weak ones included.
    pub references: u64,
    /// Roots in the file, which all refer to a live object. HPROF leaves weak ones out.
    pub roots: u64,
    /// Objects that are larger than the format can say, and are written as large as it can.
    pub clamped: u64,
    /// Bytes that were written.
    pub file_bytes: u64,
    /// Bytes of memory beside the heap that the snapshot took while the world stood still.
    pub table_bytes: u64,
}

/// The reason why there is no snapshot. The heap is as before, and its threads go on.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The world cannot be stopped here.
    #[error(transparent)]
    Stop(#[from] StopError),
    /// The writer failed.
    #[error("the snapshot cannot be written: {0}")]
    Write(#[source] io::Error),
    /// The file cannot be made, or written, or moved to its place. Nothing is left of it.
    #[error("{}: the snapshot cannot be written: {error}", path.display())]
    File {
        /// Where it was to be.
        path: PathBuf,
        /// The reason.
        #[source]
        error: io::Error,
    },
    /// There are more objects than the format, or a census with retained bytes, has numbers for.
    #[error("{objects} objects are live, and at most {most} can be numbered; HPROF can number more")]
    TooManyObjects {
        /// Live objects.
        objects: u64,
        /// The most.
        most: u64,
    },
    /// There are more references than the format has numbers for.
    #[error(
        "live objects and roots have {references} references, and at most {most} can be numbered; HPROF can number more"
    )]
    TooManyReferences {
        /// References from live objects and roots to live objects.
        references: u64,
        /// The most.
        most: u64,
    },
    /// The system has no memory for the tables.
    #[error("the system has no memory for the {bytes} bytes that the snapshot needs")]
    NoMemory {
        /// Bytes that were asked for at once.
        bytes: usize,
    },
    /// A reference leads to an address at which no object is.
    #[error(
        "the heap is broken: a reference leads to {address:#x}, where no object is; `Heap::verify` finds out more"
    )]
    Broken {
        /// The address.
        address: usize,
    },
}
crate::debug::debug_is_display!(SnapshotError);

/// The work on a stopped heap.
type Task<'t, R> = &'t mut dyn FnMut(&World<'_>) -> Result<R, SnapshotError>;

impl Heap {
    fn stopped<R>(&self, task: Task<'_, R>) -> Result<R, SnapshotError> {
        loop {
            if let Some(outcome) = self.shared.stop_the_world(|world| task(world))? {
                return outcome;
            }
        }
    }

    /// Writes a snapshot of all live objects: as V8's `.heapsnapshot`, which Chrome, VS Code and
    /// memlab open, or as HPROF. Shapes are constructors, slots are properties, roots stand by kind
    /// under `(GC roots)`.
    ///
    /// The caller is a thread that is not attached, or is in [`Mutator::blocking`]; an attached one
    /// calls [`Mutator::snapshot`]. All threads stand still until the last byte is given to
    /// `writer`. So `writer` must not wait for an attached thread of this heap. If it panics, the
    /// process ends. The snapshot's tables take less than 3 % of the heap's size, and 16 bytes for
    /// each root, beside the heap. For a file, call [`snapshot_to_file`](Self::snapshot_to_file),
    /// which leaves no half of it.
    ///
    /// ```
    /// let heap = allotment::Heap::builder().max_heap_size(16 << 20).build()?;
    /// let mut file = Vec::new();
    /// let summary = heap.snapshot(&mut file, &Default::default())?;
    /// assert_eq!((summary.objects, summary.file_bytes), (0, file.len() as u64));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SnapshotError`]. The heap is then as before.
    pub fn snapshot(
        &self,
        writer: &mut dyn Write,
        settings: &SnapshotSettings,
    ) -> Result<SnapshotSummary, SnapshotError> {
        self.stopped(&mut |world| write(world, writer, settings))
    }

    /// Writes a [`snapshot`](Self::snapshot) to a file. It is written beside its place under
    /// another name, and moved there when it is whole. A link at the path is followed, a pipe or a
    /// device is written through. A pipe that is full is waited for while the world stands still.
    ///
    /// A new file is for its owner alone (mode 600), since names and texts may be secrets. A file
    /// that is replaced keeps its mode.
    ///
    /// ```
    /// # use allotment::Heap;
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("live.heapsnapshot");
    /// let summary = heap.snapshot_to_file(&path, &Default::default())?;
    /// assert_eq!(summary.file_bytes, path.metadata()?.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SnapshotError`], with the path. Nothing is left of the file then; one that was there
    /// before is as it was.
    pub fn snapshot_to_file(
        &self,
        path: impl AsRef<Path>,
        settings: &SnapshotSettings,
    ) -> Result<SnapshotSummary, SnapshotError> {
        to_file(path.as_ref(), &mut |file| self.snapshot(file, settings))
    }

    /// Counts live objects and their bytes by shape. Retained bytes need a copy of the references:
    /// about 80 bytes for each object and 8 for each reference, most of it after the threads go on.
    ///
    /// The caller is a thread that is not attached, or is in [`Mutator::blocking`]; an attached one
    /// calls [`Mutator::census`].
    ///
    /// ```
    /// let heap = allotment::Heap::builder().max_heap_size(16 << 20).build()?;
    /// let census = heap.census(true)?;
    /// assert_eq!(census.objects, 0);
    /// println!("{census}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SnapshotError`].
    pub fn census(&self, retained: bool) -> Result<Census, SnapshotError> {
        finish_census(self.stopped(&mut |world| take_census(world, retained))?)
    }
}

impl Mutator<'_> {
    fn stopped<R>(&mut self, task: Task<'_, R>) -> Result<R, SnapshotError> {
        loop {
            if let Some(outcome) = self.raw_mut().stop_the_world(|world| task(world)) {
                return outcome;
            }
        }
    }

    /// As [`Heap::snapshot`], for an attached thread. This is a safepoint.
    ///
    /// ```
    /// # use allotment::Heap;
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let mut file = Vec::new();
    /// let summary = heap.attach(|mu| mu.snapshot(&mut file, &Default::default()))??;
    /// assert_eq!(summary.file_bytes, file.len() as u64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Heap::snapshot`].
    pub fn snapshot(
        &mut self,
        writer: &mut dyn Write,
        settings: &SnapshotSettings,
    ) -> Result<SnapshotSummary, SnapshotError> {
        self.stopped(&mut |world| write(world, writer, settings))
    }

    /// As [`Heap::snapshot_to_file`], for an attached thread. This is a safepoint.
    ///
    /// ```
    /// # use allotment::Heap;
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("live.heapsnapshot");
    /// let summary = heap.attach(|mu| mu.snapshot_to_file(&path, &Default::default()))??;
    /// assert_eq!(summary.file_bytes, path.metadata()?.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Heap::snapshot_to_file`].
    pub fn snapshot_to_file(
        &mut self,
        path: impl AsRef<Path>,
        settings: &SnapshotSettings,
    ) -> Result<SnapshotSummary, SnapshotError> {
        to_file(path.as_ref(), &mut |file| self.snapshot(file, settings))
    }

    /// As [`Heap::census`], for an attached thread. This is a safepoint.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let census = heap.attach(|mu| {
    ///     root!(mu, _kept = alloc!(mu, NewStr::from("text"))?);
    ///     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(mu.census(false)?)
    /// })?.map_err(|error| error.to_string())?;
    /// assert_eq!((census.objects, &*census.shapes[0].name), (1, "Str"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Heap::census`].
    pub fn census(&mut self, retained: bool) -> Result<Census, SnapshotError> {
        finish_census(self.stopped(&mut |world| take_census(world, retained))?)
    }
}

fn write(
    world: &World<'_>,
    writer: &mut dyn Write,
    settings: &SnapshotSettings,
) -> Result<SnapshotSummary, SnapshotError> {
    let live = LiveHeap::find(world)?;
    let write = match settings.format {
        SnapshotFormat::HeapSnapshot => v8::write,
        SnapshotFormat::Hprof => hprof::write,
    };
    write(&live, Output::new(writer), settings.string_bytes)
}

/// Calls `write` with a file that appears at `path` if all goes well.
fn to_file(
    path: &Path,
    write: &mut dyn FnMut(&mut OutputFile) -> Result<SnapshotSummary, SnapshotError>,
) -> Result<SnapshotSummary, SnapshotError> {
    let named = |error| SnapshotError::File { path: path.to_owned(), error };
    let mut file = OutputFile::create_private(path).map_err(named)?;
    let summary = write(&mut file).map_err(|error| match error {
        SnapshotError::Write(error) => named(error),
        other => other,
    })?;
    file.finish().map_err(named)?;
    Ok(summary)
}

/// Counts objects in the stop, and copies the references from which retained bytes are computed
/// afterwards.
fn take_census(world: &World<'_>, retained: bool) -> Result<(Census, Option<Graph>), SnapshotError> {
    let live = LiveHeap::find(world)?;
    let graph = if retained { Some(census::graph(&live)?) } else { None };
    Ok((Census::of(&live), graph))
}

fn finish_census((mut census, graph): (Census, Option<Graph>)) -> Result<Census, SnapshotError> {
    if let Some(graph) = graph {
        census.add_retained(&graph)?;
    }
    census.sort();
    Ok(census)
}
