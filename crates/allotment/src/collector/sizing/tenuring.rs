//! How many young collections an object survives before it becomes old.
//!
//! Keeping an object young costs a copy each time it survives; making it old costs its share of a full collection if it dies
//! soon after. Both follow from two things that are known:
//!
//! - the survival rate by age: what was of age a after the last collection, and what is of age a + 1 after this one;
//! - the cost of a byte that became old, in copies of a byte: a full collection visits what lives (it marks, updates and slides:
//!   about twice the work of copying and scanning) to free what became old since the last one, at most the headroom. So
//!   k = 2 live / headroom, a ratio of sizes, in which the speed of the machine does not occur.
//!
//! Of a byte of age 1, v(a) bytes reach age a, and a threshold T costs v(2) + ... + v(T + 1) copies and k v(T + 1) for what becomes
//! old. The threshold goes to the least such cost, which comes down to: promote at the age from which on more
//! than k / (1 + k) survive. It rises by one at a time, into ages of which nothing is known, and falls at once: a program that
//! builds what it keeps would see all of it copied six times on the way from 7 to 1. It falls by one, too, when survivors overflow what may stay young, whatever the costs.
//!
//! In the simulator (18 programs, 4 GiB of allocation each) the time in collections is this, where the heap is so many times what
//! lives; the fixed thresholds that are best in small heaps are worst in large ones, and this rule follows:
//!
//! | threshold | 1.15 | 1.3 | 1.5 | 2 | 3 |
//! |---|---|---|---|---|---|
//! | by cost | 47.9 % | 25.0 % | 15.2 % | 8.9 % | 5.8 % |
//! | 1 | 50.9 % | 26.0 % | 15.6 % | 8.8 % | 5.5 % |
//! | 3 | 48.6 % | 25.1 % | 15.4 % | 9.7 % | 6.9 % |
//! | 7 | 47.8 % | 25.8 % | 16.6 % | 11.3 % | 9.2 % |
//! | as G1 | 49.8 % | 26.1 % | 18.3 % | 11.9 % | 8.9 % |
//!
//! HotSpot's rule (compare the time of young collections with that of full ones, 10 % tolerance) was refused: it knows
//! that the balance is wrong but not whether the threshold can mend it, and so runs to either end where nothing dies
//! between the ages, or where the fixed cost of many small collections is most of their time. G1's (the age up to which
//! survivors fill half of their space) knows no costs: it copies long-lived objects fifteen times where there is space.

use super::collection::AGES;
use super::decision::Reason;
use super::padded::SIZE_WEIGHT;
use crate::tlab::sizing::Average;

/// Work of a full collection for a live byte, in copies of a byte.
const FULL_PASSES: f32 = 2.0;

/// A threshold is left alone if another one costs hardly less: of its cost, this much is worth a change.
const WORTH: f32 = 0.98;

/// The state of the threshold.
#[derive(Clone, Debug)]
pub(super) struct Tenuring {
    threshold: u8,
    max: u8,
    /// Bytes by age after the last young collection.
    young: [usize; AGES],
    /// By age: bytes that were of it, and those of them that survived once more.
    reached: [Average; AGES],
    outlived: [Average; AGES],
    /// By age: the share that survives once more. Beyond the threshold it is a memory.
    rates: [f32; AGES],
}

/// What a byte that becomes old costs, in copies of a byte, where `live` of the heap lives and `headroom` is free after a full
/// collection, both in one unit.
pub(super) fn old_cost(live: usize, headroom: usize) -> f32 {
    FULL_PASSES * live as f32 / headroom.max(1) as f32
}

impl Tenuring {
    pub(super) fn new(initial: u8, max: u8) -> Tenuring {
        let max = max.min(AGES as u8 - 1);
        Tenuring {
            threshold: initial.min(max),
            max,
            young: [0; AGES],
            reached: [Average::new(SIZE_WEIGHT); AGES],
            outlived: [Average::new(SIZE_WEIGHT); AGES],
            rates: [0.5; AGES],
        }
    }

    pub(super) fn threshold(&self) -> u8 {
        self.threshold
    }

    /// Everything that was young is old or dead.
    pub(super) fn after_full(&mut self) {
        self.young = [0; AGES];
    }

    /// Takes in the survivors of a young collection by age, and what it made old.
    pub(super) fn observe(&mut self, survived: &[usize; AGES], promoted: usize) {
        let last = usize::from(self.threshold).min(AGES - 1);
        for age in 1..last {
            self.observe_age(age, self.young[age], survived[age + 1]);
        }
        if last > 0 {
            let due: usize = self.young[last..].iter().sum();
            self.observe_age(last, due, promoted.min(due));
            // What is older was not seen; what was seen of the oldest is the better guess, in time.
            let seen = self.rates[last];
            for rate in &mut self.rates[last + 1..] {
                *rate += (seen - *rate) / 64.0;
            }
        }
        self.young = *survived;
    }

    fn observe_age(&mut self, age: usize, reached: usize, outlived: usize) {
        self.reached[age].sample(reached as f32);
        self.outlived[age].sample(outlived as f32);
        if self.reached[age].value() > 0.0 {
            self.rates[age] = (self.outlived[age].value() / self.reached[age].value()).min(1.0);
        }
    }

    /// Moves the threshold, upwards by at most one. `expected` bytes will survive, `limit` bytes may stay young.
    pub(super) fn decide(&mut self, old_cost: f32, expected: usize, limit: usize) -> Option<Reason> {
        let from = self.threshold;
        if self.max == 0 {
            return None;
        }
        if expected > limit && from > 1 {
            self.threshold = from - 1;
            let (threshold, bytes) = ((from, self.threshold), (expected, limit));
            return Some(Reason::SurvivorsOverflow { threshold, bytes });
        }
        let best = self.best(old_cost);
        let to = if best > from && expected <= limit { from + 1 } else { best.min(from) };
        self.threshold = to.max(1);
        (self.threshold != from).then_some(Reason::Tenuring {
            threshold: (from, self.threshold),
            best,
            old_cost: old_cost.into(),
        })
    }

    /// The threshold with the least cost; the present one if it costs hardly more.
    fn best(&self, old_cost: f32) -> u8 {
        let (mut reached, mut copies) = (1.0, 0.0);
        let mut costs = [f32::MAX; AGES];
        for (cost, rate) in costs.iter_mut().zip(&self.rates).take(usize::from(self.max) + 1).skip(1) {
            reached *= rate;
            copies += reached;
            *cost = copies + old_cost * reached;
        }
        let least = (1..=self.max).min_by(|a, b| costs[usize::from(*a)].total_cmp(&costs[usize::from(*b)]));
        match least {
            Some(least) if costs[usize::from(least)] < WORTH * costs[usize::from(self.threshold)] => least,
            _ => self.threshold.max(1),
        }
    }
}
