//! A shot: each thread makes and drops its trees.
//!
//! The first thread makes the long-lived objects once per process, before anything is measured.
//! They are counted after each shot.

use super::super::collectors::{by_workers, heap_of};
use super::super::compilers::compiler_of;
use super::super::heap_use::HeapUse;
use super::super::memory::advised;
use super::in_c::InC;
use super::node::{Node, count, nodes};
use super::tree;
use crate::c::attached;
use crate::harness::{Bench, Case, Play, SecondaryValue, Share, Thread, Worker};
use allotment::{Local, Mutator, NewSlots, OutOfMemory, Slots, alloc, root};
use allotment_ffi::CHeap;
use anyhow::bail;

/// Levels that the long-lived tree has more than the others.
const LIVING_LEVELS: u64 = 2;

/// Numbers in the long-lived array: 4 MiB.
const NUMBERS: usize = (4 << 20) / size_of::<f64>();

/// What fits a heap that is full before the first shot, and in a shot.
const FULL: &str = "the heap is full before the first shot: a larger --heap fits";
const FITS: &str = "a larger --heap, fewer threads or a smaller --depth fit";

/// A function that makes a tree of a depth in each way, and drops both.
type Pair<'a> = &'a (dyn Fn(&mut Mutator<'_>, u64) -> Result<(), OutOfMemory> + Sync);

/// The work of a thread in a shot.
#[derive(Clone, Copy)]
struct Work<'p> {
    depth: u64,
    rounds: u64,
    pair: Pair<'p>,
}

/// Measures shots.
pub(super) fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let heap = heap_of(case.text("collector")?, case.size("heap")?)?;
    let (heap, mut probe) = HeapUse::of(by_workers(heap, case.count("workers")?)?)?;
    let (depth, rounds) = (case.count("depth")?, case.count("rounds")?);
    let work = |pair| Work { depth, rounds, pair };
    match case.mode.as_str() {
        "c" => {
            // The files of the code stay until everything is measured: a profile reads them.
            let (_code, trees) = InC::new(&compiler_of(case)?, &heap)?;
            let pair = |mutator: &mut Mutator<'_>, depth: u64| trees.pair(mutator, depth);
            let (heap, work) = (CHeap::new(heap), work(&pair));
            bench.measure_within(&mut probe, |thread, play| {
                attached(&heap, |mutator| play_shots(work, thread, mutator, play))?
            })
        }
        mode => {
            let work = work(if mode == "spans" { &tree::pair::<true> } else { &tree::pair::<false> });
            bench.measure_attached(&heap, &mut probe, |thread, mutator, play| {
                play_shots(work, thread, mutator, play)
            })
        }
    }
}

/// Plays the shots of a thread. The first thread makes the long-lived objects.
fn play_shots(
    work: Work<'_>,
    thread: &Thread,
    mutator: &mut Mutator<'_>,
    play: Play<'_>,
) -> anyhow::Result<()> {
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
    work: Work<'a>,
    living: Option<Living<'a>>,
    outcome: Result<(), OutOfMemory>,
}

impl Worked<'_, '_, '_> {
    fn rounds(&mut self) -> Result<(), OutOfMemory> {
        for _ in 0..self.work.rounds {
            (self.work.pair)(self.mutator, self.work.depth)?;
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
