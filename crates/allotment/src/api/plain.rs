//! Arrays of numbers, and number fields that can change.
//!
//! Threads share objects. So mutable data is accessed as an atomic of its size, with relaxed
//! ordering, which costs nothing. Two threads that do not synchronise see some value that was
//! stored.
//!
//! Refused:
//!
//! - `Cell`s: all threads see objects.
//! - A tail of plain `&[T]` that cannot change: [`Bytes`](super::Bytes) serves that purpose.

use super::alloc::New;
use super::any::Downcast;
use super::array::{ELEMENTS, elements, tail_bytes};
use super::carry::Carry;
use super::gc::{Gc, Object};
use super::large::{Content, Tail, repeated};
use super::local::Local;
use crate::mutator::{Mutator, PIECE_BYTES, copy_in_pieces, pieces};
use crate::object::{Element, LENGTH_OFFSET, Shape, SlotVisitor, TypeShape};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    AtomicUsize, Ordering,
};

/// A number that [`Slots`] and [`Plain`] hold: the integers up to 64 bits, `f32`, `f64`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number that `Slots` and `Plain` hold",
    note = "integers up to 64 bits, `f32` and `f64` are"
)]
pub trait Scalar: Copy + Default + Send + Sync + fmt::Debug + sealed::Scalar {
    #[doc(hidden)]
    type Cell: Send + Sync + 'static;
    #[doc(hidden)]
    fn cell(self) -> Self::Cell;
    #[doc(hidden)]
    fn load(cell: &Self::Cell) -> Self;
    #[doc(hidden)]
    fn store(self, cell: &Self::Cell);
    #[doc(hidden)]
    fn slots_shape() -> &'static TypeShape;
}

mod sealed {
    pub trait Scalar: 'static {}
}

macro_rules! scalars {
    ($($type:ty, $cell:ty, $to:expr, $from:expr;)*) => {$(
        impl sealed::Scalar for $type {}
        impl Scalar for $type {
            type Cell = $cell;

            #[inline(always)]
            fn cell(self) -> $cell {
                <$cell>::new($to(self))
            }

            #[inline(always)]
            fn load(cell: &$cell) -> $type {
                $from(cell.load(Ordering::Relaxed))
            }

            #[inline(always)]
            fn store(self, cell: &$cell) {
                cell.store($to(self), Ordering::Relaxed);
            }

            fn slots_shape() -> &'static TypeShape {
                const ELEMENT: Element = Element::Plain { bytes: size_of::<$type>() };
                crate::type_shape!(Shape::constant(concat!("Slots<", stringify!($type), ">"), ELEMENTS, &[], Some(ELEMENT)))
            }
        }
    )*};
}

fn same<T>(value: T) -> T {
    value
}

scalars! {
    u8, AtomicU8, same, same;
    u16, AtomicU16, same, same;
    u32, AtomicU32, same, same;
    u64, AtomicU64, same, same;
    usize, AtomicUsize, same, same;
    i8, AtomicI8, same, same;
    i16, AtomicI16, same, same;
    i32, AtomicI32, same, same;
    i64, AtomicI64, same, same;
    isize, AtomicIsize, same, same;
    f32, AtomicU32, f32::to_bits, f32::from_bits;
    f64, AtomicU64, f64::to_bits, f64::from_bits;
}

/// A mutable number in an object: a plain field, or an element of [`Slots`].
///
/// Each access is atomic and relaxed, and orders no other access. `set` after `get` is two
/// accesses; another thread may set the number in between.
///
/// ```
/// use allotment::{Heap, Object, OutOfMemory, Plain, alloc};
///
/// #[derive(Object)]
/// struct Counter {
///     count: Plain<u64>,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     let counter = alloc!(mu, NewCounter { count: Plain::new(1) })?;
///     counter.count.set(counter.count.get() + 1);
///     assert_eq!(counter.count.get(), 2);
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
#[repr(transparent)]
pub struct Plain<S: Scalar>(S::Cell);

impl<S: Scalar> Plain<S> {
    /// A number with this value.
    ///
    /// ```
    /// # use allotment::Plain;
    /// let count = Plain::new(1_u64);
    /// assert_eq!(count.get(), 1);
    /// ```
    #[inline(always)]
    pub fn new(value: S) -> Self {
        Plain(value.cell())
    }

    /// The value.
    ///
    /// ```
    /// # use allotment::Plain;
    /// assert_eq!(Plain::new(0.5).get(), 0.5);
    /// ```
    #[inline(always)]
    pub fn get(&self) -> S {
        S::load(&self.0)
    }

    /// Replaces the value.
    ///
    /// ```
    /// # use allotment::Plain;
    /// let count = Plain::new(1_u64);
    /// count.set(2);
    /// assert_eq!(count.get(), 2);
    /// ```
    #[inline(always)]
    pub fn set(&self, value: S) {
        value.store(&self.0);
    }
}

impl<S: Scalar> fmt::Debug for Plain<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl<S: Scalar> Default for Plain<S> {
    fn default() -> Self {
        Plain::new(S::default())
    }
}

