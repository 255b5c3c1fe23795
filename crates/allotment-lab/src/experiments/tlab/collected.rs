//! The library's fast path in a heap whose garbage is collected: the cost of an object when its
//! memory has to be reclaimed.
//!
//! The loop is that of `tlab`. Where that loop recycles with a mark, or `shared` resets the heap, a
//! collector here stops all threads and finds nothing alive. Live objects are measured in other
//! experiments; here they would dominate the score.

use super::eden::{MIN_HEAP, calls};
use super::library::{Plain, site};
use super::widest::widest;
use crate::experiments::collectors::full_heap;
use crate::experiments::heap_use::HeapUse;
use crate::harness::{Bench, Case, ParameterError, Worker};
use allotment::heap::HeapBuilder;
use allotment::raw::{PerObject, Prefetch};
use allotment::{Mutator, OutOfMemory};
use anyhow::Context;

/// Allocates, and lets the heap be collected when it is full.
struct Collected<'m, 't, const BYTES: usize, P: Prefetch> {
    mutator: &'m mut Mutator<'t>,
    body: Plain<BYTES, PerObject, P>,
    /// The error, once there is no more room.
    full: Option<OutOfMemory>,
}

impl<const BYTES: usize, P: Prefetch> Worker for Collected<'_, '_, BYTES, P> {
    #[inline]
    fn batch(&mut self) -> u64 {
        let allocated = widest(&self.body, &mut *self.mutator);
        if allocated < 2 * self.body.pairs as u64 {
            // A stop was requested, or the heap is full. The loop begins anew, so the reserved
            // memory is given up again.
            self.full = self.mutator.make_room(BYTES).err();
        }
        allocated
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        self.full.take().map_or(Ok(()), |full| Err(full).context("nothing was alive"))
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.mutator.blocking(wait);
    }
}

/// Bytes of the heap of a case: an eden for each thread.
pub(super) fn heap_bytes(case: &Case) -> Result<usize, ParameterError> {
    Ok(case.size("eden")?.saturating_mul(case.threads).max(MIN_HEAP))
}

/// The heap of a case, with all pages touched.
///
/// # Errors
/// A parameter is missing, or an option does not take its value.
pub(super) fn builder(case: &Case) -> anyhow::Result<HeapBuilder> {
    let builder = full_heap(case.text("collector")?, heap_bytes(case)?)?.always_pre_touch(true);
    Ok(match case.size("young")? {
        0 => builder,
        young => builder.options(&format!("MaxNewSize={young}"))?,
    })
}

/// Mode `collected`.
pub(super) fn run<const BYTES: usize, P: Prefetch>(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let (heap, mut heap_use) = HeapUse::of(builder(case)?)?;
    let site = site::<BYTES, PerObject, P>(&heap)?;
    let (pairs, _) = calls(BYTES, case.size("eden")?);
    bench.measure_attached(&heap, &mut heap_use, |_, mutator, play| {
        play.play(Collected { mutator, body: Plain { site, pairs }, full: None })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use allotment::Heap;
    use allotment::raw::BySize;

    #[test]
    fn a_full_heap_is_collected_and_the_loop_goes_on() {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        let site = site::<64, PerObject, BySize>(&heap).unwrap();
        heap.attach(|mutator| {
            let mut worker = Collected { mutator, body: Plain { site, pairs: 128 }, full: None };
            let allocated: u64 = (0..4096).map(|_| worker.batch()).sum();
            worker.finish().unwrap();
            assert!(allocated * 64 > 48 << 20, "{allocated} objects");
        })
        .unwrap();
        assert!(heap.collections().count >= 2);
    }

    #[test]
    fn a_heap_that_nobody_collects_is_told_of() {
        let heap = full_heap("epsilon", 16 << 20).unwrap().build().unwrap();
        let site = site::<64, PerObject, BySize>(&heap).unwrap();
        heap.attach(|mutator| {
            let mut worker = Collected { mutator, body: Plain { site, pairs: 128 }, full: None };
            while worker.batch() > 0 {}
            let error = worker.finish().unwrap_err();
            assert!(format!("{error:#}").contains("nothing was alive"));
        })
        .unwrap();
    }
}
