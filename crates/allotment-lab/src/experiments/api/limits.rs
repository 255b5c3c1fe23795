//! The valid parameters, and the sizes of the heaps for them.

use super::super::collectors::{
    by_workers, heap_of, is_concurrent, refusal as collector_refusal, workers_refusal,
};
use super::super::memory;
use super::node::BYTES;
use crate::harness::{Case, ParameterError, too_many_threads};
use allotment::Heap;

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

/// The same, collected by `workers` workers; 0 means the number in the options.
pub(super) fn heap_by(collector: &str, bytes: usize, workers: u64) -> anyhow::Result<Heap> {
    let heap = heap_of(collector, bytes)?.initial_heap_size(bytes).always_pre_touch(true);
    Ok(by_workers(heap, workers)?.build()?)
}

/// The heap of modes that keep almost no objects.
pub(super) fn small_heap(case: &Case) -> anyhow::Result<Heap> {
    heap(case, SLACK)
}

/// Such a heap for tests.
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

/// Why a case cannot be measured; `None` if it can.
pub(super) fn refusal(case: &Case) -> Option<String> {
    // A missing parameter is reported when the case runs.
    checked(case).unwrap_or(None)
}

fn checked(case: &Case) -> Result<Option<String>, ParameterError> {
    if case.text("collector")? == "epsilon" && ["alloc", "collect"].contains(&case.mode.as_str()) {
        return Ok(Some(format!("epsilon collects nothing, and {} needs collections", case.mode)));
    }
    let needed = match case.mode.as_str() {
        "alloc" => {
            let heap = case.size("heap")?;
            if heap < MIN_HEAP {
                return Ok(Some(format!("a heap of {heap} bytes: heaps from 2560k on work")));
            }
            heap
        }
        "load" | "store" | "list" => {
            let length = case.size("length")?;
            if length == 0 {
                return Ok(Some("an empty array or list has nothing to look at".into()));
            }
            slots_heap(length, case.threads)
        }
        "stop" => {
            let mutators = case.size("mutators")?;
            if mutators == 0 {
                return Ok(Some("no mutators: there is nobody to stop".into()));
            }
            if let Some(refused) = too_many_threads(mutators, "mutators") {
                return Ok(Some(refused));
            }
            STOP_HEAP
        }
        "collect" => {
            let (live, garbage) = (case.size("live")?, case.size("garbage")?);
            if live < BYTES {
                return Ok(Some(format!("{live} live bytes: a node has {BYTES} bytes")));
            }
            if garbage > MAX_GARBAGE {
                return Ok(Some(format!(
                    "{garbage} dead objects beside each live one: at most {MAX_GARBAGE} work"
                )));
            }
            if let Some(refused) = workers_refusal(case.count("workers")?) {
                return Ok(Some(refused));
            }
            if live / BYTES > u32::MAX as usize {
                return Ok(Some(format!(
                    "{live} live bytes are more than 2^32 nodes, and more than 128g of memory"
                )));
            }
            tree_heap(case.text("collector")?, live, garbage)
        }
        _ => SLACK,
    };
    if let Err(why) = memory::fits(&format!("heaps of {}", case.mode), needed, "smaller ones") {
        return Ok(Some(why));
    }
    Ok(collector_refusal(case.text("collector")?, needed))
}
