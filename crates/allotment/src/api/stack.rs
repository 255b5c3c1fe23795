//! A growable area of roots: an interpreter's operand stack, or any set of roots whose number is
//! not known at compile time.
//!
//! The area is one link on the thread's list, even if the stack value itself moves. All changes
//! take the mutator. So the area does not change in a blocking region, when a collector may be
//! reading it.
//!
//! Refused:
//!
//! - A heap array: it costs a write barrier for every push.
//! - A `Vec<Root>`: it costs a lock for every push.

use super::word::{Bare, Word};
use crate::mutator::{LinkedRoot, Mutator, RootLink};
use crate::object::SlotVisitor;
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// The area that the link heads. The area does not move.
#[repr(C)]
struct Area {
    link: RootLink,
    words: UnsafeCell<Vec<Cell<u64>>>,
}

/// A stack of words that survive every safepoint. `'t` is the attachment.
///
/// ```
/// use allotment::{Heap, NewStr, OutOfMemory, Stack, Str, alloc};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     let mut stack: Stack<'_, Str> = Stack::new(mu);
///     for text in ["a", "b", "c"] {
///         let text = alloc!(mu, NewStr::from(text))?;
///         stack.push(mu, text);
///     }
///     assert_eq!(stack.pop(mu).as_deref(), Some("c"));
///     assert_eq!(stack.len(), 2);
///     assert_eq!(stack.iter_from(mu, 1).map(|text| text.to_string()).collect::<Vec<_>>(), ["b"]);
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
pub struct Stack<'t, W: Word> {
    area: NonNull<Area>,
    /// Dropped before the area.
    linked: ManuallyDrop<LinkedRoot<'t>>,
    word: PhantomData<fn(W) -> W>,
}

impl<'t, W: Word> Stack<'t, W> {
    /// An empty stack of this thread.
    ///
    /// ```
    /// # use allotment::{Heap, OutOfMemory, Stack, Unboxed};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let stack: Stack<'_, Unboxed<u32>> = Stack::new(mu);
    /// assert!(stack.is_empty());
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(mutator: &Mutator<'t>) -> Self {
        unsafe fn visit(link: *mut RootLink, slots: &mut SlotVisitor<'_>) {
            // SAFETY: the link heads an `Area`, whose thread is stopped or in a blocking region.
            let words = unsafe { &*(*link.cast::<Area>()).words.get() };
            words.iter().for_each(|word| slots.strong(word.as_ptr()));
        }
        let area = Box::new(Area { link: RootLink::new(visit), words: UnsafeCell::new(Vec::new()) });
        let area = NonNull::from(Box::leak(area));
        // SAFETY: the area stays where it is until the drop below, or forever; the attachment
        // outlives `'t`, and the stack does not outlive `'t`.
        let linked = ManuallyDrop::new(unsafe { mutator.raw().link_root(area.cast()) });
        Stack { area, linked, word: PhantomData }
    }

    fn words(&self) -> &Vec<Cell<u64>> {
        // SAFETY: this thread is the only one that changes the words. A collector updates elements
        // only while this thread holds no span, and without a span this thread reads only the
        // length.
        unsafe { &*self.area.as_ref().words.get() }
    }

    fn words_mut(&mut self, _span: &Mutator<'_>) -> &mut Vec<Cell<u64>> {
        // SAFETY: as above; no collector runs during the span.
        unsafe { &mut *self.area.as_ref().words.get() }
    }

