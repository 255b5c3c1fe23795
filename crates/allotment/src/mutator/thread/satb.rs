//! The words that slots held before mutators overwrote them while the collector marks.
//!
//! Marking finds what was reachable when it began (snapshot at the beginning: Yuasa 1990). A
//! mutator that overwrites a slot may destroy the only path to an object that the marker has not
//! seen yet. So it first hands over what the slot held. Each thread has a buffer of its own; a full
//! one goes to a queue, from which markers take. A thread that comes to a safepoint gives its
//! buffer, too. So in a stop all that was recorded is in the queue, and the stop looks at no
//! thread.
//!
//! If the system has no memory for a buffer, the queue says that words were lost. The marking is
//! then worth nothing, and a stopped collection follows.
//!
//! Refused: buffers of a size for all threads in one table (a stop would have to look at each);
//! marking in the barrier itself (the marks are locked instructions, and the slow path grows).

use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, POISONED};
use std::cell::RefCell;

/// Words of a buffer.
const BUFFER: usize = if cfg!(test) { 4 } else { 256 };

/// One thread's recorded words. Owner only.
#[derive(Default)]
pub(in crate::mutator) struct SatbBuffer(RefCell<Vec<u64>>);

impl SatbBuffer {
    /// Records a word.
    pub(in crate::mutator) fn record(&self, word: u64, queue: &SatbQueue) {
        let mut buffer = self.0.borrow_mut();
        if buffer.capacity() == 0 && buffer.try_reserve_exact(BUFFER).is_err() {
            return queue.lose();
        }
        buffer.push(word);
        if buffer.len() >= BUFFER {
            queue.give(std::mem::take(&mut buffer));
        }
    }

    /// Gives the recorded words to the queue.
    #[inline]
    pub(in crate::mutator) fn give(&self, queue: &SatbQueue) {
        queue.give(self.0.take());
    }
}

/// The buffers that threads gave.
#[derive(Default)]
pub(crate) struct SatbQueue {
    /// Buffers with words in them.
    buffers: Mutex<Vec<Vec<u64>>>,
    /// How many there are. Written under the lock. Relaxed: a hint for markers.
    count: AtomicUsize,
    /// Words were lost since marking began. Set by mutators, cleared in stops. Relaxed: read in a
    /// stop.
    lost: AtomicBool,
}

impl SatbQueue {
    /// Gives a buffer.
    #[inline]
    pub(crate) fn give(&self, buffer: Vec<u64>) {
        if !buffer.is_empty() {
            self.give_some(buffer);
        }
    }

    fn give_some(&self, buffer: Vec<u64>) {
        let mut buffers = self.buffers.lock().expect(POISONED);
        if buffers.try_reserve(1).is_err() {
            return self.lose();
        }
        buffers.push(buffer);
        self.count.store(buffers.len(), Ordering::Relaxed);
    }

    /// Gives one word of a thread that has no buffer: it need not be attached.
    pub(in crate::mutator) fn give_word(&self, word: u64) {
        let mut one = Vec::new();
        if one.try_reserve_exact(1).is_err() {
            return self.lose();
        }
        one.push(word);
        self.give_some(one);
    }

    /// Notes that words were lost.
    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// A buffer, if there is one. May overlook a buffer that is just being given.
    pub(crate) fn take(&self) -> Option<Vec<u64>> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.take_surely()
    }

    /// A buffer, if there is one. In a stop this finds every buffer that was given before the stop.
    pub(crate) fn take_surely(&self) -> Option<Vec<u64>> {
        let mut buffers = self.buffers.lock().expect(POISONED);
        let buffer = buffers.pop();
        self.count.store(buffers.len(), Ordering::Relaxed);
        buffer
    }

    /// Forgets all words, for a marking that begins or was given up. In a stop.
    pub(crate) fn forget(&self) {
        self.buffers.lock().expect(POISONED).clear();
        self.count.store(0, Ordering::Relaxed);
        self.lost.store(false, Ordering::Relaxed);
    }

    /// Whether words were lost since [`forget`](Self::forget).
    pub(crate) fn has_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// In a child of `fork()`: whether no thread holds the lock.
    pub(in crate::mutator) fn is_at_rest(&self) -> bool {
        self.buffers.try_lock().is_ok()
    }
}
