//! Weak slots of dead objects become null, while mutators run.
//!
//! Marking has ended, and nothing has moved. Mutators load weak slots through a barrier that gives
//! null for a dead referent. So no dead object comes back while its slots are cleared one by one. A
//! word that a mutator stores meanwhile stays: its referent came from a span, and is live.

use super::objects::{for_each_slot_of, measure};
use super::tables::Tables;
use crate::collector::kernel::ShapeCache;
use crate::object::{SlotKind, reference};
use crate::region::Space;
use std::sync::atomic::{AtomicU64, Ordering};

/// One worker that clears weak slots.
pub(in crate::collector) struct Clearing<'c> {
    space: &'c Space,
    tables: &'c Tables,
    shapes: ShapeCache<'c>,
    /// Slots that became null.
    pub(in crate::collector) cleared: u64,
}

impl<'c> Clearing<'c> {
    pub(in crate::collector) fn new(space: &'c Space, tables: &'c Tables) -> Self {
        Clearing { space, tables, shapes: ShapeCache::new(&space.shapes), cleared: 0 }
    }

    /// Clears a slot whose referent is dead.
    pub(in crate::collector) fn slot(&mut self, slot: &AtomicU64) {
        let bits = slot.load(Ordering::Acquire);
        let dead = |address| !self.tables.is_live(&self.space.free, address);
        if reference(bits).is_some_and(dead)
            && slot.compare_exchange(bits, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            self.cleared += 1;
        }
    }

    /// Clears the weak slots of the live object at `address`; returns its size in bytes.
    ///
    /// # Safety
    /// - An object is at `address`, and nothing has moved.
    pub(in crate::collector) unsafe fn object(&mut self, address: usize) -> usize {
        // SAFETY: the caller's predicate.
        unsafe {
            let (slots, bytes) = measure(&mut self.shapes, address);
            for_each_slot_of(address, slots, |slot, kind| {
                if kind == SlotKind::Weak {
                    self.slot(slot);
                }
            });
            bytes
        }
    }

    /// Clears the weak slots of all marked objects of a region, if the list of these was lost.
    ///
    /// # Safety
    /// - Nothing has moved.
    pub(in crate::collector) unsafe fn region(&mut self, index: usize) {
        let (space, tables) = (self.space, self.tables);
        // SAFETY: the caller's predicate.
        unsafe {
            tables.for_each_marked(&space.free, index, |address| self.object(address));
        }
    }
}