    /// The number of words on the stack.
    ///
    /// ```
    /// # use allotment::{Heap, OutOfMemory, Stack, Unboxed};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let mut stack: Stack<'_, Unboxed<i32>> = Stack::new(mu);
    /// [1, 2, 3].into_iter().for_each(|number| stack.push(mu, Unboxed(number)));
    /// assert_eq!(stack.len(), 3);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn len(&self) -> usize {
        self.words().len()
    }

    /// Whether the stack is empty.
    ///
    /// ```
    /// # use allotment::{Heap, OutOfMemory, Stack, Unboxed};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let mut stack: Stack<'_, Unboxed<i32>> = Stack::new(mu);
    /// [1, 2, 3].into_iter().for_each(|number| stack.push(mu, Unboxed(number)));
    /// assert!(!stack.is_empty());
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Pushes a word.
    ///
    /// ```
    /// # use allotment::{Heap, OutOfMemory, Stack, Unboxed};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let mut stack: Stack<'_, Unboxed<i32>> = Stack::new(mu);
    /// stack.push(mu, Unboxed(7));
    /// mu.collect();
    /// assert_eq!(stack.last(mu), Some(Unboxed(7)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn push(&mut self, mutator: &Mutator<'_>, value: W::Of<'_>) {
        self.words_mut(mutator).push(Cell::new(value.encode()));
    }

    /// Pops the top word.
    ///
    /// ```
    /// # use allotment::{Heap, OutOfMemory, Stack, Unboxed};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let mut stack: Stack<'_, Unboxed<i32>> = Stack::new(mu);
    /// [1, 2, 3].into_iter().for_each(|number| stack.push(mu, Unboxed(number)));
    /// assert_eq!(stack.pop(mu), Some(Unboxed(3)));
    /// assert_eq!(stack.len(), 2);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn pop<'g>(&mut self, mutator: &'g Mutator<'_>) -> Option<W::Of<'g>> {
        let bits = self.words_mut(mutator).pop()?;
        // SAFETY: bits of `W`, kept up to date by the collector until now.
        Some(unsafe { W::decode(bits.get()) })
    }

    /// The word `index` places above the bottom.
    ///
    /// ```
    /// # use allotment::{Heap, OutOfMemory, Stack, Unboxed};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let mut stack: Stack<'_, Unboxed<i32>> = Stack::new(mu);
    /// [1, 2, 3].into_iter().for_each(|number| stack.push(mu, Unboxed(number)));
    /// assert_eq!(stack.get(mu, 0), Some(Unboxed(1)));
    /// assert_eq!(stack.get(mu, 3), None);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn get<'g>(&self, _span: &'g Mutator<'_>, index: usize) -> Option<W::Of<'g>> {
        // SAFETY: as in `pop`.
        self.words().get(index).map(|bits| unsafe { W::decode(bits.get()) })
    }

    /// The word on top.
    ///
    /// ```
    /// # use allotment::{Heap, OutOfMemory, Stack, Unboxed};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let mut stack: Stack<'_, Unboxed<i32>> = Stack::new(mu);
    /// [1, 2, 3].into_iter().for_each(|number| stack.push(mu, Unboxed(number)));
    /// assert_eq!(stack.last(mu), Some(Unboxed(3)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn last<'g>(&self, mutator: &'g Mutator<'_>) -> Option<W::Of<'g>> {
        self.get(mutator, self.len().checked_sub(1)?)
    }

    /// Replaces the word `index` places above the bottom.
    ///
    /// ```
    /// # use allotment::{Heap, OutOfMemory, Stack, Unboxed};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let mut stack: Stack<'_, Unboxed<i32>> = Stack::new(mu);
    /// [1, 2, 3].into_iter().for_each(|number| stack.push(mu, Unboxed(number)));
    /// stack.set(mu, 0, Unboxed(7));
    /// assert!(stack.iter(mu).eq([7, 2, 3].map(Unboxed)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If `index` is above the top.
    #[inline]
    #[track_caller]
    pub fn set(&mut self, mutator: &Mutator<'_>, index: usize, value: W::Of<'_>) {
        self.words_mut(mutator)[index].set(value.encode());
    }

    /// Pops words until `len` are left. Does nothing if there are no more than `len`.
    ///
    /// ```
    /// # use allotment::{Heap, OutOfMemory, Stack, Unboxed};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let mut stack: Stack<'_, Unboxed<i32>> = Stack::new(mu);
    /// [1, 2, 3].into_iter().for_each(|number| stack.push(mu, Unboxed(number)));
    /// stack.truncate(mu, 1);
    /// assert!(stack.iter(mu).eq([Unboxed(1)]));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn truncate(&mut self, mutator: &Mutator<'_>, len: usize) {
        self.words_mut(mutator).truncate(len);
    }

    /// The words, from the bottom up.
    ///
    /// ```
    /// # use allotment::{Heap, OutOfMemory, Stack, Unboxed};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let mut stack: Stack<'_, Unboxed<i32>> = Stack::new(mu);
    /// [1, 2, 3].into_iter().for_each(|number| stack.push(mu, Unboxed(number)));
    /// assert!(stack.iter(mu).rev().eq([3, 2, 1].map(Unboxed)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter<'g>(
        &'g self,
        span: &'g Mutator<'_>,
    ) -> impl ExactSizeIterator<Item = W::Of<'g>> + DoubleEndedIterator {
        self.iter_from(span, 0)
    }

    /// The words from the one `start` places above the bottom upwards; none if `start` is above the
    /// top. The iterator does not walk over the words below.
    ///
    /// ```
    /// # use allotment::{Heap, OutOfMemory, Stack, Unboxed};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let mut stack: Stack<'_, Unboxed<i32>> = Stack::new(mu);
    /// [1, 2, 3].into_iter().for_each(|number| stack.push(mu, Unboxed(number)));
    /// assert!(stack.iter_from(mu, 1).eq([2, 3].map(Unboxed)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter_from<'g>(
        &'g self,
        _span: &'g Mutator<'_>,
        start: usize,
    ) -> impl ExactSizeIterator<Item = W::Of<'g>> + DoubleEndedIterator {
        let words = self.words();
        // SAFETY: as in `pop`.
        words[start.min(words.len())..].iter().map(|bits| unsafe { W::decode(bits.get()) })
    }
}

impl<W: Word> Drop for Stack<'_, W> {
    fn drop(&mut self) {
        // SAFETY: the link is dropped here and nowhere else. The area is dropped after it, when the
        // link no longer leads to the area.
        unsafe {
            ManuallyDrop::drop(&mut self.linked);
            drop(Box::from_raw(self.area.as_ptr()));
        }
    }
}

impl<W: Word> fmt::Debug for Stack<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stack[{}]", self.len())
    }
}
