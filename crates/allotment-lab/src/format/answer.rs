//! Answers: a result as one number with its error, in a sentence that needs no table.
//!
//! Speeds are compared as hyperfine does: `tlab is 4.51 ± 0.31 times as fast as cas`. The ratios of
//! several rows become their geometric mean, with its error and their range. A slower subject takes a
//! multiple of the time. If an interval contains 1, no difference was measured, and the sentence says
//! so.
//!
//! An interval of at most a tenth of the value is nearly symmetric, and is written with `±`. A wider
//! interval is written with both ends, as in tables.
//!
//! Refused: the largest of the ratios. It is true for one row only.

use super::phrase::{Better, Effect, NO_RATIO, count, factor, interval, nanoseconds_of, range, unit_of};
use super::{Metric, ScoreRow};
use crate::statistics::Ratio;

/// The widest interval that `±` describes, as a part of the value on either side.
const NARROW: f64 = 0.1;

/// A value and its error with as many decimals as leave three digits of the value: `85.2 ± 3.1`.
/// The error is rounded up, so that none is shown as zero. Without an error, the value alone.
pub fn measured(value: f64, error: f64) -> String {
    with_error(value, error, decimals(value))
}

/// Decimals that leave three digits of a value of a hundredth or more.
fn decimals(value: f64) -> usize {
    match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        size if size >= 0.09995 => 3,
        _ => 4,
    }
}

fn with_error(value: f64, error: f64, decimals: usize) -> String {
    if !error.is_finite() {
        return format!("{value:.decimals$}");
    }
    let unit = 10_f64.powi(decimals as i32);
    // A number of units that is whole except for rounding is not rounded up.
    let error = ((error * unit - 1e-6).ceil() + 0.0) / unit;
    format!("{value:.decimals$} ± {error:.decimals$}")
}

/// A score with its error and its unit. Times have the unit that suits them: `85.2 ± 3.1 ms`.
pub fn score(metric: &Metric) -> String {
    let (value, error) = (metric.score(), metric.error());
    match nanoseconds_of(&metric.unit) {
        Some(unit) => time(value * unit, error * unit),
        None => format!("{} {}", measured(value, error), metric.unit),
    }
}

/// A time with its error, in nanoseconds: `85.2 ± 3.1 ms`.
pub fn time(value: f64, error: f64) -> String {
    let (unit, length) = unit_of(value);
    format!("{} {unit}", measured(value / length, error / length))
}

/// The scores of rows of one unit: `85.2 ± 3.1 ms` of one, `85.2 ms to 1.1 s in 4 rows` of several.
/// Empty without rows.
pub fn scores(rows: &[&ScoreRow]) -> String {
    let end = |score: f64, unit: &str| match nanoseconds_of(unit) {
        Some(size) => time(score * size, f64::NAN),
        None => format!("{} {unit}", measured(score, f64::NAN)),
    };
    match rows {
        [] => String::new(),
        [only] => score(&only.primary),
        [first, ..] => {
            let (least, most) = range(rows.iter().map(|row| row.primary.score()));
            let unit = first.primary.unit.as_str();
            format!("{} to {} in {}", end(least, unit), end(most, unit), count(rows.len(), "row"))
        }
    }
}

/// A ratio with its error: `4.51 ± 0.31`, or `4.51 (3.20 to 6.35)` where the error is large. Near 1
/// there are three decimals, where the difference is.
pub fn within(ratio: &Ratio) -> String {
    let error = (ratio.high - ratio.value).max(ratio.value - ratio.low);
    match Effect::of(ratio) {
        Effect::NoRatio => "no ratio".into(),
        Effect::Unknown => factor(ratio.value),
        _ if error > NARROW * ratio.value => format!("{} ({})", factor(ratio.value), interval(ratio)),
        _ if (0.9..1.1).contains(&ratio.value) => with_error(ratio.value, error, 3),
        _ => with_error(ratio.value, error, decimals(ratio.value)),
    }
}

/// A ratio of scores as a ratio of speeds: above 1 is faster.
pub fn speed(ratio: &Ratio, better: Better) -> Ratio {
    if better == Better::Lower { ratio.inverse() } else { *ratio }
}

