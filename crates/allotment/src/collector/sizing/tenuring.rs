//! The number of young collections that an object survives before it becomes old.
//!
//! A young object costs a copy each time it survives. An old one costs its share of a full
//! collection if it dies soon. Two known values give both costs:
//!
//! - the survival rate by age: bytes of age a after the last collection, and of age a + 1 after
//!   this one;
//! - the cost of a byte that became old, in copies of a byte. A full collection visits live bytes
//!   (it marks, updates and slides: about twice the work of a copy and a scan) to free those that
//!   became old since the last one, at most the headroom. So k = 2 live / headroom, on a machine of
//!   any speed.
//!
//! Of a byte of age 1, v(a) bytes reach age a. A threshold T costs v(2) + ... + v(T + 1) copies,
//! and k v(T + 1) for the bytes that become old. The least such cost means: promote at the age from
//! which on more than k / (1 + k) survive. The threshold rises by one at a time, into ages of which
//! nothing is known. It falls at once: on the way from 7 to 1, a program that builds permanent data
//! would see it copied six times. It falls by one when survivors overflow the bytes that may stay
//! young, even if that costs more.
//!
//! Time in collections in the simulator (18 programs, 4 GiB of allocation each), by heap size in
//! multiples of the live bytes. The fixed thresholds that are best in small heaps are worst in
//! large ones; this rule adapts:
//!
//! | threshold | 1.15 | 1.3 | 1.5 | 2 | 3 |
//! |---|---|---|---|---|---|
//! | by cost | 47.9 % | 25.0 % | 15.2 % | 8.9 % | 5.8 % |
//! | 1 | 50.9 % | 26.0 % | 15.6 % | 8.8 % | 5.5 % |
//! | 3 | 48.6 % | 25.1 % | 15.4 % | 9.7 % | 6.9 % |
//! | 7 | 47.8 % | 25.8 % | 16.6 % | 11.3 % | 9.2 % |
//! | as G1 | 49.8 % | 26.1 % | 18.3 % | 11.9 % | 8.9 % |
//!
//! Refused: HotSpot's rule (compare the time of young collections with that of full ones, 10 %
//! tolerance). It sees that the balance is wrong, but not whether the threshold can correct it. So
//! it runs to either end if nothing dies between the ages, or if the fixed cost of small
//! collections dominates. Refused: G1's rule (the age up to which survivors fill half of their
//! space). It ignores costs: it copies long-lived objects fifteen times if there is space.

use super::collection::AGES;
use super::decision::{Change, Reason};
use super::padded::SIZE_WEIGHT;
use crate::tlab::sizing::Average;

/// Work of a full collection for a live byte, in copies of a byte.
const FULL_PASSES: f32 = 2.0;

/// A change must lower the cost to at most this part of the present cost.
const WORTH: f32 = 0.98;

/// The state of the threshold.
#[derive(Clone, Debug)]
pub(super) struct Tenuring {
    pub(super) threshold: u8,
    max: u8,
    /// Bytes by age after the last young collection.
    young: [usize; AGES],
    /// By age: bytes that reached the age.
    reached: [Average; AGES],
    /// By age: those of the reached bytes that survived once more.
    outlived: [Average; AGES],
    /// By age: the share that survives once more. Beyond the threshold, the share is an old
    /// measurement.
    rates: [f32; AGES],
}

/// The cost of a byte that becomes old, in copies of a byte. After a full collection `live` of the
/// heap lives and `headroom` is free, both in one unit.
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

    /// Notes that every young object is now old or dead.
    pub(super) fn after_full(&mut self) {
        self.young = [0; AGES];
    }

    /// Adds the survivors of a young collection by age, and the bytes it made old.
    pub(super) fn observe(&mut self, survived: &[usize; AGES], promoted: usize) {
        let last = usize::from(self.threshold).min(AGES - 1);
        for age in 1..last {
            self.observe_age(age, self.young[age], survived[age + 1]);
        }
        if last > 0 {
            let due: usize = self.young[last..].iter().sum();
            self.observe_age(last, due, promoted.min(due));
            // Older ages were not seen; the rate of the oldest seen age is the better guess, in
            // time.
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

    /// Moves the threshold, upwards by at most one. `expected` bytes will survive, `limit` may stay
    /// young.
    pub(super) fn decide(&mut self, old_cost: f32, expected: usize, limit: usize) -> Option<Reason> {
        let from = self.threshold;
        if self.max == 0 {
            return None;
        }
        if expected > limit && from > 1 {
            self.threshold = from - 1;
            return Some(Reason::SurvivorsOverflow {
                threshold: self.change(from),
                expected_bytes: expected,
                limit_bytes: limit,
            });
        }
        let best = self.best(old_cost);
        let to = if best > from && expected <= limit { from + 1 } else { best.min(from) };
        self.threshold = to.max(1);
        (self.threshold != from).then_some(Reason::Tenuring {
            threshold: self.change(from),
            best,
            old_cost: old_cost.into(),
        })
    }

    /// The change of the threshold from `from` on.
    fn change(&self, from: u8) -> Change {
        Change { from: from.into(), to: self.threshold.into() }
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
