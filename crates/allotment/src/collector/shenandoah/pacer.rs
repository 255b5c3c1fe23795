//! The levy in force, the credit from which threads pay, and the threads that wait for credit.
//!
//! ```text
//! control thread   sets the levy when a step begins, and takes it back when the step ends
//! workers          add the work that they have done to the credit
//! mutators         take from the credit what they owe; work themselves; wait for credit
//! ```
//!
//! A worker that adds credit and a thread that is about to wait may miss each other. So each
//! writes, executes a fence, and reads what the other wrote (Dekker): the worker adds credit and
//! reads the number of waiting threads; the thread adds itself to that number and reads the credit.
//! The worker wakes one thread. A woken thread that leaves credit wakes the next.
//!
//! The numbers are those of `levy.rs`.

use super::levy::{Levy, Outlook, PacedStep, PacingSettings};
use crate::sync::{AtomicU32, AtomicU64, Condvar, Mutex, MutexGuard, Ordering, POISONED, fence};
use std::time::Duration;

/// The pacing of a heap.
pub(super) struct Pacer {
    settings: PacingSettings,
    /// The number of the levy in force and its rate, in one word; 0: none is in force. Written by
    /// the thread that drives the cycle, and by a worker whose marking does more than was expected.
    /// Release: `exempt_bytes` and `credit` were written before.
    levy: AtomicU64,
    /// The number of the last levy. Written by the same threads. Relaxed: a count.
    number: AtomicU32,
    /// The number of the first levy of the last step. Written before `levy`. Relaxed: ordered by
    /// that.
    first_of_step: AtomicU32,
    /// Bytes that each thread takes without paying. Written before `levy`. Relaxed: ordered by
    /// that.
    exempt_bytes: AtomicU64,
    /// Bytes of work that were done and not paid with. Workers add, mutators take. Relaxed: ordered
    /// by fences, see the head of this file.
    credit: AtomicU64,
    /// Bytes of work that were done in the step. Written by workers and mutators. Relaxed: a count.
    done: AtomicU64,
    /// Bytes of work that the step was expected to have. Written with `levy`. Relaxed: a hint.
    expected: AtomicU64,
    /// Threads that wait, or are about to. Written by them. Relaxed: as `credit`.
    waiting: AtomicU32,
    lock: Mutex<()>,
    /// Signals credit, and the end of a levy.
    changed: Condvar,
}

impl Pacer {
    /// No levy is in force.
    pub(super) fn new(settings: PacingSettings) -> Pacer {
        Pacer {
            settings,
            levy: AtomicU64::new(0),
            number: AtomicU32::new(0),
            first_of_step: AtomicU32::new(0),
            exempt_bytes: AtomicU64::new(0),
            credit: AtomicU64::new(0),
            done: AtomicU64::new(0),
            expected: AtomicU64::new(0),
            waiting: AtomicU32::new(0),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().expect(POISONED)
    }

    /// In a child of `fork()`: whether no thread holds the lock.
    pub(super) fn is_at_rest(&self) -> bool {
        self.lock.try_lock().is_ok()
    }

    /// A thread waits at most so long at a safepoint.
    pub(super) fn max_delay(&self) -> Duration {
        self.settings.max_delay
    }

    /// Begins a step. The work of earlier steps pays for nothing.
    pub(super) fn begin(&self, step: PacedStep, outlook: Outlook) {
        self.done.store(0, Ordering::Relaxed);
        self.credit.store(0, Ordering::Relaxed);
        let first = self.number.load(Ordering::Relaxed).wrapping_add(1);
        self.first_of_step.store(first, Ordering::Relaxed);
        self.set(step, outlook);
    }

    /// Sets the levy for the work that is left in a step.
    fn set(&self, step: PacedStep, outlook: Outlook) {
        if !self.settings.is_on {
            return;
        }
        let number = self.number.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1);
        let levy = Levy::new(number, step, outlook, &self.settings);
        self.exempt_bytes.store(levy.exempt_bytes, Ordering::Relaxed);
        let expected = self.done.load(Ordering::Relaxed) + outlook.work_bytes as u64;
        self.expected.store(expected, Ordering::Relaxed);
        self.levy.store(u64::from(number) << 32 | u64::from(levy.rate), Ordering::Release);
        self.wake_all();
    }

    /// Sets the levy anew in a step that does more work than was expected.
    pub(super) fn renew(&self, step: PacedStep, outlook: Outlook) {
        if self.levy().is_some() {
            self.set(step, outlook);
        }
    }

    /// Ends the step: threads owe nothing.
    pub(super) fn end(&self) {
        self.levy.store(0, Ordering::Release);
        self.wake_all();
    }

    /// Ends the step in a child of `fork()`, in which no thread waits. Without the lock, which a
    /// thread of the parent may hold.
    pub(super) fn forget_threads(&self) {
        self.levy.store(0, Ordering::Relaxed);
        self.waiting.store(0, Ordering::Relaxed);
    }

    /// Lets waiting threads look at the levy.
    fn wake_all(&self) {
        drop(self.lock());
        self.changed.notify_all();
    }

    /// The levy in force.
    pub(super) fn levy(&self) -> Option<Levy> {
        let word = self.levy.load(Ordering::Acquire);
        let number = (word >> 32) as u32;
        let exempt_bytes = self.exempt_bytes.load(Ordering::Relaxed);
        (number != 0).then_some(Levy { number, rate: word as u32, exempt_bytes })
    }

    /// Whether the levy with this number is in force.
    pub(super) fn is_in_force(&self, number: u32) -> bool {
        self.levy().is_some_and(|levy| levy.number == number)
    }

