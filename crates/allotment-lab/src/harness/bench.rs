//! The fork's side: runs the threads of one case through all iterations.
//!
//! The threads live as long as the fork, so that thread-local state (a mutator, its buffer) warms
//! up like everything else. The calling thread is the controller: it opens the gate to an
//! iteration, sleeps, ends it and gathers.

use super::gate::Gate;
use super::host;
use super::iteration::Round;
use super::protocol::{IterationRecord, Measured};
use super::stage::{Note, Part, Play, Scene, Stage, next};
use super::watch::{self, Watch};
use super::{Case, Iteration, JmhMode, NoProbe, Plan, Probe, SecondaryValue, Share, Thread, Worker};
use crate::machine::{raise_open_files, stolen_milliseconds};
use crate::profile::{Clock, Image, Samples, listing};
use allotment::{Heap, Mutator};
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Measures one case. An experiment calls one of its methods, once.
pub struct Bench<'a> {
    case: &'a Case,
    plan: Plan,
    cpus: &'a [Option<usize>],
    watch: Watch,
    report: &'a mut dyn FnMut(IterationRecord) -> anyhow::Result<()>,
    iterations_done: u32,
    profile: Option<String>,
}

impl<'a> Bench<'a> {
    /// A bench for one case. `cpus` has the CPU of each thread that is bound to one.
    pub(super) fn new(
        case: &'a Case,
        plan: Plan,
        cpus: &'a [Option<usize>],
        report: &'a mut dyn FnMut(IterationRecord) -> anyhow::Result<()>,
    ) -> Bench<'a> {
        Bench { case, plan, cpus, watch: Watch::default(), report, iterations_done: 0, profile: None }
    }

    /// Sets what is watched.
    pub(super) fn watching(self, watch: &Watch) -> Bench<'a> {
        Bench { watch: watch.clone(), ..self }
    }

    /// The profile of the measured windows, if they were sampled.
    pub(super) fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// The number of iterations that have been reported, warm-up included.
    pub(super) fn iterations_done(&self) -> u32 {
        self.iterations_done
    }

    /// Runs a worker per thread, each made on its thread by `build`, through all iterations.
    ///
    /// # Errors
    /// An error of `build` or of a worker; a worker panicked or counted no operation; a thread cannot
    /// be bound to its CPU; the parent cannot be reached.
    pub fn measure<W: Worker>(
        &mut self,
        build: impl Fn(&Thread) -> anyhow::Result<W> + Sync,
    ) -> anyhow::Result<()> {
        self.measure_with(&mut NoProbe, build)
    }

    /// Runs workers as [`measure`](Self::measure) does, with a probe that reads shared state before
    /// and after each iteration.
    ///
    /// # Errors
    /// Those of [`Bench::measure`].
    pub fn measure_with<W: Worker>(
        &mut self,
        probe: &mut dyn Probe,
        build: impl Fn(&Thread) -> anyhow::Result<W> + Sync,
    ) -> anyhow::Result<()> {
        self.conduct_scenes(probe, &|thread, play| play.play(build(thread)?))
    }

    /// Runs workers that live within a scope on their thread, as a mutator does within
    /// `Heap::attach`. `scene` opens the scope, plays its worker and closes the scope. It is called
    /// once on each thread.
    ///
    /// ```no_run
    /// # use allotment_lab::harness::{Bench, NoProbe, Worker, keep};
    /// # struct Allocating<'m>(&'m mut u64);
    /// # impl Worker for Allocating<'_> {
    /// #     fn batch(&mut self) -> u64 { keep(&raw const *self.0); 1 }
    /// # }
    /// # fn attach<R>(body: impl FnOnce(&mut u64) -> R) -> R { body(&mut 0) }
    /// fn run(bench: &mut Bench<'_>) -> anyhow::Result<()> {
    ///     bench.measure_within(&mut NoProbe, |_thread, play| attach(|mutator| play.play(Allocating(mutator))))
    /// }
    /// ```
    ///
    /// # Errors
    /// Those of [`Bench::measure`]; an error of `scene`, even after the last iteration; a scene that
    /// ends without having played.
    pub fn measure_within(
        &mut self,
        probe: &mut dyn Probe,
        scene: impl Fn(&Thread, Play<'_>) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<()> {
        self.conduct_scenes(probe, &scene)
    }

    /// Runs workers as [`Bench::measure_within`] does, on threads that are attached to `heap`.
    ///
    /// # Errors
    /// Those of [`Bench::measure`]; a thread cannot be attached.
    pub fn measure_attached(
        &mut self,
        heap: &Heap,
        probe: &mut dyn Probe,
        scene: impl Fn(&Thread, &mut Mutator<'_>, Play<'_>) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<()> {
        self.conduct_scenes(probe, &|thread, play| heap.attach(|mutator| scene(thread, mutator, play))?)
    }

    fn conduct_scenes(&mut self, probe: &mut dyn Probe, scene: &Scene<'_>) -> anyhow::Result<()> {
        let count = self.plan.warmup_iterations + self.plan.iterations;
        let stage = Stage {
            jmh_mode: self.case.jmh_mode,
            threads: self.case.threads,
            rounds: (0..count).map(|_| Round::default()).collect(),
            gate: Gate::default(),
            iteration_time: self.plan.time,
            watch: self.watch.clone(),
        };
        if self.watch.counters.is_some() {
            // A file for each thread and event.
            raise_open_files().context("cannot raise the limit on open files")?;
        }
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            for index in 0..stage.threads {
                let thread =
                    Thread { index, count: stage.threads, cpu: self.cpus.get(index).copied().flatten() };
                let (sender, stage) = (sender.clone(), &stage);
                let body = move || stage.perform(thread, &sender, scene);
                if let Err(error) =
                    thread::Builder::new().name(format!("worker {index}")).spawn_scoped(scope, body)
                {
                    stage.abort();
                    return Err(error).context(format!(
                        "cannot start thread {} of {}",
                        index + 1,
                        stage.threads
                    ));
                }
            }
            drop(sender);
            let conducted = self.conduct(&stage, &receiver, probe);
            if conducted.is_err() {
                stage.abort();
            }
            conducted
        })
    }

    fn conduct(
        &mut self,
        stage: &Stage,
        receiver: &Receiver<Note>,
        probe: &mut dyn Probe,
    ) -> anyhow::Result<()> {
        for _ in 0..stage.threads {
            let Note::Built = next(receiver)? else { bail!("a thread measured before all were set up") };
        }
        let mut left = 0;
        let mut sampled: Option<(Samples, Clock)> = None;
        for (index, round) in stage.rounds.iter().enumerate() {
            let warmup = index < self.plan.warmup_iterations as usize;
            probe.before();
            let stolen = self.stolen();
            let start = Instant::now();
            stage.gate.open(index);
            if stage.jmh_mode != JmhMode::SingleShot {
                let Note::AllReady = next(receiver)? else {
                    bail!("a thread stopped before all had started")
                };
                let time = if warmup { self.plan.warmup_time } else { self.plan.time };
                match receiver.recv_timeout(time) {
                    Err(RecvTimeoutError::Timeout) => round.finish(),
                    Ok(Note::Failed(error)) => return Err(error),
                    Ok(_) | Err(RecvTimeoutError::Disconnected) => bail!("a thread stopped before its time"),
                }
            }
            let mut parts = Vec::new();
            while parts.len() < stage.threads {
                match next(receiver)? {
                    Note::Measured(part) => parts.push(*part),
                    // After the last iteration a thread does not wait for the others.
                    Note::Left => left += 1,
                    _ => bail!("a thread started an iteration before all had ended the last one"),
                }
            }
            let time = start.elapsed();
            for (samples, clock) in
                parts.iter().filter(|_| !warmup).filter_map(|part| part.seen.samples.as_ref())
            {
                sampled.get_or_insert_with(|| (Samples::default(), *clock)).0.merge(samples);
            }
            let stolen = stolen.and_then(|before| Some(self.stolen()? - before));
            let record = self.record(warmup, &parts, time, stolen, probe)?;
            (self.report)(record)?;
            self.iterations_done += 1;
        }
        // The listing is made while the code that threads have made still exists.
        self.profile = sampled.map(|(samples, clock)| listing(&samples, clock, &Image::of_this_process()));
        while left < stage.threads {
            let Note::Left = next(receiver)? else { bail!("a thread measured one iteration too many") };
            left += 1;
        }
        Ok(())
    }

    /// Milliseconds of stolen time since boot, if they are counted here.
    fn stolen(&self) -> Option<f64> {
        self.watch.counters.as_ref().and_then(|_| stolen_milliseconds(Path::new("/")))
    }

    /// The parts of all threads as one record.
    fn record(
        &self,
        warmup: bool,
        parts: &[Part],
        time: Duration,
        stolen: Option<f64>,
        probe: &mut dyn Probe,
    ) -> anyhow::Result<IterationRecord> {
        if let Some(idle) = parts.iter().find(|part| part.share.measured_operations == 0) {
            bail!("a thread counted no operation in {:?}; a batch must count at least one", idle.share.time);
        }
        let unit = self.case.unit.nanoseconds();
        let nanoseconds = |share: &Share| (share.time.as_nanos() as f64).max(1.0);
        let shares = || parts.iter().map(|part| &part.share);
        let threads = parts.len() as f64;
        let measured = match self.case.jmh_mode {
            JmhMode::Throughput => Measured::Value(
                shares().map(|share| share.measured_operations as f64 / nanoseconds(share) * unit).sum(),
            ),
            JmhMode::AverageTime | JmhMode::SingleShot => {
                let of = |share| nanoseconds(share) / share.measured_operations as f64 / unit;
                Measured::Value(shares().map(of).sum::<f64>() / threads)
            }
            JmhMode::SampleTime => {
                let mut joined = BTreeMap::new();
                for &(value, times) in parts.iter().flat_map(|part| &part.samples) {
                    *joined.entry(value).or_insert(0) += times;
                }
                Measured::Histogram(joined.into_iter().collect())
            }
        };
        let iteration = Iteration {
            measured_operations: shares().map(|share| share.measured_operations).sum(),
            all_operations: shares().map(|share| share.all_operations).sum(),
            time,
            window: shares().map(|share| share.time).max().unwrap_or_default(),
        };
        let mut secondary = over_threads(parts);
        if self.case.jmh_mode == JmhMode::SingleShot {
            if parts.len() > 1 {
                secondary.push(SecondaryValue::average("wall", "ms", wall(shares()).as_secs_f64() * 1e3));
            }
            secondary.extend(host::rows(self.case, parts.len()));
        }
        secondary.extend(probe.after(&iteration));
        if let Some(plan) = &self.watch.counters {
            let readings = parts.iter().map(|part| &part.seen.readings[..]);
            secondary.extend(watch::metrics(plan, readings, iteration.measured_operations, stolen));
        }
        secondary.retain(|metric| metric.value.is_finite());
        let calls = shares().map(|share| share.calls).min().unwrap_or(0);
        let call = shares().map(|share| nanoseconds(share) / share.calls as f64).sum::<f64>() / threads;
        Ok(IterationRecord { warmup, measured, calls, nanoseconds_per_call: call, secondary })
    }
}

