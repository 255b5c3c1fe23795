//! Threads that look on while the world is stopped, and may be called to work on it.
//!
//! Who waits for the end of a stop and still [looks on](super::patience) has a CPU, and in its caches what it allocated last.
//! Any other thread would first have to be woken, and on that very CPU: 20 us for who wakes it and 60 us until it runs, of a
//! collection of 1.5 ms. So whoever shares work in the stopped world asks here first, and wakes others for the rest. Where threads
//! are more than CPUs nobody looks on, and nobody is asked: who works for all would have no turn when all go on.
//!
//! ```text
//! nothing --look_on--> looking --> called --comes--> working --done--> looking
//! nothing <--leaves--- looking          called <= looking
//! ```
//!
//! The three are counts in one word, so a call is for some of those that look on, whichever; and none of them leaves while it
//! could be needed. **Invariant:** who is counted is safe, and held by any stop that calls; so a task touches what no mutator does.
//!
//! Refused: a word for each thread, which says who is called, and takes a pass over all of them to call one.

use super::patience::Patience;
use crate::mutator::unwind::AbortOnUnwind;
use crate::sync::{AtomicU64, Mutex, Ordering, Waiting};
use crossbeam_utils::CachePadded;

/// What the threads of a stopped world share.
type Task<'t> = &'t (dyn Fn(usize) + Sync);

/// Threads that look on.
pub(crate) struct Volunteers {
    /// Three counts of [`BITS`] each. Looking, working: written by who does. Called: by the stopper, and by who comes. Release by who
    /// calls or is done, Acquire by who comes, and by the stopper when it waits for those.
    counts: CachePadded<AtomicU64>,
    /// What to do, and the number of the last that is called to it but so many. Written by the stopper while nobody is called.
    task: Mutex<Option<(Task<'static>, usize)>>,
}

const BITS: u32 = 20;
const LOOKING: u64 = 1;
const CALLED: u64 = 1 << BITS;
const WORKING: u64 = 1 << (2 * BITS);

/// One of the counts.
fn count(counts: u64, unit: u64) -> usize {
    (counts / unit % (1 << BITS)) as usize
}

const POISONED: &str = "nothing panics while it is locked";

impl Volunteers {
    pub(super) fn new() -> Volunteers {
        Volunteers { counts: CachePadded::new(AtomicU64::new(0)), task: Mutex::new(None) }
    }

    /// Looks on until the stop is `over`, or as long as patience lasts, and does what it is called for. For a thread that is held.
    pub(super) fn look_on(&self, patience: Patience, over: impl Fn() -> bool) {
        self.counts.fetch_add(LOOKING, Ordering::Relaxed);
        loop {
            patience.look_on(|| over() || count(self.counts.load(Ordering::Relaxed), CALLED) > 0);
            let Some(turn) = self.come_or_leave() else { return };
            let abort = AbortOnUnwind("a thread that helped a collection panicked (see above)");
            let (task, first) =
                self.task.lock().expect(POISONED).expect("there is one while somebody is called");
            task(first + turn);
            abort.disarm();
            self.counts.fetch_add(LOOKING.wrapping_sub(WORKING), Ordering::Release);
        }
    }

    /// Comes, if somebody is called: as the one with this turn. Else leaves.
    fn come_or_leave(&self) -> Option<usize> {
        let came = |counts| match count(counts, CALLED) {
            0 => counts - LOOKING,
            _ => counts - LOOKING - CALLED + WORKING,
        };
        let before =
            self.counts.fetch_update(Ordering::Acquire, Ordering::Relaxed, |counts| Some(came(counts)));
        count(before.expect("there always is a next"), CALLED).checked_sub(1)
    }

    /// Has up to `most` threads that look on call `task`, with `first` and the numbers that follow, while this one runs `body`, which
    /// is told how many they are. Returns when all have returned; what they wrote is then seen here. For the stopper.
    ///
    /// If a task or `body` panics, the process ends: the others hold what it leaves behind.
    pub(crate) fn share(&self, first: usize, most: usize, task: Task<'_>, body: impl FnOnce(usize)) {
        if count(self.counts.load(Ordering::Relaxed), LOOKING) == 0 {
            return body(0);
        }
        let abort = AbortOnUnwind("a collection panicked (see above) in which other threads helped");
        // SAFETY: only the lifetime is changed. Who is called is counted until it has returned from the task, and this function
        // returns when nobody is; if it unwinds, the process ends.
        let lasting = unsafe { std::mem::transmute::<Task<'_>, Task<'static>>(task) };
        *self.task.lock().expect(POISONED) = Some((lasting, first));
        body(self.call(most));
        let mut waiting = Waiting::new();
        while self.counts.load(Ordering::Acquire) >= CALLED {
            waiting.longer();
        }
        *self.task.lock().expect(POISONED) = None;
        abort.disarm();
    }

    /// Calls up to `most` of those that look on; how many.
    fn call(&self, most: usize) -> usize {
        let called = |counts| most.min(count(counts, LOOKING));
        let call = |counts| Some(counts + called(counts) as u64 * CALLED);
        called(
            self.counts
                .fetch_update(Ordering::Release, Ordering::Relaxed, call)
                .expect("there always is a next"),
        )
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    const PATIENCE: Patience = Patience { cpus: 8 };

    #[test]
    fn each_number_that_is_called_comes_once_and_is_waited_for() {
        let (volunteers, over) = (Volunteers::new(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        volunteers.look_on(PATIENCE, || over.load(Ordering::Relaxed));
                    }
                });
            }
            let mut helped = [0; 5];
            // Until each size of a crowd came that can: more than three nobody sees.
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
    fn who_is_impatient_leaves_and_is_not_called() {
        let volunteers = Volunteers::new();
        volunteers.look_on(PATIENCE, || true);
        volunteers.share(1, 9, &|_| unreachable!("nobody looks on"), |called| assert_eq!(called, 0));
    }
}
