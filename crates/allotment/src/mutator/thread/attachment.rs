//! How a thread attaches and detaches, with a body to run or without one.
//!
//! [`attach`] runs a body and detaches after it. An [`OwnState`] is an attachment that its owner
//! keeps, for programs that have no body to run: C, and frameworks that call back.
//!
//! The mutator of an owned attachment is lent to closures. A closure ends before its thread's
//! thread-local values are dropped, so a mutator is never used after the thread was detached.
//! Refused: a method that returns `&mut Mutator`. A leaked attachment would lend the mutator for
//! `'static`, and a destructor of a thread-local value could use it after the detaching.
//!
//! A thread may end with an attachment that was leaked. All other threads would then wait for it in
//! each stop. So the first owned attachment of a thread registers a destructor ([`AtThreadEnd`]),
//! which detaches the thread and names it. The state's memory stays: the attachment may be dropped
//! later, by the destructor of another thread-local value. The attachment finds out that it was
//! detached by the state's address, which nothing else has meanwhile.
//!
//! `exit` runs the same destructors. A thread that calls it from within a body has code of the heap
//! on its stack, perhaps a stop of the world, so then the thread stays as it is.

use super::registry::{AttachError, Attached};
use super::shared::Shared;
use super::state::State;
use super::stopping::is_stopping;
use crate::mutator::roots::OUTSIDE;
use crate::mutator::{Hot, Mutator};
use crate::platform::{abort_because, is_first_thread, tell};
use crate::sync::Ordering;
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::Arc;

thread_local! {
    /// This thread's state, in whichever heap. Null if the thread is attached to none.
    static ATTACHED: Cell<*const State> = const { Cell::new(ptr::null()) };

    /// Dropped when the thread ends.
    static AT_THREAD_END: AtThreadEnd = const { AtThreadEnd };
}

/// Whether this thread is attached to some heap, and not in `blocking`.
pub(in crate::mutator) fn runs_attached() -> bool {
    // SAFETY: if not null, the pointer leads to the state of this very thread; `detach` resets the
    // pointer before the state is freed.
    unsafe { ATTACHED.get().as_ref() }.is_some_and(|state| !state.status.is_safe())
}

/// The calling thread's state in this heap, if the thread is attached to it.
pub(in crate::mutator) fn own_state(shared: &Shared) -> Option<&State> {
    // SAFETY: as above, and no caller detaches while it has the reference.
    let state = unsafe { ATTACHED.get().as_ref() };
    state.filter(|state| ptr::eq(&*state.shared, shared))
}

/// Runs `body` as a thread of the heap. Detaches when `body` returns or unwinds.
pub(crate) fn attach<R>(
    shared: &Arc<Shared>,
    body: impl for<'t> FnOnce(&mut Mutator<'t>) -> R,
) -> Result<R, AttachError> {
    let own = OwnState::begin(shared)?;
    Ok(own.state().run(body))
}

/// The state of the calling thread, which is attached while the value lives. Neither `Send` nor
/// `Sync`: a thread detaches itself.
pub(crate) struct OwnState {
    /// A box, as a pointer: a box that moves would claim to be the only way to its contents, and the
    /// registry has another.
    state: NonNull<State>,
    /// The owner has ended the attachment with the thread. C code may have the address of the hot
    /// part, and inlines read the hot part before they call.
    hot_stays: bool,
}

impl OwnState {
    /// Attaches the calling thread, and detaches it at its end at the latest.
    pub(crate) fn attach(shared: &Arc<Shared>) -> Result<OwnState, AttachError> {
        AT_THREAD_END.try_with(|_| ()).map_err(|_| AttachError::ThreadEnds)?;
        OwnState::begin(shared)
    }

    fn begin(shared: &Arc<Shared>) -> Result<OwnState, AttachError> {
        if !ATTACHED.get().is_null() {
            return Err(AttachError::AlreadyAttached);
        }
        if is_stopping() {
            return Err(AttachError::WorldStopped);
        }
        shared.after_fork()?;
        let (sizing, number) = shared.threads.registry.start(&shared.policy.sizing);
        let own = OwnState {
            state: NonNull::from(Box::leak(Box::new(State::new(shared.clone(), sizing, number)))),
            hot_stays: false,
        };
        let state = own.state();
        shared.threads.registry.threads.attach(Attached::from(state), |_| {
            shared.threads.registry.count.fetch_add(1, Ordering::Relaxed);
            // Read after the end of any stop that this thread waited for, and before the next: such
            // a stop changes both.
            state.hot.barriers.set(shared.threads.barriers());
            // Under the lock, too: a thread that changes the interval then requests a safepoint of
            // all.
            state.sampling.restart(&state.hot, shared.watch.sampler.interval());
            *state.lock_roots() = shared.threads.root_visits();
        });
        ATTACHED.set(state);
        Ok(own)
    }

