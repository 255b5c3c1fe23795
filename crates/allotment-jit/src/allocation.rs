//! The object that a sequence allocates: its header, its size, and the code that initialises its
//! body.

use crate::EmitError;
use crate::register::Register;
use allotment::raw::{Header, MIN_OBJECT_BYTES, ShapeRef, WORD};

/// The largest object in bytes that is allocated inline, as in HotSpot (`FastAllocateSizeLimit`,
/// 128 Ki words of 8 bytes). A larger object goes to the heap at once.
pub const MAX_INLINE_BYTES: usize = 1 << 20;

/// The writer of the memory after a new header. These are the policies of [`allotment::raw`],
/// chosen when code is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Initialise {
    /// The code after the allocation writes every word.
    ByCaller,
    /// The allocation writes zeroes.
    #[default]
    PerObject,
    /// The heap writes zeroes, a window at a time.
    Ahead,
}

impl Initialise {
    /// Whether the slow path hands out zeroed memory. If the size is `known` when the code is made,
    /// the body is zeroed after the return from the slow path. Otherwise only the fast path zeroes
    /// it.
    pub(crate) fn slow_path_zeroes(self, known: bool) -> bool {
        match self {
            Initialise::ByCaller => false,
            Initialise::PerObject => !known,
            Initialise::Ahead => true,
        }
    }
}

/// The size of an object, and its source: a constant, or a place `P` in the program, such as a
/// register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size<P> {
    /// A constant number of bytes, with a length if the object is an array.
    Constant { bytes: usize, length: Option<usize> },
    /// A number of bytes in a place: a multiple of 8, at least 16.
    Bytes { place: P },
    /// A length in a place.
    Length { place: P, fixed_bytes: usize, element_bytes: usize },
}

/// One object that code allocates. A size that is not a constant lies in a `P`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation<P = Register> {
    pub(crate) header: u64,
    pub(crate) size: Size<P>,
}

impl Allocation {
    /// An object of a shape without a tail.
    ///
    /// # Errors
    /// [`EmitError::Shape`] for a shape with a tail, [`EmitError::TooLarge`].
    pub fn object(shape: ShapeRef) -> Result<Allocation, EmitError> {
        if shape.has_tail() {
            return Err(EmitError::Shape(
                "objects of this shape have a length: `Allocation::array` takes it",
            ));
        }
        Allocation::with_header(shape.header(), shape.fixed_bytes())
    }

    /// An array whose length is known when the code is made.
    ///
    /// # Errors
    /// [`EmitError::Shape`] for a shape without a tail, [`EmitError::TooLarge`].
    pub fn array(shape: ShapeRef, length: usize) -> Result<Allocation, EmitError> {
        let shape = with_tail(shape)?;
        let bytes = shape.bytes_for(length).unwrap_or(usize::MAX);
        let size = Size::Constant { bytes: inline(bytes)?, length: Some(length) };
        Ok(Allocation { header: shape.header().bits(), size })
    }

    /// An array whose length, in elements, is in a register. The code reads all 64 bits of the
    /// register and keeps them.
    ///
    /// # Errors
    /// [`EmitError::Shape`] for a shape without a tail, [`EmitError::TooLarge`] if even an empty
    /// array is too large.
    pub fn array_in(shape: ShapeRef, register: Register) -> Result<Allocation, EmitError> {
        Allocation::with_length_in(shape, register)
    }

    /// An object with that header and a size that is known when the code is made, such as that of a
    /// type.
    ///
    /// # Errors
    /// [`EmitError::Size`], [`EmitError::TooLarge`].
    pub fn with_header(header: Header, bytes: usize) -> Result<Allocation, EmitError> {
        if bytes < MIN_OBJECT_BYTES || !bytes.is_multiple_of(WORD) {
            let nearest =
                bytes.clamp(MIN_OBJECT_BYTES, MAX_INLINE_BYTES).saturating_add(WORD / 2) / WORD * WORD;
            return Err(EmitError::Size { bytes, nearest });
        }
        Ok(Allocation { header: header.bits(), size: Size::Constant { bytes: inline(bytes)?, length: None } })
    }

