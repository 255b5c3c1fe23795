//! Whether an eden beyond what the last cache holds is worth its misses: tried, and measured.
//!
//! Fewer collections are bought with memory that no cache holds, and what that costs depends on the program: one that
//! allocates and little else may be half as fast there, another does not notice. So an eden that throughput wants larger than the
//! near one is left at that for some collections, then gets larger, and after some collections there the time that a region of
//! allocation took, collections included, is compared; the cheaper side wins. After a while both are measured again: soon at first,
//! because a young process was measured while its pages were new, then ever more rarely while the answer stays the same.
//!
//! A side is worth the median of its last collections: one that met page faults, or a thread that had to wait for a processor, is
//! many times as dear as the others, and would stay in an average.
//!
//! Refused: a table of what a miss costs (whose, with which neighbours?), and a second goal for the share of collections beyond the
//! cache (a program with much to copy would be collected all the time).

use super::collection::Collection;
use super::settings::Machine;

/// Bytes of a last cache that one core is supposed to have for its allocation, whoever shares it.
const CORE_BYTES: usize = 16 << 20;

/// Collections on a side that are compared, the last ones.
const ENOUGH: usize = 5;

/// Collections after which all is measured again: at first, and when the answer has always been the same.
const PATIENCE: (u32, u32) = (32, 256);

/// Far is dearer where a region costs more than this many times what it costs near.
const DEARER: f32 = 1.03;

/// What was measured on either side.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    near: Side,
    far: Side,
    /// Collections since all was measured anew.
    waited: u32,
    patience: u32,
    /// What the last comparison said.
    was_far_dearer: Option<bool>,
}

/// Nanoseconds of a region of allocation in the last collections of one side.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    ns: [f32; ENOUGH],
    samples: usize,
}

impl Side {
    fn sample(&mut self, ns: f32) {
        self.ns[self.samples % ENOUGH] = ns;
        self.samples += 1;
    }

    /// None before there are enough.
    fn median(&self) -> Option<f32> {
        let mut sorted = self.ns;
        sorted.sort_by(f32::total_cmp);
        (self.samples >= ENOUGH).then_some(sorted[ENOUGH / 2])
    }
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
        Cache {
            near: Side::default(),
            far: Side::default(),
            waited: 0,
            patience: PATIENCE.0,
            was_far_dearer: None,
        }
    }

    /// Takes in a young collection of an eden that was as large as was wished, or nearly.
    pub(super) fn observe(&mut self, done: &Collection, near: usize) {
        let ns = (done.mutator_ns + done.pause_ns) as f32 / done.eden_regions.max(1) as f32;
        if done.eden_regions > near {
            self.far.sample(ns);
        } else if done.eden_regions * 2 > near {
            // A far smaller one has a pause for fewer regions.
            self.near.sample(ns);
        }
        self.waited += 1;
        if self.waited >= self.patience {
            self.measure_again();
        }
    }

    fn measure_again(&mut self) {
        let (now, before) = (self.is_far_dearer(), self.was_far_dearer);
        let patience = match now {
            Some(_) if now == before => (self.patience * 2).min(PATIENCE.1),
            _ => PATIENCE.0,
        };
        *self = Cache { patience, was_far_dearer: now.or(before), ..Cache::new() };
    }

    /// Whether eden may be larger than the near one: that was measured, and far is not known to be dearer.
    pub(super) fn permits_far(&self) -> bool {
        self.near.median().is_some() && self.is_far_dearer() != Some(true)
    }

    /// None before both sides are known.
    fn is_far_dearer(&self) -> Option<bool> {
        Some(self.far.median()? > self.near.median()? * DEARER)
    }

    /// Nanoseconds of a region, near and far; 0: not measured.
    pub(super) fn measured(&self) -> (u64, u64) {
        let ns = |side: &Side| side.median().unwrap_or_default() as u64;
        (ns(&self.near), ns(&self.far))
    }
}
