//! Whether an eden beyond the last cache is worth its misses: a trial with measurements.
//!
//! A larger eden means fewer collections, but uses memory that no cache holds. The price depends on
//! the program: a program that does little but allocate may be half as fast there, another one
//! notices nothing. So an eden that throughput wants larger than the near one stays near for some
//! collections, then grows. After some collections there, the times per region of allocation,
//! collections included, are compared; the cheaper side wins. Later both sides are measured again.
//! That comes soon at first, because a young process was measured while its pages were new, then
//! more rarely while the answer stays the same.
//!
//! A side counts the median of its last collections. A collection that met page faults, or a thread
//! that waited for a processor, costs many times as much as the others, and would stay in an
//! average.
//!
//! Refused: a table of miss costs (they depend on the machine and its other load). Refused: a
//! second goal for the share of collections beyond the cache (a program with much to copy would be
//! collected all the time).

use super::collection::Collection;
use super::settings::Machine;

/// Bytes of a last cache that one core is supposed to have for its allocation, even if cores share
/// it.
const CORE_BYTES: usize = 16 << 20;

/// Number of last collections of a side that are compared.
const ENOUGH: usize = 5;

/// Collections after which both sides are measured again, at first.
const FIRST_PATIENCE: u32 = 32;

/// Collections after which both sides are measured again, when the answer has always been the same.
const MOST_PATIENCE: u32 = 256;

/// The far side is dearer if a region costs more than this many times its near cost.
const DEARER: f32 = 1.03;

/// The measurements of both sides.
#[derive(Clone, Debug)]
pub(super) struct CacheTrial {
    pub(super) near: Side,
    pub(super) far: Side,
    /// Collections since the last new measurement.
    waited: u32,
    patience: u32,
    /// The result of the last comparison.
    was_far_dearer: Option<bool>,
}

/// Nanoseconds per region of allocation in the last collections of one side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Side {
    ns: [f32; ENOUGH],
    samples: usize,
}

impl Side {
    fn sample(&mut self, ns: f32) {
        self.ns[self.samples % ENOUGH] = ns;
        self.samples += 1;
    }

    /// The median; `None` before there are enough samples.
    fn median(&self) -> Option<f32> {
        let mut sorted = self.ns;
        sorted.sort_by(f32::total_cmp);
        (self.samples >= ENOUGH).then_some(sorted[ENOUGH / 2])
    }

    /// The median in whole nanoseconds; 0 before there are enough samples.
    pub(super) fn ns(&self) -> u64 {
        self.median().unwrap_or_default() as u64
    }
}

/// The regions of an eden that the last cache holds; all of the heap if there is no such cache.
pub(super) fn near_regions(machine: &Machine) -> usize {
    match machine.l3_bytes {
        0 => machine.geometry.regions,
        bytes => machine.regions_of((bytes / 2).min(machine.cores.saturating_mul(CORE_BYTES))),
    }
}

impl CacheTrial {
    pub(super) fn new() -> CacheTrial {
        CacheTrial {
            near: Side::default(),
            far: Side::default(),
            waited: 0,
            patience: FIRST_PATIENCE,
            was_far_dearer: None,
        }
    }

    /// Adds a young collection of an eden that was as large as wished, or nearly.
    pub(super) fn observe(&mut self, done: &Collection, near: usize) {
        let ns = (done.mutator_ns + done.pause_ns) as f32 / done.eden_regions.max(1) as f32;
        if done.eden_regions > near {
            self.far.sample(ns);
        } else if done.eden_regions * 2 > near {
            // A far smaller eden has the pause's fixed part for few regions.
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
            Some(_) if now == before => (self.patience * 2).min(MOST_PATIENCE),
            _ => FIRST_PATIENCE,
        };
        *self = CacheTrial { patience, was_far_dearer: now.or(before), ..CacheTrial::new() };
    }

    /// Whether eden may be larger than the near one: the near side was measured, and the far side
    /// is not known to be dearer.
    pub(super) fn permits_far(&self) -> bool {
        self.near.median().is_some() && self.is_far_dearer() != Some(true)
    }

    /// Whether the far side is dearer; `None` before both sides are known.
    fn is_far_dearer(&self) -> Option<bool> {
        Some(self.far.median()? > self.near.median()? * DEARER)
    }
}
