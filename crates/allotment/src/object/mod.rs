//! The contents of the heap: headers, shapes, fillers, and the walk from one object to the next.
//!
//! **Invariant:** a region is parsable from its bottom to its top: each object or filler states its
//! own size, and the next one begins where it ends.
//!
//! This layer knows neither threads nor regions.

mod filler;
mod header;
mod layout;
mod poison;
mod reference;
mod scan;
mod shape;
mod shapes;
mod types;
mod visitor;
mod walk;

pub(crate) use filler::fill;
pub use header::{Header, Kind, MAX_AGE};
pub(crate) use layout::{Layout, for_each_word};
pub(crate) use poison::{POISON, first_word_not, poison};
pub use reference::{ADDRESS_MASK, IMMEDIATE_BIT, reference, with_reference};
pub(crate) use scan::{TailSlots, for_each_fixed_slot, for_each_slot, for_each_slot_between, tail_slots};
pub(crate) use shape::array_bytes;
pub use shape::{Element, Shape, ShapeError, ShapeId, Slot};
pub(crate) use shapes::ShapePlace;
pub use shapes::{ShapeRef, Shapes};
#[doc(hidden)]
pub use types::COPY;
pub use types::TypeShape;
pub(crate) use types::{EarlyTypes, settle};
pub use visitor::{CTraceFn, SlotKind, SlotVisitor, TraceFn};
pub use walk::WalkError;
pub(crate) use walk::{Object, size_of_object, walk};

/// Bytes of a word, the unit of alignment and size of everything in the heap.
pub const WORD: usize = 8;

/// Bytes of the header that starts every object.
pub const HEADER_BYTES: usize = WORD;

/// Bytes of the smallest object: its header and one word, so that an address inside it is never the
/// first byte of the next region. (A filler may be a bare header.)
pub const MIN_OBJECT_BYTES: usize = 2 * WORD;

/// Offset in bytes of the length of an object with a tail.
pub const LENGTH_OFFSET: usize = HEADER_BYTES;
