//! The effect that another sizing would have had on the allocation of a log's threads.
//!
//! The decisions are the heap's own ([`allotment::tlab::sizing`]), applied to a model:
//!
//! - In a cycle a thread allocates the bytes it did, evenly over the cycle's time.
//! - In each buffer that a thread drops, as many bytes stay unused as on average in the log, at
//!   most what the tried sizing tolerates.
//! - A thread's last buffer is lost at the collection.
//! - The thread that allocated most began the collection, since its refill found no room. Its last
//!   buffer is therefore no larger than the bytes used in it.
//! - Collections come when they came in the log.
//!
//! So the replay does not know the objects' sizes (objects that a buffer cannot hold, slow
//! allocations). It also ignores that an eden filled with waste is collected sooner. It compares
//! sizings; the row with the JVM's own settings, beside the log's figures, shows how reliable it
//! is.

use super::candidate::Candidate;
use super::cycles::{Cycles, Share};
use allotment::tlab::budget::{Budget, CensusEntry, Settlement};
use allotment::tlab::sizing::{Averages, Config, Cycle, HeapCycle, Settings, Sizing};

/// Bytes of the object that waits for a buffer. They add to the buffer's size, and hardly matter.
const OBJECT: usize = 64;

/// The most refills that are simulated one by one, in total. Sizes of a damaged log may be
/// anything, and each line may contain billions of refills.
const MOST_REFILLS: u64 = 1 << 22;

/// The refills of a thread in a cycle that are always simulated; the sizes have settled within
/// fewer.
const LEAST_REFILLS: u64 = 1 << 10;

/// `TLABIdlePercent`, the default.
const IDLE_PERCENT: f64 = 1.0;

/// The results of a sizing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Buffers taken.
    pub refills: u64,
    /// Bytes of the buffers taken.
    pub buffers: u64,
    /// Bytes left in buffers at collections.
    pub gc_waste: u64,
    /// Bytes left in buffers that were dropped.
    pub slow_waste: u64,
    /// The largest buffer.
    pub largest: u64,
}

/// Applies a sizing to the cycles of a log. `most_desired` is the largest size that any thread
/// desired.
pub fn replay(cycles: &Cycles, candidate: &Candidate, most_desired: u64) -> Replayed {
    let capacity = cycles.ends.first().map_or(0, |end| usize_of(end.capacity));
    let mut settings = Settings { capacity, ..candidate.settings.clone() };
    if !candidate.has_region {
        settings.region_size = limit(cycles, most_desired);
    }
    let config = Config::new(&settings);
    let budget = Budget::new(&config, capacity, IDLE_PERCENT);
    let singly = (MOST_REFILLS / (cycles.shares.len() as u64).max(1)).max(LEAST_REFILLS);
    let mut heap = Heap { averages: Averages::new(&config), sizings: Vec::new(), config, budget, singly };
    let mut done = Replayed::default();
    let (mut from, mut began) = (0, 0);
    for end in &cycles.ends {
        let shares = &cycles.shares[from..end.shares];
        heap.set_capacity(usize_of(end.capacity));
        let before = done.buffers;
        let begins = shares.iter().map(|share| share.allocated).max();
        for share in shares {
            let began_it = begins == Some(share.allocated);
            heap.allocate(share, began_it, (began, end.ms), &mut done);
        }
        let cycle = HeapCycle {
            used: usize_of(end.used),
            capacity: usize_of(end.capacity),
            requested: usize_of(done.buffers.saturating_sub(before)),
            threads: threads(shares),
        };
        heap.end_cycle(&cycle, shares);
        (from, began) = (end.shares, end.ms);
    }
    done
}

