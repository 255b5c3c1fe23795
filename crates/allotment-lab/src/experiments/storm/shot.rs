//! A storm: a heap, a thread that uses it alone, and then all threads at once.
//!
//! The controller prepares everything before the shot ([`Prepared`]).

use super::figures::{Times, figures};
use super::operation::{Operations, Ring, ring};
use super::plan::StormPlan;
use crate::experiments::crew::{Crew, Start};
use crate::experiments::first_collection::FirstCollection;
use crate::experiments::heap_use::HeapUse;
use crate::experiments::prepared::Prepared;
use crate::harness::{Iteration, Probe, SecondaryValue};
use crate::machine::{CpuAccount, stolen_milliseconds};
use allotment::{Heap, Mutator, Root, root};
use anyhow::Context;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Threads that are ready to begin.
pub(super) struct Storm {
    heap_use: HeapUse,
    first: FirstCollection,
    /// The time that the hypervisor had taken before the instant, in ms.
    stolen_before: Option<f64>,
    crew: Crew<Times>,
    /// The times of the threads, once all are done.
    times: Vec<Times>,
}

impl Storm {
    /// Makes a heap, uses it, and starts the threads.
    pub(super) fn prepare(plan: &StormPlan) -> anyhow::Result<Storm> {
        let first = FirstCollection::default();
        let (heap, mut heap_use) = HeapUse::listening(plan.builder()?, first.hook())?;
        let rings = alone(&heap, plan).context("before the start")?;
        let parts = rings.into_iter().enumerate().map(|(index, ring)| {
            let part = Part { ring, index, operations: plan.operations, pace: plan.pace };
            move |mutator: &mut Mutator<'_>, start: &Start| part.play(mutator, start)
        });
        let crew = Crew::ready("mutator", &heap, parts)?;
        first.begin(&heap);
        heap_use.before();
        let stolen_before = stolen_milliseconds(Path::new("/"));
        Ok(Storm { heap_use, first, stolen_before, crew, times: Vec::new() })
    }
}

impl Prepared for Storm {
    fn release(&mut self) {
        self.crew.begin();
        self.crew.wait();
    }

    fn gather(&mut self) -> anyhow::Result<()> {
        self.times = self.crew.join()?;
        Ok(())
    }

    fn figures(&mut self, iteration: &Iteration) -> Vec<SecondaryValue> {
        let mut values = figures(&self.times);
        if let Some(waste) = self.first.end() {
            values.push(SecondaryValue::average("first-gc.waste", "%", waste));
        }
        if let Some((after, before)) = stolen_milliseconds(Path::new("/")).zip(self.stolen_before) {
            values.push(SecondaryValue::average("stolen", "ms", after - before));
        }
        values.extend(self.heap_use.after(iteration));
        values
    }
}

impl Drop for Storm {
    fn drop(&mut self) {
        self.first.end();
    }
}

/// One thread uses the heap for a while. Then it makes the rings of all threads of the storm, so
/// these threads have allocated nothing yet.
fn alone(heap: &Heap, plan: &StormPlan) -> anyhow::Result<Vec<Root<Ring>>> {
    heap.attach(|mutator| {
        root!(mutator, own = ring(mutator)?);
        let mut operations = Operations::new(plan.mutators);
        for _ in 0..plan.before {
            operations.perform(mutator, own)?;
        }
        let mut rings = Vec::with_capacity(plan.mutators);
        for _ in 0..plan.mutators {
            root!(mutator, made = ring(mutator)?);
            rings.push(Root::new(mutator, made.get(mutator)));
        }
        Ok(rings)
    })?
}

/// The resources of a thread of the storm.
struct Part {
    ring: Root<Ring>,
    index: usize,
    operations: usize,
    pace: Duration,
}

