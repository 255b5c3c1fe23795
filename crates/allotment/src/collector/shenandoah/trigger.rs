//! When a cycle begins: HotSpot's adaptive heuristics, as they are in JDK 25.
//!
//! A concurrent cycle must begin so early that mutators do not use up the free memory before its
//! end. A cycle that begins much earlier finds little garbage. So [`Trigger`] learns how long
//! cycles take and how fast mutators allocate. Its rules, in this order:
//!
//! 1. Little is free (`ShenandoahMinFreeThreshold`).
//! 2. Nothing is known yet: the first cycles begin early (`ShenandoahLearningSteps`,
//!    `ShenandoahInitFreeThreshold`).
//! 3. At the mean rate, mutators allocate the headroom before a cycle of the learnt length ends.
//! 4. At the rate of the last moment they do so, too, and that rate is unusual.
//! 5. The last cycle was long ago (`ShenandoahGuaranteedGCInterval`).
//!
//! Rules 3 and 4 have a margin each, in standard deviations. After a cycle that ends with more free
//! memory than usual, the rule that asked for the cycle asks a little later; with less free memory,
//! a little earlier. A degenerated or full cycle came too late. Then both rules ask earlier, and a
//! penalty shrinks the headroom. Each cycle in time takes back a part of the penalty.
//!
//! Two things differ from HotSpot. Samples are shorter (`rate.rs`). And only rule 5 asks for a
//! cycle if hardly anything was allocated since the last one. Otherwise a heap that is full of live
//! objects would be collected without end. Refused: JDK 27's regression of the acceleration. It has
//! the purpose of rule 4, and a reader of a log cannot follow it.
//!
//! Numbers only: the trigger knows no clock, no heap and no thread.

use super::bytes::percent_of;
use super::decayed::Decayed;
use super::rate::Rate;
pub(crate) use super::reason::{Headroom, Reason};
use crate::options::Options;
use std::time::Duration;

/// Deviations of both margins at first, and the least and the most.
const MARGIN: f64 = 1.8;
const LEAST_MARGIN: f64 = 0.319;
const MOST_MARGIN: f64 = 3.291;
/// Deviations that a degenerated cycle and a full one add to the margins.
const DEGENERATED_STEP: f64 = 0.1;
const FULL_STEP: f64 = 0.2;
/// Free memory after a cycle that is less unusual than this, in deviations, changes nothing.
const USUAL: f64 = 0.5;
/// The part of its score by which free memory after a cycle changes a margin.
const SCORE_PART: f64 = 100.0;
/// The most that one cycle in time changes a margin, in deviations.
const MOST_STEP: f64 = 0.1;
/// Penalties, in percent of the capacity.
const DEGENERATED_PENALTY: usize = 10;
const FULL_PENALTY: usize = 20;
const MOST_PENALTY: usize = 100;
/// How much the latest cycle counts in the learnt time of a cycle, and in the learnt free memory.
const CYCLE_WEIGHT: f64 = 0.5;
const FREE_WEIGHT: f64 = 0.1;
/// One part in this many of the memory that a cycle left free has to be allocated before another
/// cycle pays.
const WORTH: u64 = 16;

/// The options that decide when a cycle begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriggerSettings {
    /// `ShenandoahMinFreeThreshold`: percentage of the capacity.
    pub min_free_percent: usize,
    /// `ShenandoahInitFreeThreshold`: percentage of the capacity.
    pub init_free_percent: usize,
    /// `ShenandoahLearningSteps`: cycles.
    pub learning_steps: usize,
    /// `ShenandoahAllocSpikeFactor`: percentage of the capacity.
    pub spike_percent: usize,
    /// `ShenandoahGuaranteedGCInterval`; 0: never.
    pub guaranteed_interval: Duration,
}

impl From<&Options> for TriggerSettings {
    fn from(options: &Options) -> TriggerSettings {
        TriggerSettings {
            min_free_percent: options.shenandoah_min_free_threshold,
            init_free_percent: options.shenandoah_init_free_threshold,
            learning_steps: options.shenandoah_learning_steps,
            spike_percent: options.shenandoah_alloc_spike_factor,
            guaranteed_interval: Duration::from_millis(options.shenandoah_guaranteed_gc_interval),
        }
    }
}

