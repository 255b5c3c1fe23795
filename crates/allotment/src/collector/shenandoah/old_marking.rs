//! The marking of old objects, which goes on across young cycles: its barriers, and the work
//! between cycles. [`plan`](super::plan) says which cycle begins the marking and which one ends it.
//!
//! While old objects are marked, threads record the words that they overwrite: between cycles, and
//! while a cycle moves objects. Then they record words of old objects alone. Words of young objects
//! would be stale after these have moved.
//!
//! Objects that became old since the snapshot count as live, as those above borders do. Their
//! referents were reachable at the snapshot, or are newer.
//!
//! Marks of old objects stay until the next marking begins. So in a mixed cycle each old object
//! that had a mark is copied or updated, even if it has died since.

use super::account::Account;
use super::engine::Engine;
use super::old::Old;
use super::scope::Scope;
use crate::collector::concurrent::{MarkShared, Sought};
use crate::collector::kernel::Phase;
use crate::collector::work::Workers;
use crate::mutator::{Hot, Shared};
use crate::object::{MAX_AGE, reference};
use crate::region::State;

impl Engine {
    /// Whether old objects are being marked.
    pub(super) fn marks_old(&self) -> bool {
        self.tables.marks_old()
    }

    /// The barriers that the marking of old objects needs while no young one is marked.
    pub(super) fn resting_barriers(&self) -> u32 {
        if self.marks_old() { Hot::MARKING } else { 0 }
    }

    /// Ends the marking of old objects without a result. In a stop, or before a cycle that begins
    /// it anew.
    fn forget_old_marking(&self, shared: &Shared) {
        self.tables.set_sought(Sought::Ended);
        shared.threads.satb.forget();
        if let Some(old) = &self.old {
            old.left.forget();
            old.plan().forget_marking();
        }
    }

    /// Ends the marking of old objects without a result, and forgets which old regions are worth a
    /// move: their marks are gone. In a stop, or before a cycle that begins the marking anew.
    pub(super) fn forget_old(&self, shared: &Shared) {
        self.forget_old_marking(shared);
        if let Some(old) = &self.old {
            old.plan().candidates.clear();
        }
    }

    /// Notes that the heap is empty, or that all its objects are young again. In a stop.
    pub(super) fn no_object_is_old(&self, shared: &Shared) {
        self.copies.forget_rests(|_| true);
        self.forget_old(shared);
        if let Some(old) = &self.old {
            old.plan().forget_gains();
        }
    }

    /// Makes all objects young, because a full collection has moved objects without regard to
    /// generations. The next cycle makes regions old as they are if hardly any object in them has
    /// died by then.
    pub(super) fn make_all_young(&self, shared: &Shared) {
        if self.old.is_none() {
            return;
        }
        self.no_object_is_old(shared);
        shared.threads.roots.all_may_be_young();
        let (free, table) = (&shared.space.free, shared.space.free.table());
        for index in free.in_use() {
            let region = table.get(index);
            if region.state() == State::Old {
                free.offer_region(index, region.top());
            }
            region.set_tenured(false);
            region.set_age(MAX_AGE);
        }
    }

    /// Lets a cycle take over the marking of old objects, at its first stop.
    pub(super) fn take_over_old(&self, account: &mut Account, shared: &Shared) {
        let Some(old) = &self.old else { return shared.threads.satb.forget() };
        if account.scope.begins_old() {
            self.forget_old(shared);
        } else if self.marks_old() && (old.left.has_lost() || shared.threads.satb.has_lost()) {
            self.forget_old(shared);
            account.scope = Scope::Young;
        } else if !self.marks_old() {
            shared.threads.satb.forget();
            account.scope = Scope::Young;
        } else if account.scope == Scope::YoungEndsOld {
            self.left.take_over(&old.left);
        }
    }

    /// Gives up the marking of young objects, in a stop. The marking of old objects goes on if the
    /// cycle neither begins nor ends it.
    pub(super) fn give_up_young(&self, scope: Scope, shared: &Shared) {
        let goes_on = scope == Scope::Young && self.marks_old();
        let Some(old) = self.old.as_ref().filter(|_| goes_on) else {
            return self.forget_old_marking(shared);
        };
        let is_old = |address: &usize| {
            let table = shared.space.free.table();
            table.get(table.index_of(*address)).is_tenured()
        };
        while let Some(words) = shared.threads.satb.take_surely() {
            old.left.found.leave(words.into_iter().filter_map(reference).filter(is_old).collect());
        }
        self.tables.set_sought(Sought::Old);
    }

    /// Why a cycle should begin at once for old objects.
    pub(super) fn hurry_for_old(&self) -> Option<String> {
        self.old.as_ref()?.plan().hurry(self.marks_old(), self.choice.expedite_mixed)
    }

    /// Whether there are old objects to mark between cycles.
    pub(super) fn has_old_to_mark(&self) -> bool {
        let is_wanted = |old: &Old| !old.plan().ends && !old.left.has_lost();
        self.marks_old() && self.old.as_ref().is_some_and(is_wanted)
    }

    /// Marks old objects, between cycles, until none is left or workers are interrupted. Returns
    /// the time that this took.
    pub(super) fn mark_old(&self, shared: &Shared, workers: Workers<'_>) -> Option<Phase> {
        let old = self.old.as_ref()?;
        let phase = Phase::begin("Concurrent old marking");
        let marking = MarkShared { left: &old.left, ..self.marking(shared, &self.interrupt, Sought::Old) };
        let found = self.run_markers(shared, workers, marking, |_| ());
        let phase = phase.end();
        let all = !self.interrupt.is_set() && old.left.found.is_empty() && !old.left.has_lost();
        old.plan().marked_between(found.bytes, phase.time, all);
        Some(phase)
    }
}
