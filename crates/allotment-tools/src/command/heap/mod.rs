//! `allotment heap`: what is in a snapshot of a heap, who holds it, and what has grown.

mod diff;
mod dominators;
mod layouts;
mod objects;
mod path;
mod summary;

use super::{failed, incomparable};
use crate::snapshot::{Depth, Snapshot, read};
use allotment_report::command::rows::{both_readable, named};
use allotment_report::command::{Failure, print};
use allotment_report::format::{Input, open_binary, width};
use diff::diff;
use dominators::dominators;
use layouts::layouts;
use path::path;
use std::path::{Path, PathBuf};
use summary::summary;

/// The commands for snapshots: V8's `.heapsnapshot`, or HPROF.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum HeapArguments {
    /// Print objects and bytes by shape, and the roots by kind.
    Summary(OneFile),
    /// Print the objects and the shapes that retain most, and the holder of each object.
    Dominators(OneFile),
    /// Print the shortest path of references from a root to an object.
    Path(PathArguments),
    /// Print the shapes by the growth of their bytes between two snapshots.
    Diff(TwoFiles),
    /// Print the layouts of the shapes; only .heapsnapshot files of our heaps have them.
    Layout(OneFile),
}

impl HeapArguments {
    /// The advice where nothing follows `heap`.
    pub const NOTHING_GIVEN: &str =
        "nothing to do was given; write allotment heap summary, dominators, path, diff or layout";
}

/// A snapshot, and how much of it is shown.
#[derive(Clone, Debug, clap::Args)]
pub struct OneFile {
    /// The snapshot.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Show at most this many rows of each table; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}

/// A snapshot, and an object in it.
#[derive(Clone, Debug, clap::Args)]
pub struct PathArguments {
    /// The snapshot.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The object's id, as `heap dominators`, Chrome and Eclipse MAT print it: @1234 in a
    /// .heapsnapshot, 0x7ff12340 in HPROF.
    #[arg(value_name = "OBJECT")]
    pub object: String,

    /// Show at most this many steps, and leave out those in the middle; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}

/// Two snapshots, and how much of their difference is shown.
#[derive(Clone, Debug, clap::Args)]
pub struct TwoFiles {
    /// The earlier snapshot.
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,

    /// The later one, in the same format.
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,

    /// Show at most this many rows; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}

/// Reads snapshots and prints what was asked for.
///
/// # Errors
/// [`Failure::Failed`] if a file cannot be read or is not a whole snapshot, if two have different
/// formats, or if there is no such object. [`Failure::Usage`] if both files are standard input.
pub(super) fn heap(arguments: &HeapArguments) -> Result<(), Failure> {
    let columns = width::of_output();
    let text = match arguments {
        HeapArguments::Summary(one) => summary(&open(&one.file, Depth::Rows)?, one.top, columns),
        HeapArguments::Dominators(one) => {
            let snapshot = open(&one.file, Depth::References)?;
            dominators(&snapshot, one.top, columns).map_err(|error| named(&one.file, &error))?
        }
        HeapArguments::Path(one) => {
            let snapshot = open(&one.file, Depth::References)?;
            path(&snapshot, &one.object, one.top, columns)
                .map_err(|error| failed(format!("{}: {error}", Input::quoted(&one.file))))?
        }
        HeapArguments::Diff(two) => {
            both_readable(&two.before, &two.after)?;
            let (before, after) = (open(&two.before, Depth::Rows)?, open(&two.after, Depth::Rows)?);
            diff(&before, &after, two.top, columns)
                .map_err(|why| incomparable(&two.before, &two.after, &why))?
        }
        HeapArguments::Layout(one) => {
            let snapshot = open(&one.file, Depth::Rows)?;
            layouts(&snapshot, one.top).map_err(|error| named(&one.file, &error))?
        }
    };
    print(&text)
}

/// All output for a snapshot with these bytes, or why they are not a snapshot. It does the work of
/// `heap` without files, so that a test can call it with arbitrary bytes.
///
/// # Errors
/// Why the bytes are not a snapshot.
pub fn tell_heap(bytes: &[u8]) -> Result<String, String> {
    let of = |depth| read(&mut &*bytes, depth).map_err(|error| error.to_string());
    let (rows, whole) = (of(Depth::Rows)?, of(Depth::References)?);
    let mut told = summary(&rows, 0, None) + &dominators(&whole, 0, Some(40))?;
    // The last object is the one that is farthest from the roots, often.
    if let Some(last) = whole.ids.last() {
        told += &path(&whole, &format!("{last:#x}"), 0, Some(40)).unwrap_or_default();
    }
    Ok(told + &diff(&rows, &whole, 0, None)? + &layouts(&rows, 0).unwrap_or_default())
}

/// Reads a file, which may be packed by gzip.
fn open(path: &Path, depth: Depth) -> Result<Snapshot, Failure> {
    let mut file = open_binary(path).map_err(failed)?;
    read(&mut file, depth).map_err(|error| named(path, &error))
}
