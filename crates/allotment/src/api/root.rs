//! Owned roots: they can be stored anywhere, travel between threads, and are dropped by their
//! owner.

use super::word::{Bare, Word};
use crate::mutator::{Mutator, RootHandle};
use std::marker::PhantomData;

/// A root was used under the mutator of a heap that is not its own.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this root belongs to another heap than the one this thread is attached to: attach to the root's heap to use it"
)]
pub struct WrongHeap;
crate::debug::debug_is_display!(WrongHeap);

#[cold]
#[inline(never)]
#[track_caller]
fn wrong_heap() -> ! {
    panic!("{WrongHeap}")
}

/// An owned root: it keeps its referent alive until it is dropped.
///
/// A clone is an independent root: setting one leaves the other unchanged. Any thread may clone and
/// drop a root, attached or not. A root keeps the memory of its heap, as a [`Heap`](crate::Heap)
/// does.
///
/// ```
/// use allotment::{Heap, NewStr, OutOfMemory, Root, Str, alloc};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// let root: Root<Str> = heap.attach(|mu| {
///     let text = alloc!(mu, NewStr::from("kept"))?;
///     Ok::<_, OutOfMemory>(Root::new(mu, text))
/// })??;
/// std::thread::scope(|threads| {
///     let length = threads.spawn(|| heap.attach(|mu| root.get(mu).len()));
///     assert_eq!(length.join().expect("it does not panic"), Ok(4));
/// });
/// # Ok(())
/// # }
/// ```
pub struct Root<W: Word> {
    handle: RootHandle,
    word: PhantomData<fn(W) -> W>,
}

impl<W: Word> Root<W> {
    /// A root that holds `value`.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, Root, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let text = alloc!(mu, NewStr::from("kept"))?;
    /// let root = Root::new(mu, text);
    /// mu.collect();
    /// assert_eq!(&*root.get(mu), "kept");
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new<'g, V: Bare<'g, Word = W>>(mutator: &'g Mutator<'_>, value: V) -> Root<W> {
        // SAFETY: the value's span makes its referent a live object of this thread's heap.
        Root { handle: unsafe { mutator.raw().new_root(value.encode()) }, word: PhantomData }
    }

    /// The value, for a span.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, Root, WrongHeap, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let root = heap.attach(|mu| {
    ///     let text = alloc!(mu, NewStr::from("kept"))?;
    ///     Ok::<_, OutOfMemory>(Root::new(mu, text))
    /// })??;
    /// let other = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let refused = other.attach(|mu| root.try_get(mu).map(drop))?;
    /// assert_eq!(refused, Err(WrongHeap));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WrongHeap`] under the mutator of another heap.
    #[inline]
    pub fn try_get<'g>(&self, mutator: &'g Mutator<'_>) -> Result<W::Of<'g>, WrongHeap> {
        let bits = self.handle.get(mutator).ok_or(WrongHeap)?;
        // SAFETY: bits of `W`, kept up to date by the collector.
        Ok(unsafe { W::decode(bits) })
    }

    /// The value, for a span.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, Root, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let text = alloc!(mu, NewStr::from("kept"))?;
    /// let root = Root::new(mu, text);
    /// assert_eq!(root.get(mu).len(), 4);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Under the mutator of another heap; [`try_get`](Self::try_get) does not panic.
    #[inline]
    #[track_caller]
    pub fn get<'g>(&self, mutator: &'g Mutator<'_>) -> W::Of<'g> {
        self.try_get(mutator).unwrap_or_else(|WrongHeap| wrong_heap())
    }

    /// Replaces the value.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, Root, WrongHeap, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let root = heap.attach(|mu| {
    ///     let text = alloc!(mu, NewStr::from("kept"))?;
    ///     Ok::<_, OutOfMemory>(Root::new(mu, text))
    /// })??;
    /// let other = Heap::builder().max_heap_size(16 << 20).build()?;
    /// other.attach(|mu| {
    ///     let text = alloc!(mu, NewStr::from("of another heap"))?;
    ///     assert_eq!(root.try_set(mu, text), Err(WrongHeap));
    ///     Ok::<(), OutOfMemory>(())
    /// })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WrongHeap`] under the mutator of another heap. The root is then unchanged.
    #[inline]
    pub fn try_set(&self, mutator: &Mutator<'_>, value: W::Of<'_>) -> Result<(), WrongHeap> {
        // SAFETY: the value's span makes its referent a live object of this thread's heap, which
        // `set` compares.
        if unsafe { self.handle.set(mutator, value.encode()) } { Ok(()) } else { Err(WrongHeap) }
    }

