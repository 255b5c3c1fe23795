//! Shapes: descriptions of objects as data.
//!
//! An embedder registers shapes instead of implementing an object-model trait. One description
//! serves the walk, the tracing collectors, dumps, the JIT and C. It has no function that would
//! have to be called for every object.
//!
//! An object is its header, a fixed part, and for shapes with a tail a variable number of equal
//! elements. The number of elements is in the word after the header.

use super::{CTraceFn, HEADER_BYTES, LENGTH_OFFSET, MIN_OBJECT_BYTES, SlotKind, SlotVisitor, TraceFn, WORD};
use std::borrow::Cow;
use std::ffi::c_void;
use std::num::NonZeroU32;
use std::ptr::NonNull;

/// The largest fixed part. It keeps sums of an address and a size from wrapping.
const MAX_FIXED_BYTES: usize = 1 << 46;

/// The largest array length.
const MAX_LENGTH: usize = 1 << 43;

/// The size in bytes of an array of `length` elements of `element_bytes`, with `fixed_bytes` before
/// them. `None` if no array has that length.
pub(crate) const fn array_bytes(fixed_bytes: usize, element_bytes: usize, length: usize) -> Option<usize> {
    if length > MAX_LENGTH {
        return None;
    }
    // 2^43 elements of 8 bytes and a fixed part of 2^46 bytes: no sum overflows.
    Some(round_up(fixed_bytes + length * element_bytes))
}

const _: () = assert!(LENGTH_OFFSET + WORD == MIN_OBJECT_BYTES);

/// Offset of the first word that may be a slot: after the header, and after the length if there is
/// a tail.
const fn first_slot(tail: Option<Element>) -> usize {
    if tail.is_some() { LENGTH_OFFSET + WORD } else { HEADER_BYTES }
}

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

/// A word of the fixed part that holds a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The name for dumps and messages.
    pub name: Cow<'static, str>,
    /// Bytes from the start of the object (its header) to the slot: a multiple of 8.
    pub offset: usize,
    /// How the slot keeps its referent.
    pub kind: SlotKind,
}

impl Slot {
    /// A slot whose name is a constant.
    pub const fn new(name: &'static str, offset: usize, kind: SlotKind) -> Slot {
        Slot { name: Cow::Borrowed(name), offset, kind }
    }
}

/// The content of a tail.
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
/// use allotment::raw::{Element, Shape, SlotKind};
/// let pair = Shape::fixed("Pair", 24)
///     .slot("car", 8, SlotKind::Strong)
///     .slot("cdr", 16, SlotKind::Strong);
/// let bytes = Shape::array("Bytes", 16, Element::Plain { bytes: 1 });
/// assert_eq!(pair.bytes_for(0), Some(24));
/// assert_eq!(bytes.bytes_for(5), Some(24)); // 16 + 5, rounded up to a word
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    name: Cow<'static, str>,
    fixed_bytes: usize,
    slots: Cow<'static, [Slot]>,
    /// Always [`strong_words`] of the slots.
    strong_words: u64,
    tail: Option<Element>,
    trace: Option<Trace>,
    /// The trace function visits the same slots for all of an object's life.
    lasting_slots: bool,
}

/// Bit `n`: word `n` of the object is a strong slot. The result is 0 if any slot is not strong or
/// not among the first 64 words.
const fn strong_words(slots: &[Slot]) -> u64 {
    let (mut words, mut index) = (0, 0);
    while index < slots.len() {
        let Slot { offset, ref kind, .. } = slots[index];
        if offset >= 64 * WORD || !matches!(kind, SlotKind::Strong) {
            return 0;
        }
        words |= 1 << (offset / WORD);
        index += 1;
    }
    words
}

/// A trace function. It is equal to itself only, as far as function addresses show.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trace {
    Rust(TraceFn),
    C(CTraceFn, TraceData),
}

/// The pointer that a trace function of the C calling convention gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TraceData(*mut c_void);

// SAFETY: the pointer is only given to its function, which is written to be called on any thread,
// and on several at once.
unsafe impl Send for TraceData {}
// SAFETY: as above.
unsafe impl Sync for TraceData {}

