//! Threads that share regions: buffers by compare-and-swap or lock, or no buffers at all.
//!
//! A thread allocates an eden's worth (at most a call's worth) and detaches. When the heap is full,
//! a thread that notices waits until the others have noticed too. The last one resets the heap, and
//! the cores reuse the memory that they wrote last. This is a stop-the-world collection that finds
//! nothing alive.
//!
//! Refused: a barrier. It is simpler, but hangs when a thread leaves the measured window before the
//! others.

use super::super::emitted::{Between, EmittedLoop, Form, Work, processor};
use super::eden::MIN_HEAP;
use super::library::{Plain, site};
use super::pointer::ATTEMPTS;
use super::widest::widest;
use crate::experiments::buffers::{region_bytes, tlab_size};
use crate::harness::{Bench, Case, Iteration, Probe, SecondaryValue, Worker};
use allotment::heap::{HeapBuilder, MIN_REGIONS};
use allotment::options::{CollectorKind, OptionError};
use allotment::raw::{PerObject, Prefetch, PrefetchSettings, Shape};
use allotment::stats::TlabStatistics;
use allotment::{Heap, Mutator};
use allotment_jit::{Allocation, Emitter, Initialise};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that a thread allocates between attaching and detaching. It is enough to hide the cost of
/// attaching, about a microsecond.
const BYTES_WITH_BUFFERS: usize = 4 << 20;
const BYTES_WITHOUT_BUFFERS: usize = 256 << 10;

/// Everything that is decided before the heap is made.
#[derive(Debug)]
pub(super) struct SharedPlan {
    /// Bytes of the heap.
    pub(super) bytes: usize,
    /// The options, as a user writes them.
    options: String,
    /// Bytes that a thread allocates while it is attached.
    attached: usize,
}

impl SharedPlan {
    /// The heap for a case: an eden for each thread, in regions that hold a buffer. The regions are
    /// the heap's own choice, unless a buffer is larger, for which the library has no room in a
    /// region.
    ///
    /// # Errors
    /// Why no such heap is possible.
    pub(super) fn of(case: &Case) -> anyhow::Result<SharedPlan> {
        let eden = case.size("eden")?;
        let mut bytes = eden.saturating_mul(case.threads).max(MIN_HEAP);
        let mut attached = if case.mode == "shared" { BYTES_WITH_BUFFERS } else { BYTES_WITHOUT_BUFFERS };
        let options = match case.mode.as_str() {
            "no-tlab" | "no-tlab-emitted" => "-UseTLAB".to_string(),
            "no-tlab-lock" => "-UseTLAB,RefillStrategy=lock".to_string(),
            _ => {
                let refill = case.text("refill")?;
                let (tlab, object) = (case.size("tlab")?, case.size("size")?);
                if tlab == 0 {
                    format!("RefillStrategy={refill}")
                } else {
                    let first = tlab_size(tlab, object)?;
                    let region = region_bytes(bytes, tlab)?;
                    // Each thread fills a buffer before it detaches; otherwise buffers would be
                    // smaller than requested.
                    attached = attached.max(tlab);
                    bytes = bytes.max(region * MIN_REGIONS).max(tlab * case.threads);
                    let least = first.min(2 << 10);
                    format!(
                        "RefillStrategy={refill},RegionSize={region},TLABSize={first},MinTLABSize={least},-ResizeTLAB"
                    )
                }
            }
        };
        Ok(SharedPlan { bytes, options, attached: attached.min(bytes / case.threads) })
    }

    /// Pairs of objects that a thread allocates while it is attached.
    fn pairs(&self, bytes: usize) -> usize {
        (self.attached / (2 * bytes)).max(1)
    }

    /// The builder of the heap.
    ///
    /// # Errors
    /// An option does not take its value.
    pub(super) fn builder(&self) -> Result<HeapBuilder, OptionError> {
        let builder = Heap::builder().max_heap_size(self.bytes).collector(CollectorKind::Epsilon);
        builder.name("lab").options(&self.options)
    }
}

struct Shared<'a, F> {
    heap: &'a Heap,
    /// Allocates, and returns the number of objects that fit.
    body: F,
    /// Pairs of objects that the body allocates if there is room.
    pairs: usize,
    resets: &'a AtomicU64,
}

impl<F: FnMut(&mut Mutator<'_>) -> u64> Worker for Shared<'_, F> {
    #[inline]
    fn batch(&mut self) -> u64 {
        loop {
            let resets = self.resets.load(Ordering::Acquire);
            // No object is used after the thread has detached.
            let allocated = self.heap.attach(&mut self.body).unwrap_or(0);
            if allocated < 2 * self.pairs as u64 {
                self.reset(resets);
            }
            // A thread that found the heap full has done nothing yet.
            if allocated > 0 {
                return allocated;
            }
        }
    }
}

impl<F> Shared<'_, F> {
    /// Resets the heap, unless another thread has done so since `seen`.
    #[cold]
    fn reset(&self, seen: u64) {
        while self.resets.load(Ordering::Acquire) == seen {
            if self.heap.reset().is_ok() {
                self.resets.fetch_add(1, Ordering::Release);
                return;
            }
            std::thread::yield_now();
        }
    }
}

/// The heap's statistics of an iteration.
struct BufferCounts<'a> {
    heap: &'a Heap,
    before: TlabStatistics,
    /// Whether attempts can fail: under a lock they cannot.
    contended: bool,
}

