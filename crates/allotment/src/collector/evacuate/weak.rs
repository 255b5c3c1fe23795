//! Weak slots, once every reachable object was reached.

use super::{Evacuation, OLD};
use crate::collector::kernel::{KEPT, Roots};
use crate::object::{Header, Kind, SlotKind, SlotVisitor, reference, with_reference};

/// Updates the weak slots whose referent was reached and clears the others, root slots included.
/// Returns the number of cleared slots.
///
/// # Safety
/// - `slots` are those that workers noted; no further object will be reached.
pub(super) unsafe fn clear_dead(heap: &Evacuation<'_>, slots: &[Vec<usize>], roots: &mut Roots<'_>) -> u64 {
    let mut cleared = 0;
    for entry in slots.iter().flatten() {
        // SAFETY: the caller's predicate.
        cleared += unsafe { update(heap, (entry & !OLD) as *mut u64, entry & OLD != 0) };
    }
    (roots.slots)(&mut SlotVisitor::new(&mut |slot, kind| {
        if kind == SlotKind::Weak {
            // SAFETY: a root slot.
            cleared += unsafe { update(heap, slot, false) };
        }
    }));
    cleared
}

/// Updates or clears one slot; 1 if it was cleared.
///
/// # Safety
/// - As for [`clear_dead`]; the slot may be read and written.
unsafe fn update(heap: &Evacuation<'_>, slot: *mut u64, old: bool) -> u64 {
    // SAFETY: the caller's predicate.
    let bits = unsafe { slot.read() };
    let Some(address) = reference(bits).filter(|&address| heap.set.role_at(address).is_in_set()) else {
        return 0;
    };
    // SAFETY: the slot refers to an object, or to the remains of an object that moved.
    let header = Header::from_bits(unsafe { (address as *const u64).read() });
    let updated = match header.kind() {
        Kind::Forwarded(to) => {
            heap.remember(slot, old, to);
            with_reference(bits, to)
        }
        _ if header.mark() == KEPT => bits,
        _ => 0,
    };
    // SAFETY: as above.
    unsafe { slot.write(updated) };
    u64::from(updated == 0)
}
