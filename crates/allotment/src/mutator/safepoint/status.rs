//! One thread's word in the protocol.

use crate::sync::{AtomicU32, Ordering};

/// The thread is parked or in `blocking`. It touches nothing of the heap except the work that a
/// stop calls it for.
const SAFE: u32 = 1;
/// A stop is under way: a safe thread stays safe, any other thread is awaited.
const STOP: u32 = 2;
/// The thread waits for the end of the stop, and wants to be woken.
const WAITS: u32 = 4;
/// The thread was stopped during its work. With `WAITS`, or alone while it spins: then it needs no
/// wake-up, and may be called to help.
const AT_WORK: u32 = 8;
/// The thread has a duty: what a light stop left to it. It does its duty as soon as it runs, before
/// any other work.
const DUTY: u32 = 16;
/// The thread is in `blocking`, and stops do not look at it: its own return finds out what they
/// left to it. Always with `SAFE`.
const ASLEEP: u32 = 32;

/// What a thread did before it began to wait for the end of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// The thread was stopped during its work.
    AtWork,
    /// The thread came back from `blocking`.
    AfterBlocking,
}

/// Whether a thread that tried to run again does so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// The thread runs.
    Runs {
        /// Whether the thread has a duty, which it then does at once.
        has_duty: bool,
    },
    /// Stops do not look at the thread. It has to be put among the awake threads first.
    Asleep,
}

/// What an attached thread does, as far as the protocol knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ThreadActivity {
    /// The thread runs, or waits where its heap cannot know it.
    Running,
    /// The thread runs, and a stop of the world waits for it.
    Stopping,
    /// The thread stands still until a stop of the world is over.
    Stopped,
    /// The thread is in [`Mutator::blocking`](crate::Mutator::blocking): no stop waits for it.
    Blocking,
}

impl ThreadActivity {
    /// The activity's name: `running`, `stopping`, `stopped` or `blocking`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ThreadActivity::Running => "running",
            ThreadActivity::Stopping => "stopping",
            ThreadActivity::Stopped => "stopped",
            ThreadActivity::Blocking => "blocking",
        }
    }
}

/// Whether a thread runs, and whether it may run. By default it runs.
///
/// A stopper that holds the lock sets and clears `STOP` and sets `DUTY` and `ASLEEP`; the owner
/// does all else. The owner clears `ASLEEP` under the lock, and has a duty then. So a thread that
/// is safe and has a duty, or sleeps, leaves by the slow path. The owner's writes are visible to a
/// stopper that finds the thread safe or asleep (Release, Acquire). The stopper's writes are
/// visible to the owner when it leaves: by the end of the stop (Release, Acquire), or by the lock.
#[derive(Debug, Default)]
pub(in crate::mutator) struct Status(AtomicU32);

