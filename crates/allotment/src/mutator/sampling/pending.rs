//! A thread's samples since its last safepoint, in memory of its own.
//!
//! ```text
//! entries: address, size, ... of each sample             oldest first
//! frames:  [cut off?, frame, frame ...] of each entry    in the same order
//! ```

use super::SampleMemory;
use super::stack::{FrameSink, MAX_FRAMES};
use std::cell::{Cell, RefCell};

/// Entries after which a thread hands over what is complete: objects of their own without a
/// safepoint, and all at a call that counts as one. So the thread takes the heap's lock once for
/// this many samples, and a stop waits for at most twice as many.
const HAND_OVER: usize = 64;

/// Words of a stack at most: whether it was cut off, and the frames.
const WORDS: usize = 1 + MAX_FRAMES;

/// A sample whose object may not be complete yet.
#[derive(Clone, Copy, Debug)]
pub(in crate::mutator) struct PendingSample {
    /// Points that the thread had passed, this one included.
    pub(in crate::mutator) number: u64,
    /// The memory: one object, or several with fillers between them.
    pub(in crate::mutator) address: usize,
    pub(in crate::mutator) bytes: usize,
    /// Bytes from `address` to the point, fewer than `bytes`.
    pub(in crate::mutator) offset: usize,
    /// The interval that the point was drawn with.
    pub(in crate::mutator) interval: usize,
    /// Whether the memory may hold several objects, whose headers are written until the next
    /// safepoint. Otherwise it is one object, whose header is there when the allocation returns.
    pub(in crate::mutator) is_group: bool,
}

/// The samples of one thread. Owner only; a stopper uses it while the owner is held.
#[derive(Debug, Default)]
pub(in crate::mutator) struct Pending {
    lists: RefCell<Lists>,
    /// Number of entries.
    count: Cell<usize>,
    /// Number of entries that need not wait for a safepoint.
    complete: Cell<usize>,
}

#[derive(Debug, Default)]
struct Lists {
    /// Each entry, and the number of words of its stack.
    entries: Vec<(PendingSample, usize)>,
    frames: Vec<u64>,
    /// Bytes that were taken for both lists.
    taken: usize,
}

impl Pending {
    pub(in crate::mutator) fn is_empty(&self) -> bool {
        self.count.get() == 0
    }

    /// Whether it is time for a thread to hand over all entries, at the next call that counts as a
    /// safepoint.
    pub(in crate::mutator) fn are_many(&self) -> bool {
        self.count.get() >= HAND_OVER
    }

    /// Whether it is time to hand over the complete entries.
    pub(in crate::mutator) fn are_many_complete(&self) -> bool {
        self.complete.get() >= HAND_OVER
    }

