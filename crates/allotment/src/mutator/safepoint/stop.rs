//! A stop, from the request to the end, and everybody's part in it.
//!
//! Who waits for the end sleeps until its own word says so and takes no lock to go on. With a condition variable
//! hundreds of threads woke up to queue for its lock, each woken by the one before it, each behind all that already
//! ran again: seconds on two cores, where the stop itself took milliseconds. Who wakes whom: `wakes.rs`.

use super::limit::Limit;
use super::patience::Patience;
use super::status::Waits;
use super::volunteers::Volunteers;
use super::wakes::Wakes;
use super::{Late, LateThread, SafepointStatistics, Status, ThreadIdentity};
use crate::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, park};
use std::time::{Duration, Instant};

/// A thread that takes part in stops.
pub(in crate::mutator) trait Participant {
    /// What makes it look up.
    fn limit(&self) -> &Limit;
    /// Its word, at an address that no other thread's has.
    fn status(&self) -> &Status;
    /// Its name.
    fn identity(&self) -> &ThreadIdentity;
    /// Called by the thread before it waits for others in the midst of something: they may be in
    /// another process.
    fn before_waiting(&self) {}
}

/// Why what was found in a child of `fork()` cannot be used there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mutator) enum Unrest {
    /// Another thread held a lock.
    Locked,
    /// Another thread stopped the world.
    Stopping,
    /// Another thread took part and ran.
    Running,
}

/// The threads of a heap, and whether they are stopped.
pub(in crate::mutator) struct Safepoints<T, D> {
    inner: Mutex<Inner<T, D>>,
    /// Threads that have yet to arrive. Written under the lock; Release, for who looks on without it.
    awaited: AtomicUsize,
    /// Nobody is awaited any more. Only the stopper waits for it.
    arrived: Condvar,
    /// No stop is under way. For threads that take no part.
    resumed: Condvar,
    /// Who is woken when a stop ends.
    wakes: Wakes,
    /// Who looks on meanwhile.
    volunteers: Volunteers,
    patience: Patience,
    late: Late,
}

/// What the lock guards.
pub(in crate::mutator) struct Inner<T, D> {
    /// Who takes part. **Invariant:** while a stop is under way nobody is added, and who is removed
    /// was awaited.
    pub(in crate::mutator) threads: Vec<T>,
    /// What changes together with the threads; the protocol does not look at it.
    pub(in crate::mutator) data: D,
    /// **Invariant:** while there is one, every thread but its stopper has been requested.
    stop: Option<Stop>,
    /// Threads that wait for its end and take no part.
    outside: usize,
    statistics: SafepointStatistics,
}

/// A stop under way.
struct Stop {
    /// Whether the stopper has to be woken when all have arrived.
    asleep: bool,
    last: Option<ThreadIdentity>,
}

/// How all threads came to their safepoints.
pub(in crate::mutator) struct Arrival {
    /// From the request until the last one was there.
    pub(in crate::mutator) time: Duration,
    /// Who was last, if anybody had to be waited for.
    pub(in crate::mutator) last: Option<ThreadIdentity>,
}

/// The golden ratio of 2^64: multiples of it are spread evenly.
const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;

const POISONED: &str = "no code that may panic runs under the lock of the safepoints";

impl<T: Participant, D> Safepoints<T, D> {
    /// For a process that may use so many CPUs.
    pub(in crate::mutator) fn new(late: Late, cpus: usize, data: D) -> Safepoints<T, D> {
        let statistics = SafepointStatistics::default();
        Safepoints {
            inner: Mutex::new(Inner { threads: Vec::new(), data, stop: None, outside: 0, statistics }),
            awaited: AtomicUsize::new(0),
            arrived: Condvar::new(),
            resumed: Condvar::new(),
            wakes: Wakes::new(),
            volunteers: Volunteers::new(),
            patience: Patience { cpus },
            late,
        }
    }

