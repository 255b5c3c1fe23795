//! Threads that spin while the world is stopped, and may be called to work on the collection.
//!
//! A thread that waits for the end of a stop and still [spins](super::patience) has a CPU, and the
//! caches of that CPU hold what it allocated last. Any other thread would first have to be woken,
//! on that very CPU. That takes 20 us in the waker and 60 us until the thread runs, in a collection
//! of 1.5 ms. So code that shares work in the stopped world calls these threads first, and wakes
//! other threads for the rest. If there are more threads than CPUs, no thread spins and none is
//! called: a thread that worked for all others would get no turn when all go on.
//!
//! ```text
//! nothing --look_on--> looking --> called --comes--> working --done--> looking
//! nothing <--leaves--- looking <-- called (withdrawn)      called <= looking
//! ```
//!
//! The three states are counts in one word, so a call addresses any of the spinning threads. None
//! leaves while it could be needed. A spinning thread may have lost its CPU meanwhile. So a
//! call without a prompt answer is withdrawn, because there may be CPUs for other threads.
//! **Invariant:** a counted thread is safe, and held by any stop that calls; so a task touches what
//! no mutator does.
//!
//! Refused: a word for each thread that says whether the thread is called. A call would need a pass
//! over all words.

use super::patience::Patience;
use super::unwind::AbortOnUnwind;
use crate::sync::{AtomicU64, Mutex, Ordering, POISONED, Waiting};
use crossbeam_utils::CachePadded;
use std::hint::spin_loop;

/// The work that the threads of a stopped world share.
type Task<'t> = &'t (dyn Fn(usize) + Sync);

/// The threads that spin.
#[derive(Default)]
pub(crate) struct Volunteers {
    /// Three counts of [`BITS`] each. The threads concerned write looking and working. The stopper
    /// and the coming threads write called. The calling stopper and a thread that finishes use
    /// Release. A coming thread uses Acquire, as does the stopper that waits for the finished
    /// threads.
    counts: CachePadded<AtomicU64>,
    /// The task, and the number of the next thread to come. The stopper writes it while no thread
    /// is called or working. A coming thread writes it too.
    task: Mutex<Option<(Task<'static>, usize)>>,
}

const BITS: u32 = 20;
const LOOKING: u64 = 1;
const CALLED: u64 = 1 << BITS;
const WORKING: u64 = 1 << (2 * BITS);

/// Iterations after which a call is withdrawn, about 5 us. A thread with a CPU answers within one.
const PROMPT: usize = if cfg!(loom) { 1 } else { 256 };

/// Extracts one of the counts.
fn count(counts: u64, unit: u64) -> usize {
    (counts / unit % (1 << BITS)) as usize
}

impl Volunteers {
    /// Spins until the stop is `over` or patience ends, and does the work that it is called for.
    /// For a thread that is held.
    pub(super) fn look_on(&self, patience: Patience, over: impl Fn() -> bool) {
        self.counts.fetch_add(LOOKING, Ordering::Relaxed);
        loop {
            let lasts = patience.look_on(|| over() || self.called(Ordering::Relaxed) > 0);
            if self.comes() {
                self.work();
            } else if (!lasts || over()) && self.leaves() {
                return;
            }
        }
    }

    /// Forgets the spinning threads, which are not in this process, a child of `fork()`. `false`:
    /// one of them held the lock.
    pub(super) fn forget(&self) -> bool {
        self.counts.store(0, Ordering::Relaxed);
        self.task.try_lock().is_ok()
    }

    fn called(&self, order: Ordering) -> usize {
        count(self.counts.load(order), CALLED)
    }

    /// Whether this thread takes one of the calls.
    fn comes(&self) -> bool {
        let come = |counts| (count(counts, CALLED) > 0).then(|| counts - LOOKING - CALLED + WORKING);
        self.counts.fetch_update(Ordering::Acquire, Ordering::Relaxed, come).is_ok()
    }

    /// Whether this thread has left the spinning threads. It cannot leave while some are called.
    fn leaves(&self) -> bool {
        let leave = |counts| (count(counts, CALLED) == 0).then(|| counts - LOOKING);
        self.counts.fetch_update(Ordering::Relaxed, Ordering::Relaxed, leave).is_ok()
    }

