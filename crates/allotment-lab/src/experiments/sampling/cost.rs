//! The loop of small objects, and the cost of one sample in it.

use super::super::memory::advised;
use super::heap;
use super::programs::FULL;
use crate::counters::thread_cpu_time;
use crate::harness::{Bench, Case, NoProbe, SecondaryValue, Share, Worker, keep};
use crate::statistics::percentiles;
use allotment::raw::{ByCaller, NoPrefetch, Shape, ShapeRef, Site};
use allotment::{Heap, Mutator, OutOfMemory};
use anyhow::Context;

/// Objects of a call of the loop.
const OBJECTS: u64 = 1024;

/// Calls of a turn, with samples or without.
const CALLS: u64 = 256;

/// Turns of each kind after an iteration. An even number: then the last turn has samples, as the
/// next iteration needs them.
const TURNS: usize = 8;

/// Samples that a turn must have, so that their cost is more than what turns differ by.
const LEAST_SAMPLES: u64 = 256;

/// Mode `alloc`.
pub(super) fn run<const BYTES: usize>(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let interval = case.size("interval")?;
    // An eden that adapts would differ between cases, and with it the caches that objects come
    // from.
    let heap = heap("NewSize=4m,MaxNewSize=4m")?;
    heap.set_allocation_sample_interval(interval);
    let shape = heap.register(Shape::fixed("object", BYTES))?;
    let site: Site<BYTES, ByCaller, NoPrefetch> =
        Site::new(shape).context("the shape has the site's size")?;
    bench.measure_attached(&heap, &mut NoProbe, |thread, mutator, play| {
        let points = mutator.sampling_points();
        let alone = thread.count == 1;
        play.play(Allocating {
            heap: &heap,
            mutator,
            site,
            shape,
            interval,
            points,
            passed: 0,
            sample: f64::NAN,
            alone,
            outcome: Ok(()),
        })
    })
}

struct Allocating<'a, 'm, 't, const BYTES: usize> {
    heap: &'a Heap,
    mutator: &'m mut Mutator<'t>,
    site: Site<BYTES, ByCaller, NoPrefetch>,
    shape: ShapeRef,
    interval: usize,
    /// Sampling points passed before the iteration.
    points: u64,
    /// Of the iteration that just ended.
    passed: u64,
    /// The cost of a sample in ns; NaN: not known.
    sample: f64,
    /// Whether no other thread allocates in the heap.
    alone: bool,
    outcome: Result<(), OutOfMemory>,
}

impl<const BYTES: usize> Allocating<'_, '_, '_, BYTES> {
    #[inline]
    fn allocate(&mut self) -> Result<(), OutOfMemory> {
        for _ in 0..OBJECTS {
            // SAFETY: the shape is this heap's and has no slots. The object is not used.
            let object = match unsafe { self.mutator.raw().try_alloc_raw(self.site) } {
                Some(object) => object,
                // SAFETY: as above.
                None => unsafe { self.mutator.raw_mut().alloc_raw(self.shape, 0) }?,
            };
            keep(object.as_ptr());
        }
        Ok(())
    }

    /// Processor time of a turn at an interval, in ns, and the samples in it.
    fn turn(&mut self, interval: usize) -> Result<(f64, u64), OutOfMemory> {
        self.heap.set_allocation_sample_interval(interval);
        self.mutator.safepoint();
        let (points, start) = (self.mutator.sampling_points(), thread_cpu_time());
        for _ in 0..CALLS {
            self.allocate()?;
        }
        let time = (thread_cpu_time() - start).as_nanos() as f64;
        Ok((time, self.mutator.sampling_points() - points))
    }

    /// The cost of a sample: what turns with samples take longer than turns without, by sample.
    fn sample(&mut self) -> Result<f64, OutOfMemory> {
        if self.interval == 0 || !self.alone {
            return Ok(f64::NAN);
        }
        let expected = CALLS * OBJECTS * BYTES as u64 / self.interval as u64;
        if expected < LEAST_SAMPLES {
            return Ok(f64::NAN);
        }
        let (mut longer, mut samples) = (Vec::new(), 0);
        for pair in 0..TURNS {
            // Each kind is first in half of the pairs: what drifts in a pair cancels out.
            let (first, second) = if pair % 2 == 0 { (self.interval, 0) } else { (0, self.interval) };
            let (first, second) = (self.turn(first)?, self.turn(second)?);
            let (on, off) = if pair % 2 == 0 { (first, second) } else { (second, first) };
            longer.push(on.0 - off.0);
            samples += on.1;
        }
        // A median: a collection in one turn of a pair would otherwise be a sample's cost.
        let [_, median, ..] = percentiles(&longer);
        Ok(median * TURNS as f64 / samples as f64)
    }
}

impl<const BYTES: usize> Worker for Allocating<'_, '_, '_, BYTES> {
    #[inline]
    fn batch(&mut self) -> u64 {
        if self.outcome.is_ok() {
            self.outcome = self.allocate();
        }
        OBJECTS
    }

    fn prepare(&mut self) -> anyhow::Result<()> {
        self.points = self.mutator.sampling_points();
        Ok(())
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        self.passed = self.mutator.sampling_points() - self.points;
        let outcome = std::mem::replace(&mut self.outcome, Ok(()));
        let sample = outcome.and_then(|()| self.sample());
        self.sample = advised(sample, FULL)?;
        Ok(())
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.mutator.blocking(wait);
    }

    fn metrics(&mut self, share: &Share) -> Vec<SecondaryValue> {
        if self.interval == 0 {
            return Vec::new();
        }
        // The frames of stacks: 0 in a program without frame pointers.
        let profile = self.heap.allocation_profile();
        let frames = profile.sites().iter().map(|site| profile.stack(site).0.len()).max().unwrap_or(0);
        vec![
            SecondaryValue::average("sample", "ns", self.sample),
            SecondaryValue::average(
                "samples",
                "1/Mop",
                self.passed as f64 * 1e6 / share.all_operations as f64,
            ),
            SecondaryValue::maximum("frames", "counts", frames as f64),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_costs_something_where_there_are_enough_of_them() {
        let heap = heap("").unwrap();
        let shape = heap.register(Shape::fixed("object", 64)).unwrap();
        let site: Site<64, ByCaller, NoPrefetch> = Site::new(shape).unwrap();
        heap.attach(|mutator| {
            for (interval, known) in [(0, false), (1 << 20, false), (4 << 10, true)] {
                let mut worker = Allocating {
                    heap: &heap,
                    mutator: &mut *mutator,
                    site,
                    shape,
                    interval,
                    points: 0,
                    passed: 0,
                    sample: f64::NAN,
                    alone: true,
                    outcome: Ok(()),
                };
                worker.prepare().unwrap();
                assert_eq!(worker.batch(), OBJECTS);
                worker.finish().unwrap();
                assert_eq!(worker.sample.is_finite(), known, "interval {interval}: {}", worker.sample);
            }
            // The turns with samples had about as many as they should.
            let expected = (TURNS as u64 * CALLS * OBJECTS * 64 / (4 << 10)) as f64;
            let points = mutator.sampling_points() as f64;
            assert!((points / expected - 1.0).abs() < 0.1, "{points} of {expected}");
        })
        .unwrap();
    }
}
