//! The simulation: events in order of time.
//!
//! A thread that has a CPU allocates in its buffer, which takes CPU time, and then decides: a
//! refill, the end of its operation, or a stop because there is no memory. Between two decisions
//! only two things can happen to it: its time slice ends, or the world stops.
//!
//! Refused: a thread of the system for each simulated one. It would measure this machine.

use super::collect::{Collector, Phase};
use super::cpus::{Cpu, Task};
use super::regions::Regions;
use super::scenario::{Arrival, Scenario};
use super::tally::{Counts, Tally};
use super::thread::{Role, Thread};
use crate::ScenarioError;
use allotment::internals::tlab::{Averages, Budget, Config, Settings, Sizing};
use allotment_report::random::Random;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

/// The simulation ends at this time, in ns: a century. No step of it is as long, so that no time
/// overflows.
const LAST: u64 = 100 * 366 * 86_400 * 1_000_000_000;

/// One of `LATE` wake-ups is late, and takes `LATER` times as long on average. With 80 us that is
/// the distribution that was measured in storms: P50 94 us, P99 1.6 ms, P99.9 6 ms. Waves of
/// threads that begin at one instant are flat after some seconds.
const LATE: usize = 64;
const LATER: u32 = 25;

/// An event of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A task of a CPU decides, or its time slice ends; void if the CPU has had another turn since.
    Turn { cpu: usize, turn: u64 },
    /// A thread wants a CPU.
    Wake(usize),
    /// The world goes on; void if it was stopped again since.
    Resume(u64),
}

/// A simulation.
pub(super) struct Engine {
    pub(super) scenario: Scenario,
    pub(super) config: Config,
    pub(super) averages: Averages,
    pub(super) budget: Budget,
    pub(super) regions: Regions,
    pub(super) collector: Collector,
    pub(super) threads: Vec<Thread>,
    pub(super) queue: VecDeque<Task>,
    pub(super) tally: Tally,
    /// In ns.
    pub(super) now: u64,
    /// Bytes in which there is no object and will be none.
    pub(super) waste: u64,
    pub(super) cpus: Vec<Cpu>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    /// Events so far: those of the same time happen in the order in which they were planned.
    planned: u64,
    /// Stops so far.
    pub(super) stops: u64,
    /// Whether the world is stopped.
    pub(super) stopped: bool,
    /// When all threads begin; `None`: one is alone.
    pub(super) unleashed: Option<u64>,
    /// Threads that have not ended.
    pub(super) active: usize,
    pub(super) random: Random,
}

