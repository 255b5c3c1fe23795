//! The roots: references into the heap from outside.
//!
//! | root | made by | found by a collector |
//! |---|---|---|
//! | [`RootWord`], [`RootLink`], [`RootRange`] | a frame of an attached thread | on its thread's list |
//! | [`RootHandle`](super::RootHandle) | an attached thread | in the heap's table, strong or weak |
//! | weak root of a sampled object | the heap | in a table of weak roots |
//! | [`RootProvider`] | a runtime with roots of its own | by asking it |
//! | [`Pin`](super::Pin) | an attached thread | in the heap's table of pins |
//!
//! Any thread may drop a [`RootHandle`](super::RootHandle).
//!
//! **Invariant:** a word in a root has the form of a word in a slot. A collector that moves its
//! referent updates the word. A pin is not updated, because its referent does not move.

mod chunk;
mod frame;
mod links;
mod pins;
mod providers;
mod table;
mod young;

#[cfg(test)]
pub(crate) use chunk::CHUNK;
pub(super) use chunk::RootSlot;
pub use frame::GeneratedFrame;
pub(super) use links::{LinkEntry, OUTSIDE, OUTSIDE_ADDRESS, RANGE, VISITED, below, take_off, visit_links};
pub use links::{RootLink, RootRange, RootWord};
pub use providers::{ProviderId, RootProvider, RootVisitor};
pub(crate) use table::HandleExtent;
pub(super) use table::{Changed, RootTable};

use crate::object::{SlotKind, SlotVisitor, reference};
use crate::platform::abort_because;
use crate::sync::{Mutex, MutexGuard};
use pins::Pins;
use providers::Providers;
use std::sync::atomic::AtomicU64;

/// The kinds of roots, by their keepers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RootKind {
    /// A word in a frame of an attached thread ([`RootWord`], [`RootLink`], [`RootRange`]).
    Frame,
    /// A handle that keeps its object alive.
    Handle,
    /// A handle that lets its object die.
    WeakHandle,
    /// A slot or a pinned word of a [`RootProvider`].
    Provider,
    /// A [`Pin`](super::Pin).
    Pin,
}

impl RootKind {
    /// All kinds, in the order of their declaration.
    pub const ALL: [RootKind; 5] =
        [RootKind::Frame, RootKind::Handle, RootKind::WeakHandle, RootKind::Provider, RootKind::Pin];

    /// The kind's name, in the plural: `frames`, `handles`, `weak handles`, `providers`, `pins`.
    pub const fn name(self) -> &'static str {
        match self {
            RootKind::Frame => "frames",
            RootKind::Handle => "handles",
            RootKind::WeakHandle => "weak handles",
            RootKind::Provider => "providers",
            RootKind::Pin => "pins",
        }
    }
}

/// How many roots there are beside those in frames, which only their own threads can count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RootCounts {
    /// Handles that keep their objects alive ([`RootKind::Handle`]), those that hold no reference
    /// included.
    pub handles: usize,
    /// Handles that let their objects die ([`RootKind::WeakHandle`]), cleared ones included.
    pub weak_handles: usize,
    /// Providers ([`RootProvider`]), whatever number of slots each of them has.
    pub providers: usize,
    /// Pinned objects ([`RootKind::Pin`]). Several pins of one object count as one.
    pub pinned_objects: usize,
}

/// A handle that refers to a young object and that young collections would miss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForgottenHandle {
    /// Address of the slot.
    pub(crate) slot: usize,
    /// The word in it.
    pub(crate) bits: u64,
    /// How it keeps its referent.
    pub(crate) kind: SlotKind,
}

/// Takes the kind of a root, the address that it refers to, and how it keeps its referent.
pub(crate) type RootTargets<'v> = dyn FnMut(RootKind, usize, SlotKind) + 'v;

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
    /// Weak roots of sampled objects: [`sampling`](super::sampling).
    pub(super) sampled: RootTable,
    pub(crate) providers: Providers,
    pub(crate) pins: Pins,
}

impl Roots {
    /// The table of weak or strong handles.
    pub(super) fn handles(&self, weak: bool) -> &RootTable {
        if weak { &self.weak } else { &self.strong }
    }

    /// All tables of handles, and how their slots keep their referents.
    fn tables(&self) -> [(&RootTable, SlotKind); 3] {
        [(&self.strong, SlotKind::Strong), (&self.weak, SlotKind::Weak), (&self.sampled, SlotKind::Weak)]
    }

    /// Whether no thread holds a lock. Asked in a child of `fork()`, where a held lock is never
    /// released.
    pub(super) fn is_at_rest(&self) -> bool {
        self.strong.is_at_rest()
            && self.weak.is_at_rest()
            && self.sampled.is_at_rest()
            && self.providers.is_at_rest()
            && self.pins.is_at_rest()
    }

