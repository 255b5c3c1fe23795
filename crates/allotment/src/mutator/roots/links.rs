//! Roots in the frames of a thread: a list through the frames themselves, innermost first.
//!
//! Linking and unlinking are a load and two stores each, with nobody to ask: the list is read by a
//! collector only while the thread is stopped or in a blocking region. In a blocking region the thread may still
//! drop a frame (a suspended future, say) while a collector walks: so its list head is then moved
//! aside, a sentinel that equals no link stands in its place, and the compare that every unlink does
//! anyway leads to the slow path, which takes a lock.

use crate::mutator::Mutator;
use crate::mutator::state::State;
use crate::object::SlotVisitor;
use crate::sync::{Mutex, MutexGuard};
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// What a collector finds on a thread's list; heads the memory that holds the roots.
#[repr(C)]
pub struct RootLink {
    /// The next link outward. Written by the thread when it links and unlinks.
    below: Cell<*mut RootLink>,
    /// Visits the slots behind the link.
    visit: unsafe fn(*mut RootLink, &mut SlotVisitor<'_>),
}

impl RootLink {
    /// A link whose roots `visit` finds, given the link's address. It is called for a linked link only, and visits the same
    /// slots until that is unlinked.
    pub const fn new(visit: unsafe fn(*mut RootLink, &mut SlotVisitor<'_>)) -> RootLink {
        RootLink { below: Cell::new(ptr::null_mut()), visit }
    }
}

/// Head of the list of a thread in a blocking region: equal to no link.
pub(in crate::mutator) const OUTSIDE: *mut RootLink = ptr::without_provenance_mut(8);

/// Held by whoever walks or changes the list of a thread in a blocking region.
#[derive(Default)]
pub(crate) struct Outside(Mutex<()>);

impl Outside {
    pub(in crate::mutator) fn lock(&self) -> MutexGuard<'_, ()> {
        super::lock(&self.0, "a thread panicked while it changed a list of roots")
    }
}

/// A link on its thread's list; dropping it takes it off, wherever it stands.
pub struct LinkedRoot<'f> {
    link: NonNull<RootLink>,
    state: NonNull<State>,
    /// The link's memory, borrowed; neither `Send` nor `Sync`.
    frame: PhantomData<&'f mut RootLink>,
}

impl Mutator<'_> {
    /// Puts a link on this thread's list.
    ///
    /// # Safety
    /// - The link and the roots behind it stay where they are until the result is dropped.
    /// - The result is dropped, on this thread, before the thread detaches (`mem::forget` of it, or of what holds it,
    ///   only if the memory is never used again otherwise).
    /// - The link is on no list.
    #[inline(always)]
    pub unsafe fn link_root<'f>(&self, link: NonNull<RootLink>) -> LinkedRoot<'f> {
        let state = self.state();
        // SAFETY: the link is alive and this thread's alone.
        unsafe { link.as_ref() }.below.set(state.links.replace(link.as_ptr()));
        LinkedRoot { link, state: NonNull::from(state), frame: PhantomData }
    }
}

impl Drop for LinkedRoot<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the state lives until its thread detaches, which is later.
        let state = unsafe { self.state.as_ref() };
        if state.links.get() == self.link.as_ptr() {
            // SAFETY: a link on the list is alive.
            state.links.set(unsafe { self.link.as_ref() }.below.get());
        } else {
            unlink(state, self.link);
        }
    }
}

/// Not the innermost link, or the thread is in a blocking region, and a collector may walk the list.
#[cold]
#[inline(never)]
fn unlink(state: &State, link: NonNull<RootLink>) {
    if state.links.get() == OUTSIDE {
        let _walks = state.shared.roots.outside.lock();
        take_off(&state.parked, link);
    } else {
        take_off(&state.links, link);
    }
}

fn take_off(head: &Cell<*mut RootLink>, link: NonNull<RootLink>) {
    let mut place = head;
    while place.get() != link.as_ptr() {
        // SAFETY: the link is on the list, so every place before it is a live link's.
        place = unsafe { &(*place.get()).below };
    }
    // SAFETY: a link on the list is alive.
    place.set(unsafe { link.as_ref() }.below.get());
}

/// Visits the roots in the frames of a thread.
///
/// # Safety
/// - The thread is stopped, or in a blocking region and kept there, and the caller holds `outside`.
pub(in crate::mutator) unsafe fn visit_links(state: &State, slots: &mut SlotVisitor<'_>) {
    let head = state.links.get();
    let mut at = if head == OUTSIDE { state.parked.get() } else { head };
    while !at.is_null() {
        // SAFETY: every link on the list is alive, and its function is for it.
        unsafe {
            ((*at).visit)(at, slots);
            at = (*at).below.get();
        }
    }
}
