//! A distribution of times in fixed buckets, as Prometheus and OpenTelemetry keep them.
//!
//! The bounds never change and are the same for all heaps, so distributions of several heaps, or of
//! several processes, can be added. They begin at 10 us, and each is twice the one before: a pause
//! of a concurrent collector takes tens of microseconds, a full collection of a large heap takes
//! seconds.
//!
//! Refused: to count in the histograms of three digits that
//! [`TimePercentiles`](crate::stats::TimePercentiles) has for percentiles. These have thousands of
//! buckets, whose bounds are no decimal numbers. A reader would have to copy them all.

use std::time::Duration;

/// Number of bounds.
const BOUNDS: usize = 21;

/// Number of times in each of the buckets that [`BOUNDS`](Self::BOUNDS) divides, and their sum.
///
/// Buckets are not cumulative: each time is in one of them, as in OpenTelemetry. The text form of
/// Prometheus has cumulative ones, which its libraries compute.
///
/// ```
/// use allotment::{Heap, stats::TimeHistogram};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| mu.collect())?;
/// let pauses = heap.metrics().pauses;
/// assert_eq!((pauses.count(), pauses.counts().iter().sum::<u64>()), (1, 1));
/// for (bound, count) in TimeHistogram::BOUNDS.iter().zip(pauses.counts()) {
///     println!("up to {bound:?}: {count}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeHistogram {
    counts: [u64; BOUNDS + 1],
    sum: Duration,
}

impl TimeHistogram {
    /// The largest time of each bucket but the last, which has none: 10 us · 2^i for i = 0 to 20,
    /// so up to 10.48576 s.
    pub const BOUNDS: [Duration; BOUNDS] = {
        let mut bounds = [Duration::from_micros(10); BOUNDS];
        let mut place = 1;
        while place < BOUNDS {
            bounds[place] = Duration::from_micros(10 << place);
            place += 1;
        }
        bounds
    };

    /// The same in seconds, as exporters want them: 0.00001 to 10.48576. The nearest numbers to
    /// these decimals, which [`Duration::as_secs_f64`] need not find.
    pub fn bounds_in_seconds() -> [f64; BOUNDS] {
        Self::BOUNDS.map(|bound| bound.as_micros() as f64 / 1e6)
    }

    /// Counts a time.
    pub(crate) fn record(&mut self, time: Duration) {
        self.counts[Self::BOUNDS.partition_point(|bound| *bound < time)] += 1;
        self.sum += time;
    }

    /// Number of times in each bucket. Of the bucket at place i, i > 0, these are above
    /// `BOUNDS[i - 1]`, and at most `BOUNDS[i]`.
    pub fn counts(&self) -> &[u64; BOUNDS + 1] {
        &self.counts
    }

    /// Number of all times.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Sum of all times.
    pub fn sum(&self) -> Duration {
        self.sum
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bounds_double_from_10_us() {
        assert_eq!(TimeHistogram::BOUNDS[0], Duration::from_micros(10));
        assert_eq!(TimeHistogram::BOUNDS[20], Duration::from_micros(10_485_760));
        assert!(TimeHistogram::BOUNDS.windows(2).all(|pair| pair[1] == 2 * pair[0]));
        let seconds = TimeHistogram::bounds_in_seconds().map(|bound| bound.to_string());
        assert_eq!([&*seconds[0], &*seconds[17], &*seconds[20]], ["0.00001", "1.31072", "10.48576"]);
    }

    /// Times of all magnitudes, and those at and beside bounds.
    fn times() -> impl Strategy<Value = Duration> {
        let beside = (0..BOUNDS, -1..=1_i64).prop_map(|(place, step)| {
            let bound = TimeHistogram::BOUNDS[place].as_nanos() as u64;
            Duration::from_nanos(bound.saturating_add_signed(step))
        });
        let any = (any::<u64>(), 20..64_u32).prop_map(|(bits, shift)| Duration::from_nanos(bits >> shift));
        prop_oneof![beside, any]
    }

    proptest! {
        #[test]
        fn each_time_is_in_the_first_bucket_whose_bound_it_does_not_exceed(
            times in proptest::collection::vec(times(), 0..50),
        ) {
            let (mut histogram, mut counts, mut sum) = (TimeHistogram::default(), vec![0; 22], 0);
            for time in &times {
                histogram.record(*time);
                let (mut place, mut bound) = (0, 10_000);
                while place < 21 && time.as_nanos() > bound {
                    (place, bound) = (place + 1, 2 * bound);
                }
                counts[place] += 1;
                sum += time.as_nanos();
            }
            prop_assert_eq!(&histogram.counts()[..], &counts[..]);
            prop_assert_eq!((histogram.count(), histogram.sum().as_nanos()), (times.len() as u64, sum));
        }
    }
}
