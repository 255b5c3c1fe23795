//! The stopped world, and the two ways to stop it.
//!
//! A [`World`] is the proof that no mutator runs. While a `World` exists, no thread has a buffer,
//! no reservation is in force, and no region is exclusive. Every region consists of objects and
//! fillers up to its top, so a collector need not know the mutators' records about regions. Threads
//! that came to a safepoint by themselves have given up their buffers at once, on their own cores.
//! For threads in `blocking` this module gives the buffers up, once: a thread that stays there is
//! settled soon, and from then on a stop looks at its frames alone.
//!
//! Code in the stopped world must not unwind. It may have half changed data that all threads use,
//! and the threads would go on with that data. If such code unwinds, the process ends.

use super::Halted;
use crate::mutator::Shared;
use crate::mutator::roots::{HandleExtent, RootKind, RootTargets, visit_links};
use crate::mutator::safepoint::{AbortOnUnwind, Arrival, StopKind, ThreadIdentity, Volunteers};
use crate::mutator::thread::attachment::runs_attached;
use crate::mutator::thread::registry::{Attached, StoppedThreads};
use crate::mutator::thread::state::State;
use crate::mutator::thread::stopping::{Stopping, is_stopping};
use crate::mutator::{ForkError, GeneratedFrame, Hot, Mutator, RawMutator};
use crate::object::{SlotVisitor, reference};
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A heap none of whose threads runs: all are at a safepoint or in `blocking`, and stay there.
pub struct World<'w> {
    shared: &'w Shared,
    /// All attached threads. No thread attaches or detaches while the world exists.
    states: Box<[NonNull<State>]>,
    /// How many of them, the first ones, are not settled: the others sleep, and have no buffer and
    /// nothing else that a stop would take from them.
    unsettled: usize,
    /// The generated frames of the threads that called from generated code. Read once, because a
    /// pass over roots must not fail.
    frames: Vec<*const GeneratedFrame>,
    /// The state of the thread that stopped the world, if that thread is attached.
    stopper_state: Option<&'w State>,
    arrival: Arrival,
    /// The time to the safepoint, until a collection has taken it over into its record.
    to_record: Cell<Duration>,
    /// All that the threads own belongs to the stopper, which is one thread: neither `Send` nor
    /// `Sync`.
    stopper: PhantomData<*mut ()>,
}

/// Why a thread cannot stop the world of a heap.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StopError {
    /// The thread would wait for itself, or two threads would wait for each other.
    #[error(
        "this thread is attached to a heap: stop the world with its mutator (`RawMutator::stop_the_world`), or from within \
         `Mutator::blocking`"
    )]
    Attached,
    /// The thread has stopped this world already, or that of another heap.
    #[error("this thread is stopping the world already: end that stop before the next")]
    Stopping,
    /// The process is a child of `fork()` in which the heap cannot be used.
    #[error(transparent)]
    Forked(#[from] ForkError),
}
crate::debug::debug_is_display!(StopError);

impl<'w> World<'w> {
    /// The world of a heap without threads. The caller keeps threads from attaching and workers
    /// halted.
    pub(crate) fn without_threads(shared: &'w Shared) -> World<'w> {
        World::new(shared, StoppedThreads::default(), None, Arrival { time: Duration::ZERO, last: None })
    }

    /// Makes the regions parsable, and ends what a concurrent collector has begun. `threads` are
    /// all attached threads.
    fn new(
        shared: &'w Shared,
        threads: StoppedThreads,
        stopper_state: Option<&'w State>,
        arrival: Arrival,
    ) -> World<'w> {
        let mut world = World {
            shared,
            states: threads.states,
            unsettled: threads.unsettled,
            frames: Vec::new(),
            stopper_state,
            to_record: Cell::new(arrival.time),
            arrival,
            stopper: PhantomData,
        };
        world.frames = super::generated_frames(world.states());
        for state in world.unsettled_states() {
            state.let_lapse();
            state.owned.borrow_mut().dissolve(shared);
        }
        if let Some(collector) = shared.collector.concurrent() {
            collector.world_stopped(&mut world);
        }
        // SAFETY: no mutator runs, and none has a buffer.
        unsafe { shared.space.settle_early_headers() };
        world
    }

