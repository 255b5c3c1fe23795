//! What an evacuation tells of itself: for records, for the decisions on sizes, and for tests.

use crate::object::MAX_AGE;
use std::time::Duration;

/// What an evacuation did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statistics {
    /// Of all workers.
    pub(crate) sum: WorkerStatistics,
    /// Objects each of them copied.
    pub(crate) worker_objects: Vec<u64>,
    pub(crate) weak_cleared: u64,
    /// Bytes of regions that became old because something in them stayed.
    pub(crate) retained_bytes: usize,
    pub(crate) regions_freed: usize,
    pub(crate) humongous_freed: usize,
    /// How often everything copied was looked at again, because a stack could not grow.
    pub(crate) overflows: u64,
    pub(crate) copy_time: Duration,
    pub(crate) weak_time: Duration,
    pub(crate) finish_time: Duration,
}

/// What one worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkerStatistics {
    /// Bytes of objects copied that stay young, by the age they now have.
    pub(crate) survived: [u64; MAX_AGE as usize + 1],
    /// Bytes of objects copied that are old now.
    pub(crate) promoted_bytes: u64,
    /// Objects copied.
    pub(crate) objects: u64,
    /// Bytes of objects that stayed where they were, and how many.
    pub(crate) kept_bytes: u64,
    pub(crate) kept_objects: u64,
    /// Bytes of those among them that could not have moved, memory or not.
    pub(crate) stayed_bytes: u64,
    /// Bytes of buffers that no object was put into.
    pub(crate) wasted_bytes: u64,
    pub(crate) steals: u64,
    pub(crate) cards_scanned: u64,
    pub(crate) cards_dirty: u64,
}

impl WorkerStatistics {
    /// Counts objects of so many bytes each that were copied, and have this age now; `None`: they are old.
    #[inline(always)]
    pub(super) fn copied(&mut self, objects: u64, bytes: u64, age: Option<u8>) {
        self.objects += objects;
        let sum = age.map_or(&mut self.promoted_bytes, |age| &mut self.survived[usize::from(age)]);
        *sum += objects * bytes;
    }

    /// Counts in what another one did.
    pub(super) fn add(&mut self, other: WorkerStatistics) {
        self.survived.iter_mut().zip(other.survived).for_each(|(sum, own)| *sum += own);
        self.promoted_bytes += other.promoted_bytes;
        self.objects += other.objects;
        self.kept_bytes += other.kept_bytes;
        self.kept_objects += other.kept_objects;
        self.stayed_bytes += other.stayed_bytes;
        self.wasted_bytes += other.wasted_bytes;
        self.steals += other.steals;
        self.cards_scanned += other.cards_scanned;
        self.cards_dirty += other.cards_dirty;
    }
}
