//! Slots of objects.
//!
//! A field exists only inside the heap: no code makes a field by itself, and objects hand out
//! shared references. It is neither `Send` nor `Sync`, so that a reference into one heap does not
//! reach a thread that is attached to another heap.

use super::carry::Carry;
use super::gc::{Gc, Object};
use super::word::{Bare, Word};
use crate::mutator::Mutator;
use crate::object::SlotKind;
use std::marker::PhantomData;
use std::sync::atomic::AtomicU64;

/// A slot that holds a word of kind `W` and keeps its referent alive.
///
/// The slot stands in a struct with [`#[derive(Object)]`](macro@crate::Object); the initialiser has
/// the bare value in its place. All threads may load and store. A load gives a stored value, and
/// the object that the value points to as it was at the store or later.
///
/// The derive requires that `W` is a [`Word`], so that a wrong `W` is one error. No code makes a
/// field of another type.
#[repr(transparent)]
pub struct Field<W> {
    bits: AtomicU64,
    word: PhantomData<fn(W) -> W>,
    /// Neither `Send` nor `Sync`.
    thread: PhantomData<*mut ()>,
}

impl<W: Word> Field<W> {
    /// Reads the slot. What the value leads to is as it was when the value was stored, or later.
    ///
    /// ```
    /// # use allotment::{Field, Heap, Object, OutOfMemory, alloc};
    /// #[derive(Object)]
    /// struct Pair {
    ///     next: Field<Option<Pair>>,
    ///     key: u64,
    /// }
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let mut last = alloc!(mu, NewPair { next: None, key: 2 })?;
    /// let first = alloc!(mu, [last] => NewPair { next: Some(last), key: 1 })?;
    /// assert_eq!(first.next.load(mu).map(|pair| pair.key), Some(2));
    /// assert!(last.next.load(mu).is_none());
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn load<'g>(&self, mutator: &'g Mutator<'_>) -> W::Of<'g> {
        // SAFETY: a slot of a live object: fields exist nowhere else. A thread is attached to one
        // heap, and fields do not travel between threads, so the heap is the mutator's.
        let bits = unsafe { mutator.raw().load(self.bits.as_ptr()) };
        // SAFETY: bits of `W`. The referents of a live object are alive until the next safepoint,
        // which the borrow of the mutator excludes.
        unsafe { W::decode(bits) }
    }

    /// Writes the slot, and publishes the value's referent.
    ///
    /// ```
    /// # use allotment::{Field, Heap, Object, OutOfMemory, alloc};
    /// #[derive(Object)]
    /// struct Pair {
    ///     next: Field<Option<Pair>>,
    ///     key: u64,
    /// }
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let pair = alloc!(mu, NewPair { next: None, key: 1 })?;
    /// pair.next.store(mu, Some(pair)); // a ring
    /// assert_eq!(pair.next.load(mu), Some(pair));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn store(&self, mutator: &Mutator<'_>, value: W::Of<'_>) {
        // SAFETY: as in `load`; the value's span makes its referent alive.
        unsafe { mutator.raw().store(self.bits.as_ptr(), value.encode()) }
    }

    /// Writes `new` if the slot holds `expected`, in one step. Two pointers are the same if they
    /// point to one object.
    ///
    /// ```
    /// use allotment::{Field, Heap, Object, OutOfMemory, Unboxed, alloc};
    ///
    /// #[derive(Object)]
    /// struct Counter {
    ///     value: Field<Unboxed<u32>>,
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.attach(|mu| {
    ///     let counter = alloc!(mu, NewCounter { value: Unboxed(1) })?;
    ///     assert_eq!(counter.value.compare_exchange(mu, Unboxed(1), Unboxed(2)), Ok(()));
    ///     assert_eq!(counter.value.compare_exchange(mu, Unboxed(1), Unboxed(3)), Err(Unboxed(2)));
    ///     Ok::<(), OutOfMemory>(())
    /// })??;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The value that the slot holds, if it is another.
    #[inline(always)]
    pub fn compare_exchange<'g>(
        &self,
        mutator: &'g Mutator<'_>,
        expected: W::Of<'_>,
        new: W::Of<'_>,
    ) -> Result<(), W::Of<'g>> {
        // SAFETY: as in `store`, for both values.
        let outcome =
            unsafe { mutator.raw().compare_exchange(self.bits.as_ptr(), expected.encode(), new.encode()) };
        // SAFETY: as in `load`.
        outcome.map(drop).map_err(|bits| unsafe { W::decode(bits) })
    }
}

debug_is_name!(Field<W: Word>);

