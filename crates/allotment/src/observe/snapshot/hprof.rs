//! HPROF, the format of Java's heap dumps, for heaps beyond the limits of V8's loaders.
//!
//! A shape is a class, its slots are fields, and its plain words are fields of type `long` with
//! the value 0. An object with a tail is two: the instance, and an array that its field `elements`
//! refers to. Weak slots are fields of type `long`, too, since a tool would take any reference for
//! a strong one. Weak roots are left out. An array of references is as long as its tail, with 0 for
//! null; that of a traced object has what its function visits, and so has that of a shape with more
//! slots than a class has fields. Data is zeroes, unless texts are asked for.
//!
//! Sizes are each tool's own reckoning. NetBeans, VisualVM and Shark take the size that the class
//! states, and that is the object's own. The bytes after the fields of an object with a tail are
//! the array's, and so are its header and length: readers give an array a head of about as many
//! bytes.
//!
//! ```text
//! names | LOAD CLASS for each | STACK TRACE | segments: classes, roots, objects | HEAP DUMP END
//! ```
//!
//! The segments lie side by side, and no other record is among them: NetBeans' and gridkit's
//! readers walk from the first to the last as if they were one. That costs no second walk over the
//! objects, since all names are those of the shapes that the marker met. Refused: names where they
//! are met first, and a table of names after the objects. Those readers read neither.
//!
//! Nothing is counted ahead. Segments of up to 1 MiB are filled and written, and an array that is
//! larger is a segment of its own. Lengths have 32 bits, and some readers take them as signed. So
//! an array of 2^31 bytes or more is cut, and counted ([`SnapshotSummary::clamped`]). Ids of
//! objects are their addresses. The id of an array is the address of its object's second word,
//! which no other object has: gridkit's reader finds objects by ids that are multiples of 8, in the
//! order of the file. Ids of classes and strings differ from both in the three low bits.

use super::json::Output;
use super::live::{Edge, LiveHeap, LiveObject, LiveShape};
use super::{SnapshotError, SnapshotSummary};
use crate::mutator::RootKind;
use crate::object::{Element, HEADER_BYTES, LENGTH_OFFSET, MIN_OBJECT_BYTES, Shape, SlotKind, WORD};
use std::borrow::Cow;
use std::collections::HashMap;

/// Bytes of a segment, where no array is larger.
const SEGMENT_BYTES: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// The most bytes of an array.
const MOST_ARRAY_BYTES: usize = (1 << 31) - 64;

/// Null references, and data that is not written.
static ZEROES: [u8; 4096] = [0; 4096];

/// Plain words of a class that are fields. Beyond, a class is smaller than its objects.
const MOST_PLAIN_FIELDS: usize = 1024;

/// The most slots of a class that are fields. Readers take the number of fields as a signed number
/// of 16 bits.
const MOST_SLOT_FIELDS: usize = i16::MAX as usize - MOST_PLAIN_FIELDS - 1;

/// The classes of every object of a Java program, in all files: readers ask for them, by the
/// names that JVMs have for them. `[B` is an array of bytes.
const JAVA: &[(&str, Option<usize>, &[&str])] = &[
    ("java/lang/Object", None, &[]),
    ("java/lang/Class", Some(0), &[]),
    ("java/lang/ClassLoader", Some(0), &[]),
    ("java/lang/String", Some(0), &[]),
    ("java/lang/ref/Reference", Some(0), &["referent"]),
    ("java/lang/ref/WeakReference", Some(4), &[]),
    ("java/lang/ref/SoftReference", Some(4), &[]),
    ("java/lang/ref/FinalReference", Some(4), &[]),
    ("java/lang/ref/PhantomReference", Some(4), &[]),
    ("[Ljava/lang/Object;", Some(0), &[]),
    ("[B", Some(0), &[]),
    ("[S", Some(0), &[]),
    ("[I", Some(0), &[]),
    ("[J", Some(0), &[]),
];

/// The place of the class of arrays of references in [`JAVA`].
const OBJECTS: usize = 9;

/// Other names of arrays of plain data, by which readers know them, too.
const DATA_ARRAYS: [&str; 8] =
    ["boolean[]", "char[]", "float[]", "double[]", "byte[]", "short[]", "int[]", "long[]"];

/// Types of fields and elements.
const OBJECT: u8 = 2;
const BYTE: u8 = 8;
const LONG: u8 = 11;

/// The kind of a field of a class in the heap.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    /// The strong slot of this number.
    Slot(usize),
    /// The array with the tail, or with what a trace function visits.
    Elements,
    /// Not written.
    Plain,
}