    /// The heap.
    pub(crate) fn shared(&self) -> &'w Shared {
        self.shared
    }

    /// The states of all attached threads, including the stopper's if it is attached.
    pub(in crate::mutator) fn states(&self) -> impl Iterator<Item = &State> {
        // SAFETY: no thread detaches while the world is stopped, so the states stay where they are;
        // no owner uses its own state meanwhile.
        self.states.iter().map(|state| unsafe { state.as_ref() })
    }

    /// The states of the threads that are not settled.
    fn unsettled_states(&self) -> impl Iterator<Item = &State> {
        self.states().take(self.unsettled)
    }

    /// The mutator of the thread that stopped the world, if that thread is attached. Other threads
    /// cannot take its allocations.
    pub(crate) fn stopper(&self) -> Option<Mutator<'_>> {
        self.stopper_state.map(Mutator::new)
    }

    /// Visits the roots in the frames of all threads.
    fn visit_frames(&self, slots: &mut SlotVisitor<'_>) {
        for state in self.states() {
            let _walks = state.lock_roots();
            // SAFETY: the thread is stopped or held in `blocking`, and its lock is held.
            unsafe { visit_links(state.roots(), slots) };
        }
    }

    /// Visits every root slot: those in the frames of all threads, of handles and of providers.
    pub(crate) fn visit_roots(&self, slots: &mut SlotVisitor<'_>) {
        self.visit_roots_of(HandleExtent::All, slots);
    }

    /// Visits every root slot that may refer to a young object, and some others. To be called
    /// between `begin_young_visit` and `end_young_visit` of the [roots](crate::mutator::roots).
    pub(crate) fn visit_young_roots(&self, slots: &mut SlotVisitor<'_>) {
        self.visit_roots_of(HandleExtent::Young, slots);
    }

    /// Visits root slots: all of threads and providers, and those of the handles of this extent.
    fn visit_roots_of(&self, extent: HandleExtent, slots: &mut SlotVisitor<'_>) {
        self.visit_frames(slots);
        // SAFETY: the frames are of threads that this world keeps.
        unsafe { self.shared.threads.roots.visit(extent, slots, &self.frames) };
    }

    /// Calls `visit` with the kind and the referent of every root that refers to an object.
    pub(crate) fn visit_root_targets(&self, visit: &mut RootTargets<'_>) {
        let mut word = |slot: *mut u64, kind| {
            // SAFETY: a root of a stopped thread is readable.
            if let Some(address) = reference(unsafe { slot.read() }) {
                visit(RootKind::Frame, address, kind);
            }
        };
        self.visit_frames(&mut SlotVisitor::new(&mut word));
        // SAFETY: the frames are of threads that this world keeps, and no thread writes to slots.
        unsafe { self.shared.threads.roots.visit_targets(visit, &self.frames) };
    }

    /// Calls `pinned` with the address of every pinned object, with some more than once. A pinned
    /// object must stay where it is.
    pub(crate) fn visit_pinned(&self, pinned: &mut dyn FnMut(usize)) {
        // SAFETY: the frames are of threads that this world keeps.
        unsafe { self.shared.threads.roots.visit_pinned(pinned, &self.frames) };
    }

    /// Puts these barriers in force beside those of the embedder, for all threads at once.
    pub(crate) fn set_barriers(&self, bits: u32) {
        let bits = bits | self.shared.threads.barriers() & Hot::HOOK;
        self.set_all_barriers(bits);
    }

    /// Puts these barriers in force for all threads at once, in place of all others.
    pub(in crate::mutator) fn set_all_barriers(&self, bits: u32) {
        self.shared.threads.set_barriers(bits);
        // Threads that sleep take them over when they come back.
        self.unsettled_states().for_each(|state| state.hot.barriers.set(bits));
    }

    /// Counts the current visit of roots as done for all threads.
    pub(crate) fn end_root_visit(&self) {
        let threads = &self.shared.threads;
        threads.root_visits_ended.store(threads.root_visits(), Ordering::Relaxed);
    }

    /// Threads that wait for the end of the stop, and may be called to help.
    pub(crate) fn volunteers(&self) -> &'w Volunteers {
        &self.shared.threads.registry.threads.volunteers
    }

    /// How many threads are attached.
    ///
    /// ```
    /// # use allotment::Heap;
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let threads = heap.stop_the_world(|world| world.threads())?;
    /// assert_eq!(threads, Some(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn threads(&self) -> usize {
        self.states.len()
    }

    /// Checks the list of attached threads.
    pub(crate) fn verify_threads(&self) -> Result<(), String> {
        // The caller of `without_threads` may have the lock.
        if self.states.is_empty() {
            return Ok(());
        }
        self.shared.threads.registry.threads.lock().threads.verify()
    }

    /// Time from the request to stop until the last thread had arrived.
    pub fn time_to_safepoint(&self) -> Duration {
        self.arrival.time
    }

    /// The time to the safepoint, for the first collection of this stop; 0 for others.
    pub(crate) fn take_time_to_safepoint(&self) -> Duration {
        self.to_record.take()
    }

    /// The thread that arrived last. `None`: no thread had to be waited for.
    pub fn last_to_arrive(&self) -> Option<&ThreadIdentity> {
        self.arrival.last.as_ref()
    }
}

