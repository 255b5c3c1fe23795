//! The budget against a naive model, and, under loom, against every interleaving.

use super::*;
use crate::tlab::sizing::Settings;

#[cfg(loom)]
mod loom;
#[cfg(not(loom))]
mod model;

const KIB: usize = 1 << 10;

/// Sizes from 16 KiB to `max`.
fn config(max: usize) -> Config {
    Config::new(&Settings { region_size: max, ..Settings::default() })
}

fn start(config: &Config) -> Sizing {
    Sizing::start(config, &Averages::new(config))
}

/// Refills; what the thread is left to do.
fn refill(budget: &Budget, config: &Config, sizing: &mut Sizing, now_ms: u64) -> Settlement {
    let settlement = budget.settle(config, sizing, now_ms);
    sizing.granted(config, sizing.desired_size(), now_ms);
    settlement
}
