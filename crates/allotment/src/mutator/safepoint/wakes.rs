//! Waking the threads that a stop held.
//!
//! The stopper wakes a few, and who was woken wakes a few more before it goes on. First come threads that stood still in the
//! midst of something. Those that came back from `blocking`, and have yet to begin, follow, and wake each other: of
//! the others only one wakes one of them. Each time another one is first: where CPUs are few, those woken last may meet
//! the next stop before they have run.
//!
//! Refused: that the stopper wakes all. Whom a thread wakes the kernel may run in its place: with 500 threads on two CPUs, of which
//! some 200 came back from sleep during a pause of 8 ms, the one that had collected went on when most of them slept again, after
//! 5 to 20 ms more. And a chain, in which each wakes the next: as many turns of the scheduler as there are threads.
//!
//! **Invariant:** when a stop ends, the lists are all threads that wait, and whoever is on one takes from it once it goes on again.
//! So of `n` threads on a list all are woken: with who takes the first of it, `n + 1` take. The next stop ends with
//! lists made anew, of those who still wait and those who wait again.

use super::status::Waits;
use crate::sync::{Mutex, MutexGuard, Thread};
use std::collections::VecDeque;

/// Threads that each one wakes.
const EACH: usize = if cfg!(any(test, loom)) { 1 } else { 16 };

const POISONED: &str = "nothing panics while it is locked";

/// Threads that are still to be woken.
pub(super) struct Wakes(Mutex<Lists>);

struct Lists {
    /// Who stood still in the midst of something.
    midst: VecDeque<Thread>,
    /// Who came back from `blocking`.
    after: VecDeque<Thread>,
    /// Whether one of `after` has been woken by who is not of them. **Invariant:** set before `midst` is empty and left.
    begun: bool,
}

impl Wakes {
    pub(super) fn new() -> Wakes {
        Wakes(Mutex::new(Lists { midst: VecDeque::new(), after: VecDeque::new(), begun: false }))
    }

    /// A stop begins, which so many threads may wait for: its end needs no memory. Who is still to be woken meets that stop.
    pub(super) fn prepare(&self, threads: usize) {
        let Lists { midst, after, .. } = &mut *self.lock();
        for list in [midst, after] {
            list.clear();
            list.reserve(threads);
        }
    }

    /// Empty lists, to be filled. Who goes on meanwhile waits until they are.
    pub(super) fn gather(&self) -> Gathering<'_> {
        let mut lists = self.lock();
        lists.begun = false;
        Gathering(lists)
    }

    /// Wakes the next ones: the stopper, as one in the midst of something, and whoever waited.
    pub(super) fn wake_some(&self, own: Waits) {
        for _ in 0..EACH {
            // One by one: who is woken may run in place of this thread, and others then find the rest.
            let Some(thread) = self.take(own) else { return };
            thread.unpark();
        }
    }

    fn take(&self, own: Waits) -> Option<Thread> {
        let Lists { midst, after, begun } = &mut *self.lock();
        match own {
            Waits::AfterBlocking => after.pop_front(),
            Waits::InTheMidst => match midst.pop_front() {
                None if !std::mem::replace(begun, true) => after.pop_front(),
                first => first,
            },
        }
    }

    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().expect(POISONED)
    }
}

/// The lists while a stop ends.
pub(super) struct Gathering<'a>(MutexGuard<'a, Lists>);

impl Gathering<'_> {
    pub(super) fn add(&mut self, waits: Waits, thread: &Thread) {
        let list = match waits {
            Waits::InTheMidst => &mut self.0.midst,
            Waits::AfterBlocking => &mut self.0.after,
        };
        list.push_back(thread.clone());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::thread::spawn;

    #[test]
    fn who_stood_still_comes_first_and_one_of_the_others_is_begun_with() {
        let threads: Vec<Thread> = (0..5).map(|_| spawn(|| ()).thread().clone()).collect();
        let wakes = Wakes::new();
        let mut taken = Vec::new();
        let mut take = |wakes: &Wakes, own| {
            let taken_by =
                wakes.take(own).map(|thread| threads.iter().position(|one| one.id() == thread.id()));
            taken.push(taken_by.flatten());
        };
        for _ in 0..2 {
            wakes.prepare(threads.len());
            let mut lists = wakes.gather();
            lists.add(Waits::AfterBlocking, &threads[2]);
            lists.add(Waits::InTheMidst, &threads[0]);
            lists.add(Waits::InTheMidst, &threads[1]);
            lists.add(Waits::AfterBlocking, &threads[3]);
            lists.add(Waits::AfterBlocking, &threads[4]);
            drop(lists);
            // The stopper and one of two take all that stood still; only one of these three takes one that came back.
            (0..4).for_each(|_| take(&wakes, Waits::InTheMidst));
            take(&wakes, Waits::AfterBlocking);
        }
        let each = [Some(0), Some(1), Some(2), None, Some(3)];
        assert_eq!(taken, [each, each].concat(), "who is left over meets the next stop");
    }
}