impl RawMutator<'_> {
    /// Stops all other threads of the heap, runs `f`, and lets them go on. `None`: another thread
    /// stopped the world first, possibly the heap's own thread (`CollectWhenIdle`). Then `f` did
    /// not run, and that stop is over. This is a safepoint.
    ///
    /// `f` must not panic: the process ends if it does. `f` can neither attach, nor stop a world,
    /// nor reset or verify this heap. Objects that only threads of this heap use do not change
    /// while `f` runs.
    ///
    /// `f` must not wait for a thread of this heap, nor for one that attaches to it: not for a lock
    /// that such a thread may hold, not for its message, not for its end. That thread goes on only
    /// when `f` has returned, so both would wait without end. No diagnostic reports this:
    /// `SafepointTimeoutDelay` names threads that are late to a stop, not stops that do not end.
    /// Take whatever `f` needs of other threads before the stop.
    ///
    /// ```
    /// # use allotment::{Heap, OutOfMemory};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let threads = mu.raw_mut().stop_the_world(|world| world.threads());
    /// assert_eq!(threads, Some(1)); // this one
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the hook of [`on_late_thread`](crate::heap::HeapBuilder::on_late_thread) panics. The
    /// threads then go on.
    pub fn stop_the_world<R>(&mut self, f: impl FnOnce(&mut World<'_>) -> R) -> Option<R> {
        let state = self.state();
        state.come_to_safepoint();
        state.shared.stop(Some(state), f)
    }
}

impl Shared {
    /// Stops all threads of the heap for a caller that is not one of them, or that is in
    /// `blocking`. `None`: as for [`RawMutator::stop_the_world`].
    pub(crate) fn stop_the_world<R>(
        &self,
        f: impl FnOnce(&mut World<'_>) -> R,
    ) -> Result<Option<R>, StopError> {
        if is_stopping() {
            return Err(StopError::Stopping);
        }
        // Refused for a thread attached to another heap too: threads of this heap could be waiting
        // for it.
        if runs_attached() {
            return Err(StopError::Attached);
        }
        self.after_fork()?;
        Ok(self.stop(None, f))
    }

    fn stop<R>(&self, own: Option<&State>, f: impl FnOnce(&mut World<'_>) -> R) -> Option<R> {
        self.after_fork_or_abort();
        let _stopping = Stopping::begin(&self.threads.registry);
        self.threads.registry.threads.stop(StopKind::Full, own.map(Attached::from).as_ref(), |arrival| {
            let abort = AbortOnUnwind::new(
                "code that ran while the world was stopped panicked (see above): the heap may be half changed, and no thread \
                 could go on",
            );
            let _halted = Halted::begin(&*self.collector);
            let _regions = self.space.lock_regions();
            // Read once: a collection passes over the threads several times.
            let threads = self.threads.registry.stopped();
            let outcome = f(&mut World::new(self, threads, own, arrival));
            abort.disarm();
            // `f` may have forked.
            self.after_fork_or_abort();
            outcome
        })
    }
}
