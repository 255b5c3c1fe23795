//! The valid parameters, and the sizes of the heaps for them.

use super::super::collectors::{self, by_workers, full_heap, is_concurrent};
use super::super::memory;
use super::node::BYTES;
use crate::harness::{Case, check_threads};
use allotment::Heap;
use anyhow::ensure;

/// The smallest MaxHeapSize, in bytes.
const MIN_HEAP: usize = 2560 << 10;

/// Bytes that buffers and open regions may leave unused beside the objects.
const SLACK: usize = 16 << 20;

/// Dead objects beside each live one.
const MAX_GARBAGE: usize = 100;

/// Bytes of the heap of `stop`: all its threads have a buffer, and some regions are left.
pub(super) const STOP_HEAP: usize = 256 << 20;

/// The heap of a case, with its collector. Its pages are touched in advance, so the first round
/// through the heap is like all later ones.
pub(super) fn heap(case: &Case, bytes: usize) -> anyhow::Result<Heap> {
    heap_by(case.text("collector")?, bytes, 0)
}

/// A heap with its collector, collected by `workers` workers; 0 means the number in the options.
pub(super) fn heap_by(collector: &str, bytes: usize, workers: u64) -> anyhow::Result<Heap> {
    let heap = full_heap(collector, bytes)?.always_pre_touch(true);
    Ok(by_workers(heap, workers)?.build()?)
}

/// The heap of modes that keep almost no objects.
pub(super) fn small_heap(case: &Case) -> anyhow::Result<Heap> {
    heap(case, SLACK)
}

/// A small heap for tests.
#[cfg(test)]
pub(super) fn test_heap() -> Heap {
    heap_by("mark-compact", SLACK, 0).unwrap()
}

/// Bytes of a heap for the arrays and lists of `threads` threads; saturates at the largest number.
pub(super) fn slots_heap(length: usize, threads: usize) -> usize {
    length.saturating_mul(BYTES + BYTES / 4).saturating_mul(threads).saturating_add(SLACK)
}

/// Bytes of a heap that holds `live` bytes of nodes, `garbage` dead nodes beside each live one, and
/// an array of them all, without a collection meanwhile. A concurrent collector begins its first
/// cycles when less than 70 % of the heap are free (`ShenandoahInitFreeThreshold`).
pub(super) fn tree_heap(collector: &str, live: usize, garbage: usize) -> usize {
    let nodes = live.saturating_mul(1 + garbage);
    let heap = nodes.saturating_add(nodes / 16).saturating_add(live / 4).saturating_add(SLACK);
    if is_concurrent(collector) { heap.saturating_mul(4) } else { heap }
}

/// Checks that a case can be measured.
///
/// # Errors
/// Why it cannot.
pub(super) fn check(case: &Case) -> anyhow::Result<()> {
    let (mode, collector) = (case.mode.as_str(), case.text("collector")?);
    let collects = ["alloc", "collect"].contains(&mode);
    ensure!(collector != "epsilon" || !collects, "epsilon collects nothing, and {mode} needs collections");
    let needed = match mode {
        "alloc" => {
            let heap = case.size("heap")?;
            ensure!(heap >= MIN_HEAP, "a heap of {heap} bytes: heaps from 2560k on work");
            heap
        }
        "load" | "store" | "list" => {
            let length = case.size("length")?;
            ensure!(length > 0, "an empty array or list has nothing to look at");
            slots_heap(length, case.threads)
        }
        "stop" => {
            let mutators = case.size("mutators")?;
            ensure!(mutators > 0, "no mutators: there is no thread to stop");
            check_threads(mutators, "mutators")?;
            STOP_HEAP
        }
        "collect" => {
            let (live, garbage) = (case.size("live")?, case.size("garbage")?);
            ensure!(live >= BYTES, "{live} live bytes: a node has {BYTES} bytes");
            ensure!(
                garbage <= MAX_GARBAGE,
                "{garbage} dead objects beside each live one: at most {MAX_GARBAGE} work"
            );
            by_workers(Heap::builder(), case.count("workers")?)?;
            ensure!(
                live / BYTES <= u32::MAX as usize,
                "{live} live bytes are more than 2^32 nodes, and more than 128g of memory"
            );
            tree_heap(collector, live, garbage)
        }
        _ => SLACK,
    };
    memory::fits(&format!("heaps of {mode}"), needed, "smaller ones")?;
    collectors::check(collector, needed)
}
