//! How far the next sampling point is, and what a sample stands for.
//!
//! Distances are exponential with the mean T, the interval: each byte is as likely to have a point
//! as any other, whatever the sizes of objects. An object of k bytes is sampled with the
//! probability `p = 1 - e^(-k/T)`. So a sample of it stands for `1/p` objects and `k/p` bytes: the
//! estimator of Horvitz and Thompson (1952), which is unbiased for every mix of sizes. It has the
//! least variance of the estimators that profilers use: `k² e^(-k/T) / p` for each object.
//!
//! The formula needs the next distance to begin where the object ends. An exponential distance has
//! no memory, so the bytes of the object beyond the point do not count.
//!
//! Refused:
//! - The interval as the weight of each sample: objects larger than T come out too small.
//! - Number of points × T, with several points in one object: unbiased, but the variance of an
//!   object of 10 T is 2000 times as large.

use crate::random::Random;

/// The interval in bytes when sampling is switched on without one: that of JEP 331.
pub const DEFAULT_SAMPLE_INTERVAL: usize = 512 << 10;

/// The probability that an object of `bytes` is sampled where a point comes every `interval` bytes
/// on average: `1 - e^(-bytes/interval)`. `interval` is above 0.
///
/// ```
/// use allotment::stats::sample_probability;
/// // A sample of an object of 16 bytes stands for 32,768 objects.
/// assert_eq!((1.0 / sample_probability(16, 512 << 10)).round(), 32_769.0);
/// // Nearly every object of 4 MiB is sampled.
/// assert!(sample_probability(4 << 20, 512 << 10) > 0.999);
/// ```
#[must_use]
pub fn sample_probability(bytes: usize, interval: usize) -> f64 {
    // Not `1.0 - exp`: for small objects all digits would cancel.
    -(-(bytes as f64) / interval as f64).exp_m1()
}

/// A thread's random distances. Owner only.
#[derive(Debug)]
pub(in crate::mutator) struct Distances(Random);

impl Distances {
    /// The distances of the `thread`-th thread of a heap with that seed.
    pub(in crate::mutator) fn new(seed: u64, thread: u64) -> Distances {
        // A round of the generator first: the states of SplitMix64 are a fixed step apart, and
        // threads may not share a sequence with an offset.
        Distances(Random::new(Random::new(seed ^ thread.rotate_left(32)).next()))
    }

    /// Whole bytes to the next point. An object of `k` bytes that begins here is sampled if `k` is
    /// above this number. This holds with the probability `1 - e^(-k/interval)`.
    pub(in crate::mutator) fn next(&self, interval: usize) -> usize {
        const STEPS: f64 = (1_u64 << 53) as f64;
        // From 2^-53 to 1: the logarithm is finite.
        let uniform = ((self.0.next() >> 11) + 1) as f64 / STEPS;
        // A sum beyond the address space becomes the largest number.
        (-uniform.ln() * interval as f64) as usize
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_probability_is_exact_at_both_ends() {
        for (bytes, interval, expected) in [
            (16, 1 << 40, 16.0 / (1_u64 << 40) as f64),
            (1 << 20, 1 << 20, 0.632_120_558_828_557_7),
            (1 << 30, 16, 1.0),
            (8, 8 << 20, 9.536_738_615_917e-7),
        ] {
            let found = sample_probability(bytes, interval);
            assert!((found / expected - 1.0).abs() < 1e-10, "{bytes}/{interval}: {found}");
        }
    }

    /// Distances of which a share of `e^-x` is above `x` times the mean, for each x.
    #[test]
    fn distances_are_exponential_and_repeat_with_their_seed() {
        const MEAN: usize = 1 << 19;
        const TRIALS: usize = 200_000;
        let distances = Distances::new(7, 3);
        let all: Vec<usize> = (0..TRIALS).map(|_| distances.next(MEAN)).collect();
        for x in [0.01_f64, 0.1, 0.5, 1.0, 2.0, 4.0] {
            let above = all.iter().filter(|&&one| one as f64 > x * MEAN as f64).count() as f64;
            let (p, n) = ((-x).exp(), TRIALS as f64);
            let deviation = (n * p * (1.0 - p)).sqrt();
            assert!((above - n * p).abs() < 4.0 * deviation, "beyond {x}: {above} of {n}");
        }
        let again = Distances::new(7, 3);
        assert!(all.iter().all(|&one| one == again.next(MEAN)));
        for (seed, thread) in [(7, 4), (8, 3), (3, 7)] {
            let other = Distances::new(seed, thread);
            let same = all.iter().take(1000).filter(|&&one| one == other.next(MEAN)).count();
            assert_eq!(same, 0, "seed {seed}, thread {thread}");
        }
        assert_eq!(Distances::new(0, 0).next(usize::MAX), Distances::new(0, 0).next(usize::MAX));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// The estimators against exact sums, for random sizes beside the interval: unbiased within
        /// four standard deviations, which the formula gives.
        #[test]
        fn weighted_samples_are_what_was_allocated(
            sizes in proptest::collection::vec(
                prop_oneof![2..16_usize, 16..512_usize, 512..16_384_usize].prop_map(|words| words * 8), 1..12),
            interval in prop_oneof![64..1024_usize, 1024..65_536_usize],
            seed: u64,
        ) {
            let distances = Distances::new(seed, 1);
            let mut left = distances.next(interval);
            let (mut exact, mut variance, mut estimate) = ([0.0; 2], [0.0; 2], [0.0; 2]);
            for turn in 0..20_000 {
                let bytes = sizes[turn % sizes.len()];
                let (k, p) = (bytes as f64, sample_probability(bytes, interval));
                // An object counts as 1 and as k.
                for (kind, value) in [1.0, k].into_iter().enumerate() {
                    exact[kind] += value;
                    variance[kind] += value * value * (1.0 - p) / p;
                }
                if bytes > left {
                    left = distances.next(interval);
                    estimate[0] += 1.0 / p;
                    estimate[1] += k / p;
                } else {
                    left -= bytes;
                }
            }
            for kind in 0..2 {
                let off = (estimate[kind] - exact[kind]).abs();
                // A sum of few samples is not a normal deviate: its largest single weight may
                // decide.
                let most = sizes.iter().map(|&bytes| {
                    [1.0, bytes as f64][kind] / sample_probability(bytes, interval)
                }).fold(0.0, f64::max);
                prop_assert!(off <= 4.0 * variance[kind].sqrt() + 3.0 * most,
                    "kind {kind}: {} instead of {}", estimate[kind], exact[kind]);
            }
        }
    }
}
