//! The 8-byte header.
//!
//! ```text
//!          63          32 31           8 7    4 3   2 1  0
//! object  | identity hash |   shape id  |  age | mark | 00 |
//! forward |          address of the copy (8-aligned)  | 01 |
//! filler  | size in words |      0      |   0  |   0  | 10 |
//! early   |  address of the type's shape  (8-aligned) | 11 |
//! ```
//!
//! The header fields of a new object lie below bit 32, so its header is a constant that fits the
//! 32-bit immediate of one store. The shape determines the size, so an object stores no size. A
//! filler may have any size. It has no shape and stores its size instead, so it can be as small as
//! the header. A word of zeroes is not a header, because shape ids begin at 1. So memory that was
//! never written is detected.
//!
//! An early header heads an object whose type has no id yet (`types.rs`). No collection meets one,
//! so it counts as invalid.
//!
//! Refused:
//! - A class pointer and a mark word: 16 bytes, as HotSpot before compact headers, JEP 450.
//! - A size class in the header: it saves the shape look-up in a walk, but costs the bits of the
//!   hash.

use super::{MIN_OBJECT_BYTES, ShapeId, WORD};
use std::num::NonZeroU32;

const TAG_MASK: u64 = 0b11;
const TAG_OBJECT: u64 = 0b00;
const TAG_FORWARDED: u64 = 0b01;
const TAG_FILLER: u64 = 0b10;
const TAG_EARLY: u64 = 0b11;

const MARK_SHIFT: u32 = 2;
const MARK_MASK: u64 = 0b11;
const AGE_SHIFT: u32 = 4;
const AGE_MASK: u64 = 0b1111;
const SHAPE_SHIFT: u32 = 8;
const SHAPE_MASK: u64 = (1 << 24) - 1;
const UPPER_SHIFT: u32 = 32;

/// The largest age, in survived collections, that the header holds (HotSpot's largest
/// `MaxTenuringThreshold`).
pub const MAX_AGE: u8 = AGE_MASK as u8;

/// The first word of an object or filler.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Header(u64);

/// The kind of memory that a header heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An object of this shape.
    Object(ShapeId),
    /// An object that has moved to this address.
    Forwarded(usize),
    /// Unused memory of this many bytes, header included.
    Filler(usize),
    /// No object of a stopped heap has this header.
    Invalid,
}

impl Header {
    /// The header of a new object: unmarked, age 0, no identity hash.
    #[inline(always)]
    pub const fn new(shape: ShapeId) -> Header {
        Header((shape.get() as u64) << SHAPE_SHIFT)
    }

    /// The header of a filler of `bytes` (a multiple of 8, at least 8, at most 32 GiB - 8).
    #[inline]
    pub const fn filler(bytes: usize) -> Header {
        debug_assert!(bytes.is_multiple_of(WORD) && bytes > 0 && (bytes / WORD) <= u32::MAX as usize);
        Header(((bytes / WORD) as u64) << UPPER_SHIFT | TAG_FILLER)
    }

    /// The header at the old place of an object that moved to `address` (8-aligned).
    #[inline]
    pub const fn forwarded(address: usize) -> Header {
        debug_assert!(address.is_multiple_of(WORD));
        Header(address as u64 | TAG_FORWARDED)
    }

    /// The bits that an early header adds to the address of its type's shape.
    pub(super) const EARLY: u64 = TAG_EARLY;

    /// The header of a new object whose type has its shape at `address` (8-aligned), and no id.
    #[inline]
    pub(super) const fn early(address: usize) -> Header {
        debug_assert!(address.is_multiple_of(WORD));
        Header(address as u64 | TAG_EARLY)
    }

    /// The header with these bits.
    #[inline(always)]
    pub const fn from_bits(bits: u64) -> Header {
        Header(bits)
    }

    /// The word as it lies in memory.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The kind of memory that the header heads.
    #[inline]
    pub const fn kind(self) -> Kind {
        match self.0 & TAG_MASK {
            TAG_OBJECT => match NonZeroU32::new(self.shape_number()) {
                Some(id) => Kind::Object(ShapeId::from_raw(id)),
                None => Kind::Invalid,
            },
            TAG_FORWARDED => Kind::Forwarded((self.0 & !TAG_MASK) as usize),
            TAG_FILLER if self.0 >> UPPER_SHIFT != 0 => Kind::Filler((self.0 >> UPPER_SHIFT) as usize * WORD),
            _ => Kind::Invalid,
        }
    }

    /// Collections survived, 0 to [`MAX_AGE`]. For an object only.
    #[inline]
    pub const fn age(self) -> u8 {
        ((self.0 >> AGE_SHIFT) & AGE_MASK) as u8
    }

    /// Whether the header may belong to an object whose type had no id when it was allocated.
    #[inline(always)]
    pub(crate) const fn is_early(self) -> bool {
        self.0 & TAG_MASK == TAG_EARLY
    }

    /// Whether the header belongs to an object of a shape with an id.
    #[inline(always)]
    pub(crate) const fn is_object(self) -> bool {
        self.0 & TAG_MASK == TAG_OBJECT && self.shape_number() != 0
    }