impl Trace {
    /// Visits the slots of an object.
    ///
    /// # Safety
    /// - As for [`TraceFn`].
    #[inline]
    pub(super) unsafe fn visit(self, object: NonNull<u8>, slots: &mut SlotVisitor<'_>) {
        // SAFETY: the caller's predicate.
        unsafe {
            match self {
                Trace::Rust(trace) => trace(object, slots),
                Trace::C(trace, TraceData(data)) => trace(object.as_ptr(), slots, data),
            }
        }
    }
}

impl PartialEq for Trace {
    fn eq(&self, other: &Trace) -> bool {
        match (self, other) {
            (Trace::Rust(one), Trace::Rust(other)) => std::ptr::fn_addr_eq(*one, *other),
            (Trace::C(one, data), Trace::C(other, others)) => {
                std::ptr::fn_addr_eq(*one, *other) && data == others
            }
            _ => false,
        }
    }
}
impl Eq for Trace {}

impl Shape {
    /// An object of `bytes`, its 8-byte header included. Rounded up to whole words when registered.
    pub fn fixed(name: impl Into<Cow<'static, str>>, bytes: usize) -> Shape {
        Shape {
            name: name.into(),
            fixed_bytes: bytes,
            slots: Cow::Borrowed(&[]),
            strong_words: 0,
            tail: None,
            trace: None,
            lasting_slots: false,
        }
    }

    /// An object whose first `fixed_bytes` (header, length and any further fields) are followed by
    /// elements. The length, in elements, is the word at offset 8.
    pub fn array(name: impl Into<Cow<'static, str>>, fixed_bytes: usize, element: Element) -> Shape {
        Shape { tail: Some(element), ..Shape::fixed(name, fixed_bytes) }
    }

    /// A shape as a constant, for a [`TypeShape`](super::TypeShape). `fixed_bytes` counts the
    /// header. It is rounded up to the smallest object, and without a tail also to whole words.
    ///
    /// # Panics
    /// At compile time, if the shape describes no object: see [`ShapeError`].
    pub const fn constant(
        name: &'static str,
        fixed_bytes: usize,
        slots: &'static [Slot],
        tail: Option<Element>,
    ) -> Shape {
        let fixed_bytes = if fixed_bytes < MIN_OBJECT_BYTES { MIN_OBJECT_BYTES } else { fixed_bytes };
        let fixed_bytes = if tail.is_some() { fixed_bytes } else { round_up(fixed_bytes) };
        assert!(fixed_bytes <= MAX_FIXED_BYTES, "the object is too large");
        let (first, mut index) = (first_slot(tail), 0);
        while index < slots.len() {
            let offset = slots[index].offset;
            assert!(offset >= first && offset + WORD <= fixed_bytes, "a slot lies outside the object");
            assert!(offset.is_multiple_of(WORD), "a slot is not aligned to a word");
            index += 1;
        }
        Shape {
            name: Cow::Borrowed(name),
            fixed_bytes,
            slots: Cow::Borrowed(slots),
            strong_words: strong_words(slots),
            tail,
            trace: None,
            lasting_slots: false,
        }
    }

    /// This shape with a reference at `offset` bytes from the header.
    #[must_use]
    pub fn slot(mut self, name: impl Into<Cow<'static, str>>, offset: usize, kind: SlotKind) -> Shape {
        self.slots.to_mut().push(Slot { name: name.into(), offset, kind });
        self.strong_words = strong_words(&self.slots);
        self
    }

    /// This shape, traced by a function. Its slots and its tail then only determine the size.
    #[must_use]
    pub fn traced_by(mut self, trace: TraceFn) -> Shape {
        self.trace = Some(Trace::Rust(trace));
        self
    }

