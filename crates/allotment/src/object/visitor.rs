//! How tracing code receives slots: the slot's address, and how the slot keeps its referent.
//!
//! A shape may name a function that visits its slots, so this module comes before shapes.

use std::ffi::c_void;
use std::ptr::NonNull;

/// How a reference keeps its referent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// The referent stays alive.
    Strong,
    /// The referent may die; the slot is then cleared.
    Weak,
}

/// The action for each slot.
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
/// - No thread writes to the object meanwhile. (Where the shape [says that its slots never
///   change](super::Shape::slots_never_change), threads may.)
///
/// Implementations keep to this:
/// - Every slot that may hold a reference is visited once. Each call visits the same slots while
///   the object does not change. Only such slots are visited.
/// - Every slot lies inside the object: a collection of a part of the heap finds objects by the
///   addresses of their slots.
/// - The function neither allocates in the heap nor unwinds. It may be called on any thread, and on
///   several threads at once for one object. The thread may have been at a safepoint within any
///   work of its own, so the function borrows nothing that such a thread may have borrowed.
pub type TraceFn = unsafe fn(object: NonNull<u8>, slots: &mut SlotVisitor<'_>);

/// A [`TraceFn`] in the C calling convention, for code in other languages. Its arguments are the
/// object, the visitor, whose methods visit a slot, and the pointer that the
/// [shape](super::Shape::traced_by_c) keeps for the function. The address of the visitor is valid
/// during the call.
///
/// # Safety
/// As for [`TraceFn`].
pub type CTraceFn =
    unsafe extern "C-unwind" fn(object: *mut u8, slots: *mut SlotVisitor<'_>, data: *mut c_void);
