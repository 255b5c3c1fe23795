//! Arrays of words.
//!
//! A pointer to an array dereferences to a slice of fields. So indexing, lengths, iteration and
//! sub-slices are those of the slice.

use super::alloc::New;
use super::carry::Carry;
use super::field::Field;
use super::gc::{Gc, Object};
use super::large::{Content, Tail};
use super::local::Local;
use super::word::{Bare, Word};
use crate::mutator::{Mutator, SLOTS_PIECE_BYTES, copy_in_pieces, pieces};
use crate::object::{Element, LENGTH_OFFSET, Shape, SlotKind, SlotVisitor, TypeShape, WORD};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;
use std::slice;

/// Bytes before the elements: header and length.
pub(super) const ELEMENTS: usize = LENGTH_OFFSET + WORD;

/// The elements of an array with a tail of `T`.
///
/// # Safety
/// - `object` heads a live object with a length and a tail of `T`, for all of `'g`.
#[inline(always)]
pub(super) unsafe fn elements<'g, T>(object: NonNull<u8>) -> &'g [T] {
    // SAFETY: the length follows the header, and the elements follow the length. Neither leaves the
    // object.
    unsafe {
        let length = object.byte_add(LENGTH_OFFSET).cast::<usize>().read();
        slice::from_raw_parts(object.byte_add(ELEMENTS).cast::<T>().as_ptr(), length)
    }
}

/// An array of words of kind `W`, in the heap.
///
/// ```
/// use allotment::{Array, Heap, NewArray, Object, OutOfMemory, alloc};
///
/// #[derive(Object)]
/// struct Point {
///     x: f64,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     let mut points = alloc!(mu, NewArray::<Option<Point>>::new(3, None))?;
///     let point = alloc!(mu, [points] => NewPoint { x: 0.5 })?;
///     points[1].store(mu, Some(point));
///     assert_eq!(points.iter(mu).flatten().map(|point| point.x).sum::<f64>(), 0.5);
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
pub struct Array<W> {
    /// No code makes one.
    _private: PhantomData<fn(W) -> W>,
}

// SAFETY: the tail is fields, each a slot.
unsafe impl<W: Word> Object for Array<W> {
    type View = [Field<W>];

    #[inline(always)]
    unsafe fn view<'g>(object: NonNull<u8>) -> &'g [Field<W>] {
        // SAFETY: the caller's predicates; a field is transparent over a word.
        unsafe { elements(object) }
    }

    fn describe(view: &[Field<W>], to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Gc<Array>[{}]", view.len())
    }
}

/// The shape that the arrays of all words share.
fn array_shape() -> &'static TypeShape {
    crate::type_shape!(Shape::constant("Array", ELEMENTS, &[], Some(Element::Reference(SlotKind::Strong))))
}

/// The address of the first of these slots.
fn first_word<W>(slots: &[Field<W>]) -> *mut u64 {
    // A field is transparent over an atomic word.
    slots.as_ptr().cast_mut().cast()
}

impl<W: Word> Array<W> {
    /// Stores `value` in each slot of `range`. A safepoint, after each part of a large range.
    ///
    /// Other threads may see, and a collection may meet, an array of which a part is filled.
    ///
    /// ```
    /// # use allotment::{Array, Heap, NewArray, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, array = alloc!(mu, NewArray::new(100_000, Unboxed(0)))?);
    /// pass!(Array::fill(mu, array, 1..100_000, =Unboxed(7)));
    /// assert_eq!(array.get(mu).iter(mu).map(|number| number.0).sum::<i32>(), 699_993);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the range leaves the array. No slot has changed then.
    pub fn fill(mutator: &mut Mutator<'_>, array: Local<'_, Self>, range: Range<usize>, value: Local<'_, W>) {
        let _in_bounds = &array.get(mutator)[range.clone()];
        for piece in pieces(range, WORD, SLOTS_PIECE_BYTES) {
            array.get(mutator).fill(mutator, piece, value.get(mutator));
            mutator.end_piece();
        }
    }

