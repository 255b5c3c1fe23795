//! All policies in the same situations: a small deterministic simulator, and the table that it
//! prints.
//!
//! It runs the heap's own code on a heap that is a number. Time passes in ms, threads allocate
//! objects of 48 bytes in turn, and when a request cannot be met a cycle frees everything. The
//! omitted parts (live data, regions, concurrency) are the same for every policy.
//!
//! The table: `cargo test -p allotment --lib scenarios -- --nocapture`.

use super::budget::{Budget, CensusEntry, Settlement};
use super::sizing::{Averages, Config, Cycle, HeapCycle, Settings, Sizing};
use super::statistics::{TlabStatistics, TlabTotals};
use crate::options::TlabPolicy;

const OBJECT: usize = 48;
const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

struct Thread {
    sizing: Sizing,
    /// Bytes left in the buffer.
    free: usize,
    /// Bytes allocated since the last cycle.
    allocated: usize,
    /// Bytes allocated ever.
    total: usize,
    statistics: TlabStatistics,
    cycle_start: TlabStatistics,
}

struct Simulation {
    config: Config,
    averages: Averages,
    budget: Budget,
    capacity: usize,
    used: usize,
    now_ms: u64,
    /// `None` where a thread has ended.
    threads: Vec<Option<Thread>>,
    /// Threads that have not ended.
    alive: usize,
    ended: TlabTotals,
    cycles: usize,
    /// Bytes free in all buffers, now and at worst.
    idle: usize,
    worst_idle: usize,
}

impl Simulation {
    fn new(policy: TlabPolicy, capacity: usize) -> Self {
        let region_size = (1 << (capacity / 2048).ilog2()).clamp(256 * KIB, 32 * MIB);
        let config = Config::new(&Settings { policy, region_size, capacity, ..Settings::default() });
        Self {
            averages: Averages::new(&config),
            budget: Budget::new(&config, capacity, 5.0),
            config,
            capacity,
            used: 0,
            now_ms: 0,
            threads: Vec::new(),
            alive: 0,
            ended: TlabTotals::default(),
            cycles: 0,
            idle: 0,
            worst_idle: 0,
        }
    }

    fn start(&mut self) -> usize {
        self.alive += 1;
        self.threads.push(Some(Thread {
            sizing: Sizing::start(&self.config, &self.averages),
            free: 0,
            allocated: 0,
            total: 0,
            statistics: TlabStatistics::default(),
            cycle_start: TlabStatistics::default(),
        }));
        self.threads.len() - 1
    }

    fn thread(&mut self, id: usize) -> &mut Thread {
        self.threads[id].as_mut().expect("the scenario ended this thread")
    }

    fn end(&mut self, id: usize) {
        let mut thread = self.threads[id].take().expect("the scenario ended this thread twice");
        self.budget.leave(&self.config, &mut thread.sizing);
        thread.statistics.gc_waste += thread.free as u64;
        self.idle -= thread.free;
        self.ended.add(&thread.statistics);
        self.alive -= 1;
    }

    /// One thread allocates at least `bytes`, in objects.
    fn allocate(&mut self, id: usize, bytes: usize) {
        let mut left = bytes.div_ceil(OBJECT) * OBJECT;
        loop {
            let thread = self.threads[id].as_mut().expect("the scenario ended this thread");
            let fast = left.min(thread.free / OBJECT * OBJECT);
            thread.free -= fast;
            thread.allocated += fast;
            thread.total += fast;
            self.idle -= fast;
            left -= fast;
            if left == 0 {
                return;
            }
            if thread.sizing.keep(&self.config, thread.free) {
                if self.capacity - self.used < OBJECT {
                    self.cycle();
                    continue;
                }
                self.used += OBJECT;
                thread.allocated += OBJECT;
                thread.total += OBJECT;
                thread.statistics.slow_allocations += 1;
                left -= OBJECT;
                continue;
            }
            thread.statistics.refill_waste += thread.free as u64;
            self.idle -= thread.free;
            thread.free = 0;
            self.refill(id);
        }
    }

    fn refill(&mut self, id: usize) {
        let thread = self.threads[id].as_mut().expect("the scenario ended this thread");
        if self.budget.settle(&self.config, &mut thread.sizing, self.now_ms) == Settlement::RunCensus {
            let entries = self.threads.iter().flatten().map(|thread| CensusEntry::from(&thread.sizing));
            self.budget.census(entries, self.now_ms);
        }
        let available = self.capacity - self.used;
        let thread = self.threads[id].as_mut().expect("the scenario ended this thread");
        let Some(request) = thread.sizing.request(&self.config, OBJECT, available, self.now_ms) else {
            return self.cycle();
        };
        thread.sizing.granted(&self.config, request.size, self.now_ms);
        thread.statistics.refills += 1;
        thread.statistics.allocated += request.size as u64;
        thread.free = request.size;
        self.used += request.size;
        self.idle += request.size;
        self.worst_idle = self.worst_idle.max(self.idle);
        if self.config.policy == TlabPolicy::Adaptive {
            let bound = self.budget.bound() + self.alive * (self.config.floor() + OBJECT);
            assert!(self.idle <= bound, "{} bytes idle, more than {bound}", self.idle);
        }
    }

