//! The measured part: each thread changes its part of the graph, and checks it after each
//! iteration.
//!
//! An iteration makes as many steps as its time allows, or a fixed number in mode `shot`.

use super::super::collectors::full_heap;
use super::super::heap_use::HeapUse;
use super::super::memory::advised;
use super::super::together::Together;
use super::load::Mix;
use super::part::{Part, plan};
use super::{board, heap_bytes};
use crate::harness::{Bench, Case, Worker};
use crate::hold::hold;
use crate::walk::Random;
use allotment::{Mutator, NewArray, OutOfMemory, alloc, root};
use anyhow::{Context, bail};
use std::sync::Mutex;

/// Steps between two checks of the harness.
const STEPS: u64 = 64;

/// What fits a heap that is full before the first step, and in a step.
pub(super) const FULL: &str =
    "the heap is full before the first step: a larger --factor or fewer threads fit";
const FITS: &str = "a larger --factor or fewer threads fit";

/// Measures steps.
pub(super) fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let (live, death) = (case.size("live")?, case.size("death")?);
    let (steps, is_shot) = match case.mode.as_str() {
        "mutate" => (STEPS, false),
        "shot" => (case.count("steps")? / case.threads as u64, true),
        other => bail!("there is no mode `{other}`"),
    };
    let together = Together::new(case.threads, is_shot);
    let mix = Mix::named(case.text("mix")?).context("the mix is none of the axis' words")?;
    let (heap, mut probe) = HeapUse::of(full_heap(case.text("collector")?, heap_bytes(case)?)?)?;
    let boards = Mutex::new(board::make(&heap, case.threads)?);
    bench.measure_attached(&heap, &mut probe, |thread, mutator, play| {
        let board = hold(&boards).pop();
        let board = board.context("there is a root of the board for each thread")?;
        // A different sequence from the one that the part draws its steps from.
        let loads = plan(&mut Random::new(!(thread.index as u64)), mix, live / thread.count);
        root!(mutator, table = advised(alloc!(mutator, NewArray::new(loads.len(), None)), FULL)?);
        root!(mutator, board = board.get(mutator));
        let mut part = Part::new(table, board, thread.index, death);
        advised(part.fill(mutator, &loads), FULL)?;
        drop(loads);
        let operations = if is_shot { 1 } else { steps };
        let worker = Mutating { mutator, part, steps, operations, outcome: Ok(()) };
        together.play(worker, play)
    })
}

struct Mutating<'a, 'm, 't> {
    mutator: &'m mut Mutator<'t>,
    part: Part<'a>,
    /// Steps of a batch.
    steps: u64,
    /// Operations that a batch counts for: a shot is one operation.
    operations: u64,
    outcome: Result<(), OutOfMemory>,
}

impl Worker for Mutating<'_, '_, '_> {
    fn batch(&mut self) -> u64 {
        for _ in 0..self.steps {
            if let Err(error) = self.part.step(self.mutator) {
                self.outcome = Err(error);
                break;
            }
        }
        // Failed steps are reported when the iteration ends, and none of the iteration is used.
        self.operations
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        advised(self.outcome.clone(), FITS)?;
        self.part.check(self.mutator)
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.mutator.blocking(wait);
    }
}
