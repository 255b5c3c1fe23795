//! The roots: references into the heap from outside.
//!
//! | root | made by | found by a collector |
//! |---|---|---|
//! | [`RootWord`], [`RootLink`] | a frame of an attached thread | on its thread's list |
//! | [`RootHandle`](super::RootHandle) | an attached thread | in the heap's table, strong or weak |
//! | [`RootProvider`] | a runtime with roots of its own | by asking it |
//! | [`Pin`](super::Pin) | an attached thread | in the heap's table of pins |
//!
//! Any thread may drop a [`RootHandle`](super::RootHandle).
//!
//! **Invariant:** a word in a root has the form of a word in a slot. A collector that moves its
//! referent updates the word. A pin is not updated, because its referent does not move.

mod frame;
mod links;
mod pins;
mod providers;
mod table;

pub use frame::GeneratedFrame;
pub(super) use links::{Entry, OUTSIDE, VISITED, below, take_off, visit_links};
pub use links::{RootLink, RootWord};
pub use providers::{ProviderId, RootProvider, RootVisitor};
pub(super) use table::{Changed, RootTable, Slot};

use crate::object::{SlotKind, SlotVisitor};
use crate::platform::abort_because;
use crate::sync::{Mutex, MutexGuard};
use pins::Pins;
use providers::Providers;
use std::sync::atomic::AtomicU64;

/// Locks data that a thread may have left half changed by a panic. After such a panic the process
/// ends, with a line that says `what` happened.
pub(super) fn lock_roots<'a, T>(mutex: &'a Mutex<T>, what: &str) -> MutexGuard<'a, T> {
    mutex.lock().unwrap_or_else(|_| abort_because(format_args!("{what}")))
}

/// The roots of one heap, except those in the frames of its threads.
#[derive(Default)]
pub(crate) struct Roots {
    pub(super) strong: RootTable,
    pub(super) weak: RootTable,
    providers: Providers,
    pub(super) pins: Pins,
}

impl Roots {
    /// Whether no thread holds a lock. Asked in a child of `fork()`, where a held lock is never
    /// released.
    pub(super) fn is_at_rest(&self) -> bool {
        self.strong.is_at_rest()
            && self.weak.is_at_rest()
            && self.providers.is_at_rest()
            && self.pins.is_at_rest()
    }

    /// Visits the slots of handles and providers. The providers receive the frames from which
    /// generated code called.
    ///
    /// # Safety
    /// - The frames are those of threads that cannot return from their calls meanwhile: they are
    ///   stopped, or kept in a blocking region.
    pub(crate) unsafe fn visit(&self, slots: &mut SlotVisitor<'_>, frames: &[*const GeneratedFrame]) {
        self.strong.visit(|slot| slots.slot(slot, SlotKind::Strong));
        self.weak.visit(|slot| slots.slot(slot, SlotKind::Weak));
        self.providers.visit(&mut RootVisitor::new(slots, &mut |_| {}, frames));
    }

    /// Puts these barriers in force for handles and pins. In a stop.
    pub(super) fn set_barriers(&self, barriers: u32) {
        self.strong.set_barriers(barriers);
        self.weak.set_barriers(barriers);
        self.pins.lock().barriers = barriers;
    }

    /// Calls `visit` with the slots of the strong or weak handles, chunk by chunk, and with those
    /// that were copied meanwhile. Threads may use handles between two chunks.
    pub(crate) fn visit_handles(&self, weak: bool, mut visit: impl FnMut(&AtomicU64)) {
        let table = if weak { &self.weak } else { &self.strong };
        let mut number = 0;
        while table.visit_chunk(number, &mut visit) {
            number += 1;
        }
    }

    /// Calls `pinned` with the address of every object that a [`Pin`](super::Pin) holds. Threads
    /// may pin meanwhile.
    pub(crate) fn visit_pins(&self, pinned: &mut dyn FnMut(usize)) {
        self.pins.visit(pinned);
    }

    /// Visits the slots of providers.
    ///
    /// # Safety
    /// - As for [`visit`](Self::visit).
    pub(crate) unsafe fn visit_providers(
        &self,
        slots: &mut SlotVisitor<'_>,
        pinned: &mut dyn FnMut(usize),
        frames: &[*const GeneratedFrame],
    ) {
        self.providers.visit(&mut RootVisitor::new(slots, pinned, frames));
    }

    /// Whether there are providers.
    pub(crate) fn has_providers(&self) -> bool {
        !self.providers.is_empty()
    }

    /// Clears weak handles before every object dies. If strong handles or pins hold objects, it
    /// clears nothing and returns how many do. For a heap without attached threads. Providers clear
    /// their own weak slots.
    pub(crate) fn let_go(&self) -> Result<(), usize> {
        let held = self.strong.references() + self.pins.count();
        if held > 0 {
            return Err(held);
        }
        self.weak.clear();
        Ok(())
    }

    /// Calls `pinned` with the address of every pinned object, with some more than once.
    ///
    /// # Safety
    /// - As for [`visit`](Self::visit).
    pub(crate) unsafe fn visit_pinned(
        &self,
        pinned: &mut dyn FnMut(usize),
        frames: &[*const GeneratedFrame],
    ) {
        self.pins.visit(pinned);
        self.providers.visit(&mut RootVisitor::new(&mut SlotVisitor::new(&mut |_, _| {}), pinned, frames));
    }
}
