//! The ratio of two scores, with the error that both carry.
//!
//! The interval is symmetric on the logarithmic scale, where a ratio is a difference. Let R = a /
//! b, with variances of the means v and w. The degrees of freedom are Welch's and Satterthwaite's,
//! since the variances differ:
//!
//! ```text
//! x = v / a^2, y = w / b^2     R * exp(± t * sqrt(x + y))
//! freedom = (x + y)^2 / (x^2/(n-1) + y^2/(m-1))
//! ```
//!
//! So both ends are positive, as every ratio of times and rates is; the value lies between them;
//! and the inverse ratio has the inverse interval.
//!
//! Refused: Fieller's interval. With large errors it reaches below zero, or is unbounded, and
//! neither helps a reader. Refused for the same reason: adding relative errors as `R * (1 ± e)`.
//! Refused: pairing forks. It would leave two degrees of freedom, and intervals wider than the
//! effects.

use super::{CONFIDENCE, Summary, t_quantile};

/// A ratio of two means and its interval of [`CONFIDENCE`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Mean of the score divided by mean of the baseline; NaN where one of them is not a finite
    /// number above zero.
    pub value: f64,
    /// Lower end, above zero; NaN when unknown (two values or fewer on either side, a mean that is
    /// not above zero, or an interval that no number can hold).
    pub low: f64,
    /// Upper end; NaN like `low`.
    pub high: f64,
}

impl Ratio {
    /// Divides `score` by `baseline`.
    pub fn of(score: &Summary, baseline: &Summary) -> Ratio {
        let is_rate = |mean: f64| mean > 0.0 && mean.is_finite();
        if !is_rate(score.mean) || !is_rate(baseline.mean) {
            return Ratio::unknown(f64::NAN);
        }
        let value = score.mean / baseline.mean;
        if score.count <= 2 || baseline.count <= 2 {
            return Ratio::unknown(value);
        }
        let relative = |summary: &Summary| (summary.deviation / summary.mean).powi(2) / summary.count as f64;
        let (x, y) = (relative(score), relative(baseline));
        if x + y == 0.0 {
            return Ratio::within(value, 1.0);
        }
        // Shares of the sum, whose squares neither overflow nor vanish.
        let (of_x, of_y) = (x / (x + y), y / (x + y));
        let freedom =
            1.0 / (of_x * of_x / (score.count - 1) as f64 + of_y * of_y / (baseline.count - 1) as f64);
        let t = t_quantile(1.0 - (1.0 - CONFIDENCE) / 2.0, freedom);
        Ratio::within(value, (t * (x + y).sqrt()).exp())
    }

    /// Whether there is a ratio: a finite number above zero.
    pub fn is_number(&self) -> bool {
        self.value > 0.0 && self.value.is_finite()
    }

    /// A ratio whose interval is not known.
    fn unknown(value: f64) -> Ratio {
        Ratio { value, low: f64::NAN, high: f64::NAN }
    }

    /// The interval from `value / factor` to `value * factor`.
    fn within(value: f64, factor: f64) -> Ratio {
        let (low, high) = (value / factor, value * factor);
        if low > 0.0 && high.is_finite() { Ratio { value, low, high } } else { Ratio::unknown(value) }
    }

    /// The geometric mean of ratios, with the error that they carry together: on the logarithmic
    /// scale the mean's half interval is the root of the sum of the squares of theirs, divided by
    /// their number. Holds for ratios that share no measurement, as those of different rows do.
    /// `None` without ratios, or if one of them is not a number.
    ///
    /// Refused: the arithmetic mean, which depends on what is divided by what: of 2 and 1/2 it is
    /// 1.25 either way round.
    pub fn mean(all: &[Ratio]) -> Option<Ratio> {
        if all.is_empty() || !all.iter().all(Ratio::is_number) {
            return None;
        }
        if let [only] = all {
            return Some(*only);
        }
        let count = all.len() as f64;
        let value = (all.iter().map(|ratio| ratio.value.ln()).sum::<f64>() / count).exp();
        let squares = all.iter().map(|ratio| ((ratio.high.ln() - ratio.low.ln()) / 2.0).powi(2));
        let half = squares.sum::<f64>().sqrt() / count;
        Some(if half.is_nan() { Ratio::unknown(value) } else { Ratio::within(value, half.exp()) })
    }

    /// The inverse ratio.
    pub fn inverse(&self) -> Ratio {
        Ratio { value: 1.0 / self.value, low: 1.0 / self.high, high: 1.0 / self.low }
    }

