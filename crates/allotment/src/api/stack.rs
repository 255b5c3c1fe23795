//! A growable area of roots: an interpreter's operand stack, or any number of roots that is not known
//! when the program is written.
//!
//! It is one link on the thread's list, wherever the stack itself is moved to. Whatever changes it takes
//! the mutator, so it does not change in a blocking region, when a collector may be reading it. Refused: a
//! heap array (a write barrier for every push), a `Vec<Root>` (a lock for every push).

use super::word::{Bare, Word};
use crate::mutator::{LinkedRoot, Mutator, RootLink};
use crate::object::SlotVisitor;
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// What the link heads; stays where it is.
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
    pub fn new(mutator: &Mutator<'t>) -> Self {
        unsafe fn visit(link: *mut RootLink, slots: &mut SlotVisitor<'_>) {
            // SAFETY: the link heads an `Area`, whose thread is stopped or in a blocking region.
            let words = unsafe { &*(*link.cast::<Area>()).words.get() };
            words.iter().for_each(|word| slots.strong(word.as_ptr()));
        }
        let area = Box::new(Area { link: RootLink::new(visit), words: UnsafeCell::new(Vec::new()) });
        let area = NonNull::from(Box::leak(area));
        // SAFETY: the area stays where it is until the drop below, or for ever; the attachment outlives `'t`,
        // which the stack does not.
        let linked = ManuallyDrop::new(unsafe { mutator.link_root(area.cast()) });
        Stack { area, linked, word: PhantomData }
    }

    fn words(&self) -> &Vec<Cell<u64>> {
        // SAFETY: this thread is the only one that changes it; a collector, which updates elements, runs while this
        // thread holds no span, and what is looked at without one is the length.
        unsafe { &*self.area.as_ref().words.get() }
    }

    fn words_mut(&mut self, _span: &Mutator<'_>) -> &mut Vec<Cell<u64>> {
        // SAFETY: as above; no collector runs during the span.
        unsafe { &mut *self.area.as_ref().words.get() }
    }

    /// How many words are on it.
    pub fn len(&self) -> usize {
        self.words().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts a word on top.
    #[inline]
    pub fn push(&mut self, mutator: &Mutator<'_>, value: W::Of<'_>) {
        self.words_mut(mutator).push(Cell::new(value.encode()));
    }

    /// Takes the top off.
    #[inline]
    pub fn pop<'g>(&mut self, mutator: &'g Mutator<'_>) -> Option<W::Of<'g>> {
        let bits = self.words_mut(mutator).pop()?;
        // SAFETY: bits of `W`, kept up to date by the collector until now.
        Some(unsafe { W::decode(bits.get()) })
    }

    /// The word `index` places above the bottom.
    #[inline]
    pub fn get<'g>(&self, _span: &'g Mutator<'_>, index: usize) -> Option<W::Of<'g>> {
        // SAFETY: as in `pop`.
        self.words().get(index).map(|bits| unsafe { W::decode(bits.get()) })
    }

    /// The word on top.
    #[inline]
    pub fn last<'g>(&self, mutator: &'g Mutator<'_>) -> Option<W::Of<'g>> {
        self.get(mutator, self.len().checked_sub(1)?)
    }

    /// Replaces the word `index` places above the bottom.
    ///
    /// # Panics
    /// Above the top.
    #[inline]
    #[track_caller]
    pub fn set(&mut self, mutator: &Mutator<'_>, index: usize, value: W::Of<'_>) {
        self.words_mut(mutator)[index].set(value.encode());
    }

    /// Takes words off until `len` are left; nothing where there are no more.
    pub fn truncate(&mut self, mutator: &Mutator<'_>, len: usize) {
        self.words_mut(mutator).truncate(len);
    }

    /// The words, from the bottom up.
    pub fn iter<'g>(
        &'g self,
        span: &'g Mutator<'_>,
    ) -> impl ExactSizeIterator<Item = W::Of<'g>> + DoubleEndedIterator {
        self.iter_from(span, 0)
    }

    /// The words from the one `start` places above the bottom upwards, without a walk over those below; none above the top.
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
        // SAFETY: dropped here and nowhere else, and the area after it, which the link no longer leads to.
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
