//! Collections while nobody runs.
//!
//! Threads that wait for the same, a frame, a tick, requests that come in bursts, allocate at the same time: so it is in a burst that
//! eden is full, when a pause is in everybody's way, and everybody in that of the pause. Of 500 threads that allocate every 20 ms,
//! 200 to 400 came back from sleep during a pause and wanted the CPUs of those that collect, for 8 us each: pauses of 3 ms took 6.
//! Between two bursts no thread ran for 14 ms. So a last part of eden is kept back. Who finds eden full but for that
//! opens it, without a stop, and has a thread look from time to time whether all threads are in
//! [`blocking`](crate::Mutator::blocking). If two looks in a row find them there, it collects; if none do, eden gets full as ever.
//! V8 collects in the idle times that a browser tells it of (Degenbaev and others, PLDI 2016); here `blocking` tells.
//!
//! Nobody is looked for where eden is full again soon: a look there costs more than it gains.
//!
//! Refused: that the thread that is the last to begin `blocking` collects. Whom the kernel has woken and given no CPU yet is in
//! `blocking`, so in the midst of a burst somebody is the last at each moment; and what it waits for would wait for the collection.
//! A priority for those that collect: few processes may have one, and with a niceness of -10 pauses were as long, for
//! who has run a while waits for all that have not.

use super::Parallel;
use super::order::{Next, Order};
use crate::collector::record::{IdleLook, LastPart};
use crate::collector::sizing::Decision;
use crate::mutator::{Cause, Mutator, Shared};
use crate::platform::run_on_cpus;
use crate::sync::{
    AtomicBool, AtomicUsize, Builder, JoinHandle, Mutex, MutexGuard, Ordering, current, park, park_timeout,
};
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The part of eden that is kept back.
const LAST_PART: usize = 8;

/// An eden that is full sooner is not looked after.
const LEAST: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 20 });

/// From one look to the next, at first: as long as all threads have to be in `blocking`.
const NEXT_LOOK: Duration = Duration::from_millis(1);

/// Later a look comes after so many-th of the time since the first: whoever always runs is looked at a few times.
const LATER_LOOK: u32 = 16;

/// What is kept back of eden, and the thread that looks.
pub(super) struct Idle {
    /// `CollectWhenIdle`.
    enabled: bool,
    /// Regions that mutators fill at the same time: without so many they would take from each other what they have begun.
    homes: usize,
    /// Regions that may be in use once the last part of eden is open; 0: none is kept back. Written in the stopped world, made larger
    /// and cleared by mutators. Released by who clears it, so that who finds nothing kept back finds the capacity.
    whole: AtomicUsize,
    /// What is to be told of the last part, once it was opened. Written by who opens it, and taken in the stopped world, where nobody
    /// has the lock.
    opened: Mutex<Option<LastPart>>,
    order: Arc<Order>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The system gave no thread: it is not asked again.
    refused: AtomicBool,
    /// The process is a child of `fork()`, and the thread is not in it.
    gone: AtomicBool,
}

impl Idle {
    /// Of a heap in which so many regions are filled at the same time.
    pub(super) fn new(enabled: bool, homes: usize) -> Idle {
        Idle {
            enabled,
            homes,
            whole: AtomicUsize::new(0),
            opened: Mutex::new(None),
            order: Arc::default(),
            thread: Mutex::new(None),
            refused: AtomicBool::new(false),
            gone: AtomicBool::new(false),
        }
    }

    /// In a child of `fork()`: whether nobody has a lock, who could not give it back.
    pub(super) fn is_at_rest(&self) -> bool {
        self.opened.try_lock().is_ok() && self.thread.try_lock().is_ok()
    }

    /// In a child of `fork()`: the thread is not in it. Another one is started when it is wanted.
    pub(super) fn forget_thread(&self) {
        self.order.rest();
        self.gone.store(true, Ordering::Relaxed);
    }

