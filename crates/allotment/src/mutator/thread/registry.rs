//! The registry of attached threads.
//!
//! One lock guards it, together with the protocol of the [safepoints](crate::mutator::safepoint).
//! The lock is taken at attach and detach, by a stop, by a census (at most once per decay time), by
//! readers of statistics, and by the check whether the heap idles. An allocation never takes it.
//! The counts of detached threads are kept as a sum, so totals do not shrink.

use super::state::State;
use super::stopping::is_stopping_that;
use crate::mutator::ForkError;
use crate::mutator::safepoint::limit::Limit;
use crate::mutator::safepoint::{
    Late, Participant, Place, SafepointState, SafepointStatistics, Safepoints, Status, ThreadIdentity, Wish,
};
use crate::sync::{AtomicUsize, MutexGuard, Ordering};
use crate::tlab::sizing::{Averages, Config, HeapCycle, Sizing};
use crate::tlab::statistics::TlabTotals;
use std::ptr::NonNull;

/// Why a thread could not attach.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AttachError {
    /// The thread is attached already, to this heap or another.
    #[error(
        "this thread is attached to a heap already: detach first (one heap at a time keeps their objects apart)"
    )]
    AlreadyAttached,
    /// The thread has stopped the world, or is about to, of this heap or another.
    #[error(
        "this thread is stopping the world, and would wait for the end of its own stop: attach before the stop or after it"
    )]
    WorldStopped,
    /// The thread is ending, and its thread-local values are being dropped. No attachment that its
    /// owner keeps begins there.
    #[error(
        "this thread is ending, and nothing would detach it if its attachment were leaked: attach with a body there \
         (`Heap::attach`)"
    )]
    ThreadEnds,
    /// The process is a child of `fork()` in which the heap cannot be used.
    #[error(transparent)]
    Forked(#[from] ForkError),
}
crate::debug::debug_is_display!(AttachError);

/// How many threads are attached to a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attachments {
    /// Attached now.
    pub now: usize,
    /// Attached at any time so far. A thread that waits for the end of a stop to attach counts.
    pub ever: u64,
}

/// The attached threads of one heap.
pub(crate) struct Registry {
    pub(in crate::mutator) threads: Safepoints<Attached, ThreadTotals>,
    /// Number of attached threads. Written under the lock, Relaxed. It serves readers without the
    /// lock.
    pub(super) count: AtomicUsize,
}

/// Data about all threads together, detached ones included.
pub(in crate::mutator) struct ThreadTotals {
    ever: u64,
    /// Totals of the threads that detached.
    left: TlabTotals,
    /// What those threads did since the end of the last cycle.
    pub(in crate::mutator) left_in_cycle: TlabTotals,
    /// The averages that newly attached threads start from.
    pub(in crate::mutator) averages: Averages,
}

impl ThreadTotals {
    /// Adds a cycle to the averages: the threads' counts, and the `used` of `capacity` bytes.
    pub(in crate::mutator) fn end_cycle(&mut self, counted: &TlabTotals, used: usize, capacity: usize) {
        let requested = counted.sum.allocated_in_all() as usize;
        self.averages.end_cycle(&HeapCycle { used, capacity, requested, threads: counted.threads });
    }
}

/// No thread is attached, and none attaches while the value lives.
pub(crate) struct Detached<'r>(MutexGuard<'r, SafepointState<Attached, ThreadTotals>>);

impl Detached<'_> {
    /// Ends a cycle: the averages take in what was allocated since the last one, for a heap that
    /// had `used` of `capacity` bytes in use.
    pub(crate) fn end_cycle(&mut self, used: usize, capacity: usize) {
        let counted = std::mem::take(&mut self.0.data.left_in_cycle);
        self.0.data.end_cycle(&counted, used, capacity);
    }
}

/// The threads of a full stop.
#[derive(Default)]
pub(in crate::mutator) struct StoppedThreads {
    /// The states of all attached threads.
    pub(in crate::mutator) states: Box<[NonNull<State>]>,
    /// How many of them, the first ones, are not settled.
    pub(in crate::mutator) unsettled: usize,
}

/// The state of an attached thread.
pub(in crate::mutator) struct Attached(pub(super) NonNull<State>);

// SAFETY: a state is removed from the registry before its thread frees it. Other threads read only
// its atomics, with two exceptions. While a stop holds its thread, the stopper uses the whole
// state. While its thread is safe and has a duty, or sleeps, a worker that holds the state's
// `visited` does that duty's visit of roots; the thread takes `visited` before it goes on.
unsafe impl Send for Attached {}

impl Attached {
    pub(in crate::mutator) fn state(&self) -> &State {
        // SAFETY: as above; the holder of an `Attached` is the thread itself, or holds the
        // registry's lock.
        unsafe { self.0.as_ref() }
    }
}

impl From<&State> for Attached {
    fn from(state: &State) -> Attached {
        Attached(NonNull::from(state))
    }
}

