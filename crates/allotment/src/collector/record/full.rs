//! The record of a full collection.

use super::workers::imbalance;
use super::{CollectionRecord, Details, WantedWorkers};
use crate::collector::full::{FullDetails, FullStatistics};
use crate::mutator::{Cause, World};
use std::time::Duration;

impl FullDetails {
    /// The busiest worker's objects, relative to an even share: 1 is perfect.
    pub fn imbalance(&self) -> f64 {
        imbalance(&self.worker_objects)
    }
}

impl CollectionRecord {
    /// The record of a full collection that just ended; the caller fills in the start and the
    /// pause.
    pub(in crate::collector) fn of_full(
        world: &World<'_>,
        cause: Cause,
        (wanted, done): (WantedWorkers, FullStatistics),
        uncommitted: usize,
    ) -> CollectionRecord {
        let free = &world.shared().space.free;
        CollectionRecord {
            number: 0,
            cause,
            start: Duration::ZERO,
            pause: Duration::ZERO,
            time_to_safepoint: world.take_time_to_safepoint(),
            phases: done.phases,
            workers: done.workers,
            wanted,
            used_before: done.used_before,
            used_after: done.used_after,
            committed: free.committed_bytes(),
            live_objects: done.live_objects as usize,
            live_bytes: done.live_bytes as usize,
            moved_bytes: done.moved_bytes as usize,
            weak_cleared: done.weak_cleared as usize,
            uncommitted,
            buffers: world.end_buffer_count(),
            details: Details::Full(done.details),
            sizing: None,
            overhead: None,
        }
    }
}
