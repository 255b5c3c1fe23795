//! The full collection against a naive model of the object graph.

mod graph;
mod humongous;
mod model;
mod pins;
mod program;
mod scenarios;

use super::*;
use crate::Heap;
use crate::object::{Element, Shape, ShapeRef, SlotKind};
use std::ptr::NonNull;

/// Bytes of a region in most tests.
const REGION: usize = 4096;

/// A tiny heap.
fn heap(regions: usize) -> Heap {
    let builder = Heap::builder().test_geometry(REGION, regions).use_transparent_huge_pages(false);
    builder.build().expect("a heap")
}

/// Tables for the heap, with a mark stack of these limits.
fn tables(heap: &Heap, piece: usize, pieces: usize) -> SideTables {
    let mut tables = SideTables::new(heap.base(), heap.geometry().heap_bytes()).expect("tables");
    tables.stack = stack::Limits { piece, pieces };
    tables
}

/// Collects with no thread attached; `slots` are root slots.
fn collect_detached(
    heap: &Heap,
    tables: &mut SideTables,
    slots: &mut [(u64, SlotKind)],
    pinned: &[usize],
    compaction: Compaction,
) -> Statistics {
    let shared = &heap.shared;
    let collection = || {
        let roots = Roots {
            slots: &mut |visitor| slots.iter_mut().for_each(|(slot, kind)| visitor.slot(slot, *kind)),
            pinned: &mut |pin| pinned.iter().copied().for_each(pin),
        };
        let subject = Subject { free: &shared.free, shapes: &shared.shapes };
        // SAFETY: no thread is attached, tests write only addresses of objects to slots, and neither `slots` nor `pinned` unwinds.
        unsafe { collect(subject, tables, roots, compaction) }
    };
    shared.registry.while_detached(collection).expect("no thread is attached").expect("memory for tables")
}
