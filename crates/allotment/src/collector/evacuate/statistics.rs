//! The statistics of an evacuation: for records and for the decisions on sizes.

use crate::collector::kernel::Phase;
use crate::object::MAX_AGE;

/// The statistics of one evacuation.
#[derive(Clone, Debug, Default)]
pub(crate) struct EvacuationStatistics {
    /// Sum over all workers.
    pub(crate) sum: WorkerStatistics,
    /// Objects that each worker copied.
    pub(crate) worker_objects: Vec<u64>,
    /// Weak slots and roots cleared.
    pub(crate) weak_cleared: u64,
    /// Number of times that all copied objects were scanned again, because a stack could not grow.
    pub(crate) overflows: u64,
    /// The parts of the evacuation, in order.
    pub(crate) phases: Vec<Phase>,
}

/// The statistics of one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkerStatistics {
    /// Bytes of copied objects that stay young, by their new age.
    pub(crate) survived: [u64; MAX_AGE as usize + 1],
    /// Bytes of copied objects that are old now.
    pub(crate) promoted_bytes: u64,
    /// Copied objects.
    pub(crate) objects: u64,
    /// Bytes of objects that stayed in place.
    pub(crate) kept_bytes: u64,
    /// Objects that stayed in place.
    pub(crate) kept_objects: u64,
    /// The part of `kept_bytes` that could not have moved, with or without memory.
    pub(crate) stayed_bytes: u64,
    /// Bytes of buffers that hold no object.
    pub(crate) wasted_bytes: u64,
    /// Pieces of work that the worker took from others.
    pub(crate) steals: u64,
    /// Cards of old regions that the worker looked at.
    pub(crate) cards_scanned: u64,
    /// The dirty ones among these cards.
    pub(crate) cards_dirty: u64,
}

impl WorkerStatistics {
    /// Counts `objects` copied objects of `bytes` bytes each, now of this age; `None` if they are
    /// old.
    #[inline(always)]
    pub(super) fn copied(&mut self, objects: u64, bytes: u64, age: Option<u8>) {
        self.objects += objects;
        let sum = age.map_or(&mut self.promoted_bytes, |age| &mut self.survived[usize::from(age)]);
        *sum += objects * bytes;
    }

    /// Adds the statistics of another worker.
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
