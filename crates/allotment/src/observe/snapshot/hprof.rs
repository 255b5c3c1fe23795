//! HPROF, the format of Java's heap dumps, for heaps beyond the limits of V8's loaders.
//!
//! A shape is a class, its slots are fields, and its plain words are fields of type `long` with
//! the value 0, so that sizes are about right: what an object takes in a JVM is each tool's own
//! reckoning. An object with a tail is two: the instance, and an array that its field `elements`
//! refers to. Weak slots are fields of type `long`, too, since a tool would take any reference for
//! a strong one. Weak roots are left out. An array of references is as long as its tail, with 0 for
//! null; that of a traced object has what its function visits. Data is zeroes, unless texts are
//! asked for.
//!
//! Nothing is counted ahead. Segments of up to 1 MiB are filled and written, and an array that is
//! larger is a segment of its own. Lengths have 32 bits, and some readers take them as signed. So
//! an array of 2^31 bytes or more is cut, and counted ([`SnapshotSummary::clamped`]). Ids of
//! objects are their addresses; those of arrays, classes and strings differ from them in the three
//! low bits.

use super::json::Output;
use super::live::{Edge, LiveHeap, LiveObject};
use super::{SnapshotError, SnapshotSummary};
use crate::mutator::RootKind;
use crate::object::{Element, HEADER_BYTES, LENGTH_OFFSET, Shape, SlotKind, WORD};
use std::collections::HashMap;

/// Bytes of a segment, where no array is larger.
const SEGMENT_BYTES: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// The most bytes of an array.
const MOST_ARRAY_BYTES: usize = (1 << 31) - 64;

/// Null references, and data that is not written.
static ZEROES: [u8; 4096] = [0; 4096];

/// Plain words of a class that are fields. Beyond, a class is smaller than its objects.
const MOST_PLAIN_FIELDS: usize = 1024;

/// The classes behind every object of a Java program, in all files: readers ask for them.
const JAVA: &[(&str, Option<usize>, &[&str])] = &[
    ("java.lang.Object", None, &[]),
    ("java.lang.Class", Some(0), &[]),
    ("java.lang.ClassLoader", Some(0), &[]),
    ("java.lang.String", Some(0), &[]),
    ("java.lang.ref.Reference", Some(0), &["referent"]),
    ("java.lang.ref.WeakReference", Some(4), &[]),
    ("java.lang.ref.SoftReference", Some(4), &[]),
    ("java.lang.ref.FinalReference", Some(4), &[]),
    ("java.lang.ref.PhantomReference", Some(4), &[]),
    ("java.lang.Object[]", Some(0), &[]),
    ("byte[]", Some(0), &[]),
    ("short[]", Some(0), &[]),
    ("int[]", Some(0), &[]),
    ("long[]", Some(0), &[]),
];

/// The place of `java.lang.Object[]` in [`JAVA`].
const OBJECTS: usize = 9;

/// Types of fields and elements.
const OBJECT: u8 = 2;
const BYTE: u8 = 8;
const LONG: u8 = 11;

/// What a field of a class is in the heap.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    /// The strong slot of this number.
    Slot(usize),
    /// The array with the tail, or with what a trace function visits.
    Elements,
    /// Not written.
    Plain,
}

/// What the array of an object has.
#[derive(Clone, Copy)]
enum Array {
    /// Elements of so many bytes.
    Data(usize),
    /// A tail of so many strong references, null ones included.
    Tail(usize),
    /// So many references that a trace function visits, null ones not among them.
    Visited(usize),
}

/// A shape as a class: fields by name and meaning.
struct Class {
    fields: Vec<(u64, Field)>,
    slots: usize,
}

/// The id of a class by its number: those of Java first, then the shapes.
const fn class_id(number: usize) -> u64 {
    number as u64 * 8 + 9
}

/// The id of the array of an object.
const fn array_id(address: usize) -> u64 {
    address as u64 | 4
}

struct Writer<'h, 'o> {
    live: &'h LiveHeap<'h>,
    out: Output<'o>,
    names: HashMap<String, u64>,
    segment: Vec<u8>,
    string_bytes: usize,
    clamped: u64,
}