    /// This shape, traced by a function of the C calling convention, which gets `data` at each
    /// call. Otherwise as [`traced_by`](Self::traced_by). The function may be called on any thread
    /// until the heap is gone, so `data` lives as long and may be used on any thread.
    ///
    /// ```
    /// use allotment::raw::{Shape, SlotVisitor};
    /// use std::ffi::c_void;
    /// unsafe extern "C-unwind" fn last_word(object: *mut u8, slots: *mut SlotVisitor<'_>, data: *mut c_void) {
    ///     // SAFETY: the visitor is valid during the call, and the offset is that of a slot.
    ///     unsafe { (*slots).strong(object.byte_add(data.addr()).cast()) };
    /// }
    /// let shape = Shape::fixed("Traced", 32).traced_by_c(last_word, std::ptr::without_provenance_mut(24));
    /// assert!(shape.is_traced());
    /// ```
    #[must_use]
    pub fn traced_by_c(mut self, trace: CTraceFn, data: *mut c_void) -> Shape {
        self.trace = Some(Trace::C(trace, TraceData(data)));
        self
    }

    /// This shape, with the promise that its [trace function](Self::traced_by) visits the same
    /// slots for all of an object's life, and reads the words that it needs as atomics. A
    /// concurrent collector (`Collector=shenandoah`) accepts no other traced shape: if an object
    /// hides a slot, as a stack does when it pops, the collector does not see the referent.
    #[must_use]
    pub fn slots_never_change(mut self) -> Shape {
        self.lasting_slots = true;
        self
    }

    /// Whether the slots of an object are the same for all of its life.
    pub(crate) fn has_lasting_slots(&self) -> bool {
        self.trace.is_none() || self.lasting_slots
    }

    /// Whether a function traces the objects, because data cannot describe them.
    #[inline]
    pub fn is_traced(&self) -> bool {
        self.trace.is_some()
    }

    /// The trace function.
    #[inline]
    pub(super) fn trace(&self) -> Option<Trace> {
        self.trace
    }

    /// The shape's name.
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

    /// The slots of its objects as bits, bit `n` for word `n`. The result is 0 if the bits cannot
    /// name all slots: a slot is not strong or not among the first 64 words, a tail has references,
    /// or a function traces the object.
    #[inline]
    pub(super) fn all_as_words(&self) -> u64 {
        let more = self.trace.is_some() || matches!(self.tail, Some(Element::Reference(_)));
        if more { 0 } else { self.strong_words }
    }

    /// The content of the tail, if there is one.
    pub fn tail(&self) -> Option<Element> {
        self.tail
    }

    /// Bytes of an element of the tail; 0 without one.
    #[inline]
    pub(super) fn element_bytes(&self) -> usize {
        self.tail.map_or(0, Element::bytes)
    }

    /// The size in bytes of an object with a tail of `length` elements (ignored without a tail):
    /// a multiple of 8; `None` beyond 2^43 elements, which no heap holds.
    #[inline]
    pub fn bytes_for(&self, length: usize) -> Option<usize> {
        array_bytes(self.fixed_bytes, self.element_bytes(), length)
    }

    /// The shape as the heap keeps it, or the reason why it is refused.
    pub(super) fn checked(mut self) -> Result<Shape, ShapeError> {
        let bad = |reason: String| Err(ShapeError::Invalid { name: self.name.to_string(), reason });
        if self.fixed_bytes < MIN_OBJECT_BYTES || self.fixed_bytes > MAX_FIXED_BYTES {
            return bad(format!(
                "its fixed part is {} bytes; {MIN_OBJECT_BYTES} to 2^46 work",
                self.fixed_bytes
            ));
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
        let first = first_slot(self.tail);
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
                return bad(format!("two slots are at offset {}; each needs its own", slot.offset));
            }
        }
        // The elements of a tail may begin off a word. An object without a tail consists of whole
        // words.
        if self.tail.is_none() {
            self.fixed_bytes = round_up(self.fixed_bytes);
        }
        Ok(self)
    }
}

/// The reason why a shape was not registered.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// The shape describes no object.
    #[error("shape `{name}` cannot be registered: {reason}")]
    Invalid {
        /// The shape.
        name: String,
        /// The error, and a value that would work.
        reason: String,
    },
    /// All ids are taken.
    #[error("shape `{name}` cannot be registered: all 2^24 - 2^22 shape ids of this heap are taken")]
    Full {
        /// The shape.
        name: String,
    },
}
crate::debug::debug_is_display!(ShapeError);
