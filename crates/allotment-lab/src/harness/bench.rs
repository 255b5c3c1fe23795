//! The fork's side: runs the threads of one case through all iterations.
//!
//! The threads live as long as the fork, so that thread-local state (a mutator, its buffer) warms up like
//! everything else. The calling thread is the controller: it opens the gate to an iteration, sleeps, ends it
//! and gathers.

use super::iteration::{Round, single};
use super::protocol::{IterationRecord, Measured};
use super::sampler::Sampler;
use super::{Case, Iteration, JmhMode, NoProbe, Plan, Probe, SecondaryValue, Share, Thread, Worker};
use crate::machine::pin_current_thread;
use anyhow::{Context, anyhow, bail};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Measures one case. An experiment gets one and calls one of its methods once.
pub struct Bench<'a> {
    case: &'a Case,
    plan: Plan,
    cpus: &'a [Option<usize>],
    report: &'a mut dyn FnMut(IterationRecord) -> anyhow::Result<()>,
    iterations_done: u32,
}

impl<'a> Bench<'a> {
    /// A bench for one case; `cpus` holds for each thread the CPU it is bound to, if any.
    pub(super) fn new(
        case: &'a Case,
        plan: Plan,
        cpus: &'a [Option<usize>],
        report: &'a mut dyn FnMut(IterationRecord) -> anyhow::Result<()>,
    ) -> Bench<'a> {
        Bench { case, plan, cpus, report, iterations_done: 0 }
    }

    /// How many iterations, warm-up included, have been reported.
    pub(super) fn iterations_done(&self) -> u32 {
        self.iterations_done
    }

    /// Runs a worker per thread, each made on its thread by `build`, through all iterations.
    ///
    /// # Errors
    /// What `build` or a worker returned; a worker that panicked or counted no operation; a CPU that cannot
    /// be had; results that cannot be handed to the parent.
    pub fn measure<W: Worker>(
        &mut self,
        build: impl Fn(&Thread) -> anyhow::Result<W> + Sync,
    ) -> anyhow::Result<()> {
        self.measure_with(&mut NoProbe, build)
    }

    /// The same, with a probe that looks at shared state before and after each iteration.
    ///
    /// # Errors
    /// As [`Bench::measure`].
    pub fn measure_with<W: Worker>(
        &mut self,
        probe: &mut dyn Probe,
        build: impl Fn(&Thread) -> anyhow::Result<W> + Sync,
    ) -> anyhow::Result<()> {
        self.conduct_scenes(probe, |thread, play| play.play(build(thread)?))
    }

    /// For workers that live inside something with a beginning and an end on their thread, as a mutator
    /// does inside `Heap::attach`: `scene` sets it up, plays its worker, and takes it down.
    ///
    /// # Errors
    /// As [`Bench::measure`]; what `scene` returned.
    pub fn measure_within(
        &mut self,
        scene: impl Fn(&Thread, Play<'_>) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<()> {
        self.conduct_scenes(&mut NoProbe, scene)
    }

    fn conduct_scenes(
        &mut self,
        probe: &mut dyn Probe,
        scene: impl Fn(&Thread, Play<'_>) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<()> {
        let count = self.plan.warmup_iterations + self.plan.iterations;
        let stage = Stage {
            jmh_mode: self.case.jmh_mode,
            threads: self.case.threads,
            rounds: (0..count).map(|_| Round::default()).collect(),
            gate: Gate::default(),
            iteration_time: self.plan.time,
        };
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            for index in 0..stage.threads {
                let thread =
                    Thread { index, count: stage.threads, cpu: self.cpus.get(index).copied().flatten() };
                let (sender, stage, scene) = (sender.clone(), &stage, &scene);
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
        for (index, round) in stage.rounds.iter().enumerate() {
            let warmup = index < self.plan.warmup_iterations as usize;
            probe.before();
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
                let Note::Measured(part) = next(receiver)? else { bail!("a thread started out of turn") };
                parts.push(*part);
            }
            let time = start.elapsed();
            let record = self.record(warmup, &parts, time, probe)?;
            (self.report)(record)?;
            self.iterations_done += 1;
        }
        Ok(())
    }

    /// All threads' parts as one record.
    fn record(
        &self,
        warmup: bool,
        parts: &[Part],
        time: Duration,
        probe: &mut dyn Probe,
    ) -> anyhow::Result<IterationRecord> {
        if let Some(idle) = parts.iter().find(|part| part.share.measured_operations == 0) {
            bail!("a thread counted no operation in {:?}", idle.share.time);
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
        };
        let mut secondary = over_threads(parts);
        secondary.extend(probe.after(&iteration));
        secondary.retain(|metric| metric.value.is_finite());
        let calls = shares().map(|share| share.calls).min().unwrap_or(0);
        let call = shares().map(|share| nanoseconds(share) / share.calls as f64).sum::<f64>() / threads;
        Ok(IterationRecord { warmup, measured, calls, nanoseconds_per_call: call, secondary })
    }
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

/// What a thread tells the controller.
enum Note {
    Built,
    AllReady,
    Measured(Box<Part>),
    Failed(anyhow::Error),
}

/// A thread's part of an iteration.
struct Part {
    share: Share,
    samples: Vec<(u64, u64)>,
    secondary: Vec<SecondaryValue>,
}

fn next(receiver: &Receiver<Note>) -> anyhow::Result<Note> {
    match receiver.recv() {
        Ok(Note::Failed(error)) => Err(error),
        Ok(note) => Ok(note),
        Err(_) => bail!("all threads ended early"),
    }
}

/// What the controller and the threads of a case share.
struct Stage {
    jmh_mode: JmhMode,
    threads: usize,
    rounds: Vec<Round>,
    gate: Gate,
    iteration_time: Duration,
}

impl Stage {
    fn abort(&self) {
        self.rounds.iter().for_each(Round::abort);
        self.gate.close();
    }

    /// A measuring thread, from its start to its end.
    fn perform(
        &self,
        thread: Thread,
        sender: &Sender<Note>,
        scene: &(impl Fn(&Thread, Play<'_>) -> anyhow::Result<()> + Sync),
    ) {
        let played = catch_unwind(AssertUnwindSafe(|| {
            if let Some(cpu) = thread.cpu {
                pin_current_thread(cpu).with_context(|| format!("cannot run on CPU {cpu}"))?;
            }
            scene(&thread, Play { stage: self, thread, sender })
        }));
        let result = played.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            Err(anyhow!("panicked: {}", text.unwrap_or("without a message")))
        });
        if let Err(error) = result {
            // Told before the others are let go, so that the controller hears the cause first.
            let _ = sender.send(Note::Failed(error.context(format!(
                "thread {} of {}",
                thread.index + 1,
                thread.count
            ))));
            self.abort();
        }
    }

    /// Sending fails only when the controller has given up; then the gate is closed too.
    fn play_all<W: Worker>(
        &self,
        thread: Thread,
        sender: &Sender<Note>,
        mut worker: W,
    ) -> anyhow::Result<()> {
        let mut sampler = Sampler::new(self.iteration_time, thread.index as u32 + 1);
        let _ = sender.send(Note::Built);
        for (index, round) in self.rounds.iter().enumerate() {
            let mut open = None;
            worker.idle(&mut || open = Some(self.gate.wait(index)));
            match open {
                None => bail!("its worker did not wait when told to"),
                Some(false) => return Ok(()),
                Some(true) => worker.prepare()?,
            }
            let all_ready = || drop(sender.send(Note::AllReady));
            let share = match self.jmh_mode {
                JmhMode::SingleShot => single(&mut worker),
                JmhMode::SampleTime => round.sample(&mut worker, self.threads, &mut sampler, all_ready),
                JmhMode::Throughput | JmhMode::AverageTime => {
                    round.count(&mut worker, self.threads, all_ready)
                }
            };
            let sampled = self.jmh_mode == JmhMode::SampleTime;
            let samples = if sampled { sampler.counts() } else { Vec::new() };
            let secondary = worker.metrics(&share);
            let _ = sender.send(Note::Measured(Box::new(Part { share, samples, secondary })));
        }
        Ok(())
    }
}

/// A thread's turn to measure: taken once.
pub struct Play<'a> {
    stage: &'a Stage,
    thread: Thread,
    sender: &'a Sender<Note>,
}

impl Play<'_> {
    /// Takes the worker through all iterations.
    ///
    /// # Errors
    /// What the worker returned.
    pub fn play<W: Worker>(self, worker: W) -> anyhow::Result<()> {
        self.stage.play_all(self.thread, self.sender, worker)
    }
}

/// Where threads wait for their next iteration.
#[derive(Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    /// Iterations that may be entered: those with a smaller index.
    entered: usize,
    closed: bool,
}

impl Gate {
    fn open(&self, index: usize) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).entered = index + 1;
        self.changed.notify_all();
    }

    fn close(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.changed.notify_all();
    }

    /// Waits for an iteration; false if there will be none.
    fn wait(&self, index: usize) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let blocked = |state: &mut GateState| state.entered <= index && !state.closed;
        let state = self.changed.wait_while(state, blocked).unwrap_or_else(PoisonError::into_inner);
        !state.closed
    }
}

#[cfg(test)]
#[path = "bench_tests.rs"]
mod tests;
