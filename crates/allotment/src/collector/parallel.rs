//! Parallel: a generational stop-the-world collector with several workers.
//!
//! Most objects die young. So the regions that mutators fill (eden) are often collected alone:
//! copying the live objects costs time, dead objects cost nothing. An object that survives a few
//! collections is copied to the old regions. These are collected seldom, together with everything
//! else. Between two collections a mutator pays three instructions for each reference that it
//! stores: the store dirties the card of the slot. The dirty cards tell a young collection where in
//! old regions to look.
//!
//! This file is the sequence from the first stopped thread to the last decision. The steps are
//! elsewhere and know nothing of each other: [`evacuate`](super::evacuate) for young collections,
//! [`full`](super::full) for full ones, [`sizing`](super::sizing) for the decisions after either.
//!
//! ```text
//! no room -> a larger eden, if more threads have come since its size was decided (no stop)
//!         -> the last part of eden; a collection if no mutator runs before it is full (no stop)
//!         -> young, unless the last decision was: full
//!         -> more of the capacity, if MaxHeapSize allows
//!         -> full; more capacity, or failure where this takes nearly all time (UseGCOverheadLimit)
//!         -> full, every region compacted; all of the capacity
//!         -> full, all in one piece, humongous objects too; the room that old regions have left
//! ```

mod eden_growth;
mod eden_reserve;
mod idle;
mod room;
#[cfg(all(test, not(loom)))]
mod tests;
mod workers;

use super::control::ControlThread;
use super::evacuate::{CollectionSet, Evacuation, Limits, OldRanges, Role, SpaceKind, ToSpace, adopt_all};
use super::full::{Compaction, SideTables};
use super::history::History;
use super::kernel::{OldTables, Phase, Roots};
use super::overhead::Overhead;
use super::parts::Parts;
use super::record::{CollectionRecord, Details, SizingDetails, WantedWorkers, YoungDetails};
use super::settings::{Settings, USUAL};
use super::sizing::{Collection, Decision, Extent, Sizing, SizingSettings};
use super::timer::Timer;
use super::work::{Gang, StackLimits, TaskQueuePool, Workers};
use crate::mutator::{Cause, Collector, GcOverhead, Mutator, Outcome, Shared, World};
use crate::platform::MemoryError;
use crate::region::{Occupancy, StartTable};
use crate::sync::{AtomicU64, Ordering};
use eden_growth::EdenGrowth;
use eden_reserve::EdenReserve;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Of the collections that zeal asks for, one of this many is full.
const ZEAL_FULL: u64 = 4;

/// The generational collector whose collections stop the world.
pub(crate) struct Parallel {
    /// Locked in the stopped world, where there is one stopper. A mutator that enlarged eden locks
    /// it too, if no other thread holds it.
    inner: Mutex<Inner>,
    growth: EdenGrowth,
    reserve: EdenReserve,
    /// The thread that looks for idle times.
    control: ControlThread,
    timer: Arc<Timer>,
    /// When the last collection ended, or the heap was made or emptied, in ns of its age. Written
    /// in the stopped world, or while no thread is attached. Relaxed: a mutator that reads it was
    /// stopped meanwhile, or attached later.
    resumed_ns: AtomicU64,
    gang: Gang,
    history: Arc<History>,
    settings: Settings,
    overhead: Overhead,
    /// `YoungPLABSize`, in bytes.
    young_plab_bytes: usize,
    /// `OldPLABSize`, in bytes.
    old_plab_bytes: usize,
}

/// The part of the collector's state that only stops change.
struct Inner {
    tables: SideTables,
    starts: StartTable,
    set: CollectionSet,
    ranges: OldRanges,
    survivors: ToSpace,
    old: ToSpace,
    queue_pool: TaskQueuePool,
    sizing: Sizing,
    decision: Decision,
    collections: u64,
}

