//! Shots with threads of their own: the controller prepares each, and the worker only releases it.
//!
//! The controller prepares as a probe. Its thread is not bound to a CPU, and neither are the
//! threads that it starts. The worker may be bound to one. Refused: workers of the harness as these
//! threads. They spin before a shot until all are awake, which never happens with many more threads
//! than CPUs.

use crate::harness::{Bench, Iteration, Probe, SecondaryValue, Worker};
use crate::hold::hold;
use anyhow::anyhow;
use std::sync::Mutex;

/// A shot whose threads are ready to begin.
pub(super) trait Prepared: Send {
    /// Releases the threads, and waits until all are done.
    fn release(&mut self);

    /// Collects the results of the threads.
    ///
    /// # Errors
    /// A thread failed.
    fn gather(&mut self) -> anyhow::Result<()>;

    /// The figures of the shot.
    fn figures(&mut self, iteration: &Iteration) -> Vec<SecondaryValue>;
}

/// The next shot, or why there is none.
type Next<S> = Mutex<anyhow::Result<S>>;

struct Preparing<'a, S, F> {
    next: &'a Next<S>,
    prepare: F,
}

impl<S: Prepared, F: FnMut() -> anyhow::Result<S>> Probe for Preparing<'_, S, F> {
    fn before(&mut self) {
        let mut next = hold(self.next);
        // The old shot is dropped first; otherwise memory would be needed for two heaps.
        *next = Err(anyhow!("no shot is prepared yet"));
        *next = (self.prepare)();
    }

    fn after(&mut self, iteration: &Iteration) -> Vec<SecondaryValue> {
        hold(self.next).as_mut().map_or_else(|_| Vec::new(), |shot| shot.figures(iteration))
    }
}

struct Releasing<'a, S>(&'a Next<S>);

impl<S: Prepared> Releasing<'_, S> {
    fn with<R>(&self, act: impl FnOnce(&mut S) -> R) -> anyhow::Result<R> {
        match &mut *hold(self.0) {
            Ok(shot) => Ok(act(shot)),
            Err(error) => Err(std::mem::replace(error, anyhow!("a shot that could not be prepared"))),
        }
    }
}

impl<S: Prepared> Worker for Releasing<'_, S> {
    fn prepare(&mut self) -> anyhow::Result<()> {
        self.with(|_| ())
    }

    fn batch(&mut self) -> u64 {
        // `prepare` has checked that there is a shot.
        u64::from(self.with(S::release).is_ok())
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        self.with(S::gather)?
    }
}

/// Measures shots that `prepare` makes.
///
/// # Errors
/// A shot or its preparation failed.
pub(super) fn measure<S: Prepared>(
    bench: &mut Bench<'_>,
    prepare: impl FnMut() -> anyhow::Result<S>,
) -> anyhow::Result<()> {
    let next = Next::new(Err(anyhow!("no shot is prepared yet")));
    bench.measure_with(&mut Preparing { next: &next, prepare }, |_| Ok(Releasing(&next)))
}
