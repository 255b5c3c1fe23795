//! Shenandoah: marks, moves and updates while the program runs.
//!
//! A cycle finds the live objects, copies them out of regions that are mostly garbage, and
//! updates all references to them. Threads stand still four times in a cycle, and no such pause
//! grows with the heap, the live objects, the threads' stacks or the number of roots. In exchange
//! loads test a bit, and a thread that loads a reference to an object that has yet to move copies
//! that object.
//!
//! This folder has the sequence of a cycle and the thread that drives it. The work of the steps is
//! in `collector::concurrent`, and knows nothing of its caller.
//!
//! The files, lowest first: each uses only files above it in this list.
//!
//! ```text
//! bytes.rs, decayed.rs              shares of sizes; means that fade        (numbers only)
//! rate.rs, reason.rs                how fast threads allocate; why a cycle begins (numbers only)
//! caution.rs, worth.rs              what late cycles teach, and poor ones   (numbers only)
//! advice.rs                         what only the user can change            (numbers only)
//! trigger.rs, goal.rs               when a cycle begins; the memory that the heap should do with
//! choose.rs, tenuring.rs            which regions move; when objects become old (numbers only)
//! select.rs                         the choice from what marking found       (numbers only)
//! survival.rs                       whether young cycles pay                 (numbers only)
//! levy.rs                           the work that threads owe for memory     (numbers only)
//! scope.rs        which generations a cycle marks
//! account.rs      the reason, the scope and the results of a whole cycle
//! plan.rs         when old objects are marked, and which of them move
//! work_list.rs    pieces of work, which workers and mutators take
//! assisted.rs     counts of the help and the waits of mutators
//! freed.rs        what cycles have freed, for threads that wait for memory
//! pacer.rs        the levy in force, credit for work, threads that wait for it
//! old.rs          the parts that only a heap with generations has
//! engine.rs       tables and lists, for all steps and for barriers
//! old_marking.rs  the marking of old objects between cycles
//! place.rs        where a step runs: beside mutators, in a pause, in a stopped world
//! cycle/          the cycle: its steps, a file for each, and their table
//! assist.rs       mutators pay for memory with work, or wait
//! progress.rs     requests for cycles, and how threads wait for one
//! mod.rs          the collector, which has all these
//! bookkeeping.rs  the begin and the end of a cycle, for records and triggers
//! stopped.rs      a cycle that is ended in a stopped world
//! full.rs         the full collection
//! control.rs      the thread that drives cycles
//! await_run.rs    a mutator that finds no run of regions waits for a cycle
//! room.rs         a mutator that finds no memory, up to a full collection
//! barriers.rs     the answers to barriers and duties
//! ```
//!
//! In a heap with generations (`ShenandoahGCMode=generational`) most cycles are *young*. Such a
//! cycle takes all old objects for live, finds the young referents of old objects by dirty cards,
//! and moves young objects only. A *global* cycle does the same as one without generations, and
//! also decides which copies are old. Old objects are mostly marked between young cycles, and moved
//! by these.

mod account;
mod advice;
mod assist;
mod assisted;
mod await_run;
mod barriers;
mod bookkeeping;
mod bytes;
mod caution;
pub(crate) mod choose;
mod control;
mod cycle;
mod decayed;
mod engine;
mod freed;
mod full;
mod goal;
mod levy;
mod old;
mod old_marking;
mod pacer;
mod place;
mod plan;
mod progress;
mod rate;
mod reason;
mod room;
mod scope;
mod select;
mod stopped;
mod survival;
mod tenuring;
#[cfg(all(test, not(loom)))]
mod tests;
pub(crate) mod trigger;
mod work_list;
mod worth;

use super::concurrent::{CopySpace, Interrupt, MarkLeftover, Tables};
use super::control::ControlThread;
use super::full::SideTables;
use super::history::History;
use super::overhead::Overhead;
use super::parts::Parts;
use super::record::CollectionRecord;
use super::settings::Settings;
use super::timer::Timer;
use super::work::{Gang, StackLimits, TaskQueuePool};
use crate::mutator::{Cause, Collector, Concurrent, GcOverhead, Mutator, Outcome, Shared, World};
use crate::options::ShenandoahMode;
use crate::platform::MemoryError;
use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, Condvar, Mutex, MutexGuard, POISONED};
use assisted::Assisted;
use choose::{ChooseSettings, reserve_regions};
use cycle::Cycle;
use engine::Engine;
use freed::Freed;
use goal::Goal;
use levy::PacingSettings;
use old::Old;
use pacer::Pacer;
use progress::Progress;
use std::sync::{Arc, Weak};
use tenuring::Tenuring;
use trigger::{Trigger, TriggerSettings};
use work_list::WorkList;

