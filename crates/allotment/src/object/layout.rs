//! The facts about a shape that code needs for every object when it handles many: the size, and
//! whether there is anything to trace.
//!
//! A shape has these facts in several places and functions. A collector that keeps the facts of
//! the last shape has them in one cache line.

use super::shape::array_bytes;
use super::{Element, HEADER_BYTES, LENGTH_OFFSET, Shape, WORD};

/// The facts about one shape.
pub(crate) struct Layout<'h> {
    pub(crate) shape: &'h Shape,
    fixed_bytes: usize,
    /// Bytes of an element; 0 without a tail.
    element_bytes: usize,
    /// Whether there may be slots in the object.
    pub(crate) has_slots: bool,
    /// The slots as bits, bit `n` for word `n`; 0 if the bits cannot name all slots
    /// ([`for_each_word`]).
    pub(crate) words: u64,
}

impl<'h> Layout<'h> {
    #[inline]
    pub(crate) fn of(shape: &'h Shape) -> Layout<'h> {
        let references = matches!(shape.tail(), Some(Element::Reference(_)));
        Layout {
            shape,
            fixed_bytes: shape.fixed_bytes(),
            element_bytes: shape.element_bytes(),
            has_slots: references || shape.is_traced() || !shape.slots().is_empty(),
            words: shape.all_as_words(),
        }
    }

    /// The size in bytes, if all objects of this layout have the same size and only the slots in
    /// [`words`](Self::words).
    #[inline]
    pub(crate) fn uniform_bytes(&self) -> Option<usize> {
        (self.element_bytes == 0 && (self.words != 0 || !self.has_slots)).then_some(self.fixed_bytes)
    }

    /// The size in bytes of the object at `address`; `usize::MAX` if its length is invalid.
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

/// Calls `visit` with the slots of the object at `address` that [`Layout::words`] names. These are
/// all slots, if `words` is not 0. This takes a third of the instructions of
/// [`for_each_fixed_slot`](super::for_each_fixed_slot).
#[inline(always)]
pub(crate) fn for_each_word(address: usize, mut words: u64, mut visit: impl FnMut(*mut u64)) {
    while words != 0 {
        visit((address + words.trailing_zeros() as usize * WORD) as *mut u64);
        words &= words - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::SlotKind::{Strong, Weak};
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
                // SAFETY: only the first 16 bytes are read.
                let bytes = unsafe { layout.size_of(object.as_ptr().expose_provenance()) };
                let wanted = shape.tail().map_or(Some(24), |_| shape.bytes_for(length));
                assert_eq!(bytes, wanted.unwrap_or(usize::MAX), "{} of {length}", shape.name());
            }
        }
    }

    #[test]
    fn slots_are_bits_where_all_are_strong_and_near() {
        unsafe fn nothing(_: NonNull<u8>, _: &mut SlotVisitor<'_>) {}
        const PAIR: &[Slot] = &[Slot::new("a", 8, Strong), Slot::new("c", 24, Strong)];
        const MIXED: &[Slot] = &[Slot::new("a", 8, Weak), Slot::new("c", 24, Strong)];
        let [plain, reference] = [Element::Plain { bytes: 1 }, Element::Reference(Strong)];
        let far = |offset| Shape::fixed("far", 1024).slot("a", 8, Strong).slot("b", offset, Strong);
        let shapes = [
            (Shape::constant("pair", 32, PAIR, None), 0b1010),
            (Shape::fixed("grown", 32).slot("a", 8, Strong).slot("c", 24, Strong), 0b1010),
            (Shape::constant("mixed", 32, MIXED, None), 0),
            (Shape::fixed("grown", 32).slot("a", 8, Weak).slot("c", 24, Strong), 0),
            (Shape::array("text", 24, plain).slot("c", 16, Strong), 0b100),
            (Shape::array("array", 24, reference).slot("c", 16, Strong), 0),
            (Shape::constant("pair", 32, PAIR, None).traced_by(nothing), 0),
            (far(63 * WORD), 1 << 63 | 0b10),
            (far(64 * WORD), 0),
            (Shape::fixed("plain", 32), 0),
        ];
        for (shape, words) in &shapes {
            let layout = Layout::of(shape);
            assert_eq!(layout.words, *words, "{shape:?}");
            let one_size = shape.tail().is_none().then_some(shape.fixed_bytes());
            let has_slots = !shape.slots().is_empty() || shape.is_traced();
            assert_eq!(layout.uniform_bytes(), one_size.filter(|_| *words != 0 || !has_slots), "{shape:?}");
            let mut found = Vec::new();
            for_each_word(4096, *words, |slot| found.push(slot.addr() - 4096));
            let slots: Vec<usize> = shape.slots().iter().map(|slot| slot.offset).collect();
            assert_eq!(found, if *words == 0 { vec![] } else { slots });
        }
    }
}
