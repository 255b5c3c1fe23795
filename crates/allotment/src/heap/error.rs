//! The reasons why a heap could not be made, each layer's in its own words.

use crate::options::OptionError;
use crate::platform::{AttachListenerError, MemoryError, PrefetchError};
use crate::region::GeometryError;
use crate::timeline::TimelineError;
use std::io;
use std::path::PathBuf;

/// The reason why a heap could not be made.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An option is wrong, two contradict each other, or one asks for a feature that this machine
    /// lacks.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The heap cannot be divided into regions.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The system does not give the memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// `AllocatePrefetch` options that do not work together, or not on this processor.
    #[error(transparent)]
    Prefetch(#[from] PrefetchError),
    /// The system gives less memory than the heap needs at its start.
    #[error("InitialHeapSize={bytes}: the system refused to commit that much; a smaller size may work")]
    InitialHeap {
        /// InitialHeapSize in bytes.
        bytes: usize,
    },
    /// The file that `AllocationProfile` or `GCLog` names cannot be written.
    #[error(
        "{option}={}: the file cannot be written: {source}; choose a file in a folder that is there, and in which this \
         program may make files",
        path.display()
    )]
    File {
        /// The option.
        option: &'static str,
        /// The path, with `%p` and `%t` replaced.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// No snapshot can be written to the directory that `SnapshotOnOutOfMemory` names.
    #[error(
        "SnapshotOnOutOfMemory={}: no file can be made there: {source}; choose a folder in which this program may make \
         files, or a new one in such a folder",
        path.display()
    )]
    Directory {
        /// The path, with `%p` and `%t` replaced.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The system gives no thread to write the file that `GCLog` names.
    #[error(
        "GCLog={}: the system refused the thread that writes the file: {source}; a higher limit on threads may work",
        path.display()
    )]
    Thread {
        /// The path, with `%p` and `%t` replaced.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The file of `Timeline` cannot be written, or the system refuses the thread that writes it.
    #[error(transparent)]
    Timeline(#[from] TimelineError),
    /// A heap with a clock of the program's has no timeline.
    #[error(
        "Timeline={path}: this heap decides by a clock of the program's (`HeapBuilder::clock`), and a timeline shows the \
         system's time; leave one of them out"
    )]
    TimelineWithClock {
        /// The path.
        path: String,
    },
    /// The heap cannot listen for other processes (`StartAttachListener`).
    #[error(transparent)]
    AttachListener(#[from] AttachListenerError),
}
crate::debug::debug_is_display!(BuildError);
