//! A shot: each thread makes and drops its trees.
//!
//! The first thread makes the long-lived objects once per process, before anything is measured.
//! They are counted after each shot.

use super::super::collectors::{by_workers, heap_of};
use super::super::heap_use::HeapUse;
use super::super::memory::advised;
use super::node::{Node, count, nodes};
use super::tree;
use crate::harness::{Bench, Case, SecondaryValue, Share, Worker, keep};
use allotment::{Gc, Local, Mutator, NewSlots, OutOfMemory, Slots, alloc, root};
use anyhow::bail;

/// Levels that the long-lived tree has more than the others.
const LIVING_LEVELS: u64 = 2;

/// Numbers in the long-lived array: 4 MiB.
const NUMBERS: usize = (4 << 20) / size_of::<f64>();

/// What fits a heap that is full before the first shot, and in a shot.
const FULL: &str = "the heap is full before the first shot: a larger --heap fits";
const FITS: &str = "a larger --heap, fewer threads or a smaller --depth fit";

/// A function that makes a tree.
type Make = for<'m> fn(&'m mut Mutator<'_>, u64) -> Result<Gc<'m, Node>, OutOfMemory>;

/// The work of a thread in a shot.
#[derive(Clone, Copy)]
struct Work {
    depth: u64,
    rounds: u64,
    top_down: Make,
    bottom_up: Make,
}

/// Measures shots.
pub(super) fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let (top_down, bottom_up): (Make, Make) = match case.mode.as_str() {
        "spans" => (tree::top_down::<true>, tree::bottom_up::<true>),
        _ => (tree::top_down::<false>, tree::bottom_up::<false>),
    };
    let work = Work { depth: case.count("depth")?, rounds: case.count("rounds")?, top_down, bottom_up };
    let heap = heap_of(case.text("collector")?, case.size("heap")?)?;
    let (heap, mut probe) = HeapUse::of(by_workers(heap, case.count("workers")?)?)?;
    bench.measure_attached(&heap, &mut probe, |thread, mutator, play| {
        if thread.index > 0 {
            return play.play(Worked { mutator, work, living: None, outcome: Ok(()) });
        }
        root!(mutator, tree = advised(tree::top_down::<false>(mutator, work.depth + LIVING_LEVELS), FULL)?);
        root!(mutator, numbers = advised(alloc!(mutator, NewSlots::<f64>::new(NUMBERS, 0.0)), FULL)?);
        let array = numbers.get(mutator);
        for index in 0..NUMBERS {
            array.at(index).set(number(index));
        }
        play.play(Worked { mutator, work, living: Some(Living { tree, numbers }), outcome: Ok(()) })
    })
}

fn number(index: usize) -> f64 {
    1.0 / (index as f64 + 1.0)
}

/// The long-lived objects.
struct Living<'a> {
    tree: Local<'a, Node>,
    numbers: Local<'a, Slots<f64>>,
}

struct Worked<'a, 'm, 't> {
    mutator: &'m mut Mutator<'t>,
    work: Work,
    living: Option<Living<'a>>,
    outcome: Result<(), OutOfMemory>,
}

impl Worked<'_, '_, '_> {
    fn rounds(&mut self) -> Result<(), OutOfMemory> {
        for _ in 0..self.work.rounds {
            keep((self.work.top_down)(self.mutator, self.work.depth)?.as_ref());
            keep((self.work.bottom_up)(self.mutator, self.work.depth)?.as_ref());
        }
        Ok(())
    }
}

impl Worker for Worked<'_, '_, '_> {
    fn batch(&mut self) -> u64 {
        self.outcome = self.rounds();
        // An operation is the whole work.
        1
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        advised(self.outcome.clone(), FITS)?;
        let Some(Living { tree, numbers }) = &self.living else { return Ok(()) };
        let (found, made) =
            (count(self.mutator, tree.get(self.mutator)), nodes(self.work.depth + LIVING_LEVELS));
        if found != Some(made) {
            bail!("the tree that lives on had {made} nodes, and is found broken or with {found:?}");
        }
        if !numbers.get(self.mutator).iter().enumerate().all(|(index, found)| found == number(index)) {
            bail!("the array that lives on has other numbers than were written to it");
        }
        Ok(())
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.mutator.blocking(wait);
    }

    fn metrics(&mut self, share: &Share) -> Vec<SecondaryValue> {
        let objects = 2 * self.work.rounds * nodes(self.work.depth);
        vec![SecondaryValue::average("object", "ns", share.time.as_nanos() as f64 / objects as f64)]
    }
}
