//! A shot: every thread fills its array with fresh objects of a fresh heap.

use super::plan::ShotPlan;
use crate::harness::{Bench, Iteration, Probe, SecondaryValue, Thread, Worker, keep};
use allotment::Heap;
use allotment::options::CollectorKind;
use allotment::raw::{PerObject, Prefetch, Shape, Site};
use anyhow::{Context, bail};
use std::ptr::NonNull;
use std::sync::{PoisonError, RwLock};

/// The heap of one shot.
struct Fresh<const BYTES: usize, P: Prefetch> {
    heap: Heap,
    site: Site<BYTES, PerObject, P>,
}

impl<const BYTES: usize, P: Prefetch> Fresh<BYTES, P> {
    fn new(options: &str) -> anyhow::Result<Fresh<BYTES, P>> {
        let builder = Heap::builder().collector(CollectorKind::Epsilon);
        let heap = builder.options(options)?.name("lab").build()?;
        let shape = heap.register(Shape::fixed("object", BYTES))?;
        let site = Site::new(shape).context("the shape has the site's size")?;
        Ok(Fresh { heap, site })
    }
}

/// The state that the threads share: the heap, which one thread replaces while all prepare.
struct SharedHeap<const BYTES: usize, P: Prefetch> {
    plan: ShotPlan,
    fresh: RwLock<Option<Fresh<BYTES, P>>>,
}

impl<const BYTES: usize, P: Prefetch> SharedHeap<BYTES, P> {
    /// Replaces the heap. The old heap is dropped first; otherwise memory would be needed for both.
    fn renew(&self) -> anyhow::Result<()> {
        let mut fresh = self.fresh.write().unwrap_or_else(PoisonError::into_inner);
        *fresh = None;
        *fresh = Some(Fresh::new(&self.plan.options)?);
        Ok(())
    }

    /// Calls `look` with the heap; returns `None` if there is no heap.
    fn with<R>(&self, look: impl FnOnce(&Fresh<BYTES, P>) -> R) -> Option<R> {
        self.fresh.read().unwrap_or_else(PoisonError::into_inner).as_ref().map(look)
    }
}

struct ArrayFiller<'a, const BYTES: usize, P: Prefetch> {
    shared: &'a SharedHeap<BYTES, P>,
    renews: bool,
    /// The array that keeps the objects; its pages have been touched.
    array: Vec<NonNull<u8>>,
    /// Objects of the last shot.
    kept: usize,
}

impl<'a, const BYTES: usize, P: Prefetch> ArrayFiller<'a, BYTES, P> {
    fn new(shared: &'a SharedHeap<BYTES, P>, thread: &Thread) -> anyhow::Result<Self> {
        let mut array = Vec::new();
        array
            .try_reserve_exact(shared.plan.objects)
            .context("cannot get memory for the array of references")?;
        // The value is not null, so that the pages are written to.
        array.resize(shared.plan.objects, NonNull::dangling());
        Ok(ArrayFiller { shared, renews: thread.index == 0, array, kept: 0 })
    }
}

impl<const BYTES: usize, P: Prefetch> Worker for ArrayFiller<'_, BYTES, P> {
    fn prepare(&mut self) -> anyhow::Result<()> {
        if self.renews { self.shared.renew().context("cannot make the heap of a shot") } else { Ok(()) }
    }

    fn batch(&mut self) -> u64 {
        let array = self.array.as_mut_slice();
        let kept = self.shared.with(|Fresh { heap, site }| {
            heap.attach(|mutator| {
                let mut kept = 0;
                for slot in array.iter_mut() {
                    // SAFETY: the shape is this heap's; no code reads an object.
                    let Some(object) = (unsafe { mutator.raw().try_alloc_raw(*site) }) else { break };
                    *slot = object;
                    kept += 1;
                }
                kept
            })
        });
        keep(self.array.as_ptr());
        self.kept = kept.and_then(Result::ok).unwrap_or(0);
        // An operation is a whole shot.
        u64::from(self.kept == self.array.len())
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        if self.kept < self.array.len() {
            bail!("the heap was full after {} of {} objects", self.kept, self.array.len());
        }
        Ok(())
    }
}

/// The heap's statistics of a shot.
struct ShotCounts<'a, const BYTES: usize, P: Prefetch>(&'a SharedHeap<BYTES, P>);

impl<const BYTES: usize, P: Prefetch> Probe for ShotCounts<'_, BYTES, P> {
    /// A shot's heap begins at zero.
    fn before(&mut self) {}

    fn after(&mut self, iteration: &Iteration) -> Vec<SecondaryValue> {
        let Some(of) = self.0.with(|fresh| fresh.heap.tlab_totals().sum) else { return Vec::new() };
        let shots = iteration.measured_operations as f64;
        let mebibytes = shots * self.0.plan.objects as f64 * BYTES as f64 / (1 << 20) as f64;
        let rate = mebibytes / iteration.window.as_secs_f64();
        let mut values = vec![SecondaryValue::average("alloc.rate", "MiB/s", rate)];
        if of.refills > 0 {
            values.push(SecondaryValue::average("refills", "counts", of.refills as f64));
            values.push(SecondaryValue::average("waste", "%", of.waste_percent()));
        }
        if self.0.plan.compares_and_swaps {
            let attempts = of.compare_exchange_attempts as f64 / of.compare_exchange_successes as f64;
            values.push(SecondaryValue::average("cas.attempts", "#/success", attempts));
        }
        values
    }
}

