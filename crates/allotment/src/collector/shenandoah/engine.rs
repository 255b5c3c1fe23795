//! What all steps of a cycle work with: the tables, the spaces, and what is left to do.
//!
//! Barriers of mutators use the engine, too. So nothing in it is behind the lock of the cycle.

use super::assist::{Assists, Todo};
use super::choose::ChooseSettings;
use super::old::Old;
use crate::collector::concurrent::{
    CopySpace, Evacuator, Generations, Interrupt, Leftover, MarkShared, Scope, Tables,
};
use crate::collector::work::{Crews, Limits};
use crate::mutator::Shared;

/// The parts of a heap's concurrent collections.
pub(super) struct Engine {
    pub(super) tables: Tables,
    pub(super) copies: CopySpace,
    /// Entries of markers that were interrupted.
    pub(super) leftover: Leftover,
    /// Marked objects with weak slots.
    pub(super) weak_objects: Leftover,
    pub(super) interrupt: Interrupt,
    /// Regions of the set that are to be evacuated.
    pub(super) to_evacuate: Todo,
    /// Regions whose slots are to be updated.
    pub(super) to_update: Todo,
    pub(super) assists: Assists,
    pub(super) crews: Crews,
    pub(super) stack: Limits,
    pub(super) choice: ChooseSettings,
    /// `ZealMove`: all regions with live objects are worth a move.
    pub(super) move_all: bool,
    /// Regions that mutators leave for copies.
    pub(super) reserve: usize,
    /// In a heap with generations (`ShenandoahGCMode=generational`).
    pub(super) old: Option<Old>,
}

impl Engine {
    /// What markers share that look for the objects of `scope`.
    pub(super) fn marking<'m>(&'m self, shared: &'m Shared, scope: Scope) -> MarkShared<'m> {
        MarkShared {
            tables: &self.tables,
            satb: &shared.threads.satb,
            leftover: &self.leftover,
            weak: &self.weak_objects,
            interrupt: &self.interrupt,
            scope,
            old: self.old_shared(shared),
        }
    }

    /// What threads that evacuate share.
    pub(super) fn evacuator<'e>(&'e self, shared: &'e Shared) -> Evacuator<'e> {
        let generations = self.old.as_ref().map(|old| Generations {
            tables: old.tables(shared),
            tenuring_threshold: old.tenuring_threshold(),
        });
        Evacuator { space: &shared.space, tables: &self.tables, copies: &self.copies, generations }
    }
}
