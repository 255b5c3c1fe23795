//! Quantiles of Student's t distribution.
//!
//! Up to a million degrees of freedom, statrs' inverse of the distribution function is used; its
//! relative error is below 1e-8 there. Beyond that the error grows, and for some 10^9 degrees the
//! search never ends, which a file with large counts caused. So beyond a million, the normal
//! quantile with the first term of its expansion in 1 / freedom (Abramowitz and Stegun 26.7.5) is
//! used; its error is below 1e-11 there.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Degrees of freedom above which the expansion is used.
const MANY: f64 = 1e6;

/// The value that a t-distributed variable with `freedom` degrees of freedom stays below with
/// `probability`.
///
/// NaN when `freedom` is not positive or `probability` is outside (0, 1), where no quantile is
/// defined.
pub fn t_quantile(probability: f64, freedom: f64) -> f64 {
    if freedom > MANY && probability > 0.0 && probability < 1.0 {
        let z = Normal::standard().inverse_cdf(probability);
        return z + (z.powi(3) + z) / (4.0 * freedom);
    }
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(student) if probability > 0.0 && probability < 1.0 => student.inverse_cdf(probability),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The column of any printed t table for a two-sided 99.9 % interval.
    const TABLE: [(f64, f64); 24] = [
        (2.0, 31.599),
        (3.0, 12.924),
        (4.0, 8.6103),
        (5.0, 6.8688),
        (6.0, 5.9588),
        (7.0, 5.4079),
        (8.0, 5.0413),
        (9.0, 4.7809),
        (10.0, 4.5869),
        (11.0, 4.4370),
        (12.0, 4.3178),
        (14.0, 4.1405),
        (15.0, 4.0728),
        (17.0, 3.9651),
        (19.0, 3.8834),
        (24.0, 3.7454),
        (29.0, 3.6594),
        (39.0, 3.5581),
        (49.0, 3.5004),
        (74.0, 3.4269),
        (99.0, 3.3915),
        (149.0, 3.3570),
        (199.0, 3.3401),
        (249.0, 3.3300),
    ];

    #[test]
    fn agrees_with_the_printed_table() {
        for (freedom, expected) in TABLE {
            let got = t_quantile(0.9995, freedom);
            assert!((got / expected - 1.0).abs() < 2e-5, "{freedom}: {got}, table {expected}");
        }
    }

    #[test]
    fn tends_to_the_normal_quantile() {
        assert!((t_quantile(0.9995, 1e6) - 3.290_536).abs() < 1e-5);
        assert!((t_quantile(0.9995, 1e7) - 3.290_528).abs() < 1e-5);
        for freedom in [4e9, 1.8e19, f64::MAX, f64::INFINITY] {
            assert!((t_quantile(0.9995, freedom) - 3.290_527).abs() < 1e-5, "{freedom}");
        }
        let (below, above) = (t_quantile(0.9995, MANY), t_quantile(0.9995, MANY * 1.000_001));
        assert!((below / above - 1.0).abs() < 1e-7, "no step where the ways meet: {below} {above}");
    }

    #[test]
    fn has_no_value_outside_its_domain() {
        for (probability, freedom) in [(0.9995, 0.0), (0.9995, f64::NAN), (1.0, 3.0), (0.0, 3.0), (2.0, 3.0)]
        {
            assert!(t_quantile(probability, freedom).is_nan(), "{probability} {freedom}");
        }
    }

    proptest! {
        #[test]
        fn inverts_the_distribution_function(p in 0.001f64..0.9999, freedom in 1.0f64..500.0) {
            let t = t_quantile(p, freedom);
            let back = StudentsT::new(0.0, 1.0, freedom).unwrap().cdf(t);
            prop_assert!((back - p).abs() < 1e-9, "{back} {p}");
        }
    }
}