/// Measures shots in heaps of `plan`.
pub(super) fn run<const BYTES: usize, P: Prefetch>(
    plan: ShotPlan,
    bench: &mut Bench<'_>,
) -> anyhow::Result<()> {
    let shared = SharedHeap::<BYTES, P> { plan, fresh: RwLock::default() };
    bench.measure_with(&mut ShotCounts(&shared), |thread| ArrayFiller::new(&shared, thread))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Case, JmhMode, TimeUnit};
    use allotment::raw::BySize;
    use std::sync::Barrier;

    const THREADS: usize = 2;

    fn plan(mode: &str, tlab: usize, objects: usize, bytes: usize) -> ShotPlan {
        let params = [
            ("objects", objects.to_string()),
            ("size", bytes.to_string()),
            ("pretouch", "on".into()),
            ("tlab", tlab.to_string()),
        ];
        ShotPlan::of(&Case {
            experiment: "tlab-size".into(),
            mode: mode.into(),
            jmh_mode: JmhMode::SingleShot,
            unit: TimeUnit::Milliseconds,
            threads: THREADS,
            params: params.map(|(name, value)| (name.into(), value)).into(),
        })
        .unwrap()
    }

    /// Makes two shots with threads of the test. Returns the probe's values of the second.
    fn shoot<const BYTES: usize>(shared: &SharedHeap<BYTES, BySize>) -> Vec<SecondaryValue> {
        let (barrier, objects) = (Barrier::new(THREADS), shared.plan.objects);
        std::thread::scope(|scope| {
            for index in 0..THREADS {
                let barrier = &barrier;
                scope.spawn(move || {
                    let thread = Thread { index, count: THREADS, cpu: None };
                    let mut filler = ArrayFiller::new(shared, &thread).unwrap();
                    for _ in 0..2 {
                        barrier.wait();
                        filler.prepare().unwrap();
                        barrier.wait();
                        assert_eq!(filler.batch(), 1);
                        filler.finish().unwrap();
                    }
                    let kept = filler.array.iter().map(|object| object.addr().get());
                    let (base, bytes) =
                        shared.with(|f| (f.heap.base(), f.heap.geometry().heap_bytes())).unwrap();
                    assert!(kept.clone().all(|at| (base..base + bytes).contains(&at)));
                    let mut kept: Vec<usize> = kept.collect();
                    kept.sort_unstable();
                    kept.dedup();
                    assert_eq!(kept.len(), objects);
                });
            }
        });
        let operations = THREADS as u64;
        let window = std::time::Duration::from_secs(1);
        ShotCounts(shared).after(&Iteration {
            measured_operations: operations,
            all_operations: operations,
            time: window,
            window,
        })
    }

    /// Makes shots, and checks the values of the heap and the probe.
    fn check<const BYTES: usize>(mode: &str, tlab: usize, objects: usize) {
        let shared =
            SharedHeap::<BYTES, BySize> { plan: plan(mode, tlab, objects, BYTES), fresh: RwLock::default() };
        let values = shoot(&shared);
        let all = THREADS * objects;
        let census = shared.with(|fresh| fresh.heap.verify().unwrap()).unwrap();
        let found: u64 = census.shapes.values().map(|(objects, _)| objects).sum();
        assert_eq!(found, all as u64, "{mode} {tlab} {BYTES}");

        let labels: Vec<&str> = values.iter().map(|value| value.label.as_str()).collect();
        let expected: &[&str] = match mode {
            "no-tlab" => &["alloc.rate", "cas.attempts"],
            "no-tlab-lock" => &["alloc.rate"],
            _ => &["alloc.rate", "refills", "waste", "cas.attempts"],
        };
        assert_eq!(labels, expected, "{mode} {tlab} {BYTES}");
        assert_eq!(values[0].value, (all * BYTES) as f64 / f64::from(1 << 20));
        if mode == "fixed" && tlab.is_multiple_of(BYTES) {
            let buffers = (THREADS * (objects * BYTES).div_ceil(tlab)) as f64;
            // A thread that ends may leave the rest of its last buffer behind. Another thread that
            // is on the same processor then takes that rest as one buffer more.
            let most = buffers + (THREADS - 1) as f64;
            assert!((buffers..=most).contains(&values[1].value), "{tlab}: {}", values[1].value);
        }
    }

    #[test]
    fn the_heap_holds_every_object_of_every_thread() {
        for tlab in [1 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20] {
            check::<16>("fixed", tlab, 200_000);
        }
        check::<48>("fixed", 1 << 10, 70_000);
        check::<4096>("fixed", 100_000, 1_000);
        for mode in ["elastic", "adaptive", "no-tlab", "no-tlab-lock"] {
            check::<16>(mode, 0, 200_000);
            check::<4096>(mode, 0, 4_000);
        }
    }

    #[test]
    fn a_full_heap_is_an_error_and_not_a_short_shot() {
        let mut plan = plan("adaptive", 0, 10, 16);
        // The heap stays as it was planned.
        plan.objects = 4_000_000;
        let shared = SharedHeap::<16, BySize> { plan, fresh: RwLock::default() };
        let mut filler = ArrayFiller::new(&shared, &Thread { index: 0, count: 1, cpu: None }).unwrap();
        filler.prepare().unwrap();
        assert_eq!(filler.batch(), 0);
        let kept = filler.kept;
        assert!(kept > 10);
        let error = filler.finish().unwrap_err().to_string();
        assert_eq!(error, format!("the heap was full after {kept} of 4000000 objects"));
    }

    #[test]
    fn no_shot_without_a_heap() {
        let shared = SharedHeap::<16, BySize> { plan: plan("no-tlab", 0, 10, 16), fresh: RwLock::default() };
        let mut filler = ArrayFiller::new(&shared, &Thread { index: 1, count: 2, cpu: None }).unwrap();
        filler.prepare().unwrap();
        assert_eq!(filler.batch(), 0);
        assert!(filler.finish().unwrap_err().to_string().contains("after 0 of 10"));
    }
}
