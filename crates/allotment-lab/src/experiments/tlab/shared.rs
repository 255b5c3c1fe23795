//! Threads that share regions: buffers by compare-and-swap or lock, or no buffers at all.
//!
//! A thread allocates an eden's worth (at most, a call's) and detaches. When the heap is full, whoever
//! notices waits until the others have noticed too; the last one resets the heap, and everything is used
//! again by the cores that wrote it last. That is a stop-the-world collection that finds nothing alive. A
//! barrier would be simpler, and would hang when a thread leaves the measured window before the others.

use super::library::Plain;
use super::widest::widest;
use crate::harness::{Bench, Case, Iteration, Probe, SecondaryValue, Worker};
use allotment::Heap;
use allotment::mutator::{PerObject, Prefetch, Site};
use allotment::object::Shape;
use allotment::options::CollectorKind;
use allotment::tlab::statistics::TlabStatistics;
use anyhow::Context;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes a thread allocates between attaching and detaching, with and without buffers: enough that
/// attaching, about a microsecond, does not show.
const ATTACHED_BYTES: (usize, usize) = (4 << 20, 256 << 10);

struct Shared<'a, const BYTES: usize, P: Prefetch> {
    heap: &'a Heap,
    body: Plain<BYTES, PerObject, P>,
    resets: &'a AtomicU64,
}

impl<const BYTES: usize, P: Prefetch> Worker for Shared<'_, BYTES, P> {
    #[inline]
    fn batch(&mut self) -> u64 {
        loop {
            let resets = self.resets.load(Ordering::Acquire);
            // No object is used after the thread has detached.
            let allocated = self.heap.attach(|mutator| widest(&self.body, mutator)).unwrap_or(0);
            if allocated < 2 * self.body.pairs as u64 {
                self.reset(resets);
            }
            // A thread that found the heap full has done nothing yet.
            if allocated > 0 {
                return allocated;
            }
        }
    }
}

impl<const BYTES: usize, P: Prefetch> Shared<'_, BYTES, P> {
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

/// What the heap's statistics say of an iteration.
struct Statistics<'a> {
    heap: &'a Heap,
    before: TlabStatistics,
    /// Whether attempts can fail: under a lock they cannot.
    contended: bool,
}

impl Probe for Statistics<'_> {
    fn before(&mut self) {
        self.before = self.heap.tlab_totals().sum;
    }

    fn after(&mut self, _iteration: &Iteration) -> Vec<SecondaryValue> {
        let of = self.heap.tlab_totals().sum.since(&self.before);
        let attempts = of.compare_exchange_attempts as f64 / of.compare_exchange_successes as f64;
        let mut values = Vec::new();
        if self.contended {
            values.push(SecondaryValue::average("cas.attempts", "#/success", attempts));
        }
        if of.refills > 0 {
            let gibibytes = of.allocated as f64 / (1 << 30) as f64;
            values.push(SecondaryValue::average("refills", "#/GiB", of.refills as f64 / gibibytes));
            values.push(SecondaryValue::average("waste", "%", of.waste_percent()));
        }
        values
    }
}

/// Modes `shared`, `cas` and `lock`.
pub(super) fn run<const BYTES: usize, P: Prefetch>(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let eden = case.size("eden")?;
    let options = match case.mode.as_str() {
        "cas" => "-UseTLAB".to_string(),
        "lock" => "-UseTLAB,RefillStrategy=lock".to_string(),
        _ => match case.size("tlab")? {
            0 => format!("RefillStrategy={}", case.text("refill")?),
            // A refill asks for TLABSize and the object: together a divisor of the region.
            size => {
                let first = size.saturating_sub(BYTES).max(64);
                let (refill, min) = (case.text("refill")?, first.min(2 << 10));
                format!("RefillStrategy={refill},TLABSize={first},MinTLABSize={min},-ResizeTLAB")
            }
        },
    };
    let bytes = (eden * case.threads).max(16 << 20);
    let builder = Heap::builder().max_heap_size(bytes).collector(CollectorKind::Epsilon);
    let heap = builder.options(&options)?.name("lab").build()?;
    let shape = heap.register(Shape::fixed("object", BYTES))?;
    let site = Site::new(shape).context("the shape has the site's size")?;
    let resets = AtomicU64::new(0);
    let attached = if case.mode == "shared" { ATTACHED_BYTES.0 } else { ATTACHED_BYTES.1 };
    let pairs = (attached.min(bytes / case.threads) / (2 * BYTES)).max(1);
    let contended = !options.contains("RefillStrategy=lock");
    let mut probe = Statistics { heap: &heap, before: TlabStatistics::default(), contended };
    bench.measure_with(&mut probe, |_| {
        Ok(Shared::<BYTES, P> { heap: &heap, body: Plain { site, pairs }, resets: &resets })
    })
}
