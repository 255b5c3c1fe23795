//! The ways to allocate that the experiment `tlab` compares, as programs.
//!
//! Each program allocates `size` bytes and initialises them: two words of header, then a store for
//! every 32 bytes of the rest, as vector instructions do. Objects follow each other in an eden that
//! is reused from its start. Objects of different cores therefore share lines wherever the pattern
//! allows it.

use super::program::{Program, Step};
use super::scenario::{CoherenceScenario, Pattern};
use std::collections::VecDeque;

/// Addresses of the shared words: each has a line of its own, as allocators pad them.
pub(super) const TOP: u64 = 0;
const LIMIT: u64 = 64;
const LOCK: u64 = 128;
const SERVING: u64 = 192;

/// The first byte of the cores' private words: one line for each core.
const OWN: u64 = 256;

/// The work of all programs of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) scenario: CoherenceScenario,
    /// Bytes of the eden.
    pub(super) eden: u64,
}

impl Work {
    fn start(&self) -> u64 {
        OWN + 64 * self.scenario.cores as u64
    }

    /// Bytes of the memory. An object that begins at the eden's end still fits.
    pub(super) fn bytes(&self) -> u64 {
        self.start() + self.eden + self.scenario.size.next_multiple_of(64)
    }
}

/// Cycles between reading the pointer and using it: an addition, a comparison and a branch.
const ARITHMETIC: u64 = 3;

/// The first pause, and the largest number of doublings.
const PAUSE: (u64, u32) = (40, 7);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Begin,
    Limit,
    Top,
    Compare(u64),
    Swap(u64),
    Paused,
    Added,
    Taken,
    Wait,
    Inside,
    Release(u64),
    OwnTop,
    Object(u64),
}

/// The program of one core.
#[derive(Debug)]
pub(super) struct Allocator {
    work: Work,
    own: u64,
    phase: Phase,
    done: u64,
    /// The next steps, which do not depend on the value read.
    planned: VecDeque<Step>,
    /// The end of the buffer, as the core knows it.
    limit: u64,
    ticket: u64,
    failures: u32,
    /// Locked instructions that tried to take memory or a lock, and those that succeeded.
    pub(super) attempts: u64,
    pub(super) successes: u64,
}

impl Allocator {
    /// The program of core number `core`, which begins after `skew` cycles.
    pub(super) fn new(work: Work, core: usize, skew: u64) -> Allocator {
        Allocator {
            work,
            own: OWN + 64 * core as u64,
            phase: Phase::Begin,
            done: 0,
            planned: VecDeque::from([Step::Compute(skew)]),
            limit: 0,
            ticket: 0,
            failures: 0,
            attempts: 0,
            successes: 0,
        }
    }

    /// Initialises the object at the pointer's value `top`, and then returns to the beginning.
    fn object(&mut self, top: u64) -> Step {
        let address = self.work.start() + top % self.work.eden;
        self.planned.push_back(Step::Store(address + 8, self.work.scenario.size));
        let body = (16..self.work.scenario.size).step_by(32);
        self.planned.extend(body.map(|offset| Step::Store(address + offset, 0)));
        self.done += 1;
        self.phase = Phase::Begin;
        Step::Store(address, top + 1)
    }

    fn then(&mut self, phase: Phase, step: Step) -> Step {
        self.phase = phase;
        step
    }

    /// The number of bytes by which the shared pointer advances.
    fn amount(&self) -> u64 {
        if self.work.scenario.pattern == Pattern::Tlab {
            self.work.scenario.buffer
        } else {
            self.work.scenario.size
        }
    }

    fn swap(&mut self, top: u64) -> Step {
        self.attempts += 1;
        let new = top + self.amount();
        self.then(Phase::Swap(top), Step::CompareExchange { address: TOP, expected: top, new })
    }

    fn begin(&mut self) -> Step {
        if self.done == self.work.scenario.operations {
            return Step::Done;
        }
        match self.work.scenario.pattern {
            Pattern::Tlab => self.then(Phase::OwnTop, Step::Load(self.own)),
            Pattern::Cas | Pattern::BackOff => self.then(Phase::Limit, Step::Load(LIMIT)),
            Pattern::FetchAdd => {
                self.attempts += 1;
                self.then(Phase::Added, Step::FetchAdd(TOP, self.work.scenario.size))
            }
            Pattern::Lock => self.take(),
            Pattern::Ticket => {
                self.attempts += 1;
                self.then(Phase::Taken, Step::FetchAdd(LOCK, 1))
            }
        }
    }

    fn take(&mut self) -> Step {
        self.attempts += 1;
        self.then(Phase::Taken, Step::Exchange(LOCK, 1))
    }
}

impl Program for Allocator {
    fn next(&mut self, read: u64) -> Step {
        if let Some(step) = self.planned.pop_front() {
            return step;
        }
        match self.phase {
            Phase::Begin => self.begin(),
            Phase::OwnTop if self.limit - read >= self.work.scenario.size && self.limit > 0 => {
                self.planned.push_back(Step::Store(self.own, read + self.work.scenario.size));
                self.phase = Phase::Object(read);
                Step::Compute(ARITHMETIC)
            }
            Phase::OwnTop => self.then(Phase::Limit, Step::Load(LIMIT)),
            Phase::Object(top) => self.object(top),
            Phase::Limit | Phase::Paused => self.then(Phase::Top, Step::Load(TOP)),
            Phase::Top => self.then(Phase::Compare(read), Step::Compute(ARITHMETIC)),
            Phase::Compare(top) => self.swap(top),
            Phase::Swap(top) if read != top => {
                self.failures += 1;
                if self.work.scenario.pattern == Pattern::BackOff {
                    let doubled = (self.failures - 1).min(PAUSE.1);
                    return self.then(Phase::Paused, Step::Compute(PAUSE.0 << doubled));
                }
                self.then(Phase::Top, Step::Load(TOP))
            }
            Phase::Swap(top) => {
                self.successes += 1;
                self.failures = 0;
                if self.work.scenario.pattern != Pattern::Tlab {
                    return self.object(top);
                }
                self.limit = top + self.work.scenario.buffer;
                self.then(Phase::Begin, Step::Store(self.own, top))
            }
            Phase::Added => {
                self.successes += 1;
                self.planned.push_back(Step::Compute(ARITHMETIC));
                self.phase = Phase::Object(read);
                Step::Load(LIMIT)
            }
            Phase::Taken if self.work.scenario.pattern == Pattern::Ticket => {
                self.ticket = read;
                self.then(Phase::Wait, Step::Load(SERVING))
            }
            Phase::Taken if read == 0 => {
                self.successes += 1;
                self.then(Phase::Inside, Step::Load(TOP))
            }
            Phase::Taken => self.then(Phase::Wait, Step::WaitWhile(LOCK, 1)),
            Phase::Wait if self.work.scenario.pattern == Pattern::Lock => self.take(),
            Phase::Wait if read == self.ticket => {
                self.successes += 1;
                self.then(Phase::Inside, Step::Load(TOP))
            }
            Phase::Wait => Step::WaitWhile(SERVING, read),
            Phase::Inside => {
                self.planned.push_back(Step::Store(TOP, read + self.work.scenario.size));
                self.then(Phase::Release(read), Step::Compute(ARITHMETIC))
            }
            Phase::Release(top) => {
                self.phase = Phase::Object(top);
                match self.work.scenario.pattern {
                    Pattern::Ticket => Step::Store(SERVING, self.ticket + 1),
                    _ => Step::Store(LOCK, 0),
                }
            }
        }
    }
}
