//! The options of every collector that collects, and the steps around a full collection that all of
//! them share.

use super::full::{self, Compaction, SideTables};
use super::kernel::{Pages, Roots};
use super::record::WantedWorkers;
use super::verify::{Checks, Level};
use super::work::{Gang, Workers, wanted_workers};
use crate::mutator::World;
use crate::options::Options;
use crate::region::{FreeSet, Geometry};
use std::sync::atomic::Ordering;

/// The options of every collector that collects; see [their table](crate::options).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// `UncommitDelay`, in ms.
    pub(crate) uncommit_delay_ms: u64,
    /// `InitialHeapSize`: bytes that stay committed.
    pub(crate) keep_bytes: usize,
    /// The memory for the tables of full collections.
    pub(crate) pages: Pages,
    /// `ZealMove`.
    pub(crate) move_all: bool,
    /// The checks of the heap before and after collections.
    pub(crate) checks: Checks,
}

/// The usual compaction: a region moves if more than 5 % of it is garbage.
pub(crate) const USUAL: Compaction = Compaction::Garbage { percent: 5 };

impl Settings {
    /// The settings of a heap on a machine where `touching` threads touch memory ahead at once.
    pub(super) fn new(options: &Options, geometry: Geometry, touching: usize) -> Settings {
        let touched = options.initial_heap_size.max(geometry.region_bytes());
        Settings {
            pages: Pages {
                huge: options.use_transparent_huge_pages,
                touching,
                touched_for: if options.always_pre_touch { touched } else { 0 },
            },
            uncommit_delay_ms: options.uncommit_delay,
            keep_bytes: options.initial_heap_size,
            move_all: options.zeal_move,
            checks: Checks {
                before: options.verify_before_gc,
                after: options.verify_after_gc,
                level: Level::from_number(options.verify_gc_level),
            },
        }
    }

    /// Runs a full collection; returns its statistics and the number of workers wanted for it.
    /// Returns `None` if the system has no memory for the collection; then nothing has changed.
    pub(crate) fn collect_fully(
        &self,
        world: &World<'_>,
        tables: &mut SideTables,
        gang: &Gang,
        compaction: Compaction,
    ) -> Option<(WantedWorkers, full::FullStatistics)> {
        let shared = world.shared();
        shared.space.free.age_quarantine();
        let roots = Roots {
            slots: &mut |slots| world.visit_roots(slots),
            pinned: &mut |pinned| world.visit_pinned(pinned),
        };
        let space = &shared.space;
        // The last resort needs all free memory in one piece, and a detour would leave a hole.
        let move_all = self.move_all && compaction != Compaction::Together;
        let compaction = if move_all { Compaction::MoveAll } else { compaction };
        let (bytes, most) = (shared.space.free.occupancy().used_bytes, gang.most());
        let wanted = WantedWorkers { workers: wanted_workers(bytes, most), most, bytes };
        let workers = Workers::new(gang, gang.ready(wanted.workers)).helped_by(world.volunteers());
        // SAFETY: a `World` is the proof that no mutator runs and every region is parsable. Slots
        // are written through barriers, which are given references of this heap only. The tables
        // are this heap's. A panic that unwinds in a stopped world ends the process.
        let done = unsafe { full::collect(space, tables, roots, compaction, workers) }?;
        shared.threads.full_collections.fetch_add(1, Ordering::Relaxed);
        Some((wanted, done))
    }

    /// Ends every collection: gives idle memory back and checks the heap. Returns the bytes given
    /// back.
    pub(crate) fn conclude(&self, world: &World<'_>) -> usize {
        self.conclude_keeping(world, 0)
    }

    /// As [`conclude`](Self::conclude), in a heap of which the program will want `wanted_bytes` soon.
    pub(crate) fn conclude_keeping(&self, world: &World<'_>, wanted_bytes: usize) -> usize {
        let shared = world.shared();
        let (free, now_ms) = (&shared.space.free, shared.watch.clock.coarse_ms());
        let keep_bytes = self.keep_bytes.max(wanted_bytes);
        let uncommitted = free.uncommit_idle(now_ms, self.uncommit_delay_ms, keep_bytes, |_| true);
        self.checks.after(world);
        uncommitted
    }
}

/// Lets more regions be in use, step by step up to `most`, until `satisfied` says that there is
/// enough room. Returns whether there is. `next` computes each number of regions from the last one.
pub(super) fn raise_capacity(
    free: &FreeSet,
    most: usize,
    mut next: impl FnMut(usize) -> usize,
    mut satisfied: impl FnMut() -> bool,
) -> bool {
    let most = most.min(free.table().len());
    while free.capacity() < most {
        free.set_capacity(next(free.capacity()).min(most));
        if satisfied() {
            return true;
        }
    }
    false
}