/// The concurrent collector.
pub(crate) struct Shenandoah {
    /// This collector, for its control thread.
    me: Weak<Shenandoah>,
    engine: Engine,
    /// The cycle. Locked by the control thread during a step, and in stops. A thread that holds it
    /// asks for no stop.
    cycle: Mutex<Cycle>,
    /// Threads that keep workers from the heap ([`halt`](Concurrent::halt)). Written by them,
    /// before they lock `cycle`.
    halts: AtomicUsize,
    /// Signals that a thread has ended its halt. Only the control thread waits for it.
    goes_on: Condvar,
    /// Threads that want the cycle that is under way finished in their stop, not given up.
    degenerating: AtomicUsize,
    /// Records of cycles that ended under a lock or in a stop, where no listener may be called, and
    /// the requests that each serves.
    finished: Mutex<Vec<(CollectionRecord, u64)>>,
    control: ControlThread,
    timer: Arc<Timer>,
    progress: Progress,
    trigger: Mutex<Trigger>,
    goal: Goal,
    /// Tables of full collections. Locked in the stopped world.
    tables: Mutex<SideTables>,
    /// Workers of stopped worlds.
    gang: Gang,
    /// Workers beside mutators.
    workers: Gang,
    history: Arc<History>,
    settings: Settings,
    overhead: Overhead,
    /// No trigger begins a cycle: `ShenandoahGCMode=passive`, or a test makes the steps. Written
    /// before there are threads. Relaxed.
    passive: AtomicBool,
    /// `ShenandoahFullGCThreshold`: after more degenerated cycles in a row, a full collection
    /// follows.
    degenerated_threshold: usize,
    /// `ShenandoahCriticalFreeThreshold`: percentage of the heap that a cycle in a stop should
    /// leave free.
    critical_free_percent: usize,
    /// Degenerated cycles since the last cycle that ended beside mutators, or full collection.
    /// Relaxed: written by the thread that ends a cycle.
    degenerated_in_row: AtomicUsize,
    /// Cycles that stops gave up since the last that ended. Relaxed: written in stops.
    given_up_in_row: AtomicUsize,
    /// The heap's age in ns when the world stood still for the last full stop. Relaxed: written and
    /// read in such stops.
    stopped_ns: AtomicU64,
    /// Whether a cycle ended in the full stop that is under way. Relaxed, as above.
    ended_in_stop: AtomicBool,
}