impl Part {
    /// Waits for the instant, and performs the operations.
    fn play(self, mutator: &mut Mutator<'_>, start: &Start) -> anyhow::Result<Option<Times>> {
        let Part { ring, index, operations: count, pace } = self;
        root!(mutator, kept = ring.get(mutator));
        drop(ring);
        let mut operations = Operations::new(index);
        // The pages are written to, so that no measured time contains a page fault here.
        let mut times = vec![Duration::MAX; count];
        let mut overslept = vec![Duration::MAX; if pace.is_zero() { 0 } else { count.saturating_sub(1) }];
        // The kernel is asked only if threads sleep between operations. Without sleep the call
        // would be part of the score.
        let account = (!pace.is_zero()).then(CpuAccount::of_this_thread).flatten();
        let had = || account.as_ref().and_then(CpuAccount::time);
        let mut longest = (Duration::ZERO, None);
        let Some(instant) = mutator.blocking(|| start.wait()) else { return Ok(None) };
        for (number, time) in times.iter_mut().enumerate() {
            if number > 0 && !pace.is_zero() {
                let asleep = Instant::now();
                mutator.blocking(|| thread::sleep(pace));
                overslept[number - 1] = asleep.elapsed().saturating_sub(pace);
            }
            let before = had();
            let begun = Instant::now();
            let performed = operations.perform(mutator, kept);
            *time = begun.elapsed();
            if *time > longest.0 {
                longest = (*time, had().zip(before).map(|(after, before)| after - before));
            }
            performed.with_context(|| format!("operation {} of {count}", number + 1))?;
        }
        Ok(Some(Times { operations: times, of_longest: longest.1, overslept, total: instant.elapsed() }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::plan;
    use super::*;

    fn storm(plan: &StormPlan) -> anyhow::Result<Storm> {
        let mut storm = Storm::prepare(plan)?;
        storm.release();
        storm.gather()?;
        Ok(storm)
    }

    fn iteration() -> Iteration {
        let time = Duration::from_secs(1);
        Iteration { measured_operations: 1, all_operations: 1, time, window: time }
    }

    #[test]
    fn every_operation_of_every_thread_has_its_time() {
        let plan = plan("mark-compact", 8, 5, "16777216");
        let mut storm = storm(&plan).unwrap();
        assert_eq!(storm.times.len(), 8);
        for times in &storm.times {
            let sum: Duration = times.operations.iter().sum();
            assert!(times.operations.len() == 5 && sum + 4 * plan.pace <= times.total, "{times:?}");
        }
        let values = storm.figures(&iteration());
        let has = |label: &str| values.iter().any(|value| value.label == label && value.value.is_finite());
        assert!(["op.p99", "first.over-1ms", "thread.p50", "tlab.waste"].into_iter().all(has), "{values:?}");
        storm.heap_use.heap.attach(|mutator| mutator.collect()).unwrap();
        assert_eq!(
            storm.heap_use.heap.collections().recent.back().unwrap().live_objects,
            0,
            "the rings went with their threads"
        );
    }

    #[test]
    fn threads_share_a_heap_that_has_to_be_collected() {
        for collector in ["mark-compact", "parallel"] {
            // 16 threads allocate 12 MiB in a heap of 8 MiB.
            let mut storm = storm(&plan(collector, 16, 40, "8388608")).unwrap();
            let values = storm.figures(&iteration());
            let of = |label: &str| values.iter().find(|value| value.label == label).unwrap().value;
            let (young, full) = (of("gc.young"), of("gc.full"));
            if collector == "parallel" {
                // The rings have been filled, so their objects are copied.
                assert!(young >= 1.0 && of("gc.moved") > 0.0 && of("gc.young.object") > 0.0, "{values:?}");
            } else {
                assert!(young == 0.0 && full >= 1.0, "{values:?}");
            }
            assert!((0.0..=100.0).contains(&of("first-gc.waste")), "{values:?}");
        }
    }

    #[test]
    fn a_heap_that_is_too_small_is_an_error_and_leaves_nobody_behind() {
        let error = storm(&plan("epsilon", 4, 1000, "8388608")).err().unwrap();
        let text = format!("{error:#}");
        assert!(text.contains("mutator") && text.contains("operation"), "{text}");
        let mut full = plan("epsilon", 4, 1, "8388608");
        full.before = 1000;
        let error = storm(&full).err().unwrap();
        assert!(format!("{error:#}").starts_with("before the start"), "{error:#}");
    }

    #[test]
    fn a_storm_that_is_called_off_ends_its_threads() {
        let storm = Storm::prepare(&plan("mark-compact", 3, 1, "16777216")).unwrap();
        let heap = storm.heap_use.heap.clone();
        assert_eq!(heap.metrics().threads.now, 3);
        drop(storm);
        assert_eq!(heap.metrics().threads.now, 0);
    }
}
