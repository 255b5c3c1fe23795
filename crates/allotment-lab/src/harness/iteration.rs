//! One thread's iteration: it works before, within and after the measured window.
//!
//! ```text
//! announce ready, work | clock, work until done, clock | announce stopped, work
//! until all are ready  |       the measured window     | until all have stopped
//! ```
//!
//! So each thread measures only while all others work. Threads have met before ([`Meeting`]).
//! Refused: starting the window at the meeting. Threads leave it at slightly different times, and
//! the first one would run alone for a while. Only a single shot starts there, since it is one call.

use super::meeting::Meeting;
use super::sampler::Sampler;
use super::watch::Watcher;
use super::{Share, Worker};
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// The state that the threads of one iteration share. Each part has cache lines of its own: `done`
/// is read with every call, and writes to a part in the same line would slow down all readers.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// The meeting of the threads that have prepared.
    pub(super) prepared: Meeting,
    /// Threads that are working. Written by each once.
    ready: CachePadded<AtomicUsize>,
    /// Set by the controller when the time is over.
    done: CachePadded<AtomicBool>,
    /// Threads that have left the window. Written by each once.
    stopped: CachePadded<AtomicUsize>,
    /// Set when a thread has failed, so that no other waits for it.
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

    /// Works until `threads` have arrived at `counter`, and returns the operations done meanwhile.
    /// The last thread to arrive calls `arrived`.
    fn work_until_all(
        &self,
        counter: &AtomicUsize,
        threads: usize,
        worker: &mut dyn MeasuredWorker,
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
    /// The last thread to get ready calls `all_ready`.
    pub(super) fn phases(
        &self,
        worker: &mut dyn MeasuredWorker,
        threads: usize,
        watcher: &mut Watcher,
        all_ready: impl FnOnce(),
        window: impl FnOnce(&mut dyn MeasuredWorker, &AtomicBool) -> Share,
    ) -> Share {
        let before = self.work_until_all(&self.ready, threads, worker, all_ready);
        let mut share = watcher.around(|| window(worker, &self.done));
        let after = self.work_until_all(&self.stopped, threads, worker, || ());
        share.all_operations = before + share.measured_operations + after;
        share
    }
}

/// A single shot: one call, which begins at the meeting.
pub(super) fn single(worker: &mut dyn MeasuredWorker, watcher: &mut Watcher) -> Share {
    watcher.around(|| {
        let start = Instant::now();
        let operations = worker.batch();
        Share::since(start, operations, 1)
    })
}

/// A worker with its measured loops, which are compiled for its type. The rest of the harness uses a
/// trait object: compiled for each of a hundred workers it would take minutes to build.
pub(super) trait MeasuredWorker: Worker {
    /// Calls the worker until `done`.
    fn counted(&mut self, done: &AtomicBool) -> Share;
    /// Calls the worker until `done`, and times some of the calls.
    fn sampled(&mut self, done: &AtomicBool, sampler: &mut Sampler) -> Share;
}

impl<W: Worker> MeasuredWorker for W {
    fn counted(&mut self, done: &AtomicBool) -> Share {
        counted_window(self, done)
    }

    fn sampled(&mut self, done: &AtomicBool, sampler: &mut Sampler) -> Share {
        sampled_window(self, done, sampler)
    }
}

/// Out of line, so that the compiled loop does not depend on its caller and has a symbol.
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
    Share::since(start, operations, calls)
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
    Share::since(start, operations, calls)
}
