//! The parts of a segment of an HPROF file: roots, classes, instances, arrays.

use super::sizes::KNOWN;
use super::{
    Class, HprofReader, LateInstance, MOST_CLASSES_ABOVE, OBJECT, ReferenceName, Root, RowKind, Run,
    data_type,
};
use crate::FileError;
use crate::snapshot::Depth;
use crate::snapshot::input::SnapshotInput;
use crate::snapshot::labels::Label;

/// Android's mark of objects that nothing leads to, which is a root by its place in the file only.
const UNREACHABLE: u8 = 0x90;

impl HprofReader {
    /// A part of a segment.
    pub(super) fn part(&mut self, input: &mut SnapshotInput<'_>) -> Result<(), FileError> {
        let tag = input.byte("a segment")?;
        let ids = u64::from(self.id_bytes);
        match tag {
            0xFF | 0x05 | 0x07 | 0x89..=0x8D | UNREACHABLE => self.root(input, tag, 0),
            0x01 => self.root(input, tag, ids),
            0x02 | 0x03 | 0x08 | 0x8E => self.root(input, tag, 8),
            0x04 | 0x06 => self.root(input, tag, 4),
            0x20 => self.class(input),
            0x21 => self.instance(input),
            0x22 => self.objects(input),
            0x23 => self.data(input, true),
            0xC3 => self.data(input, false),
            // Which of Android's heaps the following objects are in.
            0xFE => input.skip(4 + ids, "a segment"),
            _ => Err(input.broken(format!("no part of a segment has the type {tag:#04x}"))),
        }
    }

    fn root(&mut self, input: &mut SnapshotInput<'_>, tag: u8, more: u64) -> Result<(), FileError> {
        let id = self.id(input, "a root")?;
        let mut thread = 0;
        if matches!(tag, 0x02 | 0x03 | 0x08) {
            thread = input.number(4, "a root")? as u32;
            input.skip(4, "a root")?;
        } else {
            input.skip(more, "a root")?;
        }
        if tag == UNREACHABLE {
            return Ok(());
        }
        *self.root_counts.entry(tag).or_default() += 1;
        if self.depth == Depth::References {
            self.roots.push(Root { id, thread, tag });
        }
        Ok(())
    }

    fn class(&mut self, input: &mut SnapshotInput<'_>) -> Result<(), FileError> {
        const WHAT: &str = "a class";
        let id = self.id(input, WHAT)?;
        input.skip(4, WHAT)?;
        let mut class = Class { above: self.id(input, WHAT)?, ..Class::default() };
        class.loader = self.id(input, WHAT)?;
        // Our heaps give the first class the id 9, and the next ones 17, 25, ... JVMs have addresses
        // there, which are multiples of 8.
        let ours = *self.ours.get_or_insert(id % 8 == 1);
        let node = if ours { None } else { self.node(input, id, RowKind::Classes, None)? };
        let links = [class.above, class.loader, self.id(input, WHAT)?, self.id(input, WHAT)?];
        input.skip(2 * u64::from(self.id_bytes) + 4, WHAT)?;
        for _ in 0..input.number(2, WHAT)? {
            input.skip(2, WHAT)?;
            let kind = input.byte(WHAT)?;
            self.value_of_class(input, kind, ReferenceName::Fixed("<constant pool>"))?;
        }
        for _ in 0..input.number(2, WHAT)? {
            let name = self.id(input, WHAT)?;
            let kind = input.byte(WHAT)?;
            // HotSpot shows fields of its own as if they were static ones: <init_lock>.
            if !self.strings.get(&name).is_some_and(|name| name.starts_with('<')) {
                match kind {
                    OBJECT => class.static_references += 1,
                    _ => class.static_bytes += self.bytes_of(input, kind)?,
                }
            }
            self.value_of_class(input, kind, ReferenceName::Static(name))?;
        }
        if node.is_some() {
            // Eclipse MAT's names.
            let names = ["<super>", "<classloader>", "<signers>", "<protectiondomain>"];
            for (link, name) in links.into_iter().zip(names).filter(|(link, _)| *link != 0) {
                self.targets.push((link, Label::name(self.labels.of(ReferenceName::Fixed(name)))));
            }
        }
        self.end_node(node);
        for _ in 0..input.number(2, WHAT)? {
            let name = self.id(input, WHAT)?;
            let kind = input.byte(WHAT)?;
            self.bytes_of(input, kind)?;
            class.fields.push((kind, self.labels.of(ReferenceName::Field(name))));
        }
        self.classes.insert(id, class);
        Ok(())
    }

    /// A value that a class has, which may be a reference of this name.
    fn value_of_class(
        &mut self,
        input: &mut SnapshotInput<'_>,
        kind: u8,
        name: ReferenceName,
    ) -> Result<(), FileError> {
        let bytes = self.bytes_of(input, kind)?;
        if kind != OBJECT {
            return input.skip(bytes, "a class");
        }
        let target = self.id(input, "a class")?;
        let label = Label::name(self.labels.of(name));
        self.reference(target, label);
        Ok(())
    }

    fn instance(&mut self, input: &mut SnapshotInput<'_>) -> Result<(), FileError> {
        const WHAT: &str = "an object";
        let id = self.id(input, WHAT)?;
        input.skip(4, WHAT)?;
        let class = self.id(input, WHAT)?;
        let length = input.number(4, WHAT)?;
        let bytes = input.bytes(length, WHAT)?;
        let node = self.node(input, id, RowKind::Instances(class), None)?;
        if !self.fields(input, class, &bytes)? {
            self.late.push(LateInstance { node: node.map(|node| node as usize), class, bytes });
        }
        self.end_node(node);
        Ok(())
    }

