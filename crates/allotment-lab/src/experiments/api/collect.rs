//! A full collection of a binary tree, in one shot. The baseline by hand is one visit of each node.
//!
//! Each shot has a new tree. After a collection the tree lies without holes in the order in which
//! the collector left it, so a second collection would move nothing.

use super::super::collectors::without_barriers;
use super::super::heap_use::label;
use super::Way;
use super::limits::{heap_by, tree_heap};
use super::node::{BYTES, Node, address};
use super::tree::{build, sequential, shuffled, traverse};
use crate::harness::{Bench, Case, NoProbe, SecondaryValue, Share, Worker, keep_value};
use allotment::{Heap, LocalMut, Mutator, rebind, root};
use anyhow::bail;
use std::ptr;
use std::time::Duration;

/// Mode `collect`. Raw: the tree is traversed through raw pointers.
pub(super) fn run(way: Way, case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let (live, garbage) = (case.size("live")?, case.size("garbage")?);
    let collector = case.text("collector")?;
    let heap = heap_by(collector, tree_heap(collector, live, garbage), case.count("workers")?)?;
    let nodes = u32::try_from(live / BYTES)?;
    let order = if case.text("order")? == "shuffled" { shuffled(nodes) } else { sequential(nodes) };
    bench.measure_attached(&heap, &mut NoProbe, |_, mutator, play| {
        root!(mutator, mut tree = None);
        let mut worker = Collecting { heap: &heap, mutator, tree, order: &order, garbage, way, found: 0 };
        // The first collection of a heap finds the collector's tables untouched.
        worker.renew()?;
        worker.mutator.collect();
        play.play(worker)
    })
}

struct Collecting<'a, 'm, 't> {
    heap: &'a Heap,
    mutator: &'m mut Mutator<'t>,
    tree: LocalMut<'a, Option<Node>>,
    order: &'a [u32],
    garbage: usize,
    way: Way,
    /// Live nodes that the last shot found.
    found: u64,
}

impl Collecting<'_, '_, '_> {
    /// Makes a new tree in an empty heap.
    fn renew(&mut self) -> anyhow::Result<()> {
        self.tree.set(self.mutator, None);
        self.mutator.collect();
        let before = self.heap.collections().count;
        let tree = rebind!(self.mutator, build(self.mutator, self.order, self.garbage)?);
        self.tree.set(self.mutator, tree);
        let meanwhile = self.heap.collections().count - before;
        if meanwhile > 0 {
            bail!("{meanwhile} collections while the tree was built: it does not lie as it should");
        }
        Ok(())
    }

    fn last_live_objects(&self) -> u64 {
        self.heap.collections().recent.back().map_or(0, |record| record.live_objects as u64)
    }
}

impl Worker for Collecting<'_, '_, '_> {
    fn prepare(&mut self) -> anyhow::Result<()> {
        self.renew()
    }

    fn batch(&mut self) -> u64 {
        match self.way {
            Way::Safe => {
                self.mutator.collect();
            }
            Way::Raw => {
                without_barriers(self.mutator);
                let top = self.tree.get(self.mutator).map_or(ptr::null(), address);
                // SAFETY: the tree is live, no thread changes it, and there is no safepoint.
                let (nodes, sum) = unsafe { traverse(top) };
                keep_value(sum);
                self.found = nodes;
            }
        }
        // An operation is a live object.
        self.order.len() as u64
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        if self.way == Way::Safe {
            self.found = self.last_live_objects();
        }
        if self.found != self.order.len() as u64 {
            bail!("{} live objects were found, and there are {}", self.found, self.order.len());
        }
        Ok(())
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.mutator.blocking(wait);
    }

    /// The record of the collection, per live object.
    fn metrics(&mut self, share: &Share) -> Vec<SecondaryValue> {
        let collections = self.heap.collections();
        let Some(record) = collections.recent.back().filter(|_| self.way == Way::Safe) else {
            return Vec::new();
        };
        let objects = share.measured_operations as f64;
        let phase = |name: &str, time: Duration| {
            let label = label(name).unwrap_or_else(|| format!("phase.{}", name.to_lowercase()));
            SecondaryValue::average(&label, "ns/op", time.as_nanos() as f64 / objects)
        };
        let phases = record.phases.iter().map(|found| phase(found.name, found.time));
        let moved = record.moved_bytes as f64 / record.live_bytes as f64 * 100.0;
        let pause = record.pause.as_secs_f64() * 1e3;
        phases
            .chain([
                SecondaryValue::average("moved", "%", moved),
                SecondaryValue::average("pause", "ms", pause),
            ])
            .collect()
    }
}
