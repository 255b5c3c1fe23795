//! Bytes and text.
//!
//! Neither changes after it was made. So a pointer dereferences to a plain `&[u8]` or `&str`, which
//! the rest of Rust accepts. Mutable bytes are a [`Slots<u8>`](super::Slots).

use super::alloc::New;
use super::any::Downcast;
use super::array::{ELEMENTS, elements, tail_bytes};
use super::carry::Carry;
use super::gc::{Gc, Object};
use super::large::{Content, Tail};
use crate::object::{Element, LENGTH_OFFSET, Shape, SlotVisitor, TypeShape};
use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;

/// Immutable bytes in the heap. `Gc<Bytes>` dereferences to `[u8]`. Mutable bytes are a
/// [`Slots<u8>`](super::Slots).
pub struct Bytes {
    /// No code makes one.
    _private: (),
}

/// Immutable text in the heap. `Gc<Str>` dereferences to `str`.
///
/// ```
/// use allotment::{Heap, NewStr, OutOfMemory, alloc};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     let mut whole = alloc!(mu, NewStr::from("to and fro"))?;
///     let part = alloc!(mu, [whole] => NewStr::part(whole, 3..6))?;
///     assert_eq!(&*part, "and");
///     assert!(whole.contains(&*part));
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
pub struct Str {
    /// No code makes one.
    _private: (),
}

const TAIL: Option<Element> = Some(Element::Plain { bytes: 1 });

// SAFETY: the tail is bytes that do not change.
unsafe impl Object for Bytes {
    type View = [u8];

    #[inline(always)]
    unsafe fn view<'g>(object: NonNull<u8>) -> &'g [u8] {
        // SAFETY: the caller's predicates.
        unsafe { elements(object) }
    }

    fn describe(view: &[u8], to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(view, to)
    }
}

// SAFETY: the tail is UTF-8 that does not change.
unsafe impl Object for Str {
    type View = str;

    #[inline(always)]
    unsafe fn view<'g>(object: NonNull<u8>) -> &'g str {
        // SAFETY: the caller's predicates; `NewStr` copies from a `str`.
        unsafe { std::str::from_utf8_unchecked(elements(object)) }
    }

    fn describe(view: &str, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(view, to)
    }
}

impl fmt::Display for Gc<'_, Str> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

/// The source of copied bytes.
enum Source<'s, T> {
    Rust(&'s [u8]),
    Heap(T, Range<usize>),
}

/// Makes [`Bytes`]: a copy of a `&[u8]`, or of a part of others.
pub struct NewBytes<'g, 's>(Source<'s, Gc<'g, Bytes>>);

/// Makes a [`Str`]: a copy of a `&str`, or of a part of another.
pub struct NewStr<'g, 's>(Source<'s, Gc<'g, Str>>);

impl<T> Source<'_, T> {
    #[inline(always)]
    fn bytes(&self) -> usize {
        match self {
            Source::Rust(bytes) => tail_bytes(bytes.len(), 1),
            Source::Heap(_, range) => tail_bytes(range.len(), 1),
        }
    }
}

/// Writes length and tail.
///
/// # Safety
/// - `object` heads memory of the caller's alone for an object with that tail.
#[inline(always)]
unsafe fn write(bytes: &[u8], object: NonNull<u8>) {
    // SAFETY: the caller's memory; it is new, so it does not overlap.
    unsafe {
        object.byte_add(LENGTH_OFFSET).cast::<usize>().write(bytes.len());
        object.byte_add(ELEMENTS).as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
    }
}

macro_rules! initialiser {
    ($new:ident, $object:ident, $rust:ty, $(#[$part:meta])*) => {
        // SAFETY: no other type has this shape.
        unsafe impl Downcast for $object {
            fn type_shape() -> &'static TypeShape {
                crate::type_shape!(Shape::constant(stringify!($object), ELEMENTS, &[], TAIL))
            }
        }

        impl<'s> From<&'s $rust> for $new<'static, 's> {
            fn from(source: &'s $rust) -> Self {
                $new(Source::Rust(source.as_ref()))
            }
        }

        impl $new<'_, '_> {
            /// The bytes to copy.
            #[inline(always)]
            fn source(&self) -> &[u8] {
                match &self.0 {
                    Source::Rust(bytes) => bytes,
                    Source::Heap(of, range) => &<$rust as AsRef<[u8]>>::as_ref(of.as_ref())[range.clone()],
                }
            }
        }

        impl<'g> $new<'g, 'static> {
            $(#[$part])*
            pub fn part(of: Gc<'g, $object>, range: Range<usize>) -> Self {
                let _in_bounds = &of[range.clone()];
                $new(Source::Heap(of, range))
            }
        }

        // SAFETY: the first lifetime is the span. Data borrowed from Rust stays borrowed.
        unsafe impl<'s> Carry for $new<'_, 's> {
            type At<'h> = $new<'h, 's>;

            fn trace(&mut self, slots: &mut SlotVisitor<'_>) {
                if let Source::Heap(of, _) = &mut self.0 {
                    of.trace(slots);
                }
            }
        }

        // SAFETY: writes the length and the whole tail.
        unsafe impl New for $new<'_, '_> {
            type Object = $object;

            #[inline(always)]
            fn type_shape() -> &'static TypeShape {
                <$object as Downcast>::type_shape()
            }

            #[inline(always)]
            fn bytes(&self) -> usize {
                self.0.bytes()
            }

            fn __al_tail(&self) -> Option<Tail> {
                let bytes = self.source();
                Some(Tail { length: bytes.len(), content: Content::Copy(bytes.as_ptr(), bytes.len()) })
            }

            #[inline(always)]
            unsafe fn write(self, object: NonNull<u8>) {
                // SAFETY: the caller's predicates.
                unsafe { write(self.source(), object) }
            }
        }
    };
}
initialiser! {
    NewBytes, Bytes, [u8],
    /// A copy of a part of other bytes, which may move meanwhile.
    ///
    /// ```
    /// # use allotment::{Heap, NewBytes, OutOfMemory, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let mut whole = alloc!(mu, NewBytes::from(&[1, 2, 3, 4][..]))?;
    /// let part = alloc!(mu, [whole] => NewBytes::part(whole, 1..3))?;
    /// assert_eq!(*part, [2, 3]);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the range leaves those bytes.
}
initialiser! {
    NewStr, Str, str,
    /// A copy of a part of another text, which may move meanwhile.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let mut whole = alloc!(mu, NewStr::from("to and fro"))?;
    /// let part = alloc!(mu, [whole] => NewStr::part(whole, 3..6))?;
    /// assert_eq!(&*part, "and");
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the range leaves that text, or cuts a character.
}
