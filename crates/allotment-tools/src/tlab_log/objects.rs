//! The sizes of the objects that a log's threads allocated, and what they do to the end of a
//! buffer.
//!
//! A log has no line for an object, but one for each object that waited for a buffer:
//! `compute_size(79)`, in words. Large objects wait more often than small ones, since they fit less
//! often. How much more often follows from what a thread does at the end of its buffer:
//!
//! ```text
//! fits                      the object goes into the buffer
//! free > limit              the object goes outside; limit += TLABWasteIncrement
//! otherwise                 the object waits, and `free` bytes are dropped
//! ```
//!
//! So a first estimate is run through many ends of buffers of the sizes in the log. Each size's
//! share is divided by the chance that such an object waits, and the ends are run again, until the
//! objects that wait in the model are those that waited in the log.
//!
//! Objects of very few sizes can wait in the same shares for different reasons. The estimate may then
//! be wrong, which shows in the objects that went outside: the model's must be the log's
//! ([`super::advice`]).
//!
//! Refused: a formula for objects of one mean size. Slow allocations come from the spread of sizes:
//! objects of one size fill every buffer to the same place.

use allotment_report::random::Random;
use std::collections::BTreeMap;

/// Bytes up to which each size counts by itself. Larger sizes share a bucket with those up to a
/// sixteenth larger.
const SINGLY: u64 = 2 << 10;

/// The fewest objects that have waited in a log whose objects are estimated.
const FEWEST: u64 = 100;

/// Rounds of the estimate; the shares change by less than a hundredth in the last.
const ROUNDS: usize = 8;

/// Ends of buffers that are run for a round.
const ENDS: usize = 2000;

/// Ends that are run for a size of buffers in a replay.
const ENDS_OF_A_SIZE: usize = 500;

/// Objects of an end after which the rest is dropped: a damaged log may have any sizes.
const MOST_OBJECTS: usize = 4096;

/// Objects before a buffer's end from which it is run. Where the last
/// objects begin then does not depend on the buffer's size.
const LAST_OBJECTS: f64 = 32.0;

/// Places of the table that a size is drawn from.
const PLACES: usize = 1 << 14;

/// The objects that waited for a buffer, counted by size.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitingObjects {
    /// For each bucket the number of objects, and the sum of their bytes.
    buckets: BTreeMap<u64, (u64, u64)>,
    count: u64,
}

impl WaitingObjects {
    /// Counts an object of `bytes` bytes.
    pub(super) fn add(&mut self, bytes: u64) {
        let bucket = if bytes <= SINGLY {
            bytes
        } else {
            let unit = 1 << (bytes.ilog2() - 4);
            bytes / unit * unit
        };
        let (count, sum) = self.buckets.entry(bucket).or_default();
        (*count, *sum) = (*count + 1, sum.saturating_add(bytes));
        self.count += 1;
    }

    /// Bytes of such an object, on average.
    pub(super) fn mean(&self) -> u64 {
        let sum = self.buckets.values().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        (sum / self.count.max(1)).max(8)
    }
}

/// Buffers of one size in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Buffers {
    /// Bytes of each.
    pub(super) size: u64,
    /// How many there were.
    pub(super) count: u64,
    /// How many of them came after a collection, and so for an object of any size.
    pub(super) first: u64,
}

/// What happens at the end of a buffer, on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct End {
    /// Bytes dropped with the buffer.
    pub(super) dropped: f64,
    /// Objects that went outside because the rest of the buffer was too small for them.
    pub(super) outside: f64,
    /// Bytes of these objects.
    pub(super) outside_bytes: f64,
    /// Objects that went outside because even an empty buffer was too small for them.
    pub(super) large: f64,
    /// Bytes of these objects.
    pub(super) large_bytes: f64,
}

/// The estimated sizes of a log's objects.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Objects {
    /// Sizes, each as often as it is probable.
    table: Vec<u32>,
    mean: f64,
    /// Bytes of the mean object that waits.
    pub(super) waiting: u64,
}