    /// Takes the references from the fields of an object; false, and none, if the class or one above
    /// it is not described so far.
    fn fields(&mut self, input: &SnapshotInput<'_>, class: u64, bytes: &[u8]) -> Result<bool, FileError> {
        let (mut at, mut rest, before) = (class, bytes, self.targets.len());
        let mut references = 0;
        for _ in 0..=MOST_CLASSES_ABOVE {
            if at == 0 {
                break;
            }
            let Some(found) = self.classes.get(&at) else {
                self.targets.truncate(before);
                return Ok(false);
            };
            for (kind, name) in &found.fields {
                let size = self.bytes_of(input, *kind)? as usize;
                let Some((value, after)) = rest.split_at_checked(size) else {
                    return Err(other_length(input, bytes.len()));
                };
                rest = after;
                let target = value.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
                if *kind == OBJECT && target != 0 {
                    references += 1;
                    if self.depth == Depth::References {
                        self.targets.push((target, Label::name(*name)));
                    }
                }
            }
            at = found.above;
        }
        if at != 0 {
            let what = format!("more than {MOST_CLASSES_ABOVE} classes above a class");
            return Err(input.broken(what));
        }
        if !rest.is_empty() {
            return Err(other_length(input, bytes.len()));
        }
        self.snapshot.references += references;
        Ok(true)
    }

    /// Takes the references of objects whose classes came after them.
    pub(super) fn late_classes(&mut self, input: &SnapshotInput<'_>) -> Result<(), FileError> {
        for LateInstance { node, class, bytes } in std::mem::take(&mut self.late) {
            let first = self.targets.len();
            if !self.fields(input, class, &bytes)? {
                let what = format!("an object of class {class:#x}, which is not described, or one above it");
                return Err(input.broken(what));
            }
            if let Some(node) = node {
                self.runs[node] = Run { first, count: self.targets.len() - first };
            }
        }
        Ok(())
    }

    fn objects(&mut self, input: &mut SnapshotInput<'_>) -> Result<(), FileError> {
        const WHAT: &str = "an array";
        let id = self.id(input, WHAT)?;
        input.skip(4, WHAT)?;
        let length = input.number(4, WHAT)?;
        let class = self.id(input, WHAT)?;
        let node = self.node(input, id, RowKind::Objects(class), Some((length, 0)))?;
        for place in 0..length {
            let target = self.id(input, WHAT)?;
            self.reference(target, Label::element(place));
        }
        self.end_node(node);
        Ok(())
    }

    /// An array of data, whose data may be left out.
    fn data(&mut self, input: &mut SnapshotInput<'_>, present: bool) -> Result<(), FileError> {
        const WHAT: &str = "an array";
        let id = self.id(input, WHAT)?;
        input.skip(4, WHAT)?;
        let length = input.number(4, WHAT)?;
        let kind = input.byte(WHAT)?;
        let Some(data) = data_type(kind) else {
            return Err(input.broken(format!("an array of data of type {kind}; 4 to 11 are known")));
        };
        let node = self.node(input, id, RowKind::Data(data), Some((length, data.bytes)))?;
        self.end_node(node);
        if present { input.skip(length * data.bytes, WHAT) } else { Ok(()) }
    }

    fn reference(&mut self, target: u64, label: Label) {
        if target != 0 {
            self.snapshot.references += 1;
            if self.depth == Depth::References {
                self.targets.push((target, label));
            }
        }
    }

    /// Counts an object, and gives it a node if references are kept; `array`: its elements, and the
    /// bytes of one.
    fn node(
        &mut self,
        input: &SnapshotInput<'_>,
        id: u64,
        kind: RowKind,
        array: Option<(u64, u64)>,
    ) -> Result<Option<u32>, FileError> {
        let row = self.row(kind);
        self.snapshot.rows[row].objects += 1;
        // Classes come in an order of their own.
        if kind != RowKind::Classes {
            self.evidence.object(id, array);
        }
        if let Some((elements, bytes)) = array {
            for (sum, sizes) in self.array_bytes[row].iter_mut().zip(&KNOWN) {
                *sum = sum.saturating_add(sizes.array(elements, bytes));
            }
        }
        if self.depth != Depth::References {
            return Ok(None);
        }
        let graph = &mut self.snapshot.graph;
        let node = graph.bytes.len() as u64;
        if node >= u64::from(u32::MAX) - 1 {
            return Err(input.broken("more objects than 32 bits can count"));
        }
        if self.nodes.insert(id, node as u32).is_some() {
            return Err(input.broken(format!("object {id:#x} twice")));
        }
        // The number of elements, until their sizes are known.
        graph.bytes.push(array.map_or(0, |(elements, _)| elements));
        graph.class.push(row as u32);
        self.snapshot.ids.push(id);
        self.runs.push(Run { first: self.targets.len(), count: 0 });
        Ok(Some(node as u32))
    }

    /// All references of a node were taken.
    fn end_node(&mut self, node: Option<u32>) {
        if let Some(node) = node {
            let run = &mut self.runs[node as usize];
            run.count = self.targets.len() - run.first;
        }
    }
}

/// The error for an object whose class has fields of another length.
fn other_length(input: &SnapshotInput<'_>, bytes: usize) -> FileError {
    input.broken(format!("an object of {bytes} bytes, but the fields of its class need a different number"))
}
