//! Headers and slots of objects, for threads that work beside mutators.
//!
//! Headers change meanwhile: a mutator asks for an identity hash, a type gets its id late, a copier
//! forwards. So a header is read once, atomically, and settled if it is an early one.

use crate::collector::kernel::{ShapeCache, broken, word_at};
use crate::object::{
    Header, Kind, Layout, Shape, SlotKind, for_each_fixed_slot, for_each_word, settle, tail_slots,
};
use std::sync::atomic::{AtomicU64, Ordering};

/// The header of the object at `address`, settled. Acquire: a copy that it names is complete.
///
/// # Safety
/// - A header is at `address`.
#[inline(always)]
pub(super) unsafe fn header_at(address: usize) -> Header {
    // SAFETY: the caller's predicate.
    let word = unsafe { word_at(address) };
    let header = Header::from_bits(word.load(Ordering::Acquire));
    if header.is_early() { settle(word, header) } else { header }
}

/// The place of the object with this header. The object is, or was, at `address`.
#[inline(always)]
pub(super) fn place_of(header: Header, address: usize) -> usize {
    if let Kind::Forwarded(copy) = header.kind() { copy } else { address }
}

/// The places of an object's slots.
#[derive(Clone, Copy)]
pub(super) struct Slots<'h> {
    /// As [`Layout::words`].
    pub(super) words: u64,
    pub(super) has_slots: bool,
    pub(super) shape: &'h Shape,
}

/// The slots and the size in bytes of the object at `address`, which has not moved.
///
/// # Safety
/// - An object is at `address`.
#[inline(always)]
pub(super) unsafe fn measure<'h>(shapes: &mut ShapeCache<'h>, address: usize) -> (Slots<'h>, usize) {
    // SAFETY: the caller's predicate.
    let header = unsafe { header_at(address) };
    if !matches!(header.kind(), Kind::Object(_)) {
        broken(address, "something refers to it, but no object is there");
    }
    let layout = shapes.layout(header, address);
    // SAFETY: as above.
    let bytes = unsafe { layout.size_of(address) };
    let &Layout { words, has_slots, shape, .. } = layout;
    (Slots { words, has_slots, shape }, bytes)
}

/// Calls `visit` with each slot of the object at `address`.
///
/// # Safety
/// - An object with these slots is at `address`.
#[inline(always)]
pub(super) unsafe fn for_each_slot_of(
    address: usize,
    slots: Slots<'_>,
    mut visit: impl FnMut(&AtomicU64, SlotKind),
) {
    // SAFETY: slots are aligned words inside the object, which all access as atomics.
    let mut visit = |slot: *mut u64, kind| visit(unsafe { AtomicU64::from_ptr(slot) }, kind);
    if slots.words != 0 {
        return for_each_word(address, slots.words, |slot| visit(slot, SlotKind::Strong));
    }
    if !slots.has_slots {
        return;
    }
    // SAFETY: the caller's predicate. The slots of an object stay the same for its life.
    unsafe {
        for_each_fixed_slot(address, slots.shape, &mut visit);
        if let Some(tail) = tail_slots(address, slots.shape) {
            (0..tail.length).for_each(|index| visit(tail.start.wrapping_add(index), tail.kind));
        }
    }
}
