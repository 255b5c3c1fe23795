//! Shapes: what an object looks like, as data.
//!
//! An embedder registers shapes instead of implementing an object-model trait. One description serves
//! the walk, the tracing collectors, dumps, the JIT and C; it holds no function that would have to be
//! called for every object.
//!
//! An object is its header, a fixed part, and for shapes with a tail a variable number of equal
//! elements. The number of elements stands in the word behind the header.

use super::types::{TypeShape, type_at};
use super::{HEADER_BYTES, Header, LENGTH_OFFSET, MIN_OBJECT_BYTES, TraceFn, WORD};
use std::borrow::Cow;
use std::num::NonZeroU32;

/// Ids 1 to this many are Rust types, the same in every heap.
pub(super) const MAX_TYPES: usize = (1 << 22) - 1;

/// The ids behind them, up to the 24 bits of a header, are shapes registered with one heap.
const MAX_SHAPES: usize = (1 << 24) - 1 - MAX_TYPES;

/// No fixed part is larger; keeps sums of an address and a size from wrapping.
const MAX_FIXED_BYTES: usize = 1 << 46;

/// No array is longer.
const MAX_LENGTH: usize = 1 << 43;

const fn round_up(bytes: usize) -> usize {
    (bytes + (WORD - 1)) & !(WORD - 1)
}

/// Names a shape in the headers of one heap: 1 to 2^24 - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShapeId(NonZeroU32);

impl ShapeId {
    pub(crate) const fn from_raw(id: NonZeroU32) -> ShapeId {
        ShapeId(id)
    }

    /// The number as the header holds it.
    pub const fn get(self) -> u32 {
        self.0.get()
    }
}

/// How a reference keeps what it refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// What it refers to stays alive.
    Strong,
    /// What it refers to may die; the slot is then cleared.
    Weak,
}

/// A word of the fixed part that holds a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// For dumps and messages.
    pub name: Cow<'static, str>,
    /// Bytes from the start of the object (its header) to the slot: a multiple of 8.
    pub offset: usize,
    /// How it keeps its referent.
    pub kind: SlotKind,
}

impl Slot {
    /// A slot whose name is a constant.
    pub const fn new(name: &'static str, offset: usize, kind: SlotKind) -> Slot {
        Slot { name: Cow::Borrowed(name), offset, kind }
    }
}

/// What the tail is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Plain data of 1, 2, 4 or 8 bytes an element.
    Plain {
        /// Bytes of one element.
        bytes: usize,
    },
    /// References, 8 bytes each.
    Reference(SlotKind),
}

impl Element {
    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            Element::Plain { bytes } => bytes,
            Element::Reference(_) => WORD,
        }
    }
}

/// The description of a kind of object.
///
/// ```
/// use allotment::object::{Element, Shape, SlotKind};
/// let pair = Shape::fixed("Pair", 24).slot("car", 8, SlotKind::Strong).slot("cdr", 16, SlotKind::Strong);
/// let bytes = Shape::array("Bytes", 16, Element::Plain { bytes: 1 });
/// assert_eq!(pair.bytes_for(0), Some(24));
/// assert_eq!(bytes.bytes_for(5), Some(24)); // 16 + 5, rounded up to a word
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    name: Cow<'static, str>,
    fixed_bytes: usize,
    slots: Cow<'static, [Slot]>,
    tail: Option<Element>,
    trace: Option<Trace>,
}

/// A trace function; equal to itself only, as far as addresses of functions tell.
#[derive(Clone, Copy, Debug)]
struct Trace(TraceFn);

impl PartialEq for Trace {
    fn eq(&self, other: &Trace) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}
impl Eq for Trace {}

impl Shape {
    /// An object of `bytes`, its 8-byte header included. Rounded up to whole words when registered.
    pub fn fixed(name: impl Into<Cow<'static, str>>, bytes: usize) -> Shape {
        Shape { name: name.into(), fixed_bytes: bytes, slots: Cow::Borrowed(&[]), tail: None, trace: None }
    }

    /// An object whose first `fixed_bytes` (header, length and any further fields) are followed by
    /// elements. The length, in elements, is the word at offset 8.
    pub fn array(name: impl Into<Cow<'static, str>>, fixed_bytes: usize, element: Element) -> Shape {
        Shape { tail: Some(element), ..Shape::fixed(name, fixed_bytes) }
    }

    /// A shape as a constant, for a [`TypeShape`](super::TypeShape). `fixed_bytes` counts the header and is rounded up to the
    /// smallest object; without a tail to whole words too.
    ///
    /// # Panics
    /// At compile time, where it describes no object: see [`ShapeError`].
    pub const fn constant(
        name: &'static str,
        fixed_bytes: usize,
        slots: &'static [Slot],
        tail: Option<Element>,
    ) -> Shape {
        let least = if tail.is_some() { LENGTH_OFFSET + WORD } else { MIN_OBJECT_BYTES };
        let fixed_bytes = if fixed_bytes < least { least } else { fixed_bytes };
        let fixed_bytes = if tail.is_some() { fixed_bytes } else { round_up(fixed_bytes) };
        assert!(fixed_bytes <= MAX_FIXED_BYTES, "the object is too large");
        let first = if tail.is_some() { LENGTH_OFFSET + WORD } else { HEADER_BYTES };
        let mut index = 0;
        while index < slots.len() {
            let offset = slots[index].offset;
            assert!(offset >= first && offset + WORD <= fixed_bytes, "a slot lies outside the object");
            assert!(offset.is_multiple_of(WORD), "a slot is not aligned to a word");
            index += 1;
        }
        Shape { name: Cow::Borrowed(name), fixed_bytes, slots: Cow::Borrowed(slots), tail, trace: None }
    }

