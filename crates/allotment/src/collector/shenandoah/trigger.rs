//! When a cycle begins: HotSpot's adaptive heuristics, as they are in JDK 25, and what they lack.
//!
//! A concurrent cycle must begin so early that mutators do not use up the free memory before its
//! end. A cycle that begins much earlier finds little garbage. So [`Trigger`] learns how long
//! cycles take and how fast mutators allocate. Its rules, in this order:
//!
//! 1. Little is free (`ShenandoahMinFreeThreshold`).
//! 2. Little is known yet: the first cycles begin early (`ShenandoahLearningSteps`,
//!    `ShenandoahInitFreeThreshold`).
//! 3. While a recent cycle ran, mutators took more than the headroom (`caution.rs`).
//! 4. At the mean rate, mutators allocate the headroom before a cycle of the learnt length ends.
//! 5. At the rate of the last moment they do so, too, and that rate is unusual.
//! 6. Little is free in runs of regions, for a program that allocates humongous objects.
//! 7. The last cycle was long ago (`ShenandoahGuaranteedGCInterval`).
//!
//! The headroom is the free memory less two parts: one for bursts (`ShenandoahAllocSpikeFactor`),
//! and a penalty for cycles that came too late. Rules 4 and 5 have a margin each, in standard
//! deviations. After a cycle that ends with more free memory than usual, the rule that asked for
//! the cycle asks a little later; with less free memory, a little earlier. A degenerated or full
//! cycle came too late: [`Caution`] makes all rules ask earlier at once, and later again after
//! cycles in time.
//!
//! These things differ from HotSpot:
//!
//! - A cycle that came too late counts as learnt, with an estimate of its time beside mutators.
//!   Otherwise a heap whose cycles all come too late never learns that they do.
//! - Each of the first cycles begins a little later than the one before. A cycle that has learnt
//!   nothing new costs as much as any other.
//! - Rules 3 and 6.
//! - Samples are shorter (`rate.rs`).
//! - Rules 1 to 6 ask for no cycle that is not worth it (`worth.rs`), unless mutators are about to
//!   use all that is free.
//!
//! Refused: JDK 27's regression of the acceleration. It has the purpose of rule 5, and a reader of
//! a log cannot follow it.
//!
//! Numbers only: the trigger knows no clock, no heap and no thread.

pub(crate) use super::advice::Advice;
use super::advice::{FRUITLESS, Told};
use super::bytes::percent_of;
use super::caution::{Caution, Lateness};
use super::decayed::Decayed;
use super::rate::Rate;
pub(crate) use super::reason::{Headroom, Reason};
use super::worth::Worth;
use crate::options::Options;
use std::time::Duration;

/// How much the latest cycle counts in the learnt time of a cycle, and in the learnt free memory.
const CYCLE_WEIGHT: f64 = 0.5;
const FREE_WEIGHT: f64 = 0.1;

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
    /// Beside mutators, and without copies: a move would not have paid.
    Skipped,
    /// An allocation failed, and the rest was done in a stop.
    Degenerated,
    /// As a full collection.
    Full,
}