    /// The lock, whether the world is stopped or not.
    pub(in crate::mutator) fn lock(&self) -> MutexGuard<'_, Inner<T, D>> {
        self.inner.lock().expect(POISONED)
    }

    /// The lock while no stop is under way, nor will be before it is given back. Not for a thread that
    /// others may be waiting for: one that is attached and runs.
    pub(in crate::mutator) fn lock_resumed(&self) -> MutexGuard<'_, Inner<T, D>> {
        self.until_resumed(self.lock())
    }

    fn until_resumed<'a>(&'a self, mut inner: MutexGuard<'a, Inner<T, D>>) -> MutexGuard<'a, Inner<T, D>> {
        while inner.stop.is_some() {
            inner.outside += 1;
            inner = self.resumed.wait(inner).expect(POISONED);
            inner.outside -= 1;
        }
        inner
    }

    /// Whether there are threads that take part, none of them runs, and no stop is under way.
    pub(in crate::mutator) fn is_idle(&self) -> bool {
        let inner = self.lock();
        let safe = |thread: &T| thread.status().is_safe();
        inner.stop.is_none() && !inner.threads.is_empty() && inner.threads.iter().all(safe)
    }

    /// Those that look on until a stop is over.
    pub(in crate::mutator) fn volunteers(&self) -> &Volunteers {
        &self.volunteers
    }

    pub(in crate::mutator) fn statistics(&self) -> SafepointStatistics {
        self.lock().statistics
    }

    /// Adds a thread that runs; waits for the end of a stop.
    pub(in crate::mutator) fn attach(&self, thread: T, change: impl FnOnce(&mut D)) {
        let mut inner = self.lock_resumed();
        inner.threads.push(thread);
        change(&mut inner.data);
    }

    /// Removes a thread that runs, which is an arrival as good as any.
    pub(in crate::mutator) fn detach(&self, thread: &T, change: impl FnOnce(&mut D)) {
        let mut inner = self.lock();
        let thread = inner.remove(thread);
        change(&mut inner.data);
        self.arrive(&mut inner, &thread);
    }

    /// Removes a thread that is not in this process, and was safe when that was forked; in a stop
    /// of the caller's, too.
    pub(in crate::mutator) fn forget(&self, thread: &T, change: impl FnOnce(&mut D)) {
        let mut inner = self.lock();
        inner.remove(thread);
        change(&mut inner.data);
    }

    /// Removes the calling thread in a child of `fork()` in which nobody can use the heap. If the
    /// lock is held there, nobody will ever look at the threads again.
    pub(in crate::mutator) fn detach_unusable(&self, thread: &T) {
        if let Ok(mut inner) = self.inner.try_lock() {
            inner.remove(thread);
        }
    }

    /// In a child of `fork()`, on the thread that forked, which is `own` if it takes part, and
    /// which may stop the world itself: calls `other` with all others, if each of them was safe and
    /// nobody held a lock. Those that looked on are forgotten.
    pub(in crate::mutator) fn others_at_rest(
        &self,
        own: Option<&T>,
        stopping: bool,
        other: impl FnMut(&T),
    ) -> Result<(), Unrest> {
        let inner = self.inner.try_lock().map_err(|_| Unrest::Locked)?;
        if inner.stop.is_some() && !stopping {
            return Err(Unrest::Stopping);
        }
        let others = || inner.threads.iter().filter(|thread| !own.is_some_and(|own| same(own, thread)));
        if others().any(|thread| !thread.status().is_safe()) {
            return Err(Unrest::Running);
        }
        if !self.wakes.is_at_rest() || !self.volunteers.forget() {
            return Err(Unrest::Locked);
        }
        others().for_each(other);
        Ok(())
    }

    /// The thread touches nothing of the heap from here on, until it leaves.
    #[inline]
    pub(in crate::mutator) fn enter_blocking(&self, thread: &T) {
        if !thread.status().enter() {
            self.enter_blocking_awaited(thread);
        }
    }

    #[cold]
    fn enter_blocking_awaited(&self, thread: &T) {
        thread.before_waiting();
        let mut inner = self.lock();
        self.arrive(&mut inner, thread);
    }

    /// The thread runs again; waits for the end of a stop.
    #[inline]
    pub(in crate::mutator) fn leave_blocking(&self, thread: &T) {
        if !thread.status().leave() {
            self.leave_after_stop(thread, Waits::AfterBlocking);
        }
    }

    #[cold]
    fn leave_after_stop(&self, thread: &T, waits: Waits) {
        thread.before_waiting();
        thread.status().leave_after_stop(waits, park);
        self.wakes.attend(waits);
    }

    /// Waits for the end of a stop that waits for this thread, if there is one.
    pub(in crate::mutator) fn park(&self, thread: &T) {
        if thread.status().is_requested() {
            thread.before_waiting();
            self.park_locked(self.lock(), thread);
        }
    }

    fn park_locked(&self, mut inner: MutexGuard<'_, Inner<T, D>>, thread: &T) {
        self.arrive(&mut inner, thread);
        let threads = inner.threads.len();
        drop(inner);
        if self.patience.suits(threads) {
            self.volunteers.look_on(self.patience, || !thread.status().is_requested());
        }
        self.leave_after_stop(thread, Waits::InTheMidst);
    }

    /// Makes a thread that runs safe, and counts it if a stop is under way.
    fn arrive(&self, inner: &mut Inner<T, D>, thread: &T) {
        thread.status().arrive();
        if let Some(stop) = &mut inner.stop
            && self.awaited.fetch_sub(1, Ordering::Release) == 1
        {
            stop.last = Some(thread.identity().clone());
            if stop.asleep {
                self.arrived.notify_one();
            }
        }
    }

    /// Stops all threads but `own`, the caller if it takes part and runs; runs `body`; lets them go on, also
    /// if `body` unwinds. `None`: somebody else's stop came first, and is over.
    pub(in crate::mutator) fn stop<R>(&self, own: Option<&T>, body: impl FnOnce(Arrival) -> R) -> Option<R> {
        let mut inner = self.lock();
        if inner.stop.is_some() {
            match own {
                Some(own) => self.park_locked(inner, own),
                None => drop(self.until_resumed(inner)),
            }
            return None;
        }
        let begun = Instant::now();
        self.wakes.prepare(inner.threads.len());
        let (awaited, threads) = (inner.request(own), inner.threads.len());
        self.awaited.store(awaited, Ordering::Relaxed);
        let _resume = Resume(self);
        if awaited > 0 && self.patience.suits(threads) {
            drop(inner);
            let _ = self.patience.look_on(|| self.awaited.load(Ordering::Acquire) == 0);
            inner = self.lock();
        }
        let arrival = self.await_arrivals(inner, begun);
        Some(body(arrival))
    }

    /// Waits until nobody is awaited; says who is late.
    fn await_arrivals<'a>(&'a self, mut inner: MutexGuard<'a, Inner<T, D>>, begun: Instant) -> Arrival {
        let mut delay = self.late.delay;
        while self.awaited.load(Ordering::Relaxed) > 0 {
            inner.stop.iter_mut().for_each(|stop| stop.asleep = true);
            let Some(late) = delay else {
                inner = self.arrived.wait(inner).expect(POISONED);
                continue;
            };
            let waited = begun.elapsed();
            if waited < late {
                inner = self.arrived.wait_timeout(inner, late - waited).expect(POISONED).0;
            } else {
                // All were asked at the same time, so all that are late are late now.
                delay = None;
                let awaited = inner.threads.iter().filter(|thread| thread.status().is_awaited());
                let late: Vec<_> = awaited.map(|thread| thread.identity().clone()).collect();
                // The embedder's code may look at the heap, and may panic.
                drop(inner);
                late.into_iter().for_each(|thread| self.late.tell(&LateThread { thread, waited }));
                inner = self.lock();
            }
        }
        let time = begun.elapsed();
        inner.statistics.record(time);
        inner.acknowledge();
        let last = inner.stop.as_mut().and_then(|stop| stop.last.take());
        Arrival { time, last }
    }
}

