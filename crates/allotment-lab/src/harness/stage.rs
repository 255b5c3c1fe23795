//! The threads' side of a case: each sets up its scene, plays its worker through all iterations, and
//! reports to the controller.
//!
//! The controller ([`Bench`](super::Bench)) opens, times and sums up iterations. This module has the
//! steps of a thread from the gate to its part of an iteration.

use super::gate::Gate;
use super::iteration::{MeasuredWorker, Round, single};
use super::sampler::Sampler;
use super::watch::{Seen, Watch, Watcher};
use super::{JmhMode, SecondaryValue, Share, Thread, Worker};
use crate::machine::pin_current_thread;
use anyhow::{Context, anyhow, bail};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

/// The function that an experiment runs on each thread.
pub(super) type Scene<'a> = dyn Fn(&Thread, Play<'_>) -> anyhow::Result<()> + Sync + 'a;

/// A message of a thread to the controller.
pub(super) enum Note {
    Built,
    AllReady,
    Measured(Box<Part>),
    /// The thread has left its scene.
    Left,
    Failed(anyhow::Error),
}

/// A thread's part of an iteration.
pub(super) struct Part {
    pub(super) share: Share,
    pub(super) samples: Vec<(u64, u64)>,
    pub(super) secondary: Vec<SecondaryValue>,
    pub(super) seen: Seen,
}

/// The next message of a thread. A failure of a thread is an error.
pub(super) fn next(receiver: &Receiver<Note>) -> anyhow::Result<Note> {
    match receiver.recv() {
        Ok(Note::Failed(error)) => Err(error),
        Ok(note) => Ok(note),
        Err(_) => bail!("all threads ended early"),
    }
}

/// The state that the controller and the threads of a case share.
pub(super) struct Stage {
    pub(super) jmh_mode: JmhMode,
    pub(super) threads: usize,
    pub(super) rounds: Vec<Round>,
    pub(super) gate: Gate,
    pub(super) iteration_time: Duration,
    pub(super) watch: Watch,
}

impl Stage {
    pub(super) fn abort(&self) {
        self.rounds.iter().for_each(Round::abort);
        self.gate.close();
    }

    /// A measuring thread, from its start to its end.
    pub(super) fn perform(&self, thread: Thread, sender: &Sender<Note>, scene: &Scene<'_>) {
        let played = catch_unwind(AssertUnwindSafe(|| {
            if let Some(cpu) = thread.cpu {
                pin_current_thread(cpu).with_context(|| format!("cannot run on CPU {cpu}"))?;
            }
            let played = Cell::new(false);
            scene(&thread, Play { stage: self, thread, sender, played: &played })?;
            if played.get() {
                Ok(())
            } else {
                bail!("its scene ended before its worker had played to the end")
            }
        }));
        let result = played.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            Err(anyhow!("panicked: {}", text.unwrap_or("without a message")))
        });
        if let Err(error) = result {
            // Sent before the other threads are released, so that the controller gets the cause first.
            let _ = sender.send(Note::Failed(error.context(format!(
                "thread {} of {}",
                thread.index + 1,
                thread.count
            ))));
            self.abort();
        } else {
            let _ = sender.send(Note::Left);
        }
    }

    /// Plays a worker through all iterations. Sending fails only if the controller has given up; then
    /// the gate is closed too.
    fn play_all(
        &self,
        thread: Thread,
        sender: &Sender<Note>,
        worker: &mut dyn MeasuredWorker,
    ) -> anyhow::Result<()> {
        let mut sampler = Sampler::new(self.iteration_time, thread.index as u32 + 1);
        let mut watcher = Watcher::new(&self.watch)?;
        let _ = sender.send(Note::Built);
        for (index, round) in self.rounds.iter().enumerate() {
            if !idle(worker, || self.gate.wait(index))? {
                return Ok(());
            }
            worker.prepare()?;
            if !idle(worker, || round.prepared.attend(self.threads))? {
                return Ok(());
            }
            let all_ready = || drop(sender.send(Note::AllReady));
            let share = match self.jmh_mode {
                JmhMode::SingleShot => single(worker, &mut watcher),
                JmhMode::SampleTime => {
                    sampler.start_iteration();
                    let window =
                        |worker: &mut dyn MeasuredWorker, done: &_| worker.sampled(done, &mut sampler);
                    round.phases(worker, self.threads, &mut watcher, all_ready, window)
                }
                JmhMode::Throughput | JmhMode::AverageTime => {
                    let window = |worker: &mut dyn MeasuredWorker, done: &_| worker.counted(done);
                    round.phases(worker, self.threads, &mut watcher, all_ready, window)
                }
            };
            let sampled = self.jmh_mode == JmhMode::SampleTime;
            let samples = if sampled { sampler.counts() } else { Vec::new() };
            worker.finish()?;
            let secondary = worker.metrics(&share);
            let seen = watcher.seen()?;
            let _ = sender.send(Note::Measured(Box::new(Part { share, samples, secondary, seen })));
        }
        Ok(())
    }
}

/// Waits in the worker's own way. False if no iteration is left.
fn idle(worker: &mut dyn MeasuredWorker, mut wait: impl FnMut() -> bool) -> anyhow::Result<bool> {
    let mut waited = None;
    worker.idle(&mut || waited = Some(wait()));
    waited.context("its worker did not call `wait`")
}

/// A thread's turn to measure: taken once, by the scene that it was given to
/// ([`Bench::measure_within`](super::Bench::measure_within)).
pub struct Play<'a> {
    stage: &'a Stage,
    thread: Thread,
    sender: &'a Sender<Note>,
    /// Whether the worker has played to the end.
    played: &'a Cell<bool>,
}

impl Play<'_> {
    /// Plays the worker through all iterations, or until another thread fails.
    ///
    /// # Errors
    /// An error of the worker, which the scene must return.
    pub fn play<W: Worker>(self, mut worker: W) -> anyhow::Result<()> {
        self.stage.play_all(self.thread, self.sender, &mut worker)?;
        self.played.set(true);
        Ok(())
    }
}