impl Shenandoah {
    /// The collector of a heap, from its parts. Takes the reserve for copies from mutators.
    ///
    /// # Errors
    /// [`MemoryError`] if the system has no memory for its tables.
    pub(super) fn new(parts: &Parts<'_>) -> Result<Arc<Shenandoah>, MemoryError> {
        let (options, geometry, settings) = (parts.options, parts.geometry(), parts.settings());
        let (base, heap_bytes, regions) = (parts.base(), geometry.heap_bytes(), geometry.regions);
        let (choice, eager) = (ChooseSettings::from(options), options.zeal_cycles);
        let old = (options.shenandoah_gc_mode == ShenandoahMode::Generational)
            .then(|| Old::new(base, heap_bytes, Tenuring::new(options), eager));
        let engine = Engine {
            tables: Tables::new(base, heap_bytes, regions, settings.pages)?,
            copies: CopySpace::new(parts.space.free.homes(), options.zeal_evacuation_failure),
            left: MarkLeftover::default(),
            interrupt: Interrupt::default(),
            to_evacuate: WorkList::default(),
            to_update: WorkList::default(),
            assisted: Assisted::default(),
            freed: Freed::default(),
            pacer: Pacer::new(PacingSettings::from(options)),
            last_marked: Default::default(),
            queue_pool: TaskQueuePool::default(),
            stack: StackLimits::for_heap(heap_bytes),
            choice,
            eager_assists: eager,
            move_all: settings.move_all,
            reserve: reserve_regions(&choice, geometry.region_bytes(), heap_bytes),
            old: old.transpose()?,
        };
        parts.space.free.set_capacity(regions.saturating_sub(engine.reserve).max(1));
        let tables = SideTables::new(base, heap_bytes, settings.pages)?;
        let gang = parts.gang();
        Ok(Arc::new_cyclic(|me| Shenandoah {
            me: me.clone(),
            engine,
            cycle: Mutex::new(Cycle::none()),
            halts: AtomicUsize::new(0),
            goes_on: Condvar::new(),
            degenerating: AtomicUsize::new(0),
            finished: Mutex::new(Vec::new()),
            control: ControlThread::new("allotment-control"),
            timer: Timer::new(parts, gang.cpus()),
            progress: Progress::default(),
            trigger: Mutex::new(Trigger::new(TriggerSettings::from(options))),
            goal: Goal::new(parts.capacity()),
            tables: Mutex::new(tables),
            gang,
            workers: parts.workers("allotment-concurrent", options.conc_gc_threads.max(1)),
            history: parts.history.clone(),
            settings,
            overhead: parts.overhead(),
            passive: AtomicBool::new(options.shenandoah_gc_mode == ShenandoahMode::Passive),
            degenerated_threshold: options.shenandoah_full_gc_threshold,
            critical_free_percent: options.shenandoah_critical_free_threshold,
            degenerated_in_row: AtomicUsize::new(0),
            given_up_in_row: AtomicUsize::new(0),
            stopped_ns: AtomicU64::new(0),
            ended_in_stop: AtomicBool::new(false),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Cycle> {
        self.cycle.lock().expect(POISONED)
    }
}

impl Collector for Arc<Shenandoah> {
    fn name(&self) -> &'static str {
        "shenandoah"
    }

    fn keeps_dead_references(&self) -> bool {
        false
    }

    fn concurrent(&self) -> Option<&dyn Concurrent> {
        Some(&**self)
    }

    fn is_at_rest(&self) -> bool {
        self.cycle.try_lock().is_ok()
            && self.finished.try_lock().is_ok()
            && self.trigger.try_lock().is_ok()
            && self.tables.try_lock().is_ok()
            && self.engine.copies.is_at_rest()
            && self.engine.to_evacuate.is_at_rest()
            && self.engine.to_update.is_at_rest()
            && self.engine.old.as_ref().is_none_or(Old::is_at_rest)
            && self.engine.assisted.is_at_rest()
            && self.engine.freed.is_at_rest()
            && self.engine.pacer.is_at_rest()
            && self.progress.is_at_rest()
            && self.control.is_at_rest()
            && self.timer.is_at_rest()
            && self.gang.is_at_rest()
            && self.workers.is_at_rest()
            && self.history.is_at_rest()
    }

    fn forget_threads(&self) {
        self.gang.forget_threads();
        self.workers.forget_threads();
        self.control.forget();
        self.timer.forget_thread();
        // No thread drives the cycle that is under way, until a trigger or a request starts one.
        self.engine.pacer.forget_threads();
        self.engine.assisted.end();
    }

    fn heap_is_ready(&self, shared: &Arc<Shared>) {
        self.timer.begin(shared);
    }

    fn heap_is_taken_over(&self) {
        self.timer.go_on();
    }

    fn over_limit(&self) -> Option<(u64, GcOverhead)> {
        self.overhead.exceeded()
    }

    fn embedder_let_go(&self) {
        self.overhead.begin_anew();
    }

    fn emptied(&self, world: &World<'_>) -> Option<usize> {
        self.overhead.emptied(self.history.clock.age());
        self.engine.no_object_is_old(world.shared());
        world.set_barriers(0);
        self.timer.regions_were_freed(&world.shared().space.free);
        None
    }

    fn collect(
        &self,
        mutator: &mut Mutator<'_>,
        cause: Cause,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> Outcome {
        self.make_room(mutator, cause, satisfied)
    }

    fn await_run(&self, mutator: &mut Mutator<'_>, satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool) -> bool {
        Shenandoah::await_run(self, mutator, satisfied)
    }

    fn bytes_wanted_soon(&self, shared: &Shared) -> usize {
        Shenandoah::bytes_wanted_soon(self, &shared.space.free)
    }

    fn collect_after_interval(&self, shared: &Arc<Shared>) {
        self.make_room_after_interval(shared);
    }
}
