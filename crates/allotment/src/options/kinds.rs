//! The types of options: how a value is read, checked, printed and described.
//!
//! A kind is data (its limits) and has a field type. The trait [`ValueKind`] ties the two, so that
//! a table row whose kind does not fit its field does not compile. Reading and printing are
//! inverse: `parse(format(value)) == value` for every value of every kind.
//!
//! Refused: a dynamic value type, converted at each use. It would leave a mismatch to run time.

use std::path::PathBuf;
use std::str::FromStr;

use super::choices::Named;
use super::nearest::nearest;

/// Bytes of a KiB, as `k` in a size.
pub(super) const KIB: usize = 1 << 10;
/// Bytes of a MiB, as `m` in a size.
pub(super) const MIB: usize = 1 << 20;
/// Bytes of a GiB, as `g` in a size.
pub(super) const GIB: usize = 1 << 30;
/// Bytes of a TiB, as `t` in a size.
pub(super) const TIB: usize = 1 << 40;

/// The suffixes of sizes, largest first.
const UNITS: [(char, usize); 4] = [('t', TIB), ('g', GIB), ('m', MIB), ('k', KIB)];

/// Defines how values of type `Value` are read, checked and printed within the limits in `self`.
pub(super) trait ValueKind<Value> {
    /// Parses `text` as a value, whether or not the value is within the limits; or returns the
    /// fault in `text`.
    fn parse(&self, text: &str) -> Result<Value, String>;

    /// Returns the fault in `value` if it is outside the limits. A kind may have none.
    fn check(&self, _value: Value) -> Result<(), String> {
        Ok(())
    }

    /// `value` in the user's notation.
    fn format(&self, value: Value) -> String;
}

/// A boolean: `+Name`, `-Name`, `Name=true` or `Name=false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch;

/// A number of bytes, written as a whole number with `k`, `m`, `g` or `t` (powers of 1024, either
/// case).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Whether 0, "chosen by the heap", is allowed beside the range.
    pub or_zero: bool,
    /// The smallest size, in bytes.
    pub min: usize,
    /// The largest size, in bytes.
    pub max: usize,
    /// Which sizes within the range are allowed.
    pub granule: Granule,
}

/// Which sizes within a range are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Granule {
    /// Every one.
    Byte,
    /// Multiples of this number of bytes.
    Multiple(usize),
    /// Powers of two.
    PowerOfTwo,
}

/// A whole number, written in decimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The smallest number.
    pub min: usize,
    /// The largest number.
    pub max: usize,
}

/// A duration in milliseconds, written in decimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Milliseconds {
    /// The shortest duration, in milliseconds.
    pub min: u64,
    /// The longest duration, in milliseconds.
    pub max: u64,
}

/// A number with a decimal point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real {
    /// The smallest number.
    pub min: f64,
    /// The largest number; [`f64::MAX`] if there is no largest.
    pub max: f64,
}

/// One of several names, written in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The names, each with its meaning, in the order of the variants.
    pub names: &'static [(&'static str, &'static str)],
}

/// The path of a file or a directory. Empty: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path;

impl Size {
    /// Sizes of `min..=max` bytes.
    pub(super) const fn between(min: usize, max: usize) -> Self {
        Self { or_zero: false, min, max, granule: Granule::Byte }
    }

    /// 0, which leaves the choice to the heap, or a size of `min..=max` bytes.
    pub(super) const fn zero_or(min: usize, max: usize) -> Self {
        Self { or_zero: true, ..Self::between(min, max) }
    }

    /// Restricts the sizes to multiples of `bytes`.
    pub(super) const fn multiple_of(self, bytes: usize) -> Self {
        Self { granule: Granule::Multiple(bytes), ..self }
    }

    /// Restricts the sizes to powers of two.
    pub(super) const fn power_of_two(self) -> Self {
        Self { granule: Granule::PowerOfTwo, ..self }
    }

    /// The permitted values, for example `0 or 256k..32m, a power of two`.
    pub(super) fn range(&self) -> String {
        let zero = if self.or_zero { "0 or " } else { "" };
        let granule = match self.granule {
            Granule::Byte => String::new(),
            Granule::Multiple(bytes) => format!(", a multiple of {bytes}"),
            Granule::PowerOfTwo => ", a power of two".to_owned(),
        };
        format!("{zero}{}..{}{granule}", format_size(self.min), format_size(self.max))
    }
}

impl Real {
    /// The permitted values, for example `0.1..50.0`.
    pub(super) fn range(&self) -> String {
        if self.max == f64::MAX {
            format!("{:?} or more", self.min)
        } else {
            format!("{:?}..{:?}", self.min, self.max)
        }
    }
}

/// `bytes` in the largest unit that holds it exactly: 1536 KiB is `1536k`, 2048 KiB is `2m`.
pub(super) fn format_size(bytes: usize) -> String {
    match UNITS.iter().find(|(_, unit)| bytes != 0 && bytes.is_multiple_of(*unit)) {
        Some((suffix, unit)) => format!("{}{suffix}", bytes / unit),
        None => bytes.to_string(),
    }
}

