//! Waking the threads that a stop held.
//!
//! Two lists: who stood still in the midst of something, and who came back from `blocking` and has yet to begin. The stopper
//! wakes a few of the first and one of the second, and goes on. Of each list the thread that goes on first wakes the
//! rest, one by one, before it goes on itself. Each time the lists begin with another thread: where CPUs are few, those woken
//! last may meet the next stop before they have run.
//!
//! Refused: that the stopper wakes all. Whom a thread wakes the kernel may run in its place: with 500 threads on two CPUs, of which
//! some 200 came back from sleep during a pause of 8 ms, the one that had collected went on when most of them slept again, after
//! 5 to 20 ms more. And that each wakes several, or the next one: then hundreds are awake at once, interrupt each other in the midst
//! of what they do, and each waits for a turn of all others. Woken by one, most are done before the next is awake.
//!
//! **Invariant:** when a stop ends, the lists are all threads that wait. A thread on a list looks after it once it goes on again, and
//! one of each that is not empty is woken; so none is left. The next stop waits for whoever is at it, and ends with lists made
//! anew, of those who still wait and those who wait again.

use super::status::Waits;
use crate::sync::{Mutex, MutexGuard, Thread};
use std::collections::VecDeque;

/// Threads in the midst of something that the stopper itself wakes.
const FEW: usize = if cfg!(any(test, loom)) { 1 } else { 4 };

const POISONED: &str = "nothing panics while it is locked";

/// Threads that are still to be woken.
pub(super) struct Wakes(Mutex<Lists>);

#[derive(Default)]
struct Lists {
    /// Who stood still in the midst of something.
    running: List,
    /// Who came back from `blocking`.
    after: List,
}

#[derive(Default)]
struct List {
    threads: VecDeque<Thread>,
    /// Whether one of them wakes the others.
    attended: bool,
}

impl Lists {
    fn of(&mut self, waits: Waits) -> &mut List {
        match waits {
            Waits::InTheMidst => &mut self.running,
            Waits::AfterBlocking => &mut self.after,
        }
    }
}

impl Wakes {
    pub(super) fn new() -> Wakes {
        Wakes(Mutex::new(Lists::default()))
    }

    /// A stop begins, which so many threads may wait for: its end needs no memory. Who is still to be woken meets that stop.
    pub(super) fn prepare(&self, threads: usize) {
        let Lists { running, after } = &mut *self.lock();
        for list in [running, after] {
            list.threads.clear();
            list.threads.reserve(threads);
        }
    }

    /// Empty lists, to be filled. Who goes on meanwhile waits until they are.
    pub(super) fn gather(&self) -> Gathering<'_> {
        Gathering(self.lock())
    }

    /// The stopper's part.
    pub(super) fn begin(&self) {
        let take = |waits| self.lock().of(waits).threads.pop_front();
        for waits in std::iter::repeat_n(Waits::InTheMidst, FEW).chain([Waits::AfterBlocking]) {
            take(waits).iter().for_each(Thread::unpark);
        }
    }

    /// The part of a thread that waited: the others of its kind, unless one of them is at it.
    pub(super) fn attend(&self, own: Waits) {
        let mut first = true;
        while let Some(thread) = self.next(own, std::mem::take(&mut first)) {
            thread.unpark();
        }
    }

    fn next(&self, own: Waits, first: bool) -> Option<Thread> {
        let mut lists = self.lock();
        let List { threads, attended } = lists.of(own);
        if first && *attended {
            return None;
        }
        let next = threads.pop_front();
        *attended = next.is_some();
        next
    }

    /// Whether nobody has the lists: asked in a child of `fork()`, where a lock that is held is
    /// held for ever.
    pub(super) fn is_at_rest(&self) -> bool {
        self.0.try_lock().is_ok()
    }

    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().expect(POISONED)
    }
}

/// The lists while a stop ends.
pub(super) struct Gathering<'a>(MutexGuard<'a, Lists>);

impl Gathering<'_> {
    pub(super) fn add(&mut self, waits: Waits, thread: &Thread) {
        self.0.of(waits).threads.push_back(thread.clone());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::thread::spawn;

    #[test]
    fn one_of_each_list_wakes_the_rest() {
        let threads: Vec<Thread> = (0..4).map(|_| spawn(|| ()).thread().clone()).collect();
        let wakes = Wakes::new();
        let mut taken = Vec::new();
        let mut next = |own, first| {
            let thread = wakes.next(own, first);
            taken.push(thread.and_then(|thread| threads.iter().position(|one| one.id() == thread.id())));
        };
        for _ in 0..2 {
            wakes.prepare(threads.len());
            let mut lists = wakes.gather();
            lists.add(Waits::InTheMidst, &threads[0]);
            (1..4).for_each(|index| lists.add(Waits::AfterBlocking, &threads[index]));
            drop(lists);
            wakes.begin();
            next(Waits::InTheMidst, true);
            next(Waits::AfterBlocking, true);
            // Another one leaves it to the first.
            next(Waits::AfterBlocking, true);
            next(Waits::AfterBlocking, false);
            next(Waits::AfterBlocking, false);
            next(Waits::AfterBlocking, true);
        }
        let each = [None, Some(2), None, Some(3), None, None];
        assert_eq!(taken, [each, each].concat());
    }
}