impl Objects {
    /// Estimates the objects of a log whose buffers were kept while more than size / `fraction` was
    /// free, plus `increment` bytes for each object outside. `None` if too few objects waited.
    pub(super) fn of(
        waiting: &WaitingObjects,
        buffers: &[Buffers],
        fraction: u64,
        increment: u64,
    ) -> Option<Self> {
        let all: u64 = buffers.iter().map(|one| one.count).sum();
        if waiting.count < FEWEST || all == 0 {
            return None;
        }
        let sizes: Vec<u64> = waiting.buckets.values().map(|(count, sum)| sum / count).collect();
        let seen: Vec<f64> =
            waiting.buckets.values().map(|(count, _)| *count as f64 / waiting.count as f64).collect();
        let first = buffers.iter().map(|one| one.first).sum::<u64>() as f64 / all as f64;
        let mut shares = seen.clone();
        let mut random = Random::new(1);
        let mut objects = Objects::new(&sizes, &shares, waiting.mean());
        for _ in 0..ROUNDS {
            // Where free bytes were so few that an object larger than them would have waited.
            let mut places: Vec<u64> = Vec::with_capacity(ENDS);
            for one in buffers {
                let ends = (ENDS as f64 * one.count as f64 / all as f64).ceil() as usize;
                for _ in 0..ends {
                    objects.end(one.size, one.size / fraction, increment, &mut random, &mut places);
                }
            }
            places.sort_unstable();
            let chance =
                |size: u64| places.partition_point(|free| *free < size) as f64 / places.len().max(1) as f64;
            // Of all objects the mean share waits; of the first after a collection each.
            let mean: f64 = sizes.iter().zip(&shares).map(|(size, share)| share * chance(*size)).sum();
            for ((share, size), seen) in shares.iter_mut().zip(&sizes).zip(&seen) {
                let waits = first + (1.0 - first) * chance(*size) / mean.max(f64::MIN_POSITIVE);
                *share = seen / waits.max(1e-6);
            }
            let sum: f64 = shares.iter().sum();
            shares.iter_mut().for_each(|share| *share /= sum);
            objects = Objects::new(&sizes, &shares, objects.waiting);
        }
        Some(objects)
    }

    fn new(sizes: &[u64], shares: &[f64], waiting: u64) -> Self {
        let mut table = Vec::with_capacity(PLACES);
        let mut sum = 0.0;
        for (size, share) in sizes.iter().zip(shares) {
            sum += share;
            let until = ((sum * PLACES as f64).round() as usize).min(PLACES);
            table.resize(until.max(table.len()), u32::try_from(*size).unwrap_or(u32::MAX));
        }
        let last = table.last().copied().unwrap_or(16);
        table.resize(PLACES, last);
        let mean = table.iter().map(|size| f64::from(*size)).sum::<f64>() / PLACES as f64;
        Self { table, mean, waiting }
    }

    fn draw(&self, random: &mut Random) -> u64 {
        u64::from(self.table[random.below(PLACES)]).max(8)
    }

    /// The mean end of buffers of `size` bytes.
    pub(super) fn ends(&self, size: u64, limit: u64, increment: u64) -> End {
        let mut random = Random::new(size ^ limit);
        let mut places = Vec::new();
        let mut sums = [0.0; 5];
        for _ in 0..ENDS_OF_A_SIZE {
            let End { dropped, outside, outside_bytes, large, large_bytes } =
                self.end(size, limit, increment, &mut random, &mut places);
            let parts = [dropped, outside, outside_bytes, large, large_bytes];
            sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        }
        let [dropped, outside, outside_bytes, large, large_bytes] =
            sums.map(|sum| sum / ENDS_OF_A_SIZE as f64);
        End { dropped, outside, outside_bytes, large, large_bytes }
    }

