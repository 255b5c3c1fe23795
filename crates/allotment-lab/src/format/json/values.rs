//! The values of a JMH file: numbers, times, histograms and objects, and the ways in which releases
//! spell them.

use crate::format::time::{self, iteration_time};
use crate::statistics::Weighted;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Unexpected, Visitor};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::to_raw_value;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// A number that may be NaN or infinite: then it is the string `NaN`, `+INF` or `-INF`.
#[derive(Clone, Copy)]
pub(in crate::format) struct Number(pub(in crate::format) f64);

impl Default for Number {
    fn default() -> Number {
        Number(f64::NAN)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            value if value.is_finite() => serializer.serialize_f64(value),
            value if value.is_nan() => serializer.serialize_str("NaN"),
            value if value > 0.0 => serializer.serialize_str("+INF"),
            _ => serializer.serialize_str("-INF"),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or one of the strings NaN, +INF, -INF")
            }
            fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
                Ok(Number(value))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value as f64))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number(value as f64))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Number, E> {
                match text {
                    "NaN" => Ok(Number(f64::NAN)),
                    "+INF" | "INF" | "Infinity" => Ok(Number(f64::INFINITY)),
                    "-INF" | "-Infinity" => Ok(Number(f64::NEG_INFINITY)),
                    other => Err(E::invalid_value(Unexpected::Str(other), &self)),
                }
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// The time of an iteration.
#[derive(Default)]
pub(in crate::format) struct Time(pub(in crate::format) Duration);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&iteration_time(self.0))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            // Releases differ in the spelling of an absent time.
            "single-shot" | "N/A" | "" => Ok(Time(Duration::ZERO)),
            text => time::parse_of_file(text).map(Time).map_err(D::Error::custom),
        }
    }
}

/// The histogram of an iteration: values with the number of each.
#[derive(serde::Deserialize)]
#[serde(transparent)]
pub(in crate::format) struct Histogram(Vec<(Number, u64)>);

impl Histogram {
    pub(super) fn of(counts: &[Weighted]) -> Histogram {
        Histogram(counts.iter().map(|&(value, times)| (Number(value), times)).collect())
    }

    /// The histogram, sorted by value.
    pub(in crate::format) fn sorted(&self) -> Vec<Weighted> {
        let mut counts: Vec<Weighted> = self.0.iter().map(|&(value, times)| (value.0, times)).collect();
        counts.sort_by(|a, b| a.0.total_cmp(&b.0));
        counts
    }
}

impl Serialize for Histogram {
    /// One line, in an indented file too: with a line for each number and each bracket, a file of
    /// distributions would be five times as long.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        to_raw_value(&self.0).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// A JSON object whose fields keep their order.
pub(in crate::format) struct Ordered<V>(pub(in crate::format) Vec<(String, V)>);

impl<V> Ordered<V> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<V> Default for Ordered<V> {
    fn default() -> Ordered<V> {
        Ordered(Vec::new())
    }
}

impl<V: Serialize> Serialize for Ordered<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Ordered<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ordered<V>, D::Error> {
        struct Map<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Map<V> {
            type Value = Ordered<V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<V>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Ordered(pairs))
            }
        }
        deserializer.deserialize_map(Map(PhantomData))
    }
}
