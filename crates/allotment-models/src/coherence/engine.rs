//! The simulated time: when each core acts, and which core gets a line first.
//!
//! Cores execute in order. A load or a locked instruction waits for its data. A store waits only
//! for a place in the store buffer. The buffer drains in order, so the memory model is x86's total
//! store order. The line of a buffered store is requested at once, as processors do. A locked
//! instruction waits until the buffer is empty, and no other core gets its line before the
//! instruction ends.
//!
//! A request travels to the directory. The directory hands out a line to one core at a time, and
//! the other requests queue. A request takes effect when its turn comes, and its core continues
//! when the data has arrived.
//!
//! Refused: single messages with all the intermediate states. They triple the code, and move a race
//! by a few cycles.

mod requests;
mod stores;

use super::caches::{Caches, Supply, Wanted, line_of};
use super::latencies::{Geometry, Latencies};
use super::program::{Program, Step};
use super::scenario::{Arbitration, CoherenceScenario};
use allotment_report::random::Random;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// An access at the time it became visible. Tests check with it what cores may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Performed {
    /// The cycle.
    pub time: u64,
    /// The core that made the access.
    pub core: usize,
    /// The access: a load (from the store buffer or not), a store that left the buffer, or a locked
    /// instruction.
    pub step: Step,
    /// The value that was read; for a store, the value that was written.
    pub value: u64,
    /// A load from the core's own store buffer.
    pub forwarded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A core continues.
    Run(u16),
    /// The store buffer's oldest store may be written.
    Drain(u16),
    /// The oldest store has been written.
    Drained(u16),
    /// A line that was requested ahead has arrived.
    Filled(u16),
    /// A request for a line reaches the directory.
    Arrive(u32, Request),
    /// A line may be handed out again.
    Free(u32),
}

/// Time, sequence number and event. The sequence number keeps events of one cycle in the order in
/// which they were planned.
type PlannedEvent = Reverse<(u64, u64, Event)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Purpose {
    Step,
    Drain,
    Ahead,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    core: u16,
    purpose: Purpose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    No,
    /// The core waits until the store buffer is empty.
    Empty,
    /// The core waits until the store buffer has a place.
    Place,
    /// The core waits until its copy of a line is gone.
    Copy(u32),
}

#[derive(Debug)]
struct Core<P> {
    program: P,
    read: u64,
    /// A step that has begun.
    step: Option<Step>,
    /// The cycle in which the step began.
    since: u64,
    waiting: Waiting,
    buffer: VecDeque<(u64, u64)>,
    /// A store has been written, and still occupies its place in the buffer.
    leaving: bool,
    ahead: u32,
    last_ahead: Option<u32>,
    finished: Option<u64>,
}

/// Cores with their programs, and the caches between them.
#[derive(Debug)]
pub struct CoherenceEngine<P> {
    /// The caches, with their event counts.
    pub caches: Caches,
    latencies: Latencies,
    geometry: Geometry,
    arbitration: Arbitration,
    random: Random,
    cores: Vec<Core<P>>,
    events: BinaryHeap<PlannedEvent>,
    planned: u64,
    now: u64,
    /// For each line, the cycle before which the directory does not hand the line out.
    busy: Vec<u64>,
    /// The queue of each line for which a core queues. A `Free` event is planned for it.
    queues: HashMap<u32, VecDeque<Request>>,
    /// Accesses in the order in which they became visible, if a test asks for them.
    pub(super) trace: Option<Vec<Performed>>,
}

impl<P: Program> CoherenceEngine<P> {
    /// One core for each program, at most 256, over `bytes` of zeroes. The scenario says which
    /// machine they are on: the protocol, latencies and sizes, the arbitration and its seed.
    pub fn new(programs: Vec<P>, bytes: u64, machine: &CoherenceScenario) -> CoherenceEngine<P> {
        let CoherenceScenario { protocol, latencies, geometry, arbitration, seed, .. } = *machine;
        let caches = Caches::new(protocol, programs.len(), bytes, &geometry);
        let lines = bytes.div_ceil(64) as usize;
        let core = |program| Core {
            program,
            read: 0,
            step: None,
            since: 0,
            waiting: Waiting::No,
            buffer: VecDeque::with_capacity(geometry.store_buffer),
            leaving: false,
            ahead: 0,
            last_ahead: None,
            finished: None,
        };
        let mut engine = CoherenceEngine {
            caches,
            latencies,
            geometry,
            arbitration,
            random: Random::new(seed),
            cores: programs.into_iter().map(core).collect(),
            events: BinaryHeap::new(),
            planned: 0,
            now: 0,
            busy: vec![0; lines],
            queues: HashMap::new(),
            trace: None,
        };
        for core in 0..engine.cores.len() {
            engine.plan(0, Event::Run(core as u16));
        }
        engine
    }

    /// A core's program.
    pub fn program(&self, core: usize) -> &P {
        &self.cores[core].program
    }

    /// The cycle in which each core's program ended; `None` for a core that still waits.
    pub fn finished(&self) -> impl Iterator<Item = Option<u64>> {
        self.cores.iter().map(|core| core.finished)
    }

    /// Executes all programs, until the last store is visible.
    pub fn run(&mut self) {
        while let Some(Reverse((time, _, what))) = self.events.pop() {
            self.now = time;
            match what {
                Event::Run(core) => self.advance(core.into()),
                Event::Drain(core) => self.drain(core.into()),
                Event::Drained(core) => self.drained(core.into()),
                Event::Filled(core) => self.cores[usize::from(core)].ahead -= 1,
                Event::Arrive(line, request) => self.arrive(line, request),
                Event::Free(line) => self.free(line),
            }
        }
    }