    /// Eden is empty, and so many regions are in use: how many may be. In the stopped world, or while no thread is attached.
    pub(super) fn begin(&self, in_use: usize, decision: &Decision) -> usize {
        self.order.rest();
        self.whole.store(0, Ordering::Relaxed);
        *self.lock_opened() = None;
        // What comes next may be a full collection: nobody should come back into the midst of that.
        if decision.full { in_use + decision.eden_regions } else { self.keep(in_use, decision.eden_regions) }
    }

    /// Eden is to have so many regions behind those in use, more than before: how many may be in use.
    pub(super) fn enlarge(&self, in_use: usize, eden_regions: usize) -> usize {
        // It is not nearly full any more. First: whoever finds the larger one nearly full may give the next order at once.
        self.order.rest();
        self.keep(in_use, eden_regions)
    }

    /// Keeps the last part back of an eden of so many regions, behind those in use: how many may be in use without it.
    fn keep(&self, in_use: usize, eden_regions: usize) -> usize {
        let (whole, last) = (in_use + eden_regions, eden_regions / LAST_PART);
        if !self.enabled || last == 0 || eden_regions - last < self.homes {
            return whole;
        }
        self.whole.fetch_max(whole, Ordering::Relaxed);
        whole - last
    }

    /// Opens what is kept back of eden, and has somebody look for a time at which nobody runs; `false`: nothing is kept back.
    pub(super) fn open(&self, parallel: &Arc<Parallel>, mutator: &Mutator<'_>) -> bool {
        let whole = self.whole.load(Ordering::Acquire);
        if whole == 0 {
            return false;
        }
        // First, so that who comes too late to open it finds room.
        mutator.shared().free.raise_capacity(whole);
        if self.whole.compare_exchange(whole, 0, Ordering::Release, Ordering::Relaxed).is_ok() {
            let after = parallel.history.clock.since(parallel.resumed());
            let look = if after >= LEAST { self.look(parallel, mutator) } else { IdleLook::TooSoon };
            *self.lock_opened() = Some(LastPart { after, look });
        }
        true
    }

    /// What became of the last part since eden was empty, if it was opened. In the stopped world.
    pub(super) fn opened(&self) -> Option<LastPart> {
        *self.lock_opened()
    }

    fn lock_opened(&self) -> MutexGuard<'_, Option<LastPart>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, parallel: &Arc<Parallel>, mutator: &Mutator<'_>) -> IdleLook {
        if self.refused.load(Ordering::Relaxed) {
            return IdleLook::NoThread;
        }
        // Otherwise somebody looks already.
        if self.order.ask() && !self.wake(parallel, mutator) {
            self.refused.store(true, Ordering::Relaxed);
            return IdleLook::NoThread;
        }
        IdleLook::Began
    }

    /// Wakes the thread that looks, or starts it; `false`: the system gives none.
    fn wake(&self, parallel: &Arc<Parallel>, mutator: &Mutator<'_>) -> bool {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if self.gone.swap(false, Ordering::Relaxed) {
            // To join or to detach it might reach a thread that has its memory now.
            std::mem::forget(thread.take());
        }
        if let Some(thread) = &*thread {
            thread.thread().unpark();
            return true;
        }
        let watch = Watch {
            order: self.order.clone(),
            parallel: Arc::downgrade(parallel),
            shared: mutator.downgrade(),
        };
        let cpus = parallel.gang.cpus();
        let builder = Builder::new().name("allotment-idle".into());
        let started = builder.spawn(move || {
            run_on_cpus(&cpus);
            watch.run();
        });
        *thread = started.ok();
        thread.is_some()
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        self.order.end();
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

/// What the thread has: nothing that keeps a heap, but while it looks.
struct Watch {
    order: Arc<Order>,
    parallel: Weak<Parallel>,
    shared: Weak<Shared>,
}