    /// Copies `from[range]` to the slots of `to` from `at` on, as if through a temporary copy: the
    /// two may overlap. A safepoint, after each part of a large range.
    ///
    /// Other threads may see, and a collection may meet, an array to which a part is copied.
    ///
    /// ```
    /// # use allotment::{Array, Heap, NewArray, OutOfMemory, Unboxed, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, from = alloc!(mu, NewArray::new(3, Unboxed(7)))?);
    /// root!(mu, to = alloc!(mu, NewArray::new(4, Unboxed(0)))?);
    /// Array::copy(mu, to, 1, from, 0..2);
    /// assert!(to.get(mu).iter(mu).eq([0, 7, 7, 0].map(Unboxed)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If either leaves its array. No slot has changed then.
    pub fn copy(
        mutator: &mut Mutator<'_>,
        to: Local<'_, Self>,
        at: usize,
        from: Local<'_, Self>,
        range: Range<usize>,
    ) {
        let source = &from.get(mutator)[range.clone()];
        let _in_bounds = &to.get(mutator)[at..][..source.len()];
        let (start, in_one_array) = (range.start, to.get(mutator) == from.get(mutator));
        let pieces = pieces(range, WORD, SLOTS_PIECE_BYTES);
        copy_in_pieces(pieces, start, at, in_one_array, &mut |piece, place, _| {
            to.get(mutator).copy_from(mutator, place, from.get(mutator), piece);
            mutator.end_piece();
        });
    }
}

impl<'g, W: Word> Gc<'g, Array<W>> {
    /// A slot of the array, for the whole span.
    ///
    /// ```
    /// # use allotment::{Heap, NewArray, OutOfMemory, Unboxed, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let array = alloc!(mu, NewArray::new(3, Unboxed(0)))?;
    /// array.at(1).store(mu, Unboxed(7));
    /// assert_eq!(array.at(1).load(mu), Unboxed(7));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If `index` is beyond the end.
    #[inline]
    pub fn at(self, index: usize) -> &'g Field<W> {
        &self.as_ref()[index]
    }

    /// The elements.
    ///
    /// ```
    /// # use allotment::{Heap, NewArray, OutOfMemory, Unboxed, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let array = alloc!(mu, NewArray::new(3, Unboxed(5)))?;
    /// assert_eq!(array.iter(mu).map(|number| number.0).sum::<i32>(), 15);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter(
        self,
        mutator: &'g Mutator<'_>,
    ) -> impl ExactSizeIterator<Item = W::Of<'g>> + DoubleEndedIterator {
        self.as_ref().iter().map(move |field| field.load(mutator))
    }

    /// Stores `value` in each slot of `range`. No safepoint comes in between, so a large range holds
    /// up stops: [`Array::fill`] does not.
    ///
    /// ```
    /// # use allotment::{Heap, NewArray, OutOfMemory, Unboxed, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let array = alloc!(mu, NewArray::new(4, Unboxed(0)))?;
    /// array.fill(mu, 1..3, Unboxed(7));
    /// assert!(array.iter(mu).eq([0, 7, 7, 0].map(Unboxed)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the range leaves the array.
    pub fn fill(self, mutator: &Mutator<'_>, range: Range<usize>, value: W::Of<'_>) {
        let slots = &self.as_ref()[range];
        // SAFETY: slots of a live object, of the heap that the thread is attached to; the value's
        // span makes its referent alive.
        unsafe { mutator.raw().store_slots(first_word(slots), slots.len(), value.encode()) }
    }

    /// Copies `from[range]` to the slots from `at` on, as if through a temporary copy: the two may
    /// overlap. No safepoint comes in between, so a large range holds up stops: [`Array::copy`] does
    /// not.
    ///
    /// ```
    /// # use allotment::{Heap, NewArray, OutOfMemory, Unboxed, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let mut from = alloc!(mu, NewArray::new(3, Unboxed(7)))?;
    /// let to = alloc!(mu, [from] => NewArray::new(4, Unboxed(0)))?;
    /// to.copy_from(mu, 1, from, 0..2);
    /// assert!(to.iter(mu).eq([0, 7, 7, 0].map(Unboxed)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If either leaves its array.
    pub fn copy_from(self, mutator: &Mutator<'_>, at: usize, from: Gc<'_, Array<W>>, range: Range<usize>) {
        let source = &from.as_ref()[range];
        let target = &self.as_ref()[at..][..source.len()];
        // SAFETY: strong slots of live objects, of the heap that the thread is attached to.
        unsafe { mutator.raw().copy_slots(first_word(target), first_word(source), source.len()) }
    }

    /// Copies `range` to the slots from `at` on; the two may overlap.
    ///
    /// ```
    /// # use allotment::{Heap, NewArray, OutOfMemory, Unboxed, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let array = alloc!(mu, NewArray::new(4, Unboxed(0)))?;
    /// array[0].store(mu, Unboxed(1));
    /// array[1].store(mu, Unboxed(2));
    /// array.copy_within(mu, 0..3, 1);
    /// assert!(array.iter(mu).eq([1, 1, 2, 0].map(Unboxed)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If either leaves the array.
    pub fn copy_within(self, mutator: &Mutator<'_>, range: Range<usize>, at: usize) {
        self.copy_from(mutator, at, self, range);
    }
}

