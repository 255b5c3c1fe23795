//! The interface between this layer and a collector.

use super::{BarrierTables, Shared};
use crate::mutator::{GcOverhead, Mutator, World};
use crate::object::SlotVisitor;
use crate::region::Space;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Why a collection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// There was no room for an allocation.
    AllocationFailure,
    /// The embedder asked for it.
    Requested,
    /// There would soon have been no room, and no thread of the heap ran: `CollectWhenIdle`.
    Idle,
    /// There was no collection for `GCInterval`.
    Interval,
    /// The heap is being tested: `ZealInterval`.
    Zeal,
    /// There would soon have been no room: a concurrent cycle begins while threads run.
    Trigger,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Cause::AllocationFailure => "Allocation Failure",
            Cause::Requested => "Requested",
            Cause::Idle => "Idle",
            Cause::Interval => "Interval",
            Cause::Zeal => "Zeal",
            Cause::Trigger => "Trigger",
        })
    }
}

/// The result of a request for a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// There is room without a collection: another thread had made it, or the collector had kept
    /// it back.
    Found,
    /// This thread collected. The collector can do nothing more.
    Collected,
    /// Another thread collected, or stopped the world for another reason, while this thread stood
    /// still.
    Elsewhere,
    /// The system refused memory that a collection needs.
    Refused,
    /// This collector does not collect.
    Never,
    /// This thread collected. Collections take too much time for what they free, so the allocation
    /// must fail.
    OverLimit(GcOverhead),
}

/// The questions of barriers and duties to a collector that works while threads run. A thread asks
/// only while the barrier that its hot part names is in force.
///
/// No function waits, reaches a safepoint, or fails, except [`settle`](Self::settle).
pub(crate) trait Concurrent: Send + Sync {
    /// The tables of [`is_sought`](Self::is_sought) and [`forward`](Self::forward), at addresses
    /// that never change. They answer for a part of the objects:
    ///
    /// - An object at or above the border of its region, or with its mark, is not sought.
    /// - An object of a region whose byte is 0 stays where it is.
    fn barrier_tables(&self, space: &Space) -> BarrierTables;

    /// [`Hot::WEAK`](super::Hot): whether the object at this address is live.
    fn is_live(&self, space: &Space, address: usize) -> bool;

    /// [`Hot::MARKING`](super::Hot): the word that a slot holds, if an overwrite may hide an object
    /// from marking that it has yet to find. `None` for slots of objects that may be new, which are
    /// not read: they need not hold a word yet.
    fn hidden_by_store(&self, space: &Space, slot: &AtomicU64) -> Option<u64>;

    /// [`Hot::MARKING`](super::Hot): calls `found` with each word that
    /// [`hidden_by_store`](Self::hidden_by_store) gives for a slot of this range. The slots lie in
    /// one object.
    fn hidden_by_stores(&self, space: &Space, slots: &[AtomicU64], found: &mut dyn FnMut(u64));

    /// [`Hot::MARKING`](super::Hot): whether marking has yet to find the object at this address, if
    /// that is live. False for objects that are not being marked, whose words may be stale.
    fn is_sought(&self, space: &Space, address: usize) -> bool;

    /// [`Hot::FORWARDING`](super::Hot): the place of the object at this address, which is moved if
    /// it has yet to move.
    fn forward(&self, space: &Space, address: usize) -> usize;

    /// [`Hot::FORWARDING`](super::Hot): gives each of these slots the new place of its referent.
    fn heal(&self, space: &Space, slots: &[AtomicU64]);

