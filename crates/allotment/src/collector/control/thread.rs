//! A thread of a heap's own, which looks at the heap from time to time while it is asked to.
//!
//! The thread starts at the first request, because most heaps never need the thread. The thread
//! parks while it rests, and keeps the heap alive only while it looks. So a heap ends when its
//! embedder drops it, and the heap's end also ends the thread.

use super::requests::{Next, Requests};
use crate::platform::run_on_cpus;
use crate::sync::{AtomicBool, Builder, JoinHandle, Mutex, Ordering, current, park, park_timeout};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// The work of a control thread.
pub(in crate::collector) trait Watch: Send + 'static {
    /// Looks once. `begins` is true for the first look since a request. Returns the time to wait
    /// before the next look, which comes if a look is still wanted. Returns `None` if the heap is
    /// gone.
    fn look(&mut self, begins: bool) -> Option<Duration>;
}

/// A thread that is asked to look, and its state.
pub(in crate::collector) struct ControlThread {
    name: &'static str,
    requests: Arc<Requests>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The system gave no thread, so the heap does not ask again. Written by mutators. Relaxed.
    refused: AtomicBool,
    /// The process is a child of `fork()`, and the thread is not in it. Set in the child, and
    /// cleared under the lock. Relaxed.
    gone: AtomicBool,
    /// The thread has begun its work. Set by the thread, Release; read by the end of the heap,
    /// Acquire.
    has_begun: Arc<AtomicBool>,
}

impl ControlThread {
    /// A control thread that is not started yet.
    pub(in crate::collector) fn new(name: &'static str) -> ControlThread {
        let [refused, gone, has_begun] = std::array::from_fn(|_| AtomicBool::new(false));
        let (requests, thread, has_begun) = (Arc::default(), Mutex::new(None), Arc::new(has_begun));
        ControlThread { name, requests, thread, refused, gone, has_begun }
    }

    /// Asks for looks. If the thread has to be started, it runs on `cpus` and uses the result of
    /// `watch`. Returns `false` if the system gives no thread.
    pub(in crate::collector) fn ask<W: Watch>(&self, cpus: &Arc<[usize]>, watch: impl FnOnce() -> W) -> bool {
        if self.refused.load(Ordering::Relaxed) {
            return false;
        }
        // A thread that does not rest looks already.
        if self.requests.ask() && !self.wake(cpus, watch) {
            self.refused.store(true, Ordering::Relaxed);
            return false;
        }
        true
    }

    /// Withdraws the request for looks.
    pub(in crate::collector) fn rest(&self) {
        self.requests.rest();
    }

    /// Whether looks are wanted.
    pub(in crate::collector) fn is_asked(&self) -> bool {
        self.requests.is_asked()
    }

    /// In a child of `fork()`: whether no thread holds the lock. A holder would not be in the
    /// child, and could not release it.
    pub(in crate::collector) fn is_at_rest(&self) -> bool {
        self.thread.try_lock().is_ok()
    }

    /// In a child of `fork()`: forgets the thread, which is not in it. Another starts when it is
    /// wanted.
    pub(in crate::collector) fn forget(&self) {
        self.requests.rest();
        self.gone.store(true, Ordering::Relaxed);
    }

    /// Wakes the thread, or starts it. Returns `false` if the system gives none.
    fn wake<W: Watch>(&self, cpus: &Arc<[usize]>, watch: impl FnOnce() -> W) -> bool {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if self.gone.swap(false, Ordering::Relaxed) {
            // A join or a detach might reach a thread that has its memory now.
            std::mem::forget(thread.take());
        }
        if let Some(thread) = &*thread {
            thread.thread().unpark();
            return true;
        }
        let (requests, mut watch, cpus) = (self.requests.clone(), watch(), cpus.clone());
        let has_begun = self.has_begun.clone();
        has_begun.store(false, Ordering::Relaxed);
        let started = Builder::new().name(self.name.into()).spawn(move || {
            has_begun.store(true, Ordering::Release);
            run_on_cpus(&cpus);
            serve(&requests, &mut watch);
        });
        *thread = started.ok();
        thread.is_some()
    }
}

impl Drop for ControlThread {
    fn drop(&mut self) {
        self.requests.end();
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if self.gone.load(Ordering::Relaxed) {
            return std::mem::forget(thread);
        }
        // This thread may be the one that has the last reference to the heap.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != current().id()) {
            thread.thread().unpark();
            // A thread that starts needs the lock of the loader of libraries, and this thread may
            // have that lock: a constructor of a library may use a heap. The other thread then
            // finds that the heap has ended, and ends.
            if !self.has_begun.load(Ordering::Acquire) {
                return;
            }
            // If the thread panicked, in the embedder's code, it has said so.
            let _ = thread.join();
        }
    }
}

/// The thread's loop, until its end.
fn serve(requests: &Requests, watch: &mut impl Watch) {
    loop {
        let begins = match requests.next() {
            Next::Rest => {
                park();
                continue;
            }
            Next::End => return,
            next => next == Next::Begin,
        };
        let Some(wait) = watch.look(begins) else { return };
        // This look may have ended the heap.
        if requests.is_asked() {
            park_timeout(wait);
        }
    }
}
