//! The marking of old objects, which goes on across young cycles, and the cycles that move them.
//!
//! ```text
//! a young cycle   begins it: its first stop is the snapshot of old objects, too. Its markers hand
//!                 over the old objects that roots and young objects refer to.
//! between cycles  workers mark old objects, until a cycle is wanted
//! young cycles    hand over the old words that threads overwrite, and look at no old object
//! a young cycle   ends it: marks what is left, clears weak slots of both generations, frees and
//!                 covers dead old objects, and moves the best of the old regions
//! young cycles    move the others, with the young objects: *mixed* cycles
//! ```
//!
//! While old objects are marked, threads record what they overwrite: between cycles, and while a
//! cycle moves objects. There they record words of old objects alone. Words of young objects would
//! be stale once these have moved.
//!
//! Old objects that were promoted since the snapshot count as live, as those above borders do. What
//! they refer to was reachable at the snapshot, or is newer.
//!
//! Marks of old objects stay until the next marking begins. So in a mixed cycle each old object
//! that had a mark is copied or updated, also if it has died since.
//!
//! The cycle that ends the marking begins as soon as nothing is left to mark, and mixed cycles
//! follow each other while many regions wait (`ShenandoahExpediteMixedThreshold`). If they came
//! when memory is short, there would be little for their copies.
//!
//! A global cycle begins and ends the marking itself. It is due when young cycles gain too little
//! ([`survival`](super::survival)) or leave too little free, or where all garbage is wanted.
//!
//! The marking begins when a quarter of what was not old behind the last has become old. Refused:
//! HotSpot's growth by an eighth of the live old bytes. With few old objects that is a marking for
//! every few regions. Refused: a stop of its own at the end. The first stops of the next cycle do
//! the same, and young objects need them anyway.

use super::POISONED;
use super::choose::Candidate;
use super::cycle::Cycle;
use super::engine::Engine;
use super::old::Old;
use super::survival::Survival;
use crate::collector::concurrent::{Found, Leftover, MarkShared, Scope};
use crate::collector::kernel::Phase;
use crate::collector::record::OldMarking;
use crate::collector::work::Team;
use crate::mutator::{Hot, Shared};
use crate::object::reference;
use crate::region::FreeSet;
use std::time::Duration;

/// Old objects are marked when one part in this many of the other memory has become old.
const MUCH: usize = 4;

/// Cycles after which the next one ends the marking, whatever is left to do. Cycles that follow
/// each other without a break leave no time between them.
const MOST_CYCLES: usize = if cfg!(test) { 3 } else { 16 };

/// Mixed cycles follow each other if each moves at least one part in this many of what waits.
const LEAST_PART: usize = 16;

/// What markers of old objects have found and not looked at.
#[derive(Default)]
pub(super) struct OldWork {
    /// Old objects.
    pub(super) found: Leftover,
    /// Marked old objects with weak slots.
    pub(super) weak_objects: Leftover,
}

impl OldWork {
    fn forget(&self) {
        self.found.forget();
        self.weak_objects.forget();
    }

    fn has_lost(&self) -> bool {
        self.found.has_lost() || self.weak_objects.has_lost()
    }
}

/// When old objects are marked, and which of them move then. Read and written by the thread that
/// drives cycles, and in stops.
#[derive(Debug)]
pub(super) struct Plan {
    /// Bytes of old regions above which marking begins.
    most_bytes: usize,
    /// Whether young cycles are worth their while.
    survival: Survival,
    /// The next cycle is a global one.
    global: bool,
    /// Marking begins with the next cycle.
    begins: bool,
    /// Marking ends with the next cycle: between cycles nothing was left, or young cycles alone
    /// gain too little.
    ends: bool,
    /// Cycles since marking began.
    cycles: usize,
    /// The objects that were marked between cycles, and the time that took.
    marked: (Found, Duration),
    /// The last cycle has shown that the next one can move a good part of the candidates.
    moves: bool,
    /// Old regions that are worth a move, most garbage first. Not while old objects are marked.
    pub(super) candidates: Vec<Candidate>,
}

impl Plan {
    /// For a heap of so many bytes, without old objects.
    pub(super) fn new(heap_bytes: usize) -> Plan {
        Plan {
            most_bytes: heap_bytes / MUCH,
            survival: Survival::new(),
            global: false,
            begins: false,
            ends: false,
            cycles: 0,
            marked: (Found::default(), Duration::ZERO),
            moves: false,
            candidates: Vec::new(),
        }
    }