/// A cycle that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// When it ended, its last memory freed: the time since any one moment, the same for all calls.
    pub ended: Duration,
    /// How long it took beside mutators. Of a cycle that was finished in a stop, how long it would
    /// have taken.
    pub time: Duration,
    /// How it ended.
    pub kind: CycleKind,
    /// Mutators had to wait, because the cycle would have come too late.
    pub was_behind: bool,
    /// Bytes that mutators took while it ran.
    pub taken_bytes: usize,
    /// Bytes that it freed, less those of its copies.
    pub freed_bytes: usize,
    /// Bytes that are free for mutators now, before another cycle should begin.
    pub free_bytes: usize,
    /// Bytes that mutators and collector may have in use until then.
    pub capacity_bytes: usize,
    /// Bytes that mutators can take now before one of them finds no memory.
    pub left_bytes: usize,
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
    caution: Caution,
    worth: Worth,
    /// Bytes that mutators and collector may have in use, at the latest look.
    capacity_bytes: usize,
    /// The most bytes that were free in runs since the last cycle ended.
    run_bytes: usize,
    /// When the last cycle ended.
    ended: Duration,
    /// Bytes that were ever allocated, at the latest look and at the end of the last cycle.
    allocated: u64,
    allocated_before: u64,
    /// The first reason for the next cycle.
    asked: Option<Reason>,
    told: Told,
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
            caution: Caution::new(),
            worth: Worth::default(),
            capacity_bytes: 0,
            run_bytes: 0,
            ended: Duration::ZERO,
            allocated: 0,
            allocated_before: 0,
            asked: None,
            told: Told::default(),
        }
    }

    /// Tells the bytes that were ever allocated up to `now`. While a cycle runs, callers call this
    /// in place of [`look`](Self::look).
    pub fn sample(&mut self, now: Duration, capacity_bytes: usize, allocated_ever_bytes: u64) {
        self.rate.look(now, allocated_ever_bytes, capacity_bytes);
        self.allocated = self.allocated.max(allocated_ever_bytes);
        self.capacity_bytes = capacity_bytes;
    }

    /// Notes that mutators stood still for `time` in a stop that is about to end. The next
    /// [`sample`](Self::sample) leaves it out of the rate.
    pub fn stood_still(&mut self, time: Duration) {
        self.rate.leave_out(time);
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

    /// Rule 6, for a program that allocates humongous objects of up to that many `regions`, of
    /// `region_bytes` each: `free_bytes` are free in runs of such a length.
    ///
    /// The runs should have room for one more object and for all that mutators take while a cycle
    /// runs, beside the parts that the headroom lacks. But a cycle moves the regions with most
    /// garbage, wherever they are, and need not make runs. So at least half of the memory that the
    /// last cycle left in runs is used first.
    pub fn look_for_runs(
        &mut self,
        regions: usize,
        free_bytes: usize,
        region_bytes: usize,
    ) -> Option<Reason> {
        self.run_bytes = self.run_bytes.max(free_bytes);
        let kept_percent = self.settings.spike_percent + self.caution.penalty;
        let kept_bytes = percent_of(self.capacity_bytes, kept_percent) + regions * region_bytes;
        let least_bytes = self.caution.demand_bytes.saturating_add(kept_bytes).min(self.run_bytes / 2);
        let is_worth_it = self.worth.is_enough(self.allocated - self.allocated_before);
        let reason = (is_worth_it && free_bytes < least_bytes).then_some(Reason::Runs {
            regions,
            free_bytes,
            least_bytes,
        })?;
        self.asked.get_or_insert_with(|| reason.clone());
        Some(reason)
    }

    /// Rules 1 to 5.
    fn by_memory(&self, free_bytes: usize, capacity: usize) -> Option<Reason> {
        let allocated = self.allocated - self.allocated_before;
        if allocated == 0 {
            return None;
        }
        let is_worth_it = self.worth.is_enough(allocated);
        let least_bytes = percent_of(capacity, self.settings.min_free_percent);
        if is_worth_it && free_bytes < least_bytes {
            return Some(Reason::MinFree { free_bytes, least_bytes });
        }
        let (step, steps) = (self.learnt + 1, self.settings.learning_steps);
        let least_bytes = percent_of(capacity, self.learning_percent());
        if is_worth_it && step <= steps && free_bytes < least_bytes {
            return Some(Reason::Learning { step, steps, free_bytes, least_bytes });
        }
        let Caution { margin, threshold, penalty, demand_bytes } = self.caution;
        let headroom = Headroom {
            free_bytes,
            spike_bytes: percent_of(capacity, self.settings.spike_percent),
            penalty_bytes: percent_of(capacity, penalty),
        };
        // If mutators are about to use all that is free, little garbage is better than none.
        let room = if is_worth_it { headroom.bytes() } else { free_bytes };
        if is_worth_it && demand_bytes > room {
            return Some(Reason::Demand { demand_bytes, headroom });
        }
        let seconds = self.cycle.mean + margin * self.cycle.deviation();
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

    /// The percentage below which a cycle begins to learn: of the first one that of the option, of
    /// each further one a step nearer to the least that should be free.
    ///
    /// `init - (init - least) * learnt / steps`: 70, 58, 46, 34 and 22 by default. HotSpot has 70
    /// for all of them. There a program whose heap grows from little to its working size pays for
    /// five cycles that free next to nothing.
    fn learning_percent(&self) -> usize {
        let TriggerSettings { min_free_percent: least, init_free_percent: init, learning_steps, .. } =
            self.settings;
        let done = self.learnt.min(learning_steps);
        init - init.saturating_sub(least) * done / learning_steps.max(1)
    }

    /// Rule 7.
    fn by_time(&self, now: Duration) -> Option<Reason> {
        let (since, interval) = (now.saturating_sub(self.ended), self.settings.guaranteed_interval);
        let due = !interval.is_zero() && since > interval;
        due.then_some(Reason::GuaranteedInterval { since, interval })
    }

    /// Learns from a cycle, whether a rule or a thread asked for it. A [`sample`](Self::sample) at
    /// the end of the cycle comes first. Returns what only the user can change, once.
    pub fn cycle_ended(&mut self, done: Ended) -> Option<Advice> {
        let asked = self.asked.take();
        let Ended { kind, free_bytes, capacity_bytes, taken_bytes, .. } = done;
        // A full collection is another work than a cycle. Its time is better than none.
        if kind != CycleKind::Full || self.learnt == 0 {
            self.cycle.add(done.time.as_secs_f64(), CYCLE_WEIGHT);
        }
        self.learnt = self.learnt.saturating_add(1);
        let lateness = match kind {
            CycleKind::Concurrent | CycleKind::Abbreviated | CycleKind::Skipped => None,
            CycleKind::Degenerated => Some(Lateness::Degenerated),
            CycleKind::Full => Some(Lateness::Full),
        };
        match lateness {
            None => self.caution.in_time(done.was_behind, taken_bytes, capacity_bytes),
            Some(lateness) => self.caution.too_late(lateness, taken_bytes, capacity_bytes),
        }
        if kind == CycleKind::Concurrent {
            let free = free_bytes as f64 / capacity_bytes.max(1) as f64;
            let step = Caution::step_for(self.free_after.score(free));
            match asked {
                Some(Reason::AverageRate { .. }) => self.caution.widen_margin(step),
                Some(Reason::Spike { .. }) => self.caution.lower_threshold(step),
                _ => {}
            }
            self.free_after.add(free, FREE_WEIGHT);
        }
        let allocated = self.allocated - self.allocated_before;
        let skipped = kind == CycleKind::Skipped;
        self.worth.cycle_ended(skipped, done.freed_bytes, allocated, free_bytes);
        (self.ended, self.allocated_before, self.run_bytes) = (done.ended, self.allocated, 0);
        self.advise(lateness.is_some(), done.left_bytes)
    }

    /// What only the user can change after a cycle that came too late, or not, and left
    /// `left_bytes`.
    fn advise(&mut self, was_late: bool, left_bytes: usize) -> Option<Advice> {
        let cycles = self.worth.fruitless;
        // As if a cycle began now, at the mean rate.
        let demand_bytes = (self.cycle.mean * self.rate.padded(0.0)) as usize;
        let advice = match was_late && demand_bytes > left_bytes {
            true => {
                let cycle = Duration::try_from_secs_f64(self.cycle.mean).unwrap_or(Duration::MAX);
                Advice::Slow { cycle, demand_bytes, left_bytes }
            }
            false if cycles >= FRUITLESS => Advice::Fruitless { cycles, left_bytes },
            false => return None,
        };
        self.told.once(advice)
    }

    /// The margin of rule 4 in deviations, the threshold of rule 5 in deviations, and the penalty
    /// in percent of the capacity.
    #[must_use]
    pub fn parameters(&self) -> (f64, f64, usize) {
        (self.caution.margin, self.caution.threshold, self.caution.penalty)
    }

    /// The bytes that mutators took while a recent cycle ran, by rule 3.
    #[must_use]
    pub fn demand_bytes(&self) -> usize {
        self.caution.demand_bytes
    }
}
