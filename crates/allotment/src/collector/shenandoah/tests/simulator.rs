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
    /// Regions of each object that it allocates: 1, or a run for a humongous object.
    pub(super) regions: usize,
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
    /// What only a user could have changed.
    pub(super) advice: Vec<Advice>,
}

/// A mutator in a heap.
pub(super) struct Simulator {
    pub(super) trigger: Trigger,
    capacity: usize,
    live: usize,
    /// Free bytes that are in no run of regions.
    pub(super) scattered: usize,
    now: Duration,
    steps: u32,
    /// Bytes that are owed to the mutator: less than an object.
    due: f64,
    allocated: u64,
    free: usize,
    /// Bytes that became garbage before the cycle began, and since.
    garbage: (usize, usize),
    cycle: Option<UnderWay>,
}

/// A cycle under way.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    began: Duration,
    ends: Duration,
    /// Bytes that were ever allocated when it began, and bytes that were free.
    allocated: u64,
    free: usize,
}

impl Simulator {
    pub(super) fn new(list: &str, capacity: usize, live: usize) -> Simulator {
        Simulator {
            trigger: Trigger::new(TriggerSettings::from(&options(list))),
            capacity,
            live,
            scattered: 0,
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
            let bytes = load.regions * REGION;
            while self.due >= bytes as f64 {
                self.due -= bytes as f64;
                self.take(load, &mut account);
            }
            self.now += STEP;
            self.steps += 1;
            if let Some(cycle) = self.cycle
                && self.now >= cycle.ends
            {
                self.end(cycle, Duration::ZERO, CycleKind::Concurrent, &mut account);
            }
            if self.steps.is_multiple_of(PATROL) {
                self.look(load, &mut account);
            }
        }
        account.allocated = self.allocated - allocated;
        account
    }

    /// Bytes that objects of this number of regions can have.
    fn room(&self, regions: usize) -> usize {
        if regions == 1 { self.free } else { self.free.saturating_sub(self.scattered) }
    }

    fn take(&mut self, load: Load, account: &mut Account) {
        let bytes = load.regions * REGION;
        if self.room(load.regions) < bytes {
            match self.cycle {
                Some(cycle) => {
                    account.degenerated += 1;
                    let stopped = cycle.ends.saturating_sub(self.now);
                    self.now += stopped;
                    self.end(cycle, stopped, CycleKind::Degenerated, account);
                }
                None => account.missed += 1,
            }
        }
        if self.room(load.regions) < bytes {
            // All that is free was allocated while the cycle ran, or there was none.
            let full = self.begin(load.cycle);
            self.now = full.ends;
            self.end(full, load.cycle, CycleKind::Full, account);
        }
        self.free -= bytes;
        self.garbage.1 += bytes;
        self.allocated += bytes as u64;
        self.look(load, account);
    }

    fn look(&mut self, load: Load, account: &mut Account) {
        if self.cycle.is_some() {
            return self.trigger.sample(self.now, self.capacity, self.allocated);
        }
        let mut reason = self.trigger.look(self.now, self.free, self.capacity, self.allocated);
        if reason.is_none() && load.regions > 1 {
            reason = self.trigger.look_for_runs(load.regions, self.room(load.regions), REGION);
        }
        if let Some(reason) = reason {
            account.reasons.push((reason, self.free));
            self.cycle = Some(self.begin(load.cycle));
        }
    }

    fn begin(&mut self, length: Duration) -> UnderWay {
        self.garbage = (self.garbage.0 + self.garbage.1, 0);
        UnderWay { began: self.now, ends: self.now + length, allocated: self.allocated, free: self.free }
    }

    /// Ends a cycle, whose end was a stop of the time `stopped`.
    fn end(&mut self, cycle: UnderWay, stopped: Duration, kind: CycleKind, account: &mut Account) {
        self.cycle = None;
        let freed_bytes = std::mem::take(&mut self.garbage.0);
        self.free += freed_bytes;
        assert!(self.free <= self.capacity - self.live);
        let taken_bytes = (self.allocated - cycle.allocated) as usize;
        assert_eq!(self.free + taken_bytes, cycle.free + freed_bytes);
        self.trigger.stood_still(stopped);
        self.trigger.sample(self.now, self.capacity, self.allocated);
        account.advice.extend(self.trigger.cycle_ended(Ended {
            ended: self.now,
            time: self.now - cycle.began,
            kind,
            was_behind: false,
            taken_bytes,
            freed_bytes,
            free_bytes: self.free,
            capacity_bytes: self.capacity,
            left_bytes: self.free,
        }));
    }
}
