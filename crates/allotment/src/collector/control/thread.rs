//! A thread of a heap's own, which looks after something from time to time while it is asked to.
//!
//! It is started when it is first asked, for most heaps never need it, and parks while it rests. It
//! holds nothing that keeps a heap alive but while it looks: so a heap ends when its embedder drops
//! it, and ends the thread.

use super::requests::{Next, Requests};
use crate::platform::run_on_cpus;
use crate::sync::{AtomicBool, Builder, JoinHandle, Mutex, Ordering, current, park, park_timeout};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// What the thread does.
pub(in crate::collector) trait Watch: Send + 'static {
    /// Looks once; `begins`: for the first time since it was asked. How long to wait before the next
    /// look, which comes if one is wanted still; `None`: the heap is gone.
    fn look(&mut self, begins: bool) -> Option<Duration>;
}

/// A thread that is asked to look, and its state.
pub(in crate::collector) struct ControlThread {
    name: &'static str,
    requests: Arc<Requests>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The system gave no thread: it is not asked again. Written by mutators. Relaxed.
    refused: AtomicBool,
    /// The process is a child of `fork()`, and the thread is not in it. Written there, and taken
    /// back under the lock. Relaxed.
    gone: AtomicBool,
}

impl ControlThread {
    /// None is started yet.
    pub(in crate::collector) fn new(name: &'static str) -> ControlThread {
        let [refused, gone] = [const { AtomicBool::new(false) }; 2];
        ControlThread { name, requests: Arc::default(), thread: Mutex::new(None), refused, gone }
    }

    /// Asks for looks, on `cpus` and by what `watch` makes if the thread has to be started; `false`:
    /// the system gives no thread.
    pub(in crate::collector) fn ask<W: Watch>(&self, cpus: &Arc<[usize]>, watch: impl FnOnce() -> W) -> bool {
        if self.refused.load(Ordering::Relaxed) {
            return false;
        }
        // Otherwise it looks already.
        if self.requests.ask() && !self.wake(cpus, watch) {
            self.refused.store(true, Ordering::Relaxed);
            return false;
        }
        true
    }

    /// No look is wanted any more.
    pub(in crate::collector) fn rest(&self) {
        self.requests.rest();
    }

    /// Whether looks are wanted.
    pub(in crate::collector) fn is_asked(&self) -> bool {
        self.requests.is_asked()
    }

    /// In a child of `fork()`: whether nobody has the lock, for who has it could not give it back.
    pub(in crate::collector) fn is_at_rest(&self) -> bool {
        self.thread.try_lock().is_ok()
    }

    /// In a child of `fork()`: the thread is not in it. Another one is started when it is wanted.
    pub(in crate::collector) fn forget(&self) {
        self.requests.rest();
        self.gone.store(true, Ordering::Relaxed);
    }

    /// Wakes the thread, or starts it; `false`: the system gives none.
    fn wake<W: Watch>(&self, cpus: &Arc<[usize]>, watch: impl FnOnce() -> W) -> bool {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if self.gone.swap(false, Ordering::Relaxed) {
            // To join or to detach it might reach a thread that has its memory now.
            std::mem::forget(thread.take());
        }
        if let Some(thread) = &*thread {
            thread.thread().unpark();
            return true;
        }
        let (requests, mut watch, cpus) = (self.requests.clone(), watch(), cpus.clone());
        let started = Builder::new().name(self.name.into()).spawn(move || {
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
        // It may be the one that has the last reference to the heap.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != current().id()) {
            thread.thread().unpark();
            // If it panicked, in the embedder's code, it has said so.
            let _ = thread.join();
        }
    }
}

/// What the thread does all its life.
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
        // It may have been this look that ended the heap.
        if requests.is_asked() {
            park_timeout(wait);
        }
    }
}