    /// Whether the header, if valid, belongs to an object whose mark bits are 0.
    #[inline(always)]
    pub(crate) const fn is_unmarked_object(self) -> bool {
        self.0 & (TAG_MASK | MARK_MASK << MARK_SHIFT) == 0
    }

    /// All of an object's header except the hash: shape, age, marks, and the object tag. No other
    /// kind of header has the same bits.
    #[inline(always)]
    pub(crate) const fn lower(self) -> u32 {
        self.0 as u32
    }

    /// The number of an object's shape. An invalid header gives 0, which no shape has.
    #[inline(always)]
    pub(crate) const fn shape_number(self) -> u32 {
        ((self.0 >> SHAPE_SHIFT) & SHAPE_MASK) as u32
    }

    /// This header with the shape of another one. Both are headers of objects.
    #[must_use]
    pub(crate) const fn with_shape_of(self, other: Header) -> Header {
        const SHAPE: u64 = SHAPE_MASK << SHAPE_SHIFT;
        Header(self.0 & !SHAPE | other.0 & SHAPE)
    }

    /// This header, one collection older. For an object younger than [`MAX_AGE`].
    #[inline(always)]
    pub(crate) const fn older(self) -> Header {
        debug_assert!(self.age() < MAX_AGE);
        Header(self.0 + (1 << AGE_SHIFT))
    }

    /// This header with the given age, at most [`MAX_AGE`].
    #[inline]
    #[must_use]
    pub const fn with_age(self, age: u8) -> Header {
        debug_assert!(age <= MAX_AGE);
        Header(self.0 & !(AGE_MASK << AGE_SHIFT) | (age as u64) << AGE_SHIFT)
    }

    /// The mark bits, 0 to 3. For an object only. The collector defines their meaning.
    #[inline]
    pub const fn mark(self) -> u8 {
        ((self.0 >> MARK_SHIFT) & MARK_MASK) as u8
    }

    /// This header with the given mark bits, at most 3.
    #[inline]
    #[must_use]
    pub const fn with_mark(self, mark: u8) -> Header {
        debug_assert!(mark <= MARK_MASK as u8);
        Header(self.0 & !(MARK_MASK << MARK_SHIFT) | (mark as u64) << MARK_SHIFT)
    }

    /// The identity hash, if the object was already asked for one.
    #[inline]
    pub const fn identity_hash(self) -> Option<NonZeroU32> {
        NonZeroU32::new((self.0 >> UPPER_SHIFT) as u32)
    }

    /// This header with the given identity hash.
    #[inline]
    #[must_use]
    pub const fn with_identity_hash(self, hash: NonZeroU32) -> Header {
        Header(self.0 & u32::MAX as u64 | (hash.get() as u64) << UPPER_SHIFT)
    }
}

const _: () = assert!(MIN_OBJECT_BYTES > size_of::<Header>());

impl std::fmt::Debug for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Header({:#018x}: {:?})", self.0, self.kind())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape(id: u32) -> ShapeId {
        ShapeId::from_raw(NonZeroU32::new(id).unwrap())
    }

    #[test]
    fn a_new_header_fits_a_32_bit_immediate() {
        assert!(Header::new(shape((1 << 23) - 1)).bits() <= i32::MAX as u64);
    }

    #[test]
    fn zeroes_and_the_fourth_tag_head_nothing() {
        assert_eq!(Header::from_bits(0).kind(), Kind::Invalid);
        assert_eq!(Header::from_bits(0b11).kind(), Kind::Invalid);
        assert_eq!(Header::from_bits(TAG_FILLER).kind(), Kind::Invalid);
    }

    proptest! {
        #[test]
        fn fields_do_not_touch_each_other(
            id in 1u32..1 << 24, age in 0u8..=MAX_AGE, mark in 0u8..4, hash in 1u32..,
        ) {
            let hash = NonZeroU32::new(hash).unwrap();
            let header = Header::new(shape(id)).with_age(age).with_mark(mark).with_identity_hash(hash);
            prop_assert_eq!(header.kind(), Kind::Object(shape(id)));
            prop_assert_eq!((header.age(), header.mark()), (age, mark));
            prop_assert_eq!(header.identity_hash(), Some(hash));
            prop_assert_eq!(header.with_age(0).with_mark(0).bits() as u32 >> 8, id);
            prop_assert_eq!(header.shape_number(), id);
            prop_assert_eq!(header.is_unmarked_object(), mark == 0);
            let renamed = Header::new(shape(1)).with_age(age).with_mark(mark).with_identity_hash(hash);
            prop_assert_eq!(renamed.with_shape_of(Header::new(shape(id))), header);
            if age < MAX_AGE {
                prop_assert_eq!(header.older(), header.with_age(age + 1));
            }
        }

        #[test]
        fn fillers_and_forwarding_keep_their_number(words in 1usize..1 << 32, address in 0usize..1 << 44) {
            prop_assert_eq!(Header::filler(words * WORD).kind(), Kind::Filler(words * WORD));
            prop_assert_eq!(Header::forwarded(address * WORD).kind(), Kind::Forwarded(address * WORD));
        }
    }
}