    /// An object with that header whose size in bytes is in a register: a multiple of 8, at least
    /// 16. The code keeps the register. If the shape has a tail, the caller writes the length.
    pub fn sized_in(header: Header, register: Register) -> Allocation {
        Allocation::with_bytes_in(header, register)
    }

    /// The register that holds its size.
    pub(crate) fn input(&self) -> Option<(&'static str, Register)> {
        match self.size {
            Size::Constant { .. } => None,
            Size::Bytes { place } => Some(("the size", place)),
            Size::Length { place, .. } => Some(("the length", place)),
        }
    }
}

impl<P: Copy> Allocation<P> {
    /// An array whose length is in that place.
    pub(crate) fn with_length_in(shape: ShapeRef, place: P) -> Result<Allocation<P>, EmitError> {
        let shape = with_tail(shape)?;
        let (fixed_bytes, element_bytes) = (shape.fixed_bytes(), shape.element_bytes());
        inline(fixed_bytes)?;
        Ok(Allocation {
            header: shape.header().bits(),
            size: Size::Length { place, fixed_bytes, element_bytes },
        })
    }

    /// An object whose size in bytes is in that place.
    pub(crate) fn with_bytes_in(header: Header, place: P) -> Allocation<P> {
        Allocation { header: header.bits(), size: Size::Bytes { place } }
    }

    /// The size in bytes, if it is known when the code is made.
    pub fn bytes(&self) -> Option<usize> {
        match self.size {
            Size::Constant { bytes, .. } => Some(bytes),
            Size::Bytes { .. } | Size::Length { .. } => None,
        }
    }

    /// Whether the object has a length, for the choice of prefetch.
    pub(crate) fn is_array(&self) -> bool {
        matches!(self.size, Size::Length { .. } | Size::Constant { length: Some(_), .. })
    }
}

/// The longest array that is allocated inline.
pub(crate) fn longest_inline(fixed_bytes: usize, element_bytes: usize) -> usize {
    (MAX_INLINE_BYTES - fixed_bytes) / element_bytes
}

/// Whether arrays of any length end at a multiple of 8.
pub(crate) fn always_whole(fixed_bytes: usize, element_bytes: usize) -> bool {
    element_bytes == WORD && fixed_bytes.is_multiple_of(WORD)
}

/// The contents of one bump: the allocation, or the first of several; the total bytes, if known;
/// the offset of each object.
pub(crate) fn fold<P: Copy>(
    allocations: &[Allocation<P>],
) -> Result<(Allocation<P>, Option<usize>, Vec<usize>), EmitError> {
    let [first, rest @ ..] = allocations else { return Err(EmitError::Nothing) };
    if rest.is_empty() {
        return Ok((*first, first.bytes(), vec![0]));
    }
    let (mut total, mut offsets) = (0_usize, Vec::with_capacity(allocations.len()));
    for allocation in allocations {
        let constant = || allocations.iter().filter(|one| one.bytes().is_some()).count();
        let bytes = allocation.bytes().ok_or_else(|| EmitError::Fold(constant()))?;
        offsets.push(total);
        total = inline(total + bytes)?;
    }
    Ok((*first, Some(total), offsets))
}

fn with_tail(shape: ShapeRef) -> Result<ShapeRef, EmitError> {
    if shape.has_tail() {
        return Ok(shape);
    }
    Err(EmitError::Shape("objects of this shape have no length: `Allocation::object` takes it"))
}

/// A size that is allocated inline.
pub(crate) fn inline(bytes: usize) -> Result<usize, EmitError> {
    if bytes > MAX_INLINE_BYTES {
        return Err(EmitError::TooLarge { bytes, max: MAX_INLINE_BYTES });
    }
    Ok(bytes)
}