/// The nanoseconds of a time.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Engine {
    /// # Errors
    /// A number cannot be simulated.
    pub(super) fn new(scenario: &Scenario) -> Result<Engine, ScenarioError> {
        scenario.check()?;
        let geometry = scenario.geometry()?;
        let config = Config::new(&Settings {
            policy: scenario.policy,
            region_size: geometry.region_bytes(),
            capacity: geometry.heap_bytes(),
            tlab_size: scenario.tlab_size as usize,
            max_tlab_size: scenario.max_tlab_size as usize,
            ..Settings::default()
        });
        let mut regions = Regions::new(geometry.regions, geometry.region_bytes() as u64, scenario.cpus);
        regions.set_live(scenario.live);
        let collector =
            Collector::new(&mut regions, scenario.collector, scenario.concurrent_workers, scenario.live);
        let mut engine = Engine {
            averages: Averages::new(&config),
            budget: Budget::new(&config, geometry.heap_bytes(), scenario.idle_percent),
            config,
            scenario: *scenario,
            regions,
            collector,
            threads: Vec::new(),
            queue: VecDeque::new(),
            tally: Tally::default(),
            now: 0,
            waste: 0,
            cpus: vec![Cpu::default(); scenario.cpus],
            events: BinaryHeap::new(),
            planned: 0,
            stops: 0,
            stopped: false,
            unleashed: None,
            active: scenario.threads,
            random: Random::new(scenario.seed),
        };
        engine.fit_capacity();
        if !scenario.collector.is_concurrent() {
            engine.budget.set_capacity(engine.eden().1);
        }
        if scenario.before > 0 {
            let sizing = Sizing::start(&engine.config, &engine.averages);
            engine.threads.push(Thread::new(Role::Alone, sizing));
            engine.plan(0, Event::Wake(0));
        } else {
            engine.unleash();
        }
        Ok(engine)
    }

    /// Lets the next event happen; `false`: the last thread has ended, or there is no memory left.
    pub(super) fn step(&mut self) -> bool {
        if self.active == 0 || self.collector.out_of_memory {
            return false;
        }
        let Some(Reverse((time, _, event))) = self.events.pop() else { return false };
        if time >= LAST {
            return false;
        }
        self.now = time;
        match event {
            Event::Wake(id) => self.wake(id),
            Event::Turn { cpu, turn } if self.cpus[cpu].turn == turn => self.turn(cpu),
            Event::Resume(stop) if self.stops == stop => {
                self.stopped = false;
                if self.collector.phase != Phase::Idle {
                    self.wake_workers();
                }
            }
            Event::Turn { .. } | Event::Resume(_) => {}
        }
        self.dispatch();
        true
    }

    /// The time in ms, as policies know it. Never 0, which stands for "no refill yet".
    pub(super) fn now_ms(&self) -> u64 {
        1 + self.now / 1_000_000
    }

    /// The end of the warm-up; `None`: one thread is alone.
    pub(super) fn counted_from(&self) -> Option<u64> {
        Some(self.unleashed? + nanoseconds(self.scenario.warm_up))
    }

    /// The counts of this time: before all threads begin, in the warm-up, or after it.
    pub(super) fn window(&mut self) -> &mut Counts {
        match self.counted_from() {
            None => &mut self.tally.before,
            Some(begin) if self.now < begin => &mut self.tally.warm_up,
            Some(_) => &mut self.tally.counted,
        }
    }

    pub(super) fn plan(&mut self, time: u64, event: Event) {
        self.planned += 1;
        self.events.push(Reverse((time, self.planned, event)));
    }

    /// All threads begin. A thread whose first operation would begin too late is not there.
    pub(super) fn unleash(&mut self) {
        self.unleashed = Some(self.now);
        (self.tally.granted_before, self.tally.objects_before) = (self.tally.granted, self.regions.objects);
        let (count, last) = (self.scenario.threads, self.last_begin());
        let pace = nanoseconds(self.scenario.pace);
        self.active = 0;
        for number in 0..count {
            let offset = match self.scenario.arrival {
                Arrival::Instant | Arrival::Steady => 0,
                Arrival::Staggered => (u128::from(pace) * number as u128 / count as u128) as u64,
                Arrival::Poisson => self.exponential(self.scenario.pace),
            };
            let mut thread = Thread::new(Role::Worker, Sizing::start(&self.config, &self.averages));
            thread.planned = self.now + offset;
            if thread.planned < last {
                self.active += 1;
                let awake = thread.planned + self.delay();
                self.plan(awake, Event::Wake(self.threads.len()));
                self.threads.push(thread);
            }
        }
        if let Some(rebuild) = self.scenario.rebuild {
            self.plan(self.now + nanoseconds(rebuild.every), Event::Wake(self.threads.len()));
            self.threads.push(Thread::new(Role::Rebuilder, Sizing::start(&self.config, &self.averages)));
        }
    }

    /// No operation is planned for this time or later. A late thread still does its own.
    pub(super) fn last_begin(&self) -> u64 {
        self.unleashed.unwrap_or(self.now) + nanoseconds(self.scenario.duration)
    }

    /// How late a thread wakes, in ns.
    pub(super) fn delay(&mut self) -> u64 {
        let usual = self.scenario.wake_up;
        let is_late = self.random.below(LATE) == 0;
        self.exponential(if is_late { usual.saturating_mul(LATER) } else { usual })
    }

    /// A time of this mean, exponentially distributed, in ns.
    pub(super) fn exponential(&mut self, mean: Duration) -> u64 {
        let part = ((self.random.draw() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
        (-part.ln() * nanoseconds(mean) as f64) as u64
    }
}
