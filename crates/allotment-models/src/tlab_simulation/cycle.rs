//! Cycles beside threads: when they begin, what their phases cost, and which regions they free.
//!
//! The phases are `Reset`, `Mark` and `Move`. Each is work in ns of one worker, of which workers
//! take pieces. Threads that take buffers while a cycle is late take pieces as well. Between two
//! phases is a pause.
//!
//! `Mark` and `Move` begin with a visit of each thread, in which its buffer is filled: by a worker
//! while the thread sleeps, and otherwise by the thread when it has a CPU. A stop that comes first
//! finds buffers that were not visited, and gives their rests back: those regions hold next to
//! nothing, and are not worth a move. With buffers of a region and many threads this decides
//! whether a cycle frees anything.

use super::collect::{Phase, WorkerTurn, work};
use super::cpus::Task;
use super::engine::{Engine, nanoseconds};
use super::regions::Region;
use super::scenario::CollectorModel;
use super::thread::Stage;
use allotment::internals::shenandoah::{Candidate, CycleKind, FreeMemory, choose};
use std::time::Duration;

/// Clearing the tables of the last cycle, and what a cycle does about weak references, in ns of one
/// worker.
const RESET: u64 = 800_000;
const WEAK: u64 = 1_600_000;
/// A worker looks for more work after this, in ns.
const CHUNK: u64 = 500_000;
/// A thread that helps a cycle does so for this long, in ns.
const SLICE: u64 = 50_000;
/// A cycle is late when less than one part in this many is left of what was free at its
/// beginning.
const BEHIND: usize = 3;

impl Engine {
    /// A thread took a buffer that does not follow its last one. It looks whether a cycle should
    /// begin, or helps a cycle that is late. Returns the time that this takes, in ns.
    pub(super) fn refilled(&mut self) -> u64 {
        if !self.scenario.collector.is_concurrent() {
            return 0;
        }
        let now = Duration::from_nanos(self.now);
        let (size, left) = (self.regions.size, self.regions.left());
        let (free, capacity) = (left * size as usize, self.regions.capacity * size as usize);
        let taken = self.regions.taken * size;
        if self.collector.phase == Phase::Idle {
            if self.collector.trigger.look(now, free, capacity, taken).is_some() {
                self.begin_cycle(false);
                self.wake_workers();
            }
            return 0;
        }
        self.collector.trigger.sample(now, capacity, taken);
        let is_behind = left * BEHIND < self.collector.free_at_begin;
        if self.collector.phase == Phase::Reset || !is_behind || self.collector.left == 0 {
            return 0;
        }
        let slice = SLICE.min(self.collector.left);
        self.collector.left -= slice;
        slice
    }

    pub(super) fn begin_cycle(&mut self, all: bool) {
        let free = self.regions.left().max(1);
        let collector = &mut self.collector;
        collector.all = all
            || std::mem::take(&mut collector.all_next)
            || self.scenario.collector == CollectorModel::Shenandoah;
        (collector.phase, collector.left) = (Phase::Reset, RESET);
        (collector.began, collector.free_at_begin) = (self.now, free);
        collector.taken_before = self.regions.taken * self.regions.size;
    }

    /// The work of this phase is done: goes to the next. Returns whether the cycle goes on.
    pub(super) fn next_phase(&mut self) -> bool {
        match self.collector.phase {
            Phase::Idle => false,
            Phase::Reset => {
                self.begin_marking();
                true
            }
            Phase::Mark => {
                // Threads that wait for a CPU are left: the cycle would wait for them.
                self.end_visits();
                self.begin_moving()
            }
            Phase::Move => {
                self.end_visits();
                let set = std::mem::take(&mut self.collector.set);
                self.regions.release(&set);
                // Live objects that do not stay in regions filled by threads get regions of their
                // own.
                self.regions.set_live(self.collector.live.saturating_sub(self.collector.staying));
                false
            }
        }
    }

    /// Every region has its border, and the roots of threads are visited.
    fn begin_marking(&mut self) {
        self.begin_visits();
        self.regions.set_borders();
        let live = self.live_bytes();
        let survived = self.count_survivors();
        let collector = &mut self.collector;
        (collector.survived, collector.live) = (survived, live);
        let marked = collector.visited();
        (collector.phase, collector.left) = (Phase::Mark, WEAK + work(marked, self.scenario.costs.mark));
    }

    /// All threads are to be visited: by a worker if they sleep, and otherwise by themselves when
    /// they have a CPU.
    fn begin_visits(&mut self) {
        self.waste += self.regions.forget_spares();
        self.collector.visits += 1;
        self.collector.next_visited = 0;
    }

    /// Visits all threads that were not visited.
    fn end_visits(&mut self) {
        for id in 0..self.threads.len() {
            self.visit(id);
        }
        self.collector.next_visited = usize::MAX;
    }

    /// Visits the roots of a thread, and fills its buffer. Returns the time of that in ns; 0: it
    /// was visited.
    pub(super) fn visit(&mut self, id: usize) -> u64 {
        let thread = &mut self.threads[id];
        if thread.visited == self.collector.visits {
            return 0;
        }
        thread.visited = self.collector.visits;
        self.retire(id, false);
        nanoseconds(self.scenario.costs.visit)
    }

