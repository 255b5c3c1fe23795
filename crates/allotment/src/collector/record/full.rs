//! The part of a record that only a full collection has.

use super::workers::imbalance;
use super::{CollectionRecord, Details, WantedWorkers};
use crate::collector::full::Statistics;
use crate::mutator::{Cause, World};
use std::time::Duration;

/// The details of a full collection: [`CollectionRecord::full`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FullDetails {
    /// Regions whose objects stayed in place because there was too little garbage among them.
    pub regions_left_alone: usize,
    /// Regions that became free, those of humongous objects included.
    pub regions_freed: usize,
    /// Humongous objects that died.
    pub humongous_freed: usize,
    /// Runs of regions that moved: humongous objects, in a collection of the last resort.
    pub runs_moved: usize,
    /// Regions of these runs.
    pub run_regions_moved: usize,
    /// Bytes of the contents of these runs.
    pub run_bytes_moved: usize,
    /// Times a worker's stack could not grow; the heap was then searched for the entries that did
    /// not fit.
    pub mark_overflows: u64,
    /// Pieces of work that one worker took from another during marking.
    pub steals: u64,
    /// Objects that each worker marked, in the order in which workers finished. An object marked by
    /// two workers at the same moment counts for both.
    pub worker_objects: Vec<u64>,
}

impl FullDetails {
    /// The busiest worker's objects, relative to an even share: 1 is perfect.
    pub fn imbalance(&self) -> f64 {
        imbalance(&self.worker_objects)
    }
}

impl CollectionRecord {
    /// The record of a full collection that just ended; the caller fills in its start and pause.
    pub(in crate::collector) fn of_full(
        world: &World<'_>,
        cause: Cause,
        (wanted, done): (WantedWorkers, Statistics),
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
            details: Details::Full(FullDetails {
                regions_left_alone: done.regions_left_alone,
                regions_freed: done.regions_freed,
                humongous_freed: done.humongous_freed,
                runs_moved: done.runs_moved,
                run_regions_moved: done.run_regions_moved,
                run_bytes_moved: done.run_bytes_moved,
                mark_overflows: done.mark_overflows,
                steals: done.steals,
                worker_objects: done.worker_objects,
            }),
            sizing: None,
            overhead: None,
        }
    }
}
