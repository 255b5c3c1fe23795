//! The effect that another sizing would have had on the allocation of a log's threads.
//!
//! The decisions are the heap's own ([`allotment::internals::tlab`]), applied to a model:
//!
//! - In a cycle a thread allocates the bytes it did, in its buffers and outside, evenly over the
//!   cycle's time.
//! - The objects have the sizes that the log's requests show ([`super::objects`]). So it is known
//!   what a thread drops at the end of a buffer, and what it allocates outside. Where the log has
//!   no requests, as many bytes are dropped as on average in the log, at most what the tried sizing
//!   tolerates, and nothing is known of objects outside.
//! - A thread's last buffer is lost at the collection.
//! - The thread that allocated most began the collection, since its refill found no room. Its last
//!   buffer is therefore no larger than the bytes used in it.
//! - Collections come when they came in the log. Where an eden cannot hold what the threads would
//!   leave in their buffers, it is collected more often, and they leave as much each time.
//!
//! A replay compares sizings. The row with the JVM's own settings, beside the figures of the log,
//! shows how reliable it is.

use super::candidate::Candidate;
use super::cycles::{Collection, Cycles, Share};
use super::objects::{Buffers, End, Objects};
use allotment::internals::tlab::{
    Averages, Budget, CensusEntry, Config, Cycle, HeapCycle, Settings, Settlement, Sizing,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Bytes of the object that waits for a buffer, if the log does not show them. They add to the
/// buffer's size, and hardly matter.
const OBJECT: usize = 64;

/// The most bytes at a buffer's end that no object gets. HotSpot keeps room for a filler there, and
/// to JDK 26 for prefetches beyond the last object: 576 bytes on most processors.
const MOST_RESERVED: u64 = 4096;

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
    /// Objects allocated outside of kept buffers; `None` if the log does not show the sizes of
    /// objects.
    pub slow_allocations: Option<u64>,
}

impl Replayed {
    /// Counts what threads left in their buffers at a collection as often as the eden had to be
    /// collected for `demand` bytes of objects. `before`: the sums before the cycle.
    fn collect_sooner(&mut self, before: &Replayed, demand: u64, capacity: u64) {
        if capacity == 0 {
            return;
        }
        let left = self.gc_waste - before.gc_waste;
        let dropped = self.slow_waste.saturating_sub(before.slow_waste);
        if demand.saturating_add(dropped).saturating_add(left) <= capacity {
            return;
        }
        // Threads that find no room in the eden leave nothing in it.
        let most = left.min(capacity / 2);
        let room = (capacity - most).saturating_sub(dropped).max(capacity / 4).max(1);
        let times = (demand as f64 / room as f64).max(1.0);
        let all = (most as f64 * times) as u64;
        self.gc_waste = before.gc_waste.saturating_add(all);
        self.buffers = self.buffers.saturating_sub(left).saturating_add(all);
    }

    /// Bytes wasted.
    pub const fn waste(&self) -> u64 {
        self.gc_waste.saturating_add(self.slow_waste)
    }
}

/// The cycles of a log, and what is known of the objects in them.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    cycles: &'a Cycles,
    /// The largest size that any thread desired.
    most_desired: u64,
    objects: Option<Objects>,
    /// Bytes at the end of each buffer that no object gets.
    reserve: u64,
    /// For each size of the log's buffers, their mean end.
    ends: HashMap<u64, End>,
}