/// How a cycle ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleKind {
    /// Beside mutators, all of it.
    Concurrent,
    /// Beside mutators, and without copies: the regions without live objects had enough garbage.
    Abbreviated,
    /// An allocation failed, and the rest was done in a stop.
    Degenerated,
    /// As a full collection.
    Full,
}

/// A cycle that has ended. Times are since any one moment, the same for all calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// When it began.
    pub began: Duration,
    /// When it ended, its last memory freed.
    pub ended: Duration,
    /// How it ended.
    pub kind: CycleKind,
    /// Bytes that are free for mutators now.
    pub free_bytes: usize,
    /// Bytes that mutators and collector may have in use.
    pub capacity_bytes: usize,
}

/// The rules, and the numbers that they have learnt.
#[derive(Clone, Debug)]
pub struct Trigger {
    settings: TriggerSettings,
    rate: Rate,
    /// Seconds that a cycle takes.
    cycle: Decayed,
    /// Cycles that `cycle` is learnt from.
    learnt: usize,
    /// Part of the capacity that is free after a cycle.
    free_after: Decayed,
    /// Deviations that the times and rates of rule 3 are above their means.
    margin: f64,
    /// Deviations above which rule 4 takes a rate for unusual.
    spike_threshold: f64,
    /// Percentage of the capacity that the headroom lacks.
    penalty: usize,
    /// When the last cycle ended, and the bytes that it left free.
    ended: Duration,
    left_bytes: usize,
    /// Bytes that were ever allocated, at the latest look and at the end of the last cycle.
    allocated: u64,
    allocated_before: u64,
    /// The first reason for the next cycle.
    asked: Option<Reason>,
}

impl Trigger {
    /// The trigger of a heap in which nothing was allocated yet.
    #[must_use]
    pub fn new(settings: TriggerSettings) -> Trigger {
        Trigger {
            settings,
            rate: Rate::default(),
            cycle: Decayed::default(),
            learnt: 0,
            free_after: Decayed::default(),
            margin: MARGIN,
            spike_threshold: MARGIN,
            penalty: 0,
            ended: Duration::ZERO,
            left_bytes: 0,
            allocated: 0,
            allocated_before: 0,
            asked: None,
        }
    }

    /// Tells the bytes that were ever allocated up to `now`. While a cycle runs, callers call this
    /// in place of [`look`](Self::look).
    pub fn sample(&mut self, now: Duration, capacity_bytes: usize, allocated_ever_bytes: u64) {
        self.rate.look(now, allocated_ever_bytes, capacity_bytes);
        self.allocated = self.allocated.max(allocated_ever_bytes);
    }

    /// Whether a cycle should begin now, and why. Called when a mutator takes a region, and every
    /// few milliseconds, so that the rate of an idle heap falls.
    ///
    /// `free_bytes` of `capacity_bytes` are free for mutators. The reserve for copies is not free.
    pub fn look(
        &mut self,
        now: Duration,
        free_bytes: usize,
        capacity_bytes: usize,
        allocated_ever_bytes: u64,
    ) -> Option<Reason> {
        self.sample(now, capacity_bytes, allocated_ever_bytes);
        let reason = self.by_memory(free_bytes, capacity_bytes).or_else(|| self.by_time(now))?;
        self.asked.get_or_insert_with(|| reason.clone());
        Some(reason)
    }

