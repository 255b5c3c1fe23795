//! The walk from one object to the next, through memory that should be parsable.
//!
//! The walk trusts nothing. An unknown header, a size that leaves the range, or a moved object ends
//! it with an error that names the address. So the checker and the collector both use this one
//! walk.

use super::{Header, Kind, Layout, MIN_OBJECT_BYTES, Shape, ShapeId, Shapes};

/// One object or filler on the walk.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    /// Address of the object's header.
    pub address: usize,
    /// The object's size in bytes, header included: a multiple of 8.
    pub bytes: usize,
    /// The object's header.
    pub header: Header,
    /// The object's shape and the shape's id; `None` for a filler.
    pub shape: Option<(ShapeId, &'a Shape)>,
}

/// The reason why a range is not parsable.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WalkError {
    /// A word that is not a header.
    #[error("{address:#x}: {header:?} is not a header: an object was not initialised, or was overwritten")]
    NoHeader {
        /// Address of the word.
        address: usize,
        /// The word.
        header: Header,
    },
    /// A shape that was never registered.
    #[error("{address:#x}: shape {} was never registered with this heap", shape.get())]
    UnknownShape {
        /// The object.
        address: usize,
        /// The shape that its header names.
        shape: ShapeId,
    },
    /// An object that has moved, in a range without moved objects.
    #[error("{address:#x}: forwarded to {to:#x} outside a collection")]
    Forwarded {
        /// The old object.
        address: usize,
        /// The address of the copy, according to the header.
        to: usize,
    },
    /// An object that does not end inside the range.
    #[error("{address:#x}: an object of {bytes} bytes ends beyond {end:#x}, where the range ends")]
    Overrun {
        /// The object.
        address: usize,
        /// Its size in bytes.
        bytes: usize,
        /// The end of the range.
        end: usize,
    },
}
crate::debug::debug_is_display!(WalkError);

/// Calls `visit` with every object and filler in `[start, end)`, in order of address.
///
/// # Errors
/// The first place that is not parsable.
///
/// # Safety
/// - `start` and `end` are multiples of 8.
/// - `[start, end)` is committed memory in which no thread allocates meanwhile.
pub unsafe fn walk<'a>(
    shapes: &'a Shapes,
    start: usize,
    end: usize,
    mut visit: impl FnMut(Object<'a>),
) -> Result<(), WalkError> {
    let mut address = start;
    while address < end {
        // SAFETY: `address` is an aligned word inside the caller's range.
        let header = Header::from_bits(unsafe { (address as *const u64).read() });
        let (bytes, shape) = match header.kind() {
            Kind::Filler(bytes) => (bytes, None),
            Kind::Object(id) => {
                let shape = shapes.get(id).ok_or(WalkError::UnknownShape { address, shape: id })?;
                if end - address < MIN_OBJECT_BYTES {
                    return Err(WalkError::Overrun { address, bytes: MIN_OBJECT_BYTES, end });
                }
                // SAFETY: the smallest object fits, so its length field is inside the range.
                (unsafe { size_of_object(address, shape) }, Some((id, shape)))
            }
            Kind::Forwarded(to) => return Err(WalkError::Forwarded { address, to }),
            Kind::Invalid => return Err(WalkError::NoHeader { address, header }),
        };
        if bytes > end - address {
            return Err(WalkError::Overrun { address, bytes, end });
        }
        visit(Object { address, bytes, header, shape });
        address += bytes;
    }
    Ok(())
}

/// The size in bytes of the object at `address`; `usize::MAX` if its length is invalid.
///
/// # Safety
/// - The first 16 bytes at `address` are readable, and hold an object of `shape`.
pub unsafe fn size_of_object(address: usize, shape: &Shape) -> usize {
    // SAFETY: the caller's predicate.
    unsafe { Layout::of(shape).size_of(address) }
}
