//! What is asked of a shape for each object, where objects are met in great numbers: the size, and whether there is anything to trace.
//!
//! A shape is a description, which says it in several places and by several questions. A collector that keeps the answers
//! of the last shape it met has them in a line of its own.

use super::shape::array_bytes;
use super::{Element, HEADER_BYTES, LENGTH_OFFSET, Shape, WORD};

/// The answers of one shape.
pub(crate) struct Layout<'h> {
    pub(crate) shape: &'h Shape,
    fixed_bytes: usize,
    /// 0: no tail.
    element_bytes: usize,
    /// Whether there may be slots in the object.
    pub(crate) has_slots: bool,
}

impl<'h> Layout<'h> {
    #[inline]
    pub(crate) fn of(shape: &'h Shape) -> Layout<'h> {
        let references = matches!(shape.tail(), Some(Element::Reference(_)));
        Layout {
            shape,
            fixed_bytes: shape.fixed_bytes(),
            element_bytes: shape.element_bytes(),
            has_slots: references || shape.trace().is_some() || !shape.slots().is_empty(),
        }
    }

    /// The size in bytes of the object at `address`; `usize::MAX` where its length is absurd.
    ///
    /// # Safety
    /// - The first 16 bytes at `address` are readable, and hold an object of this layout.
    #[inline(always)]
    pub(crate) unsafe fn size_of(&self, address: usize) -> usize {
        if self.element_bytes == 0 {
            return self.fixed_bytes;
        }
        const { assert!(LENGTH_OFFSET == HEADER_BYTES && LENGTH_OFFSET.is_multiple_of(WORD)) };
        // SAFETY: the length is the second word.
        let length = unsafe { ((address + LENGTH_OFFSET) as *const usize).read() };
        array_bytes(self.fixed_bytes, self.element_bytes, length).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::SlotKind::Strong;
    use crate::object::{Slot, SlotVisitor};
    use std::ptr::NonNull;

    #[test]
    fn a_layout_says_what_the_shape_says() {
        unsafe fn nothing(_: NonNull<u8>, _: &mut SlotVisitor<'_>) {}
        const FIELDS: &[Slot] = &[Slot::new("a", 8, Strong)];
        let plain = |bytes| Some(Element::Plain { bytes });
        let shapes = [
            (Shape::constant("plain", 24, &[], None), false),
            (Shape::constant("pair", 24, FIELDS, None), true),
            (Shape::constant("bytes", 16, &[], plain(1)), false),
            (Shape::constant("words", 24, &[], plain(8)), false),
            (Shape::constant("references", 16, &[], Some(Element::Reference(Strong))), true),
            (Shape::constant("traced", 16, &[], plain(4)).traced_by(nothing), true),
        ];
        for (shape, has_slots) in &shapes {
            let layout = Layout::of(shape);
            assert_eq!(layout.has_slots, *has_slots, "{}", shape.name());
            for length in [0, 1, 5, 8, 1000, usize::MAX] {
                let object = [0_u64, length as u64];
                // SAFETY: only the first 16 bytes are looked at.
                let bytes = unsafe { layout.size_of(object.as_ptr().expose_provenance()) };
                let wanted = shape.tail().map_or(Some(24), |_| shape.bytes_for(length));
                assert_eq!(bytes, wanted.unwrap_or(usize::MAX), "{} of {length}", shape.name());
            }
        }
    }
}
