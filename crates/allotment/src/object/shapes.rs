//! The shapes of a heap, and the part of a shape that an allocation needs.
//!
//! Ids 1 to 2^22 - 1 are Rust types, which every heap knows. Higher ids are this heap's own.

use super::shape::array_bytes;
use super::types::{MAX_TYPES, TypeShape, type_at};
use super::{Header, Shape, ShapeError, ShapeId};
use std::num::NonZeroU32;

/// Limit on the shapes registered with one heap. Their ids follow those of types, up to the 24 bits
/// of a header.
const MAX_SHAPES: usize = (1 << 24) - 1 - MAX_TYPES;

/// A registered shape in the form that an allocation needs: header and size rule in one copyable
/// value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeRef {
    id: ShapeId,
    header: Header,
    fixed_bytes: usize,
    /// Bytes of an element; 0 without a tail.
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

    /// Bytes of an element of the tail; 0 without one.
    #[inline(always)]
    pub const fn element_bytes(self) -> usize {
        self.element_bytes
    }

    /// Bytes before the tail, header and length included. Without a tail, the size of an
    /// object.
    #[inline(always)]
    pub const fn fixed_bytes(self) -> usize {
        self.fixed_bytes
    }

    /// The header of a new object of this shape.
    #[inline(always)]
    pub const fn header(self) -> Header {
        self.header
    }

    /// The size of an object with a tail of `length` elements, as [`Shape::bytes_for`].
    #[inline(always)]
    pub const fn bytes_for(self, length: usize) -> Option<usize> {
        array_bytes(self.fixed_bytes, self.element_bytes, length)
    }
}

/// A place in two lists of shapes.
pub(crate) struct ShapePlace {
    /// 0: the list of types; 1: the list of the heap's own shapes.
    pub(crate) list: usize,
    pub(crate) index: usize,
}

/// The shapes of one heap, and those of all Rust types. The set only grows, and is read without a
/// lock.
#[derive(Debug, Default)]
pub struct Shapes {
    shapes: boxcar::Vec<Shape>,
}

impl Shapes {
    /// Adds a shape.
    ///
    /// # Errors
    /// [`ShapeError::Invalid`] if it describes no object; [`ShapeError::Full`] after 2^24 - 2^22.
    pub fn register(&self, shape: Shape) -> Result<ShapeRef, ShapeError> {
        let shape = shape.checked()?;
        if self.shapes.count() >= MAX_SHAPES {
            return Err(ShapeError::Full { name: shape.name().to_owned() });
        }
        let (fixed_bytes, element_bytes) = (shape.fixed_bytes(), shape.element_bytes());
        let name = shape.name().to_owned();
        // Two threads may pass the check above for the last id; the id itself decides.
        let index = self.shapes.push(shape);
        if index >= MAX_SHAPES {
            return Err(ShapeError::Full { name });
        }
        let id = ShapeId::from_raw(NonZeroU32::MIN.saturating_add((MAX_TYPES + index) as u32));
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

    /// The place of a shape in two lists without gaps.
    pub(crate) fn place_of(id: ShapeId) -> ShapePlace {
        let index = id.get() as usize - 1;
        let place = |own| ShapePlace { list: 1, index: own };
        index.checked_sub(MAX_TYPES).map_or(ShapePlace { list: 0, index }, place)
    }

    /// Number of shapes registered with this heap.
    pub fn len(&self) -> usize {
        self.shapes.count()
    }

    /// Whether no shape is registered with this heap.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Element, SlotKind};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_shape_that_describes_no_object_is_refused_with_the_reason() {
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
    fn ids_begin_after_the_types_and_find_their_shape() {
        let shapes = Shapes::default();
        let a = shapes.register(Shape::fixed("A", 17)).unwrap();
        let b = shapes.register(Shape::array("B", 17, Element::Plain { bytes: 1 })).unwrap();
        assert_eq!((a.id().get(), b.id().get()), (1 << 22, (1 << 22) + 1));
        assert_eq!(shapes.get(a.id()).unwrap().fixed_bytes(), 24);
        assert_eq!(b.bytes_for(0), Some(24));
        assert_eq!(b.bytes_for(7), Some(24));
        assert_eq!(b.bytes_for(8), Some(32));
        assert_eq!(shapes.get(ShapeId::from_raw(NonZeroU32::new((1 << 22) + 2).unwrap())), None);
        assert_eq!(shapes.get(ShapeId::from_raw(NonZeroU32::new(1 << 21).unwrap())), None);
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