    /// Takes all buffers and frees everything.
    fn cycle(&mut self) {
        let (used, capacity) = (self.used, self.capacity);
        let mut totals = TlabTotals::default();
        for thread in self.threads.iter_mut().flatten() {
            thread.statistics.gc_waste += thread.free as u64;
            thread.free = 0;
            totals.add(&thread.statistics.since(&thread.cycle_start));
            thread.cycle_start = thread.statistics;
        }
        let requested = totals.sum.allocated as usize;
        self.averages.end_cycle(&HeapCycle { used, capacity, requested, threads: totals.threads });
        for thread in self.threads.iter_mut().flatten() {
            let cycle = Cycle { used, capacity, allocated: std::mem::take(&mut thread.allocated) };
            self.budget.end_cycle(&self.config, &self.averages, &mut thread.sizing, &cycle);
        }
        self.budget.forget_census();
        self.verify();
        (self.used, self.idle) = (0, 0);
        self.cycles += 1;
    }

    fn verify(&self) {
        // The budget ignores threads under another policy.
        if self.config.policy != TlabPolicy::Adaptive {
            return;
        }
        let entries = self.threads.iter().flatten().map(|thread| CensusEntry::from(&thread.sizing));
        self.budget.verify(entries).expect("the budget's equations hold");
    }

    /// One thread allocates 1 MiB per ms for `milliseconds` while `meanwhile` runs each ms. The
    /// second half measures its steady state, the first half the way there.
    fn hunger(&mut self, id: usize, milliseconds: usize, mut meanwhile: impl FnMut(&mut Self)) -> Hunger {
        let mut half = || {
            let before = (self.thread(id).statistics.refills, self.cycles);
            for _ in 0..milliseconds / 2 {
                meanwhile(self);
                self.allocate(id, MIB);
                self.now_ms += 1;
            }
            (self.thread(id).statistics.refills - before.0, self.cycles - before.1)
        };
        let ((first, _), (steady, cycles)) = (half(), half());
        Hunger { steady, cycles, bytes: milliseconds / 2 * MIB, extra: first as i64 - steady as i64 }
    }

    fn outcome(self, hunger: Option<Hunger>) -> Outcome {
        self.verify();
        let mut totals = self.ended;
        self.threads.iter().flatten().for_each(|thread| totals.add(&thread.statistics));
        Outcome {
            idle_percent: 100.0 * self.worst_idle as f64 / self.capacity as f64,
            waste_percent: totals.waste_percent(),
            cycles: self.cycles,
            hunger,
        }
    }
}

#[derive(Clone, Copy)]
struct Hunger {
    /// Refills in the second half.
    steady: u64,
    /// Cycles in the second half.
    cycles: usize,
    /// Bytes allocated in the second half.
    bytes: usize,
    /// Refills in the first half beyond those in the second.
    extra: i64,
}

struct Outcome {
    /// Largest share of the heap that was free in buffers at any instant.
    idle_percent: f64,
    waste_percent: f64,
    cycles: usize,
    hunger: Option<Hunger>,
}

/// One thread alone that allocates all it can.
fn alone(policy: TlabPolicy, capacity: usize) -> Outcome {
    let mut simulation = Simulation::new(policy, capacity);
    let id = simulation.start();
    let hunger = simulation.hunger(id, 16_000, |_| ());
    simulation.outcome(Some(hunger))
}

/// Threads that start together, allocate 20 KB each and idle.
fn storm(policy: TlabPolicy, capacity: usize, threads: usize) -> Outcome {
    let mut simulation = Simulation::new(policy, capacity);
    for _ in 0..threads {
        let id = simulation.start();
        simulation.allocate(id, 20_000);
    }
    simulation.outcome(None)
}

/// One hungry thread among 499 idle ones that have allocated one object each.
fn among_idle(policy: TlabPolicy) -> Outcome {
    let mut simulation = Simulation::new(policy, 4 * GIB);
    for _ in 0..499 {
        let id = simulation.start();
        simulation.allocate(id, OBJECT);
    }
    let id = simulation.start();
    let hunger = simulation.hunger(id, 16_000, |_| ());
    simulation.outcome(Some(hunger))
}

