//! The fields of a JMH file that the lab reads, and the ways in which releases spell their values.

use crate::format::time;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// One object of a file. The optional fields are missing in some release.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a result, which is an object")]
pub(super) struct Outcome {
    pub(super) benchmark: String,
    pub(super) mode: String,
    #[serde(default = "one")]
    pub(super) threads: usize,
    #[serde(default = "one")]
    pub(super) forks: u32,
    #[serde(default)]
    pub(super) jvm: String,
    #[serde(default)]
    pub(super) jvm_args: Vec<String>,
    #[serde(default)]
    pub(super) jdk_version: String,
    #[serde(default)]
    pub(super) vm_name: String,
    #[serde(default)]
    pub(super) vm_version: String,
    #[serde(default)]
    pub(super) warmup_iterations: u32,
    #[serde(default)]
    pub(super) warmup_time: Time,
    #[serde(default)]
    pub(super) measurement_iterations: u32,
    #[serde(default)]
    pub(super) measurement_time: Time,
    #[serde(default)]
    pub(super) params: Ordered<String>,
    pub(super) primary_metric: Fields,
    #[serde(default)]
    pub(super) secondary_metrics: Ordered<Fields>,
}

fn one<N: From<u8>>() -> N {
    1.into()
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a metric, which is an object with score and scoreUnit")]
pub(super) struct Fields {
    pub(super) score: Number,
    #[serde(default)]
    pub(super) score_error: Number,
    #[serde(default)]
    pub(super) score_confidence: [Number; 2],
    pub(super) score_unit: String,
    #[serde(default)]
    pub(super) raw_data: Vec<Vec<Number>>,
    #[serde(default)]
    pub(super) raw_data_histogram: Vec<Vec<Vec<(Number, u64)>>>,
}

/// A number that may be NaN or infinite.
#[derive(Clone, Copy)]
pub(super) struct Number(pub(super) f64);

impl Default for Number {
    fn default() -> Number {
        Number(f64::NAN)
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
            fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
                match text {
                    "NaN" => Ok(Number(f64::NAN)),
                    "+INF" | "INF" | "Infinity" => Ok(Number(f64::INFINITY)),
                    "-INF" | "-Infinity" => Ok(Number(f64::NEG_INFINITY)),
                    other => Err(E::invalid_value(serde::de::Unexpected::Str(other), &self)),
                }
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// The time of an iteration.
#[derive(Default)]
pub(super) struct Time(pub(super) Duration);

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

/// An object whose order is kept.
pub(super) struct Ordered<V>(pub(super) Vec<(String, V)>);

impl<V> Default for Ordered<V> {
    fn default() -> Ordered<V> {
        Ordered(Vec::new())
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
