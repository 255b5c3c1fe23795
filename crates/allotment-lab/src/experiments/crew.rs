//! Threads of a heap that begin at the same instant, and the controller that waits for them.
//!
//! The threads sleep on one condition variable, which one system call wakes. Threads that are woken
//! one by one would begin one by one.
//!
//! Refused: a barrier. The last thread would have to arrive, and a thread that fails on its way
//! never does.

use crate::hold::hold;
use allotment::{Heap, Mutator};
use anyhow::{Context, anyhow, ensure};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Bytes of a thread's stack. The work of these threads needs little. Two thousand stacks of the
/// usual size are 4 GiB of addresses, which not every container allows.
pub(super) const STACK: usize = 512 << 10;

/// The threads of a shot. A crew that is dropped sends home the threads that still wait, and joins
/// all: no thread may be left in a heap that is no longer used.
pub(super) struct Crew<T> {
    name: &'static str,
    start: Arc<Start>,
    /// Each returns `None` if the shot was called off before it began.
    threads: Vec<JoinHandle<anyhow::Result<Option<T>>>>,
}

impl<T: Send + 'static> Crew<T> {
    /// Starts a thread attached to `heap` for each of `parts`, and waits until all wait for the
    /// instant. A part waits for the instant by [`Start::wait`].
    ///
    /// # Errors
    /// The system starts no further thread.
    pub(super) fn ready<P>(
        name: &'static str,
        heap: &Heap,
        parts: impl ExactSizeIterator<Item = P>,
    ) -> anyhow::Result<Crew<T>>
    where
        P: FnOnce(&mut Mutator<'_>, &Start) -> anyhow::Result<Option<T>> + Send + 'static,
    {
        let count = parts.len();
        let mut crew = Crew { name, start: Arc::default(), threads: Vec::with_capacity(count) };
        for (index, part) in parts.enumerate() {
            let leaves = Leaves { start: Arc::clone(&crew.start), failed: true };
            let heap = heap.clone();
            let body = move || {
                // The heap is dropped first. The controller, which waits for all threads, may then
                // make the next heap.
                let (mut leaves, heap) = (leaves, heap);
                let told = heap.attach(|mutator| part(mutator, &leaves.start))??;
                leaves.failed = false;
                Ok(told)
            };
            let thread = thread::Builder::new().name(format!("{name} {index}")).stack_size(STACK);
            let started = thread.spawn(body);
            crew.threads
                .push(started.with_context(|| format!("cannot start thread {} of {count}", index + 1))?);
        }
        let missing = |state: &mut State| state.ready + state.over < count;
        drop(crew.start.progress.wait_while(hold(&crew.start.state), missing));
        Ok(crew)
    }

    /// Lets the threads begin now.
    pub(super) fn begin(&self) {
        self.start.give(Given::Begin(Instant::now()));
    }

    /// Waits until all threads are done.
    pub(super) fn wait(&self) {
        while !self.wait_for(Duration::MAX) {}
    }

    /// Waits until all threads are done, for `most` at most. Returns whether they are.
    pub(super) fn wait_for(&self, most: Duration) -> bool {
        let Start { state, progress, .. } = &*self.start;
        let waiting = |state: &mut State| state.over < self.threads.len();
        let waited = progress.wait_timeout_while(hold(state), most, waiting);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Whether a thread has failed.
    pub(super) fn has_failed(&self) -> bool {
        hold(&self.start.state).failed
    }

    /// Wakes the threads that are parked.
    pub(super) fn unpark(&self) {
        self.threads.iter().for_each(|thread| thread.thread().unpark());
    }

    /// The results of all threads.
    ///
    /// # Errors
    /// A thread has failed, or has not begun.
    pub(super) fn join(&mut self) -> anyhow::Result<Vec<T>> {
        let (count, name) = (self.threads.len(), self.name);
        let mut results = Vec::with_capacity(count);
        for (index, thread) in self.threads.drain(..).enumerate() {
            let told = thread.join().unwrap_or_else(|_| Err(anyhow!("panicked")));
            results.extend(told.with_context(|| format!("{name} {} of {count}", index + 1))?);
        }
        let idle = count - results.len();
        ensure!(idle == 0, "of {count} threads ({name}) {idle} never began");
        Ok(results)
    }
}

impl<T> Drop for Crew<T> {
    fn drop(&mut self) {
        self.start.give(Given::Off);
        for thread in self.threads.drain(..) {
            // The thread's result is not needed any more.
            drop(thread.join());
        }
    }
}

/// Reports that a thread is done, and whether it has failed, even if the thread unwinds.
struct Leaves {
    start: Arc<Start>,
    /// True until the thread has returned its result.
    failed: bool,
}

impl Drop for Leaves {
    fn drop(&mut self) {
        let mut state = hold(&self.start.state);
        state.over += 1;
        state.failed |= self.failed;
        drop(state);
        self.start.progress.notify_one();
    }
}

/// The point where threads wait for the instant, and where the controller waits for the threads.
#[derive(Debug, Default)]
pub(super) struct Start {
    state: Mutex<State>,
    /// Notified when the instant has come. It is not used for progress, since each arriving thread
    /// would wake all that wait.
    given: Condvar,
    /// Notified when a thread waits or is done. One thread waits for it.
    progress: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Threads that wait or have waited.
    ready: usize,
    /// Threads that are done, successfully or not.
    over: usize,
    /// Whether one of them has failed.
    failed: bool,
    given: Given,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Given {
    #[default]
    Nothing,
    Begin(Instant),
    /// The shot is called off.
    Off,
}

impl Start {
    /// Waits for the instant; returns `None` if the shot is called off.
    pub(super) fn wait(&self) -> Option<Instant> {
        let mut state = hold(&self.state);
        state.ready += 1;
        self.progress.notify_one();
        let nothing = |state: &mut State| state.given == Given::Nothing;
        match self.given.wait_while(state, nothing).unwrap_or_else(PoisonError::into_inner).given {
            Given::Begin(instant) => Some(instant),
            Given::Nothing | Given::Off => None,
        }
    }

    /// The first call decides; later calls have no effect.
    fn give(&self, given: Given) {
        let mut state = hold(&self.state);
        if state.given == Given::Nothing {
            state.given = given;
        }
        drop(state);
        self.given.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Part = Box<dyn FnOnce(&mut Mutator<'_>, &Start) -> anyhow::Result<Option<Instant>> + Send>;

    fn waits() -> Part {
        Box::new(|mutator, start| Ok(mutator.blocking(|| start.wait())))
    }

    fn crew(parts: Vec<Part>) -> Crew<Instant> {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        Crew::ready("thread", &heap, parts.into_iter()).unwrap()
    }

    #[test]
    fn all_begin_at_the_same_instant() {
        let mut crew = crew(vec![waits(), waits(), waits()]);
        assert!(!crew.wait_for(Duration::ZERO));
        crew.begin();
        crew.wait();
        assert!(crew.wait_for(Duration::ZERO) && !crew.has_failed());
        let instants = crew.join().unwrap();
        assert_eq!(instants, [instants[0]; 3]);
    }

    #[test]
    fn nobody_waits_for_a_thread_that_failed() {
        let fails: [Part; 2] = [Box::new(|_, _| Err(anyhow!("no work"))), Box::new(|_, _| panic!("no work"))];
        for part in fails {
            let mut crew = crew(vec![waits(), part]);
            assert!(crew.has_failed());
            crew.begin();
            crew.wait();
            let error = format!("{:#}", crew.join().unwrap_err());
            assert!(error.starts_with("thread 2 of 2: "), "{error}");
        }
    }

    #[test]
    fn threads_are_sent_home_when_the_shot_is_called_off() {
        let mut crew = crew(vec![waits()]);
        crew.start.give(Given::Off);
        crew.begin();
        crew.wait();
        let error = crew.join().unwrap_err().to_string();
        assert_eq!(error, "of 1 threads (thread) 1 never began");
        drop(self::crew(vec![waits(), waits()]));
    }
}
