//! Times some of the calls.
//!
//! As in JMH, a masked linear generator of 32 bits decides which calls are timed. After more than
//! about 20 samples per millisecond of an iteration, all counts are halved and the mask gets one
//! more bit, so the samples stay evenly distributed over the iteration. One difference: an odd count
//! is rounded up or down at random. JMH rounds down but never halves a count of one
//! (`SampleBuffer.half`), so with each halving a rare long time weighs more. Here its expected weight
//! stays right, but a single long time may be dropped.

use hdrhistogram::Histogram;
use std::time::Duration;

/// The target number of samples of a thread, per millisecond of an iteration.
const SAMPLES_PER_MILLISECOND: u64 = 20;

/// Decides which calls are timed and holds the times.
#[derive(Debug)]
pub(super) struct Sampler {
    generator: u32,
    mask: u32,
    target: u64,
    since_halving: u64,
    histogram: Histogram<u64>,
}

impl Sampler {
    /// A sampler for one thread. With different seeds threads choose different calls.
    pub(super) fn new(iteration_time: Duration, seed: u32) -> Sampler {
        let milliseconds = u64::try_from(iteration_time.as_millis()).unwrap_or(u64::MAX);
        let target = milliseconds.saturating_mul(SAMPLES_PER_MILLISECOND).max(1);
        Sampler {
            generator: seed.wrapping_mul(2_654_435_761).wrapping_add(1),
            mask: 0,
            target,
            since_halving: 0,
            histogram: histogram(),
        }
    }

    /// Clears the times and keeps the mask, which the next iteration needs too.
    pub(super) fn start_iteration(&mut self) {
        self.histogram.reset();
        self.since_halving = 0;
    }

    /// Whether to time the next call.
    #[inline]
    pub(super) fn chooses(&mut self) -> bool {
        // The low bits of such a generator have short periods, so the mask covers higher ones.
        (self.step() >> 8) & self.mask == 0
    }

    /// Records the time of a call, in nanoseconds per operation.
    pub(super) fn record(&mut self, nanoseconds: u64) {
        self.histogram.saturating_record(nanoseconds);
        self.since_halving += 1;
        if self.since_halving > self.target && self.mask < (1 << 23) {
            self.halve();
            self.since_halving = 0;
            self.mask = self.mask << 1 | 1;
        }
    }

    /// The times in nanoseconds with the number of each, ascending.
    pub(super) fn counts(&self) -> Vec<(u64, u64)> {
        self.histogram
            .iter_recorded()
            .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
            .collect()
    }

    fn halve(&mut self) {
        let counts = self.counts();
        self.histogram.reset();
        for (value, count) in counts {
            let odd = if self.step() >> 31 == 1 { count & 1 } else { 0 };
            self.histogram.saturating_record_n(value, count / 2 + odd);
        }
    }

    /// The constants are those of "Numerical Recipes".
    #[inline]
    fn step(&mut self) -> u32 {
        self.generator = self.generator.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.generator
    }
}

/// A histogram of times up to an hour, with a relative error of at most 0.1 %.
fn histogram() -> Histogram<u64> {
    const HOUR: u64 = 3_600_000_000_000;
    Histogram::new_with_max(HOUR, 3).expect("one hour in three digits is within the histogram's limits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn total(sampler: &Sampler) -> u64 {
        sampler.counts().iter().map(|(_, count)| count).sum()
    }

    #[test]
    fn long_iterations_are_thinned_evenly() {
        let mut sampler = Sampler::new(Duration::from_millis(100), 1);
        let calls = 10_000_000;
        let mut timed = [0_u64; 2];
        for call in 0..calls {
            if sampler.chooses() {
                timed[usize::from(call > calls / 2)] += 1;
                // Early calls take 10 ns, late ones 1000 ns.
                sampler.record(if call > calls / 2 { 1000 } else { 10 });
            }
        }
        let counts = sampler.counts();
        assert!(total(&sampler) <= 2 * 2000 + 100, "{counts:?}");
        let late = counts.iter().find(|(value, _)| (999..=1001).contains(value)).unwrap().1;
        let share = late as f64 / total(&sampler) as f64;
        assert!((share - 0.5).abs() < 0.1, "both halves must weigh the same, the late one has {share}");
        assert!(timed[0] > timed[1]);
    }

    #[test]
    fn short_iterations_keep_every_sample() {
        let mut sampler = Sampler::new(Duration::from_millis(1), 7);
        for value in 0..20 {
            assert!(sampler.chooses());
            sampler.record(value);
        }
        assert_eq!(total(&sampler), 20);
        sampler.start_iteration();
        assert_eq!(sampler.counts(), []);
    }

    proptest! {
        #[test]
        fn halving_loses_half_and_keeps_values(values in prop::collection::vec(1u64..1_000_000_000_000, 1..200)) {
            let mut sampler = Sampler::new(Duration::from_secs(1), 3);
            values.iter().for_each(|&value| sampler.record(value));
            let before = sampler.counts();
            prop_assert!(values.iter().all(|&v| before.iter().any(|&(b, _)| b.abs_diff(v) <= v / 1000 + 1)));
            sampler.halve();
            for (value, count) in sampler.counts() {
                let old = before.iter().find(|&&(b, _)| b == value).unwrap().1;
                prop_assert!(count == old / 2 || count == old.div_ceil(2));
            }
        }
    }
}
