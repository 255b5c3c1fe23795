//! Ratios as half-sentences: the difference, its amount, and whether it exceeds the error.
//!
//! All verdicts are made of these phrases, so that none claims more than its numbers. A difference
//! is reported only if the whole interval of a ratio shows it. Several ratios become one phrase
//! with their range, since readers do not read a dozen sentences. The phrase states how many of the
//! ratios exceed their errors.

use crate::statistics::Ratio;

/// The direction of better scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Operations per time.
    Higher,
    /// Time per operation.
    Lower,
}

impl Better {
    /// The direction for a unit as JMH spells it: `ops/us` is better when higher, `ns/op` when
    /// lower.
    pub fn of(unit: &str) -> Better {
        if unit.starts_with("ops/") { Better::Higher } else { Better::Lower }
    }

    const fn times(self) -> &'static str {
        match self {
            Better::Higher => "times as fast",
            Better::Lower => "times the time",
        }
    }
}

/// The side of 1 on which a ratio's whole interval lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The whole interval is above 1.
    Above,
    /// The whole interval is below 1.
    Below,
    /// The interval contains 1.
    None,
    /// There is no interval: too few values.
    Unknown,
    /// There is no ratio: a score is not a finite number above zero.
    NoRatio,
}

/// Why there is no ratio.
pub const NO_RATIO: &str = "no ratio: a score is zero or below, or out of range";

impl Effect {
    /// The effect of a ratio.
    pub fn of(ratio: &Ratio) -> Effect {
        match ratio {
            ratio if !ratio.is_number() => Effect::NoRatio,
            ratio if ratio.low.is_nan() || ratio.high.is_nan() => Effect::Unknown,
            ratio if ratio.low > 1.0 => Effect::Above,
            ratio if ratio.high < 1.0 => Effect::Below,
            _ => Effect::None,
        }
    }
}

