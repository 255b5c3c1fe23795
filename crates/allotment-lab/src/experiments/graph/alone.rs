//! A graph of one thread, for experiments that change it in another way.

use super::load::Mix;
use super::mutate::FULL;
use super::part::{Part, plan};
use super::{board, bytes_of_heap};
use crate::experiments::memory::advised;
use crate::walk::Random;
use allotment::{Heap, Mutator, NewArray, OutOfMemory, Root, alloc, root};
use anyhow::Context;

/// The percentage of the steps that replace a vertex.
const DEATH: usize = 10;

/// A graph that is not made yet.
pub(in super::super) struct Alone {
    board: Root<board::Board>,
    live: usize,
}

impl Alone {
    /// A graph of `live` bytes in `heap`. The calling thread is not attached.
    ///
    /// # Errors
    /// The heap is too small for the board.
    pub(in super::super) fn of(heap: &Heap, live: usize) -> anyhow::Result<Alone> {
        let board = board::make(heap, 1)?.pop().context("there is a root of the board for each thread")?;
        Ok(Alone { board, live })
    }

    /// Bytes of a heap that is `factor` times as large as a graph of `live` bytes.
    pub(in super::super) fn bytes_of_heap(live: usize, factor: f64) -> usize {
        bytes_of_heap(live, factor)
    }

    /// Makes the graph, and calls `change` with a function that makes a step. The graph is checked
    /// afterwards.
    ///
    /// # Errors
    /// The heap is full before the first step, `change` fails, or the graph is broken.
    pub(in super::super) fn play<R>(
        self,
        mutator: &mut Mutator<'_>,
        change: impl FnOnce(
            &mut Mutator<'_>,
            &mut dyn FnMut(&mut Mutator<'_>) -> Result<(), OutOfMemory>,
        ) -> anyhow::Result<R>,
    ) -> anyhow::Result<R> {
        let loads = plan(&mut Random::new(!0), Mix::DEFAULT, self.live);
        root!(mutator, table = advised(alloc!(mutator, NewArray::new(loads.len(), None)), FULL)?);
        root!(mutator, board = self.board.get(mutator));
        let mut part = Part::new(table, board, 0, DEATH);
        advised(part.fill(mutator, &loads), FULL)?;
        drop(loads);
        let changed = change(mutator, &mut |mutator| part.step(mutator))?;
        part.check(mutator)?;
        Ok(changed)
    }
}
