//! A stop from the request to its end, and the part that each thread has in it.
//!
//! A thread that waits for the end sleeps until its own status word says so, and takes no lock to
//! resume. With a condition variable, hundreds of threads woke up to queue for its lock. Each was
//! woken by the one before it, after all that already ran again. That took seconds on two cores,
//! where the stop itself took milliseconds. `wakes.rs` says which thread wakes which.
//!
//! A stop does not look at threads that *sleep*: those that were in `blocking` when the last stop
//! began, and have not come back since. Their number may be thousands. The stop that finds a thread
//! in `blocking` lays it asleep, mostly before it asks any thread to wait. A thread that sleeps
//! takes the lock once when it comes back, and then does what all stops meanwhile left to it. Two
//! numbers of the heap tell it all that: the barriers in force, and how many visits of roots were
//! begun. `thread_list.rs` has the order of the threads.

use super::limit::{Limit, Wish};
use super::patience::Patience;
use super::status::{Left, Waits};
use super::thread_list::{Place, ThreadList, same};
use super::volunteers::Volunteers;
use super::wakes::Wakes;
use super::{Late, LateThread, SafepointStatistics, Status, ThreadIdentity};
use crate::mutator::ForkError;
use crate::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, POISONED, Waiting, park};
use std::time::{Duration, Instant};

/// A thread that takes part in stops.
pub(in crate::mutator) trait Participant {
    /// The limit that makes the thread notice a request.
    fn limit(&self) -> &Limit;
    /// The thread's status word, at an address of its own.
    fn status(&self) -> &Status;
    /// The thread's place among the threads of the heap.
    fn place(&self) -> &Place;
    /// The thread's identity.
    fn identity(&self) -> &ThreadIdentity;
    /// Called by the thread before it interrupts its work to wait for others: they may be in
    /// another process.
    fn before_waiting(&self) {}
    /// Called by the thread when it comes back from `blocking` after a stop. Whether it is in a
    /// child of `fork()` in which no stop will ever begin, and has done what stops left to it.
    fn is_left_alone(&self) -> bool {
        false
    }
    /// Called by the thread when it runs again after a light stop, before any other work.
    fn do_duty(&self) {}
}

/// The demands of a stop on the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mutator) enum StopKind {
    /// Threads give their buffers up. The stopper does the rest for each of them.
    Full,
    /// Threads keep their buffers. Each has a [duty](Participant::do_duty) after the stop, so the
    /// stop costs two atomic operations for a thread that is safe.
    Light,
}

/// The threads of a heap, and whether they are stopped.
pub(in crate::mutator) struct Safepoints<T, D> {
    inner: Mutex<SafepointState<T, D>>,
    /// Threads that have yet to arrive. Written under the lock; Release, for a stopper that spins
    /// without the lock.
    awaited: AtomicUsize,
    /// Signals that no thread is awaited any more. Only the stopper waits for it.
    arrived: Condvar,
    /// Signals that no stop is under way. For threads that take no part.
    resumed: Condvar,
    /// The threads to be woken when a stop ends.
    wakes: Wakes,
    /// The threads that spin until a stop is over.
    pub(in crate::mutator) volunteers: Volunteers,
    patience: Patience,
    late: Late,
}

/// What the lock guards.
pub(in crate::mutator) struct SafepointState<T, D> {
    /// The participating threads. **Invariant:** while a stop is under way no thread is added, and
    /// a removed thread was awaited.
    pub(in crate::mutator) threads: ThreadList<T>,
    /// Data that changes together with the threads. The protocol does not read it.
    pub(in crate::mutator) data: D,
    /// **Invariant:** while there is a stop, every awake thread but its stopper has been requested.
    stop: Option<Stop>,
    /// Threads that wait for its end and take no part.
    outside: usize,
    statistics: SafepointStatistics,
    /// Threads that stops looked at between their begins and their ends.
    #[cfg(test)]
    pub(super) looked_at: usize,
}

/// A stop under way.
struct Stop {
    /// Whether the stopper has to be woken when all threads have arrived.
    asleep: bool,
    last: Option<ThreadIdentity>,
}

/// How all threads came to their safepoints.
pub(in crate::mutator) struct Arrival {
    /// Time from the request until the last thread had arrived.
    pub(in crate::mutator) time: Duration,
    /// The last thread to arrive, if any had to be awaited.
    pub(in crate::mutator) last: Option<ThreadIdentity>,
}