/// Writes a snapshot.
pub(super) fn write(
    live: &LiveHeap<'_>,
    out: Output<'_>,
    string_bytes: usize,
) -> Result<SnapshotSummary, SnapshotError> {
    let mut writer =
        Writer { live, out, names: HashMap::new(), segment: Vec::new(), string_bytes, clamped: 0 };
    let roots = writer.all()?;
    let clamped = writer.clamped;
    Ok(live.summary(roots, clamped, writer.out.finish()?))
}

impl Writer<'_, '_> {
    fn all(&mut self) -> Result<u64, SnapshotError> {
        self.out.text("JAVA PROFILE 1.0.2\0")?;
        self.out.bytes(&8_u32.to_be_bytes())?;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_millis() as u64);
        self.out.bytes(&now.to_be_bytes())?;
        // An empty stack trace, which all objects have.
        self.record(0x05, &[1_u32, 0, 0].map(u32::to_be_bytes).concat())?;
        let live = self.live;
        for (number, (name, ..)) in JAVA.iter().enumerate() {
            self.load_class(number, name)?;
        }
        for (number, shape) in live.shapes.iter().enumerate() {
            self.load_class(JAVA.len() + number, shape.shape.name())?;
        }
        for (number, (_, above, fields)) in JAVA.iter().enumerate() {
            let fields: Result<Vec<_>, SnapshotError> =
                fields.iter().map(|name| Ok((self.name(name)?, Field::Slot(0)))).collect();
            self.class(number, above.map_or(0, class_id), &fields?)?;
        }
        let mut classes = Vec::new();
        for (number, shape) in live.shapes.iter().enumerate() {
            let class = self.class_of(shape.shape)?;
            self.class(JAVA.len() + number, class_id(0), &class.fields)?;
            classes.push(class);
        }
        let roots = self.roots()?;
        let mut slots = Vec::new();
        for object in live.objects() {
            self.object(&object, &classes[object.shape], &mut slots)?;
        }
        self.end_segment()?;
        self.record(0x2C, &[])?;
        Ok(roots)
    }

    fn record(&mut self, tag: u8, body: &[u8]) -> Result<(), SnapshotError> {
        self.head(tag, body.len())?;
        self.out.bytes(body)
    }

    fn head(&mut self, tag: u8, bytes: usize) -> Result<(), SnapshotError> {
        let mut head = [tag, 0, 0, 0, 0, 0, 0, 0, 0];
        head[5..].copy_from_slice(&(bytes as u32).to_be_bytes());
        self.out.bytes(&head)
    }

    /// The id of a string, which is written when it is met first.
    fn name(&mut self, name: &str) -> Result<u64, SnapshotError> {
        if let Some(id) = self.names.get(name) {
            return Ok(*id);
        }
        // Strings are records of their own.
        self.end_segment()?;
        let id = self.names.len() as u64 * 8 + 10;
        self.head(0x01, 8 + name.len())?;
        self.out.bytes(&id.to_be_bytes())?;
        self.out.text(name)?;
        self.names.insert(name.to_owned(), id);
        Ok(id)
    }

    fn load_class(&mut self, number: usize, name: &str) -> Result<(), SnapshotError> {
        let name = self.name(name)?;
        let mut body = Vec::new();
        body.extend((number as u32 + 1).to_be_bytes());
        body.extend(class_id(number).to_be_bytes());
        body.extend(1_u32.to_be_bytes());
        body.extend(name.to_be_bytes());
        self.record(0x02, &body)
    }

    /// The fields of the class that a shape is, with their names.
    fn class_of(&mut self, shape: &Shape) -> Result<Class, SnapshotError> {
        let mut fields = Vec::new();
        let first = if shape.tail().is_some() { LENGTH_OFFSET + WORD } else { HEADER_BYTES };
        let traced = shape.trace().is_some();
        for offset in (first..shape.fixed_bytes()).step_by(WORD).take(MOST_PLAIN_FIELDS) {
            if traced || !shape.slots().iter().any(|slot| slot.offset == offset) {
                fields.push((self.name(&format!("+{offset}"))?, Field::Plain));
            }
        }
        for (number, slot) in shape.slots().iter().enumerate().filter(|_| !traced) {
            let field = if slot.kind == SlotKind::Strong { Field::Slot(number) } else { Field::Plain };
            fields.push((self.name(&slot.name)?, field));
        }
        if traced || shape.tail().is_some() {
            fields.push((self.name("elements")?, Field::Elements));
        }
        // The number of fields has 16 bits.
        fields.truncate(usize::from(u16::MAX));
        Ok(Class { fields, slots: shape.slots().len() })
    }

    fn class(&mut self, number: usize, above: u64, fields: &[(u64, Field)]) -> Result<(), SnapshotError> {
        let bytes = fields.len() as u32 * 8;
        self.put(0x20, |body| {
            body.extend(class_id(number).to_be_bytes());
            body.extend(1_u32.to_be_bytes());
            body.extend(above.to_be_bytes());
            // Loader, signers, domain, and two that are reserved.
            body.extend([0; 5 * 8]);
            body.extend(bytes.to_be_bytes());
            // Constants and static fields.
            body.extend([0; 4]);
            body.extend((fields.len() as u16).to_be_bytes());
            for (name, field) in fields {
                body.extend(name.to_be_bytes());
                body.push(if *field == Field::Plain { LONG } else { OBJECT });
            }
        })
    }

    /// Appends a record to the segment.
    fn put(&mut self, tag: u8, body: impl FnOnce(&mut Vec<u8>)) -> Result<(), SnapshotError> {
        if self.segment.len() >= SEGMENT_BYTES {
            self.end_segment()?;
        }
        self.segment.push(tag);
        body(&mut self.segment);
        Ok(())
    }

    fn end_segment(&mut self) -> Result<(), SnapshotError> {
        if self.segment.is_empty() {
            return Ok(());
        }
        let segment = std::mem::take(&mut self.segment);
        self.record(0x1C, &segment)?;
        self.segment = segment;
        self.segment.clear();
        Ok(())
    }

    fn roots(&mut self) -> Result<u64, SnapshotError> {
        let live = self.live;
        let mut count = 0;
        // A tool would take any root for a strong one.
        for root in live.roots().iter().filter(|root| root.slot == SlotKind::Strong) {
            let id = (root.address as u64).to_be_bytes();
            count += 1;
            match root.kind {
                RootKind::Handle | RootKind::WeakHandle => {
                    self.put(0x01, |body| body.extend([id, id].concat()))
                }
                // The thread and the frame: there is no such thread, and no such frame.
                RootKind::Frame => self.put(0x02, |body| {
                    body.extend(id);
                    body.extend([0, u32::MAX].map(u32::to_be_bytes).concat());
                }),
                RootKind::Provider => self.put(0x04, |body| body.extend([&id[..], &[0; 4]].concat())),
                RootKind::Pin => self.put(0xFF, |body| body.extend(id)),
            }?;
        }
        Ok(count)
    }

    fn object(
        &mut self,
        object: &LiveObject<'_>,
        class: &Class,
        slots: &mut Vec<u64>,
    ) -> Result<(), SnapshotError> {
        let live = self.live;
        slots.clear();
        slots.resize(class.slots, 0);
        let mut visited = 0;
        live.for_each_edge(object, |edge, target, kind| match (edge, kind) {
            (Edge::Slot(slot), SlotKind::Strong) => slots[slot] = target as u64,
            (Edge::Element(_), SlotKind::Strong) => visited += 1,
            (_, SlotKind::Weak) => {}
        });
        let array = match object.layout.tail() {
            _ if object.layout.trace().is_some() => (visited > 0).then_some(Array::Visited(visited)),
            Some(Element::Plain { bytes }) => Some(Array::Data(bytes)),
            Some(Element::Reference(SlotKind::Weak)) => Some(Array::Data(WORD)),
            Some(Element::Reference(SlotKind::Strong)) => Some(Array::Tail(live.length(object))),
            None => None,
        };
        self.put(0x21, |body| {
            body.extend((object.address as u64).to_be_bytes());
            body.extend(1_u32.to_be_bytes());
            body.extend(class_id(JAVA.len() + object.shape).to_be_bytes());
            body.extend((class.fields.len() as u32 * 8).to_be_bytes());
            for (_, field) in &class.fields {
                let value = match field {
                    Field::Slot(slot) => slots[*slot],
                    Field::Elements if array.is_some() => array_id(object.address),
                    Field::Elements | Field::Plain => 0,
                };
                body.extend(value.to_be_bytes());
            }
        })?;
        match array {
            Some(Array::Data(bytes)) => self.data(object, bytes),
            Some(Array::Tail(length)) => self.references(object, length, true),
            Some(Array::Visited(length)) => self.references(object, length, false),
            None => Ok(()),
        }
    }

    /// Begins an array in the segment, or in one of its own if it is large.
    fn begin_array(&mut self, tag: u8, head: &[u8], bytes: usize) -> Result<bool, SnapshotError> {
        let all = 1 + head.len() + bytes;
        let alone = self.segment.len() + all > SEGMENT_BYTES;
        if alone {
            self.end_segment()?;
            self.head(0x1C, all)?;
            self.out.bytes(&[tag])?;
            self.out.bytes(head)?;
        } else {
            self.segment.push(tag);
            self.segment.extend(head);
        }
        Ok(alone)
    }

    /// How many elements of an array are written.
    fn cut(&mut self, length: usize, bytes: usize) -> usize {
        let most = MOST_ARRAY_BYTES / bytes;
        self.clamped += u64::from(length > most);
        length.min(most)
    }

    /// An array of `elements` references. With `in_place` each stands at its place in the tail, and
    /// null is 0; else they stand side by side.
    fn references(
        &mut self,
        object: &LiveObject<'_>,
        elements: usize,
        in_place: bool,
    ) -> Result<(), SnapshotError> {
        let length = self.cut(elements, WORD);
        let mut head = Vec::new();
        head.extend(array_id(object.address).to_be_bytes());
        head.extend(1_u32.to_be_bytes());
        head.extend((length as u32).to_be_bytes());
        head.extend(class_id(OBJECTS).to_be_bytes());
        let alone = self.begin_array(0x22, &head, length * WORD)?;
        let (mut outcome, mut written) = (Ok(()), 0);
        let live = self.live;
        live.for_each_edge(object, |edge, target, kind| {
            let Edge::Element(number) = edge else { return };
            let place = if in_place { number } else { written };
            if kind == SlotKind::Strong && place < length && outcome.is_ok() {
                let between = place - written;
                outcome = self.zeroes(alone, between * WORD);
                if outcome.is_ok() {
                    outcome = self.array_bytes(alone, &(target as u64).to_be_bytes());
                }
                written = place + 1;
            }
        });
        outcome?;
        self.zeroes(alone, (length - written) * WORD)
    }

    /// Bytes of an array that [`begin_array`](Self::begin_array) began.
    fn array_bytes(&mut self, alone: bool, bytes: &[u8]) -> Result<(), SnapshotError> {
        if alone {
            return self.out.bytes(bytes);
        }
        self.segment.extend(bytes);
        Ok(())
    }

    /// So many bytes of such an array that are 0.
    fn zeroes(&mut self, alone: bool, bytes: usize) -> Result<(), SnapshotError> {
        for start in (0..bytes).step_by(ZEROES.len()) {
            self.array_bytes(alone, &ZEROES[..ZEROES.len().min(bytes - start)])?;
        }
        Ok(())
    }

    /// Plain data of elements of `bytes` each.
    fn data(&mut self, object: &LiveObject<'_>, bytes: usize) -> Result<(), SnapshotError> {
        let text = self.live.text(object, self.string_bytes).unwrap_or_default();
        let length = self.live.length(object);
        let length = self.cut(length, bytes);
        let mut head = Vec::new();
        head.extend(array_id(object.address).to_be_bytes());
        head.extend(1_u32.to_be_bytes());
        head.extend((length as u32).to_be_bytes());
        head.push(BYTE + bytes.ilog2() as u8);
        let alone = self.begin_array(0x23, &head, length * bytes)?;
        let text = &text[..text.len().min(length * bytes)];
        self.array_bytes(alone, text)?;
        self.zeroes(alone, length * bytes - text.len())
    }
}
