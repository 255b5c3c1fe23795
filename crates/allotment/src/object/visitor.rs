//! Slots as whoever traces is told of them: where one is, and how it keeps what it refers to.
//!
//! A shape may name a function that tells its slots, so this comes before shapes.

use std::ptr::NonNull;

/// How a reference keeps what it refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// What it refers to stays alive.
    Strong,
    /// What it refers to may die; the slot is then cleared.
    Weak,
}

/// What is done with each slot.
pub struct SlotVisitor<'a> {
    visit: &'a mut dyn FnMut(*mut u64, SlotKind),
}

impl<'a> SlotVisitor<'a> {
    /// A visitor that calls `visit`.
    pub fn new(visit: &'a mut dyn FnMut(*mut u64, SlotKind)) -> SlotVisitor<'a> {
        SlotVisitor { visit }
    }

    /// Visits a slot, which may be updated.
    #[inline]
    pub fn slot(&mut self, slot: *mut u64, kind: SlotKind) {
        (self.visit)(slot, kind);
    }

    /// Visits a slot that keeps its referent alive.
    #[inline]
    pub fn strong(&mut self, slot: *mut u64) {
        self.slot(slot, SlotKind::Strong);
    }

    /// Visits a slot that is cleared when its referent dies.
    #[inline]
    pub fn weak(&mut self, slot: *mut u64) {
        self.slot(slot, SlotKind::Weak);
    }
}

/// Visits the slots of an object that data cannot describe.
///
/// # Safety
/// Callers keep to this, implementations may rely on it:
/// - The pointer is the header of an initialised object of the shape that names the function.
/// - Nobody writes to the object meanwhile.
///
/// Implementations keep to this:
/// - Every slot that may hold a reference is visited once, in each call the same ones while the object does
///   not change; nothing else is.
/// - Every slot lies inside the object: a collection that looks at a part of the heap finds objects by the addresses of
///   their slots.
/// - It neither allocates in the heap nor unwinds, and may be called on any thread, on several at once for one object, also on one that came to a safepoint in the
///   midst of something: it borrows nothing that such a thread may have borrowed.
pub type TraceFn = unsafe fn(object: NonNull<u8>, slots: &mut SlotVisitor<'_>);
