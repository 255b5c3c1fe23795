//! Who is attached.
//!
//! A lock that is taken at attach and detach, by a census (at most once per decay time), and by
//! readers of statistics: never on the way of an allocation. The counts of threads that left are
//! kept as a sum, so totals do not shrink.

use super::Mutator;
use super::shared::Shared;
use super::state::State;
use crate::tlab::budget::CensusEntry;
use crate::tlab::sizing::{Averages, Config, HeapCycle, Sizing};
use crate::tlab::statistics::{TlabStatistics, Totals};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard};

/// Why a thread could not attach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttachError {
    /// It is attached already, to this heap or another.
    #[error(
        "this thread is attached to a heap already: detach first (one heap at a time keeps their objects apart)"
    )]
    AlreadyAttached,
}

/// How many threads are attached to a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachments {
    /// Attached now.
    pub now: usize,
    /// Attached at any time so far.
    pub ever: u64,
}

/// The attached threads of one heap.
pub(crate) struct Registry {
    inner: Mutex<Inner>,
}

struct Inner {
    attached: Vec<Attached>,
    ever: u64,
    /// Totals of the threads that detached.
    left: Totals,
    /// What threads that attach start from.
    averages: Averages,
    /// Counts at the last cycle's end.
    cycle_start: TlabStatistics,
    /// Threads that had taken a buffer by then.
    threads_before: usize,
}

struct Attached(NonNull<State>);

// SAFETY: a state is removed from the registry before its thread frees it, and other threads read only
// its atomics.
unsafe impl Send for Attached {}

impl Attached {
    fn state(&self) -> &State {
        // SAFETY: as above; the caller holds the registry's lock.
        unsafe { self.0.as_ref() }
    }
}

impl Registry {
    pub(crate) fn new(config: &Config) -> Registry {
        Registry {
            inner: Mutex::new(Inner {
                attached: Vec::new(),
                ever: 0,
                left: Totals::default(),
                averages: Averages::new(config),
                cycle_start: TlabStatistics::default(),
                threads_before: 0,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no code that may panic runs under the registry's lock")
    }

    /// How a thread that attaches sizes its buffers, and how many attached before it.
    fn start(&self, config: &Config) -> (Sizing, u64) {
        let inner = self.lock();
        (Sizing::start(config, &inner.averages), inner.ever)
    }

    /// Adds a state, which stays where it is until it is removed.
    fn enter(&self, state: &State) {
        let mut inner = self.lock();
        inner.ever += 1;
        inner.attached.push(Attached(NonNull::from(state)));
    }

    pub(crate) fn attachments(&self) -> Attachments {
        let inner = self.lock();
        Attachments { now: inner.attached.len(), ever: inner.ever }
    }

    /// The counts of all threads, those that left included.
    pub(crate) fn totals(&self) -> Totals {
        self.lock().totals()
    }

    pub(super) fn census(&self, count: impl FnOnce(&mut dyn Iterator<Item = CensusEntry>)) {
        let inner = self.lock();
        count(&mut inner.attached.iter().map(|thread| thread.state().published.read()));
    }

    /// Asks every attached thread to come to a safepoint.
    pub(crate) fn request_safepoint(&self) {
        self.lock().attached.iter().for_each(|thread| thread.state().hot.limit.request());
    }

    /// Runs `action` if no thread is attached, and keeps threads from attaching meanwhile; else the
    /// number of those that are.
    pub(crate) fn while_detached<R>(&self, action: impl FnOnce() -> R) -> Result<R, usize> {
        let inner = self.lock();
        match inner.attached.len() {
            0 => Ok(action()),
            attached => Err(attached),
        }
    }

    /// Ends a cycle: runs `empty` if no thread is attached, keeping threads from attaching meanwhile, and
    /// then the averages take in what was allocated since the last cycle, of a heap that had `used` of
    /// `capacity` bytes in use. Else the number of threads that are attached.
    pub(crate) fn end_cycle(
        &self,
        used: impl FnOnce() -> usize,
        capacity: usize,
        empty: impl FnOnce(),
    ) -> Result<(), usize> {
        let mut inner = self.lock();
        if !inner.attached.is_empty() {
            return Err(inner.attached.len());
        }
        let used = used();
        empty();
        let totals = inner.totals();
        let cycle = totals.sum.since(&inner.cycle_start);
        let requested = (cycle.allocated + cycle.outside_bytes) as usize;
        let threads = totals.threads - inner.threads_before;
        inner.cycle_start = totals.sum;
        inner.threads_before = totals.threads;
        inner.averages.end_cycle(&HeapCycle { used, capacity, requested, threads });
        Ok(())
    }
}

impl Inner {
    fn totals(&self) -> Totals {
        let mut totals = self.left;
        self.attached.iter().for_each(|thread| totals.add(&thread.state().counters.read()));
        totals
    }
}

thread_local! {
    /// Whether this thread is attached to some heap.
    static ATTACHED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body` as a thread of the heap; detaches however it ends.
pub(crate) fn attach<R>(
    shared: &Arc<Shared>,
    body: impl for<'t> FnOnce(&mut Mutator<'t>) -> R,
) -> Result<R, AttachError> {
    if ATTACHED.replace(true) {
        return Err(AttachError::AlreadyAttached);
    }
    let _attached = Reset;
    let (sizing, before) = shared.registry.start(&shared.sizing);
    let state = Box::new(State::new(shared.clone(), sizing, before + 1));
    shared.registry.enter(&state);
    let detach = Detach(&state);
    Ok(body(&mut Mutator::new(detach.0)))
}

struct Reset;

impl Drop for Reset {
    fn drop(&mut self) {
        ATTACHED.set(false);
    }
}

struct Detach<'a>(&'a State);

impl Drop for Detach<'_> {
    fn drop(&mut self) {
        let state = self.0;
        Mutator::new(state).give_up_buffer();
        let shared = &*state.shared;
        let mut owned = state.owned.borrow_mut();
        if let Some(mut private) = owned.private.take() {
            private.release(shared);
        }
        shared.budget.leave(&shared.sizing, &mut owned.sizing);
        let mut inner = shared.registry.lock();
        inner.left.add(&state.counters.read());
        let place = inner.attached.iter().rposition(|thread| thread.0 == NonNull::from(state));
        inner.attached.swap_remove(place.expect("an attached thread is in the registry"));
    }
}
