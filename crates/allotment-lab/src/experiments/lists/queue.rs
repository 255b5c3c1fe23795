//! Modes `queue` and `shot`: each thread has a list of constant length, which grows at one end and
//! dies at the other.

use super::super::collectors::full_heap;
use super::super::heap_use::HeapUse;
use super::super::memory::advised;
use super::super::together::Together;
use super::heap_bytes;
use super::node::{NewNode, Node, count, value};
use crate::harness::{Bench, Case, Worker};
use allotment::{LocalMut, Mutator, OutOfMemory, alloc, root};
use anyhow::bail;

/// Nodes between two checks of the harness.
const STEPS: u64 = 256;

/// What fits a heap that is full before the first step, and in a step.
const FULL: &str = "the heap is full before the first step: a larger --factor fits";
const FITS: &str = "a larger --factor or fewer --nodes fit";

/// Measures steps.
pub(super) fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let nodes = case.count("nodes")?;
    let is_shot = case.mode == "shot";
    let steps = if is_shot { case.count("steps")? / case.threads as u64 } else { STEPS };
    let together = Together::new(case.threads, is_shot);
    let (heap, mut probe) = HeapUse::of(full_heap(case.text("collector")?, heap_bytes(case)?)?)?;
    bench.measure_attached(&heap, &mut probe, |thread, mutator, play| {
        let length = nodes / thread.count as u64;
        let first = alloc!(mutator, NewNode { next: None, key: 0, value: value(0) })?;
        root!(mutator, mut head = Some(first), mut tail = Some(first));
        let mut queue = Queue { mutator, head, tail, length, steps, next_key: 1, outcome: Ok(()) };
        for _ in 1..length {
            advised(queue.append(), FULL)?;
        }
        together.play(queue, play)
    })
}

struct Queue<'a, 'm, 't> {
    mutator: &'m mut Mutator<'t>,
    head: LocalMut<'a, Option<Node>>,
    tail: LocalMut<'a, Option<Node>>,
    length: u64,
    /// Steps of a batch.
    steps: u64,
    next_key: u64,
    outcome: Result<(), OutOfMemory>,
}

impl Queue<'_, '_, '_> {
    /// Stores a new node into the last node.
    #[inline]
    fn append(&mut self) -> Result<(), OutOfMemory> {
        let key = self.next_key;
        let node = alloc!(self.mutator, NewNode { next: None, key, value: value(key) })?;
        if let Some(last) = self.tail.get(self.mutator) {
            last.next.store(self.mutator, Some(node));
        }
        self.tail.set(self.mutator, Some(node));
        self.next_key += 1;
        Ok(())
    }

    /// Forgets the first node, which still refers to the second.
    #[inline]
    fn drop_first(&mut self) {
        let second = self.head.get(self.mutator).and_then(|first| first.next.load(self.mutator));
        self.head.set(self.mutator, second);
    }
}

impl Worker for Queue<'_, '_, '_> {
    fn batch(&mut self) -> u64 {
        for _ in 0..self.steps {
            if let Err(error) = self.append() {
                self.outcome = Err(error);
                break;
            }
            self.drop_first();
        }
        // Failed steps are reported when the iteration ends, and none of the iteration is used.
        self.steps
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        advised(self.outcome.clone(), FITS)?;
        let found = count(self.mutator, self.head.get(self.mutator));
        if found != Some(self.length) {
            bail!("the queue has {} nodes, and is found broken or with {found:?}", self.length);
        }
        Ok(())
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.mutator.blocking(wait);
    }
}
