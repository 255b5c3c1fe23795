//! Update: every slot gets the new address of what it refers to; a weak one whose referent died, null.
//!
//! The list of weak slots that others keep while they mark is not needed, for all slots are visited here
//! anyway; a list can fail to grow.

use super::forward::Forwarding;
use super::live_map::LiveMap;
use super::live_objects::for_each_live;
use super::plan::Plan;
use super::{Statistics, Subject};
use crate::object::{SlotKind, SlotVisitor, for_each_slot, reference, with_reference};
use crate::region::Backing;

/// Updates roots and all slots of live objects, which lie where they did.
///
/// # Safety
/// - Everything live is marked, and has a new address.
/// - Slots hold references to objects of this heap or none.
pub(super) unsafe fn update<B: Backing>(
    subject: Subject<'_, B>,
    map: &LiveMap,
    plan: &Plan,
    forwarding: Forwarding<'_>,
    roots: &mut dyn FnMut(&mut SlotVisitor<'_>),
    statistics: &mut Statistics,
) {
    let mut cleared = 0;
    roots(&mut SlotVisitor::new(&mut |slot, kind| {
        // SAFETY: a root slot, as the caller says.
        unsafe { update_slot(forwarding, slot, kind, &mut cleared) }
    }));
    for index in 0..plan.regions.len() {
        // SAFETY: nothing has moved, and what is marked is objects, whose slots are as the caller says.
        unsafe {
            for_each_live(subject, map, index, 0, |address, shape, _| {
                for_each_slot(address, shape, |slot, kind| {
                    update_slot(forwarding, slot, kind, &mut cleared);
                });
            });
        }
    }
    statistics.weak_cleared = cleared;
}

/// # Safety
/// - The slot may be read and written, and holds a reference to an object of this heap or none.
#[inline(always)]
unsafe fn update_slot(forwarding: Forwarding<'_>, slot: *mut u64, kind: SlotKind, cleared: &mut u64) {
    // SAFETY: the caller's predicate.
    let bits = unsafe { slot.read() };
    let Some(address) = reference(bits) else { return };
    let updated = if kind == SlotKind::Weak && !forwarding.map().is_live(address) {
        *cleared += 1;
        0
    } else {
        with_reference(bits, forwarding.of(address))
    };
    // A look first: a page that nothing moved on stays clean.
    if updated != bits {
        // SAFETY: the caller's predicate.
        unsafe { slot.write(updated) };
    }
}
