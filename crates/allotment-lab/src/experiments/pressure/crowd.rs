//! Many threads or many handles: `threads`, `rootsmany` and `gcstorm`.

use super::node::{self, garbage, node};
use super::shot::Part;
use super::watch::Watch;
use crate::experiments::memory::advised;
use allotment::{Root, alloc, root};
use anyhow::ensure;
use std::thread;
use std::time::Duration;

/// Threads that allocate beside those that sleep.
const BUSY: usize = 2;

/// Nodes of an operation of a thread that allocates.
const NODES: usize = 20_000;

/// A sleep lasts this long, and up to 99 ms more.
const SLEEP: Duration = Duration::from_millis(300);

/// A sleeping thread replaces its node after this many sleeps.
const RENEWED_AFTER: usize = 4;

/// Threads that ask for a collection at once.
const ASKING: usize = 16;

/// Of this many bytes of the heap, one lives while threads ask for a collection: 12 %.
const LIVE_OF: usize = 8;

/// What fits a heap that is full too early.
const FITS: &str = "the heap is full before the shot: a larger --heap fits";

/// Threads that allocate, and threads that keep a node and sleep nearly always.
pub(super) fn threads(lasts: Duration, sleepers: usize) -> Vec<Part> {
    let busy = (0..BUSY).map(|_| -> Part {
        Box::new(move |mutator, start| {
            let Some(began) = mutator.blocking(|| start.wait()) else { return Ok(None) };
            let mut watch = Watch::new(began, lasts);
            while watch.goes_on() {
                watch.time(|| garbage(mutator, NODES));
            }
            Ok(Some(watch.done))
        })
    });
    let sleeping = (0..sleepers as u64).map(|key| -> Part {
        Box::new(move |mutator, start| {
            root!(mutator, mut kept = advised(alloc!(mutator, node(None, key)), FITS)?);
            let Some(began) = mutator.blocking(|| start.wait()) else { return Ok(None) };
            let mut watch = Watch::new(began, lasts);
            for sleeps in 1.. {
                let sleep = (SLEEP + Duration::from_millis(key % 100)).min(watch.left());
                mutator.blocking(|| thread::sleep(sleep));
                let found = kept.get(mutator).key;
                ensure!(
                    found == key,
                    "the node of a thread that slept had key {key}, and is found with {found}"
                );
                if !watch.goes_on() {
                    break;
                }
                if sleeps % RENEWED_AFTER == 0 {
                    match alloc!(mutator, node(None, key)) {
                        Ok(made) => kept.set(mutator, made),
                        Err(_) => watch.done.failed += 1,
                    }
                }
            }
            Ok(Some(watch.done))
        })
    });
    busy.chain(sleeping).collect()
}

/// A thread that holds `handles` roots, and allocates nodes that die at once.
pub(super) fn handles(lasts: Duration, handles: usize) -> Vec<Part> {
    let part: Part = Box::new(move |mutator, start| {
        let mut roots = Vec::with_capacity(handles);
        for key in 0..handles as u64 {
            let made = advised(alloc!(mutator, node(None, key)), FITS)?;
            roots.push(Root::new(mutator, made));
        }
        mutator.collect();
        let Some(began) = mutator.blocking(|| start.wait()) else { return Ok(None) };
        let mut watch = Watch::new(began, lasts);
        while watch.goes_on() {
            watch.time(|| garbage(mutator, NODES));
        }
        let wrong = roots.iter().zip(0..).filter(|(root, key)| root.get(mutator).key != *key).count();
        ensure!(wrong == 0, "{wrong} of {handles} handles refer to another node than before");
        Ok(Some(watch.done))
    });
    vec![part]
}

/// Threads that ask for a collection at once. One of them has a list that lives.
pub(super) fn requests(heap: usize) -> Vec<Part> {
    let asks = |index: usize| -> Part {
        Box::new(move |mutator, start| {
            let nodes = if index == 0 { heap / LIVE_OF / node::BYTES } else { 1 };
            root!(mutator, lives = advised(node::list(mutator, nodes), FITS)?);
            let Some(began) = mutator.blocking(|| start.wait()) else { return Ok(None) };
            let mut watch = Watch::new(began, Duration::ZERO);
            let mut collected = false;
            watch.time(|| {
                collected = mutator.collect();
                Ok(())
            });
            ensure!(collected, "the heap was asked for a collection, and made none");
            node::check(mutator, lives, nodes)?;
            Ok(Some(watch.done))
        })
    };
    (0..ASKING).map(asks).collect()
}