impl Parallel {
    /// The collector of these parts, and the bytes of the first eden.
    ///
    /// # Errors
    /// [`MemoryError`] if the system has no addresses for its tables, or no memory to touch ahead.
    pub(super) fn new(parts: &Parts<'_>) -> Result<(Parallel, usize), MemoryError> {
        let Parts { options, machine, .. } = *parts;
        let (base, geometry, settings) = (parts.base(), machine.geometry, parts.settings());
        let (sizes, homes) = (SizingSettings::from(options), parts.space.free.homes());
        let mut sizing = Sizing::new(sizes, machine);
        let decision = sizing.first(0);
        let growth = EdenGrowth::new(sizes, machine);
        growth.begin(0, &decision, sizing.most_eden());
        let reserve = EdenReserve::new(options.collect_when_idle, homes);
        parts.space.free.set_capacity(reserve.begin(0, &decision));
        let eden_bytes = decision.eden_regions << geometry.region_shift;
        let inner = Inner {
            tables: SideTables::new(base, geometry.heap_bytes(), settings.pages)?,
            starts: StartTable::new(base, geometry.heap_bytes())?,
            set: CollectionSet::new(base, geometry.region_shift, geometry.regions),
            ranges: OldRanges::default(),
            survivors: ToSpace::new(SpaceKind::Survivors, homes),
            old: ToSpace::new(SpaceKind::Old, homes),
            queue_pool: TaskQueuePool::default(),
            sizing,
            decision,
            collections: 0,
        };
        let gang = parts.gang();
        let parallel = Parallel {
            inner: Mutex::new(inner),
            growth,
            reserve,
            control: ControlThread::new("allotment-idle"),
            timer: Timer::new(parts, gang.cpus()),
            resumed_ns: AtomicU64::new(parts.history.clock.age().as_nanos() as u64),
            gang,
            history: parts.history.clone(),
            settings,
            overhead: parts.overhead(),
            young_plab_bytes: options.young_plab_size,
            old_plab_bytes: options.old_plab_size,
        };
        Ok((parallel, eden_bytes))
    }

