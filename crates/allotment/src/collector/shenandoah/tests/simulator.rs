//! A heap without memory: a mutator with a rate, cycles with a length, a clock that a test moves.
//!
//! A cycle frees what was garbage when it began. If nothing is free, the mutator stands still until
//! the cycle ends, which is then a degenerated one. If that frees nothing, a full collection
//! follows.

use super::*;

pub(super) const REGION: usize = 256 * KIB;
/// A step of the clock.
const STEP: Duration = Duration::from_micros(100);
/// Steps between two looks of the collector's thread.
const PATROL: u32 = 50;

/// What the simulator is asked to do for a while.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Bytes a second that the mutator allocates at first, and at last.
    pub(super) rate: (f64, f64),
    /// The length of a cycle.
    pub(super) cycle: Duration,
    /// How long it lasts.
    pub(super) time: Duration,
}

/// What happened during a load.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    /// Reasons for cycles, with the bytes that were free.
    pub(super) reasons: Vec<(Reason, usize)>,
    /// Cycles that an allocation had to wait for.
    pub(super) degenerated: usize,
    /// Allocations without room while no cycle was under way.
    pub(super) missed: usize,
    /// Bytes that were allocated.
    pub(super) allocated: u64,
}

/// A mutator in a heap.
pub(super) struct Simulator {
    trigger: Trigger,
    capacity: usize,
    live: usize,
    now: Duration,
    steps: u32,
    /// Bytes that are owed to the mutator: less than a region.
    due: f64,
    allocated: u64,
    free: usize,
    /// Bytes that became garbage before the cycle began, and since.
    garbage: (usize, usize),
    /// When the cycle under way began, and when it ends.
    cycle: Option<(Duration, Duration)>,
}

impl Simulator {
    pub(super) fn new(list: &str, capacity: usize, live: usize) -> Simulator {
        Simulator {
            trigger: Trigger::new(TriggerSettings::from(&options(list))),
            capacity,
            live,
            now: Duration::ZERO,
            steps: 0,
            due: 0.0,
            allocated: live as u64,
            free: capacity - live,
            garbage: (0, 0),
            cycle: None,
        }
    }

    pub(super) fn run(&mut self, load: Load) -> Account {
        let (mut account, start, allocated) = (Account::default(), self.now, self.allocated);
        while self.now < start + load.time {
            let part = (self.now - start).as_secs_f64() / load.time.as_secs_f64();
            let rate = load.rate.0 + part * (load.rate.1 - load.rate.0);
            self.due += rate * STEP.as_secs_f64();
            while self.due >= REGION as f64 {
                self.due -= REGION as f64;
                self.take_region(load.cycle, &mut account);
            }
            self.now += STEP;
            self.steps += 1;
            if let Some((began, ends)) = self.cycle
                && self.now >= ends
            {
                self.end(began, CycleKind::Concurrent);
            }
            if self.steps.is_multiple_of(PATROL) {
                self.look(load.cycle, &mut account);
            }
        }
        account.allocated = self.allocated - allocated;
        account
    }

    fn take_region(&mut self, length: Duration, account: &mut Account) {
        if self.free < REGION {
            match self.cycle {
                Some((began, ends)) => {
                    account.degenerated += 1;
                    self.now = self.now.max(ends);
                    self.end(began, CycleKind::Degenerated);
                }
                None => account.missed += 1,
            }
        }
        if self.free < REGION {
            // All that is free was allocated while the cycle ran, or there was none.
            let began = self.now;
            self.garbage = (self.garbage.0 + self.garbage.1, 0);
            self.now += length;
            self.end(began, CycleKind::Full);
        }
        self.free -= REGION;
        self.garbage.1 += REGION;
        self.allocated += REGION as u64;
        self.look(length, account);
    }

    fn look(&mut self, length: Duration, account: &mut Account) {
        if self.cycle.is_some() {
            self.trigger.sample(self.now, self.capacity, self.allocated);
        } else if let Some(reason) = self.trigger.look(self.now, self.free, self.capacity, self.allocated) {
            account.reasons.push((reason, self.free));
            self.garbage = (self.garbage.0 + self.garbage.1, 0);
            self.cycle = Some((self.now, self.now + length));
        }
    }

    fn end(&mut self, began: Duration, kind: CycleKind) {
        self.cycle = None;
        self.free += std::mem::take(&mut self.garbage.0);
        assert!(self.free <= self.capacity - self.live);
        let (free_bytes, capacity_bytes) = (self.free, self.capacity);
        self.trigger.sample(self.now, self.capacity, self.allocated);
        self.trigger.cycle_ended(Ended { began, ended: self.now, kind, free_bytes, capacity_bytes });
    }
}
