//! Maps values to positions along an axis, and chooses the values to write beside it.

use super::Scale;

/// A stretch of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    log: bool,
    low: f64,
    high: f64,
}

impl Range {
    /// The range that shows all `values`. A linear scale begins at zero, so that lengths compare.
    /// Values that a scale cannot show (not finite, or not above zero with logarithms) are ignored.
    pub(super) fn of(scale: &Scale, values: impl Iterator<Item = f64>) -> Range {
        let log = scale.is_log();
        let shown = values.filter(|value| value.is_finite() && (!log || *value > 0.0));
        let (low, high) = shown
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        match (log, low <= high) {
            (true, true) if low < high => Range { log, low, high },
            (true, true) => Range { log, low: low / 2.0, high: high * 2.0 },
            (true, false) => Range { log, low: 1.0, high: 10.0 },
            (false, true) if low.min(0.0) < high.max(0.0) => {
                Range { log, low: low.min(0.0), high: high.max(0.0) }
            }
            (false, _) => Range { log, low: 0.0, high: 1.0 },
        }
    }

    /// From the least to the largest of the values, without zero.
    pub(super) fn between(scale: &Scale, values: impl Iterator<Item = f64>) -> Range {
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let of = Range::of(scale, values.iter().copied());
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        if of.log || low >= of.high || low < of.low { of } else { Range { low, ..of } }
    }

    /// Widened to whole ticks.
    pub(super) fn rounded(self) -> Range {
        if self.log {
            return Range { low: floor_125(self.low), high: ceil_125(self.high), ..self };
        }
        let step = self.step();
        Range { low: (self.low / step).floor() * step, high: (self.high / step).ceil() * step, ..self }
    }

    /// Whether a value lies within the ends of the axis.
    pub(super) fn shows(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The position of a value, from 0 to 1; a value outside is put at the end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let (low, high, value) = if self.log {
            (self.low.ln(), self.high.ln(), value.max(f64::MIN_POSITIVE).ln())
        } else {
            (self.low, self.high, value)
        };
        ((value - low) / (high - low)).clamp(0.0, 1.0)
    }

    /// Round values, ascending; three to eight of them.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if !self.log {
            let step = self.step();
            let first = (self.low / step).ceil() as i64;
            let last = (self.high / step * (1.0 + 1e-9)).floor() as i64;
            return (first..=last).map(|index| index as f64 * step).collect();
        }
        let decades = (self.high / self.low).log10();
        let digits: &[f64] = if decades <= 2.2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let every = ((decades / 7.0).ceil() as usize).max(1);
        let all = (first..=last).step_by(every);
        let all = all.flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)));
        all.filter(|tick| (self.low * 0.999..=self.high * 1.001).contains(tick)).collect()
    }

    /// The distance between ticks of a linear scale: about five of them.
    fn step(&self) -> f64 {
        let rough = (self.high - self.low) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= rough * 0.999);
        step.unwrap_or(10.0) * power
    }
}

/// The largest 1, 2 or 5 times a power of ten that is not above the value.
fn floor_125(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let digit = [5.0, 2.0, 1.0].into_iter().find(|digit| digit * power <= value * (1.0 + 1e-9));
    digit.unwrap_or(1.0) * power
}

/// The smallest 1, 2 or 5 times a power of ten that is not below the value.
fn ceil_125(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let digit = [1.0, 2.0, 5.0, 10.0].into_iter().find(|digit| digit * power >= value * (1.0 - 1e-9));
    digit.unwrap_or(10.0) * power
}

/// A value in few characters: `0.05`, `2.5`, `1200`, `20k`, `3M`.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    let (scaled, unit) = match size {
        size if size >= 1e12 => return format!("{value:.0e}"),
        size if size >= 1e9 => (value / 1e9, "G"),
        size if size >= 1e6 => (value / 1e6, "M"),
        size if size >= 1e4 => (value / 1e3, "k"),
        size if size > 0.0 && size < 1e-3 => return format!("{value:.0e}"),
        _ => (value, ""),
    };
    let digits = if scaled.abs() >= 100.0 { 0 } else { 3 };
    let text = format!("{scaled:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ticks(scale: &Scale, values: &[f64]) -> Vec<String> {
        let range = Range::of(scale, values.iter().copied()).rounded();
        range.ticks().into_iter().map(short).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(&Scale::Linear, &[3.0, 9.3]), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(ticks(&Scale::Linear, &[120_000.0]), ["0", "50k", "100k", "150k"]);
        assert_eq!(ticks(&Scale::Linear, &[-1.0, 1.0]), ["-1", "-0.5", "0", "0.5", "1"]);
        assert_eq!(ticks(&Scale::Log, &[3.0, 90.0]), ["2", "5", "10", "20", "50", "100"]);
        assert_eq!(ticks(&Scale::Log, &[1.0, 1e5]), ["1", "10", "100", "1000", "10k", "100k"]);
        assert_eq!(ticks(&Scale::Linear, &[f64::NAN]), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(ticks(&Scale::Linear, &[0.0, 0.0]).len(), 6);
    }

    #[test]
    fn short_numbers() {
        for (value, text) in [
            (0.0, "0"),
            (0.05, "0.05"),
            (2.5, "2.5"),
            (1200.0, "1200"),
            (2.5e6, "2.5M"),
            (0.00002, "2e-5"),
            (1e13, "1e13"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    proptest! {
        #[test]
        fn all_values_lie_on_the_axis_and_it_has_ticks(
            values in prop::collection::vec(1e-6f64..1e9, 1..20), log in any::<bool>(),
        ) {
            let scale = if log { Scale::Log } else { Scale::Linear };
            let range = Range::of(&scale, values.iter().copied()).rounded();
            for &value in &values {
                prop_assert!((0.0..=1.0).contains(&range.place(value)));
                prop_assert!(range.low <= value * (1.0 + 1e-6) && value <= range.high * (1.0 + 1e-6));
            }
            let ticks = range.ticks();
            prop_assert!((2..=14).contains(&ticks.len()), "{:?}", ticks);
            prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
        }

        #[test]
        fn order_is_kept(a in 1e-3f64..1e6, b in 1e-3f64..1e6, log in any::<bool>()) {
            let scale = if log { Scale::Log } else { Scale::Linear };
            let range = Range::of(&scale, [a, b].into_iter());
            prop_assert_eq!(range.place(a) < range.place(b), a < b);
        }
    }
}
