//! The promises of the numbers: tables, properties, and simulated mutators. Then cycles in heaps.

mod choosing;
mod committed;
mod full;
mod generations;
mod humongous;
mod kit;
mod looks;
mod numbers;
mod pacing;
mod roots;
mod scenarios;
mod simulator;
mod storms;
mod traps;
mod triggering;

use super::choose::*;
use super::trigger::*;
use crate::options::{OptionSet, Options, Source};
use std::time::Duration;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// The options that `list` makes.
fn options(list: &str) -> Options {
    let mut set = OptionSet::new();
    set.apply_str("Collector=shenandoah", Source::CommandLine).unwrap();
    set.apply_str(list, Source::CommandLine).unwrap();
    set.finish().unwrap()
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}
