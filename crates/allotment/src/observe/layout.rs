//! How the objects of a shape lie in memory, as JOL prints Java's: each part with its offset.

use crate::object::{Element, HEADER_BYTES, LENGTH_OFFSET, MIN_OBJECT_BYTES, Shape, SlotKind, WORD};
use std::fmt;

/// The parts of the objects of a shape. Prints as a table.
///
/// ```
/// use allotment::raw::{Element, Shape, SlotKind};
/// let bytes = Shape::array("Text", 32, Element::Plain { bytes: 1 });
/// let shape = bytes.slot("next", 24, SlotKind::Weak);
/// assert_eq!(shape.layout().to_string(), "\
/// Text: 32 bytes, and 1 for each element
///   offset    bytes  what    name
///        0        8  header
///        8        8  length
///       16        8  plain
///       24        8  weak    next
///       32   1 each  plain   elements
/// alignment loses 0 to 7 bytes of each object
/// ");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShapeLayout {
    /// The shape's name.
    pub name: String,
    /// Bytes in front of a tail; without one, the size of an object.
    pub fixed_bytes: usize,
    /// Bytes of an element of the tail; `None` without one.
    pub element_bytes: Option<usize>,
    /// The parts, by offset and without gaps between them.
    pub parts: Vec<LayoutPart>,
    /// Bytes at the end of the fixed part that belong to nothing, since objects are whole words.
    pub lost_bytes: usize,
    /// Whether a function says where the references are. Then they are parts `plain`.
    pub traced: bool,
}

/// A part of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayoutPart {
    /// Bytes from the start of the object.
    pub offset: usize,
    /// Bytes of the part; of a tail, those of each element.
    pub bytes: usize,
    /// The kind of the part.
    pub what: LayoutKind,
    /// The name of a slot, or `elements`; empty for the rest.
    pub name: String,
}

/// The kind of a part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutKind {
    /// The header.
    Header,
    /// The number of elements.
    Length,
    /// A reference that keeps its referent alive, or elements that are.
    Strong,
    /// A reference that lets its referent die, or elements that are.
    Weak,
    /// Bytes that are not references, or of which the shape says nothing.
    Plain,
}

impl LayoutKind {
    /// The kind as a word.
    pub const fn name(self) -> &'static str {
        match self {
            LayoutKind::Header => "header",
            LayoutKind::Length => "length",
            LayoutKind::Strong => "strong",
            LayoutKind::Weak => "weak",
            LayoutKind::Plain => "plain",
        }
    }

    const fn of(kind: SlotKind) -> LayoutKind {
        match kind {
            SlotKind::Strong => LayoutKind::Strong,
            SlotKind::Weak => LayoutKind::Weak,
        }
    }
}

impl Shape {
    /// How objects of this shape lie in memory.
    pub fn layout(&self) -> ShapeLayout {
        let part =
            |offset, bytes, what, name: &str| LayoutPart { offset, bytes, what, name: name.to_owned() };
        let mut parts = vec![part(0, HEADER_BYTES, LayoutKind::Header, "")];
        let mut end = HEADER_BYTES;
        if self.tail().is_some() {
            parts.push(part(LENGTH_OFFSET, WORD, LayoutKind::Length, ""));
            end = LENGTH_OFFSET + WORD;
        }
        let mut slots: Vec<_> = self.slots().iter().filter(|_| !self.is_traced()).collect();
        slots.sort_by_key(|slot| slot.offset);
        for slot in slots {
            if slot.offset > end {
                parts.push(part(end, slot.offset - end, LayoutKind::Plain, ""));
            }
            parts.push(part(slot.offset, WORD, LayoutKind::of(slot.kind), &slot.name));
            end = end.max(slot.offset + WORD);
        }
        if self.fixed_bytes() > end {
            parts.push(part(end, self.fixed_bytes() - end, LayoutKind::Plain, ""));
            end = self.fixed_bytes();
        }
        let fixed_bytes = match self.tail() {
            None => end.max(MIN_OBJECT_BYTES).next_multiple_of(WORD),
            Some(element) => {
                let what = match element {
                    Element::Plain { .. } => LayoutKind::Plain,
                    Element::Reference(kind) => LayoutKind::of(kind),
                };
                parts.push(part(end, element.bytes(), what, "elements"));
                end
            }
        };
        ShapeLayout {
            name: self.name().to_owned(),
            fixed_bytes,
            element_bytes: self.tail().map(Element::bytes),
            parts,
            lost_bytes: fixed_bytes - end,
            traced: self.is_traced(),
        }
    }
}

