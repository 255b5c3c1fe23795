//! The stopped world, and the two ways to stop it.
//!
//! A [`World`] is the proof that no mutator runs. When there is one, no thread has a buffer, no reservation is
//! in force, and no region is exclusive: every region up to its top is objects and fillers, and a collector need not
//! know what mutators keep of them. Threads that came to a safepoint by themselves have seen to their part at
//! once, on their own cores; what threads in `blocking` left is seen to here.
//!
//! What runs in the stopped world must not unwind: it may have half changed what all threads use, and they
//! would go on with it. Where it does, the process ends.

use crate::mutator::Shared;
use crate::mutator::roots::visit_links;
use crate::mutator::safepoint::AbortOnUnwind;
use crate::mutator::safepoint::{Arrival, ThreadIdentity, Volunteers};
use crate::mutator::thread::registry::runs_attached;
use crate::mutator::thread::state::State;
use crate::mutator::thread::stopping::{Stopping, is_stopping};
use crate::mutator::{BufferSizes, ForkError, GeneratedFrame, Mutator};
use crate::object::SlotVisitor;
use crate::tlab::statistics::Totals;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::time::Duration;

/// A heap of which no thread runs: all are at a safepoint or in `blocking`, and stay there.
pub struct World<'w> {
    shared: &'w Shared,
    /// All attached threads; none comes or goes while there is a world.
    states: Box<[NonNull<State>]>,
    /// Where those threads are that called from generated code. Once: a pass over roots must not fail.
    frames: Vec<*const GeneratedFrame>,
    /// The thread that stopped it, where that is attached.
    stopper_state: Option<&'w State>,
    arrival: Arrival,
    /// What the threads own is the stopper's, who is one thread: neither `Send` nor `Sync`.
    stopper: PhantomData<*mut ()>,
}

/// Why a thread cannot stop the world of a heap.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StopError {
    /// It would wait for itself, or two threads for each other.
    #[error(
        "this thread is attached to a heap: stop the world with its mutator (`Mutator::stop_the_world`), or from within \
         `Mutator::blocking`"
    )]
    Attached,
    /// It has stopped it already, or another heap's.
    #[error("this thread is stopping the world already: stops do not nest")]
    Stopping,
    /// The process is a child of `fork()` in which the heap cannot be used.
    #[error(transparent)]
    Forked(#[from] ForkError),
}
crate::debug::debug_is_display!(StopError);

impl<'w> World<'w> {
    fn new(shared: &'w Shared, stopper_state: Option<&'w State>, arrival: Arrival) -> World<'w> {
        // Once: a collection passes over the threads several times.
        let states = shared.registry.attached();
        let mut world =
            World { shared, states, frames: Vec::new(), stopper_state, arrival, stopper: PhantomData };
        world.frames = world.generated_frames();
        for state in world.states() {
            state.let_lapse();
            state.owned.borrow_mut().dissolve(shared);
        }
        // SAFETY: no mutator runs, and none has a buffer.
        unsafe { shared.settle_early_headers() };
        world
    }

    /// The heap.
    pub(crate) fn shared(&self) -> &'w Shared {
        self.shared
    }

    /// The states of all attached threads, the stopper's included if it is one.
    pub(in crate::mutator) fn states(&self) -> impl Iterator<Item = &State> {
        // SAFETY: no thread detaches while the world is stopped, so the states stay where they are; and no owner
        // uses its own.
        self.states.iter().map(|state| unsafe { state.as_ref() })
    }

    /// The mutator of the thread that stopped the world, where that is attached: what it allocates now nobody else
    /// can take.
    pub(crate) fn stopper(&self) -> Option<Mutator<'_>> {
        self.stopper_state.map(Mutator::new)
    }

    /// Visits every root slot: in the frames of all threads, of handles and of providers.
    pub(crate) fn visit_roots(&self, slots: &mut SlotVisitor<'_>) {
        let outside = self.shared.roots.outside.lock();
        for state in self.states() {
            // SAFETY: the thread is stopped or held in `blocking`, and `outside` is held.
            unsafe { visit_links(state.roots(), slots) };
        }
        drop(outside);
        // SAFETY: of threads that this world keeps.
        unsafe { self.shared.roots.visit(slots, &self.frames) };
    }

    /// Calls `pinned` with the address of every object that must stay where it is; with some more than once.
    pub(crate) fn visit_pinned(&self, pinned: &mut dyn FnMut(usize)) {
        // SAFETY: of threads that this world keeps.
        unsafe { self.shared.roots.visit_pinned(pinned, &self.frames) };
    }

    /// What the threads' buffers did since this was asked last, or the heap was reset: once for each collection.
    pub(crate) fn end_buffer_count(&self) -> Totals {
        self.shared.registry.end_count_stopped()
    }

    /// Ends a cycle of the threads' buffers, which did what was [`counted`](Self::end_buffer_count), while `used` bytes of
    /// `capacity` were allocated: the next ones have the sizes that follow from it, and together keep to what `next` bytes allow;
    /// these.
    pub(crate) fn end_buffer_cycle(
        &self,
        counted: &Totals,
        used: usize,
        capacity: usize,
        next: usize,
    ) -> BufferSizes {
        self.shared.registry.end_cycle_stopped(self.shared, counted, used, capacity, next)
    }

    /// Threads that wait for the end of the stop, and may be called to help.
    pub(crate) fn volunteers(&self) -> &'w Volunteers {
        self.shared.registry.volunteers()
    }

    /// How many threads are attached.
    pub fn threads(&self) -> usize {
        self.states.len()
    }

    /// From the request to stop until the last thread had arrived.
    pub fn time_to_safepoint(&self) -> Duration {
        self.arrival.time
    }

    /// The thread that arrived last; `None`: none had to be waited for.
    pub fn last_to_arrive(&self) -> Option<&ThreadIdentity> {
        self.arrival.last.as_ref()
    }
}