    /// Replaces the value.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, Root, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let text = alloc!(mu, NewStr::from("old"))?;
    /// let root = Root::new(mu, text);
    /// let text = alloc!(mu, NewStr::from("new"))?;
    /// root.set(mu, text);
    /// assert_eq!(&*root.get(mu), "new");
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Under the mutator of another heap; [`try_set`](Self::try_set) does not panic.
    #[inline]
    #[track_caller]
    pub fn set(&self, mutator: &Mutator<'_>, value: W::Of<'_>) {
        self.try_set(mutator, value).unwrap_or_else(|WrongHeap| wrong_heap());
    }
}

impl<W: Word> Clone for Root<W> {
    fn clone(&self) -> Self {
        Root { handle: self.handle.clone(), word: PhantomData }
    }
}

debug_is_name!(Root<W: Word>);

/// A root that does not keep its referent alive.
///
/// The root is cleared by the first collection that finds the referent dead. A young collection
/// finds no dead old objects. While a heap has weak roots, `Collector=parallel` collects the whole
/// heap from time to time, even if young collections free enough memory (`docs/collectors`).
///
/// ```
/// use allotment::{Heap, NewStr, OutOfMemory, WeakRoot, alloc};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     let text = alloc!(mu, NewStr::from("seen"))?;
///     let weak = WeakRoot::new(mu, text);
///     assert_eq!(weak.get(mu), Some(text));
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
pub struct WeakRoot<W: Word> {
    handle: RootHandle,
    word: PhantomData<fn(W) -> W>,
}

impl<W: Word> WeakRoot<W> {
    /// A weak root that holds `value`.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, WeakRoot, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let text = alloc!(mu, NewStr::from("seen"))?;
    /// let weak = WeakRoot::new(mu, text);
    /// mu.collect();
    /// assert!(weak.get(mu).is_none());
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new<'g, V: Bare<'g, Word = W>>(mutator: &'g Mutator<'_>, value: V) -> WeakRoot<W> {
        // SAFETY: as in `Root::new`.
        WeakRoot { handle: unsafe { mutator.raw().new_weak_root(value.encode()) }, word: PhantomData }
    }

    /// The value, for a span; `None` once its referent died (or if it was null).
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, WeakRoot, WrongHeap, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let weak = heap.attach(|mu| {
    ///     let text = alloc!(mu, NewStr::from("seen"))?;
    ///     Ok::<_, OutOfMemory>(WeakRoot::new(mu, text))
    /// })??;
    /// let other = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let refused = other.attach(|mu| weak.try_get(mu).map(drop))?;
    /// assert_eq!(refused, Err(WrongHeap));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WrongHeap`] under the mutator of another heap.
    #[inline]
    pub fn try_get<'g>(&self, mutator: &'g Mutator<'_>) -> Result<Option<W::Of<'g>>, WrongHeap> {
        let bits = self.handle.get(mutator).ok_or(WrongHeap)?;
        // SAFETY: as in `Root::try_get`; a collector clears the word to null.
        Ok((bits != 0).then(|| unsafe { W::decode(bits) }))
    }

    /// The value, for a span; `None` once its referent died (or if it was null).
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, WeakRoot, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let text = alloc!(mu, NewStr::from("seen"))?;
    /// let weak = WeakRoot::new(mu, text);
    /// assert_eq!(weak.get(mu).as_deref(), Some("seen"));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Under the mutator of another heap; [`try_get`](Self::try_get) does not panic.
    #[inline]
    #[track_caller]
    pub fn get<'g>(&self, mutator: &'g Mutator<'_>) -> Option<W::Of<'g>> {
        self.try_get(mutator).unwrap_or_else(|WrongHeap| wrong_heap())
    }
}

impl<W: Word> Clone for WeakRoot<W> {
    fn clone(&self) -> Self {
        WeakRoot { handle: self.handle.clone(), word: PhantomData }
    }
}

debug_is_name!(WeakRoot<W: Word>);
