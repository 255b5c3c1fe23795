//! Events that only some processors have, by their makers' names and codes.
//!
//! A code is a raw event of `perf`: event number in bits 0-7 (AMD's bits 8-11 of it in bits 32-35),
//! unit mask in 8-15, counter mask in 24-31. An off-core event has a second value. Sources: Intel's
//! published tables of events (github.com/intel/perfmon: HSW, HSX, SKX, ICX, SPR), and Linux'
//! tables for AMD (tools/perf/pmu-events/arch/x86/amdzen2 to 4).
//!
//! There is one table, with one name for each quantity, since makers rename events. The same code
//! may also mean another thing on the next processor: 0x060006a3 is all pending loads on Haswell,
//! and misses of L3 on Skylake.

mod caches;
mod ownership;
mod prefetches;
mod sharing;

use super::Expected;
use super::processor::Family::{
    self, Haswell, HaswellServer, IceLakeServer, SapphireRapids, Skylake, SkylakeServer, Zen2, Zen3, Zen4,
};

/// An event of one maker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its maker's name, in lower case.
    pub name: &'static str,
    /// Event, unit mask, counter mask.
    pub config: u64,
    /// The requests of an off-core event.
    pub config1: u64,
}

/// A quantity, and its event on each processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The quantity's name here, the same on all processors.
    pub quantity: &'static str,
    /// A description of the quantity.
    pub what: &'static str,
    /// Whether `--counters` includes it by default.
    pub auto: bool,
    /// The expected count per locked addition.
    pub expected: Expected,
    codes: &'static [(&'static [Family], Code)],
}

impl Row {
    /// The event on that processor.
    pub fn on(&self, family: Family) -> Option<Code> {
        self.codes.iter().find(|(families, _)| families.contains(&family)).map(|(_, code)| *code)
    }

    /// All events of that quantity.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.codes.iter().map(|(_, code)| code.name)
    }
}

/// The table.
pub fn rows() -> impl Iterator<Item = &'static Row> + Clone {
    [sharing::ROWS, caches::ROWS, ownership::ROWS, prefetches::ROWS].into_iter().flatten()
}

const HASWELLS: &[Family] = &[Haswell, HaswellServer];
const SKYLAKES: &[Family] = &[Skylake, SkylakeServer];
const BEFORE_RAPIDS: &[Family] = &[Haswell, HaswellServer, Skylake, SkylakeServer, IceLakeServer];
const LAKES: &[Family] = &[Skylake, SkylakeServer, IceLakeServer, SapphireRapids];
const BEFORE_LAST: &[Family] = &[Skylake, SkylakeServer, IceLakeServer];
const LAST: &[Family] = &[IceLakeServer, SapphireRapids];
const INTEL: &[Family] = &[Haswell, HaswellServer, Skylake, SkylakeServer, IceLakeServer, SapphireRapids];
const ZENS: &[Family] = &[Zen2, Zen3, Zen4];

const fn code(name: &'static str, config: u64) -> Code {
    Code { name, config, config1: 0 }
}

const fn offcore(name: &'static str, config: u64, config1: u64) -> Code {
    Code { name, config, config1 }
}

/// A quantity that is counted only by name.
const fn row(
    quantity: &'static str,
    what: &'static str,
    expected: Expected,
    codes: &'static [(&'static [Family], Code)],
) -> Row {
    Row { quantity, what, auto: false, expected, codes }
}

/// A quantity that is counted always.
const fn always(
    quantity: &'static str,
    what: &'static str,
    expected: Expected,
    codes: &'static [(&'static [Family], Code)],
) -> Row {
    Row { quantity, what, auto: true, expected, codes }
}

#[cfg(test)]
mod tests;
