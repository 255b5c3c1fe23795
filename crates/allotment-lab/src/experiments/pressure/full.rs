//! Heaps that are nearly full of what lives: `giveup` and `tight`.

use super::node::{self, Node, garbage, node};
use super::shot::Part;
use super::watch::Watch;
use crate::experiments::memory::advised;
use crate::walk::Random;
use allotment::{Array, Local, Mutator, NewArray, OutOfMemory, Stack, alloc, root};
use std::time::Duration;

/// Of this many nodes that live in `giveup`, one is dropped before the beginning.
const DROPPED_OF: usize = 1000;

/// Allocations of an operation of `giveup`.
const ALLOCATIONS: usize = 100;

/// The percentage of the heap that lives in `tight`.
const LIVE_PERCENT: usize = 80;

/// Nodes of a chain of `tight`.
const CHAIN: usize = 1024;

/// Nodes of garbage between two chains.
const BETWEEN: usize = 1000;

/// What fits a heap that is full too early.
const FITS: &str = "the heap is full before the shot: a larger --heap fits";

/// A thread that fills the heap, drops a thousandth, and goes on with nodes that die at once.
pub(super) fn give_up(lasts: Duration) -> Vec<Part> {
    let part: Part = Box::new(move |mutator, start| {
        let mut kept: Stack<'_, Node> = Stack::new(mutator);
        while let Ok(made) = alloc!(mutator, node(None, 1)) {
            kept.push(mutator, made);
        }
        let most = kept.len() - kept.len().div_ceil(DROPPED_OF);
        while kept.len() > most {
            kept.pop(mutator);
        }
        let Some(began) = mutator.blocking(|| start.wait()) else { return Ok(None) };
        let mut watch = Watch::new(began, lasts);
        while watch.goes_on() {
            watch.time(|| (0..ALLOCATIONS).try_for_each(|_| alloc!(mutator, node(None, 2)).map(drop)));
        }
        Ok(Some(watch.done))
    });
    vec![part]
}

/// A thread that replaces chains at random places of a table. All chains together are
/// [`LIVE_PERCENT`] of a heap of `heap` bytes.
pub(super) fn tight(lasts: Duration, heap: usize) -> Vec<Part> {
    let part: Part = Box::new(move |mutator, start| {
        let chains = heap / 100 * LIVE_PERCENT / (CHAIN * node::BYTES);
        let table = alloc!(mutator, NewArray::<Option<Node>>::new(chains, None));
        root!(mutator, table = advised(table, FITS)?);
        for place in 0..chains {
            advised(replace(mutator, table, place), FITS)?;
        }
        let Some(began) = mutator.blocking(|| start.wait()) else { return Ok(None) };
        let (mut watch, mut random) = (Watch::new(began, lasts), Random::new(0));
        while watch.goes_on() {
            let place = random.below(chains);
            watch.time(|| replace(mutator, table, place));
            watch.note(garbage(mutator, BETWEEN));
        }
        for place in 0..chains {
            check(mutator, table, place, watch.done.failed == 0)?;
        }
        Ok(Some(watch.done))
    });
    vec![part]
}

/// Drops the chain at `place` of the table, and makes another.
fn replace(
    mutator: &mut Mutator<'_>,
    table: Local<'_, Array<Option<Node>>>,
    place: usize,
) -> Result<(), OutOfMemory> {
    table.get(mutator).at(place).store(mutator, None);
    root!(mutator, chain = node::list(mutator, CHAIN)?);
    table.get(mutator).at(place).store(mutator, Some(chain.get(mutator)));
    Ok(())
}

/// Checks the chain at `place`. A chain may be missing unless `all` were made.
fn check(
    mutator: &mut Mutator<'_>,
    table: Local<'_, Array<Option<Node>>>,
    place: usize,
    all: bool,
) -> anyhow::Result<()> {
    let Some(chain) = table.get(mutator).at(place).load(mutator) else {
        anyhow::ensure!(!all, "the chain at place {place} of the table is missing");
        return Ok(());
    };
    root!(mutator, chain = chain);
    node::check(mutator, chain, CHAIN)
}
