//! The roots that a collection starts from, as its caller gives them: two visits.

use crate::object::SlotVisitor;

/// The references that keep objects alive from outside the heap.
pub(crate) struct Roots<'r> {
    /// Visits every root slot, strong or weak. Called twice, and visits the same slots both times.
    pub(crate) slots: &'r mut dyn FnMut(&mut SlotVisitor<'_>),
    /// Calls its argument with the address of every object that stays alive and in place.
    pub(crate) pinned: &'r mut dyn FnMut(&mut dyn FnMut(usize)),
}
