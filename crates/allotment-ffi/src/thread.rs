//! Threads: attaching, polls, blocking.

use crate::border::{
    Wrong, al_mutator, current, is_blocked, is_ending, own, runs, set_current, take_current, take_ended,
    with, with_any,
};
use crate::callback::outside_of_callbacks;
use crate::error::{Code, Failure, al_error, answer, given, place_for};
use crate::frames::has_frames;
use crate::heap::al_heap;
use crate::sanitizer::{Handover, give, take};
use allotment::raw::GeneratedCalls;

/// `al_attach`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_attach(
    heap: *mut al_heap,
    mutator: *mut *mut al_mutator,
    error: *mut al_error,
) -> Code {
    let attach = || {
        // SAFETY: the header's rules, for both pointers.
        let (heap, place) = unsafe { (given(heap, "heap")?, place_for(mutator, "mutator")?) };
        outside_of_callbacks()?;
        if is_ending() {
            return Err(Failure::new(
                Code::Ending,
                "this thread is ending, and nothing would detach it: attach before that, or on another thread",
            ));
        }
        place.set(set_current(heap.heap.attach_thread()?));
        take();
        Ok(())
    };
    // SAFETY: the header's rules: null, or an error with its size.
    unsafe { answer(error, attach) }
}

/// `al_current`.
#[unsafe(no_mangle)]
extern "C" fn al_current() -> *mut al_mutator {
    current()
}

/// `al_detach`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_detach(mu: *mut al_mutator) {
    const NAME: &str = "al_detach";
    // The end of the thread has detached it.
    if take_ended(mu) {
        return;
    }
    // In a child of `fork()` in which the heap cannot be used, there is nobody to come back to.
    if own(NAME, mu).attachment.heap().check_fork().is_ok() {
        with_any(NAME, mu, |raw| {
            if raw.is_blocking() {
                // SAFETY: the region is one of `al_block_enter`, and a thread that stops the world is
                // in a callback, where `with_any` ends the process.
                unsafe { raw.leave_blocking() }
                    .unwrap_or_else(|error| Wrong(NAME).end(format_args!("{error}")));
            }
        });
        // SAFETY: the thread is this one, and not blocked.
        if unsafe { has_frames(mu) } {
            Wrong(NAME).end(format_args!(
                "frames are still linked: leave the scopes of AL_LOCALS and AL_WORDS, and call al_unlink, first"
            ));
        }
    }
    give();
    drop(take_current());
}

/// `al_poll_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_poll_slow(mu: *mut al_mutator) {
    runs("al_poll", mu);
    let _handover = Handover::begin();
    // SAFETY: the calling thread's mutator, and the header's rules for an [S] call.
    unsafe { (GeneratedCalls::new().safepoint)(mu.cast()) };
}

/// `al_poll` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_poll(mu: *mut al_mutator) {
    // SAFETY: the caller's obligations are the same.
    unsafe { al_poll_slow(mu) };
}

/// `al_collect`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_collect(mu: *mut al_mutator) -> bool {
    let _handover = Handover::begin();
    with("al_collect", mu, |raw| raw.collect())
}

/// `al_block_enter`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_block_enter(mu: *mut al_mutator) {
    const NAME: &str = "al_block_enter";
    give();
    // SAFETY: the header's rules: the thread uses nothing of the heap before `al_block_leave`.
    let entered = with_any(NAME, mu, |raw| unsafe { raw.enter_blocking() });
    entered.unwrap_or_else(|error| Wrong(NAME).end(format_args!("{error}")));
}

/// `al_block_leave`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_block_leave(mu: *mut al_mutator) {
    const NAME: &str = "al_block_leave";
    // SAFETY: the region is one of `al_block_enter`, since closures do not run C code, and a thread
    // that stops the world is in a callback, where `with_any` ends the process.
    let left = with_any(NAME, mu, |raw| unsafe { raw.leave_blocking() });
    left.unwrap_or_else(|error| Wrong(NAME).end(format_args!("{error}")));
    take();
    debug_assert!(!is_blocked(NAME, mu));
}