    /// How many roots there are at about this moment. Takes no lock.
    pub(crate) fn counts(&self) -> RootCounts {
        RootCounts {
            handles: self.strong.in_use(),
            weak_handles: self.weak.in_use(),
            providers: self.providers.count(),
            pinned_objects: self.pins.count(),
        }
    }

    /// Visits the slots of providers and of the handles of this extent.
    ///
    /// # Safety
    /// - As for [`Providers::visit`].
    pub(crate) unsafe fn visit(
        &self,
        extent: HandleExtent,
        slots: &mut SlotVisitor<'_>,
        frames: &[*const GeneratedFrame],
    ) {
        for (table, kind) in self.tables() {
            table.visit(extent, |slot| slots.slot(slot, kind));
        }
        // SAFETY: the caller's predicate.
        unsafe { self.providers.visit(slots, &mut |_| {}, frames) };
    }

    /// Calls `visit` with the referent of every handle, slot of a provider and pin.
    ///
    /// # Safety
    /// - As for [`Providers::visit`], and the slots that providers visit are readable.
    pub(super) unsafe fn visit_targets(&self, visit: &mut RootTargets<'_>, frames: &[*const GeneratedFrame]) {
        let targets = std::cell::RefCell::new(visit);
        let slot = |root, slot: *mut u64, kind| {
            // SAFETY: handles are readable, and the caller says it of the other slots.
            if let Some(address) = reference(unsafe { slot.read() }) {
                (targets.borrow_mut())(root, address, kind);
            }
        };
        self.strong.visit(HandleExtent::All, |word| slot(RootKind::Handle, word, SlotKind::Strong));
        self.weak.visit(HandleExtent::All, |word| slot(RootKind::WeakHandle, word, SlotKind::Weak));
        let pinned = |root| {
            let targets = &targets;
            move |address| (targets.borrow_mut())(root, address, SlotKind::Strong)
        };
        let mut provided = |word: *mut u64, kind| slot(RootKind::Provider, word, kind);
        let slots = &mut SlotVisitor::new(&mut provided);
        // SAFETY: the caller's predicate.
        unsafe { self.providers.visit(slots, &mut pinned(RootKind::Provider), frames) };
        self.pins.visit(&mut pinned(RootKind::Pin));
    }

    /// Puts these barriers in force for handles and pins. In a stop.
    pub(super) fn set_barriers(&self, barriers: u32) {
        self.tables().iter().for_each(|(table, _)| table.set_barriers(barriers));
        self.pins.set_barriers(barriers);
    }

    /// Calls `visit` with the slots of the strong or weak handles of this extent, chunk by chunk,
    /// and with those that were copied meanwhile. Threads may use handles between two chunks.
    pub(crate) fn visit_handles(&self, weak: bool, extent: HandleExtent, mut visit: impl FnMut(&AtomicU64)) {
        let tables = if weak { &[&self.weak, &self.sampled][..] } else { &[&self.strong] };
        for table in tables {
            let mut number = 0;
            while table.visit_chunk(extent, number, &mut visit) {
                number += 1;
            }
        }
    }

    /// Begins a collection that may visit the handles of young objects alone
    /// ([`HandleExtent::Young`]). In a stop.
    pub(crate) fn begin_young_visit(&self) {
        self.tables().iter().for_each(|(table, _)| table.begin_young_visit());
    }

    /// Ends that collection: from now on, a handle whose referent is old is not visited with those
    /// of young objects. The referents are where they stay, and `is_young` says which are young.
    /// Threads may use handles meanwhile.
    pub(crate) fn end_young_visit(&self, is_young: &dyn Fn(usize) -> bool) {
        self.tables().iter().for_each(|(table, _)| table.end_young_visit(is_young));
    }

    /// Notes that old objects have become young. In a stop.
    pub(crate) fn all_may_be_young(&self) {
        self.tables().iter().for_each(|(table, _)| table.all_may_be_young());
    }

    /// The slot of a handle that refers to a young object and that a visit of the handles of young
    /// objects would miss, if there is one. For the verifier.
    pub(crate) fn forgotten(&self, is_young: &dyn Fn(usize) -> bool) -> Option<ForgottenHandle> {
        self.tables().into_iter().find_map(|(table, kind)| {
            let (slot, bits) = table.forgotten(is_young)?;
            Some(ForgottenHandle { slot, bits, kind })
        })
    }

    /// Slots of handles that visits have looked at since the last call.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn take_visited(&self) -> usize {
        self.tables().iter().map(|(table, _)| table.take_visited()).sum()
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
        self.sampled.clear();
        Ok(())
    }

    /// Calls `pinned` with the address of every pinned object, with some more than once.
    ///
    /// # Safety
    /// - As for [`Providers::visit`].
    pub(crate) unsafe fn visit_pinned(
        &self,
        pinned: &mut dyn FnMut(usize),
        frames: &[*const GeneratedFrame],
    ) {
        self.pins.visit(pinned);
        // SAFETY: the caller's predicate.
        unsafe { self.providers.visit(&mut SlotVisitor::new(&mut |_, _| {}), pinned, frames) };
    }
}
