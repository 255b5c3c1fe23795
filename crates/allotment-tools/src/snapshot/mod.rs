//! Heap snapshots in files: V8's `.heapsnapshot` and HPROF, read once from front to back.
//!
//! A summary keeps a row for each shape, and nothing for an object. Dominators need the references,
//! so these are kept then, with ids and names of fields: some 125 bytes for each object while they are
//! computed. Nothing is allocated because a file announces it: what a broken file costs is bounded by
//! its own size. A small file may unpack to a large one, so names and the head have limits.
//!
//! Both formats become the same [`Snapshot`]. Refused: a JSON library for the file as a whole. It
//! would hold every number of a gigabyte as a value of its own.

mod hprof;
mod input;
mod json;
mod labels;
mod v8;

use crate::FileError;
pub use allotment::internals::snapshot::{Dominators, Graph, NONE};
use input::SnapshotInput;
pub use labels::{Label, Labels};
use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

/// The content of a file.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The name of the format.
    pub format: &'static str,
    /// The classes: shapes, as our snapshots have them.
    pub rows: Vec<Row>,
    /// References between objects.
    pub references: u64,
    /// The kinds of roots, each with its count.
    pub roots: Vec<(String, u64)>,
    /// The shapes' layouts, where the file has them.
    pub layouts: Option<Vec<ShapeLayout>>,
    /// The sizes of references and headers that the bytes are computed from, where the file does
    /// not have bytes.
    pub sizes: Option<&'static str>,
    /// The strong references: node 0 is the root, and the class of a node is its row. Empty, as all
    /// below, unless it was asked for.
    pub graph: Graph,
    /// The labels of the references.
    pub labels: Labels,
    /// By node: its id in the file.
    pub ids: Vec<u64>,
    /// Whether the file is HPROF: ids are addresses, which tools show as hexadecimal numbers, and
    /// references of the root have the names of kinds of roots.
    pub addresses: bool,
    /// By node that is a class: the class's name.
    pub class_objects: HashMap<u32, Arc<str>>,
}

/// The objects of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The name of the class. Rows of one name may share it: names in files may be long.
    pub name: Arc<str>,
    /// Objects.
    pub objects: u64,
    /// Their bytes, as the format counts them.
    pub bytes: u64,
    /// Whether the nodes stand for roots and are not objects.
    pub synthetic: bool,
}

/// The layout of a shape.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct ShapeLayout {
    /// The shape's name.
    pub name: String,
    /// Live objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes before the tail; without a tail, bytes of an object.
    pub fixed_bytes: u64,
    /// Bytes of an element; 0: no tail.
    pub element_bytes: u64,
    /// `none`, `plain`, `strong` or `weak`.
    pub elements: String,
    /// Whether a function knows where slots are.
    pub traced: bool,
    /// The slots.
    pub slots: Vec<LayoutSlot>,
}

/// A slot in a layout.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct LayoutSlot {
    /// Its name.
    pub name: String,
    /// Bytes from the header.
    pub offset: u64,
    /// Whether it lets its referent die.
    pub weak: bool,
}

/// The part of a file that is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// The rows.
    #[default]
    Rows,
    /// And the references.
    References,
}

/// Reads a snapshot.
///
/// # Errors
/// [`FileError`].
pub fn read(file: &mut dyn Read, depth: Depth) -> Result<Snapshot, FileError> {
    let mut input = SnapshotInput::new(file);
    match input.peek()? {
        Some(b'J') => hprof::read(&mut input, depth),
        Some(b'{' | b' ' | b'\n' | b'\r' | b'\t') => v8::read(&mut input, depth),
        _ => Err(unknown()),
    }
}

/// The error for a file of another format.
fn unknown() -> FileError {
    FileError::Unfit(
        "it is neither a V8 heap snapshot, which begins with {\"snapshot\":, nor HPROF; name a file of one of these".into(),
    )
}

impl Snapshot {
    /// Objects of all rows that are objects, and their bytes.
    pub fn total(&self) -> (u64, u64) {
        let rows = self.rows.iter().filter(|row| !row.synthetic);
        rows.fold((0, 0), |(objects, bytes): (u64, u64), row| {
            (objects + row.objects, bytes.saturating_add(row.bytes))
        })
    }

    /// The id of a node as Chrome shows it, `@12`, or Eclipse MAT, `@0x7ff12340`.
    pub fn id(&self, node: usize) -> String {
        let id = self.ids[node];
        if self.addresses { format!("@{id:#x}") } else { format!("@{id}") }
    }

    /// The rows of objects by name; those of one name together.
    pub fn by_name(&self) -> HashMap<&str, (u64, u64)> {
        let mut names = HashMap::new();
        for row in self.rows.iter().filter(|row| !row.synthetic) {
            let entry: &mut (u64, u64) = names.entry(&*row.name).or_default();
            entry.0 += row.objects;
            entry.1 = entry.1.saturating_add(row.bytes);
        }
        names
    }
}

#[cfg(test)]
mod tests;
