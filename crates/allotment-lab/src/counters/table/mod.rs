//! Events that only some processors have, by their makers' names and codes.
//!
//! A code is what `perf` calls a raw event: event number in bits 0-7 (AMD's bits 8-11 of it in bits 32-35), unit mask in 8-15,
//! counter mask in 24-31; an off-core event has a second value. From Intel's published tables of events
//! (github.com/intel/perfmon: HSW, HSX, SKX, ICX, SPR) and from Linux' for AMD (tools/perf/pmu-events/arch/x86/amdzen2 to 4).
//! One table and a name for each quantity, since makers rename events, and the same code may mean another thing on the next
//! processor: 0x060006a3 is all pending loads on Haswell, and misses of L3 on Skylake.

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
    /// Which requests, of an off-core event.
    pub config1: u64,
}

/// A quantity, and what it is on which processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Its name here, the same on all processors.
    pub quantity: &'static str,
    /// What it counts, in words.
    pub what: &'static str,
    /// Whether `--counters` has it without being told.
    pub auto: bool,
    /// What a locked addition makes it count.
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

/// A quantity that is counted when asked for by name.
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
