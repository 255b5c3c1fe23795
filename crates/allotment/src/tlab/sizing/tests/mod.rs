//! Tests of the policies against tables: HotSpot's numbers, computed by hand from its formulas, and
//! our own guarantees.

mod adaptive;
mod elastic;
mod hotspot;
mod properties;
mod shenandoah;

use super::{Averages, Config, Settings, Sizing};
use crate::options::TlabPolicy;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

/// Settings of a policy with a capacity and a region size.
fn settings(policy: TlabPolicy, capacity: usize, region_size: usize) -> Settings {
    Settings { policy, capacity, region_size, ..Settings::default() }
}

/// A new thread in a new heap.
fn start(settings: &Settings) -> (Config, Averages, Sizing) {
    let config = Config::new(settings);
    let averages = Averages::new(&config);
    let sizing = Sizing::start(&config, &averages);
    (config, averages, sizing)
}

/// The size a thread asks for at its next refill, for an object of 8 bytes and without counting
/// those.
fn base(config: &Config, sizing: &mut Sizing, now_ms: u64) -> usize {
    sizing.request(config, 8, usize::MAX, now_ms).expect("8 bytes fit in a buffer").size - 8
}