    /// Rules 1 to 4.
    fn by_memory(&self, free_bytes: usize, capacity: usize) -> Option<Reason> {
        let allocated = self.allocated - self.allocated_before;
        if allocated == 0 {
            return None;
        }
        let worth = allocated >= self.left_bytes as u64 / WORTH;
        let settings = &self.settings;
        let least_bytes = percent_of(capacity, settings.min_free_percent);
        if worth && free_bytes < least_bytes {
            return Some(Reason::MinFree { free_bytes, least_bytes });
        }
        let least_bytes = percent_of(capacity, settings.init_free_percent);
        if worth && self.learnt < settings.learning_steps && free_bytes < least_bytes {
            let (step, steps) = (self.learnt + 1, settings.learning_steps);
            return Some(Reason::Learning { step, steps, free_bytes, least_bytes });
        }
        let headroom = Headroom {
            free_bytes,
            spike_bytes: percent_of(capacity, settings.spike_percent),
            penalty_bytes: percent_of(capacity, self.penalty),
        };
        let (margin, threshold) = (self.margin, self.spike_threshold);
        let seconds = self.cycle.mean + margin * self.cycle.deviation();
        // If mutators are about to use all that is free, little garbage is better than none.
        let room = if worth { headroom.bytes() } else { free_bytes };
        let depletes = |rate: f64| seconds * rate > room as f64;
        let cycle = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let rate = self.rate.padded(margin);
        if depletes(rate) {
            return Some(Reason::AverageRate { cycle, rate, headroom, margin });
        }
        let rate = self.rate.latest;
        if self.rate.score > threshold && depletes(rate) {
            return Some(Reason::Spike { cycle, rate, headroom, threshold });
        }
        None
    }

    /// Rule 5.
    fn by_time(&self, now: Duration) -> Option<Reason> {
        let (since, interval) = (now.saturating_sub(self.ended), self.settings.guaranteed_interval);
        let due = !interval.is_zero() && since > interval;
        due.then_some(Reason::GuaranteedInterval { since, interval })
    }

    /// Learns from a cycle, whether a rule or a thread asked for it. A [`sample`](Self::sample) at
    /// the end of the cycle comes first.
    pub fn cycle_ended(&mut self, done: Ended) {
        let asked = self.asked.take();
        let seconds = done.ended.saturating_sub(done.began).as_secs_f64();
        match done.kind {
            CycleKind::Concurrent | CycleKind::Abbreviated => {
                self.cycle.add(seconds, CYCLE_WEIGHT);
                self.learnt = self.learnt.saturating_add(1);
                self.penalty = self.penalty.saturating_sub(1);
            }
            CycleKind::Degenerated => self.came_too_late(seconds, DEGENERATED_STEP, DEGENERATED_PENALTY),
            CycleKind::Full => self.came_too_late(seconds, FULL_STEP, FULL_PENALTY),
        }
        if done.kind == CycleKind::Concurrent {
            let free = done.free_bytes as f64 / done.capacity_bytes.max(1) as f64;
            let score = self.free_after.score(free);
            if score.is_finite() && score.abs() > USUAL {
                let step = (-score / SCORE_PART).clamp(-MOST_STEP, MOST_STEP);
                match asked {
                    Some(Reason::AverageRate { .. }) => self.widen_margin(step),
                    Some(Reason::Spike { .. }) => self.lower_threshold(step),
                    _ => {}
                }
            }
            self.free_after.add(free, FREE_WEIGHT);
        }
        self.ended = done.ended;
        self.left_bytes = done.free_bytes;
        self.allocated_before = self.allocated;
    }

    /// Learns from a cycle that an allocation had to wait for.
    fn came_too_late(&mut self, seconds: f64, step: f64, penalty: usize) {
        self.widen_margin(step);
        self.lower_threshold(step);
        self.penalty = (self.penalty + penalty).min(MOST_PENALTY);
        // The cycle ended in a stop. Beside mutators it would have taken longer.
        if self.learnt > 0 && seconds > self.cycle.mean {
            self.cycle.add(seconds, CYCLE_WEIGHT);
        }
    }

    fn widen_margin(&mut self, step: f64) {
        self.margin = (self.margin + step).clamp(LEAST_MARGIN, MOST_MARGIN);
    }

    fn lower_threshold(&mut self, step: f64) {
        self.spike_threshold = (self.spike_threshold - step).clamp(LEAST_MARGIN, MOST_MARGIN);
    }

    /// The margin of rule 3 in deviations, the threshold of rule 4 in deviations, and the penalty
    /// in percent of the capacity.
    #[must_use]
    pub fn parameters(&self) -> (f64, f64, usize) {
        (self.margin, self.spike_threshold, self.penalty)
    }
}