impl<'a> Replay<'a> {
    /// Estimates the objects of a log. `own` are the settings of its JVM, and `most_desired` is the
    /// largest size that any thread desired.
    pub fn new(cycles: &'a Cycles, own: &Candidate, most_desired: u64) -> Replay<'a> {
        let fraction = own.settings.refill_waste_fraction.max(1) as u64;
        let increment = (own.settings.waste_increment * size_of::<u64>()) as u64;
        let mut replay = Replay { cycles, most_desired, objects: None, reserve: 0, ends: HashMap::new() };
        let mut sums: BTreeMap<u64, Buffers> = BTreeMap::new();
        for share in cycles.shares.iter().filter(|share| share.refills > 0) {
            let size = rounded(u64::from(share.buffer));
            let one = sums.entry(size).or_insert(Buffers { size, count: 0, first: 0 });
            (one.count, one.first) = (one.count + u64::from(share.refills), one.first + 1);
        }
        // The reserve shows in what was dropped beyond what the objects left.
        for _ in 0..3 {
            let room = |size: u64, object: u64| size.saturating_sub(replay.reserve + object).max(8);
            let object = cycles.waiting.mean();
            let rooms: Vec<Buffers> =
                sums.values().map(|one| Buffers { size: room(one.size, object), ..*one }).collect();
            let Some(objects) = Objects::of(&cycles.waiting, &rooms, fraction, increment) else { break };
            replay.ends.clear();
            let (mut left, mut count) = (0.0, 0.0);
            for one in sums.values() {
                let end = objects.ends(room(one.size, object), one.size / fraction, increment);
                left += end.dropped * (one.count - one.first.min(one.count)) as f64;
                count += (one.count - one.first.min(one.count)) as f64;
                replay.ends.insert(one.size, end);
            }
            let dropped: f64 =
                cycles.shares.iter().map(|share| share.dropped as f64 * f64::from(share.refills)).sum();
            if count > 0.0 {
                replay.reserve = (((dropped - left) / count).max(0.0) as u64).min(MOST_RESERVED) / 8 * 8;
            }
            replay.objects = Some(objects);
        }
        replay
    }

    /// Bytes that a thread allocated in a cycle.
    fn demand(&self, share: &Share) -> u64 {
        let end = self.ends.get(&rounded(u64::from(share.buffer))).filter(|_| !share.is_all);
        let outside = end
            .map_or(0.0, |end| (end.outside_bytes + end.large_bytes) / (end.outside + end.large).max(1e-3));
        share.allocated.saturating_add((outside * f64::from(share.outside)) as u64)
    }
}

/// A size rounded down to an eighth of a power of two.
fn rounded(bytes: u64) -> u64 {
    let unit = 1 << bytes.max(8).ilog2().saturating_sub(3);
    bytes / unit * unit
}

impl Replay<'_> {
    /// Applies a sizing.
    pub fn run(&self, candidate: &Candidate) -> Replayed {
        let cycles = self.cycles;
        let capacity = cycles.ends.first().map_or(0, |end| usize_of(end.capacity));
        let mut settings = Settings { capacity, ..candidate.settings.clone() };
        if !candidate.has_region {
            settings.region_size = limit(cycles, self.most_desired);
        }
        // The smallest buffer has room for that many bytes of objects.
        settings.min_tlab_size = settings.min_tlab_size.saturating_add(usize_of(self.reserve));
        let config = Config::new(&settings);
        let budget = Budget::new(&config, capacity, IDLE_PERCENT);
        let singly = (MOST_REFILLS / (cycles.shares.len() as u64).max(1)).max(LEAST_REFILLS);
        let mut heap = ReplayedHeap {
            averages: Averages::new(&config),
            sizings: Vec::new(),
            config,
            budget,
            singly,
            objects: self.objects.as_ref(),
            reserve: self.reserve,
            increment: (settings.waste_increment * size_of::<u64>()) as u64,
            ends: HashMap::new(),
            outside: 0.0,
        };
        let mut done = Replayed::default();
        let (mut from, mut began) = (0, 0);
        for ends in cycles.ends.chunks(candidate.eden.max(1)) {
            let Some(end) = ends.last() else { break };
            let sum = |of: fn(&Collection) -> u64| ends.iter().map(of).fold(0, u64::saturating_add);
            let (used, eden) = (sum(|end| end.used), sum(|end| end.capacity));
            let shares = &cycles.shares[from..end.shares];
            heap.set_capacity(usize_of(eden));
            let before = done.clone();
            let demands: Vec<u64> = shares.iter().map(|share| self.demand(share)).collect();
            let (shares, demands) =
                if ends.len() > 1 { joined(shares, &demands) } else { (shares.to_vec(), demands) };
            let begins = demands.iter().max();
            for (share, demand) in shares.iter().zip(&demands) {
                let began_it = begins == Some(demand);
                heap.allocate(share, *demand, began_it, (began, end.ms), &mut done);
            }
            done.collect_sooner(
                &before,
                demands.iter().fold(0, |sum: u64, one| sum.saturating_add(*one)),
                eden,
            );
            let cycle = HeapCycle {
                used: usize_of(used),
                capacity: usize_of(eden),
                requested: usize_of(done.buffers.saturating_sub(before.buffers)),
                threads: threads(&shares),
            };
            heap.end_cycle(&cycle, &shares, &demands);
            (from, began) = (end.shares, end.ms);
        }
        done.slow_allocations = self.objects.is_some().then_some(heap.outside as u64);
        done
    }
}

/// One share for each thread, and the sum of what it demands.
fn joined(shares: &[Share], demands: &[u64]) -> (Vec<Share>, Vec<u64>) {
    let mut all: BTreeMap<u32, (Share, u64)> = BTreeMap::new();
    for (share, demand) in shares.iter().zip(demands) {
        let sum = &mut all.entry(share.thread).or_insert((*share, 0)).1;
        *sum = sum.saturating_add(*demand);
    }
    all.into_values().unzip()
}

