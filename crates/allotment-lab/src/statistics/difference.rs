//! Whether two means differ: Welch's test, the two-sample t test for unequal variances.
//!
//! As JMH's `Statistics::isDifferent`, at its 99 %. The interval of a [`super::Ratio`] says how large a
//! difference is, at 99.9 %; for the question whether there is one, between two runs of many rows, this is what
//! people who compare JMH's files are used to.

use super::{Summary, t_quantile};

/// The confidence of [`differ`].
pub const DIFFERENCE_CONFIDENCE: f64 = 0.99;

/// Whether the means of two sets of values differ; none where either has fewer than two values.
pub fn differ(a: &Summary, b: &Summary) -> Option<bool> {
    let (v, w) = (a.variance_of_mean(), b.variance_of_mean());
    if a.count < 2 || b.count < 2 || !(v + w).is_finite() {
        return None;
    }
    if v + w == 0.0 {
        return Some(a.mean != b.mean);
    }
    let freedom = (v + w).powi(2) / (v * v / (a.count - 1) as f64 + w * w / (b.count - 1) as f64);
    let bound = t_quantile(1.0 - (1.0 - DIFFERENCE_CONFIDENCE) / 2.0, freedom);
    Some((a.mean - b.mean).abs() / (v + w).sqrt() > bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// t = 3.32 with 7.99 degrees of freedom, of which the bound is 3.356; a tenth of a deviation more and it is 3.51.
    #[test]
    fn the_bound_is_students() {
        let a = Summary::of(&[10.0, 11.0, 12.0, 13.0, 14.0]);
        let of = |shift: f64| Summary::of(&[10.0, 11.0, 12.0, 13.0, 14.0].map(|value| value + shift));
        assert_eq!(differ(&of(3.32), &a), Some(false));
        assert_eq!(differ(&of(3.40), &a), Some(true));
        assert_eq!(differ(&a, &of(3.40)), Some(true));
    }

    #[test]
    fn without_spread_or_without_values() {
        let (one, two, other) = (Summary::of(&[1.0]), Summary::of(&[1.0; 2]), Summary::of(&[2.0; 2]));
        assert_eq!(differ(&one, &two), None);
        assert_eq!((differ(&two, &two), differ(&two, &other)), (Some(false), Some(true)));
    }
}