    /// Visits the roots of one thread in the way that the current visit of roots needs. `visit`
    /// calls the visitor with these roots.
    fn visit_roots(&self, shared: &Shared, visit: &mut dyn FnMut(&mut SlotVisitor<'_>));

    /// A thread took memory: `bytes` from another region, and before that what
    /// [`taken_bytes`](Mutator::taken_bytes) counts. May call
    /// [`wait_at_safepoint`](Mutator::wait_at_safepoint).
    fn refilled(&self, mutator: &Mutator<'_>, bytes: usize);

    /// A thread that has to wait is at a safepoint. Returns when the thread may go on, after a
    /// bounded time.
    fn settle(&self, mutator: &mut Mutator<'_>);

    /// Every thread has come to a safepoint of a full stop. Returns when no worker touches the
    /// heap; none does so before [`go_on`](Self::go_on).
    fn halt(&self);

    /// The world is stopped, and no thread has a buffer. Ends or gives up what is under way:
    /// afterwards no reference leads to an object that has moved.
    fn world_stopped(&self, world: &mut World<'_>);

    /// The full stop ends.
    fn go_on(&self);
}

/// Collects garbage. One per heap, chosen when the heap is built.
pub(crate) trait Collector: Send + Sync {
    /// The collector's name, as in options and logs.
    fn name(&self) -> &'static str;

    /// Does all it can to find room. This may be a safepoint of the calling thread.
    ///
    /// If this thread collects, `satisfied` runs before other threads run again. Its mutator's
    /// allocations cannot be taken by another thread. While `satisfied` returns false, the
    /// collector goes on trying, as far as it can. `satisfied` may also run while other threads
    /// run, and its success may make a collection unnecessary.
    fn collect(
        &self,
        mutator: &mut Mutator<'_>,
        cause: Cause,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> Outcome;

    /// Waits for memory that a collection beside threads frees, because `satisfied` found no run of
    /// regions for an object that is larger than one. Returns whether `satisfied` has found one: if
    /// not, the thread asks to [`collect`](Self::collect). This may be a safepoint.
    fn await_run(
        &self,
        _mutator: &mut Mutator<'_>,
        _satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> bool {
        false
    }

    /// Collects all garbage, because there was no collection for `GCInterval`. The caller is a
    /// thread of the heap's own, which is not attached. If another thread stops the world first,
    /// there is no collection. A collector with a thread of its own leaves the work to that thread.
    fn collect_after_interval(&self, _shared: &Arc<Shared>) {}

    /// Bytes of the heap that the program will want within a second, as far as the collector knows.
    /// The timer leaves them committed.
    fn bytes_wanted_soon(&self, _shared: &Shared) -> usize {
        0
    }

    /// The heap of this collector is ready. The collector may have threads that look at the heap,
    /// but must not keep the heap alive.
    fn heap_is_ready(&self, _shared: &Arc<Shared>) {}

    /// How often the collector has answered [`Outcome::OverLimit`], and the numbers of the last
    /// answer.
    fn over_limit(&self) -> Option<(u64, GcOverhead)> {
        None
    }

    /// The answers to barriers, if this collector works while threads run. `None`: it needs no
    /// barrier but the cards.
    fn concurrent(&self) -> Option<&dyn Concurrent> {
        None
    }

    /// The embedder released something after an allocation had failed. The results of earlier
    /// collections no longer show how much a collection can free.
    fn embedder_let_go(&self) {}

    /// The heap was emptied while no thread was attached. The collector's records of its regions
    /// are invalid now. Returns how many regions may be in use from now on; `None`: as many as
    /// before.
    fn emptied(&self, _world: &World<'_>) -> Option<usize> {
        None
    }

    /// Whether references of dead objects still lead to objects. The verifier asks, before and
    /// after a collection and while no thread is attached. Dead are the objects that no root or pin
    /// reaches over strong slots.
    ///
    /// True: each reference of a dead object leads to the first byte of an object. If the dead
    /// object is old and the other one young, the slot lies in a dirty card. False: the slots of a
    /// dead object may lead anywhere, and its cards mean nothing. Only its header and length are
    /// valid, so that a walk knows its size. References of live objects lead to objects in both
    /// cases.
    fn keeps_dead_references(&self) -> bool {
        true
    }

    /// In a child of `fork()`: whether none of the collector's locks is held there. A thread that
    /// held one does not exist in the child, so the lock would never be released.
    fn is_at_rest(&self) -> bool {
        true
    }

    /// In a child of `fork()`: the collector's threads do not exist there. The collector neither
    /// waits for them nor wakes them again, but starts others. Takes no lock.
    fn forget_threads(&self) {}

    /// In a child of `fork()`: the heap works there. Threads that look at the heap may start again.
    fn heap_is_taken_over(&self) {}
}
