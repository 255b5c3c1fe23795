//! How many times a score is of another, with the error both carry.
//!
//! Fieller's interval (E. C. Fieller, "Some problems in interval estimation", J. R. Stat. Soc. B 16, 1954)
//! with Welch's and Satterthwaite's degrees of freedom, since the variances differ. With R = a / b, variances
//! of the means v and w, and g = t^2 w / b^2:
//!
//! ```text
//! (R ± t/b * sqrt(v + R^2 w - g v)) / (1 - g)      freedom = (v + R^2 w)^2 / (v^2/(n-1) + (R^2 w)^2/(m-1))
//! ```
//!
//! It assumes what the error of a score already assumes (normal means) and nothing more, and it admits that
//! there is no bound when the baseline itself is not clearly different from zero. Adding relative errors in
//! quadrature is the first-order approximation of it and was refused for that silence; pairing forks
//! would leave two degrees of freedom and intervals wider than the effects.

use super::{CONFIDENCE, Summary, t_quantile};

/// A ratio of two means and its interval of [`CONFIDENCE`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Mean of the score divided by mean of the baseline.
    pub value: f64,
    /// Lower end; NaN when unknown (two values or fewer on either side, or an undetermined baseline).
    pub low: f64,
    /// Upper end; NaN like `low`.
    pub high: f64,
}

impl Ratio {
    /// Divides `score` by `baseline`.
    pub fn of(score: &Summary, baseline: &Summary) -> Ratio {
        let value = score.mean / baseline.mean;
        let unknown = Ratio { value, low: f64::NAN, high: f64::NAN };
        if score.count <= 2 || baseline.count <= 2 || !value.is_finite() {
            return unknown;
        }
        let (v, w) = (score.variance_of_mean(), baseline.variance_of_mean());
        let scaled = value * value * w;
        if v + scaled == 0.0 {
            return Ratio { value, low: value, high: value };
        }
        let freedom = (v + scaled).powi(2)
            / (v * v / (score.count - 1) as f64 + scaled * scaled / (baseline.count - 1) as f64);
        let t = t_quantile(1.0 - (1.0 - CONFIDENCE) / 2.0, freedom);
        let g = t * t * w / (baseline.mean * baseline.mean);
        if g >= 1.0 {
            return unknown;
        }
        let half = t / baseline.mean.abs() * (v + scaled - g * v).max(0.0).sqrt();
        Ratio { value, low: (value - half) / (1.0 - g), high: (value + half) / (1.0 - g) }
    }

    /// The ratio the other way round. Of an interval that reaches zero the upper end is not bounded; the lower one of an interval
    /// around it is not known.
    pub fn inverse(&self) -> Ratio {
        let high = if self.low > 0.0 || self.low.is_nan() { 1.0 / self.low } else { f64::INFINITY };
        let low = if self.low >= 0.0 || self.low.is_nan() { 1.0 / self.high } else { f64::NAN };
        Ratio { value: 1.0 / self.value, low, high }
    }

    /// Half the width of the interval; the interval is not quite symmetric about the value.
    pub fn error(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_exact_baseline_only_scales_the_interval() {
        let (score, baseline) = (Summary::of(&[1.0, 2.0, 3.0, 4.0, 5.0]), Summary::of(&[2.0; 5]));
        let ratio = Ratio::of(&score, &baseline);
        assert_eq!(ratio.value, 1.5);
        assert!((ratio.error() - score.error / 2.0).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn what_may_be_zero_may_be_endless_the_other_way_round() {
        let of = |low, high| Ratio { value: 0.5, low, high }.inverse();
        assert_eq!((of(0.25, 1.0).low, of(0.25, 1.0).value, of(0.25, 1.0).high), (1.0, 2.0, 4.0));
        assert_eq!((of(0.0, 1.0).low, of(0.0, 1.0).high), (1.0, f64::INFINITY));
        assert!(of(-6.4, 7.6).low.is_nan() && of(-6.4, 7.6).high == f64::INFINITY);
        assert!(of(f64::NAN, f64::NAN).low.is_nan() && of(f64::NAN, f64::NAN).high.is_nan());
    }

    #[test]
    fn equal_values_give_an_exact_ratio() {
        let ratio = Ratio::of(&Summary::of(&[3.0; 4]), &Summary::of(&[2.0; 4]));
        assert_eq!((ratio.low, ratio.value, ratio.high), (1.5, 1.5, 1.5));
    }

    #[test]
    fn a_baseline_about_zero_bounds_nothing() {
        let ratio = Ratio::of(&Summary::of(&[3.0, 3.1, 3.2]), &Summary::of(&[-1.0, 0.1, 1.2]));
        assert!(ratio.low.is_nan() && ratio.high.is_nan() && ratio.value.is_finite());
        assert!(Ratio::of(&Summary::of(&[3.0; 3]), &Summary::of(&[0.0; 3])).low.is_nan());
        assert!(Ratio::of(&Summary::of(&[3.0; 2]), &Summary::of(&[1.0; 3])).low.is_nan());
    }

    /// The defining property: the ends are the ratios r at which a - r b is t standard errors from zero.
    #[test]
    fn the_ends_solve_the_defining_equation() {
        let (a, b) = (Summary::of(&[10.0, 10.4, 10.9, 10.1]), Summary::of(&[5.0, 5.3, 4.9, 5.1]));
        let ratio = Ratio::of(&a, &b);
        let distance = |r: f64| {
            (a.mean - r * b.mean).abs() / (a.variance_of_mean() + r * r * b.variance_of_mean()).sqrt()
        };
        assert!((distance(ratio.low) - distance(ratio.high)).abs() < 1e-9);
        assert!(ratio.low < ratio.value && ratio.value < ratio.high);
    }

    proptest! {
        #[test]
        fn swapping_the_sides_inverts_the_interval(
            a in prop::collection::vec(100.0f64..101.0, 3..12),
            b in prop::collection::vec(50.0f64..50.5, 3..12),
        ) {
            let (a, b) = (Summary::of(&a), Summary::of(&b));
            let (there, back) = (Ratio::of(&a, &b), Ratio::of(&b, &a));
            prop_assert!((there.low * back.high - 1.0).abs() < 1e-9, "{:?} {:?}", there, back);
            prop_assert!((there.high * back.low - 1.0).abs() < 1e-9);
        }
    }
}
