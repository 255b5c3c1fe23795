//! HPROF, as our heaps and as JVMs write it.
//!
//! Sizes are a reckoning in any reader. Here an instance has 8 bytes and its fields, an array has
//! its elements: that is exact for what our heaps write.

use super::input::Input;
use super::{Depth, Row, Snapshot, SnapshotFileError};
use std::collections::HashMap;

/// Bytes of an instance beside its fields.
const HEADER_BYTES: u64 = 8;

/// The most bytes of a string: a name of a class or a field. Strings of a program are arrays.
const MOST_STRING_BYTES: u64 = 1 << 20;

/// The longest chain of classes above a class.
const MOST_CLASSES_ABOVE: usize = 1000;

/// The type of fields that are references.
const OBJECT: u8 = 2;

#[derive(Default)]
struct Class {
    above: u64,
    /// Types of its own fields.
    fields: Vec<u8>,
}

struct Reader<'i, 'f> {
    input: &'i mut Input<'f>,
    /// Bytes of an id.
    id_bytes: u32,
    depth: Depth,
    strings: HashMap<u64, String>,
    /// By class: the id of its name.
    class_names: HashMap<u64, u64>,
    classes: HashMap<u64, Class>,
    /// By class, and by type for arrays of other things: the row.
    rows: HashMap<u64, usize>,
    /// By row: the class; `None` for arrays, whose row has its name already.
    row_classes: Vec<Option<u64>>,
    snapshot: Snapshot,
    /// By id: the node.
    nodes: HashMap<u64, u32>,
    /// Ids that references lead to, node by node.
    targets: Vec<u64>,
    roots: Vec<u64>,
    /// Roots by tag.
    root_counts: [u64; 256],
    /// The heap is not in segments.
    in_one_piece: bool,
}

pub(super) fn read(input: &mut Input<'_>, depth: Depth) -> Result<Snapshot, SnapshotFileError> {
    let mut version = Vec::new();
    loop {
        match input.byte("the head")? {
            0 => break,
            byte => version.push(byte),
        }
        if version.len() > 32 {
            return Err(SnapshotFileError::Unknown);
        }
    }
    if !version.starts_with(b"JAVA PROFILE 1.0.") {
        return Err(SnapshotFileError::Unknown);
    }
    let id_bytes = input.number(4, "the head")?;
    if id_bytes != 4 && id_bytes != 8 {
        return Err(input.broken(format!("ids of {id_bytes} bytes; 4 or 8 work")));
    }
    input.skip(8, "the head")?;
    let mut reader = Reader {
        input,
        id_bytes: id_bytes as u32,
        depth,
        strings: HashMap::new(),
        class_names: HashMap::new(),
        classes: HashMap::new(),
        rows: HashMap::new(),
        row_classes: Vec::new(),
        snapshot: Snapshot { format: "HPROF", ..Snapshot::default() },
        nodes: HashMap::new(),
        targets: Vec::new(),
        roots: Vec::new(),
        root_counts: [0; 256],
        in_one_piece: false,
    };
    reader.all()?;
    reader.finish()
}

impl Reader<'_, '_> {
    fn all(&mut self) -> Result<(), SnapshotFileError> {
        let mut ended = false;
        if self.depth == Depth::References {
            // The root. Where its targets end is known last.
            self.snapshot.graph.bytes.push(0);
            self.snapshot.graph.class.push(0);
            self.snapshot.graph.first.push(0);
            self.snapshot.rows.push(Row { name: "(roots)".into(), objects: 1, bytes: 0, synthetic: true });
            self.row_classes.push(None);
        }
        while self.input.peek()?.is_some() {
            let tag = self.input.byte("a record")?;
            self.input.skip(4, "a record")?;
            let length = self.input.number(4, "a record")?;
            let end = self.input.at() + length;
            match tag {
                0x01 => {
                    let id = self.id("a string")?;
                    let rest = end.checked_sub(self.input.at());
                    let rest =
                        rest.ok_or_else(|| self.input.broken("a string that is shorter than its id"))?;
                    if rest > MOST_STRING_BYTES {
                        let what = format!("a name of {rest} bytes; {MOST_STRING_BYTES} are the most");
                        return Err(self.input.broken(what));
                    }
                    let text = String::from_utf8(self.input.bytes(rest, "a string")?);
                    let text =
                        text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
                    self.strings.insert(id, text);
                }
                0x02 => {
                    self.input.skip(4, "a class")?;
                    let class = self.id("a class")?;
                    self.input.skip(4, "a class")?;
                    let name = self.id("a class")?;
                    self.class_names.insert(class, name);
                }
                0x0C | 0x1C => {
                    self.in_one_piece |= tag == 0x0C;
                    while self.input.at() < end {
                        self.part()?;
                    }
                }
                0x2C => ended = true,
                _ => self.input.skip(length, "a record")?,
            }
            if self.input.at() != end {
                let what =
                    format!("a record of type {tag:#04x} has {length} bytes, and what is in it has not");
                return Err(self.input.broken(what));
            }
        }
        // A heap in one piece (tag 0x0C), as old JVMs wrote it, has no end.
        if ended || self.in_one_piece {
            Ok(())
        } else {
            Err(SnapshotFileError::Cut { at: self.input.at(), what: "the records" })
        }
    }

