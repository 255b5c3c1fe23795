//! A library that a program and its plugins share: so they share one copy of allotment.

pub use allotment;
use allotment::{Any, Mutator, Root};
use std::cell::Cell;
use std::sync::{Condvar, Mutex};

thread_local!(static CURRENT: Cell<*mut ()> = const { Cell::new(std::ptr::null_mut()) });

/// Lends the mutator to what `body` calls, as the crate `scoped-tls-hkt` does for safe code.
pub fn lend<R>(mu: &mut Mutator<'_>, body: impl FnOnce() -> R) -> R {
    CURRENT.set(std::ptr::from_mut(mu).cast());
    let result = body();
    CURRENT.set(std::ptr::null_mut());
    result
}

/// The mutator that was lent, if there is one.
pub fn lent<R>(body: impl FnOnce(&mut Mutator<'_>) -> R) -> Option<R> {
    let mu = CURRENT.replace(std::ptr::null_mut());
    // SAFETY: lent, to one at a time.
    let result = (!mu.is_null()).then(|| body(unsafe { &mut *mu.cast::<Mutator<'_>>() }));
    CURRENT.set(mu);
    result
}

/// A function that a thread shall call that is attached already.
pub static CALL: Mutex<Option<fn(&mut Mutator<'_>)>> = Mutex::new(None);
pub static CALLED: Condvar = Condvar::new();

/// The roots that plugins keep.
pub static KEPT: Mutex<Vec<Root<Any>>> = Mutex::new(Vec::new());
