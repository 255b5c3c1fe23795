//! The heap that a collection works on, and the roots that keep objects alive from outside.

use crate::object::{Shapes, SlotVisitor};
use crate::region::FreeSet;

/// The collected heap: no mutator is between two safepoints, and every region is parsable.
pub(crate) struct Subject<'h, B> {
    pub(crate) free: &'h FreeSet<B>,
    pub(crate) shapes: &'h Shapes,
}

impl<B> Clone for Subject<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<B> Copy for Subject<'_, B> {}

/// The references that keep objects alive from outside the heap.
pub(crate) struct Roots<'r> {
    /// Visits every root slot, strong or weak. Called twice, and visits the same slots both times.
    pub(crate) slots: &'r mut dyn FnMut(&mut SlotVisitor<'_>),
    /// Calls its argument with the address of every object that stays alive and in place.
    pub(crate) pinned: &'r mut dyn FnMut(&mut dyn FnMut(usize)),
}
