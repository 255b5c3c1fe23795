//! What all threads of a heap sampled: stacks, counts, and which sampled objects live.
//!
//! ```text
//! stacks   stack -> number
//! buckets  (stack, shape, bytes, interval) -> number of samples
//! living   weak slot, bucket                for each sampled object that may live
//! ```
//!
//! Samples of one bucket have the same weight. So the estimate of a bucket is exact arithmetic on a
//! whole number, and no average over sizes distorts it (Go's profiles are kept in the same way).
//! The weak slots are in a table of roots of their own: every collector follows and clears them as
//! it does those of weak handles.

use super::SampleMemory;
use crate::mutator::roots::{RootSlot, RootTable};
use crate::sync::MutexGuard;
use std::collections::HashMap;

/// Number of living samples up to which a search for dead ones does not pay.
const FIRST_SEARCH: usize = 1024;

/// Bytes of a stack beside its words, of a bucket, and of a living sample. Upper bounds: lists and
/// maps are up to twice as large as their contents, and maps have 1/7 and a byte more.
const STACK_BYTES: usize = 3 * (size_of::<(Box<[u64]>, u32)>() + 1) + 32;
const BUCKET_BYTES: usize = 2 * size_of::<Bucket>() + 3 * (size_of::<(Key, u32)>() + 1);
const LIVING_BYTES: usize = 2 * size_of::<Living>() + 3 * size_of::<RootSlot>();

/// A sample whose object is complete.
#[derive(Clone, Copy, Debug)]
pub(in crate::mutator) struct SettledSample<'s> {
    /// Number of the object's shape.
    pub(in crate::mutator) shape: u32,
    pub(in crate::mutator) bytes: usize,
    pub(in crate::mutator) interval: usize,
    /// Whether the stack was cut off (0 or 1), then its frames, innermost first.
    pub(in crate::mutator) stack: &'s [u64],
}

/// Samples of objects of one shape and size, from one stack, by points of one interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    /// Number of the stack.
    pub(crate) stack: u32,
    /// Number of the shape.
    pub(crate) shape: u32,
    /// Bytes of each object.
    pub(crate) bytes: usize,
    /// Mean bytes from one point to the next.
    pub(crate) interval: usize,
    /// Number of samples.
    pub(crate) samples: u64,
    /// How many of the sampled objects live. Counted when a profile is taken.
    pub(crate) living: u64,
}

/// Samples that are missing: for most there was no memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DroppedSamples {
    /// Samples for which there was no memory.
    pub(crate) samples: u64,
    /// Bytes of their objects, without weights.
    pub(crate) bytes: u64,
    /// Samples of memory that was recycled before the types of its objects were read.
    pub(crate) recycled: u64,
}

/// What a heap's threads sampled so far.
pub(crate) struct Samples {
    /// Stacks by number: whether it was cut off (0 or 1), then its frames, innermost first.
    pub(crate) stacks: Vec<Box<[u64]>>,
    pub(crate) buckets: Vec<Bucket>,
    pub(crate) dropped: DroppedSamples,
}

type Key = (u32, u32, usize, usize);

#[derive(Clone, Copy)]
struct Living {
    slot: RootSlot,
    bucket: u32,
}

/// All samples of a heap, under one lock.
#[derive(Default)]
pub(super) struct SampleLists {
    stacks: HashMap<Box<[u64]>, u32>,
    numbers: HashMap<Key, u32>,
    buckets: Vec<Bucket>,
    living: Vec<Living>,
    /// Number of living samples at which dead ones are searched for.
    search_at: usize,
    /// Visits of the table at the last search that a lack of memory caused.
    searched: Option<u64>,
}

/// All samples of a heap while they are locked, and where they take memory and slots from.
pub(in crate::mutator) struct SampleStore<'s> {
    pub(super) lists: MutexGuard<'s, SampleLists>,
    pub(in crate::mutator) memory: &'s SampleMemory,
    /// Weak roots of the living samples.
    pub(super) table: &'s RootTable,
}