/// One hungry thread among 499 that were as hungry as it until `idle_ms` ago.
fn among_sated(policy: TlabPolicy, idle_ms: u64) -> Outcome {
    let mut simulation = Simulation::new(policy, 4 * GIB);
    let ids: Vec<_> = (0..500).map(|_| simulation.start()).collect();
    for _ in 0..100 {
        // Not the same for all, or their buffers would all be full at the same time.
        ids.iter().for_each(|id| simulation.allocate(*id, 500 * KIB + id * 2111));
        simulation.now_ms += 1;
    }
    simulation.now_ms += idle_ms;
    let hunger = simulation.hunger(ids[0], 16_000, |_| ());
    simulation.outcome(Some(hunger))
}

/// One hungry thread among threads that come, five per ms. Each allocates 20 KB at once, a tenth of
/// them 10 MiB more. Each goes after 100 ms.
fn come_and_go(policy: TlabPolicy) -> Outcome {
    let mut simulation = Simulation::new(policy, 4 * GIB);
    let hungry = simulation.start();
    let mut lives = std::collections::VecDeque::new();
    let hunger = simulation.hunger(hungry, 16_000, |simulation| {
        for _ in 0..5 {
            let id = simulation.start();
            simulation.allocate(id, 20_000);
            lives.push_back(id);
        }
        lives.iter().filter(|id| *id % 10 == 0).for_each(|id| simulation.allocate(*id, 100 * KIB));
        while lives.len() > 500 {
            simulation.end(lives.pop_front().expect("500 threads live"));
        }
    });
    simulation.outcome(Some(hunger))
}

/// The name of the scenario, and whether threads idle in it.
type Scenario = (&'static str, bool, fn(TlabPolicy) -> Outcome);

const SCENARIOS: [Scenario; 8] = [
    ("a  one hungry thread, 4 GiB", false, |policy| alone(policy, 4 * GIB)),
    ("a' one hungry thread, 64 GiB", false, |policy| alone(policy, 64 * GIB)),
    ("b  500 start at once, 20 KB each, 4 GiB", true, |policy| storm(policy, 4 * GIB, 500)),
    ("c  2000 start at once, 20 KB each, 64 GiB", true, |policy| storm(policy, 64 * GIB, 2000)),
    ("d  1 hungry, 499 never were, 4 GiB", true, among_idle),
    ("d' 1 hungry, 499 were until 2 s ago, 4 GiB", true, |policy| among_sated(policy, 2000)),
    (SATED_NOW, true, |policy| among_sated(policy, 0)),
    ("e  1 hungry, 500 come and go, 4 GiB", true, come_and_go),
];

/// The one scenario in which a thread cannot know at first that it is alone: the others have only
/// just stopped.
const SATED_NOW: &str = "d\" 1 hungry, 499 were until now, 4 GiB";

#[test]
fn adaptive_holds_least_and_refills_least() {
    println!(
        "\n{:44} {:19} {:>11} {:>12} {:>15} {:>8} {:>7}",
        "scenario", "policy", "idle, worst", "refills/GiB", "start-up extra", "waste", "cycles"
    );
    for (name, threads_idle, scenario) in SCENARIOS {
        let outcomes: Vec<_> = TlabPolicy::ALL.iter().map(|policy| (*policy, scenario(*policy))).collect();
        for (policy, outcome) in &outcomes {
            let (steady, extra) = outcome.hunger.map_or_else(Default::default, |hunger| {
                let per_gib = hunger.steady as f64 * GIB as f64 / hunger.bytes as f64;
                (format!("{per_gib:.1}"), hunger.extra.to_string())
            });
            println!(
                "{name:44} {policy:19} {:>10.3}% {steady:>12} {extra:>15} {:>7.1}% {:>7}",
                outcome.idle_percent, outcome.waste_percent, outcome.cycles
            );
        }
        let (policy, adaptive) = &outcomes[0];
        assert_eq!(*policy, TlabPolicy::Adaptive);
        for (policy, other) in &outcomes[1..] {
            if matches!(policy, TlabPolicy::Hotspot | TlabPolicy::Hotspot8381834) {
                let (own, theirs) = (adaptive.idle_percent, other.idle_percent);
                // A lone thread that allocates all it can reaches the largest buffer under each of
                // them.
                let beaten = if threads_idle { own < theirs } else { own <= theirs };
                assert!(beaten, "{name}: {policy} holds {theirs} %, adaptive {own} %");
            }
            if let (Some(adaptive), Some(other)) = (adaptive.hunger, other.hunger) {
                // The second half may begin just before a refill or just after, and so may each
                // cycle end.
                let chance = 1 + adaptive.cycles as u64;
                assert!(adaptive.steady <= other.steady + chance, "{name}: {policy} refills less");
            }
        }
        if let Some(hunger) = adaptive.hunger
            && name != SATED_NOW
        {
            assert!(hunger.extra <= 16, "{name}: {} refills more at the start", hunger.extra);
        }
    }
}