    /// Whether the next cycle begins the marking of old objects, and whether it ends it. It is
    /// `for_all` garbage, or not.
    pub(super) fn next(&self, for_all: bool, is_marking: bool) -> (bool, bool) {
        if for_all || self.global {
            return (true, true);
        }
        if is_marking { (false, self.ends || self.cycles >= MOST_CYCLES) } else { (self.begins, false) }
    }

    /// What a cycle that ends did.
    pub(super) fn marking_of(&self, cycle: &Cycle, is_marking: bool) -> OldMarking {
        match (cycle.ends_old, is_marking) {
            (true, _) => OldMarking::Ended,
            (_, false) => OldMarking::None,
            _ if cycle.begins_old => OldMarking::Began,
            _ => OldMarking::UnderWay,
        }
    }

    /// The time and the bytes of marking between cycles, if that ended with `cycle`.
    pub(super) fn take_marked(&mut self, cycle: &Cycle) -> (Duration, u64) {
        if !cycle.ends_old {
            return (Duration::ZERO, 0);
        }
        let (found, time) = std::mem::take(&mut self.marked);
        (time, found.bytes)
    }

    /// Takes over which old regions are worth a move, or takes away those that `move` now. `stayed`
    /// had to stay: their turn comes later.
    pub(super) fn set_is_final(
        &mut self,
        cycle: &mut Cycle,
        stayed: &[usize],
        moves: impl Fn(usize) -> bool,
    ) {
        if cycle.ends_old {
            self.candidates = std::mem::take(&mut cycle.old_candidates);
        }
        self.candidates.retain(|candidate| !moves(candidate.region));
        // Stable: the others keep their order.
        self.candidates.sort_by_key(|candidate| stayed.contains(&candidate.region));
    }

    /// The old regions that are worth a move.
    pub(super) fn regions(&self) -> Vec<usize> {
        self.candidates.iter().map(|candidate| candidate.region).collect()
    }

    /// Decides about the next cycle. Free memory should be `min_free_percent` of the heap.
    pub(super) fn cycle_ended(
        &mut self,
        cycle: &Cycle,
        free: &FreeSet,
        min_free_percent: usize,
        is_marking: bool,
    ) {
        let geometry = free.table().geometry();
        let old_bytes = free.old_regions() << geometry.region_shift;
        if cycle.ends_old && !cycle.lost || cycle.old_set_regions > 0 {
            let other_bytes = geometry.heap_bytes().saturating_sub(old_bytes);
            self.most_bytes = old_bytes + other_bytes / MUCH;
        }
        let least = free.capacity() * min_free_percent / 100;
        let gained_little = if cycle.ends_old {
            let live_is_much = cycle.found.bytes as usize > cycle.used_before / 4 * 3;
            let gained_much = if cycle.is_global() { !live_is_much } else { !self.candidates.is_empty() };
            self.survival.old_ended(gained_much, old_bytes);
            false
        } else {
            let live = cycle.found.bytes as usize;
            self.survival.young_ended(cycle.used_before, live, old_bytes) || free.regions_left() < least
        };
        let moves_none = self.candidates.is_empty() || cycle.old_set_regions == 0;
        // A mixed cycle updates all slots of the heap, be the set ever so small.
        let enough = cycle.old_set_regions * LEAST_PART >= self.candidates.len();
        self.moves = cycle.ends_old || enough;
        self.global = gained_little && !is_marking && moves_none;
        let often = cfg!(test) && old_bytes > 0 && self.candidates.is_empty();
        self.begins = old_bytes > self.most_bytes || often;
        self.ends = is_marking && (self.ends || gained_little);
        self.cycles = if is_marking { self.cycles + 1 } else { 0 };
    }

    /// Why the next cycle should begin at once, if more than `most` regions should not wait.
    fn hurry(&self, is_marking: bool, most: usize) -> Option<String> {
        if is_marking {
            return self.ends.then(|| "Old objects are marked".to_string());
        }
        let waiting = self.candidates.len();
        (self.moves && waiting > most).then(|| format!("{waiting} old regions are worth a move"))
    }

    /// Old objects are not being marked.
    fn forget_marking(&mut self) {
        self.marked = (Found::default(), Duration::ZERO);
        (self.ends, self.cycles) = (false, 0);
    }
}

