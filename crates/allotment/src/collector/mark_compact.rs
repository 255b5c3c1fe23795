//! Mark-compact: every collection is a full one.
//!
//! The simplest collector that wastes nothing: it needs no free memory, leaves no holes, and costs mutators no
//! barrier. Its price is the pause, which grows with what is alive. For small heaps, for tests, and for whoever would rather
//! have all of the memory than short pauses.

use super::full::{self, Compaction, SideTables, Statistics, Subject};
use super::history::History;
use super::record::{CollectionKind, CollectionRecord, Phase};
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

    fn collect_stopped(&self, world: &World<'_>, cause: Cause) -> Option<CollectionRecord> {
        let shared = world.shared();
        // With little room left the last resort is thorough.
        let compaction = match cause {
            Cause::AllocationFailure => Compaction::Maximum,
            _ => Compaction::Garbage { percent: DENSE_PERCENT },
        };
        let roots = full::Roots {
            slots: &mut |slots| world.visit_roots(slots),
            pinned: &mut |pinned| world.visit_pinned(pinned),
        };
        let mut tables = self.tables.lock().expect("a collection that panics ends the process");
        let subject = Subject { free: &shared.free, shapes: &shared.shapes };
        // SAFETY: a `World` is the proof that no mutator runs and every region is parsable; slots are written through
        // barriers, which are given references of this heap only; the tables are this heap's.
        let statistics = unsafe { full::collect(subject, &mut tables, roots, compaction) }.ok()?;
        let Settings { uncommit_delay_ms, keep_bytes } = self.settings;
        let uncommitted = shared.free.uncommit_idle(shared.now_ms(), uncommit_delay_ms, keep_bytes);
        Some(record(world, cause, &statistics, uncommitted))
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
        meanwhile: &mut dyn FnMut(&Mutator<'_>),
    ) -> Outcome {
        let (start, watch) = (self.history.age(), Instant::now());
        let stopped = mutator.stop_the_world(|world| {
            let record = self.collect_stopped(world, cause);
            if let Some(stopper) = world.stopper() {
                meanwhile(&stopper);
            }
            record
        });
        let Some(collected) = stopped else { return Outcome::Elsewhere };
        let Some(record) = collected else { return Outcome::Refused };
        self.history.add(CollectionRecord { start, pause: watch.elapsed(), ..record });
        Outcome::Collected
    }
}