/// Parses a whole number in decimal digits alone: `str::parse` would also take a sign.
fn parse_digits<Value: FromStr>(text: &str) -> Result<Value, String> {
    if text.is_empty() {
        return Err("the value is missing".to_owned());
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("not a whole number in decimal digits".to_owned());
    }
    text.parse().map_err(|_| "too large to be represented".to_owned())
}

/// The right notation for a size with a fraction, if it is a whole number of bytes.
fn suggest_size(number: &str, unit: usize) -> Option<String> {
    /// From here on, not every whole number is an `f64`.
    const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
    let bytes = number.parse::<f64>().ok()? * unit as f64;
    (bytes.fract() == 0.0 && (1.0..EXACT).contains(&bytes)).then(|| format_size(bytes as usize))
}

/// Refuses a `value` outside `min..=max`.
fn check_range<Value: PartialOrd>(value: Value, min: Value, max: Value) -> Result<(), String> {
    if value < min {
        Err("too small".to_owned())
    } else if value > max {
        Err("too large".to_owned())
    } else {
        Ok(())
    }
}

impl ValueKind<bool> for Switch {
    fn parse(&self, text: &str) -> Result<bool, String> {
        match text.to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err("neither true nor false".to_owned()),
        }
    }

    fn format(&self, value: bool) -> String {
        value.to_string()
    }
}

impl ValueKind<usize> for Size {
    fn parse(&self, text: &str) -> Result<usize, String> {
        let suffix = text.chars().next_back().map(|last| last.to_ascii_lowercase());
        let unit = UNITS.iter().find(|(name, _)| Some(*name) == suffix);
        let (number, unit) = match unit {
            Some((_, unit)) => (&text[..text.len() - 1], *unit),
            None => (text, 1),
        };
        if let (true, Some(size)) = (number.contains('.'), suggest_size(number, unit)) {
            return Err(format!("a size is a whole number, write {size}"));
        }
        let number: usize = parse_digits(number).map_err(|reason| {
            if reason.starts_with("not") {
                "not a whole number with k, m, g, t or no suffix".to_owned()
            } else {
                reason
            }
        })?;
        number.checked_mul(unit).ok_or_else(|| "too large to be represented".to_owned())
    }

    fn check(&self, value: usize) -> Result<(), String> {
        if self.or_zero && value == 0 {
            return Ok(());
        }
        check_range(value, self.min, self.max)?;
        match self.granule {
            Granule::Multiple(bytes) if !value.is_multiple_of(bytes) => {
                Err(format!("not a multiple of {bytes}"))
            }
            Granule::PowerOfTwo if !value.is_power_of_two() => Err("not a power of two".to_owned()),
            _ => Ok(()),
        }
    }

    fn format(&self, value: usize) -> String {
        format_size(value)
    }
}

/// Kinds whose values are whole numbers without a unit.
macro_rules! whole_numbers {
    ($($kind:ty: $value:ty),+) => {$(
        impl ValueKind<$value> for $kind {
            fn parse(&self, text: &str) -> Result<$value, String> {
                parse_digits(text)
            }

            fn check(&self, value: $value) -> Result<(), String> {
                check_range(value, self.min, self.max)
            }

            fn format(&self, value: $value) -> String {
                value.to_string()
            }
        }
    )+};
}
whole_numbers!(Count: usize, Milliseconds: u64);

impl ValueKind<f64> for Real {
    fn parse(&self, text: &str) -> Result<f64, String> {
        text.parse().map_err(|_| "not a number".to_owned())
    }

    fn check(&self, value: f64) -> Result<(), String> {
        if !value.is_finite() {
            return Err("not a finite number".to_owned());
        }
        check_range(value, self.min, self.max)
    }

    fn format(&self, value: f64) -> String {
        // `Debug` prints the shortest digits that read back as the same number.
        format!("{value:?}")
    }
}

impl ValueKind<PathBuf> for Path {
    fn parse(&self, text: &str) -> Result<PathBuf, String> {
        if text.contains('\0') { Err("no path has a zero byte".to_owned()) } else { Ok(text.into()) }
    }

    fn check(&self, value: PathBuf) -> Result<(), String> {
        self.parse(&value.to_string_lossy()).map(|_| ())
    }

    fn format(&self, value: PathBuf) -> String {
        value.to_string_lossy().into_owned()
    }
}

impl<Value: Named> ValueKind<Value> for Choice {
    fn parse(&self, text: &str) -> Result<Value, String> {
        let names = || self.names.iter().map(|(name, _)| *name);
        let place = names().position(|name| name.eq_ignore_ascii_case(text));
        place.map(|place| Value::ALL[place]).ok_or_else(|| match nearest(text, names()) {
            Some(name) => format!("no such choice, did you mean {name}?"),
            None => "no such choice".to_owned(),
        })
    }

    fn format(&self, value: Value) -> String {
        value.to_string()
    }
}
