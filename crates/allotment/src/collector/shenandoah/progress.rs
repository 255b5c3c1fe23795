//! The cycles that threads ask for, and how they wait for the end of one.
//!
//! Requests are numbered. A cycle serves all requests that were made before it began, and so does a
//! full collection. They are served when its record is in the history.

use super::scope::Garbage;
use crate::mutator::Cause;
use crate::sync::{Condvar, Mutex, MutexGuard, POISONED, ThreadId, current};

/// The cycles that were asked for and ended.
#[derive(Default)]
pub(super) struct Progress {
    inner: Mutex<Requests>,
    /// Signals `served` and `is_dead`.
    changed: Condvar,
}

/// `served <= ended <= begun <= asked`.
#[derive(Default)]
struct Requests {
    /// The number of the last request.
    asked: u64,
    /// The most that requests want that were made since the last cycle began.
    wanted: Garbage,
    /// The most that the requests want for which the last cycle began.
    begun_for: Garbage,
    /// The requests that the last begun cycle serves: it began after them.
    begun: u64,
    /// The requests whose cycle has ended.
    ended: u64,
    /// The requests that were served: the record of their cycle is in the history.
    served: u64,
    /// The reason of a trigger that fired.
    trigger: Option<String>,
    /// There was no collection for `GCInterval`.
    interval_is_over: bool,
    /// The control thread.
    driver: Option<ThreadId>,
    /// The control thread has panicked, in the embedder's code.
    is_dead: bool,
}

/// Why a cycle begins.
pub(super) struct CycleRequest {
    /// The cause, of those that hold the one that wants most.
    pub(super) cause: Cause,
    /// The garbage that threads want found.
    pub(super) garbage: Garbage,
    /// The reason of a trigger.
    pub(super) trigger: Option<String>,
}

impl Progress {
    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.inner.lock().expect(POISONED)
    }

    pub(super) fn is_at_rest(&self) -> bool {
        self.inner.try_lock().is_ok()
    }

    /// Makes this thread the control thread.
    pub(super) fn drive(&self) {
        self.lock().driver = Some(current().id());
    }

    /// Tells the waiting threads that the control thread has panicked.
    pub(super) fn driver_died(&self) {
        self.lock().is_dead = true;
        self.changed.notify_all();
    }

    /// Whether this thread is the control thread.
    pub(super) fn is_driver(&self) -> bool {
        self.lock().driver == Some(current().id())
    }

    /// Whether no cycle can go on while this thread waits: this is the control thread, or that has
    /// panicked.
    pub(super) fn has_no_other_driver(&self) -> bool {
        let inner = self.lock();
        inner.is_dead || inner.driver == Some(current().id())
    }

    /// Asks for a cycle that begins from here on and finds `garbage`; returns its number.
    pub(super) fn ask(&self, garbage: Garbage) -> u64 {
        let mut inner = self.lock();
        inner.asked += 1;
        inner.wanted = inner.wanted.max(garbage);
        inner.asked
    }

    /// Asks for a cycle because of a trigger.
    pub(super) fn fire(&self, reason: impl ToString) {
        self.lock().trigger.get_or_insert_with(|| reason.to_string());
    }

    /// Forgets that a trigger has fired.
    pub(super) fn forget_trigger(&self) {
        self.lock().trigger = None;
    }

    /// Asks for a cycle that finds all garbage, because there was none for `GCInterval`. No thread
    /// waits for it.
    pub(super) fn ask_after_interval(&self) {
        let mut inner = self.lock();
        inner.interval_is_over = true;
        inner.wanted = Garbage::All;
    }

    /// Whether a cycle is wanted.
    pub(super) fn is_wanted(&self) -> bool {
        let inner = self.lock();
        inner.trigger.is_some() || inner.interval_is_over || inner.asked > inner.ended
    }

    /// Notes that a cycle begins. Returns its reasons.
    pub(super) fn begin(&self) -> CycleRequest {
        let mut inner = self.lock();
        let mut garbage = std::mem::take(&mut inner.wanted);
        if inner.begun > inner.ended {
            // A stop has given up the last cycle.
            garbage = garbage.max(inner.begun_for);
        }
        inner.begun_for = garbage;
        inner.begun = inner.asked;
        let interval_is_over = std::mem::take(&mut inner.interval_is_over);
        let cause = match inner.asked > inner.ended {
            true => Cause::Requested,
            false if interval_is_over => Cause::Interval,
            false => Cause::Trigger,
        };
        CycleRequest { cause, garbage, trigger: inner.trigger.take() }
    }

    /// Notes that a collection begins in the stopped world. It finds all garbage, so it serves all
    /// requests so far, and begins the interval anew.
    pub(super) fn begin_stopped(&self) {
        let mut inner = self.lock();
        inner.wanted = Garbage::default();
        inner.interval_is_over = false;
        inner.begun = inner.asked;
    }

    /// Whether the collection of request `number` has ended. Its record need not be in the history.
    pub(super) fn has_ended(&self, number: u64) -> bool {
        self.lock().ended >= number
    }

    /// Notes that the cycle that began last has ended. Returns the requests that its record serves.
    pub(super) fn end(&self) -> u64 {
        let mut inner = self.lock();
        inner.ended = inner.ended.max(inner.begun);
        inner.ended
    }

    /// Tells the threads of requests up to `number` that they are served.
    pub(super) fn serve(&self, number: u64) {
        let mut inner = self.lock();
        inner.served = inner.served.max(number);
        drop(inner);
        self.changed.notify_all();
    }

    /// Waits until request `number` is served. Returns `false` if it never will be.
    pub(super) fn wait_for(&self, number: u64) -> bool {
        let mut inner = self.lock();
        while inner.served < number {
            if inner.is_dead {
                return false;
            }
            inner = self.changed.wait(inner).expect(POISONED);
        }
        true
    }
}