    /// Does everything possible to make room. Returns the records of the collections, and whether
    /// there is room now.
    fn make_room(
        &self,
        world: &World<'_>,
        cause: Cause,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> (Vec<CollectionRecord>, bool) {
        let inner = &mut *self.inner.lock().expect("a collection that panics ends the process");
        let free = &world.shared().space.free;
        let mut records = Vec::new();
        let mut satisfied = || world.stopper().is_none_or(|stopper| satisfied(&stopper));
        inner.decision.eden_regions = self.growth.eden_regions();
        // Another thread may have made room meanwhile.
        if cause == Cause::AllocationFailure && free.may_take(1) && satisfied() {
            return (records, true);
        }
        self.overhead.begin_stop();
        if !inner.wants_full(cause) {
            records.extend(self.young(inner, world, cause));
            if !records.is_empty() && (satisfied() || inner.grow(world, &mut records, &mut satisfied)) {
                return (records, true);
            }
        }
        let decides = self.overhead.is_near(cause);
        let compaction = if decides { Compaction::Maximum } else { USUAL };
        let Some(first) = self.full(inner, world, cause, compaction) else { return (records, false) };
        let exceeded = first.exceeds_limit();
        records.push(first);
        if exceeded {
            // The little room that is left serves the handler of the failure.
            free.set_capacity(free.table().len());
            inner.open_old_regions(world);
            return (records, false);
        }
        if satisfied() || inner.grow(world, &mut records, &mut satisfied) {
            return (records, true);
        }
        // If less than the whole heap may be in use, a higher capacity may be enough, and no run
        // has to move.
        let whole = free.capacity() == free.table().len();
        if !whole {
            if !decides {
                records.extend(self.full(inner, world, cause, Compaction::Maximum));
            }
            room::open_all(free, &mut records);
        }
        if !whole && satisfied() || free.end_quarantine() && satisfied() {
            return (records, true);
        }
        if whole && !decides || free.is_scattered() {
            records.extend(self.full(inner, world, cause, Compaction::Together));
            room::open_all(free, &mut records);
            if satisfied() || free.end_quarantine() && satisfied() {
                return (records, true);
            }
        }
        inner.open_old_regions(world);
        let room = satisfied();
        (records, room)
    }

    /// Does a young collection. Returns `None` if the system has no memory for it.
    fn young(&self, inner: &mut Inner, world: &World<'_>, cause: Cause) -> Option<CollectionRecord> {
        let shared = world.shared();
        let (start, prepare) = (self.history.begin(&shared.space.free), Phase::begin("Prepare"));
        let (free, table) = (&shared.space.free, shared.space.free.table());
        self.settings.checks.before(world);
        let eden_regions = free.regions_in_use().saturating_sub(self.growth.in_use());
        free.age_quarantine();
        let used_before = inner.set.choose_young(free, &mut inner.ranges).ok()?;
        world.visit_pinned(&mut |address| {
            let index = table.index_of(address);
            if inner.set.role(index).is_in_set() {
                inner.set.set(index, Role::STAYS);
            }
        });
        let evacuation = Evacuation {
            space: &shared.space,
            set: &inner.set,
            ranges: &inner.ranges,
            tables: OldTables { cards: &shared.space.cards, starts: &inner.starts },
            survivors: &inner.survivors,
            old: &inner.old,
            queue_pool: &inner.queue_pool,
            limits: Limits {
                tenuring_threshold: inner.decision.tenuring_threshold,
                survivor_bytes: inner.decision.survivor_limit_bytes,
                young_plab_bytes: self.young_plab_bytes,
                old_plab_bytes: self.old_plab_bytes,
                stack: StackLimits::for_heap(table.geometry().heap_bytes()),
            },
        };
        let demand = inner.sizing.worker_demand(eden_regions, world.threads());
        let workers = self.workers(demand).helped_by(world.volunteers());
        shared.threads.roots.begin_young_visit();
        let roots = Roots {
            slots: &mut |slots| world.visit_young_roots(slots),
            pinned: &mut |pinned| world.visit_pinned(pinned),
        };
        let prepared = prepare.end();
        // SAFETY: a `World` is the proof that no mutator runs and every region is parsable. Slots
        // are written through barriers, which dirty their cards and are given references of this
        // heap only. The tables are this heap's.
        let mut done = unsafe { evacuation.run(roots, workers) }.ok()?;
        done.phases.insert(0, prepared);
        shared.threads.roots.end_young_visit(&|address| !table.is_old(table.index_of(address)));
        let uncommitted = self.settings.conclude(world);
        let occupancy = free.occupancy();
        let sum = &done.sum;
        let record = CollectionRecord {
            number: 0,
            cause,
            start,
            pause: Duration::ZERO,
            time_to_safepoint: world.take_time_to_safepoint(),
            phases: done.phases,
            workers: workers.count(),
            wanted: WantedWorkers { workers: demand.workers, most: self.gang.most(), bytes: demand.bytes },
            used_before,
            used_after: occupancy.used_bytes,
            committed: free.committed_bytes(),
            live_objects: (sum.objects + sum.kept_objects) as usize,
            live_bytes: (sum.survived.iter().sum::<u64>() + sum.promoted_bytes + sum.kept_bytes) as usize,
            moved_bytes: (sum.survived.iter().sum::<u64>() + sum.promoted_bytes) as usize,
            weak_cleared: done.weak_cleared as usize,
            uncommitted,
            buffers: world.end_buffer_count(),
            details: Details::Young(YoungDetails {
                survived_bytes: sum.survived.map(|bytes| bytes as usize),
                promoted_bytes: sum.promoted_bytes as usize,
                kept_bytes: sum.kept_bytes as usize,
                tenuring_threshold: inner.decision.tenuring_threshold,
                eden_regions,
                plab_waste_bytes: sum.wasted_bytes as usize,
                steals: sum.steals,
                cards_scanned: sum.cards_scanned as usize,
                cards_dirty: sum.cards_dirty as usize,
                worker_objects: done.worker_objects,
                caller_rested: workers.caller_rests(),
            }),
            sizing: None,
            overhead: None,
        };
        let collection = Collection {
            extent: Extent::Young,
            eden_regions,
            survived: sum.survived.map(|bytes| bytes as usize),
            promoted_bytes: sum.promoted_bytes as usize,
            stayed_bytes: sum.stayed_bytes as usize,
            failed_bytes: (sum.kept_bytes - sum.stayed_bytes) as usize,
            scanned_bytes: sum.cards_dirty as usize * crate::region::CARD_BYTES,
            ..Collection::default()
        };
        Some(self.decide(inner, world, (collection, occupancy), record))
    }

    /// Does a full collection, after which all objects are old. Returns `None` if the system has no
    /// memory for it.
    fn full(
        &self,
        inner: &mut Inner,
        world: &World<'_>,
        cause: Cause,
        compaction: Compaction,
    ) -> Option<CollectionRecord> {
        let shared = world.shared();
        let free = &shared.space.free;
        let start = self.history.begin(free);
        self.settings.checks.before(world);
        let eden_regions = free.regions_in_use().saturating_sub(self.growth.in_use());
        let (wanted, done) = self.settings.collect_fully(world, &mut inner.tables, &self.gang, compaction)?;
        let adopt = Phase::begin("Adopt");
        let tables = OldTables { cards: &shared.space.cards, starts: &inner.starts };
        let workers = Workers::new(&self.gang, done.workers).helped_by(world.volunteers());
        // SAFETY: everything live was moved, and every region is parsable.
        unsafe { adopt_all(&shared.space, &tables, &inner.old, workers) };
        shared.threads.roots.begin_young_visit();
        shared.threads.roots.end_young_visit(&|address| !free.table().is_old(free.table().index_of(address)));
        let adopted = adopt.end();
        let uncommitted = self.settings.conclude(world);
        let mut record = CollectionRecord::of_full(world, cause, (wanted, done), uncommitted);
        record.start = start;
        record.phases.push(adopted);
        let collection = Collection {
            extent: Extent::Full,
            eden_regions,
            live_bytes: record.live_bytes,
            ..Collection::default()
        };
        Some(self.decide(inner, world, (collection, free.occupancy()), record))
    }

    /// Notes that mutators begin to fill eden now.
    fn resume(&self) {
        self.resumed_ns.store(self.history.clock.age().as_nanos() as u64, Ordering::Relaxed);
    }

    /// When mutators began to fill eden.
    fn resumed(&self) -> Duration {
        Duration::from_nanos(self.resumed_ns.load(Ordering::Relaxed))
    }

    /// Decides on all sizes until the next collection, and completes the record.
    fn decide(
        &self,
        inner: &mut Inner,
        world: &World<'_>,
        (collection, occupancy): (Collection, Occupancy),
        record: CollectionRecord,
    ) -> CollectionRecord {
        let clock = &self.history.clock;
        let free = &world.shared().space.free;
        let table = free.table();
        inner.collections += 1;
        let mut collection = Collection {
            mutator_ns: record.start.saturating_sub(self.resumed()).as_nanos() as u64,
            threads: world.threads(),
            weak_handles: world.shared().threads.roots.counts().weak_handles,
            free_regions: free.free_regions(),
            old_bytes: occupancy.old_bytes,
            humongous_regions: occupancy.regions.humongous,
            ..collection
        };
        let bytes = |regions: usize| regions << table.geometry().region_shift;
        let eden = inner.decision.eden_regions;
        let pause = clock.since(record.start);
        collection.pause_ns = pause.as_nanos() as u64;
        let overhead = self.overhead.after(free, collection.extent, record.cause, record.start, pause);
        inner.decision = inner.sizing.after(&collection);
        let buffers = world.end_buffer_cycle(
            &record.buffers,
            bytes(collection.eden_regions),
            bytes(eden),
            bytes(inner.decision.eden_regions),
        );
        let (enlarged, last_part) = (self.growth.enlarged(), self.reserve.opened());
        let in_use = free.regions_in_use();
        self.growth.begin(in_use, &inner.decision, inner.sizing.most_eden());
        self.control.rest();
        free.set_capacity(self.reserve.begin(in_use, &inner.decision));
        self.resume();
        let decision = inner.decision.clone();
        let sizing = SizingDetails { enlarged, last_part, collection, decision, buffers, raised: None };
        let sizing = Some(Box::new(sizing));
        self.history.occupancy(free);
        CollectionRecord { pause: clock.since(record.start), overhead, sizing, ..record }
    }
}

impl Collector for Arc<Parallel> {
    fn name(&self) -> &'static str {
        "parallel"
    }