    /// Whether a step is under way, and the levy with this number is one of it: in force, or
    /// renewed since.
    fn is_of_step(&self, number: u32) -> bool {
        // The numbers of a step follow one another, and may wrap around.
        let is_of_last = || number.wrapping_sub(self.first_of_step.load(Ordering::Relaxed)) < u32::MAX / 2;
        self.levy().is_some() && is_of_last()
    }

    /// Adds work that was done under levy `number`, of which `paid_bytes` pay for the thread that
    /// did it. Work under a levy of an earlier step counts for nothing. Returns the bytes of work
    /// in the step so far, if they have just become more than was expected.
    pub(super) fn did(&self, number: u32, bytes: u64, paid_bytes: u64) -> Option<u64> {
        // If the step ends right after this look, the work counts for the next step.
        if bytes == 0 || !self.is_of_step(number) {
            return None;
        }
        let before = self.done.fetch_add(bytes, Ordering::Relaxed);
        if bytes > paid_bytes {
            self.credit.fetch_add(bytes - paid_bytes, Ordering::Relaxed);
            self.wake_one();
        }
        let expected = self.expected.load(Ordering::Relaxed);
        (before < expected && before + bytes >= expected).then_some(before + bytes)
    }

    fn wake_one(&self) {
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed) > 0 {
            // A thread that has counted itself holds the lock until it waits.
            drop(self.lock());
            self.changed.notify_one();
        }
    }

    /// Pays up to `owed_bytes` from the credit. Returns what was paid.
    pub(super) fn pay(&self, owed_bytes: u64) -> u64 {
        if owed_bytes == 0 || self.credit.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        let take = |credit: u64| Some(credit - credit.min(owed_bytes));
        let before = self.credit.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        before.map_or(0, |credit| credit.min(owed_bytes))
    }

    /// Waits until there is credit, or levy `number` is no longer in force, at most for `most`. Not
    /// with a lock, and not while a stop waits for this thread.
    pub(super) fn wait(&self, number: u32, most: Duration) {
        let guard = self.lock();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.credit.load(Ordering::Relaxed) == 0 && self.is_in_force(number) {
            // A wait may end for nothing: the caller looks.
            drop(self.changed.wait_timeout(guard, most).expect(POISONED));
        } else {
            drop(guard);
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Lets another thread pay from the credit that the caller has left.
    pub(super) fn pass_on(&self) {
        if self.credit.load(Ordering::Relaxed) > 0 {
            self.wake_one();
        }
    }
}

/// Every interleaving of threads that wait for credit with those that give it. In a model a wait
/// has no longest time, so a lost wake is a deadlock, which the model checker finds.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    const OWED: u64 = 8;

    /// A step under way, without credit.
    fn step() -> Arc<Pacer> {
        let settings =
            PacingSettings { is_on: true, max_delay: Duration::ZERO, slack_percent: 0, surcharge: 1.0 };
        let pacer = Pacer::new(settings);
        pacer.begin(PacedStep::Update, Outlook { free_bytes: 64, work_bytes: 64, threads: 2 });
        Arc::new(pacer)
    }

    /// The work of a worker.
    fn did(pacer: &Pacer, bytes: u64) {
        let number = pacer.levy().map_or(0, |levy| levy.number);
        pacer.did(number, bytes, 0);
    }

    /// Pays, or waits until there is credit. Returns what is still owed when the step has ended.
    fn settle(pacer: &Pacer) -> u64 {
        let number = pacer.levy().map_or(0, |levy| levy.number);
        let mut owed = OWED;
        while owed > 0 && pacer.is_in_force(number) {
            owed -= pacer.pay(owed);
            if owed > 0 {
                pacer.wait(number, Duration::ZERO);
            }
        }
        pacer.pass_on();
        owed
    }

    fn check(body: impl Fn(&Arc<Pacer>) + Sync + Send + 'static) {
        let mut bounded = loom::model::Builder::new();
        bounded.preemption_bound = Some(3);
        bounded.check(move || body(&step()));
    }

    #[test]
    fn a_waiting_thread_gets_the_credit_that_a_worker_adds() {
        check(|pacer| {
            let waiting = thread::spawn({
                let pacer = pacer.clone();
                move || settle(&pacer)
            });
            did(pacer, OWED / 2);
            did(pacer, OWED / 2);
            assert_eq!(waiting.join().unwrap(), 0);
            assert_eq!(pacer.pay(1), 0, "all credit is used");
        });
    }

    #[test]
    fn a_thread_that_leaves_credit_wakes_the_next() {
        check(|pacer| {
            let threads = [(); 2].map(|()| {
                let pacer = pacer.clone();
                thread::spawn(move || settle(&pacer))
            });
            did(pacer, 2 * OWED);
            threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), 0));
        });
    }

    #[test]
    fn the_end_of_a_step_ends_waits() {
        check(|pacer| {
            let waiting = thread::spawn({
                let pacer = pacer.clone();
                move || settle(&pacer)
            });
            pacer.end();
            waiting.join().unwrap();
        });
    }

    /// Two threads pay at the same time, beside a worker: no credit is used twice.
    #[test]
    fn credit_is_used_once() {
        check(|pacer| {
            let paying = thread::spawn({
                let pacer = pacer.clone();
                move || pacer.pay(OWED)
            });
            let worker = thread::spawn({
                let pacer = pacer.clone();
                move || did(&pacer, OWED)
            });
            let paid = pacer.pay(OWED);
            let other = paying.join().unwrap();
            worker.join().unwrap();
            assert_eq!(paid + other + pacer.pay(u64::MAX), OWED);
        });
    }
}
