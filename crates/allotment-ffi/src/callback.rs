//! Callbacks: functions of the program that the library calls, and what they may call in turn.
//!
//! The caller of a callback is within a call of the heap. So no callback uses a mutator, attaches,
//! stops a world or ends a heap: the caller would lose its footing, or wait for itself. A callback
//! that runs in a stopped world, or under a lock of the library, calls nothing at all, except what
//! its argument serves.

use crate::border::Wrong;
use crate::error::{Code, Failure};
use crate::sanitizer;
use std::cell::Cell;
use std::ffi::c_void;

/// What a callback may call of the header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// What its argument serves.
    Nothing,
    /// What any thread may call, except what waits for threads or ends a heap.
    AnyThread,
}

thread_local! {
    /// The callback that the thread is in.
    static CURRENT: Cell<Option<(&'static str, Calls)>> = const { Cell::new(None) };
}

/// A pointer of the program's, which goes back to its callbacks.
#[derive(Clone, Copy)]
pub(crate) struct Data(pub(crate) *mut c_void);

// SAFETY: the library only hands the pointer back. The header says that callbacks run on any
// thread.
unsafe impl Send for Data {}
// SAFETY: as above.
unsafe impl Sync for Data {}

impl Data {
    /// A method, so that closures take the whole value.
    pub(crate) fn get(self) -> *mut c_void {
        self.0
    }
}

/// Runs a callback of the program's. A C++ exception that leaves it ends the process.
pub(crate) fn callback<R>(name: &'static str, calls: Calls, call: impl FnOnce() -> R) -> R {
    let before = CURRENT.replace(Some((name, calls)));
    let unwinds = Unwinds(name);
    sanitizer::take();
    let result = call();
    sanitizer::give();
    std::mem::forget(unwinds);
    CURRENT.set(before);
    result
}

/// Ends the process when it is dropped: an exception passes.
struct Unwinds(&'static str);

impl Drop for Unwinds {
    fn drop(&mut self) {
        Wrong(self.0).end(format_args!("an exception leaves the callback: catch it there"));
    }
}

/// Ends the process in a callback, for a function that uses a mutator.
pub(crate) fn refuse_in_callbacks(function: &str) {
    if let Some((callback, _)) = CURRENT.get() {
        Wrong(function).end(format_args!(
            "called from {callback}, which must not use a mutator: do this before or after, outside of callbacks"
        ));
    }
}

/// Ends the process in a callback that calls nothing, for a function that any thread may call.
pub(crate) fn refuse_under_locks(function: &str) {
    if let Some((callback, Calls::Nothing)) = CURRENT.get() {
        Wrong(function).end(format_args!(
            "called from {callback}, which may call nothing of the header but what its argument serves: do this before \
             or after, outside of it"
        ));
    }
}

/// Fails in a callback, for a function that waits for threads, changes what callers of callbacks
/// use, or ends it.
pub(crate) fn outside_of_callbacks() -> Result<(), Failure> {
    match CURRENT.get() {
        None => Ok(()),
        Some((callback, _)) => Err(Failure::new(
            Code::Stopping,
            format_args!("called from {callback}: do this before or after, outside of callbacks"),
        )),
    }
}
