//! The threads of a heap, in an order by which stops find those that they have to look at.
//!
//! ```text
//! awake                                 a stop asks each, and lets each go on
//! asleep                                in `blocking` since an earlier stop: no stop asks
//! asleep and settled                    and a full stop has nothing to take from the thread
//! ```
//!
//! A thread moves from one part to the next by a swap with a thread at the border. Each thread
//! knows its [`Place`]. So a thread that comes back or leaves is found at once, and holds the lock
//! for a few instructions, however many threads sleep.
//!
//! Refused: lists that threads enter and leave themselves with `blocking`. Each call would take the
//! lock, twice.

use super::stop::Participant;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A thread's place among the threads of its heap. Read and written under their lock. Relaxed:
/// ordered by that. (So loom need not watch these accesses.)
#[derive(Debug, Default)]
pub(in crate::mutator) struct Place(AtomicUsize);

impl Place {
    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, place: usize) {
        self.0.store(place, Ordering::Relaxed);
    }
}

/// The threads: first those that are awake, then those that sleep, the settled ones last.
pub(in crate::mutator) struct ThreadList<T> {
    /// **Invariant:** each thread's [`Place`] is its place here.
    threads: Vec<T>,
    /// How many of the threads are awake. All others are in `blocking`, and stops do not look at
    /// them. **Invariant:** the status of a thread says that the thread sleeps if it is not among
    /// the first `awake` threads, and only then.
    awake: usize,
    /// How many of the threads are not settled. The others sleep, and a full stop has left nothing
    /// to do for them ([`settle`](Self::settle)). At least `awake`.
    unsettled: usize,
}

impl<T> Default for ThreadList<T> {
    fn default() -> ThreadList<T> {
        ThreadList { threads: Vec::new(), awake: 0, unsettled: 0 }
    }
}

/// All threads.
impl<T> Deref for ThreadList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.threads
    }
}

impl<T: Participant> ThreadList<T> {
    /// The threads that stops look at.
    pub(super) fn awake(&self) -> &[T] {
        &self.threads[..self.awake]
    }

    /// Adds a thread, which is awake.
    pub(super) fn add(&mut self, thread: T) {
        let place = self.threads.len();
        thread.place().set(place);
        self.threads.push(thread);
        self.wake_at(place);
    }

    /// Removes a thread.
    pub(super) fn remove(&mut self, thread: &T) -> T {
        let mut place = self.place_of(thread);
        for end in [&mut self.awake, &mut self.unsettled] {
            if place < *end {
                *end -= 1;
                swap(&mut self.threads, place, *end);
                place = *end;
            }
        }
        let last = self.threads.len() - 1;
        swap(&mut self.threads, place, last);
        self.threads.swap_remove(last)
    }

    /// The threads in which something may have changed since a full stop settled them.
    pub(in crate::mutator) fn unsettled(&self) -> &[T] {
        &self.threads[..self.unsettled]
    }

    /// Settles the threads that sleep and of which `is_settled` is true: full stops do not look at
    /// them until they come back, except for their roots.
    pub(in crate::mutator) fn settle(&mut self, is_settled: impl Fn(&T) -> bool) {
        for place in (self.awake..self.unsettled).rev() {
            if is_settled(&self.threads[place]) {
                self.unsettled -= 1;
                swap(&mut self.threads, place, self.unsettled);
            }
        }
    }

    /// Lets stops overlook the awake thread at this place, if it is in `blocking`. The last awake
    /// thread then takes the place. Returns whether it did.
    pub(super) fn lay_asleep(&mut self, place: usize, own: Option<&T>) -> bool {
        let thread = &self.threads[place];
        let lays = !own.is_some_and(|own| same(own, thread)) && thread.status().lay_asleep();
        if lays {
            self.awake -= 1;
            swap(&mut self.threads, place, self.awake);
        }
        lays
    }

    /// Puts a thread that sleeps among the awake ones. `stopped`: a stop is under way, and holds the
    /// thread. Called by the thread.
    pub(super) fn rouse(&mut self, thread: &T, stopped: bool) {
        if thread.status().is_asleep() {
            let place = self.place_of(thread);
            self.wake_at(place);
            thread.status().rouse(stopped);
        }
    }

    fn place_of(&self, thread: &T) -> usize {
        let place = thread.place().get();
        let is_there = self.threads.get(place).is_some_and(|other| same(other, thread));
        assert!(is_there, "an attached thread is at its place among the threads");
        place
    }

    /// Checks that each thread knows its place, and is in the part of its state.
    pub(in crate::mutator) fn verify(&self) -> Result<(), String> {
        let (awake, unsettled, threads) = (self.awake, self.unsettled, self.threads.len());
        if awake > unsettled || unsettled > threads {
            return Err(format!("of {threads} threads {awake} are awake and {unsettled} not settled"));
        }
        for (place, thread) in self.threads.iter().enumerate() {
            let (known, is_asleep) = (thread.place().get(), thread.status().is_asleep());
            if known != place || is_asleep != (place >= awake) {
                return Err(format!(
                    "thread {} is at place {place} of {threads}, {awake} of which are awake, and its state says place {known}, \
                     asleep: {is_asleep}",
                    thread.identity()
                ));
            }
        }
        Ok(())
    }

    /// Puts the thread at this place, which is not among the awake ones, there.
    fn wake_at(&mut self, mut place: usize) {
        for end in [&mut self.unsettled, &mut self.awake] {
            if place >= *end {
                swap(&mut self.threads, place, *end);
                place = *end;
                *end += 1;
            }
        }
    }
}

/// Swaps two of the threads.
fn swap<T: Participant>(threads: &mut [T], one: usize, other: usize) {
    threads.swap(one, other);
    for place in [one, other] {
        threads[place].place().set(place);
    }
}

/// Whether both are the same thread.
pub(super) fn same<T: Participant>(one: &T, other: &T) -> bool {
    std::ptr::eq(one.status(), other.status())
}
