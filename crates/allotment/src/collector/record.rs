//! The record of one collection, as data and as the line known from HotSpot's `-Xlog:gc`.
//!
//! A [`CollectionRecord`] has the numbers of every collection. The numbers of one kind of
//! collection are in one of three parts: [`YoungDetails`], [`FullDetails`], [`CycleDetails`].
//! [`SizingDetails`] are for the log alone: a program that reads records cannot act on the rules of
//! a collector's sizes.

mod cycle;
mod details;
mod full;
mod sizing;
mod sums;
#[cfg(all(test, not(loom)))]
mod tests;
mod timeline;
mod workers;
mod young;

pub use cycle::{CycleDetails, CycleScope, GenerationsDetails, OldMarking};
pub(crate) use details::LogLevel;
pub(super) use details::uncommitted_line;
pub(crate) use sizing::{EnlargedEden, IdleLook, LastPart, SizingDetails};
pub use sums::CollectionSums;
pub(super) use timeline::{drawn_between_cycles, drawn_without_record};
pub use workers::WantedWorkers;
pub use young::YoungDetails;

pub use super::full::FullDetails;
pub use super::kernel::Phase;

use crate::mutator::{Cause, GcOverhead, Outcome};
use crate::tlab::statistics::TlabTotals;
use std::fmt;
use std::time::Duration;

/// The part of the heap that a collection looked at, and whether threads ran meanwhile:
/// [`CollectionRecord::kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CollectionKind {
    /// Eden and survivors, while every thread was stopped.
    Young,
    /// The whole heap, while every thread was stopped.
    Full,
    /// The whole heap, while threads ran except in short pauses.
    Concurrent,
    /// The whole heap, in a concurrent cycle that was finished while every thread was stopped.
    Degenerated,
}

impl fmt::Display for CollectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            CollectionKind::Young => "Pause Young",
            CollectionKind::Full => "Pause Full",
            CollectionKind::Concurrent => "Concurrent",
            CollectionKind::Degenerated => "Pause Degenerated",
        })
    }
}

/// The details that only one kind of collection has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Details {
    /// Of a young collection.
    Young(YoungDetails),
    /// Of a full collection.
    Full(FullDetails),
    /// Of a concurrent cycle.
    Cycle(Box<CycleDetails>),
}

/// One collection that ended. [`Heap::collections`](crate::Heap::collections) keeps the latest, and
/// [`HeapBuilder::on_collection`](crate::heap::HeapBuilder::on_collection) gets each.
///
/// Prints as `GC(3) Pause Full (Allocation Failure) 24M->10M(64M) 12.345ms`: used before and after,
/// committed in parentheses. Of a concurrent cycle two times are printed: how long it worked, and
/// the sum of its pauses, `GC(3) Concurrent (Trigger) 24M->10M(64M) cycle 31.200ms, pauses 0.345ms`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CollectionRecord {
    /// The collection's number, from 0.
    pub number: u64,
    /// The reason why the collection began.
    pub cause: Cause,
    /// The age of the heap when the collection began: when its pause began, without the time to the
    /// safepoint, or when the concurrent cycle began.
    pub start: Duration,
    /// Time for which all threads stood still. For a concurrent cycle, the sum of its pauses.
    pub pause: Duration,
    /// Time from the request to stop until the last thread had stopped.
    pub time_to_safepoint: Duration,
    /// The parts of the pause, in order; of a concurrent cycle, its pauses and what ran between
    /// them.
    pub phases: Vec<Phase>,
    /// Number of threads that worked on the collection.
    pub workers: usize,
    /// The number of threads that should have worked on the collection, and the reason.
    pub wanted: WantedWorkers,
    /// Bytes handed out as buffers and objects, before the collection.
    pub used_before: usize,
    /// Bytes handed out as buffers and objects, after the collection.
    pub used_after: usize,
    /// Bytes of the heap that are backed by memory, after the collection.
    pub committed: usize,
    /// Number of live objects found.
    pub live_objects: usize,
    /// Bytes of live objects, headers included.
    pub live_bytes: usize,
    /// Bytes of objects that moved.
    pub moved_bytes: usize,
    /// Weak fields and roots that were cleared.
    pub weak_cleared: usize,
    /// Bytes given back to the system.
    pub uncommitted: usize,
    /// Counts of all threads' buffers since the collection before, or since the heap was reset.
    /// Includes threads that have detached meanwhile.
    pub buffers: TlabTotals,
    /// The part of the record that only a collection of its kind has.
    pub(crate) details: Details,
    /// The decisions around the collection; `None` for a collector that does not adapt sizes.
    pub(crate) sizing: Option<Box<SizingDetails>>,
    /// Cost and yield of collections so far, this one included; `None` without
    /// `UseGCOverheadLimit`.
    pub overhead: Option<GcOverhead>,
}

