//! A deque with the face of `crossbeam-deque` that the model checker sees through: a vector under a
//! lock.

use loom::sync::{Arc, Mutex};
use std::collections::VecDeque;

/// The owner's end.
pub(crate) struct Worker<T>(Arc<Mutex<VecDeque<T>>>);

/// The other end.
pub(crate) struct Stealer<T>(Arc<Mutex<VecDeque<T>>>);

/// What came of an attempt.
pub(crate) enum Steal<T> {
    /// There was nothing.
    Empty,
    /// The oldest.
    Success(T),
}

impl<T> Worker<T> {
    pub(crate) fn new_lifo() -> Worker<T> {
        Worker(Arc::new(Mutex::new(VecDeque::new())))
    }

    pub(crate) fn stealer(&self) -> Stealer<T> {
        Stealer(self.0.clone())
    }

    pub(crate) fn push(&self, value: T) {
        self.0.lock().unwrap().push_back(value);
    }

    pub(crate) fn pop(&self) -> Option<T> {
        self.0.lock().unwrap().pop_back()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Stealer<T> {
    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn steal(&self) -> Steal<T> {
        self.0.lock().unwrap().pop_front().map_or(Steal::Empty, Steal::Success)
    }
}