/// A slot that does not keep its referent alive. It is null once the referent died.
///
/// ```
/// use allotment::{Heap, NewStr, Object, OutOfMemory, Str, WeakField, alloc, root};
///
/// #[derive(Object)]
/// struct Cache {
///     last: WeakField<Str>,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     let text = alloc!(mu, NewStr::from("last"))?;
///     root!(mu, cache = alloc!(mu, NewCache { last: Some(text) })?);
///     assert_eq!(cache.get(mu).last.load(mu).as_deref(), Some("last"));
///     mu.collect();
///     assert!(cache.get(mu).last.load(mu).is_none());
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
#[repr(transparent)]
pub struct WeakField<T>(Field<Option<T>>);

impl<T: Object> WeakField<T> {
    /// Reads the slot.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, Object, OutOfMemory, Str, WeakField, alloc, root};
    /// #[derive(Object)]
    /// struct Cache {
    ///     last: WeakField<Str>,
    /// }
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let text = alloc!(mu, NewStr::from("last"))?;
    /// root!(mu, cache = alloc!(mu, NewCache { last: Some(text) })?);
    /// assert_eq!(cache.get(mu).last.load(mu).as_deref(), Some("last"));
    /// mu.collect(); // no strong reference leads to the text
    /// assert!(cache.get(mu).last.load(mu).is_none());
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn load<'g>(&self, mutator: &'g Mutator<'_>) -> Option<Gc<'g, T>> {
        // SAFETY: a weak slot of a live object, as in `Field::load`.
        let bits = unsafe { mutator.raw().load_weak(self.0.bits.as_ptr()) };
        // SAFETY: bits of that kind of word, whose referent lives until the next safepoint.
        unsafe { <Option<T> as Word>::decode(bits) }
    }

    /// Whether the slot refers to a live object, as far as the collector knows. Unlike
    /// [`load`](Self::load) this keeps nothing alive.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, Object, OutOfMemory, Str, WeakField, alloc, root};
    /// #[derive(Object)]
    /// struct Cache {
    ///     last: WeakField<Str>,
    /// }
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let text = alloc!(mu, NewStr::from("last"))?;
    /// root!(mu, cache = alloc!(mu, NewCache { last: Some(text) })?);
    /// assert!(cache.get(mu).last.is_live(mu));
    /// mu.collect();
    /// assert!(!cache.get(mu).last.is_live(mu));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn is_live(&self, mutator: &Mutator<'_>) -> bool {
        // SAFETY: as in `load`.
        unsafe { mutator.raw().is_weak_live(self.0.bits.as_ptr()) }
    }

    /// Writes the slot.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, Object, OutOfMemory, Str, WeakField, alloc, root};
    /// #[derive(Object)]
    /// struct Cache {
    ///     last: WeakField<Str>,
    /// }
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, cache = alloc!(mu, NewCache { last: None })?);
    /// let text = alloc!(mu, NewStr::from("newer"))?;
    /// cache.get(mu).last.store(mu, Some(text));
    /// assert_eq!(cache.get(mu).last.load(mu), Some(text));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn store(&self, mutator: &Mutator<'_>, value: Option<Gc<'_, T>>) {
        self.0.store(mutator, value);
    }
}

debug_is_name!(WeakField<T: Object>);

/// A field type that is a slot, with the facts that `#[derive(Object)]` needs.
///
/// # Safety
/// - Implementors are one word, which is a slot of kind `KIND`.
/// - `Init<'g>` holds references for the span `'g` only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a slot of this library",
    note = "`derive(Object)` takes a field whose type is called `Field` or `WeakField` for one of `allotment`"
)]
pub unsafe trait SlotField: Sized {
    /// The initialiser's value for the slot.
    type Init<'g>: Carry;
    /// How the slot keeps its referent.
    const KIND: SlotKind;

    /// The slot of a new object.
    ///
    /// # Safety
    /// - The result goes straight into a new object.
    unsafe fn init(value: Self::Init<'_>) -> Self;
}

// SAFETY: a transparent word.
unsafe impl<W: Word> SlotField for Field<W> {
    type Init<'g> = W::Of<'g>;
    const KIND: SlotKind = SlotKind::Strong;

    #[inline(always)]
    unsafe fn init(value: W::Of<'_>) -> Self {
        Field { bits: AtomicU64::new(value.encode()), word: PhantomData, thread: PhantomData }
    }
}

// SAFETY: a transparent word.
unsafe impl<T: Object> SlotField for WeakField<T> {
    type Init<'g> = Option<Gc<'g, T>>;
    const KIND: SlotKind = SlotKind::Weak;

    #[inline(always)]
    unsafe fn init(value: Option<Gc<'_, T>>) -> Self {
        // SAFETY: the caller's predicates.
        WeakField(unsafe { Field::init(value) })
    }
}