impl Status {
    /// Becomes safe. `false`: a stop is under way, and has to be told of the arrival. (A thread
    /// that runs has no duty, except while a stop is under way.)
    #[inline]
    pub(super) fn enter(&self) -> bool {
        self.0.compare_exchange(0, SAFE, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Runs again. `false`: a stop holds the thread, or it has a duty, or it sleeps.
    #[inline]
    pub(super) fn leave(&self) -> bool {
        self.0.compare_exchange(SAFE, 0, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Runs again after the end of any stop. Waits for that end by calling `wait`, which may return
    /// too early.
    pub(super) fn leave_after_stop(&self, waits: Waits, wait: impl Fn()) -> Left {
        let bits = if waits == Waits::AtWork { WAITS | AT_WORK } else { WAITS };
        loop {
            if self.leave() {
                return Left::Runs { has_duty: false };
            }
            if self.0.compare_exchange(SAFE | DUTY, 0, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return Left::Runs { has_duty: true };
            }
            let before = self.0.fetch_or(bits, Ordering::Relaxed);
            if before & STOP != 0 {
                wait();
            }
            self.0.fetch_and(!bits, Ordering::Relaxed);
            if before & ASLEEP != 0 {
                return Left::Asleep;
            }
        }
    }

    /// Notes that the thread is about to spin until the stop is over. Called by the owner.
    pub(super) fn begin_spin(&self) {
        self.0.fetch_or(AT_WORK, Ordering::Relaxed);
    }

    /// Notes that the thread does not spin any more. Called by the owner.
    pub(super) fn end_spin(&self) {
        self.0.fetch_and(!AT_WORK, Ordering::Relaxed);
    }

    /// Lets stops overlook the thread, if it is in `blocking` and does not wait to leave it.
    /// Returns whether they do from now on. Called by a stopper, under the lock and while no stop
    /// is under way.
    pub(super) fn lay_asleep(&self) -> bool {
        let at = self.0.load(Ordering::Relaxed);
        (at == SAFE || at == SAFE | DUTY)
            && self.0.compare_exchange(at, at | ASLEEP, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Whether stops overlook the thread. Asked under the lock.
    pub(super) fn is_asleep(&self) -> bool {
        self.0.load(Ordering::Relaxed) & ASLEEP != 0
    }

    /// Ends the sleep: the thread has a duty. `stopped`: a stop is under way, and holds the thread
    /// from now on. Called by the owner, under the lock.
    pub(super) fn rouse(&self, stopped: bool) {
        let bits = if stopped { SAFE | DUTY | STOP } else { SAFE | DUTY };
        // The word of a thread that sleeps is written by the owner, and under the lock.
        self.0.store(bits, Ordering::Relaxed);
    }

    /// Runs again in a child of `fork()` in which no stop will ever begin. Called by the owner, and
    /// no other thread uses the word there.
    pub(super) fn leave_for_good(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Becomes safe, even during a stop. Called by the owner, under the lock.
    pub(super) fn arrive(&self) {
        self.0.fetch_or(SAFE, Ordering::Release);
    }

    /// Asks for a stop. `duty`: whether the stop leaves a duty to the thread. Returns whether the
    /// thread has to be awaited. Called by the stopper, under the lock.
    pub(super) fn request(&self, duty: bool) -> bool {
        let bits = if duty { STOP | DUTY } else { STOP };
        self.0.fetch_or(bits, Ordering::Acquire) & SAFE == 0
    }

    /// Ends the stop. Returns whether the thread waits for that end and has to be woken. Called by
    /// the stopper, under the lock.
    pub(super) fn resume(&self) -> Option<Waits> {
        let before = self.0.fetch_and(!STOP, Ordering::Release);
        (before & WAITS != 0).then_some(if before & AT_WORK != 0 {
            Waits::AtWork
        } else {
            Waits::AfterBlocking
        })
    }

    /// Whether a stop is under way that includes this thread.
    pub(super) fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) & STOP != 0
    }

    /// Whether a stop waits for this thread.
    pub(super) fn is_awaited(&self) -> bool {
        self.0.load(Ordering::Relaxed) & (STOP | SAFE) == STOP
    }

    /// Whether the stop that held this thread has ended, and the thread has yet to run.
    pub(super) fn is_resuming(&self) -> bool {
        self.0.load(Ordering::Relaxed) & (SAFE | STOP | WAITS) == SAFE | WAITS
    }

    /// What the thread does at about this moment.
    pub(in crate::mutator) fn activity(&self) -> ThreadActivity {
        match self.0.load(Ordering::Relaxed) {
            bits if bits & SAFE == 0 && bits & STOP == 0 => ThreadActivity::Running,
            bits if bits & SAFE == 0 => ThreadActivity::Stopping,
            bits if bits & (WAITS | AT_WORK) == 0 => ThreadActivity::Blocking,
            _ => ThreadActivity::Stopped,
        }
    }

    /// Whether the thread is parked or in `blocking`. If so, what it wrote before is visible.
    pub(in crate::mutator) fn is_safe(&self) -> bool {
        self.0.load(Ordering::Acquire) & SAFE != 0
    }
}