/// Awake threads that a stop looks at before it begins, while it holds the lock.
const LOOKED_AT: usize = match () {
    () if cfg!(loom) => 1,
    () if cfg!(test) => 4,
    () => 64,
};

/// The longest wait for threads to go on after a stop.
const LONGEST_RESUMPTION: Duration = Duration::from_millis(20);

/// The golden ratio of 2^64: multiples of it are spread evenly.
const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;

impl<T: Participant, D> Safepoints<T, D> {
    /// For a process that may use `cpus` CPUs.
    pub(in crate::mutator) fn new(late: Late, cpus: usize, data: D) -> Safepoints<T, D> {
        let inner = SafepointState {
            threads: ThreadList::default(),
            data,
            stop: None,
            outside: 0,
            statistics: SafepointStatistics::default(),
            #[cfg(test)]
            looked_at: 0,
        };
        Safepoints {
            inner: Mutex::new(inner),
            awaited: AtomicUsize::new(0),
            arrived: Condvar::new(),
            resumed: Condvar::new(),
            wakes: Wakes::default(),
            volunteers: Volunteers::default(),
            patience: Patience { cpus },
            late,
        }
    }

    /// The lock, whether the world is stopped or not.
    pub(in crate::mutator) fn lock(&self) -> MutexGuard<'_, SafepointState<T, D>> {
        self.inner.lock().expect(POISONED)
    }

    /// The lock while no stop is under way; none begins before the lock is released. A thread that
    /// others may be waiting for must not call this, that is an attached thread that runs.
    pub(in crate::mutator) fn lock_resumed(&self) -> MutexGuard<'_, SafepointState<T, D>> {
        self.until_resumed(self.lock())
    }

    fn until_resumed<'a>(
        &'a self,
        mut inner: MutexGuard<'a, SafepointState<T, D>>,
    ) -> MutexGuard<'a, SafepointState<T, D>> {
        while inner.stop.is_some() {
            inner.outside += 1;
            inner = self.resumed.wait(inner).expect(POISONED);
            inner.outside -= 1;
        }
        inner
    }

    /// Whether there are participating threads, none of them runs, and no stop is under way.
    pub(in crate::mutator) fn is_idle(&self) -> bool {
        let inner = self.lock();
        let safe = |thread: &T| thread.status().is_safe();
        inner.stop.is_none() && !inner.threads.is_empty() && inner.threads.awake().iter().all(safe)
    }

    /// Whether a thread that the last stop held has yet to go on.
    pub(in crate::mutator) fn is_resuming(&self) -> bool {
        let inner = self.lock();
        let resumes = |thread: &T| thread.status().is_resuming();
        inner.stop.is_none() && (inner.outside > 0 || inner.threads.awake().iter().any(resumes))
    }

    /// Waits until the threads that the last stop held have gone on, for up to
    /// [`LONGEST_RESUMPTION`]. Such a thread may be about to ask for a stop, too, and the next stop
    /// does not wait for it. For a thread that is safe.
    pub(in crate::mutator) fn await_resumption(&self) {
        let (begun, mut waiting) = (Instant::now(), Waiting::new());
        while self.is_resuming() && begun.elapsed() < LONGEST_RESUMPTION {
            waiting.longer();
        }
    }

    pub(in crate::mutator) fn statistics(&self) -> SafepointStatistics {
        self.lock().statistics
    }

    /// Adds a running thread, after the end of any stop.
    pub(in crate::mutator) fn attach(&self, thread: T, change: impl FnOnce(&mut D)) {
        let mut inner = self.lock_resumed();
        inner.threads.add(thread);
        change(&mut inner.data);
    }

    /// Removes a running thread, which counts as an arrival.
    pub(in crate::mutator) fn detach(&self, thread: &T, change: impl FnOnce(&mut D)) {
        let mut inner = self.lock();
        let thread = inner.threads.remove(thread);
        change(&mut inner.data);
        self.arrive(&mut inner, &thread);
    }

    /// Removes a thread that is not in this process and was safe at the fork. Also allowed in a
    /// stop of the caller.
    pub(in crate::mutator) fn forget(&self, thread: &T, change: impl FnOnce(&mut D)) {
        let mut inner = self.lock();
        inner.threads.remove(thread);
        change(&mut inner.data);
    }

    /// Removes the calling thread in a child of `fork()` that cannot use the heap. If the lock is
    /// held there, no code will ever read the threads again.
    pub(in crate::mutator) fn detach_unusable(&self, thread: &T) {
        if let Ok(mut inner) = self.inner.try_lock() {
            inner.threads.remove(thread);
        }
    }

    /// Calls `other` with all other threads, if each of them was safe and no thread held a lock.
    /// Called in a child of `fork()`, on the thread that forked. That thread is `own` if it takes
    /// part, and may be stopping the world itself. The spinning threads are forgotten.
    pub(in crate::mutator) fn others_at_rest(
        &self,
        own: Option<&T>,
        stopping: bool,
        other: impl FnMut(&T),
    ) -> Result<(), ForkError> {
        let inner = self.inner.try_lock().map_err(|_| ForkError::Locked)?;
        if inner.stop.is_some() && !stopping {
            return Err(ForkError::WorldStopped);
        }
        let others = || inner.threads.iter().filter(|thread| !own.is_some_and(|own| same(own, thread)));
        if others().any(|thread| !thread.status().is_safe()) {
            return Err(ForkError::ThreadRan);
        }
        if !self.wakes.is_at_rest() || !self.volunteers.forget() {
            return Err(ForkError::Locked);
        }
        others().for_each(other);
        Ok(())
    }

    /// From here on the thread touches nothing of the heap, until it leaves.
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

    /// The thread runs again, after the end of any stop.
    #[inline]
    pub(in crate::mutator) fn leave_blocking(&self, thread: &T) {
        if !thread.status().leave() {
            self.leave_blocking_after_stop(thread);
        }
    }

    #[cold]
    fn leave_blocking_after_stop(&self, thread: &T) {
        if thread.is_left_alone() {
            thread.status().leave_for_good();
        } else {
            self.leave_after_stop(thread, Waits::AfterBlocking);
        }
    }

    #[cold]
    fn leave_after_stop(&self, thread: &T, waits: Waits) {
        loop {
            thread.before_waiting();
            let has_duty = loop {
                match thread.status().leave_after_stop(waits, park) {
                    Left::Runs { has_duty } => break has_duty,
                    Left::Asleep => {
                        let inner = &mut *self.lock();
                        inner.threads.rouse(thread, inner.stop.is_some());
                    }
                }
            };
            self.wakes.attend(waits);
            if !has_duty {
                return;
            }
            thread.do_duty();
            // The duty accepts the limit's requests. If that of the next stop was among them, no
            // poll would find that stop.
            if !thread.status().is_requested() {
                return;
            }
            thread.before_waiting();
            self.arrive(&mut self.lock(), thread);
        }
    }

    /// Waits for the end of a stop that waits for this thread, if there is one.
    pub(in crate::mutator) fn park(&self, thread: &T) {
        if thread.status().is_requested() {
            thread.before_waiting();
            self.park_locked(self.lock(), thread);
        }
    }

    fn park_locked(&self, mut inner: MutexGuard<'_, SafepointState<T, D>>, thread: &T) {
        self.arrive(&mut inner, thread);
        let spins = self.patience.suits(inner.threads.awake().len());
        if spins {
            // Under the lock: a stop that begins later does not lay the thread asleep.
            thread.status().begin_spin();
        }
        drop(inner);
        if spins {
            self.volunteers.look_on(self.patience, || !thread.status().is_requested());
            thread.status().end_spin();
        }
        self.leave_after_stop(thread, Waits::AtWork);
    }

    /// Makes a running thread safe, and counts its arrival if a stop is under way.
    fn arrive(&self, inner: &mut SafepointState<T, D>, thread: &T) {
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

    /// Stops all threads but `own`, which is the caller if it takes part and runs. Then runs `body`
    /// and lets the threads go on, even if `body` unwinds. `None`: another thread's stop came
    /// first, and is over.
    pub(in crate::mutator) fn stop<R>(
        &self,
        kind: StopKind,
        own: Option<&T>,
        body: impl FnOnce(Arrival) -> R,
    ) -> Option<R> {
        let mut inner = self.lock();
        if inner.stop.is_none() && inner.threads.awake().len() > LOOKED_AT {
            drop(inner);
            self.lay_asleep(own);
            inner = self.lock();
        }
        if inner.stop.is_some() {
            match own {
                Some(own) => self.park_locked(inner, own),
                None => drop(self.until_resumed(inner)),
            }
            return None;
        }
        let begun = Instant::now();
        self.wakes.prepare(inner.threads.len());
        let (awaited, threads) = (inner.request(kind, own), inner.threads.awake().len());
        self.awaited.store(awaited, Ordering::Relaxed);
        let _resume = Resume(self);
        if awaited > 0 && self.patience.suits(threads) {
            drop(inner);
            let _ = self.patience.look_on(|| self.awaited.load(Ordering::Acquire) == 0);
            inner = self.lock();
        }
        let arrival = self.await_arrivals(inner, kind, begun);
        Some(body(arrival))
    }

    /// Lets the stop that is about to begin overlook the threads in `blocking`. A few threads at a
    /// time: another thread may need the lock, and no thread waits for this one yet.
    fn lay_asleep(&self, own: Option<&T>) {
        let mut end = usize::MAX;
        loop {
            let mut inner = self.lock();
            end = end.min(inner.threads.awake().len());
            // The stop itself looks at the last few.
            if inner.stop.is_some() || end <= LOOKED_AT {
                return;
            }
            let begin = end - LOOKED_AT;
            (begin..end).rev().for_each(|place| _ = inner.threads.lay_asleep(place, own));
            end = begin;
        }
    }

    /// Waits until no thread is awaited. Reports late threads.
    fn await_arrivals<'a>(
        &'a self,
        mut inner: MutexGuard<'a, SafepointState<T, D>>,
        kind: StopKind,
        begun: Instant,
    ) -> Arrival {
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
                // All threads were asked at the same time, so all late threads are late now.
                delay = None;
                let awaited = inner.threads.awake().iter().filter(|thread| thread.status().is_awaited());
                let late: Vec<_> = awaited.map(|thread| thread.identity().clone()).collect();
                // The embedder's code may look at the heap, and may panic.
                drop(inner);
                late.into_iter().for_each(|thread| self.late.tell(&LateThread { thread, waited }));
                inner = self.lock();
            }
        }
        let time = begun.elapsed();
        inner.statistics.record(time);
        if kind == StopKind::Full {
            inner.acknowledge();
        }
        let last = inner.stop.as_mut().and_then(|stop| stop.last.take());
        Arrival { time, last }
    }
}

