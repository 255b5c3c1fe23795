//! The marking of old objects as it goes on across young cycles: when barriers serve it, and the
//! work between cycles. [`plan`](super::plan) says which cycle begins and which one ends it.
//!
//! While old objects are marked, threads record what they overwrite: between cycles, and while a
//! cycle moves objects. There they record words of old objects alone. Words of young objects would
//! be stale once these have moved.
//!
//! Old objects that were promoted since the snapshot count as live, as those above borders do. What
//! they refer to was reachable at the snapshot, or is newer.
//!
//! Marks of old objects stay until the next marking begins. So in a mixed cycle each old object
//! that had a mark is copied or updated, even if it has died since.

use super::account::Account;
use super::engine::Engine;
use super::old::Old;
use super::plan::Plan;
use super::scope::Scope;
use crate::collector::concurrent::{MarkShared, Sought};
use crate::collector::kernel::Phase;
use crate::collector::work::Workers;
use crate::mutator::{Hot, Shared};
use crate::object::{MAX_AGE, reference};
use crate::region::State;
use crate::sync::POISONED;

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
    fn forget_old_marking(&self, shared: &Shared, also: impl FnOnce(&mut Plan)) {
        self.tables.set_sought(Sought::Ended);
        shared.threads.satb.forget();
        if let Some(old) = &self.old {
            old.left.forget();
            let mut plan = old.plan.lock().expect(POISONED);
            plan.forget_marking();
            also(&mut plan);
        }
    }

    /// Ends the marking of old objects without a result, and forgets which old regions are worth a
    /// move: their marks are gone. In a stop, or before a cycle that begins the marking anew.
    pub(super) fn forget_old(&self, shared: &Shared) {
        self.forget_old_marking(shared, |plan| plan.candidates.clear());
    }

    /// The heap is empty, or all its objects are young again. In a stop.
    pub(super) fn no_object_is_old(&self, shared: &Shared) {
        self.copies.forget_rests(|_| true);
        self.forget_old_marking(shared, |plan| {
            plan.candidates.clear();
            plan.forget_gains();
        });
    }

    /// After a full collection no object is old: it has moved objects without regard to
    /// generations. The next cycle makes regions old as they are, if hardly anything has died in
    /// them by then.
    pub(super) fn make_all_young(&self, shared: &Shared) {
        if self.old.is_none() {
            return;
        }
        self.no_object_is_old(shared);
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

    /// At the first stop of a cycle: what it takes over from the marking of old objects.
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
            self.leftover.take_over(&old.left.found);
            self.weak_objects.take_over(&old.left.weak_objects);
        }
    }

    /// A stop gives a cycle up in which young objects were being marked, or had been. The marking
    /// of old objects goes on if the cycle is not the one that begins or ends it.
    pub(super) fn give_up_young(&self, scope: Scope, shared: &Shared) {
        let goes_on = scope == Scope::Young && self.marks_old();
        let Some(old) = self.old.as_ref().filter(|_| goes_on) else {
            return self.forget_old_marking(shared, |_| ());
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
        let plan = self.old.as_ref()?.plan.lock().expect(POISONED);
        plan.hurry(self.marks_old(), self.choice.expedite_mixed)
    }

    /// Whether there are old objects to mark, for a thread that has nothing else to do.
    pub(super) fn has_old_to_mark(&self) -> bool {
        let is_wanted = |old: &Old| !old.plan.lock().expect(POISONED).ends && !old.left.has_lost();
        self.marks_old() && self.old.as_ref().is_some_and(is_wanted)
    }

    /// Marks old objects until none is left or workers are interrupted. Between cycles. Returns how
    /// long it took.
    pub(super) fn mark_old(&self, shared: &Shared, workers: Workers<'_>) -> Option<Phase> {
        let old = self.old.as_ref()?;
        let phase = Phase::begin("Concurrent old marking");
        let marking = MarkShared {
            leftover: &old.left.found,
            weak: &old.left.weak_objects,
            ..self.marking(shared, &self.interrupt, Sought::Old)
        };
        let found = self.run_markers(shared, workers, marking, |_| ());
        let phase = phase.end();
        let all = !self.interrupt.is_set() && old.left.found.is_empty() && !old.left.has_lost();
        old.plan.lock().expect(POISONED).marked_between(found, phase.time, all);
        Some(phase)
    }
}
