//! Handles and pins: roots with an owner, which any thread may free.

use crate::border::{Wrong, al_mutator, with};
use crate::callback::refuse_under_locks;
use crate::error::demanded;
use allotment::raw::{Pin, RootHandle};
use std::ffi::c_void;
use std::ptr::NonNull;

/// `al_handle`.
pub(crate) struct al_handle(RootHandle);

/// `al_pin`.
pub(crate) struct al_pin(Pin);

/// `al_handle_new`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_handle_new(mu: *mut al_mutator, word: u64) -> *mut al_handle {
    // SAFETY: the header's rules: the word refers to a live object of this heap, or to none.
    let root = with("al_handle_new", mu, |raw| unsafe { raw.new_root(word) });
    Box::into_raw(Box::new(al_handle(root)))
}

/// `al_weak_new`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_weak_new(mu: *mut al_mutator, word: u64) -> *mut al_handle {
    // SAFETY: as for `al_handle_new`.
    let root = with("al_weak_new", mu, |raw| unsafe { raw.new_weak_root(word) });
    Box::into_raw(Box::new(al_handle(root)))
}

#[cold]
fn of_another_heap(function: &str) -> ! {
    Wrong(function).end(format_args!(
        "the handle is of another heap than the calling thread's: use it on a thread that is attached to its heap"
    ))
}

/// `al_handle_get`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_handle_get(mu: *mut al_mutator, handle: *const al_handle) -> u64 {
    const NAME: &str = "al_handle_get";
    // SAFETY: the header's rules: a handle that was not freed.
    let handle = unsafe { demanded(handle, NAME, "handle") };
    with(NAME, mu, |raw| handle.0.get(raw)).unwrap_or_else(|| of_another_heap(NAME))
}

/// `al_handle_set`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_handle_set(mu: *mut al_mutator, handle: *mut al_handle, word: u64) {
    const NAME: &str = "al_handle_set";
    // SAFETY: the header's rules: a handle that was not freed.
    let handle = unsafe { demanded(handle, NAME, "handle") };
    // SAFETY: the header's rules: the word refers to a live object of this heap, or to none.
    if !with(NAME, mu, |raw| unsafe { handle.0.set(raw, word) }) {
        of_another_heap(NAME);
    }
}

/// `al_handle_copy`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_handle_copy(handle: *const al_handle) -> *mut al_handle {
    // SAFETY: the header's rules: a handle that was not freed.
    let handle = unsafe { demanded(handle, "al_handle_copy", "handle") };
    Box::into_raw(Box::new(al_handle(handle.0.clone())))
}

/// `al_handle_free`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_handle_free(handle: *mut al_handle) {
    refuse_under_locks("al_handle_free");
    if !handle.is_null() {
        // SAFETY: the header's rules: the box of a handle, which the caller gives up.
        drop(unsafe { Box::from_raw(handle) });
    }
}

/// `al_pin_new`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_pin_new(mu: *mut al_mutator, object: *mut c_void) -> *mut al_pin {
    const NAME: &str = "al_pin_new";
    let Some(object) = NonNull::new(object.cast()) else {
        Wrong(NAME).end(format_args!("`object` is NULL, and must be an object of the heap"));
    };
    // SAFETY: the header's rules: a live object of this heap.
    let pin = with(NAME, mu, |raw| unsafe { raw.pin(object) });
    Box::into_raw(Box::new(al_pin(pin)))
}

/// `al_pin_address`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_pin_address(pin: *const al_pin) -> *mut c_void {
    // SAFETY: the header's rules: a pin that was not freed.
    unsafe { demanded(pin, "al_pin_address", "pin") }.0.object().as_ptr().cast()
}

/// `al_pin_free`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_pin_free(pin: *mut al_pin) {
    refuse_under_locks("al_pin_free");
    if !pin.is_null() {
        // SAFETY: the header's rules: the box of a pin, which the caller gives up.
        drop(unsafe { Box::from_raw(pin) });
    }
}
