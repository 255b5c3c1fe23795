//! The guarantees of sizing: tables, properties of every history, and simulated mutators.

mod histories;
mod overhead;
mod scenarios;
mod simulator;
mod tables;

use super::*;
use crate::options::{OptionSet, Source};
use crate::region::Geometry;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// The settings that `list` makes.
fn settings(list: &str) -> SizingSettings {
    let mut set = OptionSet::new();
    set.apply_str("Collector=parallel", Source::CommandLine).unwrap();
    set.apply_str(list, Source::CommandLine).unwrap();
    SizingSettings::from(&set.finish().unwrap())
}

/// Two cores with 2 MiB of L2 each and 64 MiB of L3, and a heap of `heap` bytes.
fn machine(heap: usize, region: usize) -> Machine {
    let geometry = Geometry::new(heap, region).unwrap();
    let (l2_bytes, l3_bytes) = (2 * MIB, 64 * MIB);
    Machine { geometry, cores: 2, l2_bytes, l3_bytes, workers: 2, work_bytes: 512 * KIB }
}
