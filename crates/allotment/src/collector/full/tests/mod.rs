//! The full collection against a naive model of the object graph.

mod claims;
pub(in crate::collector) mod graph;
mod humongous;
pub(in crate::collector) mod model;
mod pins;
pub(in crate::collector) mod program;
mod runs;
mod scenarios;

use super::*;
use crate::Heap;
use crate::collector::work::{Gang, Workers};
use crate::object::{Element, Shape, ShapeRef, SlotKind};
use crate::options::CollectorKind;
use std::cell::Cell;
use std::ptr::NonNull;

/// The numbers of workers that tests use in turn.
pub(in crate::collector) const WORKERS: std::ops::RangeInclusive<usize> = 1..=4;

/// Bytes of a region in most tests.
const REGION: usize = 4096;

/// Pages of the tables.
const PAGES: Pages = Pages { huge: true, touched_for: 0, touching: 1 };

/// A tiny heap.
fn heap(regions: usize) -> Heap {
    let builder = Heap::builder().test_geometry(REGION, regions).use_transparent_huge_pages(false);
    builder.collector(CollectorKind::MarkCompact).build().expect("a heap")
}

/// The tools of a collection.
pub(in crate::collector) struct Tools {
    tables: SideTables,
    pub(in crate::collector) gang: Gang,
    pub(in crate::collector) workers: usize,
    runs: Cell<usize>,
}

impl Tools {
    /// The workers for an evacuation; each other time the caller leaves the work to them.
    pub(in crate::collector) fn workers(&self) -> Workers<'_> {
        let before = self.runs.replace(self.runs.get() + 1);
        if self.workers > 1 && before.is_multiple_of(2) && self.gang.ready_beside(self.workers) {
            Workers::beside(&self.gang, self.workers)
        } else {
            Workers::new(&self.gang, self.workers)
        }
    }
}

/// Tools for the heap, with mark stacks of these limits.
fn tools(heap: &Heap, workers: usize, piece: usize, pieces: usize) -> Tools {
    let mut tables = SideTables::new(heap.base(), heap.geometry().heap_bytes(), PAGES).expect("tables");
    tables.stack = StackLimits { piece, pieces };
    let gang = Gang::new("test-gc", workers);
    assert_eq!(gang.ready(workers), workers);
    Tools { tables, gang, workers, runs: Cell::new(0) }
}

/// Collects with no thread attached; `slots` are root slots.
fn collect_detached(
    heap: &Heap,
    tools: &mut Tools,
    slots: &mut [(u64, SlotKind)],
    pinned: &[usize],
    compaction: Compaction,
) -> FullStatistics {
    let shared = &heap.shared;
    let _detached = shared.threads.registry.detached().expect("no thread is attached");
    let roots = Roots {
        slots: &mut |visitor| slots.iter_mut().for_each(|(slot, kind)| visitor.slot(slot, *kind)),
        pinned: &mut |pin| pinned.iter().copied().for_each(pin),
    };
    let workers = Workers::new(&tools.gang, tools.workers);
    // SAFETY: no thread is attached, tests write only addresses of objects to slots, and neither
    // `slots` nor `pinned` unwinds.
    let statistics = unsafe { collect(&shared.space, &mut tools.tables, roots, compaction, workers) };
    statistics.expect("memory for tables")
}
