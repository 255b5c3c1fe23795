//! HPROF, as JVMs, Android and our heaps write it.
//!
//! A file is a list of records: names, classes, stacks, and segments of the heap. `parts` reads what
//! is in segments. When all is read, `rows` names classes and says how large objects are, and `link`
//! makes nodes of ids: records may come in any order. `sizes` knows how objects lie in a JVM.
//!
//! A class is an object too: its static fields, superclass and loader are its references. Each
//! instance refers to its class, and each loader to its classes, as in the JVM. The files
//! of our heaps have no such objects, since a shape is not an object.

mod link;
mod parts;
mod rows;
mod sizes;
#[cfg(test)]
mod tests;

use super::input::SnapshotInput;
use super::labels::Label;
use super::{Depth, Row, Snapshot, unknown};
use crate::FileError;
use crate::numbers::Numbers;
use sizes::{Evidence, KNOWN};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The most bytes of a string: a name of a class or a field. Strings of a program are arrays.
const MOST_STRING_BYTES: u64 = 1 << 20;

/// The longest chain of classes above a class.
const MOST_CLASSES_ABOVE: usize = 1000;

/// The type of fields that are references.
const OBJECT: u8 = 2;

/// A type of data.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct DataType {
    /// The name of an array of them.
    array: &'static str,
    /// Bytes of one.
    bytes: u64,
}

/// The type of data with this number.
fn data_type(kind: u8) -> Option<DataType> {
    let (array, bytes) = match kind {
        4 => ("boolean[]", 1),
        5 => ("char[]", 2),
        6 => ("float[]", 4),
        7 => ("double[]", 8),
        8 => ("byte[]", 1),
        9 => ("short[]", 2),
        10 => ("int[]", 4),
        11 => ("long[]", 8),
        _ => return None,
    };
    Some(DataType { array, bytes })
}

/// A class as the file describes it.
#[derive(Default)]
struct Class {
    above: u64,
    loader: u64,
    /// Its own fields: types, and numbers of labels.
    fields: Vec<(u8, usize)>,
    /// Static fields that are references.
    static_references: u64,
    /// Bytes of the other static fields.
    static_bytes: u64,
}

/// The kind of the objects of a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum RowKind {
    /// The root, which is not an object.
    Roots,
    /// The classes.
    Classes,
    /// Instances of a class.
    Instances(u64),
    /// Arrays of references, whose class this is.
    Objects(u64),
    /// Arrays of data of a type.
    Data(DataType),
}

/// The name of a reference.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum ReferenceName {
    /// A field, by the id of its name.
    Field(u64),
    /// A static field, by the id of its name.
    Static(u64),
    /// A name that is not of a field.
    Fixed(&'static str),
}

/// An object whose class is not described so far: its node, its class, and the bytes of its fields.
struct LateInstance {
    node: Option<usize>,
    class: u64,
    bytes: Vec<u8>,
}

/// A root: the tag of its kind, the object, and the number of the thread that it belongs to.
#[derive(Clone, Copy)]
struct Root {
    id: u64,
    thread: u32,
    tag: u8,
}

/// The references of a node, by place in the list of all.
#[derive(Clone, Copy, Default)]
struct Run {
    first: usize,
    count: usize,
}

/// A file, as far as it was read.
#[derive(Default)]
struct HprofReader {
    /// Bytes of an id.
    id_bytes: u32,
    depth: Depth,
    strings: HashMap<u64, Arc<str>>,
    /// By class: the id of its name.
    class_names: HashMap<u64, u64>,
    classes: HashMap<u64, Class>,
    /// The kinds of rows.
    kinds: Numbers<RowKind>,
    /// By row of arrays: their bytes, for each of the sizes that they may have.
    array_bytes: Vec<[u64; KNOWN.len()]>,
    evidence: Evidence,
    /// Classes have ids that only our heaps give.
    ours: Option<bool>,
    snapshot: Snapshot,
    /// By id: the node.
    nodes: HashMap<u64, u32>,
    /// By node.
    runs: Vec<Run>,
    /// Ids that references lead to, and how these are called.
    targets: Vec<(u64, Label)>,
    /// Numbers of what references are called.
    labels: Numbers<ReferenceName>,
    late: Vec<LateInstance>,
    roots: Vec<Root>,
    /// Roots by tag.
    root_counts: BTreeMap<u8, u64>,
}