    fn id(&mut self, what: &'static str) -> Result<u64, SnapshotFileError> {
        self.input.number(self.id_bytes, what)
    }

    /// Bytes of a value of this type.
    fn bytes_of(&self, kind: u8) -> Result<u64, SnapshotFileError> {
        match kind {
            OBJECT => Ok(u64::from(self.id_bytes)),
            4 | 8 => Ok(1),
            5 | 9 => Ok(2),
            6 | 10 => Ok(4),
            7 | 11 => Ok(8),
            _ => Err(self.input.broken(format!("a value of type {kind}; 2 and 4 to 11 are known"))),
        }
    }

    /// A part of a segment.
    fn part(&mut self) -> Result<(), SnapshotFileError> {
        let tag = self.input.byte("a segment")?;
        let ids = u64::from(self.id_bytes);
        match tag {
            0xFF | 0x05 | 0x07 => self.root(tag, 0),
            0x01 => self.root(tag, ids),
            0x02 | 0x03 | 0x08 => self.root(tag, 8),
            0x04 | 0x06 => self.root(tag, 4),
            0x20 => self.class(),
            0x21 => self.instance(),
            0x22 => self.objects(),
            0x23 => self.data(),
            _ => Err(self.input.broken(format!("no part of a segment has the type {tag:#04x}"))),
        }
    }

    fn root(&mut self, tag: u8, more: u64) -> Result<(), SnapshotFileError> {
        let id = self.id("a root")?;
        self.input.skip(more, "a root")?;
        self.root_counts[usize::from(tag)] += 1;
        if self.depth == Depth::References {
            self.roots.push(id);
        }
        Ok(())
    }

    fn class(&mut self) -> Result<(), SnapshotFileError> {
        const WHAT: &str = "a class";
        let id = self.id(WHAT)?;
        self.input.skip(4, WHAT)?;
        let above = self.id(WHAT)?;
        self.input.skip(5 * u64::from(self.id_bytes) + 4, WHAT)?;
        for _ in 0..self.input.number(2, WHAT)? {
            self.input.skip(2, WHAT)?;
            self.value_of_class()?;
        }
        for _ in 0..self.input.number(2, WHAT)? {
            self.id(WHAT)?;
            self.value_of_class()?;
        }
        let mut fields = Vec::new();
        for _ in 0..self.input.number(2, WHAT)? {
            self.id(WHAT)?;
            let kind = self.input.byte(WHAT)?;
            self.bytes_of(kind)?;
            fields.push(kind);
        }
        self.classes.insert(id, Class { above, fields });
        Ok(())
    }

    fn value_of_class(&mut self) -> Result<(), SnapshotFileError> {
        let kind = self.input.byte("a class")?;
        let bytes = self.bytes_of(kind)?;
        self.input.skip(bytes, "a class")
    }

    fn instance(&mut self) -> Result<(), SnapshotFileError> {
        const WHAT: &str = "an object";
        let id = self.id(WHAT)?;
        self.input.skip(4, WHAT)?;
        let class = self.id(WHAT)?;
        let length = self.input.number(4, WHAT)?;
        let end = self.input.at() + length;
        self.node(id, class, None, HEADER_BYTES + length)?;
        let (mut at, mut above) = (class, 0);
        while at != 0 {
            let Some(found) = self.classes.get(&at) else {
                return Err(self
                    .input
                    .broken(format!("an object of class {at:#x}, which is not described before it")));
            };
            let (fields, next) = (found.fields.clone(), found.above);
            for kind in fields {
                if kind == OBJECT {
                    let target = self.id(WHAT)?;
                    self.reference(target);
                } else {
                    let bytes = self.bytes_of(kind)?;
                    self.input.skip(bytes, WHAT)?;
                }
            }
            at = next;
            above += 1;
            if above > MOST_CLASSES_ABOVE {
                return Err(self
                    .input
                    .broken(format!("more than {MOST_CLASSES_ABOVE} classes above a class")));
            }
        }
        if self.input.at() != end {
            let what = format!("an object of {length} bytes, and the fields of its class have not as many");
            return Err(self.input.broken(what));
        }
        Ok(())
    }

