//! When old objects are marked, and which of them move: numbers and lists of regions.
//!
//! ```text
//! a young cycle   begins the marking: its first stop is the snapshot of old objects, too. Its
//!                 markers hand over the old objects that roots and young objects refer to.
//! between cycles  workers mark old objects, until a cycle is wanted             (old_marking.rs)
//! young cycles    hand over the old words that threads overwrite, and look at no old object
//! a young cycle   ends the marking: marks the rest, clears weak slots of both generations, frees
//!                 and covers dead old objects, and moves the best of the old regions
//! young cycles    move the others, with the young objects: *mixed* cycles
//! ```
//!
//! The cycle that ends the marking begins as soon as nothing is left to mark, and mixed cycles
//! follow each other while many regions wait (`ShenandoahExpediteMixedThreshold`). If they began
//! when memory is short, there would be little for their copies.
//!
//! A global cycle begins and ends the marking itself. It is due when young cycles gain too little
//! ([`survival`](super::survival)) or leave too little free, or when a thread wants all garbage
//! found.
//!
//! The marking begins when a quarter of the memory that was not old after the last marking has
//! become old. Refused: HotSpot's growth by an eighth of the live old bytes. With few old objects
//! that is a marking for every few regions. Refused: an own stop at the end of the marking. Young
//! objects need the first stops of the next cycle anyway, and these suffice.

use super::account::Account;
use super::choose::Candidate;
use super::scope::{Garbage, Scope};
use super::survival::Survival;
use crate::collector::record::OldMarking;
use crate::region::FreeSet;
use std::time::Duration;

/// Old objects are marked when one part in this many of the other memory has become old.
const MUCH: usize = 4;

/// Cycles after which the next one ends the marking, whatever is left to do. Cycles that follow
/// each other without a break leave no time between them.
const MOST_CYCLES: usize = if cfg!(test) { 3 } else { 16 };

/// Mixed cycles follow each other if each moves at least one part in this many of what waits.
const LEAST_PART: usize = 16;

/// When old objects are marked, and which of them move then. Read and written by the thread that
/// drives cycles, and in stops.
#[derive(Debug)]
pub(super) struct Plan {
    /// Bytes of old regions above which marking begins.
    most_bytes: usize,
    /// Whether young cycles pay.
    survival: Survival,
    /// The next cycle's part in the marking, if old objects are not being marked then.
    next: Next,
    /// The next cycle ends the marking: between cycles nothing was left, or young cycles alone gain
    /// too little. Only while old objects are being marked.
    pub(super) ends: bool,
    /// Cycles since marking began.
    cycles: usize,
    /// Bytes of the objects that were marked between cycles.
    marked_bytes: u64,
    /// The time of this marking.
    marked_time: Duration,
    /// The last cycle has shown that the next one can move a good part of the candidates.
    moves: bool,
    /// Old regions that are worth a move, most garbage first. Not while old objects are marked, and
    /// not after their marks were cleared.
    pub(super) candidates: Vec<Candidate>,
    /// `ZealCycles`: marking begins as soon as any object is old and none waits to be moved.
    eager: bool,
}

/// The next cycle's part in the marking of old objects, while these are not being marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Nothing,
    /// The cycle begins the marking.
    Begins,
    /// The cycle marks all old objects itself.
    Global,
}

impl Plan {
    /// The plan of a heap of this size, without old objects. `eager`: old objects are marked
    /// whenever there are any.
    pub(super) fn new(heap_bytes: usize, eager: bool) -> Plan {
        Plan {
            most_bytes: heap_bytes / MUCH,
            survival: Survival::new(),
            next: Next::Nothing,
            ends: false,
            cycles: 0,
            marked_bytes: 0,
            marked_time: Duration::ZERO,
            moves: false,
            candidates: Vec::new(),
            eager,
        }
    }

    /// The scope of the next cycle, for a request for `garbage`.
    pub(super) fn next(&self, garbage: Garbage, is_marking: bool) -> Scope {
        match (garbage, self.next) {
            (Garbage::All, _) | (_, Next::Global) => Scope::Global,
            _ if is_marking && (self.ends || self.cycles >= MOST_CYCLES) => Scope::YoungEndsOld,
            (_, Next::Begins) if !is_marking => Scope::YoungBeginsOld,
            _ => Scope::Young,
        }
    }

