//! An axis of an experiment: a named parameter, its default values, and how values are read and
//! shown.
//!
//! Values travel as text in one canonical spelling (sizes in bytes), as result files hold them.
//! Refused: a typed value per axis. Only the experiment, which reads the value by name, would see
//! the type.

use super::cache_size;
use super::neighbours::{self, NEIGHBOURS};
use crate::format::number::{parse_size, size};
use crate::format::suggest::nearest;

/// The type of the values of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes, read and shown with k, m, g, t.
    Size,
    /// Bytes, as a size or in terms of this machine's caches: `half-l2`, `l3`, `twice-l3`.
    Eden,
    /// A whole number.
    Count,
    /// A number above 0, with or without decimals.
    Factor,
    /// `on` or `off`.
    Switch,
    /// A text without commas; the experiment checks whether it makes sense.
    Text,
    /// One of some words.
    Choice(&'static [&'static str]),
}

/// A parameter of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Its name: lower case and hyphens, since it is also the flag on the command line.
    pub name: &'static str,
    /// A description in a few words, with the unit.
    pub what: &'static str,
    /// The type of its values.
    pub kind: Kind,
    /// Values of a full run.
    pub default: &'static [&'static str],
    /// Values of a quick run.
    pub quick: &'static [&'static str],
    /// Values of a full grid.
    pub full: &'static [&'static str],
    /// The modes that have it; empty for all. In other modes the parameter is left out.
    pub modes: &'static [&'static str],
}

impl Axis {
    /// An axis of every mode. A quick run takes only the first of the `default` values.
    pub const fn new(
        name: &'static str,
        what: &'static str,
        kind: Kind,
        default: &'static [&'static str],
    ) -> Axis {
        let quick = match default {
            [first, ..] => std::slice::from_ref(first),
            [] => &[],
        };
        Axis { name, what, kind, default, quick, full: default, modes: &[] }
    }

    /// Sets the values of a quick run.
    pub const fn quick(self, quick: &'static [&'static str]) -> Axis {
        Axis { quick, ..self }
    }

    /// Sets the values of a full grid.
    pub const fn full(self, full: &'static [&'static str]) -> Axis {
        Axis { full, ..self }
    }

    /// Restricts the axis to some modes.
    pub const fn only_in(self, modes: &'static [&'static str]) -> Axis {
        Axis { modes, ..self }
    }

    /// Whether cases of `mode` have this parameter.
    pub fn applies_to(&self, mode: &str) -> bool {
        self.modes.is_empty() || self.modes.contains(&mode)
    }

    /// The canonical spelling of a value: `64K` is 65536, `true` is `on`.
    ///
    /// # Errors
    /// Names the values that the axis takes.
    pub fn canonical(&self, text: &str) -> Result<String, String> {
        let text = text.trim();
        let wrong = |what: String| format!("{}: {what}", self.name);
        match self.kind {
            Kind::Eden if let Some(bytes) = cache_size::of(text) => Ok(bytes.to_string()),
            Kind::Size | Kind::Eden => parse_size(text).map(|bytes| bytes.to_string()).map_err(wrong),
            Kind::Count => text
                .parse::<u64>()
                .map(|count| count.to_string())
                .map_err(|_| wrong(format!("`{text}` is not a whole number below 2^64"))),
            Kind::Factor => match text.parse::<f64>() {
                Ok(factor) if factor > 0.0 && factor.is_finite() => Ok(factor.to_string()),
                _ => Err(wrong(format!("`{text}` is not a number above 0"))),
            },
            Kind::Switch => match text {
                "on" | "true" | "yes" => Ok("on".into()),
                "off" | "false" | "no" => Ok("off".into()),
                _ => Err(wrong(format!("`{text}` is not a switch; write on or off"))),
            },
            Kind::Text if text.is_empty() => Err(wrong("it is empty; write a text".into())),
            Kind::Text => Ok(text.into()),
            Kind::Choice(words) if words.contains(&text) => Ok(text.into()),
            Kind::Choice(words) => {
                let meant = nearest(text, words.iter().copied())
                    .map_or(String::new(), |word| format!("; did you mean `{word}`?"));
                Err(wrong(format!("`{text}` is not one of {}{meant}", words.join(", "))))
            }
        }
    }

    /// A canonical value as people read it.
    pub fn label(&self, value: &str) -> String {
        match (self.kind, value.parse()) {
            (Kind::Size | Kind::Eden, Ok(bytes)) => size(bytes),
            _ => value.to_string(),
        }
    }
}

/// The value of a parameter as people read it. The parameter need not be one of these axes.
pub(crate) fn label(axes: &[Axis], name: &str, value: &str) -> String {
    match axes.iter().find(|axis| axis.name == name) {
        Some(axis) => axis.label(value),
        None if name == NEIGHBOURS => neighbours::label(value),
        None => value.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_one_spelling() {
        let of = |kind, text: &str| Axis::new("a", "", kind, &["1"]).canonical(text);
        assert_eq!(of(Kind::Size, " 64K "), Ok("65536".into()));
        assert_eq!(of(Kind::Count, "007"), Ok("7".into()));
        assert_eq!(of(Kind::Switch, "true"), Ok("on".into()));
        assert_eq!((of(Kind::Factor, "1.50"), of(Kind::Factor, "2")), (Ok("1.5".into()), Ok("2".into())));
        for wrong in ["0", "-1", "inf", "NaN", "x"] {
            assert!(of(Kind::Factor, wrong).unwrap_err().contains("above 0"), "{wrong}");
        }
        assert_eq!(of(Kind::Choice(&["cas", "lock"]), "lock"), Ok("lock".into()));
        assert_eq!(
            of(Kind::Choice(&["cas", "lock"]), "spin").unwrap_err(),
            "a: `spin` is not one of cas, lock"
        );
        let wrong = of(Kind::Choice(&["cas", "lock"]), "lcok").unwrap_err();
        assert_eq!(wrong, "a: `lcok` is not one of cas, lock; did you mean `lock`?");
        assert_eq!(of(Kind::Switch, "maybe").unwrap_err(), "a: `maybe` is not a switch; write on or off");
        assert!(of(Kind::Count, "-1").unwrap_err().contains("whole number"));
        assert!(of(Kind::Size, "1.5k").unwrap_err().starts_with("a: `1.5k` is not a size"));
    }

    #[test]
    fn sizes_are_shown_in_units() {
        assert_eq!(Axis::new("a", "", Kind::Size, &[]).label("65536"), "64k");
        assert_eq!(Axis::new("a", "", Kind::Count, &[]).label("65536"), "65536");
    }

    #[test]
    fn a_quick_run_takes_the_first_value_unless_told() {
        let axis = Axis::new("a", "", Kind::Count, &["3", "4"]);
        assert_eq!((axis.quick, axis.quick(&["4"]).quick), (&["3"][..], &["4"][..]));
        assert!(axis.applies_to("x") && !axis.only_in(&["y"]).applies_to("x"));
    }
}
