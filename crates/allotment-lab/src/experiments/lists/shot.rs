//! Mode `forced`: makes lists with garbage between their nodes, and requests a collection.
//!
//! Each shot has new lists. After a collection the lists lie in a row, and a second collection
//! would move nothing. Nodes of all lists are made in turn, so neighbours in memory are not
//! neighbours in a list, unless there is only one list.

use super::super::collectors::full_heap;
use super::super::heap_use::{HeapUse, Preparation};
use super::heap_bytes;
use super::node::{NewNode, Node, count, value};
use crate::harness::{Bench, Case, Worker};
use allotment::{Array, Local, Mutator, NewArray, OutOfMemory, alloc, root};
use anyhow::{Context, bail};

/// The newest node of each list.
type Ends = Array<Option<Node>>;

/// The numbers of a shot's objects.
#[derive(Clone, Copy)]
struct Numbers {
    nodes: u64,
    lists: usize,
    garbage: u64,
}

/// Measures shots.
pub(super) fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let numbers =
        Numbers { nodes: case.count("nodes")?, lists: case.size("lists")?, garbage: case.count("garbage")? };
    let (heap, mut probe) = HeapUse::of(full_heap(case.text("collector")?, heap_bytes(case)?)?)?;
    let preparation = probe.preparation();
    bench.measure_attached(&heap, &mut probe, |_, mutator, play| {
        root!(mutator, ends = alloc!(mutator, NewArray::<Option<Node>>::new(numbers.lists, None))?);
        play.play(Forcing { mutator, ends, numbers, preparation: preparation.clone(), collected: false })
    })
}

struct Forcing<'a, 'm, 't> {
    mutator: &'m mut Mutator<'t>,
    ends: Local<'a, Ends>,
    numbers: Numbers,
    preparation: Preparation,
    collected: bool,
}

impl Forcing<'_, '_, '_> {
    /// Makes new lists in an empty heap. A list grows at its front, so keys fall.
    fn renew(&mut self) -> Result<(), OutOfMemory> {
        let Numbers { nodes, lists, garbage } = self.numbers;
        self.ends.get(self.mutator).fill(self.mutator, 0..lists, None);
        self.mutator.collect();
        for made in 0..nodes {
            for _ in 0..garbage {
                alloc!(self.mutator, NewNode { next: None, key: 0, value: 0 })?;
            }
            let list = (made % lists as u64) as usize;
            let key = u64::MAX - made / lists as u64;
            let next = self.ends.get(self.mutator).at(list).load(self.mutator);
            let node = alloc!(self.mutator, NewNode { next, key, value: value(key) })?;
            self.ends.get(self.mutator).at(list).store(self.mutator, Some(node));
        }
        Ok(())
    }
}

impl Worker for Forcing<'_, '_, '_> {
    fn prepare(&mut self) -> anyhow::Result<()> {
        self.renew().context("the lists do not fit into the heap that was planned for them")?;
        self.preparation.is_over();
        Ok(())
    }

    fn batch(&mut self) -> u64 {
        self.collected = self.mutator.collect();
        // An operation is a live node.
        self.numbers.nodes
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        if !self.collected {
            bail!("the heap was asked for a collection, and made none");
        }
        let mutator = &*self.mutator;
        let counted = self.ends.get(mutator).iter(mutator).map(|end| count(mutator, end));
        let found: Option<u64> = counted.sum();
        if found != Some(self.numbers.nodes) {
            bail!("the lists had {} nodes, and are found broken or with {found:?}", self.numbers.nodes);
        }
        Ok(())
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.mutator.blocking(wait);
    }
}
