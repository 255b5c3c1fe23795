//! The slots of an object, for tracing code.

use super::{Element, LENGTH_OFFSET, Shape, SlotKind, SlotVisitor, WORD};
use std::ops::Range;
use std::ptr::NonNull;

/// The references of a tail: consecutive slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TailSlots {
    /// The first of these slots.
    pub start: *mut u64,
    /// Number of slots.
    pub length: usize,
    /// How each slot keeps its referent.
    pub kind: SlotKind,
}

/// Calls `visit` with every slot of the object at `address` that does not belong to a tail of
/// references.
///
/// # Safety
/// - `address` is the header of an initialised object of `shape`, which no thread writes to
///   meanwhile.
#[inline]
pub(crate) unsafe fn for_each_fixed_slot(
    address: usize,
    shape: &Shape,
    mut visit: impl FnMut(*mut u64, SlotKind),
) {
    if let Some(trace) = shape.trace() {
        let object = NonNull::new(address as *mut u8).expect("no object is at address 0");
        // SAFETY: the caller's predicate is the function's.
        return unsafe { trace.visit(object, &mut SlotVisitor::new(&mut visit)) };
    }
    for slot in shape.slots() {
        visit((address + slot.offset) as *mut u64, slot.kind);
    }
}

/// The slots of the tail of the object at `address`, if the tail consists of references.
///
/// # Safety
/// As for [`for_each_fixed_slot`].
#[inline]
pub(crate) unsafe fn tail_slots(address: usize, shape: &Shape) -> Option<TailSlots> {
    match shape.tail() {
        Some(Element::Reference(kind)) if !shape.is_traced() => {
            // SAFETY: an object with a tail has its length after the header.
            let length = unsafe { ((address + LENGTH_OFFSET) as *const usize).read() };
            debug_assert!(shape.fixed_bytes().is_multiple_of(WORD));
            Some(TailSlots { start: (address + shape.fixed_bytes()) as *mut u64, length, kind })
        }
        _ => None,
    }
}

/// Calls `visit` with every slot of the object at `address` whose address is in `part`.
///
/// # Safety
/// As for [`for_each_fixed_slot`].
#[inline]
pub(crate) unsafe fn for_each_slot_between(
    address: usize,
    shape: &Shape,
    part: Range<usize>,
    mut visit: impl FnMut(*mut u64, SlotKind),
) {
    // SAFETY: the caller's predicate.
    unsafe {
        for_each_fixed_slot(address, shape, |slot, kind| {
            if part.contains(&slot.addr()) {
                visit(slot, kind);
            }
        });
        if let Some(tail) = tail_slots(address, shape) {
            let first = tail.start.addr();
            let index = |address: usize| (address.max(first) - first).div_ceil(WORD).min(tail.length);
            for index in index(part.start)..index(part.end) {
                visit(tail.start.add(index), tail.kind);
            }
        }
    }
}

/// Calls `visit` with every slot of the object at `address`.
///
/// # Safety
/// As for [`for_each_fixed_slot`].
#[inline]
pub(crate) unsafe fn for_each_slot(address: usize, shape: &Shape, mut visit: impl FnMut(*mut u64, SlotKind)) {
    // SAFETY: the caller's predicate.
    unsafe { for_each_fixed_slot(address, shape, &mut visit) };
    // SAFETY: as above.
    if let Some(tail) = unsafe { tail_slots(address, shape) } {
        (0..tail.length).for_each(|index| visit(tail.start.wrapping_add(index), tail.kind));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Shape, Shapes};
    use super::*;
    use std::ffi::c_void;
    use std::ptr;

    fn slots(words: &mut [u64], shape: &Shape) -> Vec<(usize, SlotKind)> {
        let address = words.as_mut_ptr().expose_provenance();
        let mut found = Vec::new();
        // SAFETY: the words are laid out as the shape says.
        unsafe {
            for_each_slot(address, shape, |slot, kind| found.push(((slot.addr() - address) / WORD, kind)))
        };
        found
    }

    #[test]
    fn fixed_slots_and_tails_are_visited_in_order() {
        let shapes = Shapes::default();
        let shape = Shape::array("Closure", 24, Element::Reference(SlotKind::Strong)).slot(
            "code",
            16,
            SlotKind::Weak,
        );
        let id = shapes.register(shape).unwrap().id();
        let mut words = [0, 3, 0, 0, 0, 0];
        assert_eq!(
            slots(&mut words, shapes.get(id).unwrap()),
            [(2, SlotKind::Weak), (3, SlotKind::Strong), (4, SlotKind::Strong), (5, SlotKind::Strong)]
        );
        assert_eq!(slots(&mut [0, 9, 0], &Shape::array("Bytes", 16, Element::Plain { bytes: 1 })), []);
    }

    #[test]
    fn a_trace_function_replaces_the_description() {
        unsafe fn second_word(object: NonNull<u8>, slots: &mut SlotVisitor<'_>) {
            slots.strong(object.as_ptr().wrapping_add(16).cast());
        }
        let shape = Shape::array("Odd", 16, Element::Reference(SlotKind::Strong)).traced_by(second_word);
        assert_eq!(slots(&mut [0, 1, 0], &shape), [(2, SlotKind::Strong)]);
    }

    #[test]
    fn a_trace_function_of_c_gets_its_data() {
        unsafe extern "C-unwind" fn at(object: *mut u8, slots: *mut SlotVisitor<'_>, data: *mut c_void) {
            // SAFETY: the visitor is valid during the call.
            unsafe { (*slots).weak(object.wrapping_byte_add(data.addr()).cast()) };
        }
        let shape = |offset| Shape::fixed("Odd", 24).traced_by_c(at, ptr::without_provenance_mut(offset));
        assert_eq!(slots(&mut [0, 1, 0], &shape(8)), [(1, SlotKind::Weak)]);
        assert_eq!(slots(&mut [0, 1, 0], &shape(16)), [(2, SlotKind::Weak)]);
        assert!(shape(8) == shape(8) && shape(8) != shape(16) && shape(8) != Shape::fixed("Odd", 24));
    }
}
