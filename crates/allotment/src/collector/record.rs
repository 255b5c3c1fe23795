//! What one collection did, as data and as the line that readers of HotSpot's `-Xlog:gc` know.

use super::full::Statistics;
use super::sizing::{Collection, Decision};
use crate::mutator::{Cause, World};
use crate::object::MAX_AGE;
use crate::tlab::statistics::Totals;
use std::fmt;
use std::time::Duration;

/// What a collection looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CollectionKind {
    /// Eden and survivors, while every thread was stopped.
    Young,
    /// The whole heap, while every thread was stopped.
    Full,
}

impl fmt::Display for CollectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            CollectionKind::Young => "Pause Young",
            CollectionKind::Full => "Pause Full",
        })
    }
}

/// A part of a collection and the time it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Its name.
    pub name: &'static str,
    /// How long it took.
    pub time: Duration,
}

/// One collection.
///
/// Prints as `GC(3) Pause Full (Allocation Failure) 24M->10M(64M) 12.345ms`: used before and after, committed
/// in parentheses.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectionRecord {
    /// Its number, from 0.
    pub number: u64,
    /// What it looked at.
    pub kind: CollectionKind,
    /// Why it began.
    pub cause: Cause,
    /// When the pause began, since the heap was made.
    pub start: Duration,
    /// How long all threads stood still.
    pub pause: Duration,
    /// From the request to stop until the last thread had.
    pub time_to_safepoint: Duration,
    /// The parts of the pause, in order.
    pub phases: Vec<Phase>,
    /// Threads that worked on it.
    pub workers: usize,
    /// Bytes handed out as buffers and objects, before.
    pub used_before: usize,
    /// The same, after.
    pub used_after: usize,
    /// Bytes with memory behind them, after.
    pub committed: usize,
    /// Objects that were found alive.
    pub live_objects: usize,
    /// Their bytes, headers included.
    pub live_bytes: usize,
    /// Bytes of objects that moved.
    pub moved_bytes: usize,
    /// Weak fields and roots that were cleared.
    pub weak_cleared: usize,
    /// Bytes given back to the system.
    pub uncommitted: usize,
    /// What the buffers of all threads did since the collection before, or since the heap was reset; of threads that have
    /// detached meanwhile, too.
    pub buffers: Totals,
    /// What only a young collection has to tell.
    pub young: Option<YoungRecord>,
    /// What was decided after it, by a collector that adapts sizes.
    pub sizing: Option<Box<SizingRecord>>,
}

/// What a young collection did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YoungRecord {
    /// Bytes that stayed young, by the number of collections they have survived now.
    pub survived_bytes: [usize; MAX_AGE as usize + 1],
    /// Bytes that were copied to old regions.
    pub promoted_bytes: usize,
    /// Bytes that became old where they were: pinned, humongous, or for want of memory.
    pub kept_bytes: usize,
    /// Age at which an object became old.
    pub tenuring_threshold: u8,
    /// Regions that were taken for allocation since the collection before.
    pub eden_regions: usize,
    /// Bytes of workers' buffers that no object was put into.
    pub plab_waste_bytes: usize,
    /// Pieces of work that one worker took from another.
    pub steals: u64,
    /// Cards of old regions that were looked at.
    pub cards_scanned: usize,
    /// Those that were dirty.
    pub cards_dirty: usize,
    /// Objects that each worker copied, in the order they finished.
    pub worker_objects: Vec<u64>,
}

impl YoungRecord {
    /// What the busiest worker copied, in relation to what each would have, if all had copied as many: 1 is perfect.
    pub fn imbalance(&self) -> f64 {
        let (most, sum) = (self.worker_objects.iter().max(), self.worker_objects.iter().sum::<u64>());
        let mean = sum as f64 / self.worker_objects.len().max(1) as f64;
        if sum == 0 { 1.0 } else { most.copied().unwrap_or(0) as f64 / mean }
    }
}

/// What was decided after a collection, and from what.
#[derive(Clone, Debug, PartialEq)]
pub struct SizingRecord {
    /// The collection, as the decision saw it.
    pub collection: Collection,
    /// The decision, with its reasons.
    pub decision: Decision,
}

impl CollectionRecord {
    /// The record of a full collection that just ended; its start and pause are the caller's to fill in.
    pub(super) fn full(
        world: &World<'_>,
        cause: Cause,
        done: &Statistics,
        uncommitted: usize,
    ) -> CollectionRecord {
        let free = &world.shared().free;
        let phase = |name, ns| Phase { name, time: Duration::from_nanos(ns) };
        CollectionRecord {
            number: 0,
            kind: CollectionKind::Full,
            cause,
            start: Duration::ZERO,
            pause: Duration::ZERO,
            time_to_safepoint: world.time_to_safepoint(),
            phases: vec![
                phase("Mark", done.mark_ns),
                phase("Plan", done.plan_ns),
                phase("Update", done.update_ns),
                phase("Slide", done.slide_ns),
                phase("Reclaim", done.reclaim_ns),
            ],
            workers: done.workers,
            used_before: done.used_before,
            used_after: done.used_after,
            committed: free.committed_regions() << free.table().geometry().region_shift,
            live_objects: done.live_objects as usize,
            live_bytes: done.live_bytes as usize,
            moved_bytes: done.moved_bytes as usize,
            weak_cleared: done.weak_cleared as usize,
            uncommitted,
            buffers: world.end_buffer_count(),
            young: None,
            sizing: None,
        }
    }

