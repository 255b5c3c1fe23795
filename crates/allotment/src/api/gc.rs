//! Bare pointers and their referents.
//!
//! A [`Gc`] is one machine word, copied like an integer and used like a reference. It is valid for
//! one span: a shared borrow of the mutator.
//!
//! Refused:
//!
//! - An index into a table of handles: it costs an indirection for every use.
//! - A pinned handle scope: it costs a slot in memory for every local.

use super::carry::Carry;
use super::immediate::NO_VARIANT;
use super::word::{Bare, Word, trace_word};
use crate::object::SlotVisitor;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// A type whose values lie in the heap. `#[derive(Object)]` makes one, and the library's arrays are
/// others.
///
/// # Safety
/// - `view` is sound for every object of the type, as long as that object lives.
/// - No object of the type has drop glue, or asks for more than 8 bytes of alignment.
/// - The data that a view gives access to is `Sync`, unless the view is neither `Send` nor `Sync`
///   as a whole.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an object of the heap",
    label = "not an object type",
    note = "`#[derive(Object)]` on a struct makes it one",
    note = "plain data needs no `Field`: write `key: u64`",
    note = "a number in a slot, a list or a map is `Unboxed<u32>`, or of any type that is `Immediate`",
    note = "arrays of references are `Array<W>`; of numbers `Slots<u8>`, `Slots<f64>`; text is `Str`, bytes are `Bytes`"
)]
pub unsafe trait Object: 'static {
    /// The type that a pointer to an object dereferences to: the struct itself, or a slice of its
    /// elements.
    type View: ?Sized + 'static;

    /// The view of an object.
    ///
    /// # Safety
    /// - `object` is the header of a live object of this type, for all of `'g`.
    unsafe fn view<'g>(object: NonNull<u8>) -> &'g Self::View;

    /// The `{:?}` output for a pointer to an object: its type, unless the type has a better
    /// description.
    fn describe(_view: &Self::View, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = std::any::type_name::<Self>();
        let plain = name.split('<').next().unwrap_or(name);
        write!(to, "Gc<{}>", plain.rsplit("::").next().unwrap_or(plain))
    }
}

/// A bare pointer to an object. It is valid for the span `'g`, which is a shared borrow of the
/// mutator.
///
/// No pointer outlives a safepoint, because a safepoint needs the mutator exclusively.
/// `docs/E0502.md` in the repository says what to do about the compiler's error.
///
/// The pointer dereferences to the object: to the struct, for an array to the slice of its
/// elements, for a [`Str`](super::Str) to a `str`. Two pointers are equal when they point to the
/// same object; `*one == *other` compares contents.
///
/// ```
/// use allotment::{Heap, NewStr, OutOfMemory, alloc};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     let mut one = alloc!(mu, NewStr::from("same"))?;
///     let other = alloc!(mu, [one] => NewStr::from("same"))?;
///     assert!(one != other && *one == *other);
///     assert!(other.starts_with('s'));
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
pub struct Gc<'g, T> {
    /// The object's header. The field makes the type neither `Send` nor `Sync`: a span belongs to
    /// its thread.
    object: NonNull<u8>,
    span: PhantomData<&'g ()>,
    to: PhantomData<fn() -> T>,
}

impl<T> Clone for Gc<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Gc<'_, T> {}

impl<'g, T: Object> Gc<'g, T> {
    /// # Safety
    /// - `object` is the header of a live object of type `T`, for all of `'g`.
    #[inline(always)]
    pub(crate) unsafe fn from_header(object: NonNull<u8>) -> Self {
        Gc { object, span: PhantomData, to: PhantomData }
    }

    /// # Safety
    /// - As for [`from_header`](Self::from_header); `bits` is its address.
    #[inline(always)]
    pub(crate) unsafe fn from_bits(bits: u64) -> Self {
        let object = ptr::with_exposed_provenance_mut(bits as usize);
        // SAFETY: no object is at address 0.
        unsafe { Self::from_header(NonNull::new_unchecked(object)) }
    }

    /// The header.
    #[inline(always)]
    pub(crate) fn header(self) -> NonNull<u8> {
        self.object
    }

    #[inline(always)]
    pub(crate) fn bits(self) -> u64 {
        self.object.as_ptr().expose_provenance() as u64
    }

    /// The object, for the whole span and not only for the borrow of this pointer.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let text = alloc!(mu, NewStr::from("in the heap"))?;
    /// let words: Vec<&str> = text.as_ref().split(' ').collect();
    /// assert_eq!(words, ["in", "the", "heap"]);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(
        clippy::should_implement_trait,
        reason = "the trait's method would borrow the pointer, not the span"
    )]
    #[inline(always)]
    pub fn as_ref(self) -> &'g T::View {
        // SAFETY: live for `'g`, as the code that made the pointer promised.
        unsafe { T::view(self.object) }
    }
}

impl<T: Object> Deref for Gc<'_, T> {
    type Target = T::View;

    #[inline(always)]
    fn deref(&self) -> &T::View {
        self.as_ref()
    }
}

/// By identity.
impl<T> PartialEq for Gc<'_, T> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.object == other.object
    }
}
impl<T> Eq for Gc<'_, T> {}

impl<T: Object> fmt::Debug for Gc<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::describe(self.as_ref(), f)
    }
}

// SAFETY: the span is the only lifetime.
unsafe impl<T: Object> Carry for Gc<'_, T> {
    type At<'g> = Gc<'g, T>;

    #[inline]
    fn trace(&mut self, slots: &mut SlotVisitor<'_>) {
        trace_word(self, slots);
    }
}

// An object type names the reference to it: `Field<Pair>` holds a reference to a `Pair`.
// SAFETY: the address of a header is a reference, and `decode` inverts `encode`.
unsafe impl<T: Object> Word for T {
    type Of<'g> = Gc<'g, T>;
    const NONE: u64 = 0;

    #[inline(always)]
    unsafe fn decode<'g>(bits: u64) -> Gc<'g, T> {
        // SAFETY: the caller's predicates.
        unsafe { Gc::from_bits(bits) }
    }
}

// SAFETY: the address of a header is a reference.
unsafe impl<'g, T: Object> Bare<'g> for Gc<'g, T> {
    type Word = T;

    #[inline(always)]
    fn encode(self) -> u64 {
        self.bits()
    }
}

// SAFETY: as for `T`; null is not a reference.
unsafe impl<T: Object> Word for Option<T> {
    type Of<'g> = Option<Gc<'g, T>>;
    const NONE: u64 = NO_VARIANT;

    #[inline(always)]
    unsafe fn decode<'g>(bits: u64) -> Option<Gc<'g, T>> {
        // SAFETY: the caller's predicates; not null.
        (bits != 0).then(|| unsafe { Gc::from_bits(bits) })
    }
}

// SAFETY: as for `Gc`; null is not a reference.
unsafe impl<'g, T: Object> Bare<'g> for Option<Gc<'g, T>> {
    type Word = Option<T>;

    #[inline(always)]
    fn encode(self) -> u64 {
        self.map_or(0, Gc::bits)
    }
}