    fn plan(&mut self, time: u64, what: Event) {
        self.planned += 1;
        self.events.push(Reverse((time, self.planned, what)));
    }

    /// Executes steps of a core until another event comes first.
    fn advance(&mut self, core: usize) {
        loop {
            let this = &mut self.cores[core];
            let step = match this.step {
                Some(step) => step,
                None => {
                    this.since = self.now;
                    this.program.next(this.read)
                }
            };
            this.step = Some(step);
            let Some(end) = self.begin(core, step) else { return };
            self.cores[core].step = None;
            if self.events.peek().is_some_and(|Reverse((time, ..))| *time <= end) {
                return self.plan(end, Event::Run(core as u16));
            }
            self.now = end;
        }
    }

    /// Begins a step and returns its end; `None` if another event must happen first.
    #[inline]
    fn begin(&mut self, core: usize, step: Step) -> Option<u64> {
        match step {
            Step::Compute(cycles) => Some(self.now + cycles),
            Step::Done => {
                self.cores[core].finished = Some(self.now);
                None
            }
            Step::Load(address) => self.load(core, address),
            Step::WaitWhile(address, value) => {
                let end = self.load(core, address)?;
                self.park(core, line_of(address), value, end)
            }
            Step::Store(address, value) => self.buffer(core, address, value),
            Step::CompareExchange { address, .. }
            | Step::FetchAdd(address, _)
            | Step::Exchange(address, _) => self.lock(core, address, step),
        }
    }

    fn load(&mut self, core: usize, address: u64) -> Option<u64> {
        let own = self.cores[core].buffer.iter().rev().find(|(other, _)| *other == address);
        if let Some(&(_, value)) = own {
            self.caches.counters.memory_operations += 1;
            self.perform(core, Step::Load(address), value, true);
            self.cores[core].read = value;
            return Some(self.now + self.latencies.l1);
        }
        let line = line_of(address);
        let Some((slot, supply)) = self.caches.hit(core, line, Wanted::Read) else {
            self.ask(line, Request { core: core as u16, purpose: Purpose::Step });
            return None;
        };
        let arrived = self.caches.private[core].copies[slot].ready.max(self.now);
        Some(self.loaded(core, address, arrived + self.latency(supply)))
    }

    /// Reads the value that is readable now, for a step that ends at `end`.
    fn loaded(&mut self, core: usize, address: u64, end: u64) -> u64 {
        let value = self.caches.read(core, address);
        self.perform(core, Step::Load(address), value, false);
        let this = &mut self.cores[core];
        this.read = value;
        self.caches.counters.memory_operations += 1;
        self.caches.counters.stall_cycles += end.saturating_sub(this.since + self.latencies.l1);
        // A step that waits for a value may read several times.
        this.since = end;
        end
    }

    /// Parks a core that waits for a word to change and has just read the old value. The core
    /// sleeps until its copy of the line can change.
    fn park(&mut self, core: usize, line: u32, value: u64, end: u64) -> Option<u64> {
        if self.cores[core].read != value {
            return Some(end);
        }
        self.cores[core].waiting = Waiting::Copy(line);
        None
    }

    fn lock(&mut self, core: usize, address: u64, step: Step) -> Option<u64> {
        if !self.cores[core].buffer.is_empty() || self.cores[core].leaving {
            self.cores[core].waiting = Waiting::Empty;
            return None;
        }
        let line = line_of(address);
        let Some((slot, _)) = self.caches.hit(core, line, Wanted::Write) else {
            self.ask(line, Request { core: core as u16, purpose: Purpose::Step });
            return None;
        };
        let arrived = self.caches.private[core].copies[slot].ready.max(self.now);
        Some(self.locked(core, address, step, arrived))
    }

    /// Executes a locked instruction on a line whose data is present at `arrived`. The core keeps
    /// the line until the instruction ends.
    fn locked(&mut self, core: usize, address: u64, step: Step, arrived: u64) -> u64 {
        let value = self.caches.read(core, address);
        let written = match step {
            Step::CompareExchange { expected, new, .. } if value == expected => new,
            Step::FetchAdd(_, amount) => value.wrapping_add(amount),
            Step::Exchange(_, new) => new,
            // A compare-and-swap that fails writes back the value that it read.
            _ => value,
        };
        self.caches.write(core, address, written);
        self.perform(core, step, value, false);
        let this = &mut self.cores[core];
        this.read = value;
        let counters = &mut self.caches.counters;
        counters.memory_operations += 1;
        counters.stall_cycles += arrived - this.since;
        // Other cores get the line before this core's next step. Otherwise this core could keep the
        // line indefinitely.
        let over = arrived + self.latencies.lock;
        let busy = &mut self.busy[line_of(address) as usize];
        *busy = (*busy).max(over - 1);
        over
    }

    fn perform(&mut self, core: usize, step: Step, value: u64, forwarded: bool) {
        if let Some(trace) = &mut self.trace {
            trace.push(Performed { time: self.now, core, step, value, forwarded });
        }
    }

    fn latency(&self, supply: Supply) -> u64 {
        match supply {
            Supply::L1 => self.latencies.l1,
            Supply::L2 => self.latencies.l2,
            Supply::Upgrade => self.latencies.upgrade,
            Supply::L3 => self.latencies.l3,
            Supply::Forward => self.latencies.forward,
            Supply::Modified => self.latencies.hitm,
            Supply::Memory => self.latencies.memory,
        }
    }
}