impl CollectionRecord {
    /// The part of the heap that the collection looked at.
    pub fn kind(&self) -> CollectionKind {
        match &self.details {
            Details::Young(_) => CollectionKind::Young,
            Details::Full(_) => CollectionKind::Full,
            Details::Cycle(cycle) if cycle.degenerated.is_some() => CollectionKind::Degenerated,
            Details::Cycle(_) => CollectionKind::Concurrent,
        }
    }

    /// The times for which all threads stood still, in order: one, or of a concurrent cycle each.
    /// The times to safepoint are included.
    pub fn pauses(&self) -> impl Iterator<Item = Duration> + '_ {
        let of_cycle = self.cycle().map(|cycle| cycle.pauses.iter().map(|pause| pause.time));
        let single = if of_cycle.is_none() { Some(self.pause) } else { None };
        single.into_iter().chain(of_cycle.into_iter().flatten())
    }

    /// The details of a young collection; `None` for other collections.
    pub fn young(&self) -> Option<&YoungDetails> {
        let Details::Young(young) = &self.details else { return None };
        Some(young)
    }

    /// The details of a full collection; `None` for other collections.
    pub fn full(&self) -> Option<&FullDetails> {
        let Details::Full(full) = &self.details else { return None };
        Some(full)
    }

    /// The details of a concurrent cycle, degenerated or not; `None` for other collections.
    pub fn cycle(&self) -> Option<&CycleDetails> {
        let Details::Cycle(cycle) = &self.details else { return None };
        Some(cycle)
    }

    /// The age of the heap when the collection ended.
    pub(super) fn end(&self) -> Duration {
        let beside = self.cycle().map_or(Duration::ZERO, |cycle| cycle.concurrent_time);
        self.start + self.pause + beside
    }

    /// Whether the allocation that needed this collection fails, because collections cost too much
    /// for the memory they free.
    pub(super) fn exceeds_limit(&self) -> bool {
        self.overhead.is_some_and(|overhead| overhead.exceeded)
    }

    /// The outcome of a stop that made these records, for the thread that asked for the stop and
    /// found `room` or not.
    pub(super) fn outcome_of(records: &[CollectionRecord], room: bool) -> Outcome {
        match records.last().map(|last| last.overhead) {
            None if !room => Outcome::Refused,
            Some(Some(overhead)) if overhead.exceeded => Outcome::OverLimit(overhead),
            _ => Outcome::Collected,
        }
    }

    /// The text after the name of the kind, and after the names of phases.
    fn suffix(&self) -> String {
        self.cycle().map_or_else(String::new, CycleDetails::suffix)
    }
}

impl fmt::Display for CollectionRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "GC({}) {}{} ({}) {}M->{}M({}M) ",
            self.number,
            self.kind(),
            self.suffix(),
            self.cause,
            self.used_before >> 20,
            self.used_after >> 20,
            self.committed >> 20,
        )?;
        match self.cycle() {
            Some(cycle) => {
                let whole = cycle.concurrent_time + self.pause;
                write!(f, "cycle {}, pauses {}", Milliseconds(whole), Milliseconds(self.pause))
            }
            None => write!(f, "{}", Milliseconds(self.pause)),
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{:.3}ms", .0.as_secs_f64() * 1e3)]
struct Milliseconds(Duration);