impl SampleStore<'_> {
    /// Counts a sample. Returns its bucket; `None` if there is no memory for the sample.
    pub(in crate::mutator) fn count(&mut self, sample: &SettledSample<'_>) -> Option<u32> {
        let bucket = self.bucket(sample);
        match bucket {
            Some(bucket) => self.lists.buckets[bucket as usize].samples += 1,
            None => self.memory.drop_sample(sample.bytes),
        }
        bucket
    }

    fn bucket(&mut self, sample: &SettledSample<'_>) -> Option<u32> {
        let SettledSample { shape, bytes, interval, stack } = *sample;
        let stack = match self.lists.stacks.get(stack) {
            Some(&number) => number,
            None => {
                let number = u32::try_from(self.lists.stacks.len()).ok()?;
                let taken = STACK_BYTES + size_of_val(stack);
                if !self.take(taken) {
                    return None;
                }
                let mut words = Vec::new();
                if self.lists.stacks.try_reserve(1).and(words.try_reserve_exact(stack.len())).is_err() {
                    self.memory.give(taken);
                    return None;
                }
                words.extend_from_slice(stack);
                self.lists.stacks.insert(words.into(), number);
                number
            }
        };
        let key = (stack, shape, bytes, interval);
        if let Some(&number) = self.lists.numbers.get(&key) {
            return Some(number);
        }
        let number = u32::try_from(self.lists.buckets.len()).ok()?;
        if !self.take(BUCKET_BYTES) {
            return None;
        }
        let SampleLists { buckets, numbers, .. } = &mut *self.lists;
        if buckets.try_reserve(1).and(numbers.try_reserve(1)).is_err() {
            self.memory.give(BUCKET_BYTES);
            return None;
        }
        buckets.push(Bucket { stack, shape, bytes, interval, samples: 0, living: 0 });
        numbers.insert(key, number);
        Some(number)
    }

    /// Follows the sampled object at `address`, in a slot of the table. Without memory for that,
    /// the object counts as dead, and its sample as dropped.
    pub(in crate::mutator) fn follow(&mut self, address: usize, bucket: u32) {
        if self.lists.living.len() >= self.lists.search_at.max(FIRST_SEARCH) {
            self.forget_dead();
            self.lists.search_at = 2 * self.lists.living.len();
        }
        if self.take(LIVING_BYTES) {
            let room = self.lists.living.try_reserve(1).ok();
            if let Some(slot) = room.and_then(|()| self.table.try_take(address as u64)) {
                return self.lists.living.push(Living { slot, bucket });
            }
            self.memory.give(LIVING_BYTES);
        }
        self.memory.drop_sample(self.lists.buckets[bucket as usize].bytes);
    }

    /// Takes `bytes` of the memory. If less is left, it gives up the dead samples first.
    pub(in crate::mutator) fn take(&mut self, bytes: usize) -> bool {
        self.memory.take(bytes) || (self.forget_newly_dead() && self.memory.take(bytes))
    }

    /// Gives up the dead samples, if a collection may have found some since the last call. Returns
    /// whether it looked.
    pub(in crate::mutator) fn forget_newly_dead(&mut self) -> bool {
        let visits = Some(self.table.visits());
        let looks = self.lists.searched != visits;
        if looks {
            self.lists.searched = visits;
            self.forget_dead();
        }
        looks
    }

    /// Gives up the slots of sampled objects that died.
    fn forget_dead(&mut self) {
        let before = self.lists.living.len();
        self.lists.living.retain(|living| !self.table.give_if_cleared(living.slot));
        self.memory.give(LIVING_BYTES * (before - self.lists.living.len()));
    }

    /// The samples so far. An object lives if the last collection that looked at it found it
    /// alive.
    pub(in crate::mutator) fn read(&mut self) -> Samples {
        self.forget_dead();
        let mut stacks = vec![Box::default(); self.lists.stacks.len()];
        for (stack, &number) in &self.lists.stacks {
            stacks[number as usize] = stack.clone();
        }
        let mut buckets = self.lists.buckets.clone();
        for living in &self.lists.living {
            buckets[living.bucket as usize].living += 1;
        }
        Samples { stacks, buckets, dropped: self.memory.dropped() }
    }
}