/// The number of threads. A thread has several shares where a collection takes its buffers away
/// several times.
fn threads(shares: &[Share]) -> usize {
    shares.iter().map(|share| share.thread).collect::<HashSet<_>>().len()
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

struct ReplayedHeap<'a> {
    config: Config,
    averages: Averages,
    budget: Budget,
    /// The sizing of each thread; `None` before the thread allocates.
    sizings: Vec<Option<Sizing>>,
    /// The number of simulated refills of a thread in a cycle. The rest is assumed to be equal.
    singly: u64,
    objects: Option<&'a Objects>,
    reserve: u64,
    /// Bytes that a kept buffer adds to the waste that is tolerated.
    increment: u64,
    /// The ends of buffers by size and limit.
    ends: HashMap<(u64, u64), End>,
    /// Objects allocated outside.
    outside: f64,
}

impl ReplayedHeap<'_> {
    fn allocate(
        &mut self,
        share: &Share,
        demand: u64,
        began_it: bool,
        (began, ends): (u64, u64),
        done: &mut Replayed,
    ) {
        let index = share.thread as usize;
        if self.sizings.len() <= index {
            self.sizings.resize(index + 1, None);
        }
        let object = self.objects.map_or(OBJECT, |objects| usize_of(objects.waiting));
        // Taken out of its place while it runs, since a census walks over all sizings.
        let mut sizing =
            self.sizings[index].take().unwrap_or_else(|| Sizing::start(&self.config, &self.averages));
        let reserve = if self.objects.is_some() { self.reserve } else { 0 };
        let (mut used, mut refills) = (0_u64, 0_u64);
        while used < demand {
            let ReplayedHeap { config, budget, sizings, singly, .. } = self;
            let passed = used as f64 / demand as f64;
            let now = began + ((ends - began) as f64 * passed) as u64;
            if budget.settle(config, &mut sizing, now) == Settlement::RunCensus {
                budget.census(sizings.iter().flatten().chain([&sizing]).map(CensusEntry::from), now);
            }
            let Some(request) = sizing.request(config, object, usize::MAX, now) else { break };
            sizing.granted(config, request.size, now);
            let size = request.size as u64;
            // After that many refills all others are equal.
            let is_last = refills >= *singly;
            let end = self.end(share, size, object as u64, sizing.refill_waste_limit as u64);
            let dropped = (end.dropped as u64 + reserve).min(size - 1);
            // Bytes in the buffer, and outside until the buffer is dropped.
            let holds = size - dropped;
            let covers = holds.saturating_add((end.outside_bytes + end.large_bytes) as u64);
            let left = demand - used;
            let times = if is_last { left.div_ceil(covers) } else { 1 };
            refills = refills.saturating_add(times);
            used = used.saturating_add(covers.saturating_mul(times));
            done.buffers = done.buffers.saturating_add(size.saturating_mul(times));
            done.slow_waste = done.slow_waste.saturating_add(dropped.saturating_mul(times));
            self.outside += (end.outside + end.large) * times as f64;
            if used >= demand {
                // The last buffer is not dropped but taken away, or ends where the eden ends.
                let unused = (used - demand) as f64 / covers as f64;
                let left = ((holds as f64 * unused) as u64).saturating_add(dropped);
                done.slow_waste -= dropped;
                // Large objects come at any time, others at the end of a buffer.
                self.outside -= end.large * unused + if used > demand { end.outside } else { 0.0 };
                if began_it {
                    done.buffers = done.buffers.saturating_sub(left);
                } else {
                    done.gc_waste = done.gc_waste.saturating_add(left);
                }
            }
            done.largest = done.largest.max(size);
        }
        done.refills = done.refills.saturating_add(refills);
        self.sizings[index] = Some(sizing);
    }

    /// The end of a buffer of `size` bytes, the object that waited for it included.
    fn end(&mut self, share: &Share, size: u64, object: u64, limit: u64) -> End {
        let Some(objects) = self.objects else {
            let dropped = share.dropped.min(limit).min(size - OBJECT as u64) as f64;
            return End { dropped, ..End::default() };
        };
        let room = rounded(size.saturating_sub(object + self.reserve).max(8));
        let limit = rounded(limit);
        let increment = self.increment;
        *self.ends.entry((room, limit)).or_insert_with(|| objects.ends(room, limit, increment))
    }

    /// Sets the bytes that threads allocate from, from here on.
    fn set_capacity(&mut self, capacity: usize) {
        self.budget.set_capacity(capacity);
        let share = self.budget.share();
        for sizing in self.sizings.iter_mut().flatten() {
            self.budget.trim(&self.config, sizing, share);
        }
    }

    fn end_cycle(&mut self, cycle: &HeapCycle, shares: &[Share], demands: &[u64]) {
        let mut allocated = vec![0_usize; self.sizings.len()];
        for (share, demand) in shares.iter().zip(demands) {
            let sum = &mut allocated[share.thread as usize];
            *sum = sum.saturating_add(usize_of(*demand));
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