/// The time from the beginning of the first thread to the end of the last.
fn wall<'a>(shares: impl Iterator<Item = &'a Share> + Clone) -> Duration {
    let begins = || shares.clone().filter_map(|share| Some((share.began?, share.time)));
    let (first, last) =
        (begins().map(|(began, _)| began).min(), begins().map(|(began, time)| began + time).max());
    first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first)
}

/// Combines the threads' values of equal label, in order of first appearance.
fn over_threads(parts: &[Part]) -> Vec<SecondaryValue> {
    use crate::format::Combine;
    let mut found: Vec<(SecondaryValue, f64)> = Vec::new();
    for value in parts.iter().flat_map(|part| &part.secondary).filter(|value| value.value.is_finite()) {
        match found.iter_mut().find(|(known, _)| known.label == value.label) {
            None => found.push((value.clone(), 1.0)),
            Some((known, count)) => {
                *count += 1.0;
                match known.combine {
                    Combine::Average | Combine::Sum => known.value += value.value,
                    Combine::Maximum => known.value = known.value.max(value.value),
                }
            }
        }
    }
    for (value, count) in &mut found {
        if value.combine == Combine::Average {
            value.value /= *count;
        }
    }
    found.into_iter().map(|(value, _)| value).collect()
}

#[cfg(test)]
#[path = "bench_tests.rs"]
mod tests;