/// Makes an array whose elements all hold one word.
pub struct NewArray<'g, W: Word> {
    len: usize,
    fill: W::Of<'g>,
}

impl<'g, W: Word> NewArray<'g, W> {
    /// An array of `len` words, each `fill`. A length beyond any heap fails as out of memory.
    ///
    /// ```
    /// # use allotment::{Heap, NewArray, OutOfMemory, Unboxed, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let array = alloc!(mu, NewArray::new(3, Unboxed('a')))?;
    /// assert_eq!(array.len(), 3);
    /// assert_eq!(array[2].load(mu), Unboxed('a'));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new<V: Bare<'g, Word = W>>(len: usize, fill: V) -> Self
    where
        W: Word<Of<'g> = V>,
    {
        NewArray { len, fill }
    }
}

// SAFETY: the word is the only reference.
unsafe impl<W: Word> Carry for NewArray<'_, W> {
    type At<'h> = NewArray<'h, W>;

    fn trace(&mut self, slots: &mut SlotVisitor<'_>) {
        self.fill.trace(slots);
    }
}

// SAFETY: writes the length and that many elements; `encode` is code of the library or of a derive.
unsafe impl<W: Word> New for NewArray<'_, W> {
    type Object = Array<W>;

    #[inline(always)]
    fn type_shape() -> &'static TypeShape {
        array_shape()
    }

    #[inline(always)]
    fn bytes(&self) -> usize {
        tail_bytes(self.len, WORD)
    }

    fn __al_tail(&self) -> Option<Tail> {
        Some(Tail { length: self.len, content: Content::Slots(self.fill.encode()) })
    }

    #[inline(always)]
    unsafe fn write(self, object: NonNull<u8>) {
        let bits = self.fill.encode();
        // SAFETY: the caller gave memory for the length and the elements.
        unsafe {
            object.byte_add(LENGTH_OFFSET).cast::<usize>().write(self.len);
            let first = object.byte_add(ELEMENTS).cast::<u64>();
            for index in 0..self.len {
                first.add(index).write(bits);
            }
        }
    }
}

/// Bytes of an object with a tail of `length` elements; `usize::MAX` if there is no such object.
#[inline(always)]
pub(super) const fn tail_bytes(length: usize, element: usize) -> usize {
    if length > 1 << 43 { usize::MAX } else { (ELEMENTS + length * element + 7) & !7 }
}