    fn work(&self) {
        let abort = AbortOnUnwind::new("a thread that helped a collection panicked (see above)");
        let (task, number) = {
            let mut place = self.task.lock().expect(POISONED);
            let (task, next) = place.as_mut().expect("there is a task while a thread is called or at work");
            *next += 1;
            (*task, *next - 1)
        };
        task(number);
        abort.disarm();
        self.counts.fetch_add(LOOKING.wrapping_sub(WORKING), Ordering::Release);
    }

    /// Lets up to `most` spinning threads call `task`, with `first` and the numbers that follow.
    /// This thread meanwhile runs `body`, which receives how many threads help. Returns when all
    /// have returned; their writes are then visible here. For the stopper.
    ///
    /// If others help and a task or `body` panics, the process ends, because the others hold what
    /// the panic leaves behind.
    pub(crate) fn share(&self, first: usize, most: usize, task: Task<'_>, body: impl FnOnce(usize)) {
        if count(self.counts.load(Ordering::Relaxed), LOOKING) == 0 {
            return body(0);
        }
        let abort = AbortOnUnwind::new("a collection panicked (see above) in which other threads helped");
        // SAFETY: only the lifetime is changed. A called thread is counted until it has returned
        // from the task, and this function returns when no thread is counted; if it unwinds, the
        // process ends.
        let lasting = unsafe { std::mem::transmute::<Task<'_>, Task<'static>>(task) };
        *self.task.lock().expect(POISONED) = Some((lasting, first));
        let called = self.call(most);
        body(called - self.withdraw());
        let mut waiting = Waiting::new();
        while self.counts.load(Ordering::Acquire) >= WORKING {
            waiting.longer();
        }
        *self.task.lock().expect(POISONED) = None;
        abort.disarm();
    }

    /// Calls up to `most` of the spinning threads. Returns how many.
    fn call(&self, most: usize) -> usize {
        let called = |counts| most.min(count(counts, LOOKING));
        let call = |counts| Some(counts + called(counts) as u64 * CALLED);
        called(
            self.counts
                .fetch_update(Ordering::Release, Ordering::Relaxed, call)
                .expect("there always is a next"),
        )
    }

    /// Withdraws the calls that no thread answers promptly. Returns how many. Afterwards no thread
    /// is called.
    fn withdraw(&self) -> usize {
        for _ in 0..PROMPT {
            if self.called(Ordering::Relaxed) == 0 {
                return 0;
            }
            spin_loop();
        }
        let withdraw = |counts| Some(counts - count(counts, CALLED) as u64 * CALLED);
        let before = self.counts.fetch_update(Ordering::Relaxed, Ordering::Relaxed, withdraw);
        count(before.expect("there always is a next"), CALLED)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    const PATIENCE: Patience = Patience { cpus: 8 };

    #[test]
    fn each_number_that_is_called_comes_once_and_is_waited_for() {
        if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() == 1) {
            return eprintln!("one CPU: no thread answers while another calls");
        }
        let (volunteers, over) = (Volunteers::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        volunteers.look_on(PATIENCE, || over.load(Ordering::Relaxed));
                    }
                });
            }
            let mut helped = [0; 5];
            // Repeats until each possible number of helpers came; more than three are never seen.
            while helped[..4].contains(&0) {
                for most in 0..5 {
                    let seen = [const { AtomicUsize::new(0) }; 8];
                    volunteers.share(
                        3,
                        most,
                        &|number| {
                            seen[number].fetch_add(1, Ordering::Relaxed);
                        },
                        |called| {
                            assert!(called <= most.min(3));
                            helped[called] += 1;
                            (3 + called..8).for_each(|number| seen[number].store(1, Ordering::Relaxed));
                        },
                    );
                    assert_eq!(seen.map(AtomicUsize::into_inner), [0, 0, 0, 1, 1, 1, 1, 1]);
                }
            }
            over.store(true, Ordering::Relaxed);
        });
        assert_eq!(volunteers.counts.load(Ordering::Relaxed), 0, "all have left");
    }

    #[test]
    fn an_impatient_thread_leaves_and_is_not_called() {
        let volunteers = Volunteers::default();
        volunteers.look_on(PATIENCE, || true);
        volunteers.share(1, 9, &|_| unreachable!("no thread looks on"), |called| assert_eq!(called, 0));
    }
}
