//! JMH's measuring modes and time units.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The score that is computed from operations and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
pub enum JmhMode {
    /// Operations per time, summed over threads.
    #[serde(rename = "thrpt")]
    #[value(name = "thrpt")]
    Throughput,
    /// Time per operation, averaged over threads.
    #[serde(rename = "avgt")]
    #[value(name = "avgt")]
    AverageTime,
    /// The distribution of the times of single calls.
    #[serde(rename = "sample")]
    #[value(name = "sample")]
    SampleTime,
    /// The time of one call, without a loop around it.
    #[serde(rename = "ss")]
    #[value(name = "ss")]
    SingleShot,
}

impl fmt::Display for JmhMode {
    /// JMH's short label.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JmhMode::Throughput => "thrpt",
            JmhMode::AverageTime => "avgt",
            JmhMode::SampleTime => "sample",
            JmhMode::SingleShot => "ss",
        })
    }
}

/// The unit of time in a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TimeUnit {
    /// `ns`
    Nanoseconds,
    /// `us`
    Microseconds,
    /// `ms`
    Milliseconds,
    /// `s`
    Seconds,
}

impl TimeUnit {
    /// Its length in nanoseconds.
    pub fn nanoseconds(self) -> f64 {
        match self {
            TimeUnit::Nanoseconds => 1.0,
            TimeUnit::Microseconds => 1e3,
            TimeUnit::Milliseconds => 1e6,
            TimeUnit::Seconds => 1e9,
        }
    }

    /// Its name in JMH's option `-tu`.
    pub fn name(self) -> &'static str {
        match self {
            TimeUnit::Nanoseconds => "ns",
            TimeUnit::Microseconds => "us",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Seconds => "s",
        }
    }

    /// The unit of a score in `mode`, spelled as JMH spells it: `ops/us`, `ns/op`.
    pub fn of_score(self, mode: JmhMode) -> String {
        let unit = self.name();
        if mode == JmhMode::Throughput { format!("ops/{unit}") } else { format!("{unit}/op") }
    }
}