    /// The same with a reference at `offset` bytes from the header.
    #[must_use]
    pub fn slot(mut self, name: impl Into<Cow<'static, str>>, offset: usize, kind: SlotKind) -> Shape {
        self.slots.to_mut().push(Slot { name: name.into(), offset, kind });
        self
    }

    /// The same, traced by a function instead of by its slots and its tail, which then only say the size.
    #[must_use]
    pub fn traced_by(mut self, trace: TraceFn) -> Shape {
        self.trace = Some(Trace(trace));
        self
    }

    /// The function that traces it, where data cannot.
    #[inline]
    pub fn trace(&self) -> Option<TraceFn> {
        self.trace.map(|trace| trace.0)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes before the tail, header included; for a shape without a tail, the size of the object.
    pub fn fixed_bytes(&self) -> usize {
        self.fixed_bytes
    }

    /// The references in the fixed part.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// What the tail is made of, where there is one.
    pub fn tail(&self) -> Option<Element> {
        self.tail
    }

    /// The size in bytes of an object with a tail of `length` elements (ignored without a tail):
    /// a multiple of 8; `None` beyond 2^43 elements, which no heap holds.
    #[inline]
    pub fn bytes_for(&self, length: usize) -> Option<usize> {
        let element_bytes = self.tail.map_or(0, Element::bytes);
        // 2^43 elements of 8 bytes and a fixed part of 2^46 bytes: no sum overflows.
        (length <= MAX_LENGTH).then(|| round_up(self.fixed_bytes + length * element_bytes))
    }

    /// The shape as the heap keeps it, or why it cannot.
    fn checked(mut self) -> Result<Shape, ShapeError> {
        let bad = |reason: String| Err(ShapeError::Invalid { name: self.name.to_string(), reason });
        let least = if self.tail.is_some() { LENGTH_OFFSET + WORD } else { MIN_OBJECT_BYTES };
        if self.fixed_bytes < least || self.fixed_bytes > MAX_FIXED_BYTES {
            return bad(format!("its fixed part is {} bytes; {least} to 2^46 work", self.fixed_bytes));
        }
        if let Some(Element::Plain { bytes }) = self.tail
            && !matches!(bytes, 1 | 2 | 4 | 8)
        {
            return bad(format!("its elements have {bytes} bytes; 1, 2, 4 or 8 work"));
        }
        if let Some(Element::Reference(_)) = self.tail
            && !self.fixed_bytes.is_multiple_of(WORD)
        {
            return bad(format!("its references begin at {}; a multiple of 8 works", self.fixed_bytes));
        }
        let first = if self.tail.is_some() { LENGTH_OFFSET + WORD } else { HEADER_BYTES };
        for (index, slot) in self.slots.iter().enumerate() {
            let inside = slot.offset >= first && slot.offset.saturating_add(WORD) <= self.fixed_bytes;
            if !inside || !slot.offset.is_multiple_of(WORD) {
                return bad(format!(
                    "slot `{}` is at offset {}; a multiple of 8 from {first} to {} works",
                    slot.name,
                    slot.offset,
                    self.fixed_bytes - WORD
                ));
            }
            if self.slots[..index].iter().any(|other| other.offset == slot.offset) {
                return bad(format!("two slots are at offset {}", slot.offset));
            }
        }
        // The elements of a tail may begin off a word; an object without one is whole words.
        if self.tail.is_none() {
            self.fixed_bytes = round_up(self.fixed_bytes);
        }
        Ok(self)
    }
}

/// Why a shape was not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// It describes no object.
    #[error("shape `{name}` cannot be registered: {reason}")]
    Invalid {
        /// The shape.
        name: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// All ids are taken.
    #[error("shape `{name}` cannot be registered: all 2^24 - 2^22 shape ids of this heap are taken")]
    Full {
        /// The shape.
        name: String,
    },
}

/// A registered shape, as an allocation needs it: header and size rule in one copyable value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeRef {
    id: ShapeId,
    header: Header,
    fixed_bytes: usize,
    /// Bytes of an element; 0: no tail.
    element_bytes: usize,
}

impl ShapeRef {
    /// The id that headers hold.
    #[inline(always)]
    pub const fn id(self) -> ShapeId {
        self.id
    }

    /// Whether objects of this shape have a tail, and so a length.
    #[inline(always)]
    pub const fn has_tail(self) -> bool {
        self.element_bytes != 0
    }