    /// Adds a sample, whose stack `walk` pushes. Without memory for it the sample is dropped and
    /// counted, and the answer is `false`. A sample of an allocation that `walk` makes is dropped
    /// and counted, too.
    pub(in crate::mutator) fn push(
        &self,
        memory: &SampleMemory,
        entry: PendingSample,
        walk: impl FnOnce(&mut FrameSink<'_>),
    ) -> bool {
        let pushed = self.lists.try_borrow_mut().ok().map(|mut lists| {
            let Lists { entries, frames, taken } = &mut *lists;
            // Room for an entry with a whole stack.
            let has_room =
                grow(entries, 1, HAND_OVER / 4, memory, taken) && grow(frames, WORDS, WORDS, memory, taken);
            if has_room {
                let start = lists.frames.len();
                lists.frames.push(0);
                let mut sink = FrameSink::new(&mut lists.frames);
                walk(&mut sink);
                let truncated = sink.is_truncated();
                lists.frames[start] = u64::from(truncated);
                let words = lists.frames.len() - start;
                lists.entries.push((entry, words));
                self.count.set(lists.entries.len());
                self.complete.set(self.complete.get() + usize::from(!entry.is_group));
            }
            has_room
        });
        if pushed != Some(true) {
            memory.drop_sample(entry.bytes);
        }
        pushed != Some(false)
    }

    /// Calls `take` with each entry and its stack, oldest first. The entry stays if
    /// `take` returns `false`.
    pub(in crate::mutator) fn drain(&self, mut take: impl FnMut(&PendingSample, &[u64]) -> bool) {
        // A walker that reached a safepoint finds the lists in use: the entries wait for the next.
        let Ok(mut lists) = self.lists.try_borrow_mut() else { return };
        let Lists { entries, frames, .. } = &mut *lists;
        let (mut from, mut kept) = (0, 0);
        entries.retain(|(entry, words)| {
            let stack = from..from + words;
            from = stack.end;
            let stays = !take(entry, &frames[stack.clone()]);
            if stays {
                frames.copy_within(stack, kept);
                kept += words;
            }
            stays
        });
        frames.truncate(kept);
        self.count.set(entries.len());
        self.complete.set(entries.iter().filter(|(entry, _)| !entry.is_group).count());
    }

    /// Gives the memory back: the thread leaves.
    pub(in crate::mutator) fn release(&self, memory: &SampleMemory) {
        if let Ok(mut lists) = self.lists.try_borrow_mut() {
            memory.give(lists.taken);
            *lists = Lists::default();
            self.count.set(0);
            self.complete.set(0);
        }
    }
}

/// Ensures that there is room for `wanted` elements more in a list, whose bytes count in `taken`. A
/// list that grows doubles, or begins with `first`. `false`: there is no memory.
fn grow<T>(list: &mut Vec<T>, wanted: usize, first: usize, memory: &SampleMemory, taken: &mut usize) -> bool {
    let spare = list.capacity() - list.len();
    if spare >= wanted {
        return true;
    }
    let more = list.capacity().max(first);
    let bytes = more * size_of::<T>();
    if !memory.take(bytes) {
        return false;
    }
    if list.try_reserve_exact(spare + more).is_err() {
        memory.give(bytes);
        return false;
    }
    *taken += bytes;
    true
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    fn memory(limit: usize) -> SampleMemory {
        SampleMemory { limit, ..SampleMemory::default() }
    }

    fn entry(number: u64) -> PendingSample {
        PendingSample { number, address: 0, bytes: 16, offset: 0, interval: 1, is_group: false }
    }

    fn numbers(pending: &Pending, mut take: impl FnMut(u64) -> bool) -> Vec<(u64, Vec<u64>)> {
        let mut found = Vec::new();
        pending.drain(|entry, stack| {
            let taken = take(entry.number);
            if taken {
                found.push((entry.number, stack.to_vec()));
            }
            taken
        });
        found
    }

    #[test]
    fn what_stays_keeps_its_stack_and_its_order() {
        let (pending, memory) = (Pending::default(), memory(1 << 20));
        for number in 0..100 {
            let frames = number % 5;
            pending.push(&memory, entry(number), |sink| {
                (0..frames).for_each(|frame| assert!(sink.push(number * 10 + frame)));
            });
        }
        assert!(pending.are_many_complete());
        let stack =
            |number: u64| (number, [0].into_iter().chain((0..number % 5).map(|f| number * 10 + f)).collect());
        let odd: Vec<_> = (0..100).filter(|number| number % 2 == 1).map(stack).collect();
        assert_eq!(numbers(&pending, |number| number % 2 == 1), odd);
        assert!(!pending.are_many_complete() && !pending.is_empty());
        let even: Vec<_> = (0..100).filter(|number| number % 2 == 0).map(stack).collect();
        assert_eq!(numbers(&pending, |_| true), even);
        assert!(pending.is_empty());
        pending.release(&memory);
        assert_eq!(memory.used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn memory_is_taken_before_it_is_used_and_samples_beyond_it_are_counted() {
        let (pending, memory) = (Pending::default(), memory(8 << 10));
        for number in 0..50 {
            pending.push(&memory, entry(number), |sink| {
                (0..200).for_each(|frame| assert_eq!(sink.push(frame), frame < MAX_FRAMES as u64));
            });
        }
        let used = memory.used.load(Ordering::Relaxed);
        {
            let lists = pending.lists.borrow();
            let capacity =
                lists.entries.capacity() * size_of::<(PendingSample, usize)>() + lists.frames.capacity() * 8;
            assert!(capacity <= used && used <= 8 << 10, "{capacity} <= {used}");
        }
        let kept = numbers(&pending, |_| true);
        assert!(kept.iter().all(|(_, stack)| stack.len() == WORDS && stack[0] == 1));
        let dropped = memory.samples.load(Ordering::Relaxed);
        assert!(!kept.is_empty() && dropped > 0);
        assert_eq!(kept.len() as u64 + dropped, 50);
        assert_eq!(memory.bytes.load(Ordering::Relaxed), 16 * dropped);
    }

    #[test]
    fn an_allocation_of_the_walker_is_dropped_and_counted() {
        let (pending, memory) = (Pending::default(), memory(1 << 20));
        assert!(pending.push(&memory, entry(1), |_| assert!(pending.push(&memory, entry(2), |_| ()))));
        assert_eq!(numbers(&pending, |_| true), [(1, vec![0])]);
        assert_eq!(memory.samples.load(Ordering::Relaxed), 1);
    }
}