    /// Runs `body` with the thread's mutator. `None`: the thread was detached at its end.
    pub(crate) fn with<R>(&mut self, body: impl for<'t> FnOnce(&mut Mutator<'t>) -> R) -> Option<R> {
        self.is_attached().then(|| self.state().run(body))
    }

    /// Does what the end of the thread does with an attachment. Returns whether the thread is
    /// detached.
    pub(crate) fn end_with_thread(&mut self) -> bool {
        self.hot_stays = !self.is_attached() || self.state().end_with_thread();
        self.hot_stays
    }

    /// The thread's hot part.
    pub(crate) fn hot(&self) -> *const Hot {
        &raw const self.state().hot
    }

    fn state(&self) -> &State {
        // SAFETY: only `drop` frees the state.
        unsafe { self.state.as_ref() }
    }

    fn is_attached(&self) -> bool {
        ptr::eq(ATTACHED.get(), self.state.as_ptr())
    }
}

impl Drop for OwnState {
    fn drop(&mut self) {
        if self.is_attached() {
            self.state().detach();
        }
        if self.hot_stays {
            // SAFETY: the thread is detached, so no Rust code has the address. The memory stays
            // allocated, and the hot part has no destructor.
            return unsafe { self.state.drop_in_place() };
        }
        // SAFETY: the box is of `begin`. The thread is detached, so nothing else has the address.
        drop(unsafe { Box::from_raw(self.state.as_ptr()) });
    }
}

/// The calling thread's state, if this is its hot part. The address is only compared.
pub(in crate::mutator) fn own_state_at<'s>(hot: *const Hot) -> Option<&'s State> {
    let state = ATTACHED.get();
    // SAFETY: not null: the state of this thread, and no caller detaches while it has the
    // reference.
    (!hot.is_null() && ptr::eq(hot, state.cast())).then(|| unsafe { &*state })
}

impl State {
    /// Runs `body` with a mutator of this state, the calling thread's.
    pub(in crate::mutator) fn run<R>(&self, body: impl for<'t> FnOnce(&mut Mutator<'t>) -> R) -> R {
        let _inside = self.enter();
        body(&mut Mutator::new(self))
    }

    /// Says that code of the heap is on the thread's stack, until the result is dropped.
    pub(in crate::mutator) fn enter(&self) -> Inside<'_> {
        Inside { inside: &self.inside, before: self.inside.replace(true) }
    }

    /// Detaches the calling thread, which ends, and names it. Returns `false` if code of the heap is
    /// on the stack: then the thread calls `exit`.
    fn end_with_thread(&self) -> bool {
        if self.inside.get() || is_stopping() {
            return false;
        }
        // First: other calls overwrite the dead frames, and a collector may look for roots there.
        self.forget_frames();
        // The end of the first thread is that of the process.
        if !is_first_thread() {
            tell(format_args!(
                "allotment: thread {} ended while it was attached to a heap, and is detached now: detach it before it \
                 ends",
                self.identity
            ));
        }
        self.detach();
        true
    }

    /// Empties the list of roots in frames. The thread ends, so its frames are gone. Their code did
    /// not unlink them if `pthread_exit`, or an exception that it does not know, passed it.
    fn forget_frames(&self) {
        // In a child that cannot use the heap nobody looks at the list.
        if self.shared.after_fork().is_err() {
            return;
        }
        let _walks = self.lock_roots();
        self.parked.set(ptr::null_mut());
        self.hot.links.set(if self.status.is_safe() { OUTSIDE } else { ptr::null_mut() });
    }

    /// Detaches the calling thread.
    fn detach(&self) {
        if is_stopping() {
            abort_because(format_args!(
                "a thread detached while it stopped the world: end the stop first, then detach"
            ));
        }
        let registry = &self.shared.threads.registry;
        match self.shared.after_fork() {
            Ok(()) => {
                // Code without a body may detach from within a blocking region.
                if self.status.is_safe() {
                    self.leave_blocking();
                }
                self.leave();
                // From here on a stop does not wait for this thread, so this thread must not touch
                // the heap any more.
                registry.threads.detach(&self.into(), |ledger| registry.count_out(ledger, self));
            }
            // A child that did not use the heap may end in any state.
            Err(_) => registry.threads.detach_unusable(&self.into()),
        }
        ATTACHED.set(ptr::null());
    }
}

/// Notes that a body runs, while it lives.
pub(in crate::mutator) struct Inside<'s> {
    inside: &'s Cell<bool>,
    before: bool,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.inside.set(self.before);
    }
}

/// Detaches a thread that ends attached.
struct AtThreadEnd;

impl Drop for AtThreadEnd {
    fn drop(&mut self) {
        // SAFETY: not null: the state of this thread.
        let Some(state) = (unsafe { ATTACHED.get().as_ref() }) else { return };
        state.end_with_thread();
    }
}