    /// The header of a new object of this shape.
    #[inline(always)]
    pub const fn header(self) -> Header {
        self.header
    }

    /// The size of an object with a tail of `length` elements, as [`Shape::bytes_for`].
    #[inline(always)]
    pub const fn bytes_for(self, length: usize) -> Option<usize> {
        if length > MAX_LENGTH {
            return None;
        }
        Some(round_up(self.fixed_bytes + length * self.element_bytes))
    }
}

/// The shapes of one heap, and those of all Rust types: grows only, read without a lock.
#[derive(Debug, Default)]
pub struct Shapes {
    shapes: boxcar::Vec<Shape>,
}

impl Shapes {
    /// Adds a shape.
    ///
    /// # Errors
    /// [`ShapeError::Invalid`] where it describes no object; [`ShapeError::Full`] after 2^24 - 2^22.
    pub fn register(&self, shape: Shape) -> Result<ShapeRef, ShapeError> {
        let shape = shape.checked()?;
        if self.shapes.count() >= MAX_SHAPES {
            return Err(ShapeError::Full { name: shape.name.into_owned() });
        }
        let fixed_bytes = shape.fixed_bytes;
        let element_bytes = shape.tail.map_or(0, Element::bytes);
        let name = shape.name.clone();
        // Two threads may pass the check above for the last id; the id itself decides.
        let index = self.shapes.push(shape);
        if index >= MAX_SHAPES {
            return Err(ShapeError::Full { name: name.into_owned() });
        }
        let id = ShapeId(NonZeroU32::MIN.saturating_add((MAX_TYPES + index) as u32));
        Ok(ShapeRef { id, header: Header::new(id), fixed_bytes, element_bytes })
    }

    /// The shape of that id.
    #[inline]
    pub fn get(&self, id: ShapeId) -> Option<&Shape> {
        let index = id.get() as usize - 1;
        match index.checked_sub(MAX_TYPES) {
            Some(own) => self.shapes.get(own),
            None => type_at(index).map(TypeShape::shape),
        }
    }

    /// How many were registered with this heap.
    pub fn len(&self) -> usize {
        self.shapes.count()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_describes_no_object_is_refused_with_the_reason() {
        let byte = Element::Plain { bytes: 1 };
        for (shape, expected) in [
            (Shape::fixed("Empty", 8), "16 to 2^46"),
            (Shape::array("NoLength", 8, byte), "16 to 2^46"),
            (Shape::array("Odd", 16, Element::Plain { bytes: 3 }), "1, 2, 4 or 8"),
            (Shape::fixed("InHeader", 24).slot("a", 0, SlotKind::Strong), "from 8 to 16"),
            (Shape::fixed("Beyond", 24).slot("a", 24, SlotKind::Strong), "from 8 to 16"),
            (Shape::fixed("Far", 24).slot("a", usize::MAX - 7, SlotKind::Strong), "from 8 to 16"),
            (Shape::fixed("Crooked", 24).slot("a", 12, SlotKind::Strong), "from 8 to 16"),
            (Shape::array("Askew", 20, Element::Reference(SlotKind::Strong)), "multiple of 8"),
            (Shape::array("InLength", 24, byte).slot("a", 8, SlotKind::Strong), "from 16 to 16"),
            (
                Shape::fixed("Twice", 24).slot("a", 8, SlotKind::Weak).slot("b", 8, SlotKind::Weak),
                "two slots",
            ),
        ] {
            let error = Shapes::default().register(shape).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn ids_begin_behind_the_types_and_find_their_shape() {
        let shapes = Shapes::default();
        let a = shapes.register(Shape::fixed("A", 17)).unwrap();
        let b = shapes.register(Shape::array("B", 17, Element::Plain { bytes: 1 })).unwrap();
        assert_eq!((a.id().get(), b.id().get()), (1 << 22, (1 << 22) + 1));
        assert_eq!(shapes.get(a.id()).unwrap().fixed_bytes(), 24);
        assert_eq!(b.bytes_for(0), Some(24));
        assert_eq!(b.bytes_for(7), Some(24));
        assert_eq!(b.bytes_for(8), Some(32));
        assert_eq!(shapes.get(ShapeId(NonZeroU32::new((1 << 22) + 2).unwrap())), None);
        assert_eq!(shapes.get(ShapeId(NonZeroU32::new(1 << 21).unwrap())), None);
    }

    proptest! {
        #[test]
        fn the_reference_counts_bytes_as_the_shape_does(
            fixed in 16usize..4096, shift in 0u32..4, length in prop_oneof![0usize..100_000, any::<usize>()],
        ) {
            let shapes = Shapes::default();
            let reference =
                shapes.register(Shape::array("A", fixed, Element::Plain { bytes: 1 << shift })).unwrap();
            let shape = shapes.get(reference.id()).unwrap();
            let exact = (fixed as u128 + ((length as u128) << shift)).div_ceil(8) * 8;
            let expected = (length <= 1 << 43).then_some(exact as usize);
            prop_assert_eq!(reference.bytes_for(length), expected);
            prop_assert_eq!(shape.bytes_for(length), expected);
        }
    }
}
