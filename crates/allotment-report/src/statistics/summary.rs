//! Mean, spread and error of one set of values.
//!
//! As in JMH's `AbstractStatistics`, the error is the half width of the two-sided 99.9 % Student
//! interval over all values pooled, `t(0.9995; n - 1) * s / sqrt(n)`. Pooling treats the iterations
//! of one process as independent, which they are not quite. The table therefore also shows the
//! spread over forks.
//!
//! Refused: a hierarchical bootstrap. It would be more honest, but its numbers could not be
//! compared with JMH's.

use super::percentiles::Weighted;
use super::t_quantile;

/// The confidence of every interval the lab prints.
pub const CONFIDENCE: f64 = 0.999;

/// Statistics of a set of values. NaN wherever there are too few values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The number of values.
    pub count: u64,
    /// Arithmetic mean; NaN without values.
    pub mean: f64,
    /// Sample standard deviation (divisor n - 1); NaN for fewer than two values.
    pub deviation: f64,
    /// Half width of the interval of [`CONFIDENCE`]; NaN for two values or fewer, as in JMH.
    pub error: f64,
    /// Smallest value; NaN without values.
    pub min: f64,
    /// Largest value; NaN without values.
    pub max: f64,
}

impl Summary {
    /// Summarises plain values.
    pub fn of(values: &[f64]) -> Summary {
        Self::collect(values.iter().map(|&value| (value, 1)))
    }

    /// Summarises values that each occur a number of times, as a histogram holds them.
    pub fn of_weighted(values: &[Weighted]) -> Summary {
        Self::collect(values.iter().copied())
    }

    /// Both ends of the interval: mean - error, mean + error.
    pub fn interval(&self) -> [f64; 2] {
        [self.mean - self.error, self.mean + self.error]
    }

    /// Two passes: the one-pass formula loses all digits when the spread is small against the mean.
    fn collect(values: impl Iterator<Item = Weighted> + Clone) -> Summary {
        let (mut count, mut sum, mut min, mut max) = (0_u64, 0.0, f64::NAN, f64::NAN);
        for (value, times) in values.clone().filter(|&(_, times)| times > 0) {
            count = count.saturating_add(times);
            sum += value * times as f64;
            min = value.min(min);
            max = value.max(max);
        }
        let n = count as f64;
        // The sum may overflow where the mean does not; then each value's share is added up.
        let share = |(value, times): Weighted| value * (times as f64 / n);
        let mean = if sum.is_finite() { sum / n } else { values.clone().map(share).sum() };
        let squares = |unit: f64| -> f64 {
            values.clone().map(|(value, times)| ((value - mean) / unit).powi(2) * times as f64).sum()
        };
        let deviation = match squares(1.0) {
            _ if count < 2 => f64::NAN,
            squares if squares.is_finite() => (squares / (n - 1.0)).sqrt(),
            // The squares may overflow too.
            _ => (squares(mean.abs()) / (n - 1.0)).sqrt() * mean.abs(),
        };
        let error = if count <= 2 {
            f64::NAN
        } else {
            t_quantile(1.0 - (1.0 - CONFIDENCE) / 2.0, n - 1.0) * deviation / n.sqrt()
        };
        Summary { count, mean, deviation, error, min, max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_whose_sum_is_too_large_have_a_mean() {
        let values = [1e308, 1e308, 1.1e308];
        let summary = Summary::of(&values);
        assert!((summary.mean / (3.1 / 3.0 * 1e308) - 1.0).abs() < 1e-12, "{summary:?}");
        let small = Summary::of(&values.map(|value| value / 1e300));
        assert!((summary.deviation / small.deviation / 1e300 - 1.0).abs() < 1e-9, "{summary:?} {small:?}");
    }

    #[test]
    fn one_to_five() {
        let summary = Summary::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((summary.count, summary.mean, summary.min, summary.max), (5, 3.0, 1.0, 5.0));
        assert!((summary.deviation - 1.58114).abs() < 1e-5);
        assert!((summary.error - 6.0884).abs() < 1e-4, "{}", summary.error);
        let [low, high] = summary.interval();
        assert!((low + 3.0884).abs() < 1e-4 && (high - 9.0884).abs() < 1e-4);
    }

    #[test]
    fn the_four_iterations_of_two_forks() {
        let summary = Summary::of(&[244.0, 248.0, 252.0, 256.0]);
        assert!((summary.deviation - 5.16398).abs() < 1e-5);
        assert!((summary.error - 33.37).abs() < 0.01, "{}", summary.error);
    }

    #[test]
    fn equal_values_have_no_error_and_few_values_have_no_known_one() {
        assert_eq!(Summary::of(&[10.0, 10.0, 10.0]).error, 0.0);
        assert!(Summary::of(&[7.0, 9.0]).error.is_nan());
        assert_eq!(Summary::of(&[7.0, 9.0]).mean, 8.0);
        let none = Summary::of(&[]);
        assert_eq!(none.count, 0);
        assert!(none.mean.is_nan() && none.error.is_nan() && none.min.is_nan());
    }

    proptest! {
        #[test]
        fn weights_are_repetitions(values in prop::collection::vec((0.0f64..1e6, 0u64..5), 1..20)) {
            let repeated: Vec<f64> =
                values.iter().flat_map(|&(v, n)| std::iter::repeat_n(v, n as usize)).collect();
            let (weighted, plain) = (Summary::of_weighted(&values), Summary::of(&repeated));
            prop_assert_eq!(weighted.count, plain.count);
            let close = |a: f64, b: f64| (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-6 * (1.0 + b.abs());
            prop_assert!(close(weighted.mean, plain.mean) && close(weighted.error, plain.error));
            prop_assert!(close(weighted.min, plain.min) && close(weighted.max, plain.max));
        }

        #[test]
        fn scaling_the_values_scales_the_summary(values in prop::collection::vec(1.0f64..1e3, 3..20)) {
            let (a, b) = (Summary::of(&values), Summary::of(&values.iter().map(|v| v * 8.0).collect::<Vec<_>>()));
            prop_assert!((a.error * 8.0 - b.error).abs() <= 1e-9 * b.error.max(1.0));
            prop_assert!(a.min <= a.mean * (1.0 + 1e-12) && a.mean <= a.max * (1.0 + 1e-12));
        }
    }
}
