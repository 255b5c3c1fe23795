//! Roots in the frames of a thread. `root!`, `keep!` and the slow path of `alloc!` link them.

use super::carry::{Carry, erase};
use super::word::{Bare, Word};
use crate::mutator::{LinkedRoot, Mutator, RootLink, RootWord};
use crate::object::SlotVisitor;
use std::cell::UnsafeCell;
use std::marker::{PhantomData, PhantomPinned};
use std::ptr::NonNull;

/// Values that `keep!` and the slow path of `alloc!` carry over a safepoint.
#[repr(C)]
pub struct Frame<C: Carry> {
    link: RootLink,
    value: UnsafeCell<C>,
    _pinned: PhantomPinned,
}

impl<C: Carry> Frame<C> {
    /// A frame of these values. The unsafe functions `link` and `take` are responsible for the
    /// span.
    #[inline(always)]
    pub fn save<V: Carry<At<'static> = C>>(value: V) -> Self {
        // SAFETY: the value is traced as long as the frame is linked, and `take` permits no
        // safepoint otherwise.
        unsafe { Self::of_erased(erase(value)) }
    }

    /// A frame of erased values.
    ///
    /// # Safety
    /// - They are good now.
    #[inline(always)]
    pub(super) unsafe fn of_erased(value: C) -> Self {
        unsafe fn visit<C: Carry>(link: *mut RootLink, slots: &mut SlotVisitor<'_>) {
            // SAFETY: the link heads a `Frame<C>`, whose thread is stopped.
            unsafe { (*(*link.cast::<Frame<C>>()).value.get()).trace(slots) }
        }
        Frame { link: RootLink::new(visit::<C>), value: UnsafeCell::new(value), _pinned: PhantomPinned }
    }

    /// Puts the frame on the thread's list.
    ///
    /// # Safety
    /// - The frame stays where it is until the result is dropped, and the result is dropped.
    #[inline(always)]
    pub unsafe fn link<'f>(frame: *mut Self, mutator: &Mutator<'_>) -> LinkedRoot<'f> {
        // SAFETY: the link is the frame's first field; the rest are the caller's predicates.
        unsafe { mutator.raw().link_root(NonNull::new_unchecked(frame).cast()) }
    }

    /// The values of a frame that is linked.
    ///
    /// # Safety
    /// - The frame is alive, and the result is not used after the thread's next safepoint.
    #[inline]
    pub(super) unsafe fn value<'f>(frame: *const Self) -> &'f C {
        // SAFETY: a collector changes the values only while the thread is at a safepoint.
        unsafe { &*(*frame).value.get() }
    }

    /// The values.
    ///
    /// # Safety
    /// - The frame is no longer linked, and was linked at every safepoint since it was made.
    /// - The result goes to `restore` before the next safepoint.
    #[inline(always)]
    pub unsafe fn take(self) -> C {
        self.value.into_inner()
    }
}

/// The cell that a [`Local`] refers to.
pub struct RootCell<W: Word> {
    root: RootWord,
    word: PhantomData<fn(W) -> W>,
    _pinned: PhantomPinned,
}

impl<W: Word> RootCell<W> {
    /// A cell that holds this value.
    #[inline(always)]
    pub fn new<'g, V: Bare<'g, Word = W>>(value: V) -> Self {
        RootCell { root: RootWord::new(value.encode()), word: PhantomData, _pinned: PhantomPinned }
    }

    /// Puts the cell on the thread's list.
    ///
    /// # Safety
    /// - As for [`Frame::link`].
    /// - No safepoint was reached since the cell was made.
    #[inline(always)]
    pub unsafe fn link<'f>(&'f self, mutator: &Mutator<'_>) -> LinkedRoot<'f> {
        // SAFETY: the caller's predicates; a cell's value was good when the cell was made.
        unsafe { mutator.raw().link_word(NonNull::from(&self.root)) }
    }

    /// The handle to the cell.
    ///
    /// # Safety
    /// - The cell is linked as long as the result lives.
    #[inline(always)]
    pub unsafe fn local(&self) -> Local<'_, W> {
        Local(self)
    }

    /// The only handle to the cell.
    ///
    /// # Safety
    /// - As for [`local`](Self::local), and no other handle is made.
    #[inline(always)]
    pub unsafe fn local_mut(&self) -> LocalMut<'_, W> {
        LocalMut(self)
    }
}

/// A root in this Rust frame or one above it. [`root!`](crate::root) makes it, or
/// [`pass!`](crate::pass) for a call. It survives every safepoint.
///
/// Functions that may collect take it as an argument: `get` gives the bare value for a span.
pub struct Local<'r, W: Word>(&'r RootCell<W>);

impl<W: Word> Clone for Local<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<W: Word> Copy for Local<'_, W> {}

impl<W: Word> Local<'_, W> {
    /// The value, for a span.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, text = alloc!(mu, NewStr::from("kept"))?);
    /// mu.collect();
    /// assert_eq!(&*text.get(mu), "kept");
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn get<'g>(self, _span: &'g Mutator<'_>) -> W::Of<'g> {
        // SAFETY: the collector keeps the cell up to date; the thread has one mutator, of one heap.
        unsafe { W::decode(self.0.root.get()) }
    }
}

debug_is_name!(Local<'_, W: Word>);

/// A root whose value can be replaced, made by [`root!(mu, mut name = value)`](crate::root).
///
/// The type is not `Copy`: a function that gets a [`Local`] of the root, or its value, cannot
/// change the root.
pub struct LocalMut<'r, W: Word>(&'r RootCell<W>);

impl<'r, W: Word> LocalMut<'r, W> {
    /// The value, for a span.
    ///
    /// ```
    /// # use allotment::{Heap, OutOfMemory, Unboxed, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, mut count = Unboxed(1));
    /// assert_eq!(count.get(mu), Unboxed(1));
    /// count.set(mu, Unboxed(2));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn get<'g>(&self, _span: &'g Mutator<'_>) -> W::Of<'g> {
        // SAFETY: as for `Local`.
        unsafe { W::decode(self.0.root.get()) }
    }

    /// Replaces the value.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, mut text = alloc!(mu, NewStr::from("old"))?);
    /// let new = alloc!(mu, NewStr::from("new"))?;
    /// text.set(mu, new);
    /// assert_eq!(&*text.get(mu), "new");
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn set(&mut self, _mutator: &Mutator<'_>, value: W::Of<'_>) {
        // SAFETY: the value's span makes its referent a live object of this thread's heap.
        unsafe { self.0.root.set(value.encode()) };
    }

    /// A read-only handle to this root, for a function that takes a [`Local`].
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, numbers = alloc!(mu, NewList::new())?);
    /// root!(mu, mut number = Unboxed(1));
    /// for _ in 0..3 {
    ///     List::push(mu, numbers, number.local())?;
    ///     number.set(mu, Unboxed(number.get(mu).0 * 2));
    /// }
    /// assert!(numbers.get(mu).iter(mu).eq([1, 2, 4].map(Unboxed)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn local(&self) -> Local<'_, W> {
        Local(self.0)
    }
}

debug_is_name!(LocalMut<'_, W: Word>);
