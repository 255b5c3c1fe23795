//! The threads of a heap, in an order by which stops find those that they have to look at.
//!
//! ```text
//! awake                                 a stop asks each, and lets each go on
//! asleep                                in `blocking` since an earlier stop: no stop asks
//! asleep and settled                    and a full stop has nothing to take from the thread
//! ```
//!
//! A thread moves from one part to the next by a swap with a thread at the border.
//!
//! Refused: lists that threads enter and leave themselves with `blocking`. Each call would take the
//! lock, twice.

use super::stop::Participant;
use std::ops::Deref;

/// The threads: first those that are awake, then those that sleep, the settled ones last.
pub(in crate::mutator) struct ThreadList<T> {
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
        self.threads.push(thread);
        self.wake_at(self.threads.len() - 1);
    }

    /// Removes a thread.
    pub(super) fn remove(&mut self, thread: &T) -> T {
        let mut place = self.place_of(thread);
        for end in [&mut self.awake, &mut self.unsettled] {
            if place < *end {
                *end -= 1;
                self.threads.swap(place, *end);
                place = *end;
            }
        }
        self.threads.swap_remove(place)
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
                self.threads.swap(place, self.unsettled);
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
            self.threads.swap(place, self.awake);
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
        let place = self.threads.iter().rposition(|other| same(other, thread));
        place.expect("an attached thread is among the threads")
    }

    /// Puts the thread at this place, which is not among the awake ones, there.
    fn wake_at(&mut self, mut place: usize) {
        for end in [&mut self.unsettled, &mut self.awake] {
            if place >= *end {
                self.threads.swap(place, *end);
                place = *end;
                *end += 1;
            }
        }
    }
}

/// Whether both are the same thread.
pub(super) fn same<T: Participant>(one: &T, other: &T) -> bool {
    std::ptr::eq(one.status(), other.status())
}
