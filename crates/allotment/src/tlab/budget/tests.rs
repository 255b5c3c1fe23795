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