impl<T: Participant, D> SafepointState<T, D> {
    /// Counts the awake threads as looked at.
    fn count_looked_at(&mut self) {
        #[cfg(test)]
        {
            self.looked_at += self.threads.awake().len();
        }
    }

    /// Asks all awake threads but `own` to stop. Returns how many of them have to be awaited. Those
    /// in `blocking` sleep from now on.
    fn request(&mut self, kind: StopKind, own: Option<&T>) -> usize {
        let (mut awaited, light) = (0, kind == StopKind::Light);
        let wish = if light { Wish::Halt } else { Wish::Retire };
        self.count_looked_at();
        for place in (0..self.threads.awake().len()).rev() {
            if self.threads.lay_asleep(place, own) {
                continue;
            }
            let thread = &self.threads[place];
            if own.is_some_and(|own| same(own, thread)) {
                continue;
            }
            // In this order: a thread that accepts the limit's request finds the status's request.
            if thread.status().request(light) {
                thread.limit().request(wish);
                awaited += 1;
            }
        }
        self.stop = Some(Stop { asleep: false, last: None });
        awaited
    }

    /// Serves the limits' requests after all threads have arrived, so that no thread stops again
    /// for them. (After a light stop each thread does this itself, as a part of its duty.)
    fn acknowledge(&self) {
        for thread in self.threads.awake().iter().filter(|thread| thread.status().is_safe()) {
            // The owner is held, so the stopper can do the owner's part.
            thread.limit().acknowledge();
        }
    }

    /// Lets all threads go on. `wakes` receives the threads that have to be woken.
    fn resume(&mut self, wakes: &Wakes) {
        self.stop = None;
        self.count_looked_at();
        let awake = self.threads.awake();
        let first = (self.statistics.stops.wrapping_mul(STRIDE) >> 32) as usize % awake.len().max(1);
        let (last, first) = awake.split_at(first);
        // A thread that resumes meanwhile waits until the lists are filled.
        let mut lists = wakes.lock();
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
