//! Events that only some processors have, by their makers' names and codes.
//!
//! A code is a raw event of `perf`: event number in bits 0-7 (AMD's bits 8-11 of it in bits 32-35),
//! unit mask in 8-15, counter mask in 24-31. An off-core event has a second value. Sources: Intel's
//! published tables of events (github.com/intel/perfmon: HSW, HSX, SKX, ICX, SPR), and Linux'
//! tables for AMD (tools/perf/pmu-events/arch/x86/amdzen2 to 4).
//!
//! The table is the file `events.json`. There is one, with one name for each quantity, since makers
//! rename events. The same code may also mean another thing on the next processor: 0x060006a3 is
//! all pending loads on Haswell, and misses of L3 on Skylake.

use super::processor::Family;
use super::{Event, Expected};
use serde::Deserialize;
use std::sync::LazyLock;

/// An event of one maker: the processors that have it, its maker's name, and its code.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Code(Vec<Family>, &'static str, &'static str);

impl Code {
    /// Its maker's name, in lower case.
    pub fn name(&self) -> &'static str {
        self.1
    }

    /// The code as a user writes it: `r21d0`.
    pub fn written(&self) -> &'static str {
        self.2
    }

    /// The event, under its maker's name.
    pub fn event(&self) -> Option<Event> {
        Some(Event { label: self.1.into(), ..Event::coded(self.2)? })
    }
}

/// A quantity, and its event on each processor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Row {
    /// The quantity's name here, the same on all processors.
    pub quantity: &'static str,
    /// A description of the quantity.
    pub what: &'static str,
    /// Whether `--counters` includes it by default.
    pub auto: bool,
    /// The expected count per locked addition.
    pub expected: Expected,
    codes: Vec<Code>,
}

impl Row {
    /// The event on that processor.
    pub fn on(&self, family: Family) -> Option<&Code> {
        self.codes.iter().find(|code| code.0.contains(&family))
    }

    /// All events of that quantity.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.codes.iter().map(Code::name)
    }
}

/// The table.
pub fn rows() -> impl Iterator<Item = &'static Row> + Clone {
    static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
        serde_json::from_str(include_str!("events.json")).expect("a test has read this very text")
    });
    ROWS.iter()
}

#[cfg(test)]
mod tests;
