//! Allocation with real collections. Every object is garbage at once, so the loop never runs out of
//! memory.
//!
//! Both loops allocate two objects a turn, as those of `tlab` do, so the position of the code does
//! not decide. Both loops end in the same slow path. They differ in the code that writes the
//! fields, and in the code that protects the fields from a collection.

use super::Way;
use super::attached::Attached;
use super::limits::heap;
use super::node::{BYTES, KEY, LEFT, NewNode, RIGHT};
use crate::experiments::heap_use::milliseconds;
use crate::harness::{Bench, Case, Iteration, Probe, SecondaryValue, keep};
use allotment::raw::{ByCaller, NoPrefetch, Shape, Site, SlotKind};
use allotment::{Heap, Mutator, alloc};
use anyhow::Context;
use std::ptr::NonNull;
use std::time::Duration;

/// Pairs of objects between two checks of the harness: 16 KiB.
const PAIRS: u64 = 256;

/// The site that the safe API allocates with: no prefetch, and the initialiser writes everything.
type RawSite = Site<BYTES, ByCaller, NoPrefetch>;

/// Mode `alloc`. Raw: the low-level API, fields written by hand.
pub(super) fn run(way: Way, case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let heap = heap(case, case.size("heap")?)?;
    let shape = Shape::fixed("raw node", BYTES);
    let shape = shape.slot("left", LEFT, SlotKind::Strong).slot("right", RIGHT, SlotKind::Strong);
    let site = RawSite::new(heap.register(shape)?).context("the shape has the site's size")?;
    let mut probe = Collections { heap: &heap, before: 0, paused: Duration::ZERO };
    bench.measure_attached(&heap, &mut probe, |_, mutator, play| match way {
        Way::Safe => play.play(Attached::new(mutator, safe)),
        Way::Raw => play.play(Attached::new(mutator, |mutator| raw(mutator, site))),
    })
}

/// The collections of an iteration, under JMH's names.
struct Collections<'a> {
    heap: &'a Heap,
    /// Collections before the iteration, and the time of their pauses.
    before: u64,
    paused: Duration,
}

impl Probe for Collections<'_> {
    fn before(&mut self) {
        let collections = self.heap.collections();
        (self.before, self.paused) = (collections.count, collections.pauses.total());
    }

    fn after(&mut self, _iteration: &Iteration) -> Vec<SecondaryValue> {
        let collections = self.heap.collections();
        let paused = milliseconds(collections.pauses.total() - self.paused);
        vec![
            SecondaryValue::sum("gc.count", "counts", (collections.count - self.before) as f64),
            SecondaryValue::sum("gc.time", "ms", paused),
        ]
    }
}

#[inline(never)]
fn safe(mutator: &mut Mutator<'_>) -> u64 {
    let mut allocated = 0;
    for _ in 0..PAIRS {
        let Ok(node) = alloc!(mutator, NewNode { left: None, right: None, key: allocated }) else { break };
        keep(node.as_ref());
        let Ok(node) = alloc!(mutator, NewNode { left: None, right: None, key: allocated }) else { break };
        keep(node.as_ref());
        allocated += 2;
    }
    allocated
}

#[inline(never)]
fn raw(mutator: &mut Mutator<'_>, site: RawSite) -> u64 {
    let mut allocated = 0;
    for _ in 0..PAIRS {
        let Some(node) = raw_node(mutator, site, allocated) else { break };
        keep(node.as_ptr());
        let Some(node) = raw_node(mutator, site, allocated) else { break };
        keep(node.as_ptr());
        allocated += 2;
    }
    allocated
}

#[inline(always)]
fn raw_node(mutator: &mut Mutator<'_>, site: RawSite, key: u64) -> Option<NonNull<u8>> {
    // SAFETY: the shape is this heap's, and both slots are written below, before any safepoint.
    let node = match unsafe { mutator.raw().try_alloc_raw(site) } {
        Some(node) => node,
        None => raw_with_room(mutator, site)?,
    };
    // SAFETY: a node of `BYTES` bytes, just allocated.
    unsafe {
        node.byte_add(LEFT).cast::<u64>().write(0);
        node.byte_add(RIGHT).cast::<u64>().write(0);
        node.byte_add(KEY).cast::<u64>().write(key);
    }
    Some(node)
}

#[cold]
#[inline(never)]
fn raw_with_room(mutator: &mut Mutator<'_>, site: RawSite) -> Option<NonNull<u8>> {
    let mut room = mutator.make_room(BYTES).ok()?;
    // SAFETY: as in `raw_node`.
    unsafe { mutator.raw().alloc_in_raw(&mut room, site) }
}
