//! Adding a root to its thread's list and removing it, which only the thread does. `roots/links.rs`
//! has the operations that a collector shares, and the reason for the list.

use crate::mutator::RawMutator;
use crate::mutator::roots::{
    LinkEntry, OUTSIDE, RANGE, RootLink, RootRange, RootWord, VISITED, below, take_off,
};
use crate::mutator::thread::state::State;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A root on its thread's list. Dropping it removes the root, at any place in the list.
pub struct LinkedRoot<'f> {
    entry: LinkEntry,
    state: NonNull<State>,
    /// The link's memory, borrowed; neither `Send` nor `Sync`.
    frame: PhantomData<&'f mut RootLink>,
}

impl RawMutator<'_> {
    /// Adds a link to this thread's list.
    ///
    /// # Safety
    /// - The link and the roots that it leads to stay where they are until the result is dropped.
    /// - The result is dropped, on this thread, before the thread detaches (`mem::forget` of it, or
    ///   of its owner, only if the memory is never used again otherwise).
    /// - The link is on no list.
    /// - The link's function does what [`RootLink::new`] asks of it.
    #[inline(always)]
    pub unsafe fn link_root<'f>(&self, link: NonNull<RootLink>) -> LinkedRoot<'f> {
        // SAFETY: the caller's predicates.
        unsafe { self.link(link.as_ptr().cast::<RootWord>().map_addr(|address| address | VISITED)) }
    }

    /// Adds one word to this thread's list.
    ///
    /// # Safety
    /// As for [`link_root`](Self::link_root), and:
    /// - The word refers to a live object of this heap, or to none.
    #[inline(always)]
    pub unsafe fn link_word<'f>(&self, word: NonNull<RootWord>) -> LinkedRoot<'f> {
        // SAFETY: the caller's predicates.
        unsafe { self.link(word.as_ptr()) }
    }

    /// Adds a range of words to this thread's list.
    ///
    /// ```
    /// use allotment::{Heap, NewStr, alloc, raw::RootRange};
    /// use std::ptr::NonNull;
    /// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.attach(|mu| {
    ///     let mut stack = [0_u64; 8];
    ///     let range = RootRange::new(mu.raw().hot().cast());
    ///     // SAFETY: range and stack outlive the link, and the words refer to nothing.
    ///     let linked = unsafe {
    ///         range.set(stack.as_mut_ptr(), stack.len());
    ///         mu.raw().link_range(NonNull::from(&range))
    ///     };
    ///     mu.collect(); // finds eight roots that hold null
    ///     drop(linked);
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// As for [`link_root`](Self::link_root), and:
    /// - The words of the range are as [`RootRange::set`] asks.
    #[inline(always)]
    pub unsafe fn link_range<'f>(&self, range: NonNull<RootRange>) -> LinkedRoot<'f> {
        // SAFETY: the caller's predicates.
        unsafe { self.link(range.as_ptr().cast::<RootWord>().map_addr(|address| address | RANGE)) }
    }

    /// Removes a range from this thread's list, wherever it is there. For a range that other code
    /// linked by itself ([`Hot::LINKS_OFFSET`](crate::mutator::Hot::LINKS_OFFSET)). The thread may
    /// be [`blocking`](crate::Mutator::blocking).
    ///
    /// # Safety
    /// - The range is on this thread's list, and no [`LinkedRoot`] of it exists.
    pub unsafe fn unlink_range(&self, range: NonNull<RootRange>) {
        let entry = range.as_ptr().cast::<RootWord>().map_addr(|address| address | RANGE);
        drop(LinkedRoot { entry, state: NonNull::from(self.state()), frame: PhantomData });
    }

    /// # Safety
    /// - As for `link_root`; the entry says what it is.
    #[inline(always)]
    unsafe fn link<'f>(&self, entry: LinkEntry) -> LinkedRoot<'f> {
        let state = self.state();
        // SAFETY: the entry is alive and this thread's alone.
        unsafe { below(entry) }.set(state.hot.links.replace(entry));
        LinkedRoot { entry, state: NonNull::from(state), frame: PhantomData }
    }
}

impl Drop for LinkedRoot<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the state lives until its thread detaches, which is later.
        let state = unsafe { self.state.as_ref() };
        if state.hot.links.get() == self.entry {
            // SAFETY: every entry on the list is alive.
            state.hot.links.set(unsafe { below(self.entry) }.get());
        } else {
            unlink(state, self.entry);
        }
    }
}

/// Removes an entry that is not the innermost, or while the thread is in a blocking region, where a
/// collector may walk the list.
#[cold]
#[inline(never)]
fn unlink(state: &State, entry: LinkEntry) {
    if state.hot.links.get() == OUTSIDE {
        state.shared.after_fork_or_abort();
        let _walks = state.lock_roots();
        // SAFETY: a linked root is on its thread's list, and any walker of the list holds the lock.
        unsafe { take_off(&state.parked, entry) };
    } else {
        // SAFETY: as above, and the caller is the owning thread.
        unsafe { take_off(&state.hot.links, entry) };
    }
}