    /// The state of the marking of old objects at the end of a cycle.
    pub(super) fn marking_of(&self, scope: Scope, is_marking: bool) -> OldMarking {
        match scope {
            Scope::YoungEndsOld | Scope::Global => OldMarking::Ended,
            _ if !is_marking => OldMarking::None,
            Scope::YoungBeginsOld => OldMarking::Began,
            Scope::Young => OldMarking::UnderWay,
        }
    }

    /// Notes that old objects of these bytes were marked between two cycles. `all`: nothing is left
    /// to mark.
    pub(super) fn marked_between(&mut self, bytes: u64, time: Duration, all: bool) {
        self.marked_bytes += bytes;
        self.marked_time += time;
        self.ends |= all;
    }

    /// The time and the bytes of marking between cycles, if a cycle of this scope ended the
    /// marking.
    pub(super) fn take_marked(&mut self, scope: Scope) -> (Duration, u64) {
        if !scope.ends_old() {
            return (Duration::ZERO, 0);
        }
        (std::mem::take(&mut self.marked_time), std::mem::take(&mut self.marked_bytes))
    }

    /// Removes the candidates that move now. Those that had to stay, `stayed`, become the last.
    pub(super) fn set_is_final(&mut self, stayed: &[usize], moves: impl Fn(usize) -> bool) {
        self.candidates.retain(|candidate| !moves(candidate.region));
        // Stable: the others keep their order.
        self.candidates.sort_by_key(|candidate| stayed.contains(&candidate.region));
    }

    /// Decides about the next cycle. Free memory should be `min_free_percent` of the heap.
    pub(super) fn cycle_ended(
        &mut self,
        account: &Account,
        free: &FreeSet,
        min_free_percent: usize,
        is_marking: bool,
    ) {
        let geometry = free.table().geometry();
        let old_bytes = free.old_regions() << geometry.region_shift;
        let (scope, moved, live) = (account.scope, account.old.set_regions, account.found.bytes as usize);
        if scope.ends_old() && !account.lost || moved > 0 {
            let other_bytes = geometry.heap_bytes().saturating_sub(old_bytes);
            self.most_bytes = old_bytes + other_bytes / MUCH;
        }
        let least = free.capacity() * min_free_percent / 100;
        let gained_little = if scope.ends_old() {
            let live_is_much = live > account.used_before / 4 * 3;
            let gained_much =
                if scope == Scope::Global { !live_is_much } else { !self.candidates.is_empty() };
            self.survival.old_ended(gained_much, old_bytes);
            false
        } else {
            self.survival.young_ended(account.used_before, live, old_bytes) || free.regions_left() < least
        };
        let moves_none = self.candidates.is_empty() || moved == 0;
        // A mixed cycle updates all slots of the heap, even if the set is very small.
        self.moves = scope.ends_old() || moved * LEAST_PART >= self.candidates.len();
        let eager = self.eager && old_bytes > 0 && self.candidates.is_empty();
        self.next = match gained_little && !is_marking && moves_none {
            true => Next::Global,
            false if old_bytes > self.most_bytes || eager => Next::Begins,
            false => Next::Nothing,
        };
        self.ends = is_marking && (self.ends || gained_little);
        self.cycles = if is_marking { self.cycles + 1 } else { 0 };
    }

    /// The reason for which the next cycle should begin at once. More than `most` regions should
    /// not wait.
    pub(super) fn hurry(&self, is_marking: bool, most: usize) -> Option<String> {
        if is_marking {
            return self.ends.then(|| "Old objects are marked".to_string());
        }
        let waiting = self.candidates.len();
        (self.moves && waiting > most).then(|| format!("{waiting} old regions are worth a move"))
    }

    /// Notes that old objects are not being marked.
    pub(super) fn forget_marking(&mut self) {
        (self.marked_bytes, self.marked_time) = (0, Duration::ZERO);
        (self.ends, self.cycles) = (false, 0);
    }

    /// Forgets the gains of earlier cycles, which tell nothing after no object is old any more.
    pub(super) fn forget_gains(&mut self) {
        self.survival = Survival::new();
        if self.next == Next::Global {
            self.next = Next::Nothing;
        }
    }
}
