//! What all steps of a cycle work with: the tables, the spaces, and what is left to do.
//!
//! Barriers of mutators use the engine, too. So nothing in it is behind the lock of the cycle.

use super::assist::{Assists, Todo};
use super::choose::ChooseSettings;
use super::tenuring::Tenuring;
use crate::collector::concurrent::{
    CopySpace, Evacuator, Generations, Interrupt, Leftover, MarkShared, Tables,
};
use crate::collector::kernel::{OldTables, Subject};
use crate::collector::work::{Crews, Limits};
use crate::mutator::{Committer, Shared};
use crate::region::StartTable;
use crate::sync::{AtomicU8, Mutex, Ordering};

/// The parts of a heap's concurrent collections.
pub(super) struct Engine {
    pub(super) tables: Tables,
    pub(super) space: CopySpace,
    /// Entries of markers that were interrupted.
    pub(super) leftover: Leftover,
    /// Marked objects with weak slots.
    pub(super) weak_objects: Leftover,
    pub(super) interrupt: Interrupt,
    /// Regions of the set that are to be evacuated.
    pub(super) to_evacuate: Todo,
    /// Regions whose slots are to be updated.
    pub(super) to_update: Todo,
    /// Old regions whose dirty cards a young cycle has yet to look at.
    pub(super) to_scan: Todo,
    /// Regions to put in order, whose objects are old.
    pub(super) to_settle: Todo,
    pub(super) assists: Assists,
    pub(super) crews: Crews,
    pub(super) stack: Limits,
    pub(super) choice: ChooseSettings,
    /// `ZealMove`: all regions with live objects are worth a move.
    pub(super) move_all: bool,
    /// Regions that mutators leave for copies.
    pub(super) reserve: usize,
    /// Starts of old objects, in a heap with generations (`ShenandoahGCMode=generational`).
    pub(super) starts: Option<StartTable>,
    /// Cycles after which an object becomes old. Written between marking and evacuation. Relaxed: a
    /// copier has left the stop in between.
    pub(super) tenuring_threshold: AtomicU8,
    pub(super) tenuring: Mutex<Tenuring>,
}

impl Engine {
    /// The heap as steps see it.
    pub(super) fn subject<'h>(&self, shared: &'h Shared) -> Subject<'h, Committer> {
        Subject { free: &shared.free, shapes: &shared.shapes }
    }

    /// The tables of old regions, in a heap with generations.
    pub(super) fn old_tables<'h>(&'h self, shared: &'h Shared) -> Option<OldTables<'h>> {
        Some(OldTables { cards: &shared.cards, starts: self.starts.as_ref()? })
    }

    /// What markers share.
    pub(super) fn marking<'m>(&'m self, shared: &'m Shared) -> MarkShared<'m> {
        MarkShared {
            tables: &self.tables,
            satb: &shared.satb,
            leftover: &self.leftover,
            weak: &self.weak_objects,
            interrupt: &self.interrupt,
            old: self.old_tables(shared),
        }
    }

    /// What threads that evacuate share.
    pub(super) fn evacuator<'e>(&'e self, shared: &'e Shared) -> Evacuator<'e, Committer> {
        let tenuring_threshold = self.tenuring_threshold.load(Ordering::Relaxed);
        let generations = self.old_tables(shared).map(|tables| Generations { tables, tenuring_threshold });
        Evacuator { subject: self.subject(shared), tables: &self.tables, space: &self.space, generations }
    }
}