impl fmt::Display for ShapeLayout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {} bytes", self.name, self.fixed_bytes)?;
        if let Some(bytes) = self.element_bytes {
            write!(out, ", and {bytes} for each element")?;
        }
        out.write_str("\n  offset    bytes  what    name\n")?;
        for part in &self.parts {
            let is_tail = part.name == "elements" && self.element_bytes.is_some();
            let bytes = if is_tail { format!("{} each", part.bytes) } else { part.bytes.to_string() };
            let line = format!("{:>8} {bytes:>8}  {:<6}  {}", part.offset, part.what.name(), part.name);
            writeln!(out, "{}", line.trim_end())?;
        }
        if self.traced {
            writeln!(out, "a function finds the references among the plain bytes")?;
        }
        match self.element_bytes {
            Some(bytes) if bytes < WORD || !self.fixed_bytes.is_multiple_of(WORD) => {
                writeln!(out, "alignment loses 0 to {} bytes of each object", WORD - self.step())
            }
            _ if self.lost_bytes > 0 => {
                writeln!(out, "alignment loses {} bytes of each object", self.lost_bytes)
            }
            _ => writeln!(out, "alignment loses nothing"),
        }
    }
}

impl ShapeLayout {
    /// The bytes of which the size of the unaligned object is a multiple, at most a word.
    fn step(&self) -> usize {
        let element = self.element_bytes.unwrap_or(WORD).min(WORD);
        1 << self.fixed_bytes.trailing_zeros().min(element.trailing_zeros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::SlotVisitor;
    use std::ptr::NonNull;

    #[test]
    fn parts_lie_side_by_side_and_what_is_lost_is_told() {
        unsafe fn nothing(_: NonNull<u8>, _: &mut SlotVisitor<'_>) {}
        use SlotKind::{Strong, Weak};
        let plain = |bytes| Element::Plain { bytes };
        for (shape, lost) in [
            (Shape::fixed("Pair", 24).slot("cdr", 16, Strong).slot("car", 8, Weak), "nothing"),
            (Shape::fixed("Odd", 17), "7 bytes"),
            (Shape::fixed("Small", 8), "8 bytes"),
            (Shape::fixed("Gaps", 64).slot("a", 16, Strong).slot("b", 48, Strong), "nothing"),
            (Shape::array("Bytes", 16, plain(1)), "0 to 7 bytes"),
            (Shape::array("Shorts", 20, plain(2)), "0 to 6 bytes"),
            (Shape::array("Ints", 16, plain(4)), "0 to 4 bytes"),
            (Shape::array("Longs", 16, plain(8)), "nothing"),
            (Shape::array("Vector", 24, Element::Reference(Weak)).slot("type", 16, Strong), "nothing"),
            (Shape::fixed("Traced", 32).slot("a", 8, Strong).traced_by(nothing), "nothing"),
        ] {
            let layout = shape.layout();
            let text = layout.to_string();
            assert!(
                text.ends_with(&format!(
                    "alignment loses {lost}{}\n",
                    if lost == "nothing" { "" } else { " of each object" }
                )),
                "{text}"
            );
            let mut end = 0;
            for part in &layout.parts {
                assert_eq!(part.offset, end, "{text}");
                end += if part.name == "elements" { 0 } else { part.bytes };
            }
            assert_eq!(end + layout.lost_bytes, layout.fixed_bytes, "{text}");
            assert_eq!(text.contains("a function"), layout.traced);
        }
    }
}
