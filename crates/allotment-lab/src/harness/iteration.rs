//! One thread's iteration: working up to the start, through the measured window, and until all have
//! stopped.
//!
//! ```text
//! announce ready, work | clock, work until done, clock | announce stopped, work
//! until all are ready  |       the measured window     | until all have stopped
//! ```
//!
//! So no thread measures while another is not yet working or works no more. Threads have met before
//! ([`Meeting`]); starting the window with that was refused: they leave a meeting apart, if only by
//! little, and the first runs alone for that long. A single shot has no choice: it is one call,
//! begun at the meeting.

use super::meeting::Meeting;
use super::sampler::Sampler;
use super::watch::Watcher;
use super::{Share, Worker};
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// The state that the threads of one iteration share. Each part has cache lines of its own: `done`
/// is read with every call, and a neighbour that is written would cost all readers.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// Where all meet who have prepared.
    pub(super) prepared: Meeting,
    /// Threads that are working. Written by each once.
    ready: CachePadded<AtomicUsize>,
    /// Set by the controller when the time is over.
    done: CachePadded<AtomicBool>,
    /// Threads that have left the window. Written by each once.
    stopped: CachePadded<AtomicUsize>,
    /// Set when a thread has failed, so that nobody waits for it.
    aborted: CachePadded<AtomicBool>,
}

impl Round {
    /// Ends the measured window of all threads.
    pub(super) fn finish(&self) {
        self.done.store(true, Ordering::Release);
    }

    /// Ends all phases of all threads at once.
    pub(super) fn abort(&self) {
        self.aborted.store(true, Ordering::Release);
        self.finish();
        self.prepared.call_off();
    }

    /// Works until `threads` have arrived at `counter`; returns the operations done meanwhile.
    /// `arrived` is called by the last thread to arrive.
    fn work_until_all(
        &self,
        counter: &AtomicUsize,
        threads: usize,
        worker: &mut dyn Measured,
        arrived: impl FnOnce(),
    ) -> u64 {
        if counter.fetch_add(1, Ordering::AcqRel) + 1 == threads {
            arrived();
        }
        let mut operations = 0;
        while counter.load(Ordering::Acquire) < threads && !self.aborted.load(Ordering::Acquire) {
            operations += worker.batch();
        }
        operations
    }

    /// The three phases of all modes but single shots, around `window`, the loop that measures.
    /// `all_ready` is called by the last thread to get ready.
    pub(super) fn phases(
        &self,
        worker: &mut dyn Measured,
        threads: usize,
        watcher: &mut Watcher,
        all_ready: impl FnOnce(),
        window: impl FnOnce(&mut dyn Measured, &AtomicBool) -> Share,
    ) -> Share {
        let before = self.work_until_all(&self.ready, threads, worker, all_ready);
        let mut share = watcher.around(|| window(worker, &self.done));
        let after = self.work_until_all(&self.stopped, threads, worker, || ());
        share.all_operations = before + share.measured_operations + after;
        share
    }
}

/// Single shot: one call, with nothing before and after it but the meeting.
pub(super) fn single(worker: &mut dyn Measured, watcher: &mut Watcher) -> Share {
    watcher.around(|| {
        let start = Instant::now();
        let operations = worker.batch();
        let time = start.elapsed();
        Share {
            measured_operations: operations,
            all_operations: operations,
            calls: 1,
            time,
            began: Some(start),
        }
    })
}

/// A worker with its measured loops, which are compiled for it. All else of the harness sees a
/// worker through a table of functions: compiled for each of a hundred workers it would take
/// minutes to build.
pub(super) trait Measured: Worker {
    /// As many calls as fit.
    fn counted(&mut self, done: &AtomicBool) -> Share;
    /// As many calls as fit, some of them timed.
    fn sampled(&mut self, done: &AtomicBool, sampler: &mut Sampler) -> Share;
}

impl<W: Worker> Measured for W {
    fn counted(&mut self, done: &AtomicBool) -> Share {
        counted_window(self, done)
    }

    fn sampled(&mut self, done: &AtomicBool, sampler: &mut Sampler) -> Share {
        sampled_window(self, done, sampler)
    }
}

/// Kept out of line, so that the loop is compiled alike whatever surrounds it, and can be found in
/// a disassembly.
#[inline(never)]
fn counted_window<W: Worker>(worker: &mut W, done: &AtomicBool) -> Share {
    let (mut operations, mut calls) = (0, 0);
    let start = Instant::now();
    loop {
        operations += worker.batch();
        calls += 1;
        if done.load(Ordering::Acquire) {
            break;
        }
    }
    let time = start.elapsed();
    Share { measured_operations: operations, all_operations: operations, calls, time, began: Some(start) }
}

#[inline(never)]
fn sampled_window<W: Worker>(worker: &mut W, done: &AtomicBool, sampler: &mut Sampler) -> Share {
    let (mut operations, mut calls) = (0, 0);
    let start = Instant::now();
    loop {
        if sampler.chooses() {
            let call = Instant::now();
            let done_here = worker.batch();
            let time = call.elapsed();
            let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            sampler.record(nanoseconds.checked_div(done_here).unwrap_or(nanoseconds));
            operations += done_here;
        } else {
            operations += worker.batch();
        }
        calls += 1;
        if done.load(Ordering::Acquire) {
            break;
        }
    }
    let time = start.elapsed();
    Share { measured_operations: operations, all_operations: operations, calls, time, began: Some(start) }
}
