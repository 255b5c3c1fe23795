//! The state of the collector, the live bytes, and the part of the heap that threads may use.
//!
//! ```text
//! parallel     eden is full -> stop: copy what survived, free eden, size buffers
//! shenandoah   trigger -> Reset -> pause -> Mark, each thread's buffer filled when it is visited
//!              -> pause, the set chosen -> Move, buffers filled again -> pause, the set is free
//!              no memory -> stop, see `room`
//! ```
//!
//! The trigger, the choice of the set and the reserve for copies are the heap's own code. What is
//! alive is a number: it lies evenly in the regions that threads have filled, except those in
//! which all must be dead by now ([`Scenario::dies_after`](super::scenario::Scenario)).

use super::engine::Engine;
use super::regions::Regions;
use super::scenario::CollectorModel;
use super::thread::{Role, Thread};
use allotment::internals::shenandoah::{
    ChooseSettings, CycleKind, Ended, Trigger, TriggerSettings, reserve_regions,
};
use allotment::options::Options;
use std::time::Duration;

/// The part of old objects that lies in dirty cards: a young cycle looks at it.
pub(super) const DIRTY: f64 = 0.02;

/// Cycles that an object survives before it is old. The heap's census says 7 at the beginning, and
/// soon 1 where hardly anything dies any more.
pub(super) const TENURING: usize = 3;

/// Young bytes by cycles survived in a heap that has no old object: it is new, or was collected
/// fully.
pub(super) fn all_young(live: u64) -> [u64; TENURING] {
    std::array::from_fn(|age| if age == 0 { live } else { 0 })
}

/// The step of a concurrent cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Reset,
    Mark,
    Move,
}

/// The next step of a worker whose piece is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkerTurn {
    /// It has another one.
    Works,
    /// Others are at the last pieces, or there is no cycle.
    Leaves,
    /// It was the last.
    EndsPhase,
}

/// The collector.
#[derive(Debug)]
pub(super) struct Collector {
    pub(super) phase: Phase,
    /// Work of this phase that no worker has begun, in ns of one worker.
    pub(super) left: u64,
    /// The rest of each worker's piece, in ns; `None`: the worker is not there.
    pub(super) pieces: Vec<Option<u64>>,
    /// Whether each worker has begun a piece.
    pub(super) begun: Vec<bool>,
    /// Visits of all threads' roots that began. A thread that was not visited by the latest one has
    /// the buffer that it had when the visit began.
    pub(super) visits: u64,
    /// The thread that a worker visits next.
    pub(super) next_visited: usize,
    pub(super) began: u64,
    pub(super) free_at_begin: usize,
    /// Bytes of regions that were ever taken, when the cycle began.
    pub(super) taken_before: u64,
    /// Whether the cycle marks all objects.
    pub(super) all: bool,
    /// Whether the next cycle marks all objects, because the last one has left little free.
    pub(super) all_next: bool,
    pub(super) trigger: Trigger,
    pub(super) choice: ChooseSettings,
    pub(super) reserve: usize,
    /// Regions that the cycle empties.
    pub(super) set: Vec<u32>,
    /// Bytes that have survived since the last cycle.
    pub(super) survived: u64,
    /// Those that survived earlier cycles and are young yet, by the number of cycles, less one.
    pub(super) aged: [u64; TENURING],
    /// Live bytes when the cycle began to mark.
    pub(super) live: u64,
    /// Live bytes that the last cycle left in regions that threads had filled.
    pub(super) staying: u64,
    /// Degenerated cycles since the last other one.
    pub(super) degenerated_in_row: usize,
    /// The thresholds of cycles.
    pub(super) options: Options,
    /// A full collection has left no memory for a thread.
    pub(super) out_of_memory: bool,
}

impl Collector {
    pub(super) fn new(regions: &mut Regions, model: CollectorModel, workers: usize, live: u64) -> Collector {
        let options = Options::default();
        let choice = ChooseSettings::from(&options);
        let heap = regions.table.len() * regions.size as usize;
        let reserve =
            if model.is_concurrent() { reserve_regions(&choice, regions.size as usize, heap) } else { 0 };
        Collector {
            phase: Phase::Idle,
            left: 0,
            pieces: vec![None; workers],
            begun: vec![false; workers],
            visits: 0,
            next_visited: usize::MAX,
            began: 0,
            free_at_begin: 0,
            taken_before: 0,
            all: false,
            all_next: false,
            trigger: Trigger::new(TriggerSettings::from(&options)),
            choice,
            reserve,
            set: Vec::new(),
            survived: 0,
            aged: all_young(live),
            live: 0,
            staying: 0,
            degenerated_in_row: 0,
            options,
            out_of_memory: false,
        }
    }