/// The contents of an object's array.
#[derive(Clone, Copy)]
enum Array {
    /// Plain elements, with the bytes of each.
    Data(usize),
    /// A tail of strong references, with their number, null ones included.
    Tail(usize),
    /// All strong references of an object, with their number; null ones do not count.
    All(usize),
}

/// A class: its name, the class above, and fields by name and meaning.
struct Class {
    name: u64,
    above: u64,
    /// Bytes of an object, those of an array not counted.
    bytes: u32,
    fields: Vec<(u64, FieldKind)>,
    slots: usize,
}

/// The id of a class by its number: those of Java first, then the shapes. It has more than 32 bits:
/// NetBeans' list of objects takes the length of a segment for the id of a class, and must find
/// none.
const fn class_id(number: usize) -> u64 {
    (1 << 32) + number as u64 * 8 + 1
}

/// The id of the array of an object.
const fn array_id(address: usize) -> u64 {
    (address + WORD) as u64
}
const _: () = assert!(MIN_OBJECT_BYTES >= 2 * WORD);

/// Whether the slots of a shape are not fields, but its references are an array.
fn has_no_fields_for_slots(shape: &Shape) -> bool {
    shape.is_traced() || shape.slots().len() > MOST_SLOT_FIELDS
}

/// The name of the class that a shape is. A shape may have the name of a class of Java, in which a
/// reader would look for the fields of that class, or a name that a reader takes for an array's.
fn class_name(shape: &Shape) -> Cow<'_, str> {
    let name = shape.name();
    let is_javas = ["java.", "java/", "["].iter().any(|start| name.starts_with(start));
    if is_javas || DATA_ARRAYS.contains(&name) {
        Cow::Owned(format!("shape {name}"))
    } else {
        Cow::Borrowed(name)
    }
}

struct HprofWriter<'h, 'o> {
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
        HprofWriter { live, out, names: HashMap::new(), segment: Vec::new(), string_bytes, clamped: 0 };
    let roots = writer.all()?;
    let clamped = writer.clamped;
    Ok(live.summary(roots, clamped, writer.out.finish()?))
}