/// The number of threads. A thread has several shares where a collection takes its buffers away
/// several times.
fn threads(shares: &[Share]) -> usize {
    let mut threads: Vec<u32> = shares.iter().map(|share| share.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    threads.len()
}

/// The largest buffer that a collector gives. If the largest desired size is a power of two, it was
/// limited by a bound (half a region, a region). Otherwise no bound mattered.
fn limit(cycles: &Cycles, most_desired: u64) -> usize {
    const LEAST_BOUND: u64 = 64 << 10;
    if most_desired >= LEAST_BOUND && most_desired.is_power_of_two() {
        return usize_of(most_desired);
    }
    cycles.ends.iter().map(|end| usize_of(end.capacity)).max().unwrap_or(0)
}

struct Heap {
    config: Config,
    averages: Averages,
    budget: Budget,
    /// The sizing of each thread; `None` before the thread allocates.
    sizings: Vec<Option<Sizing>>,
    /// The number of simulated refills of a thread in a cycle. The rest is assumed to be equal.
    singly: u64,
}

impl Heap {
    fn allocate(&mut self, share: &Share, began_it: bool, (began, ends): (u64, u64), done: &mut Replayed) {
        let Heap { config, averages, budget, sizings, singly } = self;
        let index = share.thread as usize;
        if sizings.len() <= index {
            sizings.resize(index + 1, None);
        }
        // Taken out of its place while it runs, since a census walks over all sizings.
        let mut sizing = sizings[index].take().unwrap_or_else(|| Sizing::start(config, averages));
        let (mut used, mut refills) = (0_u64, 0_u64);
        while used < share.allocated {
            let passed = used as f64 / share.allocated as f64;
            let now = began + ((ends - began) as f64 * passed) as u64;
            if budget.settle(config, &mut sizing, now) == Settlement::RunCensus {
                budget.census(sizings.iter().flatten().chain([&sizing]).map(CensusEntry::from), now);
            }
            let Some(request) = sizing.request(config, OBJECT, usize::MAX, now) else { break };
            sizing.granted(config, request.size, now);
            let size = request.size as u64;
            let dropped = share.dropped.min(sizing.refill_waste_limit() as u64).min(size - OBJECT as u64);
            let holds = size - dropped;
            // After that many refills all others are equal.
            let times = if refills < *singly { 1 } else { (share.allocated - used).div_ceil(holds) };
            refills = refills.saturating_add(times);
            used = used.saturating_add(holds.saturating_mul(times));
            done.buffers = done.buffers.saturating_add(size.saturating_mul(times));
            done.slow_waste = done.slow_waste.saturating_add(dropped.saturating_mul(times));
            if used >= share.allocated {
                // The last buffer is not dropped but taken away, or ends where the eden ends.
                let left = (used - share.allocated).saturating_add(dropped);
                done.slow_waste -= dropped;
                if began_it {
                    done.buffers = done.buffers.saturating_sub(left);
                } else {
                    done.gc_waste = done.gc_waste.saturating_add(left);
                }
            }
            done.largest = done.largest.max(size);
        }
        done.refills = done.refills.saturating_add(refills);
        sizings[index] = Some(sizing);
    }

    /// Sets the bytes that threads allocate from, from here on.
    fn set_capacity(&mut self, capacity: usize) {
        self.budget.set_capacity(capacity);
        let share = self.budget.share();
        for sizing in self.sizings.iter_mut().flatten() {
            self.budget.trim(&self.config, sizing, share);
        }
    }

    fn end_cycle(&mut self, cycle: &HeapCycle, shares: &[Share]) {
        let mut allocated = vec![0_usize; self.sizings.len()];
        for share in shares {
            let sum = &mut allocated[share.thread as usize];
            *sum = sum.saturating_add(usize_of(share.allocated));
        }
        self.averages.end_cycle(cycle);
        for (sizing, allocated) in self.sizings.iter_mut().zip(allocated) {
            if let Some(sizing) = sizing {
                let cycle = Cycle { used: cycle.used, capacity: cycle.capacity, allocated };
                self.budget.end_cycle(&self.config, &self.averages, sizing, &cycle);
            }
        }
        self.budget.forget_census();
    }
}

/// The sizes of a damaged log may be anything.
fn usize_of(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
