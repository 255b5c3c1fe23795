//! Two threads at once, each bound to a CPU: the frame of measurements of two CPUs.

use crate::machine::pin_current_thread;
use std::io;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};

/// Runs two functions, each on a thread bound to its CPU, and returns their results. Neither begins
/// before both are bound, so either may wait for the other.
///
/// # Errors
/// A CPU is not allowed to this process, the system gives no thread, or one of them panicked.
pub(super) fn on_two_cpus<A: Send, B: Send>(
    cpus: [usize; 2],
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> io::Result<(A, B)> {
    let (tried, refused) = (Barrier::new(2), AtomicBool::new(false));
    let bound = |cpu| {
        let done = pin_current_thread(cpu);
        refused.fetch_or(done.is_err(), Ordering::SeqCst);
        tried.wait();
        done.map(|()| !refused.load(Ordering::SeqCst))
    };
    thread::scope(|scope| {
        let thread = || thread::Builder::new();
        let other = thread().spawn_scoped(scope, || Ok(bound(cpus[1])?.then(second)))?;
        let one = match thread().spawn_scoped(scope, || Ok(bound(cpus[0])?.then(first))) {
            Ok(one) => one,
            Err(error) => {
                // The other thread waits, and must not begin.
                refused.store(true, Ordering::SeqCst);
                tried.wait();
                return Err(error);
            }
        };
        let (one, other): (io::Result<_>, io::Result<_>) = (joined(one), joined(other));
        match (one?, other?) {
            (Some(one), Some(other)) => Ok((one, other)),
            // A thread whose CPU was refused has returned that error.
            _ => Err(io::Error::other("a thread could not be bound to its CPU")),
        }
    })
}

fn joined<T>(thread: ScopedJoinHandle<'_, io::Result<T>>) -> io::Result<T> {
    thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
}
