//! Work stacks: one for each worker, and pieces that move to other workers.
//!
//! ```text
//! below (private)  | full | full | top (private, where entries are pushed and popped)
//! shared           | piece | piece |  <- others steal here
//! ```
//!
//! A worker pushes and pops on a vector of its own, without fences or atomic operations. A deque of
//! single entries pays these for each entry (Arora, Blumofe and Plaxton, SPAA 1998; HotSpot's task
//! queues). Only whole pieces travel, over a deque per worker. Full pieces go there as they come.
//! When another worker idles ([`is_wanted`](WorkStack::is_wanted), asked now and then), every other
//! entry goes, the oldest included: in a tree each entry leads to as many objects as all entries
//! above it together. Refused: the older half. It leads to nearly all of a tree, so the giver idles
//! next: forty times in a collection of two workers, now four.
//!
//! Pieces have a fixed size, so that a stack grows without copying. A stack may refuse to grow,
//! because the system may have no memory. Then the caller has to find the entries that did not fit
//! once more.
//!
//! If there is nothing to steal, a second worker costs the first one nothing. A worker that finds
//! nothing sleeps until it is woken (`sleep.rs`). A worker that finds all others idle and empty is
//! alone ([`is_alone`](WorkStack::is_alone)) and needs no locked instructions. Without both, a list
//! of 5 million nodes takes two workers 1.5 times as long as one.
//!
//! **Invariant:** a worker that is counted as idle has no entry, and its deque is empty. A worker
//! stops being counted before it takes a piece. So when all are idle, there is no piece, and no
//! worker that could make one: the round ends.

use super::task_queues::{Piece, StackParts, TaskQueues};
use crate::random::Random;
use crate::sync::deque::{Steal, Worker};
use crate::sync::{Ordering, POISONED, Waiting};
use std::collections::VecDeque;

/// Pieces that a worker keeps where others can steal them. It keeps further pieces to itself,
/// because a deque of more than 64 grows, and cannot refuse to.
const SHARED_PIECES: usize = 16;

/// A worker with fewer entries keeps them: they are done before another worker could take them.
const WORTH_GIVING: usize = if cfg!(any(test, loom)) { 2 } else { 8 };

/// Number of attempts to steal, per worker, before a worker waits.
const ATTEMPTS: usize = if cfg!(loom) { 1 } else { 2 };

impl TaskQueues {
    /// The stack of worker `number`, until it is dropped.
    ///
    /// # Panics
    /// If there is no such worker, or if the worker already has its stack.
    pub(crate) fn worker(&self, number: usize) -> WorkStack<'_> {
        let parts = self.parked[number].lock().expect(POISONED).take();
        let StackParts { top, shared } = parts.expect("a worker has one stack");
        let random = Random::new(number as u64);
        let (below, spare, alone, steals) = (VecDeque::new(), None, false, 0);
        WorkStack { queues: self, number, top, below, spare, shared, alone, random, steals }
    }
}

/// The stack of one worker.
pub(crate) struct WorkStack<'c> {
    queues: &'c TaskQueues,
    number: usize,
    top: Piece,
    /// Full pieces, the oldest first.
    below: VecDeque<Piece>,
    /// An empty piece, so that a stack at the border of two pieces does not call the allocator each
    /// time.
    spare: Option<Piece>,
    shared: Worker<Piece>,
    /// Whether all others idle and can get work only from this worker, which has offered nothing
    /// since it found this out.
    alone: bool,
    /// Chooses victims.
    random: Random,
    steals: u64,
}

