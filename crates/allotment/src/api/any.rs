//! Objects of any type, and the way back to their own types.
//!
//! A header names its object's shape, and the shape of a Rust type belongs to that type for the
//! life of the process. But one shape serves all instances of a generic type. So only types without
//! parameters can be tested for.

use super::gc::{Gc, Object};
use crate::object::{Header, TypeShape};
use std::fmt;
use std::ptr::NonNull;

/// An object of any type: `Gc<Any>`, `Field<Any>`, `Local<Any>`.
///
/// ```
/// use allotment::{Bytes, Heap, NewStr, OutOfMemory, Str, alloc};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     let any = alloc!(mu, NewStr::from("text"))?.as_any();
///     assert_eq!(any.downcast::<Str>().as_deref(), Some("text"));
///     assert!(!any.is::<Bytes>());
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
pub struct Any {
    /// No code makes one.
    _private: (),
}

// SAFETY: the view is a value without bytes; every object has a word after its header.
unsafe impl Object for Any {
    type View = Any;

    #[inline(always)]
    unsafe fn view<'g>(object: NonNull<u8>) -> &'g Any {
        // SAFETY: aligned, not null, and nothing is read.
        unsafe { object.cast::<Any>().as_ref() }
    }

    fn describe(_: &Any, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Gc<Any>")
    }
}

/// An object type that a [`Gc<Any>`](Gc) can be tested for: one without type parameters.
///
/// # Safety
/// - Objects whose header names that shape, and no others, are of this type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type that `Gc<Any>` can be asked for",
    note = "all instances of a generic type share one shape, so a header does not tell them apart",
    note = "wrap it: `#[derive(Object)] struct Vector {{ items: Field<Array<Value>> }}`"
)]
pub unsafe trait Downcast: Object {
    /// The type's shape.
    fn type_shape() -> &'static TypeShape;
}

impl<'g, T: Object> Gc<'g, T> {
    /// This pointer without its type.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let text = alloc!(mu, NewStr::from("text"))?;
    /// let any = text.as_any();
    /// assert_eq!(format!("{any:?}"), "Gc<Any>");
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn as_any(self) -> Gc<'g, Any> {
        // SAFETY: the same live object.
        unsafe { Gc::from_header(self.header()) }
    }

    /// Whether both point to the same object, whatever their static types.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let text = alloc!(mu, NewStr::from("text"))?;
    /// assert!(text.is_same(text.as_any()));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn is_same<U: Object>(self, other: Gc<'_, U>) -> bool {
        self.header() == other.header()
    }
}

impl<'g> Gc<'g, Any> {
    /// Whether the object is a `T`.
    ///
    /// ```
    /// # use allotment::{Bytes, Heap, NewStr, OutOfMemory, Str, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let any = alloc!(mu, NewStr::from("text"))?.as_any();
    /// assert!(any.is::<Str>() && !any.is::<Bytes>());
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn is<T: Downcast>(self) -> bool {
        // SAFETY: the header of a live object. Other threads may set its hash meanwhile, and the
        // hash is not read.
        let header = unsafe { std::sync::atomic::AtomicU64::from_ptr(self.header().as_ptr().cast()) };
        let header = Header::from_bits(header.load(std::sync::atomic::Ordering::Relaxed));
        T::type_shape().is_type_of(header)
    }

    /// The object as a `T`, if it is one.
    ///
    /// ```
    /// # use allotment::{Bytes, Heap, NewStr, OutOfMemory, Str, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let any = alloc!(mu, NewStr::from("text"))?.as_any();
    /// assert_eq!(any.downcast::<Str>().as_deref(), Some("text"));
    /// assert!(any.downcast::<Bytes>().is_none());
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn downcast<T: Downcast>(self) -> Option<Gc<'g, T>> {
        // SAFETY: the header says so.
        self.is::<T>().then(|| unsafe { Gc::from_header(self.header()) })
    }
}