    /// A worker visits sleeping threads for a piece's time. Returns that time, in ns; 0: there are
    /// none left.
    fn visit_some(&mut self) -> u64 {
        let mut time = 0;
        while time < CHUNK && self.collector.next_visited < self.threads.len() {
            let id = self.collector.next_visited;
            self.collector.next_visited += 1;
            if matches!(self.threads[id].stage, Stage::Away | Stage::Woken) {
                time += self.visit(id);
            }
        }
        time
    }

    /// Chooses the regions that are emptied. Returns whether the cycle goes on: it ends where no
    /// region is worth it.
    fn begin_moving(&mut self) -> bool {
        let collector = &mut self.collector;
        let dead_before =
            self.scenario.dies_after().map_or(0, |bytes| self.regions.objects.saturating_sub(bytes));
        let may_live = |row: &Region| if row.age_mark < dead_before { 0 } else { row.top.min(row.border) };
        let filled: u64 = self.regions.bordered().map(|(_, row)| may_live(&row)).sum();
        let alive = (collector.survived + collector.staying).min(collector.live);
        let density = (alive as f64 / (filled as f64).max(1.0)).min(1.0);
        let (mut candidates, mut immediate, mut immediate_bytes) = (Vec::new(), Vec::new(), 0);
        for (region, row) in self.regions.bordered().filter(|(_, row)| (1..=row.border).contains(&row.top)) {
            let live = (may_live(&row) as f64 * density) as usize;
            let garbage = row.top as usize - live;
            if live == 0 {
                immediate.push(region);
                immediate_bytes += garbage;
            } else {
                candidates.push(Candidate {
                    region: region as usize,
                    live_bytes: live,
                    garbage_bytes: garbage,
                });
            }
        }
        let size = self.regions.size as usize;
        let space = FreeMemory {
            region_bytes: size,
            capacity_bytes: self.regions.capacity * size,
            free_bytes: self.regions.left() * size,
            immediate_bytes,
            reserve_regions: collector.reserve.min(self.regions.free()),
        };
        let choice = choose(&mut candidates, &collector.choice, &space);
        let copied = choice.live_bytes;
        let chosen = choice.set.iter().map(|candidate| candidate.region as u32);
        collector.set = chosen.chain(immediate).collect();
        let emptied: u64 =
            collector.set.iter().map(|region| may_live(&self.regions.table[*region as usize])).sum();
        collector.staying = ((filled - emptied) as f64 * density) as u64;
        let costs = self.scenario.costs;
        let updated = collector.visited();
        let moves = !choice.set.is_empty();
        let moving = work(copied as f64, costs.copy) + work(updated, costs.update);
        collector.left = if moves { moving } else { 0 };
        collector.phase = Phase::Move;
        self.regions.withdraw(&self.collector.set);
        if moves {
            self.begin_visits();
            true
        } else {
            // Nothing moves: regions without live objects are free at once.
            self.next_phase()
        }
    }

    /// A cycle ends `later` ns from now.
    pub(super) fn cycle_ended(&mut self, kind: CycleKind, later: u64) {
        let collector = &mut self.collector;
        collector.phase = Phase::Idle;
        collector.aged.rotate_right(1);
        collector.aged[0] = collector.survived;
        let degenerated = kind == CycleKind::Degenerated;
        collector.degenerated_in_row = if degenerated { collector.degenerated_in_row + 1 } else { 0 };
        let began = collector.began;
        self.fit_capacity();
        let (left, capacity) = (self.regions.left(), self.regions.capacity);
        let collector = &mut self.collector;
        let least_percent = collector.options.shenandoah_min_free_threshold;
        collector.all_next = !collector.all && left * 100 < capacity * least_percent;
        self.learn(kind, began, self.now + later);
        self.collected();
    }

    /// The workers of a phase beside threads get CPUs next.
    pub(super) fn wake_workers(&mut self) {
        for worker in (0..self.collector.pieces.len()).rev() {
            if self.collector.pieces[worker].is_none() {
                self.collector.pieces[worker] = Some(0);
                self.queue.push_back(Task::Collector(worker));
            }
        }
    }

    /// A worker has done its piece, and takes the next.
    pub(super) fn next_piece(&mut self, worker: usize) -> WorkerTurn {
        let collector = &mut self.collector;
        (collector.pieces[worker], collector.begun[worker]) = (None, false);
        if collector.phase == Phase::Idle {
            return WorkerTurn::Leaves;
        }
        let visits = self.visit_some();
        let collector = &mut self.collector;
        if visits > 0 {
            (collector.pieces[worker], collector.begun[worker]) = (Some(visits), true);
            return WorkerTurn::Works;
        }
        if collector.left > 0 {
            let piece = collector.left.min(CHUNK);
            collector.left -= piece;
            (collector.pieces[worker], collector.begun[worker]) = (Some(piece), true);
            return WorkerTurn::Works;
        }
        if collector.begun.contains(&true) { WorkerTurn::Leaves } else { WorkerTurn::EndsPhase }
    }

    /// The last worker has ended a phase: a pause follows.
    pub(super) fn end_phase(&mut self) {
        self.freeze();
        let moved = self.collector.phase == Phase::Move;
        if !self.next_phase() {
            self.window().collections += 1;
            self.cycle_ended(if moved { CycleKind::Concurrent } else { CycleKind::Abbreviated }, 0);
        }
        self.stop(nanoseconds(self.scenario.costs.pause), false);
    }
}