impl Mutator<'_> {
    /// Stops all other threads of the heap, runs `f`, and lets them go on. `None`: another thread stopped the world
    /// first, which may be the heap's own (`CollectWhenIdle`); `f` did not run, and that stop is over. A safepoint.
    ///
    /// `f` must not panic: the process ends if it does. It can neither attach, nor stop a world, nor reset or
    /// verify this heap. Objects that are used only by threads of this heap do not change while it runs.
    ///
    /// `f` must not wait for a thread of this heap, nor for one that attaches to it: for a lock that such a thread may
    /// hold, a message, its end. That thread goes on when `f` has returned, so both would wait for ever, and nothing tells
    /// of it: `SafepointTimeoutDelay` names threads that are late to a stop, not stops that do not end. What `f` needs of
    /// other threads is taken before the stop.
    ///
    /// # Panics
    /// If the hook of [`on_late_thread`](crate::heap::HeapBuilder::on_late_thread) does. The threads then go on.
    pub fn stop_the_world<R>(&mut self, f: impl FnOnce(&mut World<'_>) -> R) -> Option<R> {
        let state = self.state();
        state.come_to_safepoint();
        state.shared.stop(Some(state), f)
    }
}

impl Shared {
    /// Stops all threads of the heap for a caller that is none of them, or is in `blocking`. `None`: as for
    /// [`Mutator::stop_the_world`].
    pub(crate) fn stop_the_world<R>(
        &self,
        f: impl FnOnce(&mut World<'_>) -> R,
    ) -> Result<Option<R>, StopError> {
        if is_stopping() {
            return Err(StopError::Stopping);
        }
        // Of another heap too: its threads could be waiting for this one.
        if runs_attached() {
            return Err(StopError::Attached);
        }
        self.after_fork()?;
        Ok(self.stop(None, f))
    }

    fn stop<R>(&self, own: Option<&State>, f: impl FnOnce(&mut World<'_>) -> R) -> Option<R> {
        self.after_fork_or_abort();
        let _stopping = Stopping::begin(&self.registry);
        self.registry.stop(own, |arrival| {
            let abort = AbortOnUnwind(
                "code that ran while the world was stopped panicked (see above): the heap may be half changed, and no thread \
                 could go on",
            );
            let _regions = self.lock_regions();
            let outcome = f(&mut World::new(self, own, arrival));
            abort.disarm();
            // `f` may have forked.
            self.after_fork_or_abort();
            outcome
        })
    }
}
