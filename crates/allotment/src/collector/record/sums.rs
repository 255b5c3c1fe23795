//! Counts and sums over all collections of a heap, which only grow.

use super::{CollectionKind, CollectionRecord, OldMarking};
use std::time::Duration;

/// Counts and sums over all collections of a heap that ended:
/// [`Metrics::collections`](crate::stats::Metrics::collections). Each of them only grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectionSums {
    /// Collections of [`CollectionKind::Young`].
    pub young: u64,
    /// Collections of [`CollectionKind::Full`].
    pub full: u64,
    /// Cycles of [`CollectionKind::Concurrent`].
    pub concurrent: u64,
    /// Cycles of [`CollectionKind::Degenerated`].
    pub degenerated: u64,
    /// Cycles of both kinds with which the marking of old objects ended, in a heap with
    /// generations.
    pub old_markings: u64,
    /// The time for which cycles worked while threads ran, and that of the marking of old objects
    /// between cycles.
    pub concurrent_time: Duration,
    /// Slices of cycles' work that mutators did, because it would have come too late.
    pub assists: u64,
    /// The time of these slices, of all mutators together.
    pub assist_time: Duration,
    /// Times that a mutator waited, because it took memory faster than a cycle went on.
    pub pacing_waits: u64,
    /// The time of these waits, of all mutators together.
    pub pacing_time: Duration,
    /// Bytes of objects that moved.
    pub moved_bytes: u64,
}

impl CollectionSums {
    /// Adds a collection.
    pub(in crate::collector) fn add(&mut self, record: &CollectionRecord) {
        match record.kind() {
            CollectionKind::Young => self.young += 1,
            CollectionKind::Full => self.full += 1,
            CollectionKind::Concurrent => self.concurrent += 1,
            CollectionKind::Degenerated => self.degenerated += 1,
        }
        self.moved_bytes += record.moved_bytes as u64;
        let Some(cycle) = record.cycle() else { return };
        self.concurrent_time += cycle.concurrent_time;
        self.assists += cycle.assists;
        self.assist_time += cycle.assist_time;
        self.pacing_waits += cycle.pacing_waits;
        self.pacing_time += cycle.pacing_time;
        if let Some(generations) = &cycle.generations {
            self.old_markings += u64::from(generations.old_marking == OldMarking::Ended);
            self.concurrent_time += generations.old_marking_time;
        }
    }
}
