//! The handle that a thread allocates by, and what each part of this layer adds methods to.

use super::shared::Shared;
use super::state::State;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

/// A thread attached to a heap.
///
/// `&Mutator` is a span in which the thread reaches no safepoint: allocation under it never collects.
/// What may reach a safepoint takes `&mut Mutator`. It is a pointer to the thread's state, with what every store wants of
/// that beside it, and is handed out by reference only ([`Heap::attach`](crate::Heap::attach)).
pub struct Mutator<'t> {
    state: NonNull<State>,
    /// The heap's card table, biased: as the state has it, and a load nearer to each store.
    cards: usize,
    /// The attachment; also makes the type neither `Send` nor `Sync`.
    attached: PhantomData<(&'t State, *mut ())>,
}

impl<'t> Mutator<'t> {
    pub(in crate::mutator) fn new(state: &'t State) -> Mutator<'t> {
        Mutator { state: NonNull::from(state), cards: state.hot.cards(), attached: PhantomData }
    }

    /// Another for the same thread, used in place of this one while that is borrowed, by calls that would otherwise be given its
    /// address: a call may keep that, as far as the compiler knows, and a loop around it then loads the state's for each object.
    #[inline(always)]
    pub(crate) fn duplicate(&mut self) -> Mutator<'_> {
        Mutator { ..*self }
    }

    /// The heap.
    pub(crate) fn shared(&self) -> &Shared {
        &self.state().shared
    }

    /// The heap, without keeping it.
    pub(crate) fn downgrade(&self) -> Weak<Shared> {
        Arc::downgrade(&self.state().shared)
    }

    #[inline(always)]
    pub(in crate::mutator) fn state(&self) -> &State {
        // SAFETY: `'t` is a borrow of the state, which `attach` keeps until the mutator is gone.
        unsafe { self.state.as_ref() }
    }

    /// The card table, biased.
    #[inline(always)]
    pub(in crate::mutator) fn cards(&self) -> usize {
        self.cards
    }
}
