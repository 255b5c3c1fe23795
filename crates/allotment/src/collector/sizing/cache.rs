//! Whether an eden beyond what the last cache holds is worth its misses: tried, and measured.
//!
//! Fewer collections are bought with memory that no cache holds, and what that costs depends on the program: one that
//! allocates and little else may be half as fast there, another does not notice. So an eden that throughput wants larger than the
//! near one is left at that for some collections, then gets larger, and after some collections there the time that a region of
//! allocation took, collections included, is compared; the cheaper side wins. After a while both are measured again, for programs change.
//!
//! Refused: a table of what a miss costs (whose, with which neighbours?), and a second goal for the share of collections beyond the
//! cache (a program with much to copy would be collected all the time).

use super::collection::Collection;
use super::padded::TIME_WEIGHT;
use super::settings::Machine;
use crate::tlab::sizing::Average;

/// Bytes of a last cache that one core is supposed to have for its allocation, whoever shares it.
const CORE_BYTES: usize = 16 << 20;

/// Collections on a side from which on its average counts.
const ENOUGH: u8 = 4;

/// Collections after which all is measured again.
const PATIENCE: u32 = 256;

/// Far is dearer where a region costs more than this many times what it costs near.
const DEARER: f32 = 1.03;

/// What was measured on either side.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    near_ns: Average,
    far_ns: Average,
    /// Collections since all was measured anew.
    waited: u32,
}

/// The regions of an eden that the last cache holds; all of the heap where there is none.
pub(super) fn near_regions(machine: &Machine) -> usize {
    match machine.l3_bytes {
        0 => machine.geometry.regions,
        bytes => machine.regions_of((bytes / 2).min(machine.cores.saturating_mul(CORE_BYTES))),
    }
}

impl Cache {
    pub(super) fn new() -> Cache {
        Cache { near_ns: Average::new(TIME_WEIGHT), far_ns: Average::new(TIME_WEIGHT), waited: 0 }
    }

    /// Takes in a young collection of an eden that was as large as was wished, or nearly.
    pub(super) fn observe(&mut self, done: &Collection, near: usize) {
        let ns = (done.mutator_ns + done.pause_ns) as f32 / done.eden_regions.max(1) as f32;
        if done.eden_regions > near {
            self.far_ns.sample(ns);
        } else if done.eden_regions * 2 > near {
            // A far smaller one has a pause for fewer regions.
            self.near_ns.sample(ns);
        }
        self.waited += 1;
        if self.waited == PATIENCE {
            *self = Cache::new();
        }
    }

    /// Whether eden may be larger than the near one: that was measured, and far is not known to be dearer.
    pub(super) fn permits_far(&self) -> bool {
        self.near_ns.samples() >= ENOUGH && !self.is_far_dearer()
    }

    fn is_far_dearer(&self) -> bool {
        self.near_ns.samples() >= ENOUGH
            && self.far_ns.samples() >= ENOUGH
            && self.far_ns.value() > self.near_ns.value() * DEARER
    }

    /// Nanoseconds of a region, near and far; 0: not measured.
    pub(super) fn measured(&self) -> (u64, u64) {
        (self.near_ns.value() as u64, self.far_ns.value() as u64)
    }
}