impl<T: Participant, D> Inner<T, D> {
    fn remove(&mut self, thread: &T) -> T {
        let place = self.threads.iter().rposition(|other| same(other, thread));
        self.threads.swap_remove(place.expect("an attached thread is among the threads"))
    }

    /// Asks everybody but `own` to stop; how many of them have to be waited for.
    fn request(&mut self, own: Option<&T>) -> usize {
        let mut awaited = 0;
        for thread in &self.threads {
            if own.is_some_and(|own| same(own, thread)) {
                continue;
            }
            // In this order: who accepts the limit's request finds the status's.
            if thread.status().request() {
                thread.limit().request();
                awaited += 1;
            }
        }
        self.stop = Some(Stop { asleep: false, last: None });
        awaited
    }

    /// Everybody is there: what the limits asked for is done, so that nobody stops again for it.
    fn acknowledge(&self) {
        for thread in self.threads.iter().filter(|thread| thread.status().is_safe()) {
            // The owner is held, so its part can be done for it.
            thread.limit().acknowledge();
        }
    }

    /// Lets all threads go on; `wakes` are those that have to be woken up.
    fn resume(&mut self, wakes: &Wakes) {
        self.stop = None;
        let first = (self.statistics.stops.wrapping_mul(STRIDE) >> 32) as usize % self.threads.len().max(1);
        let (last, first) = self.threads.split_at(first);
        let mut lists = wakes.gather();
        for thread in first.iter().chain(last) {
            if let Some(waits) = thread.status().resume() {
                lists.add(waits, thread.identity().thread());
            }
        }
    }
}

/// Ends the stop when dropped.
struct Resume<'a, T: Participant, D>(&'a Safepoints<T, D>);

impl<T: Participant, D> Drop for Resume<'_, T, D> {
    fn drop(&mut self) {
        let mut inner = self.0.lock();
        inner.resume(&self.0.wakes);
        let outside = inner.outside;
        drop(inner);
        if outside > 0 {
            self.0.resumed.notify_all();
        }
        self.0.wakes.begin();
    }
}

fn same<T: Participant>(one: &T, other: &T) -> bool {
    std::ptr::eq(one.status(), other.status())
}