    fn objects(&mut self) -> Result<(), SnapshotFileError> {
        const WHAT: &str = "an array";
        let id = self.id(WHAT)?;
        self.input.skip(4, WHAT)?;
        let length = self.input.number(4, WHAT)?;
        let class = self.id(WHAT)?;
        self.node(id, class, None, length * u64::from(self.id_bytes))?;
        for _ in 0..length {
            let target = self.id(WHAT)?;
            self.reference(target);
        }
        Ok(())
    }

    fn data(&mut self) -> Result<(), SnapshotFileError> {
        const WHAT: &str = "an array";
        let id = self.id(WHAT)?;
        self.input.skip(4, WHAT)?;
        let length = self.input.number(4, WHAT)?;
        let kind = self.input.byte(WHAT)?;
        let bytes = length * self.bytes_of(kind)?;
        let name = match kind {
            4 => "boolean[]",
            5 => "char[]",
            6 => "float[]",
            7 => "double[]",
            8 => "byte[]",
            9 => "short[]",
            10 => "int[]",
            11 => "long[]",
            _ => return Err(self.input.broken("an array of references among those of data")),
        };
        self.node(id, u64::from(kind), Some(name), bytes)?;
        self.input.skip(bytes, WHAT)
    }

    fn reference(&mut self, target: u64) {
        if target != 0 {
            self.snapshot.references += 1;
            if self.depth == Depth::References {
                self.targets.push(target);
            }
        }
    }

    /// Counts an object; `array` is the name of an array of data.
    fn node(
        &mut self,
        id: u64,
        class: u64,
        array: Option<&str>,
        bytes: u64,
    ) -> Result<(), SnapshotFileError> {
        // No class has such an id: its object would lie at the end of the address space.
        let key = if array.is_some() { u64::MAX - class } else { class };
        let row = *self.rows.entry(key).or_insert_with(|| {
            let name = array.unwrap_or_default().to_owned();
            self.snapshot.rows.push(Row { name, ..Row::default() });
            self.row_classes.push(array.is_none().then_some(class));
            self.snapshot.rows.len() - 1
        });
        let entry = &mut self.snapshot.rows[row];
        entry.objects += 1;
        entry.bytes = entry.bytes.saturating_add(bytes);
        if self.depth == Depth::References {
            let graph = &mut self.snapshot.graph;
            let node = graph.bytes.len() as u64;
            if node >= u64::from(u32::MAX) - 1 {
                return Err(self.input.broken("more objects than 32 bits can count"));
            }
            if self.nodes.insert(id, node as u32).is_some() {
                return Err(self.input.broken(format!("object {id:#x} twice")));
            }
            graph.bytes.push(bytes);
            graph.class.push(row as u32);
            graph.first.push(self.targets.len());
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Snapshot, SnapshotFileError> {
        for (row, class) in self.row_classes.iter().enumerate() {
            let Some(class) = class else { continue };
            let name = self.class_names.get(class).and_then(|name| self.strings.get(name));
            self.snapshot.rows[row].name = name.cloned().unwrap_or_else(|| format!("class {class:#x}"));
        }
        for (tag, count) in self.root_counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let name = match tag {
                0x01 => "handles (JNI global)",
                0x02 => "frames (JNI local)",
                0x03 => "Java frames",
                0x04 => "providers (native stack)",
                0x05 => "system classes",
                0x06 => "thread blocks",
                0x07 => "monitors",
                0x08 => "threads",
                _ => "pins (unknown)",
            };
            self.snapshot.roots.push((name.to_owned(), *count));
        }
        if self.depth == Depth::References {
            self.link();
        }
        Ok(self.snapshot)
    }

    /// Makes nodes of ids. The root's targets come first.
    fn link(&mut self) {
        let graph = &mut self.snapshot.graph;
        let mut targets = Vec::new();
        let node = |id: &u64| self.nodes.get(id).copied();
        targets.extend(self.roots.iter().filter_map(node));
        let starts = std::mem::take(&mut graph.first);
        graph.first.push(0);
        // Entry n + 1 says where the targets of node n + 1 begin; those of a class are not objects.
        for (place, start) in starts.iter().enumerate().skip(1) {
            graph.first.push(targets.len());
            let end = starts.get(place + 1).copied().unwrap_or(self.targets.len());
            targets.extend(self.targets[*start..end].iter().filter_map(node));
        }
        graph.first.push(targets.len());
        graph.targets = targets;
    }
}
