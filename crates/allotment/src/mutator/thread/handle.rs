//! The handle through which a thread allocates. Each part of this layer adds methods to it.

use super::shared::Shared;
use super::state::State;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

/// A thread attached to a heap.
///
/// A `&Mutator` is a span in which the thread reaches no safepoint: allocation under it never
/// collects. A method that may reach a safepoint takes `&mut Mutator`. The handle is a pointer to
/// the thread's state, with a copy of the field that every store needs. It is handed out by
/// reference only ([`Heap::attach`](crate::Heap::attach)).
pub struct Mutator<'t> {
    state: NonNull<State>,
    /// The heap's biased card table. A copy of the state's field, which saves each store a load.
    cards: usize,
    /// The attachment; also makes the type neither `Send` nor `Sync`.
    attached: PhantomData<(&'t State, *mut ())>,
}

impl<'t> Mutator<'t> {
    pub(in crate::mutator) fn new(state: &'t State) -> Mutator<'t> {
        Mutator { state: NonNull::from(state), cards: state.hot.cards, attached: PhantomData }
    }

    /// Another handle for the same thread, used in place of this one while this one is borrowed. It
    /// serves calls that would otherwise receive this handle's address. As far as the compiler
    /// knows, such a call may keep the address, and a loop around the call would then reload the
    /// state for each object.
    #[inline(always)]
    pub(crate) fn duplicate(&mut self) -> Mutator<'_> {
        Mutator { ..*self }
    }

    /// The heap.
    pub(crate) fn shared(&self) -> &Shared {
        &self.state().shared
    }

    /// A weak reference to the heap, which does not keep the heap.
    pub(crate) fn downgrade(&self) -> Weak<Shared> {
        Arc::downgrade(&self.state().shared)
    }

    #[inline(always)]
    pub(in crate::mutator) fn state(&self) -> &State {
        // SAFETY: `'t` is a borrow of the state, which `attach` keeps until the mutator is gone.
        unsafe { self.state.as_ref() }
    }

    /// The biased card table.
    #[inline(always)]
    pub(in crate::mutator) fn cards(&self) -> usize {
        self.cards
    }
}