/// Ratios of scores as ratios of speeds.
pub fn speeds(all: &[Ratio], better: Better) -> Vec<Ratio> {
    all.iter().map(|ratio| speed(ratio, better)).collect()
}

/// One comparison: whose speed, against whose, where.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The compared subject: `tlab`.
    pub subject: String,
    /// The subject that it is compared with: `cas`, `build with parallel`. Empty if an earlier clause
    /// of the sentence names it.
    pub other: String,
    /// The condition, which precedes the subject: `with 2 threads`. May be empty.
    pub at: String,
    /// The ratios of speeds, of one row or several.
    pub speeds: Vec<Ratio>,
}

/// A sentence of clauses. It begins with a capital unless a name begins it. Empty without clauses.
pub fn sentence(clauses: &[Compared]) -> String {
    let clauses: Vec<String> = clauses.iter().map(Compared::clause).filter(|text| !text.is_empty()).collect();
    if clauses.is_empty() {
        return String::new();
    }
    let text = clauses.join("; ") + ".";
    let begins = |word: &str| text.starts_with(word);
    if begins("with ") || begins("no ") { capital(&text) } else { text }
}

/// The text with a capital at its beginning.
pub fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or(String::new(), |first| first.to_uppercase().chain(rest).collect())
}

impl Compared {
    fn clause(&self) -> String {
        let Compared { subject, other, at, speeds } = self;
        let at = if at.is_empty() { String::new() } else { format!("{at} ") };
        let as_other = if other.is_empty() { String::new() } else { format!(" as {other}") };
        let of_other = if other.is_empty() { String::new() } else { format!(" of {other}") };
        let Some(mean) = Ratio::mean(speeds) else {
            return match speeds.is_empty() {
                true => String::new(),
                false => format!("{at}{subject} cannot be compared ({NO_RATIO})"),
            };
        };
        let has = |effect| speeds.iter().any(|ratio| Effect::of(ratio) == effect);
        let (low, high) = range(speeds.iter().map(|ratio| ratio.value));
        let rows = count(speeds.len(), "row");
        let several = speeds.len() > 1;
        let among = |low: f64, high: f64| match several {
            true => format!(" ({} to {} in {rows})", factor(low), factor(high)),
            false => String::new(),
        };
        if has(Effect::Above) && has(Effect::Below) {
            let of = |effect| speeds.iter().filter(|ratio| Effect::of(ratio) == effect).count();
            return format!(
                "{at}{subject} is {} to {} times as fast{as_other}: faster in {} of {rows}, slower in {}",
                factor(low),
                factor(high),
                of(Effect::Above),
                of(Effect::Below)
            );
        }
        match Effect::of(&mean) {
            Effect::Above => {
                format!("{at}{subject} is {} times as fast{as_other}{}", within(&mean), among(low, high))
            }
            Effect::Below => format!(
                "{at}{subject} takes {} times the time{of_other}{}",
                within(&mean.inverse()),
                among(1.0 / high, 1.0 / low)
            ),
            Effect::None => {
                let between =
                    if other.is_empty() { String::new() } else { format!(" between {subject} and {other}") };
                let in_rows = if several { format!(" in {rows}") } else { String::new() };
                format!(
                    "{at}no difference{between} was measured ({} times as fast{in_rows})",
                    interval(&mean)
                )
            }
            Effect::Unknown => format!(
                "{at}{subject} is {} times as fast{as_other}{}, of unknown error",
                factor(mean.value),
                among(low, high)
            ),
            Effect::NoRatio => format!("{at}{subject} cannot be compared ({NO_RATIO})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Combine, examples};

    fn of(low: f64, value: f64, high: f64) -> Ratio {
        Ratio { low, value, high }
    }

    fn said(at: &str, speeds: &[Ratio]) -> String {
        let compared = |other: &str| Compared {
            subject: "tlab".into(),
            other: other.into(),
            at: at.into(),
            speeds: speeds.to_vec(),
        };
        sentence(&[compared("cas")])
    }

    #[test]
    fn an_error_is_written_as_one_number_where_the_interval_is_symmetric() {
        assert_eq!(within(&of(4.21, 4.51, 4.82)), "4.51 ± 0.31");
        assert_eq!(within(&of(3.2, 4.51, 6.35)), "4.51 (3.20 to 6.35)");
        assert_eq!(within(&of(1.003, 1.012, 1.021)), "1.012 ± 0.009");
        assert_eq!(within(&of(78.0, 80.0, 82.04)), "80.0 ± 2.1");
        assert_eq!(within(&of(f64::NAN, 2.0, f64::NAN)), "2.00");
        assert_eq!(within(&of(2.0, 2.0, 2.0)), "2.00 ± 0.00");
        assert_eq!((measured(1234.4, 0.2), measured(0.25, f64::NAN)), ("1234 ± 1".into(), "0.250".into()));
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        assert_eq!(time(85_200_000.0, 3_050_000.0), "85.2 ± 3.1 ms");
        assert_eq!((time(0.4, f64::NAN), time(1e9, 0.0)), ("0.400 ns".into(), "1.00 ± 0.00 s".into()));
        let metric = examples::metric("", "us/op", Combine::Average, &[&[2000.0, 2000.0, 2000.0]]);
        assert_eq!(score(&metric), "2.00 ± 0.00 ms");
        let rate = examples::metric("", "ops/us", Combine::Average, &[&[2.0]]);
        assert_eq!(score(&rate), "2.00 ops/us");
        let [one, other] = [metric, rate.clone()].map(|primary| ScoreRow { primary, ..examples::row() });
        assert_eq!((scores(&[]), scores(&[&one])), (String::new(), "2.00 ± 0.00 ms".into()));
        assert_eq!(scores(&[&other, &other]), "2.00 ops/us to 2.00 ops/us in 2 rows");
    }

    #[test]
    fn one_row_is_a_speed_with_its_error() {
        assert_eq!(said("", &[of(4.2, 4.5, 4.8)]), "tlab is 4.50 ± 0.30 times as fast as cas.");
        assert_eq!(
            said("with 2 threads", &[of(0.48, 0.5, 0.52)]),
            "With 2 threads tlab takes 2.00 ± 0.09 times the time of cas."
        );
        assert_eq!(
            said("", &[of(0.97, 1.0, 1.03)]),
            "No difference between tlab and cas was measured (0.97 to 1.03 times as fast)."
        );
        assert_eq!(
            said("", &[of(f64::NAN, 2.0, f64::NAN)]),
            "tlab is 2.00 times as fast as cas, of unknown error."
        );
        assert_eq!(said("", &[]), "");
        assert!(said("", &[of(f64::NAN, 0.0, f64::NAN)]).contains("cannot be compared"));
    }

    #[test]
    fn several_rows_have_their_mean_and_their_range() {
        let both = said("", &[of(1.9, 2.0, 2.1), of(7.6, 8.0, 8.4)]);
        assert_eq!(both, "tlab is 4.00 ± 0.15 times as fast as cas (2.00 to 8.00 in 2 rows).");
        let none = said("", &[of(0.9, 1.0, 1.1), of(0.9, 1.01, 1.1)]);
        assert!(none.starts_with("No difference") && none.ends_with("times as fast in 2 rows)."), "{none}");
    }

    /// Their mean is 1, and yet there is a difference in each.
    #[test]
    fn what_is_faster_here_and_slower_there_is_no_lack_of_difference() {
        let both = said("", &[of(1.9, 2.0, 2.1), of(0.48, 0.5, 0.52)]);
        let expected = "tlab is 0.50 to 2.00 times as fast as cas: faster in 1 of 2 rows, slower in 1.";
        assert_eq!(both, expected);
    }

    #[test]
    fn clauses_say_the_other_once() {
        let clause = |other: &str, at: &str| Compared {
            subject: "tlab".into(),
            other: other.into(),
            at: at.into(),
            speeds: vec![of(1.9, 2.0, 2.1)],
        };
        assert_eq!(
            sentence(&[clause("cas", "with 1 thread"), clause("", "with 2 threads")]),
            "With 1 thread tlab is 2.00 ± 0.10 times as fast as cas; with 2 threads tlab is 2.00 ± 0.10 times as fast."
        );
    }
}
