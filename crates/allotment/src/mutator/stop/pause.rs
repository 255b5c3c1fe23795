//! The light stop of a concurrent collector: no thread is between two safepoints, and that is all.
//!
//! A [`World`](super::World) makes every region parsable: each thread gives its buffer up, and the
//! stopper looks at each thread. A `Pause` looks at none. Its length does not grow with buffers,
//! roots or stacks, and with threads only by the requests to those that do not sleep in `blocking`.
//! The work of each thread that follows from the stop is its [duty](super::duty).

use crate::mutator::safepoint::{AbortOnUnwind, StopKind};
use crate::mutator::thread::stopping::{Stopping, is_stopping};
use crate::mutator::{Hot, Shared};
use crate::object::SlotVisitor;
use std::marker::PhantomData;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A heap in which no span is open: every thread is at a safepoint or in `blocking`.
pub(crate) struct Pause<'p> {
    shared: &'p Shared,
    /// Time from the request until the last thread had arrived.
    pub(crate) time_to_safepoint: Duration,
    /// Neither `Send` nor `Sync`: the stopper is one thread.
    stopper: PhantomData<*mut ()>,
}

impl Pause<'_> {
    /// The heap.
    pub(crate) fn shared(&self) -> &Shared {
        self.shared
    }

    /// Puts these barriers in force, beside those of the embedder: for handles and pins at once,
    /// for each thread before its next work.
    pub(crate) fn set_barriers(&self, bits: u32) {
        self.shared.threads.set_barriers(bits | self.shared.threads.barriers() & Hot::HOOK);
    }

    /// Begins a visit of the roots of all threads, which is a part of their duty.
    pub(crate) fn begin_root_visit(&self) {
        self.shared.threads.root_visits.fetch_add(1, Ordering::Relaxed);
    }

    /// Visits the slots of providers, and calls `pinned` with what they pin.
    pub(crate) fn visit_providers(&self, slots: &mut SlotVisitor<'_>, pinned: &mut dyn FnMut(usize)) {
        let providers = &self.shared.threads.roots.providers;
        if providers.count() == 0 {
            return;
        }
        let states = self.shared.threads.registry.attached();
        // SAFETY: no thread detaches while the threads are stopped.
        let frames = super::generated_frames(states.iter().map(|state| unsafe { state.as_ref() }));
        // SAFETY: the frames are of threads that this pause keeps.
        unsafe { providers.visit(slots, pinned, &frames) };
    }
}

impl Shared {
    /// Stops all threads lightly. For a thread of the heap's own, which is not attached. `None`:
    /// another thread's stop came first, and is over.
    pub(crate) fn pause<R>(&self, f: impl FnOnce(&Pause<'_>) -> R) -> Option<R> {
        debug_assert!(!is_stopping(), "stops do not nest");
        self.after_fork_or_abort();
        let _stopping = Stopping::begin(&self.threads.registry);
        self.threads.registry.threads.stop(StopKind::Light, None, |arrival| {
            let abort = AbortOnUnwind::new("code of a collector's pause panicked (see above)");
            let outcome = f(&Pause { shared: self, time_to_safepoint: arrival.time, stopper: PhantomData });
            abort.disarm();
            outcome
        })
    }
}