impl<S: Scalar> From<S> for Plain<S> {
    fn from(value: S) -> Self {
        Plain::new(value)
    }
}

/// An array of numbers, in the heap. A pointer to one dereferences to a slice of [`Plain`];
/// [`NewSlots`] makes one.
pub struct Slots<S> {
    /// No code makes one.
    _private: PhantomData<S>,
}

// SAFETY: the tail is plain data, accessed as atomics of its size.
unsafe impl<S: Scalar> Object for Slots<S> {
    type View = [Plain<S>];

    #[inline(always)]
    unsafe fn view<'g>(object: NonNull<u8>) -> &'g [Plain<S>] {
        // SAFETY: the caller's predicates.
        unsafe { elements(object) }
    }

    fn describe(view: &[Plain<S>], to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(view, to)
    }
}

// SAFETY: each element type has a shape of its own.
unsafe impl<S: Scalar> Downcast for Slots<S> {
    fn type_shape() -> &'static TypeShape {
        S::slots_shape()
    }
}

impl<S: Scalar> Slots<S> {
    /// Sets each element of `range`. A safepoint, after each part of a large range.
    ///
    /// ```
    /// # use allotment::{Heap, NewSlots, OutOfMemory, Slots, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, numbers = alloc!(mu, NewSlots::new(4, 0_u8))?);
    /// Slots::fill(mu, numbers, 1..3, 7);
    /// assert!(numbers.get(mu).iter().eq([0, 7, 7, 0]));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the range leaves the array. No element has changed then.
    pub fn fill(mutator: &mut Mutator<'_>, slots: Local<'_, Self>, range: Range<usize>, value: S) {
        let _in_bounds = &slots.get(mutator)[range.clone()];
        for piece in pieces(range, size_of::<S>(), PIECE_BYTES) {
            slots.get(mutator).fill(piece, value);
            mutator.end_piece();
        }
    }

    /// Sets the elements from `at` on to `values`. A safepoint, after each part of many values.
    ///
    /// ```
    /// # use allotment::{Heap, NewSlots, OutOfMemory, Slots, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, numbers = alloc!(mu, NewSlots::new(4, 0_u8))?);
    /// Slots::copy_slice(mu, numbers, 1, &[7, 8]);
    /// assert!(numbers.get(mu).iter().eq([0, 7, 8, 0]));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If they do not fit. No element has changed then.
    pub fn copy_slice(mutator: &mut Mutator<'_>, slots: Local<'_, Self>, at: usize, values: &[S]) {
        let _in_bounds = &slots.get(mutator)[at..][..values.len()];
        for piece in pieces(0..values.len(), size_of::<S>(), PIECE_BYTES) {
            slots.get(mutator).copy_from_slice(at + piece.start, &values[piece]);
            mutator.end_piece();
        }
    }

    /// Copies `from[range]` to the elements of `to` from `at` on, as if through a temporary copy:
    /// the two may overlap. A safepoint, after each part of a large range.
    ///
    /// ```
    /// # use allotment::{Heap, NewSlots, OutOfMemory, Slots, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, numbers = alloc!(mu, NewSlots::from(&[1_u8, 2, 0, 0][..]))?);
    /// Slots::copy(mu, numbers, 1, numbers, 0..3);
    /// assert!(numbers.get(mu).iter().eq([1, 1, 2, 0]));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If either leaves its array. No element has changed then.
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
        let pieces = pieces(range, size_of::<S>(), PIECE_BYTES);
        copy_in_pieces(pieces, start, at, in_one_array, &mut |piece, place, backward| {
            copy_elements(&to.get(mutator)[place..][..piece.len()], &from.get(mutator)[piece], backward);
            mutator.end_piece();
        });
    }
}

/// Copies numbers, the last one first if `backward`.
fn copy_elements<S: Scalar>(to: &[Plain<S>], from: &[Plain<S>], backward: bool) {
    let pairs = to.iter().zip(from);
    let copy = |(to, from): (&Plain<S>, &Plain<S>)| to.set(from.get());
    if backward { pairs.rev().for_each(copy) } else { pairs.for_each(copy) }
}