impl Engine {
    /// Whether old objects are being marked.
    pub(super) fn marks_old(&self) -> bool {
        self.tables.scope().old
    }

    /// What the markers of a cycle look for.
    pub(super) fn scope_of(&self, cycle: &Cycle) -> Scope {
        let old = cycle.begins_old || cycle.ends_old || self.marks_old();
        Scope { young: true, old, old_live: !cycle.ends_old }
    }

    /// From here on threads record no young object. In a stop, before barriers change.
    pub(super) fn close_marking(&self, cycle: &Cycle) {
        let Scope { old, old_live, .. } = self.scope_of(cycle);
        self.tables.set_scope(Scope { young: false, old: old && old_live, old_live });
    }

    /// The barriers that the marking of old objects needs while no young one is marked.
    pub(super) fn resting_barriers(&self) -> u32 {
        if self.marks_old() { Hot::MARKING } else { 0 }
    }

    /// Ends the marking of old objects without a result. In a stop, or before a cycle that begins
    /// it anew.
    pub(super) fn forget_old_marks(&self, shared: &Shared) {
        self.tables.set_scope(Scope::default());
        shared.threads.satb.forget();
        if let Some(old) = &self.old {
            old.left.forget();
            old.plan.lock().expect(POISONED).forget_marking();
        }
    }

    /// The same, and forgets which old regions are worth a move: their marks are no more.
    pub(super) fn forget_old(&self, shared: &Shared) {
        self.forget_old_marks(shared);
        if let Some(old) = &self.old {
            old.plan.lock().expect(POISONED).candidates.clear();
        }
    }

    /// The heap is empty, or all its objects are young again. In a stop.
    pub(super) fn no_object_is_old(&self, shared: &Shared) {
        self.forget_old(shared);
        self.copies.forget_rests(|_| true);
        if let Some(old) = &self.old {
            let mut plan = old.plan.lock().expect(POISONED);
            // The gains of earlier cycles say nothing about the next.
            (plan.survival, plan.global) = (Survival::new(), false);
        }
    }

    /// At the first stop of a cycle: what it takes over from the marking of old objects.
    pub(super) fn take_over_old(&self, cycle: &mut Cycle, shared: &Shared) {
        let Some(old) = &self.old else { return shared.threads.satb.forget() };
        if cycle.begins_old {
            self.forget_old(shared);
        } else if self.marks_old() && (old.left.has_lost() || shared.threads.satb.has_lost()) {
            self.forget_old(shared);
            cycle.ends_old = false;
        } else if !self.marks_old() {
            shared.threads.satb.forget();
            cycle.ends_old = false;
        } else if cycle.ends_old {
            self.leftover.take_over(&old.left.found);
            self.weak_objects.take_over(&old.left.weak_objects);
        }
    }

    /// A stop gives a cycle up in which young objects were being marked, or had been. The marking
    /// of old objects goes on if the cycle is not the one that begins or ends it.
    pub(super) fn give_up_young(&self, cycle: &Cycle, shared: &Shared) {
        let old = self.old.as_ref().filter(|_| !cycle.begins_old && !cycle.ends_old && self.marks_old());
        let Some(old) = old else { return self.forget_old_marks(shared) };
        let is_old = |address: &usize| {
            let table = shared.space.free.table();
            table.get(table.index_of(*address)).is_tenured()
        };
        while let Some(words) = shared.threads.satb.take_surely() {
            old.left.found.leave(words.into_iter().filter_map(reference).filter(is_old).collect());
        }
        self.tables.set_scope(Scope { young: false, old: true, old_live: true });
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
    pub(super) fn mark_old(&self, shared: &Shared, team: Team<'_>) -> Option<Phase> {
        let old = self.old.as_ref()?;
        let phase = Phase::begin("Concurrent old marking");
        let marking = MarkShared {
            leftover: &old.left.found,
            weak: &old.left.weak_objects,
            ..self.marking(shared, Scope { young: false, old: true, old_live: true })
        };
        let found = self.run_markers(shared, team, marking, |_| ());
        let phase = phase.end();
        let mut plan = old.plan.lock().expect(POISONED);
        plan.marked.0.add(found);
        plan.marked.1 += phase.time;
        plan.ends |= !self.interrupt.is_set() && old.left.found.is_empty() && !old.left.has_lost();
        Some(phase)
    }
}