    /// Bytes of live objects that the cycle visits: all of them, or young ones and the old ones
    /// that may refer to them.
    pub(super) fn visited(&self) -> f64 {
        let live = self.live as f64;
        let young = self.survived + self.aged.iter().sum::<u64>();
        if self.all { live } else { young.min(self.live) as f64 + live * DIRTY }
    }
}

/// `cost` ns for each KiB of `bytes`.
pub(super) fn work(bytes: f64, cost: f64) -> u64 {
    (bytes / 1024.0 * cost) as u64
}

impl Engine {
    /// Bytes that are alive now.
    pub(super) fn live_bytes(&self) -> u64 {
        let of = |thread: &Thread| match thread.role {
            Role::Rebuilder => self.rebuilt(thread.left),
            _ => self.scenario.kept(thread.allocated),
        };
        self.scenario.live + self.threads.iter().map(of).sum::<u64>()
    }

    /// Bytes alive of a rebuild that has yet to allocate `left`.
    fn rebuilt(&self, left: u64) -> u64 {
        let Some(rebuild) = self.scenario.rebuild.filter(|_| left > 0) else { return 0 };
        ((1.0 - left as f64 / rebuild.bytes as f64) * rebuild.keeps as f64) as u64
    }

    /// Bytes that were allocated since the last cycle and are alive. The count begins again at 0.
    pub(super) fn count_survivors(&mut self) -> u64 {
        let mut survived = 0;
        for thread in &mut self.threads {
            let since = thread.allocated - thread.allocated_before;
            thread.allocated_before = thread.allocated;
            survived += match (thread.role, self.scenario.rebuild) {
                (Role::Rebuilder, Some(rebuild)) => {
                    (since as f64 / rebuild.bytes as f64 * rebuild.keeps as f64) as u64
                }
                _ => self.scenario.kept(since),
            };
        }
        survived
    }

    /// Lets mutators use the heap up to eden, or up to the reserve for copies.
    pub(super) fn fit_capacity(&mut self) {
        let (all, live) = (self.regions.table.len(), self.regions.live());
        self.regions.capacity = match self.scenario.collector {
            CollectorModel::Parallel => live + ((all - live) * self.scenario.eden as usize / 100).max(1),
            _ if self.regions.free() <= 2 * self.collector.reserve => all,
            _ => all - self.collector.reserve,
        };
    }

    /// Notes the first collection of all.
    pub(super) fn collected(&mut self) {
        if self.unleashed.is_some() && self.tally.first_unused.is_none() {
            let granted = (self.tally.granted - self.tally.granted_before) as f64;
            let objects = (self.regions.objects - self.tally.objects_before) as f64;
            self.tally.first_unused = Some(100.0 * (1.0 - objects / granted.max(1.0)).max(0.0));
        }
    }

    /// Tells the trigger of a cycle that lasted from `began` to `ended`, in ns.
    pub(super) fn learn(&mut self, kind: CycleKind, began: u64, ended: u64) {
        let size = self.regions.size as usize;
        let (free_bytes, capacity_bytes) = (self.regions.left() * size, self.regions.capacity * size);
        let taken = self.regions.taken * self.regions.size;
        let taken_bytes = taken.saturating_sub(self.collector.taken_before) as usize;
        let freed_bytes = (free_bytes + taken_bytes).saturating_sub(self.collector.free_at_begin * size);
        let (time, ended) = (Duration::from_nanos(ended - began), Duration::from_nanos(ended));
        let trigger = &mut self.collector.trigger;
        trigger.sample(ended, capacity_bytes, taken);
        let was_behind = false;
        // The model prints no log.
        let _ = trigger.cycle_ended(Ended {
            ended,
            time,
            kind,
            was_behind,
            taken_bytes,
            freed_bytes,
            free_bytes,
            capacity_bytes,
            left_bytes: free_bytes,
        });
    }
}
