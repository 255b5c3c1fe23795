//! The bytes that the next young collection will copy, and the regions for them.
//!
//! There are two predictions, both padded (average and three deviations). One is in bytes, as
//! HotSpot has it; the other is a share of the young generation, which follows eden when eden
//! changes. The larger one counts, because the copies must find room, but at most all of the young
//! generation.

use super::collection::Collection;
use super::padded::{Padded, SIZE_WEIGHT};
use super::settings::Machine;

/// The share of the young generation that survives, before the first measurement.
const UNKNOWN_SHARE: f32 = 0.25;

/// The prediction of survivors.
#[derive(Clone, Debug)]
pub(super) struct Survival {
    survived: Padded,
    promoted: Padded,
    scanned: Padded,
    share: Padded,
    /// Bytes of survivors that the next collection finds.
    young_bytes: usize,
    /// Threads that were attached at the last young collection, at least 1.
    threads: usize,
}

impl Survival {
    pub(super) fn new() -> Survival {
        let sizes = Padded::new(SIZE_WEIGHT);
        Survival {
            survived: sizes,
            promoted: sizes,
            scanned: sizes,
            share: sizes,
            young_bytes: 0,
            threads: 1,
        }
    }

    /// Adds a young collection.
    pub(super) fn observe(&mut self, done: &Collection, machine: &Machine) {
        let copied = done.survivor_bytes() + done.promoted_bytes + done.failed_bytes;
        // A large array that stays is not copied, and the share does not count it.
        let young = self.young_with(done.eden_regions, machine).saturating_sub(done.stayed_bytes);
        self.young_bytes = done.survivor_bytes();
        self.threads = done.threads.max(1);
        self.survived.sample(self.young_bytes as f32);
        self.promoted.sample((done.promoted_bytes + done.failed_bytes) as f32);
        self.scanned.sample(done.scanned_bytes as f32);
        if young > 0 {
            self.share.sample((copied as f32 / young as f32).min(1.0));
        }
    }

    /// Notes that every young object is now old or dead.
    pub(super) fn after_full(&mut self) {
        self.young_bytes = 0;
    }

    /// A number of bytes that the survivors will hardly exceed.
    pub(super) fn survivors_bytes(&self) -> usize {
        self.survived.padded() as usize
    }

    /// Bytes that a young collection of an eden of `eden` regions is expected to copy or to scan.
    /// This is the usual number; with more threads, the usual number for each; with a larger eden,
    /// the usual share.
    pub(super) fn work_bytes(&self, eden: usize, threads: usize, machine: &Machine) -> usize {
        let share = self.share.average() * self.young_with(eden, machine) as f32;
        let crowd = (threads as f32 / self.threads as f32).max(1.0);
        let copied = (self.survived.average() + self.promoted.average()) * crowd;
        (copied.max(share) + self.scanned.average()) as usize
    }

    /// Bytes of the young generation with an eden of `eden` regions.
    fn young_with(&self, eden: usize, machine: &Machine) -> usize {
        eden.saturating_mul(machine.geometry.region_bytes()).saturating_add(self.young_bytes)
    }

    /// Regions that a young collection with `workers` needs for its copies if eden has `eden`
    /// regions.
    pub(super) fn reserve(&self, eden: usize, machine: &Machine, workers: usize) -> usize {
        let young = self.young_with(eden, machine);
        let share = if self.share.known() { self.share.padded().min(1.0) } else { UNKNOWN_SHARE };
        let by_share = young as f32 * share;
        let bytes = by_share.max(self.survived.padded() + self.promoted.padded()).min(young as f32) as usize;
        // Each worker ends in a region of survivors and in one of old objects, on average halfway.
        machine.regions_of(bytes) + workers
    }

    /// The largest eden of at most `wish` regions that fits `room` together with its copies; 0 if
    /// not even one region does.
    pub(super) fn fitting(&self, wish: usize, room: usize, machine: &Machine, workers: usize) -> usize {
        let fits = |eden: usize| eden.saturating_add(self.reserve(eden, machine, workers)) <= room;
        let wish = wish.min(room);
        if fits(wish) {
            return wish;
        }
        // `reserve` does not fall as eden grows, so a binary search works: `low` fits, `high` does
        // not.
        let (mut low, mut high) = (0, wish);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) { low = middle } else { high = middle }
        }
        low
    }
}