impl<'g, S: Scalar> Gc<'g, Slots<S>> {
    /// An element, for the whole span.
    ///
    /// ```
    /// # use allotment::{Heap, NewSlots, OutOfMemory, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let numbers = alloc!(mu, NewSlots::new(3, 0_u8))?;
    /// numbers.at(1).set(7);
    /// assert_eq!(numbers.at(1).get(), 7);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If `index` is beyond the end.
    #[inline]
    pub fn at(self, index: usize) -> &'g Plain<S> {
        &self.as_ref()[index]
    }

    /// The elements.
    ///
    /// ```
    /// # use allotment::{Heap, NewSlots, OutOfMemory, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let numbers = alloc!(mu, NewSlots::from(&[1_u32, 2, 3][..]))?;
    /// assert_eq!(numbers.iter().sum::<u32>(), 6);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter(self) -> impl ExactSizeIterator<Item = S> + DoubleEndedIterator + use<'g, S> {
        self.as_ref().iter().map(Plain::get)
    }

    /// Sets each element of `range`.
    ///
    /// ```
    /// # use allotment::{Heap, NewSlots, OutOfMemory, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let numbers = alloc!(mu, NewSlots::new(4, 0_u8))?;
    /// numbers.fill(1..3, 7);
    /// assert!(numbers.iter().eq([0, 7, 7, 0]));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the range leaves the array.
    pub fn fill(self, range: Range<usize>, value: S) {
        self.as_ref()[range].iter().for_each(|element| element.set(value));
    }

    /// Sets the elements from `at` on to `values`.
    ///
    /// ```
    /// # use allotment::{Heap, NewSlots, OutOfMemory, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let numbers = alloc!(mu, NewSlots::new(4, 0_u8))?;
    /// numbers.copy_from_slice(1, &[7, 8]);
    /// assert!(numbers.iter().eq([0, 7, 8, 0]));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If they do not fit.
    pub fn copy_from_slice(self, at: usize, values: &[S]) {
        for (to, value) in self.as_ref()[at..][..values.len()].iter().zip(values) {
            to.set(*value);
        }
    }

    /// Copies `range` to the elements from `at` on; the two may overlap.
    ///
    /// ```
    /// # use allotment::{Heap, NewSlots, OutOfMemory, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let numbers = alloc!(mu, NewSlots::from(&[1_u8, 2, 0, 0][..]))?;
    /// numbers.copy_within(0..3, 1);
    /// assert!(numbers.iter().eq([1, 1, 2, 0]));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If either leaves the array.
    pub fn copy_within(self, range: Range<usize>, at: usize) {
        let all = self.as_ref();
        let backward = range.start < at;
        let source = &all[range];
        copy_elements(&all[at..][..source.len()], source, backward);
    }
}

/// Makes an array of numbers: copies of others, or one number in all elements. A program sets
/// computed values after the array is made.
///
/// Refused: a function called while the array is made. A panic of that function would leave half an
/// object in the heap.
///
/// ```
/// use allotment::{Heap, NewSlots, OutOfMemory, alloc};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     let squares = alloc!(mu, NewSlots::new(4, 0_u32))?;
///     for (element, number) in squares.as_ref().iter().zip(0..) {
///         element.set(number * number);
///     }
///     assert!(squares.iter().eq([0, 1, 4, 9]));
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
pub struct NewSlots<'s, S: Scalar>(Elements<'s, S>);

/// The elements of a new array.
enum Elements<'s, S> {
    Fill(usize, S),
    Copy(&'s [S]),
}

impl<'s, S: Scalar> NewSlots<'s, S> {
    /// `len` times `value`. A length beyond any heap fails as out of memory.
    ///
    /// ```
    /// # use allotment::{Heap, NewSlots, OutOfMemory, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let zeroes = alloc!(mu, NewSlots::new(1000, 0.0_f64))?;
    /// assert_eq!((zeroes.len(), zeroes[999].get()), (1000, 0.0));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(len: usize, value: S) -> Self {
        NewSlots(Elements::Fill(len, value))
    }

    fn len(&self) -> usize {
        match &self.0 {
            Elements::Fill(len, _) => *len,
            Elements::Copy(values) => values.len(),
        }
    }
}

impl<'s, S: Scalar> From<&'s [S]> for NewSlots<'s, S> {
    fn from(values: &'s [S]) -> Self {
        NewSlots(Elements::Copy(values))
    }
}

// SAFETY: it holds no reference into the heap, except one that keeps its span.
unsafe impl<'s, S: Scalar> Carry for NewSlots<'s, S> {
    type At<'h> = NewSlots<'s, S>;

    fn trace(&mut self, _: &mut SlotVisitor<'_>) {}
}

// SAFETY: writes the length and that many elements.
unsafe impl<S: Scalar> New for NewSlots<'_, S> {
    type Object = Slots<S>;

    #[inline(always)]
    fn type_shape() -> &'static TypeShape {
        S::slots_shape()
    }

    #[inline(always)]
    fn bytes(&self) -> usize {
        tail_bytes(self.len(), size_of::<S>())
    }

    fn __al_tail(&self) -> Option<Tail> {
        let content = match self.0 {
            Elements::Fill(_, value) => Content::Repeat(repeated(value)),
            Elements::Copy(values) => Content::Copy(values.as_ptr().cast(), size_of_val(values)),
        };
        Some(Tail { length: self.len(), content })
    }

    #[inline(always)]
    unsafe fn write(self, object: NonNull<u8>) {
        // SAFETY: the caller gave memory for the length and the elements; no other code sees them
        // yet.
        unsafe {
            object.byte_add(LENGTH_OFFSET).cast::<usize>().write(self.len());
            let first = object.byte_add(ELEMENTS).cast::<S>();
            match self.0 {
                Elements::Fill(len, value) => (0..len).for_each(|index| first.add(index).write(value)),
                Elements::Copy(values) => {
                    first.as_ptr().copy_from_nonoverlapping(values.as_ptr(), values.len());
                }
            }
        }
    }
}
