//! The library's fast path in a private eden.
//!
//! The thread takes a mark, fills an eden's worth of memory, and recycles it: what a young collection
//! without survivors would do, without its cost.

use super::eden::calls;
use crate::harness::{Bench, Case, Worker, keep};
use allotment::Heap;
use allotment::mutator::{Mark, Mutator, Prefetch, Site, Zeroing};
use allotment::object::Shape;
use anyhow::Context;

/// A heap in which `threads` edens of `eden` bytes fit, with room for what rounding costs.
fn heap(eden: usize, threads: usize) -> anyhow::Result<Heap> {
    let bytes = (eden + (eden / 4).max(1 << 20)) * threads;
    Ok(Heap::builder().max_heap_size(bytes.max(16 << 20)).name("lab").build()?)
}

fn site<const BYTES: usize, Z: Zeroing, P: Prefetch>(heap: &Heap) -> anyhow::Result<Site<BYTES, Z, P>> {
    let shape = heap.register(Shape::fixed("object", BYTES))?;
    Site::new(shape).context("the shape has the site's size")
}

struct Filler<'m, 't, const BYTES: usize, Z: Zeroing, P: Prefetch> {
    mutator: &'m mut Mutator<'t>,
    site: Site<BYTES, Z, P>,
    mark: Mark<'t>,
    /// Objects a call allocates.
    objects: usize,
    /// Calls until the eden is full, and those left.
    calls: usize,
    left: usize,
}

impl<'m, 't, const BYTES: usize, Z: Zeroing, P: Prefetch> Filler<'m, 't, BYTES, Z, P> {
    fn new(mutator: &'m mut Mutator<'t>, site: Site<BYTES, Z, P>, eden: usize) -> Self {
        let (objects, calls) = calls(BYTES, eden);
        let mark = mutator.mark();
        Filler { mutator, site, mark, objects, calls, left: calls }
    }

    /// Starts over when the eden is full.
    #[inline(always)]
    fn turn(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.left = self.calls;
            // SAFETY: no object outlives the call that allocated it, and there is one mark.
            unsafe { self.mutator.recycle(self.mark) };
        }
    }
}

/// The measured loop, a function of its own as an embedder's would be: the mutator is an argument, which the
/// compiler may keep in a register, and not a field, which the sink might have changed.
#[inline(never)]
pub(super) fn fill<const BYTES: usize, Z: Zeroing, P: Prefetch>(
    mutator: &Mutator<'_>,
    site: Site<BYTES, Z, P>,
    objects: usize,
) -> u64 {
    let mut allocated = 0;
    for _ in 0..objects {
        // SAFETY: the shape is this heap's; the object is used no more when it is recycled.
        let Some(object) = (unsafe { mutator.try_alloc_raw(site) }) else { break };
        keep(object.as_ptr());
        allocated += 1;
    }
    allocated
}

/// The same in a burst.
#[inline(never)]
fn fill_in_burst<const BYTES: usize, Z: Zeroing, P: Prefetch>(
    mutator: &mut Mutator<'_>,
    site: Site<BYTES, Z, P>,
    objects: usize,
) -> u64 {
    mutator.burst(|burst| {
        let mut allocated = 0;
        for _ in 0..objects {
            // SAFETY: as in the plain loop.
            let Some(object) = (unsafe { burst.try_alloc_raw(site) }) else { break };
            keep(object.as_ptr());
            allocated += 1;
        }
        allocated
    })
}

struct Plain<F>(F);
struct Burst<F>(F);

impl<const BYTES: usize, Z: Zeroing, P: Prefetch> Worker for Plain<Filler<'_, '_, BYTES, Z, P>> {
    #[inline]
    fn batch(&mut self) -> u64 {
        let filler = &mut self.0;
        let allocated = fill(filler.mutator, filler.site, filler.objects);
        filler.turn();
        allocated
    }
}

impl<const BYTES: usize, Z: Zeroing, P: Prefetch> Worker for Burst<Filler<'_, '_, BYTES, Z, P>> {
    #[inline]
    fn batch(&mut self) -> u64 {
        let filler = &mut self.0;
        let allocated = fill_in_burst(filler.mutator, filler.site, filler.objects);
        filler.turn();
        allocated
    }
}

/// Mode `tlab`.
pub(super) fn plain<const BYTES: usize, Z: Zeroing, P: Prefetch>(
    case: &Case,
    bench: &mut Bench<'_>,
) -> anyhow::Result<()> {
    let eden = case.size("eden")?;
    let heap = heap(eden, case.threads)?;
    let site = site::<BYTES, Z, P>(&heap)?;
    bench.measure_within(|_, play| {
        heap.attach(|mutator| play.play(Plain(Filler::new(mutator, site, eden))))?
    })
}

/// Mode `burst`.
pub(super) fn burst<const BYTES: usize, Z: Zeroing, P: Prefetch>(
    case: &Case,
    bench: &mut Bench<'_>,
) -> anyhow::Result<()> {
    let eden = case.size("eden")?;
    let heap = heap(eden, case.threads)?;
    let site = site::<BYTES, Z, P>(&heap)?;
    bench.measure_within(|_, play| {
        heap.attach(|mutator| play.play(Burst(Filler::new(mutator, site, eden))))?
    })
}
