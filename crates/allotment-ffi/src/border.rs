//! The border to C: who calls, and wrong calls that end the process.
//!
//! A function gets the mutator as an address. It only compares the address with that of the calling
//! thread's mutator, so a foreign or stale one is found before it is used.

use crate::callback::refuse_in_callbacks;
use allotment::raw::{Hot, RawMutator};
use allotment::{Attachment, Heap, Reservation};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::Write;
use std::process::abort;
use std::ptr;

/// `al_mutator`: the hot part of a thread's state.
#[repr(transparent)]
pub(crate) struct al_mutator(Hot);

/// A thread that C code attached.
pub(crate) struct Thread {
    /// The reservation of `al_room`. First: it is dropped before the attachment ends.
    pub(crate) room: RefCell<Option<Reservation<'static>>>,
    pub(crate) attachment: Attachment,
}

thread_local! {
    /// The calling thread, as `al_attach` made it. A pointer: its owner is the C program, which
    /// calls `al_detach`.
    static CURRENT: Cell<*mut Thread> = const { Cell::new(ptr::null_mut()) };

    /// The thread is ending, and this is the mutator with which it came to its end; null: it was
    /// detached, or has been since.
    static ENDED: Cell<Option<*mut al_mutator>> = const { Cell::new(None) };

    /// Dropped when the thread ends.
    static AT_THREAD_END: AtThreadEnd = const { AtThreadEnd };
}

/// Ends what C code attached. A program without thread-local destructors of its own detaches in
/// handlers that run later: those of `atexit`, of global C++ objects and of a pthread key. There
/// `al_detach` finds the mutator in [`ENDED`].
struct AtThreadEnd;

impl Drop for AtThreadEnd {
    fn drop(&mut self) {
        let mu = current();
        // SAFETY: as in `current`, and no other reference is in use: if code of this library is on
        // the stack, a callback called `exit`, and never returns.
        if let Some(thread) = unsafe { CURRENT.get().as_mut() } {
            if !thread.attachment.end_with_thread() {
                return;
            }
            drop(take_current());
        }
        ENDED.set(Some(mu));
    }
}

/// Whether destructors of the calling thread's end have run.
pub(crate) fn is_ending() -> bool {
    ENDED.get().is_some()
}

/// Whether `mu` is the mutator with which the calling thread came to its end. If so, forgets it.
pub(crate) fn take_ended(mu: *mut al_mutator) -> bool {
    let is_ended = !mu.is_null() && ENDED.get() == Some(mu);
    if is_ended {
        ENDED.set(Some(ptr::null_mut()));
    }
    is_ended
}

/// A function that was called wrongly, by its name.
pub(crate) struct Wrong<'f>(pub(crate) &'f str);

impl Wrong<'_> {
    /// Ends the process, with a line that says what was wrong and what would be right.
    #[cold]
    pub(crate) fn end(&self, reason: fmt::Arguments<'_>) -> ! {
        // If standard error cannot be written, there is nobody to tell.
        _ = writeln!(std::io::stderr(), "allotment: {}: {reason}", self.0);
        abort()
    }

    #[cold]
    fn not_own(&self, mu: *const al_mutator) -> ! {
        let own = current();
        if !mu.is_null() && ENDED.get().is_some_and(|ended| ptr::eq(ended, mu)) {
            self.end(format_args!("the calling thread is ending and was detached: do this before it ends"));
        }
        if own.is_null() {
            self.end(format_args!(
                "the calling thread is not attached: call al_attach on this thread first, of this copy of the library"
            ));
        }
        self.end(format_args!(
            "{mu:p} is not the mutator of the calling thread, which is {own:p}: pass what al_attach gave this thread"
        ));
    }

    #[cold]
    fn blocked(&self) -> ! {
        self.end(format_args!("the calling thread is blocked: call al_block_leave first"));
    }
}

/// The mutator of the calling thread; null if C code did not attach it.
pub(crate) fn current() -> *mut al_mutator {
    // SAFETY: not null: the box of `set_current`, which `take_current` frees on this thread.
    let thread = unsafe { CURRENT.get().as_ref() };
    thread.map_or(ptr::null_mut(), |thread| thread.attachment.hot().cast_mut().cast())
}

/// Makes the thread current.
pub(crate) fn set_current(attachment: Attachment) -> *mut al_mutator {
    CURRENT.set(Box::into_raw(Box::new(Thread { room: RefCell::new(None), attachment })));
    // After the attaching, so the destructor runs before that of the core.
    AT_THREAD_END.with(|_| ());
    current()
}

/// Ends what `set_current` began.
pub(crate) fn take_current() -> Box<Thread> {
    // SAFETY: the callers have found that the thread is current, and the box is that of
    // `set_current`.
    unsafe { Box::from_raw(CURRENT.replace(ptr::null_mut())) }
}

/// Whether the calling thread is attached to that heap, and not blocked.
pub(crate) fn runs_in(heap: &Heap) -> bool {
    // SAFETY: as in `current`.
    let Some(thread) = (unsafe { CURRENT.get().as_ref() }) else { return false };
    let mu = thread.attachment.hot().cast_mut().cast();
    thread.attachment.heap().base() == heap.base() && !is_blocked("", mu)
}

/// The thread of that mutator, which is the calling one. It may be blocked.
pub(crate) fn own<'t>(function: &str, mu: *mut al_mutator) -> &'t Thread {
    refuse_in_callbacks(function);
    if mu.is_null() || mu != current() {
        Wrong(function).not_own(mu);
    }
    // SAFETY: as in `current`; the caller does not detach while it has the reference.
    unsafe { &*CURRENT.get() }
}

/// Whether the thread of that mutator is blocked.
pub(crate) fn is_blocked(function: &str, mu: *mut al_mutator) -> bool {
    // SAFETY: the closure asks, and does nothing else.
    let blocked = unsafe { RawMutator::with_hot(mu.cast(), |mutator| mutator.raw().is_blocking()) };
    blocked.unwrap_or_else(|| Wrong(function).not_own(mu))
}

/// Checks that `mu` is the calling thread's mutator, that the thread may use the heap, and returns
/// the thread.
pub(crate) fn runs<'t>(function: &str, mu: *mut al_mutator) -> &'t Thread {
    let thread = own(function, mu);
    if is_blocked(function, mu) {
        Wrong(function).blocked();
    }
    thread
}

/// Runs `body` with the calling thread's mutator.
pub(crate) fn with<R>(
    function: &str,
    mu: *mut al_mutator,
    body: impl for<'t> FnOnce(&mut RawMutator<'t>) -> R,
) -> R {
    runs(function, mu);
    with_any(function, mu, body)
}

/// As [`with`], for functions that a blocked thread may call.
pub(crate) fn with_any<R>(
    function: &str,
    mu: *mut al_mutator,
    body: impl for<'t> FnOnce(&mut RawMutator<'t>) -> R,
) -> R {
    own(function, mu);
    // SAFETY: no other mutator of this thread is in use: C code has none, and callbacks, which run
    // within such a call, are refused. The header's rules say the rest: after an [S] call the
    // program uses no address from before.
    let done = unsafe { RawMutator::with_hot(mu.cast(), |mutator| body(mutator.raw_mut())) };
    done.unwrap_or_else(|| Wrong(function).not_own(mu))
}
