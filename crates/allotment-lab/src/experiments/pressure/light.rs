//! Allocation that is not even: `innocent`, where a thread that allocates little runs beside two
//! that allocate much, and `burst`, where a thread rests and hurries in turn.

use super::node::{self, garbage, node};
use super::shot::Part;
use super::watch::Watch;
use crate::experiments::memory::advised;
use allotment::{alloc, root};
use std::thread;
use std::time::Duration;

/// Threads that allocate as fast as they can.
const GREEDY: usize = 2;

/// Of this many bytes of the heap, one is in the list of a thread: 9 %.
const LIVE_OF: usize = 11;

/// Nodes of an operation of a greedy thread.
const GREEDY_NODES: usize = 50_000;

/// Nodes of an operation of the light thread, and its rest before each.
const LIGHT_NODES: usize = 10;
const REST: Duration = Duration::from_millis(1);

/// Nodes of an operation of a burst, and of an operation in the rest between bursts.
const BURST_NODES: usize = 10_000;
const CALM_NODES: usize = 100;

/// The rest after each operation between bursts.
const CALM: Duration = Duration::from_millis(5);

/// The time between two bursts is this part of the shot.
const REST_OF: u32 = 12;

/// What fits a heap that is full too early.
const FITS: &str = "the heap is full before the shot: a larger --heap fits";

/// Nodes of a list that lives in a heap of `heap` bytes.
fn nodes(heap: usize) -> usize {
    heap / LIVE_OF / node::BYTES
}

/// Greedy threads, each with a list that lives, and the light thread, whose operations are timed.
pub(super) fn innocent(lasts: Duration, heap: usize) -> Vec<Part> {
    let greedy = (0..GREEDY).map(|_| -> Part {
        Box::new(move |mutator, start| {
            root!(mutator, lives = advised(node::list(mutator, nodes(heap)), FITS)?);
            let Some(began) = mutator.blocking(|| start.wait()) else { return Ok(None) };
            let mut watch = Watch::new(began, lasts);
            while watch.goes_on() {
                watch.note(garbage(mutator, GREEDY_NODES));
            }
            node::check(mutator, lives, nodes(heap))?;
            Ok(Some(watch.done))
        })
    });
    let light: Part = Box::new(move |mutator, start| {
        let Some(began) = mutator.blocking(|| start.wait()) else { return Ok(None) };
        let mut watch = Watch::new(began, lasts);
        while watch.goes_on() {
            mutator.blocking(|| thread::sleep(REST));
            let made = |key| alloc!(mutator, node(None, key)).map(drop);
            watch.time(|| (0..LIGHT_NODES as u64).try_for_each(made));
        }
        // The work of this case is that of the greedy threads.
        watch.done.work = 0;
        Ok(Some(watch.done))
    });
    greedy.chain([light]).collect()
}

/// A thread with a list that lives. The thread rests, and then allocates three quarters of the heap
/// at once, again and again.
pub(super) fn burst(lasts: Duration, heap: usize) -> Vec<Part> {
    let part: Part = Box::new(move |mutator, start| {
        root!(mutator, lives = advised(node::list(mutator, nodes(heap)), FITS)?);
        let Some(began) = mutator.blocking(|| start.wait()) else { return Ok(None) };
        let mut watch = Watch::new(began, lasts);
        while watch.goes_on() {
            let end = watch.left().saturating_sub(lasts / REST_OF);
            while watch.left() > end {
                if garbage(mutator, CALM_NODES).is_err() {
                    watch.done.failed += 1;
                }
                mutator.blocking(|| thread::sleep(CALM));
            }
            for _ in 0..(heap / 4 * 3 / (BURST_NODES * node::BYTES)).max(1) {
                watch.time(|| garbage(mutator, BURST_NODES));
            }
        }
        node::check(mutator, lives, nodes(heap))?;
        Ok(Some(watch.done))
    });
    vec![part]
}