impl Watch {
    fn run(self) {
        let mut looks = Looks::begin();
        loop {
            match self.order.next() {
                Next::Rest => {
                    park();
                    continue;
                }
                Next::End => return,
                next => looks.heed(next),
            }
            if !self.look(&mut looks) {
                return;
            }
            // It may have been this look that ended the heap.
            if self.order.is_asked() {
                park_timeout(looks.next());
            }
        }
    }

    /// Looks once, and collects if it is time; `false`: the heap is gone.
    fn look(&self, looks: &mut Looks) -> bool {
        let (Some(shared), Some(parallel)) = (self.shared.upgrade(), self.parallel.upgrade()) else {
            return false;
        };
        if looks.add(shared.registry.is_idle()) {
            parallel.collect_while_idle(&shared);
        }
        true
    }
}

/// What the looks since the last order have found.
struct Looks {
    since: Instant,
    idle: bool,
}

impl Looks {
    fn begin() -> Looks {
        Looks { since: Instant::now(), idle: false }
    }

    /// Those of an order before do not count for a new one.
    fn heed(&mut self, next: Next) {
        if next == Next::Begin {
            *self = Looks::begin();
        }
    }

    /// Adds one; whether it is the second in a row that found nobody running.
    fn add(&mut self, idle: bool) -> bool {
        std::mem::replace(&mut self.idle, idle) && idle
    }

    /// Until the next.
    fn next(&self) -> Duration {
        if self.idle { NEXT_LOOK } else { NEXT_LOOK.max(self.since.elapsed() / LATER_LOOK) }
    }
}

impl Parallel {
    /// A young collection, unless there was one since it was asked for.
    fn collect_while_idle(&self, shared: &Shared) {
        let stopped = shared.stop_the_world(|world| {
            if !self.idle.order.is_asked() {
                return None;
            }
            let record = {
                let inner = &mut *self.inner.lock().expect("a collection that panics ends the process");
                inner.decision.eden_regions = self.welcome.eden_regions();
                self.young(inner, world, Cause::Idle)
            };
            // Also where the system had no memory for it.
            self.idle.order.rest();
            Some((record, self.next(world)))
        });
        if let Ok(Some(Some((record, next)))) = stopped {
            self.team(next);
            self.history.add_stop(record);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_takes_two_looks_in_a_row() {
        let mut looks = Looks::begin();
        let found = [false, true, false, true, true, true, false, true];
        assert_eq!(found.map(|idle| looks.add(idle)), [false, false, false, false, true, true, false, false]);
        assert_eq!(looks.next(), NEXT_LOOK, "the second look is soon, however late the first");
        looks = Looks { since: Instant::now() - 160 * NEXT_LOOK, idle: false };
        assert!(looks.next() >= 10 * NEXT_LOOK);
        looks.heed(Next::Look);
        assert!(looks.next() >= 10 * NEXT_LOOK);
        looks.add(true);
        looks.heed(Next::Begin);
        assert!(looks.next() < 10 * NEXT_LOOK && !looks.add(true), "nothing is left of the order before");
    }

    #[test]
    fn the_last_part_is_kept_back_once_and_of_no_small_eden() {
        let (on, off) = (Idle::new(true, 4), Idle::new(false, 4));
        for (in_use, eden, kept) in [(0, 7, 7), (3, 8, 10), (0, 64, 56), (5, 23, 26)] {
            on.order.ask();
            assert_eq!(off.enlarge(in_use, eden), in_use + eden);
            on.whole.store(0, Ordering::Relaxed);
            assert_eq!(on.enlarge(in_use, eden), kept);
            let whole = if eden < LAST_PART { 0 } else { in_use + eden };
            assert_eq!((on.whole.load(Ordering::Relaxed), off.whole.load(Ordering::Relaxed)), (whole, 0));
            assert!(!on.order.is_asked(), "a larger eden is not nearly full");
        }
        let many = Idle::new(true, 60);
        assert_eq!(many.keep(0, 64), 64, "each core has a region");
        assert_eq!(many.keep(0, 70), 62);
    }
}