impl Probe for BufferCounts<'_> {
    fn before(&mut self) {
        self.before = self.heap.tlab_totals().sum;
    }

    fn after(&mut self, _iteration: &Iteration) -> Vec<SecondaryValue> {
        let of = self.heap.tlab_totals().sum.since(&self.before);
        let attempts = of.compare_exchange_attempts as f64 / of.compare_exchange_successes as f64;
        let mut values = Vec::new();
        if self.contended {
            values.push(SecondaryValue::average(ATTEMPTS, "#/success", attempts));
        }
        if of.refills > 0 {
            let gibibytes = of.allocated as f64 / (1 << 30) as f64;
            values.push(SecondaryValue::average("refills", "#/GiB", of.refills as f64 / gibibytes));
            values.push(SecondaryValue::average("waste", "%", of.waste_percent()));
        }
        values
    }
}

/// Modes `shared`, `no-tlab`, `no-tlab-emitted` and `no-tlab-lock`.
pub(super) fn run<const BYTES: usize, P: Prefetch>(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let plan = SharedPlan::of(case)?;
    let heap = plan.builder()?.build()?;
    let pairs = plan.pairs(BYTES);
    let resets = AtomicU64::new(0);
    let contended = !plan.options.contains("RefillStrategy=lock");
    let mut probe = BufferCounts { heap: &heap, before: TlabStatistics::default(), contended };
    if case.mode == "no-tlab-emitted" {
        let object = Allocation::object(heap.register(Shape::fixed("object", BYTES))?)?;
        // No prefetch, as in the compiled loop without buffers.
        let emitter = Emitter::new(processor()?, PrefetchSettings::OFF)?.past_buffers(true);
        let code =
            EmittedLoop::new(&emitter, object, Initialise::PerObject, Form::Pasted, Between::default())?;
        return bench.measure_with(&mut probe, |_| {
            let (code, mut work) = (&code, Work::new(0));
            let body = move |mutator: &mut Mutator<'_>| code.allocate(mutator, pairs, &mut work);
            Ok(Shared { heap: &heap, body, pairs, resets: &resets })
        });
    }
    let site = site::<BYTES, PerObject, P>(&heap)?;
    bench.measure_with(&mut probe, |_| {
        let body = move |mutator: &mut Mutator<'_>| widest(&Plain { site, pairs }, mutator);
        Ok(Shared { heap: &heap, body, pairs, resets: &resets })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{JmhMode, TimeUnit};
    use allotment::raw::NoPrefetch;
    use std::time::Duration;

    fn plan(eden: usize, tlab: usize, threads: usize) -> SharedPlan {
        let params = [
            ("size", "64".to_string()),
            ("eden", eden.to_string()),
            ("tlab", tlab.to_string()),
            ("refill", "cas".into()),
        ];
        SharedPlan::of(&Case {
            experiment: "tlab".into(),
            mode: "shared".into(),
            jmh_mode: JmhMode::Throughput,
            unit: TimeUnit::Microseconds,
            threads,
            params: params.map(|(name, value)| (name.into(), value)).into(),
        })
        .unwrap()
    }

    #[test]
    fn buffers_are_as_large_as_asked_for() {
        for tlab in [1 << 10, 64 << 10, 256 << 10, 1 << 20, 8 << 20] {
            let plan = plan(4 << 20, tlab, 1);
            let heap = plan.builder().unwrap().build().unwrap();
            let (site, resets) = (site::<64, PerObject, NoPrefetch>(&heap).unwrap(), AtomicU64::new(0));
            let pairs = plan.pairs(64);
            let body = |mutator: &mut Mutator<'_>| widest(&Plain { site, pairs }, mutator);
            let mut worker = Shared { heap: &heap, body, pairs, resets: &resets };
            let mut probe = BufferCounts { heap: &heap, before: TlabStatistics::default(), contended: true };
            probe.before();
            while resets.load(Ordering::Relaxed) < 2 {
                worker.batch();
            }
            let time = Duration::from_secs(1);
            let iteration = Iteration { measured_operations: 1, all_operations: 1, time, window: time };
            let values = probe.after(&iteration);
            let refills = values.iter().find(|value| value.label == "refills").unwrap().value;
            assert!(
                (refills * tlab as f64 / f64::from(1 << 30) - 1.0).abs() < 0.01,
                "{tlab}: {refills} a GiB"
            );
        }
    }

    #[test]
    fn regions_are_the_heaps_choice_unless_a_buffer_is_larger() {
        for (eden, tlab, threads, region, bytes) in [
            (2 << 20, 0, 8, 256 << 10, 16 << 20),
            (2 << 20, 256 << 10, 8, 256 << 10, 16 << 20),
            (64 << 20, 64 << 10, 16, 512 << 10, 1 << 30),
            (4 << 20, 1 << 20, 1, 1 << 20, 16 << 20),
            (4 << 20, 264 << 10, 1, 512 << 10, 16 << 20),
            (4 << 20, 32 << 20, 1, 32 << 20, 320 << 20),
            (4 << 20, 32 << 20, 16, 32 << 20, 512 << 20),
        ] {
            let heap = plan(eden, tlab, threads).builder().unwrap().build().unwrap();
            let found = (heap.geometry().region_bytes(), heap.geometry().heap_bytes());
            assert_eq!(found, (region, bytes), "{eden} {tlab} {threads}");
        }
    }
}