    fn is_at_rest(&self) -> bool {
        self.inner.try_lock().is_ok()
            && self.gang.is_at_rest()
            && self.control.is_at_rest()
            && self.timer.is_at_rest()
            && self.reserve.is_at_rest()
            && self.history.is_at_rest()
    }

    fn forget_threads(&self) {
        self.gang.forget_threads();
        self.control.forget();
        self.timer.forget_thread();
    }

    fn heap_is_ready(&self, shared: &Arc<Shared>) {
        self.timer.begin(shared);
    }

    fn heap_is_taken_over(&self) {
        self.timer.go_on();
    }

    fn emptied(&self, world: &World<'_>) -> Option<usize> {
        let mut inner = self.inner.lock().expect("a collection that panics ends the process");
        inner.survivors.forget();
        inner.old.forget();
        inner.decision.full = false;
        inner.decision.eden_regions = self.growth.eden_regions();
        self.growth.begin(0, &inner.decision, inner.sizing.most_eden());
        self.resume();
        self.overhead.emptied(self.resumed());
        self.control.rest();
        self.timer.regions_were_freed(&world.shared().space.free);
        Some(self.reserve.begin(0, &inner.decision))
    }

    fn over_limit(&self) -> Option<(u64, GcOverhead)> {
        self.overhead.exceeded()
    }

    fn embedder_let_go(&self) {
        self.overhead.begin_anew();
    }

    fn collect(
        &self,
        mutator: &mut Mutator<'_>,
        cause: Cause,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> Outcome {
        if cause == Cause::AllocationFailure && self.find_room(mutator, satisfied) {
            return Outcome::Found;
        }
        let stopped = mutator
            .raw_mut()
            .stop_the_world(|world| (self.make_room(world, cause, satisfied), self.next_demand(world)));
        let Some(((records, room), next)) = stopped else { return Outcome::Elsewhere };
        // Threads start while mutators run: a pause that had to wait for them would lose all that
        // time.
        self.workers(next);
        self.timer.regions_were_freed(&mutator.shared().space.free);
        let outcome = CollectionRecord::outcome_of(&records, room);
        self.history.add_stop(records);
        outcome
    }

    fn collect_after_interval(&self, shared: &Arc<Shared>) {
        let stopped = shared.stop_the_world(|world| {
            let (records, _) = self.make_room(world, Cause::Interval, &mut |_| true);
            (records, self.next_demand(world))
        });
        if let Ok(Some((records, next))) = stopped {
            self.workers(next);
            self.history.add_stop(records);
        }
    }
}