    /// Runs one end of a buffer with room for `size` bytes. `places` gets the free bytes at each
    /// object for which a larger object would have waited.
    fn end(&self, size: u64, limit: u64, increment: u64, random: &mut Random, places: &mut Vec<u64>) -> End {
        let mut end = End::default();
        let last = (LAST_OBJECTS * self.mean) as u64;
        let (mut free, mut limit) = (size, limit);
        if size > 2 * last {
            free = last + random.below(self.mean as usize) as u64;
            // Objects larger than the buffer came before, too.
            let fitting = self.table.partition_point(|one| u64::from(*one) <= size);
            if fitting < PLACES {
                let of = |sizes: &[u32]| sizes.iter().map(|size| f64::from(*size)).sum::<f64>();
                let passes = (size - free) as f64 / of(&self.table[..fitting]).max(1.0);
                end.large = passes * (PLACES - fitting) as f64;
                end.large_bytes = passes * of(&self.table[fitting..]);
                limit = limit.saturating_add((end.large * increment as f64) as u64);
            }
        }
        for _ in 0..MOST_OBJECTS {
            let object = self.draw(random);
            if free <= limit {
                places.push(free);
            }
            if object <= free {
                free -= object;
            } else if free > limit {
                let (count, bytes) = if object > size {
                    (&mut end.large, &mut end.large_bytes)
                } else {
                    (&mut end.outside, &mut end.outside_bytes)
                };
                *count += 1.0;
                *bytes += object as f64;
                limit = limit.saturating_add(increment.max(1));
            } else {
                break;
            }
        }
        end.dropped = free as f64;
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of one buffer after the other, as a JVM with objects of known sizes logs them.
    fn logged(sizes: impl Fn(&mut Random) -> u64, buffer: u64, count: u64) -> (WaitingObjects, End) {
        let (mut waiting, mut sum, mut random) = (WaitingObjects::default(), End::default(), Random::new(7));
        for _ in 0..count {
            let (mut free, mut limit) = (buffer, buffer / 64);
            loop {
                let object = sizes(&mut random);
                if object <= free {
                    free -= object;
                } else if free > limit {
                    limit += 32;
                    sum.outside += 1.0;
                    sum.outside_bytes += object as f64;
                } else {
                    sum.dropped += free as f64;
                    waiting.add(object);
                    break;
                }
            }
        }
        let count = count as f64;
        sum.dropped /= count;
        sum.outside /= count;
        sum.outside_bytes /= count;
        (waiting, sum)
    }

    fn is_near(one: f64, other: f64, part: f64) -> bool {
        (one - other).abs() <= other.abs() * part + 0.05
    }

    #[test]
    fn objects_that_wait_tell_those_that_do_not() {
        let kinds: [(&str, fn(&mut Random) -> u64); 3] = [
            ("even", |random| 16 + 8 * random.below(75) as u64),
            ("small and large", |random| match random.below(4) {
                0 => 400 + 8 * random.below(75) as u64,
                _ => 16 + 8 * random.below(8) as u64,
            }),
            ("logarithmic", |random| random.logarithmic(16, 2000) as u64 / 8 * 8),
        ];
        for (who, sizes) in kinds {
            let (waiting, found) = logged(sizes, 4 << 10, 20_000);
            let buffers = [Buffers { size: 4 << 10, count: 20_000, first: 0 }];
            let objects = Objects::of(&waiting, &buffers, 64, 32).unwrap();
            let mut random = Random::new(3);
            let mean = (0..10_000).map(|_| sizes(&mut random) as f64).sum::<f64>() / 10_000.0;
            assert!(is_near(objects.mean, mean, 0.15), "{who}: {} for {mean}", objects.mean);
            let own = objects.ends(4 << 10, 64, 32);
            assert!(is_near(own.outside, found.outside, 0.15), "{who}: {own:?} for {found:?}");
            // The ends of buffers of another size, which the log does not have.
            let (_, larger) = logged(sizes, 32 << 10, 20_000);
            let other = objects.ends(32 << 10, 512, 32);
            assert!(is_near(other.outside, larger.outside, 0.2), "{who}: {other:?} for {larger:?}");
            assert!(is_near(other.dropped, larger.dropped, 0.15), "{who}: {other:?} for {larger:?}");
        }
    }

    #[test]
    fn a_few_objects_tell_nothing_and_absurd_ones_end() {
        let mut waiting = WaitingObjects::default();
        let buffers = [Buffers { size: 4 << 10, count: 50, first: 50 }];
        (0..FEWEST - 1).for_each(|_| waiting.add(24));
        assert_eq!(Objects::of(&waiting, &buffers, 64, 32), None);
        waiting.add(24);
        assert!(Objects::of(&waiting, &buffers, 64, 32).is_some());
        assert_eq!(Objects::of(&waiting, &[], 64, 32), None);
        for size in [0, u64::MAX] {
            let mut waiting = WaitingObjects::default();
            (0..FEWEST).for_each(|_| waiting.add(size));
            let objects = Objects::of(&waiting, &buffers, 64, 32).unwrap();
            for buffer in [8, 1 << 30, u64::MAX] {
                assert!(objects.ends(buffer, buffer / 64, 32).dropped >= 0.0, "{size}, {buffer}");
            }
        }
    }
}
