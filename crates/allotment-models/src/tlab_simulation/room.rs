//! Stops because a thread finds no memory.
//!
//! ```text
//! parallel     eden is collected -> a full collection -> out of memory
//! shenandoah   buffers are given back; a cycle that is under way ends in the stop (degenerated)
//!              -> a whole cycle in the stop, unless many degenerated in a row
//!              -> a full collection, even if hardly anything is free now -> out of memory
//! ```
//!
//! As in the heap, a cycle that only resets its tables is dropped.

use super::collect::{DIRTY, Phase, all_young, work};
use super::cpus::Task;
use super::engine::{Engine, nanoseconds};
use allotment::internals::shenandoah::CycleKind;
use allotment::internals::tlab::{Cycle as BufferCycle, HeapCycle};
use allotment::stats::TlabTotals;

impl Engine {
    /// No memory for a thread: the world, whose CPUs are free, stops until there is some.
    pub(super) fn make_room(&mut self, id: usize) {
        let costs = self.scenario.costs;
        let mut pause = nanoseconds(costs.pause) + nanoseconds(costs.thread) * self.threads.len() as u64;
        let satisfied = if self.scenario.collector.is_concurrent() {
            self.make_room_concurrent(id, &mut pause)
        } else {
            self.collect_young(&mut pause);
            self.allocate(id).is_some()
        };
        let satisfied = satisfied || {
            pause += self.collect_fully(pause);
            self.allocate(id).is_some() || {
                // Whatever is left serves the thread.
                self.regions.capacity = self.regions.table.len();
                self.allocate(id).is_some()
            }
        };
        self.collector.out_of_memory = !satisfied;
        self.window().stops += 1;
        self.stop(pause, true);
    }

    fn make_room_concurrent(&mut self, id: usize, pause: &mut u64) -> bool {
        self.retire_all();
        match self.collector.phase {
            Phase::Idle => {}
            Phase::Reset => {
                self.recall_workers();
                (self.collector.phase, self.collector.left) = (Phase::Idle, 0);
            }
            Phase::Mark | Phase::Move => *pause += self.finish_cycle(*pause),
        }
        if self.allocate(id).is_some() {
            return true;
        }
        if self.collector.degenerated_in_row <= self.collector.options.shenandoah_full_gc_threshold {
            self.begin_cycle(true);
            self.collector.began += *pause;
            *pause += self.finish_cycle(*pause);
        }
        let critical = self.regions.table.len() * self.collector.options.shenandoah_critical_free_threshold;
        self.regions.free() * 100 >= critical && self.allocate(id).is_some()
    }

    /// Workers leave the phase. Their pieces go back to it.
    fn recall_workers(&mut self) {
        self.collector.left += self.collector.pieces.iter().flatten().sum::<u64>();
        self.collector.pieces.fill(None);
        self.collector.begun.fill(false);
        self.queue.retain(|task| !matches!(task, Task::Collector(_)));
    }

    /// Does what is left of the cycle in a stop, `later` ns from now. Returns the time, in ns.
    fn finish_cycle(&mut self, later: u64) -> u64 {
        let workers = self.scenario.workers as u64;
        self.recall_workers();
        let mut time = 0;
        loop {
            time += (std::mem::take(&mut self.collector.left) + self.visits_left()) / workers;
            if !self.next_phase() {
                break;
            }
        }
        self.window().degenerated += 1;
        self.cycle_ended(CycleKind::Degenerated, later + time);
        time
    }

    /// The time of the visits that workers have yet to make, in ns of one worker.
    fn visits_left(&mut self) -> u64 {
        let left = self.threads.len().saturating_sub(self.collector.next_visited) as u64;
        self.collector.next_visited = usize::MAX;
        left * nanoseconds(self.scenario.costs.visit)
    }

    /// Copies what survived in eden, in a stop, and sizes the threads' buffers.
    fn collect_young(&mut self, pause: &mut u64) {
        let (used, capacity) = self.eden();
        self.end_buffers();
        let live = self.live_bytes();
        let survived = self.count_survivors();
        let costs = self.scenario.costs;
        let copied = work(survived as f64, costs.copy) + work(live as f64 * DIRTY, costs.update);
        *pause += copied / self.scenario.workers as u64;
        self.empty(live);
        self.size_buffers(used, capacity);
        self.window().collections += 1;
        self.collected();
    }

    /// Bytes used of eden, and its bytes.
    pub(super) fn eden(&self) -> (usize, usize) {
        let size = self.regions.size as usize;
        let capacity = (self.regions.capacity - self.regions.live()) * size;
        (capacity - (self.regions.left() * size).min(capacity), capacity)
    }

    /// Everything that is alive is together, and all other regions are free.
    fn empty(&mut self, live: u64) {
        let shared = self.regions.shared();
        self.regions.withdraw(&shared);
        self.regions.release(&shared);
        self.regions.set_live(live);
        self.collector.staying = 0;
        self.fit_capacity();
    }

    fn size_buffers(&mut self, used: usize, capacity: usize) {
        let mut totals = TlabTotals::default();
        for thread in &self.threads {
            totals.add(&thread.counts.since(&thread.counts_before));
        }
        let requested = totals.sum.allocated_in_all() as usize;
        self.averages.end_cycle(&HeapCycle { used, capacity, requested, threads: totals.threads });
        for thread in &mut self.threads {
            let allocated = thread.counts.since(&thread.counts_before).allocated_in_all() as usize;
            thread.counts_before = thread.counts;
            let cycle = BufferCycle { used, capacity, allocated };
            self.budget.end_cycle(&self.config, &self.averages, &mut thread.sizing, &cycle);
        }
        self.budget.forget_census();
        self.budget.set_capacity(self.eden().1);
        let share = self.budget.share();
        for thread in &mut self.threads {
            self.budget.trim(&self.config, &mut thread.sizing, share);
        }
    }

    /// Slides all objects together in a stop, `later` ns from now. Returns the time, in ns.
    fn collect_fully(&mut self, later: u64) -> u64 {
        self.end_buffers();
        let live = self.live_bytes();
        self.count_survivors();
        self.collector.free_at_begin = self.regions.left();
        self.collector.taken_before = self.regions.taken * self.regions.size;
        self.empty(live);
        let time = work(live as f64, self.scenario.costs.full) / self.scenario.workers as u64;
        if self.scenario.collector.is_concurrent() {
            let began = self.now + later;
            self.learn(CycleKind::Full, began, began + time);
            self.collector.degenerated_in_row = 0;
            self.collector.aged = all_young(live);
        }
        self.window().full += 1;
        self.collected();
        time
    }
}
