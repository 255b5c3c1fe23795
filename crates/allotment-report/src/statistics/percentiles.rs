//! Percentiles by JMH's rule, for plain values and for histograms.
//!
//! The position of percentile p among n sorted values is p/100 * (n + 1), counted from one. Between
//! two positions the values are interpolated linearly.
//!
//! Refused: hdrhistogram's own quantiles, which do not interpolate. The numbers would differ from
//! JMH's.

/// A value, and how often it occurred.
pub type Weighted = (f64, u64);

/// The percentiles that a JMH result file holds, with the spelling of their keys.
pub const JMH_PERCENTILES: [(&str, f64); 10] = [
    ("0.0", 0.0),
    ("50.0", 50.0),
    ("90.0", 90.0),
    ("95.0", 95.0),
    ("99.0", 99.0),
    ("99.9", 99.9),
    ("99.99", 99.99),
    ("99.999", 99.999),
    ("99.9999", 99.9999),
    ("100.0", 100.0),
];

/// The percentile `p` (0 to 100) of weighted values, which must be sorted by value. NaN without
/// values.
pub fn percentile(sorted: &[Weighted], p: f64) -> f64 {
    let n = sorted.iter().fold(0_u64, |n, &(_, times)| n.saturating_add(times));
    if n == 0 {
        return f64::NAN;
    }
    let position = p / 100.0 * (n as f64 + 1.0);
    if position < 1.0 {
        return at_rank(sorted, 1);
    }
    if position >= n as f64 {
        return at_rank(sorted, n);
    }
    let lower = at_rank(sorted, position as u64);
    let upper = at_rank(sorted, (position as u64).saturating_add(1));
    lower + position.fract() * (upper - lower)
}

/// All of [`JMH_PERCENTILES`] of plain values in any order.
pub fn percentiles(values: &[f64]) -> [f64; 10] {
    let mut sorted: Vec<Weighted> = values.iter().map(|&value| (value, 1)).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    JMH_PERCENTILES.map(|(_, p)| percentile(&sorted, p))
}

/// The value of the given rank, counted from one; the last value for a rank beyond the end.
fn at_rank(sorted: &[Weighted], rank: u64) -> f64 {
    let mut seen = 0;
    for &(value, times) in sorted {
        seen = u64::saturating_add(seen, times);
        if seen >= rank {
            return value;
        }
    }
    sorted.last().map_or(f64::NAN, |&(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(values: &[f64], p: f64) -> f64 {
        percentile(&values.iter().map(|&v| (v, 1)).collect::<Vec<_>>(), p)
    }

    #[test]
    fn the_known_vectors() {
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!((plain(&five, 50.0), plain(&five, 90.0)), (3.0, 5.0));
        let ten: Vec<f64> = (10..20).map(f64::from).collect();
        assert_eq!(plain(&ten, 50.0), 14.5);
        assert!((plain(&ten, 90.0) - 18.9).abs() < 1e-12);
        assert_eq!((plain(&ten, 95.0), plain(&ten, 0.0), plain(&ten, 100.0)), (19.0, 10.0, 19.0));
        assert!(plain(&[], 50.0).is_nan());
    }

    #[test]
    fn the_order_of_plain_values_does_not_matter() {
        assert_eq!(percentiles(&[3.0, 1.0, 2.0]), percentiles(&[1.0, 2.0, 3.0]));
        assert_eq!(percentiles(&[3.0, 1.0, 2.0])[1], 2.0);
    }

    proptest! {
        #[test]
        fn a_histogram_has_the_percentiles_of_its_values(
            mut values in prop::collection::vec((0u32..1000, 1u64..6), 1..30), p in 0.0f64..100.0,
        ) {
            values.sort();
            let weighted: Vec<Weighted> = values.iter().map(|&(v, n)| (f64::from(v), n)).collect();
            let flat: Vec<f64> =
                weighted.iter().flat_map(|&(v, n)| std::iter::repeat_n(v, n as usize)).collect();
            prop_assert_eq!(percentile(&weighted, p), plain(&flat, p));
        }

        #[test]
        fn percentiles_rise(values in prop::collection::vec(-1e3f64..1e3, 1..40)) {
            prop_assert!(percentiles(&values).windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }
}
