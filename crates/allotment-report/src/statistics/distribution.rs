//! Distributions of times: few buckets that keep a curve of percentiles, and that curve.
//!
//! A distribution is the recorded buckets of an HdrHistogram of two digits. So a value is at most a
//! hundredth above the time it stands for, and a file has some hundred pairs instead of each
//! time. The least and the largest time are exact.
//!
//! A curve has its percentiles at equal distances along the axis of HdrHistogram's plots, which is
//! logarithmic in `1 / (1 - percentile)`. So the rare times have as much room as the frequent ones.
//!
//! Refused: keeping the percentiles alone. Those of several runs cannot be put together.

use super::{Weighted, percentile};
use hdrhistogram::Histogram;
use std::time::Duration;

/// Points of a curve in each factor of ten of `1 / (1 - percentile)`.
const POINTS: u32 = 20;

/// Times in microseconds, ascending, with the number of each.
pub fn distribution(times: impl Iterator<Item = Duration>) -> Vec<Weighted> {
    /// In nanoseconds. A longer time counts as this.
    const DAY: u64 = 86_400_000_000_000;
    let mut histogram =
        Histogram::<u64>::new_with_max(DAY, 2).expect("a day in two digits is within the histogram's limits");
    let (mut least, mut largest) = (DAY, 0);
    for time in times {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(DAY).min(DAY);
        (least, largest) = (least.min(nanoseconds), largest.max(nanoseconds));
        histogram.saturating_record(nanoseconds);
    }
    let buckets = histogram.iter_recorded();
    let mut all: Vec<Weighted> = buckets
        .map(|bucket| (bucket.value_iterated_to().min(largest) as f64 / 1e3, bucket.count_at_value()))
        .collect();
    // The buckets of both ends have one of the two exact times each; of the other times in a
    // bucket only the bucket is known.
    match all.as_mut_slice() {
        [] => {}
        [(value, 1)] => *value = least as f64 / 1e3,
        [(value, count @ 2..), ..] if *value > least as f64 / 1e3 => {
            *count -= 1;
            all.insert(0, (least as f64 / 1e3, 1));
        }
        [(value, _), ..] => *value = least as f64 / 1e3,
    }
    all
}

/// The percentiles of `sorted` values as places `1 / (1 - percentile)` with their values. The last
/// is the largest value. Empty without values.
///
/// Percentiles follow JMH's rule, so they are those of the tables. By that rule the largest of n
/// values is the percentile n / (n + 1), whose place is n + 1.
pub fn curve(sorted: &[Weighted]) -> Vec<(f64, f64)> {
    let count = sorted.iter().fold(0_u64, |sum, &(_, times)| sum.saturating_add(times));
    let Some(&(largest, _)) = sorted.last().filter(|_| count > 0) else { return Vec::new() };
    let end = count as f64 + 1.0;
    let places = (0..).map(|step| 10_f64.powf(f64::from(step) / f64::from(POINTS)));
    let inner = places.take_while(|place| *place < end * 0.999);
    inner
        .map(|place| (place, percentile(sorted, 100.0 * (1.0 - 1.0 / place))))
        .chain([(end, largest)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::percentiles;
    use proptest::prelude::*;

    #[test]
    fn the_ends_are_exact_and_no_time_is_lost() {
        let times = [1_234_567, 5, 1_234_568, 999_983].map(Duration::from_nanos);
        let found = distribution(times.into_iter());
        assert_eq!(found.first(), Some(&(0.005, 1)));
        assert_eq!(found.last().unwrap().0, 1234.568);
        assert_eq!(found.iter().map(|(_, count)| count).sum::<u64>(), 4);
        assert_eq!(distribution(std::iter::empty()), []);
        assert_eq!(distribution([Duration::ZERO].into_iter()), [(0.0, 1)]);
        assert_eq!(distribution([Duration::from_nanos(123_457); 1].into_iter()), [(123.457, 1)]);
    }

    #[test]
    fn a_curve_ends_at_the_largest_value() {
        let values: Vec<Weighted> = (1..=1000).map(|value| (f64::from(value), 1)).collect();
        let curve = curve(&values);
        assert_eq!((curve[0], *curve.last().unwrap()), ((1.0, 1.0), (1001.0, 1000.0)));
        let at = |place: f64| curve.iter().find(|(known, _)| (known / place - 1.0).abs() < 1e-9).unwrap().1;
        assert!((at(10.0) - 900.9).abs() < 1e-9 && (at(100.0) - 990.99).abs() < 1e-9, "{curve:?}");
        assert!(curve.len() > 3 * POINTS as usize, "{}", curve.len());
        assert_eq!(super::curve(&[]), []);
        assert_eq!(super::curve(&[(7.0, 1)]).last(), Some(&(2.0, 7.0)));
    }

    proptest! {
        #[test]
        fn percentiles_are_kept_to_a_hundredth(times in prop::collection::vec(1u64..10_000_000_000, 1..300)) {
            let found = distribution(times.iter().copied().map(Duration::from_nanos));
            let exact = percentiles(&times.iter().map(|&time| time as f64 / 1e3).collect::<Vec<_>>());
            for ((_, p), expected) in crate::statistics::JMH_PERCENTILES.iter().zip(exact) {
                let value = percentile(&found, *p);
                prop_assert!((value / expected - 1.0).abs() < 0.011, "{}: {} is not {}", p, value, expected);
            }
            let curve = curve(&found);
            prop_assert!(curve.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
            prop_assert_eq!(curve.last().unwrap().1, *times.iter().max().unwrap() as f64 / 1e3);
        }
    }
}
