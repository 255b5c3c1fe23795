//! A shot: a heap, the threads of a case, and their results.
//!
//! The controller makes the heap and starts the threads, which make what lives ([`Prepared`]). All
//! begin at the same instant, and end when the time of the shot is over.

use super::figures::figures;
use super::plan::PressurePlan;
use super::watch::Done;
use crate::experiments::crew::{Crew, Start};
use crate::experiments::heap_use::HeapUse;
use crate::experiments::prepared::Prepared;
use crate::harness::{Iteration, Probe, SecondaryValue};
use crate::hold::hold;
use crate::machine::process_cpu_time;
use allotment::Mutator;
use allotment::stats::CollectionRecord;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The work of a thread: it prepares, waits for the instant, and works until the shot is over.
pub(super) type Part = Box<dyn FnOnce(&mut Mutator<'_>, &Start) -> anyhow::Result<Option<Done>> + Send>;

/// The times to the safepoint of the stops since the beginning.
type Stops = Arc<Mutex<Vec<Duration>>>;

/// Threads that are ready to begin.
pub(super) struct Shot {
    heap_use: HeapUse,
    stops: Stops,
    crew: Crew<Done>,
    /// CPU time that the process had in the shot, in percent of all CPUs.
    cpu: f64,
    done: Done,
}

impl Shot {
    /// Makes a heap, and starts the threads.
    pub(super) fn prepare(plan: &PressurePlan) -> anyhow::Result<Shot> {
        let stops = Stops::default();
        let own = Arc::clone(&stops);
        let (heap, heap_use) = HeapUse::listening(plan.builder()?, move |record| listen(&own, record))?;
        let crew = Crew::ready("thread", &heap, plan.parts(&heap)?.into_iter())?;
        Ok(Shot { heap_use, stops, crew, cpu: f64::NAN, done: Done::default() })
    }
}

fn listen(stops: &Stops, record: &CollectionRecord) {
    match record.cycle() {
        Some(cycle) => hold(stops).extend(&cycle.times_to_safepoint),
        None => hold(stops).push(record.time_to_safepoint),
    }
}

impl Prepared for Shot {
    fn release(&mut self) {
        hold(&self.stops).clear();
        self.heap_use.before();
        let (began, before) = (Instant::now(), process_cpu_time());
        self.crew.begin();
        self.crew.wait();
        let (time, cpu) = (began.elapsed(), process_cpu_time().saturating_sub(before));
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        self.cpu = 100.0 * cpu.as_secs_f64() / (time.as_secs_f64() * cpus as f64);
    }

    fn gather(&mut self) -> anyhow::Result<()> {
        self.crew.join()?.into_iter().for_each(|done| self.done.add(done));
        Ok(())
    }

    fn figures(&mut self, iteration: &Iteration) -> Vec<SecondaryValue> {
        let mut values = figures(&self.done, &hold(&self.stops), self.cpu);
        values.extend(self.heap_use.after(iteration));
        values
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::plan;
    use super::*;
    use crate::experiments::heap_use::tests::{iteration, value};

    fn shot(mode: &str, collector: &str) -> (Done, Vec<SecondaryValue>) {
        let mut shot = Shot::prepare(&plan(mode, collector)).unwrap();
        shot.release();
        shot.gather().unwrap_or_else(|error| panic!("{mode} with {collector}: {error:#}"));
        let values = shot.figures(&iteration());
        (shot.done, values)
    }

    /// Collections of all kinds.
    fn collections(values: &[SecondaryValue]) -> f64 {
        let of = |label: &&str| values.iter().find(|value| value.label == *label).map(|value| value.value);
        ["gc.young", "gc.full", "gc.concurrent", "gc.degenerated"].iter().filter_map(of).sum()
    }

    /// Shots of a case, of which one has a collection.
    const SHOTS: usize = 50;

    #[test]
    fn every_case_works_until_the_shot_is_over_and_its_heap_collects() {
        for collector in ["mark-compact", "parallel", "shenandoah", "genshen"] {
            for mode in ["humongous", "innocent", "burst", "tight", "threads", "ttsp", "rootsmany", "graph"] {
                // On a busy machine a shot may be over before its heap is full.
                let (done, values) = (0..SHOTS)
                    .map(|_| shot(mode, collector))
                    .find(|(_, values)| collections(values) >= 1.0)
                    .unwrap_or_else(|| panic!("{mode} with {collector}: no collection in {SHOTS} shots"));
                assert!(done.work > 0 && !done.times.is_empty(), "{mode} with {collector}: {done:?}");
                assert_eq!(value(&values, "work"), done.work as f64);
                let longest = value(&values, "op.max");
                assert!(value(&values, "op.p50") <= longest && longest > 0.0, "{mode}: {values:?}");
                assert!(value(&values, "ttsp.max") <= value(&values, "pause.max"), "{mode}: {values:?}");
                assert!(value(&values, "cpu") > 0.0, "{values:?}");
            }
        }
    }

    #[test]
    fn a_full_heap_fails_in_the_end() {
        let (done, values) = shot("giveup", "epsilon");
        assert!(done.failed > 0 && done.first_failure.is_some(), "{done:?}");
        assert_eq!((value(&values, "failed"), collections(&values)), (done.failed as f64, 0.0));
        assert!(value(&values, "failed.first") >= 0.0, "{values:?}");
        let (done, values) = shot("giveup", "parallel");
        assert!(done.work + done.failed > 0 && collections(&values) >= 1.0, "{done:?}");
    }

    #[test]
    fn every_request_is_answered() {
        for collector in ["mark-compact", "parallel", "shenandoah", "genshen"] {
            let (done, values) = shot("gcstorm", collector);
            assert_eq!((done.work, done.failed, done.times.len()), (16, 0, 16));
            let answered = collections(&values);
            assert!((1.0..=16.0).contains(&answered), "{collector}: {values:?}");
        }
    }

    #[test]
    fn what_a_peak_leaves_is_looked_at_three_times() {
        let (done, values) = shot("shrink", "parallel");
        let names: Vec<&str> = done.resident.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["rss.full", "rss.quiet", "rss.light"]);
        assert!(names.iter().all(|name| value(&values, name) > 0.0), "{values:?}");
        assert!(value(&values, "rss.full") <= value(&values, "rss.peak"), "{values:?}");
    }
}