impl Participant for Attached {
    fn limit(&self) -> &Limit {
        &self.state().hot.limit
    }

    fn status(&self) -> &Status {
        &self.state().status
    }

    fn place(&self) -> &Place {
        &self.state().place
    }

    fn identity(&self) -> &ThreadIdentity {
        &self.state().identity
    }

    fn before_waiting(&self) {
        self.state().shared.after_fork_or_abort();
    }

    fn is_left_alone(&self) -> bool {
        let shared = &self.state().shared;
        // For other reasons the world may be stopped, and objects half moved.
        shared.after_fork() == Err(ForkError::ThreadRan) && self.state().do_short_duty()
    }

    fn do_duty(&self) {
        self.state().do_duty();
    }
}

impl Registry {
    /// A registry for a process that may use `cpus` CPUs.
    pub(crate) fn new(config: &Config, cpus: usize, late: Late) -> Registry {
        let ledger = ThreadTotals {
            ever: 0,
            left: TlabTotals::default(),
            left_in_cycle: TlabTotals::default(),
            averages: Averages::new(config),
        };
        Registry { threads: Safepoints::new(late, cpus, ledger), count: AtomicUsize::new(0) }
    }

    pub(crate) fn attachments(&self) -> Attachments {
        let inner = self.threads.lock();
        Attachments { now: inner.threads.len(), ever: inner.data.ever }
    }

    /// Number of attached threads at about this moment, read without the lock.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// The counts of all threads, detached ones included.
    pub(crate) fn totals(&self) -> TlabTotals {
        let inner = self.threads.lock();
        let mut totals = inner.data.left;
        inner.threads.iter().for_each(|thread| totals.add(&thread.state().statistics()));
        totals
    }

    pub(crate) fn safepoints(&self) -> SafepointStatistics {
        self.threads.statistics()
    }

    /// Whether threads are attached and none of them runs. Each is in `blocking`, or is held by a
    /// stop that has just ended. No stop is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.threads.is_idle()
    }

    /// Removes a thread that is not in this process.
    pub(in crate::mutator) fn forget(&self, state: &State) {
        self.threads.forget(&state.into(), |ledger| self.count_out(ledger, state));
    }

    /// Adds the counts of a thread that leaves to the sums.
    pub(super) fn count_out(&self, ledger: &mut ThreadTotals, state: &State) {
        let counts = state.statistics();
        ledger.left.add(&counts);
        ledger.left_in_cycle.add(&counts.since(&state.counted.get()));
        self.count.fetch_sub(1, Ordering::Relaxed);
    }

    /// Asks every attached thread to come to a safepoint, where it adopts what has changed for all.
    /// Does not wait.
    pub(crate) fn request(&self, wish: Wish) {
        self.threads.lock().threads.iter().for_each(|thread| thread.limit().request(wish));
    }

    /// All attached threads, for a full stop.
    pub(in crate::mutator) fn stopped(&self) -> StoppedThreads {
        let inner = self.threads.lock();
        let states = inner.threads.iter().map(|thread| thread.0).collect();
        StoppedThreads { states, unsettled: inner.threads.unsettled().len() }
    }

    /// The states of the attached threads. While the world is stopped, this list is complete and
    /// the states stay where they are.
    pub(in crate::mutator) fn attached(&self) -> Box<[NonNull<State>]> {
        self.threads.lock().threads.iter().map(|thread| thread.0).collect()
    }

    /// Keeps threads from attaching, if none is attached and the world is not stopped. Otherwise
    /// returns the number of attached threads.
    pub(crate) fn detached(&self) -> Result<Detached<'_>, usize> {
        // An attached thread must not wait for the end of a stop that waits for this thread.
        match self.threads.lock().threads.len() {
            0 => {}
            attached => return Err(attached),
        }
        assert!(!is_stopping_that(self), "this would wait for the end of the stop that it is a part of");
        let inner = self.threads.lock_resumed();
        match inner.threads.len() {
            0 => Ok(Detached(inner)),
            attached => Err(attached),
        }
    }

    /// The sizing and the number, from 1, of a thread that attaches.
    pub(super) fn start(&self, config: &Config) -> (Sizing, u64) {
        let mut inner = self.threads.lock();
        inner.data.ever += 1;
        (Sizing::start(config, &inner.data.averages), inner.data.ever)
    }
}

impl State {
    /// Gives up everything that the thread has of the heap, before it leaves.
    pub(in crate::mutator) fn leave(&self) {
        self.satb.give(&self.shared.threads.satb);
        self.hand_over_samples();
        self.give_up_buffer();
        self.sampling.pending.release(&self.shared.watch.sampler.memory);
        let shared = &*self.shared;
        let mut owned = self.owned.borrow_mut();
        owned.dissolve(shared);
        shared.policy.budget.leave(&shared.policy.sizing, &mut owned.sizing);
    }
}