impl WorkStack<'_> {
    /// Pushes an entry. Returns `false` if there is no room, and no further piece may be made.
    #[inline(always)]
    pub(crate) fn push(&mut self, entry: usize) -> bool {
        // The reserved size is that of a piece. By this comparison the compiler knows that `push`
        // has room.
        if self.top.len() == self.top.capacity() && !self.grow() {
            return false;
        }
        self.top.push(entry);
        true
    }

    /// Pops the top entry; entries that were offered and not taken come last. `None` if this worker
    /// has none.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<usize> {
        match self.top.pop() {
            Some(entry) => Some(entry),
            None => self.shrink(),
        }
    }

    /// Pops the top entry, if one is within reach.
    #[inline(always)]
    pub(crate) fn pop_at_hand(&mut self) -> Option<usize> {
        self.top.pop()
    }

    /// Entries that [`pop_group`](Self::pop_group) can reach.
    #[inline(always)]
    pub(crate) fn at_hand(&self) -> usize {
        self.top.len()
    }

    /// Pops the `N` topmost entries, in the order in which they were pushed, if there are that many
    /// within reach and `suits` accepts them.
    #[inline(always)]
    pub(crate) fn pop_group<const N: usize>(
        &mut self,
        suits: impl FnOnce(&[usize; N]) -> bool,
    ) -> Option<[usize; N]> {
        let entries = self.top.last_chunk::<N>()?;
        // Volatile: each entry was just stored by itself, so a load of all as one vector would have
        // to wait for the stores. SAFETY: references to them.
        let group = entries.each_ref().map(|entry| unsafe { std::ptr::from_ref(entry).read_volatile() });
        if !suits(&group) {
            return None;
        }
        self.top.truncate(self.top.len() - N);
        Some(group)
    }

    /// Whether the top piece is half full: then its entries should be handled before more are
    /// added.
    #[inline(always)]
    pub(crate) fn is_deep(&self) -> bool {
        self.top.len() * 2 >= self.top.capacity()
    }

    /// Number of workers that share the work.
    pub(crate) fn workers(&self) -> usize {
        self.queues.workers()
    }

    /// Whether a worker idles and this one could give it work: a cheap hint.
    #[inline(always)]
    pub(crate) fn is_wanted(&self) -> bool {
        self.queues.idle.load(Ordering::Relaxed) > 0
            && (self.top.len() >= WORTH_GIVING || !self.below.is_empty())
    }

    /// Offers some entries to others, if one of them wants some.
    #[inline(always)]
    pub(crate) fn share(&mut self) {
        if self.is_wanted() {
            self.give();
        }
    }

    /// To be called at intervals by a worker that follows a list. Offers entries to others if
    /// possible, or finds out whether this worker [is alone](Self::is_alone).
    #[inline(always)]
    pub(crate) fn look_around(&mut self) {
        if self.is_wanted() {
            self.give();
        } else if !self.alone {
            // The deque first: once it is empty, no worker can take anything before this worker
            // offers something. A worker that took its last piece is no longer counted as idle, and
            // this worker sees that, since the deque's end is loaded with acquire order. In the
            // other order, an idle worker could take the last piece between the two reads. Acquire:
            // from here on this worker sees the others' writes.
            self.alone =
                self.shared.is_empty() && self.queues.idle.load(Ordering::Acquire) + 1 == self.workers();
        }
    }

    /// Whether no other worker works, or will work before this one offers something; then this
    /// worker sees all writes of the others. May be `false` even if that holds.
    #[inline(always)]
    pub(crate) fn is_alone(&self) -> bool {
        self.alone
    }

    /// Offers every other entry to others, unless they can already take some, or there are too few.
    #[cold]
    #[inline(never)]
    pub(crate) fn give(&mut self) {
        if !self.shared.is_empty() {
            return;
        }
        if let Some(oldest) = self.below.pop_front() {
            return self.offer(oldest);
        }
        if self.top.len() < WORTH_GIVING {
            return;
        }
        let mut goes = false;
        self.give_those(|_| {
            goes = !goes;
            goes
        });
    }

    /// Offers all entries near the top that have the kind of the first entry with a kind, as one
    /// piece. Returns `false` if none has a kind, or if enough is on offer.
    pub(crate) fn give_kind(&mut self, kind: impl Fn(usize) -> Option<usize>) -> bool {
        let Some(wanted) = self.top.iter().find_map(|&entry| kind(entry)) else { return false };
        self.shared.len() < SHARED_PIECES && self.give_those(|entry| kind(entry) == Some(wanted))
    }

    /// Offers the entries near the top for which `goes` is true, as one piece. Returns `false` if
    /// no further piece may be made.
    fn give_those(&mut self, mut goes: impl FnMut(usize) -> bool) -> bool {
        let Some(mut piece) = self.spare.take().or_else(|| self.queues.make_piece()) else { return false };
        piece.extend(self.top.extract_if(.., |entry| goes(*entry)));
        self.offer(piece);
        true
    }

    /// Puts a piece where others find it, and wakes a sleeping worker.
    fn offer(&mut self, piece: Piece) {
        self.alone = false;
        self.shared.push(piece);
        self.queues.sleepers.wake(1);
    }

    /// Offers all entries to others. Returns `false` if they are too many at the moment.
    pub(crate) fn give_all(&mut self) -> bool {
        while self.shared.len() < SHARED_PIECES {
            if let Some(oldest) = self.below.pop_front() {
                self.offer(oldest);
                continue;
            }
            if self.top.is_empty() {
                return true;
            }
            let Some(empty) = self.spare.take().or_else(|| self.queues.make_piece()) else { return false };
            let full = std::mem::replace(&mut self.top, empty);
            self.offer(full);
        }
        self.top.is_empty() && self.below.is_empty()
    }

    /// Replaces [`find`](Self::find) after [`give_all`](Self::give_all): waits until others have
    /// taken all entries, and leaves the rest of the round to them.
    pub(crate) fn rest(&self) {
        debug_assert!(self.top.is_empty() && self.below.is_empty());
        let mut waiting = Waiting::new();
        while !self.shared.is_empty() {
            waiting.longer();
        }
        self.idle();
    }

    /// Counts this worker as idle. Returns whether all are. The last one wakes the sleeping
    /// workers: the round is over.
    fn idle(&self) -> bool {
        // Release: a worker that sees all idle sees all their writes. Acquire: as above.
        let all = self.queues.idle.fetch_add(1, Ordering::AcqRel) + 1 == self.queues.workers();
        if all {
            self.queues.sleepers.wake(usize::MAX);
        }
        all
    }

    /// Gets more work from others when [`pop`](Self::pop) has none, and waits for it. Returns
    /// `false` if all workers wait: then no work is left in this round, and this worker does not
    /// call this again before the next round.
    ///
    /// All workers have to come, here or to [`rest`](Self::rest), because it waits for
    /// each.
    #[inline(never)]
    pub(crate) fn find(&mut self) -> bool {
        debug_assert!(self.top.is_empty() && self.below.is_empty() && self.shared.is_empty());
        self.alone = false;
        while self.queues.workers() > 1 {
            if self.steal() {
                return true;
            }
            if self.wait() {
                break;
            }
        }
        false
    }

    /// Waits until another worker offers something (`false`), or until all wait (`true`).
    fn wait(&self) -> bool {
        let TaskQueues { idle, stealers, sleepers, .. } = self.queues;
        if self.idle() {
            return true;
        }
        let all_idle = || idle.load(Ordering::Acquire) == self.queues.workers();
        let offered =
            || stealers.iter().enumerate().any(|(number, other)| number != self.number && !other.is_empty());
        let (mut waiting, mut sleep) = (Waiting::new(), sleepers.begin());
        loop {
            if all_idle() {
                return true;
            }
            if offered() {
                idle.fetch_sub(1, Ordering::AcqRel);
                return false;
            }
            waiting.longer_or(|| sleep.unless(|| all_idle() || offered()));
        }
    }

    /// Steals a piece from the one of two random victims that offers more (Mitzenmacher 2001).
    fn steal(&mut self) -> bool {
        let stealers = &self.queues.stealers;
        for _ in 0..ATTEMPTS * stealers.len() {
            let (first, second) = (self.victim(), self.victim());
            let other_has_more = || stealers[first].len() < stealers[second].len();
            let victim = if first != second && other_has_more() { second } else { first };
            if let Steal::Success(piece) = stealers[victim].steal() {
                self.steals += 1;
                self.put_on_top(piece);
                return true;
            }
        }
        false
    }

    /// A random other worker.
    fn victim(&self) -> usize {
        let others = self.queues.workers() - 1;
        let other = (((self.random.next() >> 32) * others as u64) >> 32) as usize;
        other + usize::from(other >= self.number)
    }

    /// Pieces that this worker took from others.
    pub(crate) fn steals(&self) -> u64 {
        self.steals
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> bool {
        if self.below.try_reserve(1).is_err() {
            return false;
        }
        let Some(piece) = self.spare.take().or_else(|| self.queues.make_piece()) else { return false };
        let full = std::mem::replace(&mut self.top, piece);
        if self.queues.workers() > 1 && self.shared.len() < SHARED_PIECES {
            self.offer(full);
        } else {
            self.below.push_back(full);
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn shrink(&mut self) -> Option<usize> {
        if self.refill() { self.top.pop() } else { None }
    }

    /// Brings the next entries within reach, when none are. Returns `false` if this worker has
    /// none.
    pub(crate) fn refill(&mut self) -> bool {
        let piece = match self.below.pop_back() {
            None if self.queues.workers() > 1 => self.shared.pop(),
            below => below,
        };
        piece.map(|piece| self.put_on_top(piece)).is_some()
    }

    /// Goes on with `piece`; the top is empty.
    fn put_on_top(&mut self, piece: Piece) {
        let empty = std::mem::replace(&mut self.top, piece);
        if let Some(spare) = self.spare.replace(empty) {
            self.queues.drop_piece(spare);
        }
    }
}

impl Drop for WorkStack<'_> {
    fn drop(&mut self) {
        // No piece is left, unless the round was given up.
        while let Some(piece) = self.shared.pop() {
            self.queues.drop_piece(piece);
        }
        self.below.drain(..).chain(self.spare.take()).for_each(|piece| self.queues.drop_piece(piece));
        let mut top = std::mem::take(&mut self.top);
        top.clear();
        let shared = std::mem::replace(&mut self.shared, Worker::new_lifo());
        if let Ok(mut parts) = self.queues.parked[self.number].lock() {
            *parts = Some(StackParts { top, shared });
        }
    }
}