/// Serves requests up to a number when it is dropped, even if a listener panics: other threads may
/// wait for these requests.
pub(super) struct Serving<'p>(pub(super) &'p Progress, pub(super) u64);

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        self.0.serve(self.1);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_request_for_all_garbage_lasts_until_a_cycle_has_served_it() {
        let progress = Progress::default();
        let for_all = || progress.begin().garbage == Garbage::All;
        progress.ask(Garbage::Young);
        assert!(!for_all());
        progress.ask(Garbage::All);
        // Not the cycle that is under way; the next, and the one after that if that is given up.
        progress.end();
        assert!(for_all() && for_all());
        progress.ask(Garbage::Young);
        assert!(for_all());
        progress.end();
        assert!(!for_all());
        progress.ask(Garbage::Young);
        assert!(!for_all());
    }

    /// Otherwise a young cycle followed, which said that it found all garbage after the interval.
    #[test]
    fn a_collection_in_a_stop_is_also_the_one_after_the_interval() {
        let progress = Progress::default();
        progress.ask_after_interval();
        progress.begin_stopped();
        progress.end();
        assert!(!progress.is_wanted());
    }

    #[test]
    fn a_trigger_that_is_forgotten_wants_no_cycle() {
        let progress = Progress::default();
        progress.fire("a trigger");
        progress.forget_trigger();
        assert!(!progress.is_wanted());
        progress.ask(Garbage::Young);
        progress.forget_trigger();
        assert!(progress.is_wanted(), "requests stay");
        progress.fire("another trigger");
        assert_eq!(progress.begin().trigger.as_deref(), Some("another trigger"));
    }

    #[test]
    fn a_cycle_has_the_cause_that_wants_most() {
        let progress = Progress::default();
        progress.fire("a trigger");
        assert_eq!(progress.begin().cause, Cause::Trigger);
        progress.fire("a trigger");
        progress.ask_after_interval();
        let both = progress.begin();
        assert_eq!((both.cause, both.garbage), (Cause::Interval, Garbage::All));
        assert!(!progress.is_wanted(), "the request lasts for one cycle");
        progress.ask_after_interval();
        progress.ask(Garbage::Young);
        let both = progress.begin();
        assert_eq!((both.cause, both.garbage), (Cause::Requested, Garbage::All));
    }
}

/// Every interleaving of a thread that waits for a cycle, one that collects in a stop, and the
/// control thread. The lock stands for the stopped world: no cycle is under way there.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[derive(Default)]
    struct Heap {
        progress: Progress,
        cycle: Mutex<()>,
        /// What each thread has let go of, and what collections found. The model checker does not
        /// see these numbers.
        dropped: [AtomicU32; 2],
        found: [AtomicU32; 2],
    }

    impl Heap {
        /// Lets go of something and asks for a collection. Returns the number of the request.
        fn ask(&self, thread: usize) -> u64 {
            self.dropped[thread].store(1, Ordering::Relaxed);
            self.progress.ask(Garbage::All)
        }

        /// A collection that `begin` begins. It finds what threads let go of before.
        fn collect(&self, begin: impl Fn(&Progress)) {
            let cycle = self.cycle.lock().unwrap();
            begin(&self.progress);
            let found = self.dropped.each_ref().map(|dropped| dropped.load(Ordering::Relaxed));
            for (place, found) in self.found.iter().zip(found) {
                place.fetch_max(found, Ordering::Relaxed);
            }
            let serves = self.progress.end();
            drop(cycle);
            self.progress.serve(serves);
        }

        fn check(&self, thread: usize) {
            assert_eq!(self.found[thread].load(Ordering::Relaxed), 1, "it began after the request");
        }
    }

    #[test]
    fn a_request_is_served_by_what_begins_after_it() {
        let mut bounded = loom::model::Builder::new();
        bounded.preemption_bound = Some(3);
        bounded.check(|| {
            let heap = Arc::new(Heap::default());
            let spawn = |body: fn(&Heap)| {
                let heap = heap.clone();
                thread::spawn(move || body(&heap))
            };
            let control = spawn(|heap| {
                while !heap.progress.has_ended(2) {
                    match heap.progress.is_wanted() {
                        true => heap.collect(|progress| drop(progress.begin())),
                        false => thread::yield_now(),
                    }
                }
            });
            let stopper = spawn(|heap| {
                let number = heap.ask(1);
                if !heap.progress.has_ended(number) {
                    heap.collect(Progress::begin_stopped);
                }
                heap.check(1);
            });
            let number = heap.ask(0);
            assert!(heap.progress.wait_for(number));
            heap.check(0);
            stopper.join().unwrap();
            control.join().unwrap();
        });
    }
}