    /// One line for each phase, as `-Xlog:gc+phases` has them: `GC(3) Mark 4.100ms`.
    pub fn phase_lines(&self) -> impl Iterator<Item = String> + '_ {
        self.phases
            .iter()
            .map(|phase| format!("GC({}) {} {}", self.number, phase.name, Milliseconds(phase.time)))
    }
}

impl CollectionRecord {
    /// What `-Xlog:gc+tlab`, `gc+age`, `gc+cards`, `gc+plab`, `gc+task` and `gc+ergo` would say, a line each.
    pub fn detail_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.phase_lines().collect();
        let number = self.number;
        let mut line = |text: fmt::Arguments<'_>| lines.push(format!("GC({number}) {text}"));
        line(format_args!("{}", self.buffers));
        if let Some(young) = &self.young {
            for (age, bytes) in young.survived_bytes.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
                line(format_args!("Age {age}: {bytes} bytes"));
            }
            line(format_args!(
                "Promoted {} bytes, kept in place {}, threshold {}",
                young.promoted_bytes, young.kept_bytes, young.tenuring_threshold
            ));
            line(format_args!("Cards: {} dirty of {}", young.cards_dirty, young.cards_scanned));
            line(format_args!("PLAB waste {} bytes", young.plab_waste_bytes));
            line(format_args!(
                "Workers: {}, imbalance {:.2}, steals {}",
                self.workers,
                young.imbalance(),
                young.steals
            ));
        }
        if let Some(sizing) = &self.sizing {
            line(format_args!("{}", sizing.collection));
            line(format_args!("{}", sizing.decision));
        }
        lines
    }
}

impl fmt::Display for CollectionRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "GC({}) {} ({}) {}M->{}M({}M) {}",
            self.number,
            self.kind,
            self.cause,
            self.used_before >> 20,
            self.used_after >> 20,
            self.committed >> 20,
            Milliseconds(self.pause)
        )
    }
}

struct Milliseconds(Duration);

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}ms", self.0.as_secs_f64() * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_prints_as_the_line_users_of_gc_logs_know() {
        let record = CollectionRecord {
            number: 3,
            kind: CollectionKind::Full,
            cause: Cause::AllocationFailure,
            start: Duration::from_secs(1),
            pause: Duration::from_micros(12_345),
            time_to_safepoint: Duration::from_micros(20),
            phases: vec![Phase { name: "Mark", time: Duration::from_micros(4100) }],
            workers: 1,
            used_before: 24 << 20,
            used_after: (11 << 20) - 1,
            committed: 64 << 20,
            live_objects: 7,
            live_bytes: 10 << 20,
            moved_bytes: 0,
            weak_cleared: 0,
            uncommitted: 0,
            buffers: Totals::default(),
            young: None,
            sizing: None,
        };
        assert_eq!(record.to_string(), "GC(3) Pause Full (Allocation Failure) 24M->10M(64M) 12.345ms");
        assert_eq!(record.phase_lines().collect::<Vec<_>>(), ["GC(3) Mark 4.100ms"]);
        let totals = "GC(3) TLAB totals: thrds: 0  refills: 0 max: 0 slow allocs: 0 max 0 waste:  0.0% \
             gc: 0B max: 0B slow: 0B max: 0B";
        assert_eq!(record.detail_lines(), ["GC(3) Mark 4.100ms", totals]);
    }

    #[test]
    fn workers_are_in_balance_when_each_copied_as_many() {
        let young = |worker_objects: &[u64]| YoungRecord {
            survived_bytes: [0; MAX_AGE as usize + 1],
            promoted_bytes: 0,
            kept_bytes: 0,
            tenuring_threshold: 15,
            eden_regions: 1,
            plab_waste_bytes: 0,
            steals: 0,
            cards_scanned: 0,
            cards_dirty: 0,
            worker_objects: worker_objects.to_vec(),
        };
        let table: [(&[u64], f64); 5] =
            [(&[], 1.0), (&[0, 0], 1.0), (&[5], 1.0), (&[7, 7, 7], 1.0), (&[30, 0, 10, 0], 3.0)];
        for (objects, imbalance) in table {
            assert_eq!(young(objects).imbalance(), imbalance, "{objects:?}");
        }
    }
}
