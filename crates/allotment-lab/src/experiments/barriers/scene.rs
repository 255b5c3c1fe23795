//! The thread that measures: it brings a cycle into a phase, holds it there, and passes over its
//! nodes.
//!
//! A cycle goes from phase to phase in short stops, and a stop waits for every thread to come to a
//! safepoint. A pass has no safepoint. So the phase in which the thread begins its passes lasts
//! until its iteration is over.
//!
//! In a held phase the collector has soon done all that it can do. The first pass finds slots that
//! are not healed and objects that have not moved, all others find the rest: the price of the slow
//! path itself. The first pass is a metric of its own.

use super::super::collectors::{barriers, without_barriers};
use super::node::{Node, Nodes, first, make};
use super::requests::Requests;
use crate::harness::{SecondaryValue, Share, Worker, keep, keep_value};
use allotment::{Field, Gc, LocalMut, Mutator, rebind};
use anyhow::{bail, ensure};
use std::hint;
use std::time::{Duration, Instant};

/// Further nodes, whose only purpose is that no phase of a cycle is short. A phase is missed if the
/// thread sleeps in the stop that begins it until the one that ends it.
pub(super) const BALLAST: usize = 1 << 16;

/// Time for which cycles may pass without the phase.
const PATIENCE: Duration = Duration::from_secs(30);

/// Slots per turn. With one slot, a turn is so short that its position across 64 bytes of code
/// decides.
const TURN: usize = 8;

/// The access of a pass to each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Load,
    Store,
    Walk,
    Weak,
}

impl Operation {
    /// The operation of a mode.
    pub(super) fn of(mode: &str) -> anyhow::Result<Operation> {
        Ok(match mode {
            "load" => Operation::Load,
            "store" => Operation::Store,
            "walk" => Operation::Walk,
            "weak" => Operation::Weak,
            other => bail!("there is no mode `{other}`"),
        })
    }

    #[inline]
    fn pass(self, mutator: &Mutator<'_>, nodes: Gc<'_, Nodes>) {
        match self {
            Operation::Load => load(mutator, nodes),
            Operation::Store => store(mutator, nodes),
            Operation::Walk => keep_value(walk(mutator, nodes)),
            Operation::Weak => weak(mutator, nodes),
        }
    }
}

/// Uses the address of a node, as a program that goes on to its fields does.
#[inline(always)]
fn keep_address(node: Option<Gc<'_, Node>>) {
    keep_value(node.map_or(0, |node| std::ptr::from_ref(node.as_ref()).addr() as u64));
}

#[inline(never)]
fn load(mutator: &Mutator<'_>, nodes: Gc<'_, Nodes>) {
    let one = |field: &Field<Option<Node>>| keep_address(field.load(mutator));
    let (turns, rest) = nodes.as_ref().as_chunks::<TURN>();
    turns.iter().for_each(|turn| turn.iter().for_each(one));
    rest.iter().for_each(one);
}

#[inline(never)]
fn store(mutator: &Mutator<'_>, nodes: Gc<'_, Nodes>) {
    let node = first(mutator, nodes);
    nodes.as_ref().iter().for_each(|field| field.store(mutator, node));
    keep(nodes.as_ref().as_ptr());
}

/// The sum of the keys.
#[inline(never)]
fn walk(mutator: &Mutator<'_>, nodes: Gc<'_, Nodes>) -> u64 {
    let (mut sum, mut at) = (0_u64, first(mutator, nodes));
    while let Some(node) = at {
        sum = sum.wrapping_add(node.key);
        at = node.next.load(mutator);
    }
    sum
}

#[inline(never)]
fn weak(mutator: &Mutator<'_>, nodes: Gc<'_, Nodes>) {
    let Some(node) = first(mutator, nodes) else { return };
    for _ in nodes.as_ref() {
        keep_address(node.own.load(mutator));
        // The next load must not be one with this.
        keep(node.as_ref());
    }
}

/// The thread that measures an operation over its nodes.
pub(super) struct Passing<'a, 'm, 't> {
    mutator: &'m mut Mutator<'t>,
    nodes: LocalMut<'a, Option<Nodes>>,
    ballast: LocalMut<'a, Option<Nodes>>,
    operation: Operation,
    length: usize,
    /// The barriers in force while it measures.
    wanted: u32,
    requests: &'a Requests,
    patience: Duration,
    /// Whether the phase is due: the thread has prepared, and not yet measured.
    due: bool,
    /// The time of the first pass of the iteration.
    first: Duration,
    /// Whether the phase was held.
    held: anyhow::Result<()>,
}