    /// The ratio times an exact number above zero.
    pub fn scaled(&self, by: f64) -> Ratio {
        Ratio { value: self.value * by, low: self.low * by, high: self.high * by }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_exact_baseline_gives_the_relative_error_of_the_score() {
        let (score, baseline) = (Summary::of(&[1.0, 2.0, 3.0, 4.0, 5.0]), Summary::of(&[2.0; 5]));
        let ratio = Ratio::of(&score, &baseline);
        assert_eq!(ratio.value, 1.5);
        let expected = (score.error / score.mean).exp();
        assert!((ratio.high / ratio.value / expected - 1.0).abs() < 1e-9, "{ratio:?}");
        assert!((ratio.value / ratio.low / expected - 1.0).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn equal_values_give_an_exact_ratio() {
        let ratio = Ratio::of(&Summary::of(&[3.0; 4]), &Summary::of(&[2.0; 4]));
        assert_eq!((ratio.low, ratio.value, ratio.high), (1.5, 1.5, 1.5));
    }

    #[test]
    fn what_is_no_rate_or_too_few_has_no_interval() {
        let some = Summary::of(&[3.0, 3.1, 3.2]);
        for other in [vec![0.0; 3], vec![-1.0, -1.1, -1.2], vec![1.0; 2], vec![], vec![f64::INFINITY; 3]] {
            for ratio in [Ratio::of(&some, &Summary::of(&other)), Ratio::of(&Summary::of(&other), &some)] {
                assert!(ratio.low.is_nan() && ratio.high.is_nan(), "{other:?}: {ratio:?}");
                assert_eq!(ratio.is_number(), other == [1.0; 2], "{other:?}: {ratio:?}");
            }
        }
        let endless = Ratio::of(&some, &Summary::of(&[1e-300, 1e-300, 1.0, 1e-300]));
        assert!(endless.low > 0.0 || endless.low.is_nan(), "{endless:?}");
    }

    #[test]
    fn an_interval_that_no_number_holds_is_unknown() {
        let (tiny, huge) = (Summary::of(&[1e-300; 3]), Summary::of(&[1e300; 3]));
        assert!(Ratio::of(&huge, &tiny).high.is_nan() && Ratio::of(&tiny, &huge).low.is_nan());
    }

    /// Errors that were once printed as "-13.3 to 74.2" and "1.24 ± 21.28".
    #[test]
    fn a_large_error_is_a_wide_interval_above_zero() {
        let ratio = Ratio::of(&Summary::of(&[10.0, 1.0, 80.0]), &Summary::of(&[3.0, 9.0, 1.0]));
        assert!(ratio.low > 0.0 && ratio.low < 1.0 && ratio.high > 74.2, "{ratio:?}");
    }

    #[test]
    fn a_mean_has_the_error_of_its_parts() {
        let of = |value: f64, factor: f64| Ratio::within(value, factor);
        assert_eq!(Ratio::mean(&[]), None);
        assert_eq!(Ratio::mean(&[of(2.0, 1.1), Ratio::unknown(f64::NAN)]), None);
        let alone = Ratio::mean(&[of(2.0, 1.1)]).unwrap();
        assert!((alone.value - 2.0).abs() < 1e-12 && (alone.high - 2.2).abs() < 1e-12, "{alone:?}");
        let both = Ratio::mean(&[of(2.0, 1.1), of(0.5, 1.1)]).unwrap();
        assert!((both.value - 1.0).abs() < 1e-12, "{both:?}");
        // Two equal errors are smaller together by the root of two.
        assert!((both.high.ln() / 1.1_f64.ln() - 0.5_f64.sqrt()).abs() < 1e-9, "{both:?}");
        assert!(Ratio::mean(&[of(2.0, 1.1), Ratio::unknown(3.0)]).unwrap().low.is_nan());
    }

    fn summaries() -> impl Strategy<Value = Summary> {
        prop::collection::vec(1e-3f64..1e6, 3..12).prop_map(|values| Summary::of(&values))
    }

    proptest! {
        #[test]
        fn the_interval_is_positive_and_holds_the_value(a in summaries(), b in summaries()) {
            let ratio = Ratio::of(&a, &b);
            if !ratio.low.is_nan() {
                prop_assert!(0.0 < ratio.low && ratio.low <= ratio.value, "{:?}", ratio);
                prop_assert!(ratio.value <= ratio.high && ratio.high.is_finite(), "{:?}", ratio);
            }
            prop_assert_eq!(ratio.low.is_nan(), ratio.high.is_nan());
        }

        #[test]
        fn swapping_the_sides_inverts_the_interval(a in summaries(), b in summaries()) {
            let (there, back) = (Ratio::of(&a, &b), Ratio::of(&b, &a).inverse());
            let close = |x: f64, y: f64| (x.is_nan() && y.is_nan()) || (x / y - 1.0).abs() < 1e-9;
            prop_assert!(close(there.low, back.low) && close(there.high, back.high), "{:?} {:?}", there, back);
            prop_assert!(close(there.value, back.value));
        }

        #[test]
        fn the_unit_does_not_matter(a in summaries(), b in summaries(), factor in 1e-6f64..1e6) {
            let times = |one: &Summary| Summary { mean: one.mean * factor, deviation: one.deviation * factor, ..*one };
            let (ratio, same) = (Ratio::of(&a, &b), Ratio::of(&times(&a), &times(&b)));
            if !ratio.low.is_nan() {
                prop_assert!((ratio.low / same.low - 1.0).abs() < 1e-9 && (ratio.high / same.high - 1.0).abs() < 1e-9);
            }
        }
    }
}
