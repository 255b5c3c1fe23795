//! Waking the threads that a stop held.
//!
//! There are two lists. The first has the threads that stood still during their work. The
//! second has the threads that came back from `blocking` and have yet to begin. The stopper wakes a
//! few threads of the first list and one of the second, and goes on. In each list, the thread that
//! resumes first wakes the rest, one by one, before it does its own work. Each stop begins the
//! lists with another thread, because with few CPUs the threads woken last may meet the next stop
//! before they have run.
//!
//! Refused:
//! - To let the stopper wake all threads. The kernel may run a woken thread in place of its waker.
//!   With 500 threads on two CPUs, about 200 of which came back from sleep during a pause of 8 ms,
//!   the collecting thread resumed when most of them slept again, 5 to 20 ms later.
//! - To let each thread wake several threads, or the next one. Then hundreds are awake at once.
//!   They interrupt each other's work, and each waits for a turn of all others. If one thread wakes
//!   them, most have finished before the next is awake.
//!
//! **Invariant:** when a stop ends, the lists contain all waiting threads. A thread on a list wakes
//! the rest of it once it resumes, and one thread of each non-empty list is woken; so no thread is
//! left. The next stop waits for a thread that is waking others, and ends with new lists of all
//! threads that wait then.

use super::status::Waits;
use crate::sync::{Mutex, MutexGuard, POISONED, Thread};
use std::collections::VecDeque;

/// Threads of the first list that the stopper itself wakes.
const FEW: usize = if cfg!(any(test, loom)) { 1 } else { 4 };

/// Threads that are still to be woken.
#[derive(Default)]
pub(super) struct Wakes(Mutex<Lists>);

#[derive(Default)]
pub(super) struct Lists {
    /// Threads that stood still during their work.
    running: List,
    /// Threads that came back from `blocking`.
    after: List,
}

#[derive(Default)]
struct List {
    threads: VecDeque<Thread>,
    /// Whether a thread of this list wakes the others.
    attended: bool,
}

impl Lists {
    fn of(&mut self, waits: Waits) -> &mut List {
        match waits {
            Waits::AtWork => &mut self.running,
            Waits::AfterBlocking => &mut self.after,
        }
    }

    /// Adds a thread that waits for the end of the stop.
    pub(super) fn add(&mut self, waits: Waits, thread: &Thread) {
        self.of(waits).threads.push_back(thread.clone());
    }
}

impl Wakes {
    /// Prepares for a stop that `threads` threads may wait for, so that its end needs no memory.
    /// Threads that have not been woken yet meet that stop.
    pub(super) fn prepare(&self, threads: usize) {
        let Lists { running, after } = &mut *self.lock();
        for list in [running, after] {
            list.threads.clear();
            list.threads.reserve(threads);
        }
    }

    /// The stopper's share of the waking.
    pub(super) fn begin(&self) {
        let take = |waits| self.lock().of(waits).threads.pop_front();
        for waits in std::iter::repeat_n(Waits::AtWork, FEW).chain([Waits::AfterBlocking]) {
            take(waits).iter().for_each(Thread::unpark);
        }
    }

    /// The share of a thread that waited: it wakes the others of its list, unless one of them is
    /// already doing so.
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

    /// Whether no thread holds the lists' lock. Asked in a child of `fork()`, where a held lock is
    /// never released.
    pub(super) fn is_at_rest(&self) -> bool {
        self.0.try_lock().is_ok()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().expect(POISONED)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::thread::spawn;

    #[test]
    fn one_of_each_list_wakes_the_rest() {
        let threads: Vec<Thread> = (0..4).map(|_| spawn(|| ()).thread().clone()).collect();
        let wakes = Wakes::default();
        let mut taken = Vec::new();
        let mut next = |own, first| {
            let thread = wakes.next(own, first);
            taken.push(thread.and_then(|thread| threads.iter().position(|one| one.id() == thread.id())));
        };
        for _ in 0..2 {
            wakes.prepare(threads.len());
            let mut lists = wakes.lock();
            lists.add(Waits::AtWork, &threads[0]);
            (1..4).for_each(|index| lists.add(Waits::AfterBlocking, &threads[index]));
            drop(lists);
            wakes.begin();
            next(Waits::AtWork, true);
            next(Waits::AfterBlocking, true);
            // Another thread leaves the waking to the first.
            next(Waits::AfterBlocking, true);
            next(Waits::AfterBlocking, false);
            next(Waits::AfterBlocking, false);
            next(Waits::AfterBlocking, true);
        }
        let each = [None, Some(2), None, Some(3), None, None];
        assert_eq!(taken, [each, each].concat());
    }
}