impl<'a, 'm, 't> Passing<'a, 'm, 't> {
    /// A thread without nodes as yet.
    pub(super) fn new(
        mutator: &'m mut Mutator<'t>,
        [nodes, ballast]: [LocalMut<'a, Option<Nodes>>; 2],
        operation: Operation,
        length: usize,
        wanted: u32,
        requests: &'a Requests,
    ) -> Self {
        let (patience, due, first, held) = (PATIENCE, false, Duration::ZERO, Ok(()));
        Passing { mutator, nodes, ballast, operation, length, wanted, requests, patience, due, first, held }
    }

    /// Makes the nodes, if a cycle has moved them or there are none.
    fn renew(&mut self) -> anyhow::Result<()> {
        if self.wanted != 0 || self.nodes.get(self.mutator).is_none() {
            self.nodes.set(self.mutator, None);
            self.ballast.set(self.mutator, None);
            let made = rebind!(self.mutator, make(self.mutator, self.length)?);
            self.nodes.set(self.mutator, Some(made));
        }
        if self.wanted != 0 {
            let made = rebind!(self.mutator, make(self.mutator, BALLAST)?);
            self.ballast.set(self.mutator, Some(made));
        }
        Ok(())
    }

    /// Comes to the phase. From here to the next safepoint it lasts.
    fn hold(&mut self) -> anyhow::Result<()> {
        if self.wanted == 0 {
            without_barriers(self.mutator);
            return Ok(());
        }
        let begun = Instant::now();
        while begun.elapsed() < self.patience {
            let number = self.requests.make();
            while !self.requests.has_ended(number) {
                self.mutator.safepoint();
                if barriers(self.mutator) == self.wanted {
                    return Ok(());
                }
                // A thread that yields to others comes back too late.
                hint::spin_loop();
            }
            self.renew()?;
        }
        bail!("cycles came and went, and none was seen in its phase for {:?}", self.patience)
    }

    fn pass(&mut self) {
        if let Some(nodes) = self.nodes.get(self.mutator) {
            self.operation.pass(self.mutator, nodes);
        }
    }
}

impl Worker for Passing<'_, '_, '_> {
    #[inline]
    fn batch(&mut self) -> u64 {
        self.pass();
        self.length as u64
    }

    fn prepare(&mut self) -> anyhow::Result<()> {
        self.renew()?;
        self.due = true;
        Ok(())
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        std::mem::replace(&mut self.held, Ok(()))?;
        let found = barriers(self.mutator);
        ensure!(found == self.wanted, "the phase ended: barriers {found:#x} instead of {:#x}", self.wanted);
        Ok(())
    }

    /// The phase begins after the last wait. In a wait the thread holds nothing.
    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.mutator.blocking(wait);
        if std::mem::take(&mut self.due) {
            self.held = self.hold();
            let begun = Instant::now();
            self.pass();
            self.first = begun.elapsed();
        }
    }

    fn metrics(&mut self, _share: &Share) -> Vec<SecondaryValue> {
        vec![SecondaryValue::average("first", "ns/op", self.first.as_nanos() as f64 / self.length as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::collectors::heap_of;
    use super::super::PHASES;
    use super::super::requests::End;
    use super::*;
    use allotment::{Heap, root};
    use std::thread;

    const LENGTH: usize = 4096;

    fn see_whole(mutator: &Mutator<'_>, nodes: Gc<'_, Nodes>) {
        assert_eq!(walk(mutator, nodes), LENGTH as u64 * (LENGTH as u64 - 1) / 2);
        let is_own = |node: &Gc<'_, Node>| node.own.load(mutator).is_some_and(|own| own.is_same(*node));
        assert_eq!(nodes.iter(mutator).flatten().filter(is_own).count(), LENGTH);
    }

    /// Runs `body` on a thread of a heap with cycles, beside the thread that asks for them.
    fn beside_requests(body: impl FnOnce(&mut Mutator<'_>, &Requests)) -> Heap {
        let heap = heap_of("shenandoah", 64 << 20).unwrap().build().unwrap();
        let requests = Requests::default();
        thread::scope(|scope| {
            let _end = End(&requests);
            scope.spawn(|| heap.attach(|mutator| requests.serve(mutator)));
            heap.attach(|mutator| body(mutator, &requests)).unwrap();
        });
        heap
    }

    /// Each operation in each phase, again and again: the nodes stay what they are.
    #[test]
    fn a_cycle_is_held_in_each_phase_and_nothing_is_lost() {
        let heap = beside_requests(|mutator, requests| {
            for &(phase, wanted) in PHASES {
                for operation in [Operation::Walk, Operation::Load, Operation::Weak, Operation::Store] {
                    root!(mutator, mut nodes = None, mut ballast = None);
                    let roots = [nodes, ballast];
                    let mut passing = Passing::new(mutator, roots, operation, LENGTH, wanted, requests);
                    passing.prepare().unwrap();
                    passing.idle(&mut || ());
                    assert_eq!(passing.batch(), LENGTH as u64);
                    passing.finish().unwrap_or_else(|error| panic!("{phase} {operation:?}: {error}"));
                    let first = &passing.metrics(&Share::default())[0];
                    assert!(first.label == "first" && first.value > 0.0, "{}", first.value);
                    see_whole(passing.mutator, passing.nodes.get(passing.mutator).unwrap());
                    // After the phase, too.
                    passing.idle(&mut || ());
                    see_whole(passing.mutator, passing.nodes.get(passing.mutator).unwrap());
                }
            }
        });
        // A phase after marking is one of a cycle that moves nodes, unless it has none to move.
        assert!(heap.collections().recent.iter().any(|record| record.moved_bytes > 0));
    }

    #[test]
    fn a_phase_that_no_cycle_has_is_an_error() {
        beside_requests(|mutator, requests| {
            root!(mutator, mut nodes = None, mut ballast = None);
            let roots = [nodes, ballast];
            let mut passing = Passing::new(mutator, roots, Operation::Load, 8, u32::MAX, requests);
            passing.patience = Duration::from_millis(1);
            passing.prepare().unwrap();
            passing.idle(&mut || ());
            assert!(passing.finish().unwrap_err().to_string().contains("none was seen"));
        });
    }
}
