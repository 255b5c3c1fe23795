//! Mark-compact: every collection is a full one.
//!
//! The simplest collector that wastes nothing: it needs no free memory, leaves no holes, and asks nothing of mutators: the
//! cards that their stores dirty, as under any collector, it never looks at. Its price is the pause, which grows with what is alive. For small heaps, for tests, and for whoever would rather
//! have all of the memory than short pauses.

use super::capacity::Capacity;
use super::full::{self, Compaction, SideTables, Statistics, Subject};
use super::history::History;
use super::record::{CollectionKind, CollectionRecord, Phase};
use super::verify::Checks;
use crate::memory::MemoryError;
use crate::mutator::{Cause, Collector, Mutator, Outcome, World};
use crate::region::Geometry;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Garbage below this percentage of a region does not make it worth moving.
const DENSE_PERCENT: usize = 5;

/// What of the options concerns it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// `UncommitDelay`, in ms.
    pub(crate) uncommit_delay_ms: u64,
    /// `InitialHeapSize`: bytes that stay committed.
    pub(crate) keep_bytes: usize,
    pub(crate) capacity: Capacity,
    /// `ZealMove`.
    pub(crate) move_all: bool,
    pub(crate) checks: Checks,
}

/// The collector whose collections are all full.
pub(crate) struct MarkCompact {
    /// Locked in the stopped world only, where there is one stopper.
    tables: Mutex<SideTables>,
    history: Arc<History>,
    settings: Settings,
}

impl MarkCompact {
    /// The collector of the heap that begins at `base`.
    ///
    /// # Errors
    /// [`MemoryError`] where there are no addresses for its tables.
    pub(crate) fn new(
        base: usize,
        geometry: Geometry,
        history: Arc<History>,
        settings: Settings,
    ) -> Result<MarkCompact, MemoryError> {
        let tables = Mutex::new(SideTables::new(base, geometry.heap_bytes())?);
        Ok(MarkCompact { tables, history, settings })
    }

    fn collect_stopped(
        &self,
        world: &World<'_>,
        cause: Cause,
        compaction: Compaction,
    ) -> Option<CollectionRecord> {
        let (start, watch) = (self.history.age(), Instant::now());
        let shared = world.shared();
        self.settings.checks.before(world);
        shared.free.age_quarantine();
        let roots = full::Roots {
            slots: &mut |slots| world.visit_roots(slots),
            pinned: &mut |pinned| world.visit_pinned(pinned),
        };
        let mut tables = self.tables.lock().expect("a collection that panics ends the process");
        let subject = Subject { free: &shared.free, shapes: &shared.shapes };
        let compaction = if self.settings.move_all { Compaction::MoveAll } else { compaction };
        // SAFETY: a `World` is the proof that no mutator runs and every region is parsable; slots are written through
        // barriers, which are given references of this heap only; the tables are this heap's; what unwinds in a stopped
        // world ends the process.
        let statistics = unsafe { full::collect(subject, &mut tables, roots, compaction) }.ok()?;
        shared.free.set_capacity(self.settings.capacity.after(shared.free.regions_in_use()));
        let Settings { uncommit_delay_ms, keep_bytes, checks, .. } = self.settings;
        let uncommitted = shared.free.uncommit_idle(shared.now_ms(), uncommit_delay_ms, keep_bytes);
        checks.after(world);
        let record = record(world, cause, &statistics, uncommitted);
        Some(CollectionRecord { start, pause: watch.elapsed(), ..record })
    }

    /// Gives more of the heap free until the stopper is satisfied; whether it is.
    fn grow(&self, world: &World<'_>, satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool) -> bool {
        let Some(stopper) = world.stopper() else { return true };
        let free = &world.shared().free;
        loop {
            if satisfied(&stopper) {
                return true;
            }
            if free.capacity() >= free.table().len() {
                return false;
            }
            free.set_capacity(self.settings.capacity.beyond(free.capacity()));
        }
    }
}

fn record(world: &World<'_>, cause: Cause, done: &Statistics, uncommitted: usize) -> CollectionRecord {
    let free = &world.shared().free;
    let phase = |name, ns| Phase { name, time: Duration::from_nanos(ns) };
    CollectionRecord {
        number: 0,
        kind: CollectionKind::Full,
        cause,
        start: Duration::ZERO,
        pause: Duration::ZERO,
        time_to_safepoint: world.time_to_safepoint(),
        phases: vec![
            phase("Mark", done.mark_ns),
            phase("Plan", done.plan_ns),
            phase("Update", done.update_ns),
            phase("Slide", done.slide_ns),
            phase("Reclaim", done.reclaim_ns),
        ],
        workers: 1,
        used_before: done.used_before,
        used_after: done.used_after,
        committed: free.committed_regions() << free.table().geometry().region_shift,
        live_objects: done.live_objects as usize,
        live_bytes: done.live_bytes as usize,
        moved_bytes: done.moved_bytes as usize,
        weak_cleared: done.weak_cleared as usize,
        uncommitted,
    }
}

impl Collector for MarkCompact {
    fn name(&self) -> &'static str {
        "mark-compact"
    }

    fn collect(
        &self,
        mutator: &mut Mutator<'_>,
        cause: Cause,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> Outcome {
        let stopped = mutator.stop_the_world(|world| {
            let usual = Compaction::Garbage { percent: DENSE_PERCENT };
            let first = self.collect_stopped(world, cause, usual);
            if first.is_none() || self.grow(world, satisfied) {
                return (first, None);
            }
            // The last resort: all free memory in one piece, and all of it.
            let second = self.collect_stopped(world, cause, Compaction::Maximum);
            if !self.grow(world, satisfied) && world.shared().free.end_quarantine() {
                self.grow(world, satisfied);
            }
            (first, second)
        });
        let Some((first, second)) = stopped else { return Outcome::Elsewhere };
        let outcome = if first.is_some() { Outcome::Collected } else { Outcome::Refused };
        let second = second.map(|record| CollectionRecord { time_to_safepoint: Duration::ZERO, ..record });
        for mut record in first.into_iter().chain(second) {
            record.pause += record.time_to_safepoint;
            self.history.add(record);
        }
        outcome
    }
}