pub(super) fn read(input: &mut SnapshotInput<'_>, depth: Depth) -> Result<Snapshot, FileError> {
    let mut version = Vec::new();
    while !version.ends_with(b"\0") {
        if version.len() > 32 {
            return Err(unknown());
        }
        version.push(input.byte("the head")?);
    }
    if !version.starts_with(b"JAVA PROFILE 1.0.") {
        return Err(unknown());
    }
    let id_bytes = input.number(4, "the head")?;
    if id_bytes != 4 && id_bytes != 8 {
        return Err(input.broken(format!("ids of {id_bytes} bytes; 4 or 8 work")));
    }
    input.skip(8, "the head")?;
    let snapshot = Snapshot { format: "HPROF", addresses: true, ..Snapshot::default() };
    let mut reader = HprofReader { id_bytes: id_bytes as u32, depth, snapshot, ..HprofReader::default() };
    reader.all(input)?;
    reader.late_classes(input)?;
    Ok(reader.finish())
}

impl HprofReader {
    fn all(&mut self, input: &mut SnapshotInput<'_>) -> Result<(), FileError> {
        if self.depth == Depth::References {
            let row = self.row(RowKind::Roots);
            self.snapshot.graph.bytes.push(0);
            self.snapshot.graph.class.push(row as u32);
            self.snapshot.ids.push(0);
            self.runs.push(Run::default());
        }
        // A heap in one piece, as old JVMs wrote it, has no record at its end.
        let mut ended = false;
        while input.peek()?.is_some() {
            let tag = input.byte("a record")?;
            input.skip(4, "a record")?;
            let length = input.number(4, "a record")?;
            let end = input.at() + length;
            match tag {
                0x01 => self.string(input, end)?,
                0x02 => {
                    input.skip(4, "a class")?;
                    let class = self.id(input, "a class")?;
                    input.skip(4, "a class")?;
                    let name = self.id(input, "a class")?;
                    self.class_names.insert(class, name);
                }
                0x0C | 0x1C if length == 0 => {
                    // Its length did not fit, or was to be written later: it goes on to the next
                    // record of a heap, or to the end of the file.
                    while !matches!(input.peek()?, None | Some(0x0C | 0x1C | 0x2C)) {
                        self.part(input)?;
                        ended = true;
                    }
                    ended |= tag == 0x0C;
                    continue;
                }
                0x0C | 0x1C => {
                    ended |= tag == 0x0C;
                    while input.at() < end {
                        self.part(input)?;
                    }
                }
                0x2C => ended = true,
                _ => input.skip(length, "a record")?,
            }
            if input.at() != end {
                let what = format!(
                    "a record of type {tag:#04x} states {length} bytes, but its contents have a different length"
                );
                return Err(input.broken(what));
            }
        }
        if ended { Ok(()) } else { Err(FileError::Cut { at: input.at(), what: "the records" }) }
    }

    /// A record with a string, up to `end`.
    fn string(&mut self, input: &mut SnapshotInput<'_>, end: u64) -> Result<(), FileError> {
        let id = self.id(input, "a string")?;
        let rest = end.checked_sub(input.at());
        let rest = rest.ok_or_else(|| input.broken("a string that is shorter than its id"))?;
        if rest > MOST_STRING_BYTES {
            let what = format!("a name of {rest} bytes; {MOST_STRING_BYTES} are the most");
            return Err(input.broken(what));
        }
        let bytes = input.bytes(rest, "a string")?;
        self.strings.insert(id, String::from_utf8_lossy(&bytes).into());
        Ok(())
    }

    fn id(&self, input: &mut SnapshotInput<'_>, what: &'static str) -> Result<u64, FileError> {
        input.number(self.id_bytes, what)
    }

    /// Bytes of a value of this type.
    fn bytes_of(&self, input: &SnapshotInput<'_>, kind: u8) -> Result<u64, FileError> {
        match (kind, data_type(kind)) {
            (OBJECT, _) => Ok(self.id_bytes.into()),
            (_, Some(found)) => Ok(found.bytes),
            _ => Err(input.broken(format!("a value of type {kind}; 2 and 4 to 11 are known"))),
        }
    }

    /// The row of a kind of objects.
    fn row(&mut self, kind: RowKind) -> usize {
        let row = self.kinds.of(kind);
        if row == self.snapshot.rows.len() {
            self.snapshot.rows.push(Row::default());
            self.array_bytes.push([0; KNOWN.len()]);
        }
        row
    }
}