/// A ratio with a useful number of digits: `0.97`, `12.3`, `140`, `0.012`. From a million on and
/// below a thousandth it has a power of ten, so that a ratio above zero is never printed as zero.
pub fn factor(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if !(0.000_999_5..999_999.5).contains(&size) && size.is_finite() => format!("{value:.1e}"),
        size if size < 0.009_995 => format!("{value:.4}"),
        size if size < 0.099_95 => format!("{value:.3}"),
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// The ends of a ratio's interval: `1.83 to 2.03`. It is not symmetric about the value, so `±`
/// would be wrong.
pub fn interval(ratio: &Ratio) -> String {
    format!("{} to {}", factor(ratio.low), factor(ratio.high))
}

/// A ratio with its interval: `1.93 (1.83 to 2.03)`; the ratio alone without an interval. All tables
/// use this form. `mark` follows the number where no word identifies the ratio.
pub fn ratio_within(ratio: &Ratio, mark: &str) -> String {
    match Effect::of(ratio) {
        Effect::NoRatio => "no ratio".into(),
        Effect::Unknown => format!("{}{mark}", factor(ratio.value)),
        _ => format!("{}{mark} ({})", factor(ratio.value), interval(ratio)),
    }
}

/// Units of time, and their lengths in nanoseconds.
const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

/// The unit that suits a time in nanoseconds, and its length in nanoseconds. A time that is rounded
/// to a thousand of a unit has the next unit.
pub fn unit_of(nanoseconds: f64) -> (&'static str, f64) {
    UNITS.into_iter().rfind(|(_, length)| nanoseconds >= length * 0.9995).unwrap_or(UNITS[0])
}

/// A time in nanoseconds with three digits, in the unit that suits it: `5.12 us`, `15 ms`, `1.25 s`.
pub fn time(nanoseconds: f64) -> String {
    let (unit, length) = unit_of(nanoseconds);
    let value = nanoseconds / length;
    let text = match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    };
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

/// Nanoseconds of a unit of time: of `us`, and of `us/op`. `None` for other units.
pub fn nanoseconds_of(unit: &str) -> Option<f64> {
    let name = unit.trim_end_matches("/op");
    UNITS.iter().find(|(known, _)| *known == name).map(|&(_, length)| length)
}

/// A number of things: `1 thread`, `2 threads`, `2 branches`.
pub fn count(number: usize, what: &str) -> String {
    let plural = if what.ends_with("ch") { "es" } else { "s" };
    format!("{number} {what}{}", if number == 1 { "" } else { plural })
}

/// `1.93 times as fast (1.83 to 2.03)`, or that there is no difference beyond the error.
pub fn ratio(ratio: &Ratio, better: Better) -> String {
    let within = interval(ratio);
    match Effect::of(ratio) {
        Effect::Above | Effect::Below => format!("{} {} ({within})", factor(ratio.value), better.times()),
        Effect::None => format!("no difference beyond the error ({}, within {within})", factor(ratio.value)),
        Effect::Unknown => {
            format!("{} {}, of unknown error", factor(ratio.value), better.times())
        }
        Effect::NoRatio => NO_RATIO.into(),
    }
}

/// One phrase for several ratios: `2.90 to 6.41 times as fast`, with the number of ratios beyond
/// the error unless all are. Rows without a ratio are counted separately. Empty for an empty list.
pub fn ratios(all: &[Ratio], better: Better) -> String {
    if let [only] = all {
        return ratio(only, better);
    }
    let some: Vec<Ratio> = all.iter().filter(|ratio| ratio.is_number()).copied().collect();
    match all.len() - some.len() {
        0 => {}
        none if some.is_empty() => return format!("{NO_RATIO}, in each of {none}"),
        none => return format!("{}; in {none} of {} {NO_RATIO}", ratios(&some, better), all.len()),
    }
    let (low, high) = range(all.iter().map(|ratio| ratio.value));
    let (low, high) = (factor(low), factor(high));
    let range = if low == high { low } else { format!("{low} to {high}") };
    let count = |effect| all.iter().filter(|ratio| Effect::of(ratio) == effect).count();
    let (above, below, unknown) = (count(Effect::Above), count(Effect::Below), count(Effect::Unknown));
    match all.len() {
        0 => String::new(),
        n if above == n || below == n => format!("{range} {}", better.times()),
        n if unknown == n => format!("{range} {}, of unknown error", better.times()),
        n if above + below == 0 => format!("no difference beyond the error in any of {n} ({range})"),
        n => format!("{range} {}, beyond the error in {} of {n}", better.times(), above + below),
    }
}

/// The JVM that a parameter `jvm` names: `25-parallel-compact` is `JDK 25 Parallel, compact
/// headers`.
pub fn jvm(value: &str) -> String {
    const NAMES: [(&str, &str); 7] = [
        ("parallel", "Parallel"),
        ("g1", "G1"),
        ("serial", "Serial"),
        ("z", "ZGC"),
        ("shenandoah", "Shenandoah"),
        ("genshen", "generational Shenandoah"),
        ("epsilon", "Epsilon"),
    ];
    let (release, collector) = value.split_once('-').unwrap_or((value, ""));
    let (collector, headers) = match collector.strip_suffix("-compact") {
        Some(collector) => (collector, ", compact headers"),
        None => (collector, ""),
    };
    let name = NAMES.iter().find(|(known, _)| *known == collector).map_or(collector, |(_, name)| name);
    format!("JDK {release} {name}").trim_end().to_string() + headers
}

/// The least and the largest value; NaN for no values.
pub fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::NAN, f64::NAN), |(low, high), value| (value.min(low), value.max(high)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(low: f64, value: f64, high: f64) -> Ratio {
        Ratio { low, value, high }
    }

    #[test]
    fn one_ratio() {
        let higher = Better::of("ops/us");
        assert_eq!(ratio(&of(1.8, 1.9, 2.0), higher), "1.90 times as fast (1.80 to 2.00)");
        assert_eq!(ratio(&of(0.4, 0.5, 0.6), Better::of("ns/op")), "0.50 times the time (0.40 to 0.60)");
        assert_eq!(
            ratio(&of(0.9, 1.0, 1.1), higher),
            "no difference beyond the error (1.00, within 0.90 to 1.10)"
        );
        assert_eq!(ratio(&of(f64::NAN, 12.34, f64::NAN), higher), "12.3 times as fast, of unknown error");
    }

    #[test]
    fn no_ratio_is_told_as_zero() {
        for (value, expected) in [
            (0.000_04, "4.0e-5"),
            (0.001, "0.0010"),
            (0.012_34, "0.012"),
            (0.099_99, "0.10"),
            (0.5, "0.50"),
            (9.999, "10.0"),
            (74.21, "74.2"),
            (99.99, "100"),
            (999_999.0, "999999"),
            (7.2e13, "7.2e13"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(factor(value), expected);
        }
    }

    #[test]
    fn one_form_for_all_ratios() {
        assert_eq!(ratio_within(&of(0.9, 1.24, 1.7), ""), "1.24 (0.90 to 1.70)");
        assert_eq!(ratio_within(&of(0.9, 1.24, 1.7), "x"), "1.24x (0.90 to 1.70)");
        assert_eq!(ratio_within(&of(f64::NAN, 1.24, f64::NAN), "x"), "1.24x");
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        for (nanoseconds, expected) in [
            (0.0, "0 ns"),
            (0.25, "0.25 ns"),
            (999.4, "999 ns"),
            (999.9, "1 us"),
            (5120.0, "5.12 us"),
            (15_000_000.0, "15 ms"),
            (1_250_000_000.0, "1.25 s"),
            (61.5e9, "61.5 s"),
            (20_000e9, "20000 s"),
            (f64::NAN, "NaN ns"),
        ] {
            assert_eq!(time(nanoseconds), expected);
        }
        assert_eq!(["us", "ms/op", "MB/sec"].map(nanoseconds_of), [Some(1e3), Some(1e6), None]);
    }

    #[test]
    fn one_is_singular() {
        let said = [0, 1, 2].map(|number| count(number, "thread"));
        assert_eq!(said, ["0 threads", "1 thread", "2 threads"]);
    }

    #[test]
    fn jvms() {
        assert_eq!(jvm("25-parallel-compact"), "JDK 25 Parallel, compact headers");
        assert_eq!((jvm("17-new"), jvm("17")), ("JDK 17 new".into(), "JDK 17".into()));
    }

    #[test]
    fn several_ratios() {
        let (fast, equal, slow) = (of(1.8, 1.9, 2.0), of(0.9, 1.0, 1.1), of(0.4, 0.5, 0.6));
        let unknown = of(f64::NAN, 300.4, f64::NAN);
        for (all, expected) in [
            (vec![], ""),
            (vec![fast], "1.90 times as fast (1.80 to 2.00)"),
            (vec![fast, fast], "1.90 times as fast"),
            (vec![fast, of(2.0, 3.0, 4.0)], "1.90 to 3.00 times as fast"),
            (vec![slow, fast, equal], "0.50 to 1.90 times as fast, beyond the error in 2 of 3"),
            (vec![equal, equal], "no difference beyond the error in any of 2 (1.00)"),
            (vec![unknown, unknown], "300 times as fast, of unknown error"),
        ] {
            assert_eq!(ratios(&all, Better::Higher), expected);
        }
    }

    #[test]
    fn scores_that_are_no_rates_have_no_ratio() {
        let fast = of(1.8, 1.9, 2.0);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.025] {
            let none = of(f64::NAN, value, f64::NAN);
            assert_eq!((Effect::of(&none), ratio(&none, Better::Higher)), (Effect::NoRatio, NO_RATIO.into()));
            assert_eq!(ratio_within(&none, "x"), "no ratio");
            let expected = format!("1.90 times as fast (1.80 to 2.00); in 2 of 3 {NO_RATIO}");
            assert_eq!(ratios(&[none, fast, none], Better::Higher), expected);
            assert_eq!(ratios(&[none, none], Better::Higher), format!("{NO_RATIO}, in each of 2"));
        }
    }
}