impl HprofWriter<'_, '_> {
    fn all(&mut self) -> Result<u64, SnapshotError> {
        self.out.text("JAVA PROFILE 1.0.2\0")?;
        self.out.bytes(&8_u32.to_be_bytes())?;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_millis() as u64);
        self.out.bytes(&now.to_be_bytes())?;
        let live = self.live;
        let mut classes = Vec::new();
        for (name, above, fields) in JAVA {
            let fields: Result<Vec<_>, SnapshotError> =
                fields.iter().map(|name| Ok((self.name(name)?, FieldKind::Slot(0)))).collect();
            let (name, fields, above) = (self.name(name)?, fields?, above.map_or(0, class_id));
            let bytes = (HEADER_BYTES + fields.len() * WORD) as u32;
            classes.push(Class { name, above, bytes, slots: fields.len(), fields });
        }
        for shape in &live.shapes {
            classes.push(self.class_of(shape)?);
        }
        for (number, class) in classes.iter().enumerate() {
            self.load_class(number, class.name)?;
        }
        // An empty stack trace, which all objects have.
        self.record(0x05, &[1_u32, 0, 0].map(u32::to_be_bytes).concat())?;
        for (number, class) in classes.iter().enumerate() {
            self.class(number, class)?;
        }
        let roots = self.roots()?;
        let mut slots = Vec::new();
        for object in live.objects() {
            self.object(&object, &classes[JAVA.len() + object.shape], &mut slots)?;
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

    /// The id of a string, which is written when it is met first: before all segments.
    fn name(&mut self, name: &str) -> Result<u64, SnapshotError> {
        if let Some(id) = self.names.get(name) {
            return Ok(*id);
        }
        let id = self.names.len() as u64 * 8 + 10;
        self.head(0x01, 8 + name.len())?;
        self.out.bytes(&id.to_be_bytes())?;
        self.out.text(name)?;
        self.names.insert(name.to_owned(), id);
        Ok(id)
    }

    fn load_class(&mut self, number: usize, name: u64) -> Result<(), SnapshotError> {
        let mut body = Vec::new();
        body.extend((number as u32 + 1).to_be_bytes());
        body.extend(class_id(number).to_be_bytes());
        body.extend(1_u32.to_be_bytes());
        body.extend(name.to_be_bytes());
        self.record(0x02, &body)
    }

    /// The class that a shape is, and the names of its fields.
    fn class_of(&mut self, live: &LiveShape<'_>) -> Result<Class, SnapshotError> {
        let shape = live.shape;
        let mut fields = Vec::new();
        let has_tail = shape.tail().is_some();
        let first = if has_tail { LENGTH_OFFSET + WORD } else { HEADER_BYTES };
        let only_array = has_no_fields_for_slots(shape);
        for offset in (first..shape.fixed_bytes()).step_by(WORD).take(MOST_PLAIN_FIELDS) {
            if only_array || !shape.slots().iter().any(|slot| slot.offset == offset) {
                fields.push((self.name(&format!("+{offset}"))?, FieldKind::Plain));
            }
        }
        for (number, slot) in shape.slots().iter().enumerate().filter(|_| !only_array) {
            let field =
                if slot.kind == SlotKind::Strong { FieldKind::Slot(number) } else { FieldKind::Plain };
            fields.push((self.name(&slot.name)?, field));
        }
        if only_array || has_tail {
            fields.push((self.name("elements")?, FieldKind::Elements));
        }
        let bytes = shape.fixed_bytes() - if has_tail { LENGTH_OFFSET + WORD } else { 0 };
        self.clamped += if bytes > MOST_ARRAY_BYTES { live.objects } else { 0 };
        Ok(Class {
            name: self.name(&class_name(shape))?,
            above: class_id(0),
            bytes: bytes.min(MOST_ARRAY_BYTES) as u32,
            fields,
            slots: shape.slots().len(),
        })
    }

    fn class(&mut self, number: usize, class: &Class) -> Result<(), SnapshotError> {
        self.put(0x20, |body| {
            body.extend(class_id(number).to_be_bytes());
            body.extend(1_u32.to_be_bytes());
            body.extend(class.above.to_be_bytes());
            // Loader, signers, domain, and two that are reserved.
            body.extend([0; 5 * 8]);
            body.extend(class.bytes.to_be_bytes());
            // Constants and static fields.
            body.extend([0; 4]);
            body.extend((class.fields.len() as u16).to_be_bytes());
            for (name, field) in &class.fields {
                body.extend(name.to_be_bytes());
                body.push(if *field == FieldKind::Plain { LONG } else { OBJECT });
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
        let mut all = 0;
        live.for_each_edge(object, |edge, target, kind| {
            if kind == SlotKind::Strong {
                all += 1;
                if let Edge::Slot(slot) = edge {
                    slots[slot] = target as u64;
                }
            }
        });
        let array = match object.layout.tail() {
            _ if has_no_fields_for_slots(object.layout) => (all > 0).then_some(Array::All(all)),
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
                    FieldKind::Slot(slot) => slots[*slot],
                    FieldKind::Elements if array.is_some() => array_id(object.address),
                    FieldKind::Elements | FieldKind::Plain => 0,
                };
                body.extend(value.to_be_bytes());
            }
        })?;
        match array {
            Some(Array::Data(bytes)) => self.data(object, bytes),
            Some(Array::Tail(length)) => self.references(object, length, true),
            Some(Array::All(length)) => self.references(object, length, false),
            None => Ok(()),
        }
    }

    /// Begins the array of an object in the segment, or in one of its own if it is large. `kind` is
    /// the class of the array, or the type of its elements, of `bytes` each.
    fn begin_array(
        &mut self,
        tag: u8,
        object: &LiveObject<'_>,
        length: usize,
        kind: &[u8],
        bytes: usize,
    ) -> Result<bool, SnapshotError> {
        let mut head = vec![tag];
        head.extend(array_id(object.address).to_be_bytes());
        head.extend([1, length as u32].map(u32::to_be_bytes).concat());
        head.extend(kind);
        let all = head.len() + length * bytes;
        let alone = self.segment.len() + all > SEGMENT_BYTES;
        if alone {
            self.end_segment()?;
            self.head(0x1C, all)?;
            self.out.bytes(&head)?;
        } else {
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

    /// An array of `elements` references. With `in_place` it has those of the tail, each at its
    /// place, and null is 0; else it has all of the object, side by side.
    fn references(
        &mut self,
        object: &LiveObject<'_>,
        elements: usize,
        in_place: bool,
    ) -> Result<(), SnapshotError> {
        let length = self.cut(elements, WORD);
        let alone = self.begin_array(0x22, object, length, &class_id(OBJECTS).to_be_bytes(), WORD)?;
        let (mut outcome, mut written) = (Ok(()), 0);
        let live = self.live;
        live.for_each_edge(object, |edge, target, kind| {
            let place = match edge {
                Edge::Element(number) if in_place => number,
                Edge::Slot(_) if in_place => return,
                _ => written,
            };
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

    /// Bytes of such an array that are 0.
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
        let alone = self.begin_array(0x23, object, length, &[BYTE + bytes.ilog2() as u8], bytes)?;
        let text = &text[..text.len().min(length * bytes)];
        self.array_bytes(alone, text)?;
        self.zeroes(alone, length * bytes - text.len())
    }
}
