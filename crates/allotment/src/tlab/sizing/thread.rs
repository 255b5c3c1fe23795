//! One thread's sizing: the size of its next request, and when it gives a buffer up.
//!
//! The order on the slow path is HotSpot's (`memAllocator.cpp`) if a buffer is not lengthened in
//! place. First the thread [keeps](Sizing::keep) or drops the buffer. If it drops the buffer, it
//! [requests](Sizing::request) a new one. Then it calls [`granted`](Sizing::granted) or
//! [`refused`](Sizing::refused).

use super::{Average, Averages, Config, adaptive, align_down, epsilon, hotspot};
use crate::object::WORD;
use crate::options::TlabPolicy;

/// A buffer to ask for: any size from `min` to `size` bytes serves, and larger is better. Both are
/// multiples of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The smallest buffer that serves, in bytes: it holds the pending object.
    pub min: usize,
    /// The buffer wanted, in bytes, the pending object included.
    pub size: usize,
}

/// The numbers of a thread and its heap for a cycle that ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycle {
    /// Bytes that all threads had taken of `capacity` when the cycle ended.
    pub used: usize,
    /// Bytes that could be allocated between two cycles.
    pub capacity: usize,
    /// Bytes that this thread allocated in the cycle, in buffers and outside.
    pub allocated: usize,
}

/// A thread's sizing state. Its thread owns and changes it, or the collector does so while the
/// thread is stopped.
///
/// ```text
/// min_tlab_size <= desired_size <= max_tlab_size, a multiple of 8
/// adaptive:  floor <= desired_size
/// initial_refill_waste_limit == desired_size / refill_waste_fraction
/// ```
///
/// A thread's life, alone in its heap:
///
/// ```
/// use allotment::internals::tlab::{Averages, Config, Settings, Sizing};
///
/// let config = Config::new(&Settings::default());
/// let mut sizing = Sizing::start(&config, &Averages::new(&config));
/// // A buffer with 24 bytes left and an object of 48: 24 bytes are cheap enough to drop.
/// assert!(!sizing.keep(&config, 24));
/// let request = sizing.request(&config, 48, usize::MAX, 0).expect("48 bytes fit in a buffer");
/// assert_eq!((request.min, request.size), (2 << 10, (16 << 10) + 48));
/// sizing.granted(&config, request.size, 0);
/// assert_eq!(sizing.refills, 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sizing {
    /// Bytes to ask for at the next refill, before the pending object is added.
    pub desired_size: usize,
    /// Keep the buffer if more bytes than this are free.
    pub refill_waste_limit: usize,
    /// The limit after a refill. Kept so that a refill need not divide.
    initial_refill_waste_limit: usize,
    /// Refills since the last cycle.
    pub refills: usize,
    /// Objects sent outside while their buffer was kept, since the last cycle.
    pub(in crate::tlab) slow_allocations: usize,
    /// `epsilon`: bytes the thread has grown to.
    pub(super) ergo: usize,
    /// `adaptive`: bytes of buffers taken since the thread started, idled, or lost its buffer for
    /// another reason than a refill. When the thread refills, all of them are used up.
    taken: usize,
    /// Time of the last refill; 0 before the first, when no policy reads it.
    pub(crate) last_refill_ms: u64,
    /// HotSpot's policies: share of the capacity this thread is expected to allocate in a cycle.
    pub(super) allocation_fraction: Average,
    /// `adaptive`: whether the budget counts this thread among those that want more than the floor.
    /// Only [`Budget`](crate::tlab::budget::Budget) writes it.
    pub(crate) grower: bool,
}

impl Sizing {
    /// The state of a thread that has allocated nothing.
    #[must_use]
    pub fn start(config: &Config, averages: &Averages) -> Self {
        let (desired_size, allocation_fraction) = if config.policy == TlabPolicy::Adaptive {
            (config.floor(), Average::new(config.allocation_weight))
        } else {
            let size = hotspot::initial_size(config, averages);
            (size, hotspot::initial_fraction(config, averages, size))
        };
        let limit = desired_size / config.refill_waste_fraction;
        Self {
            desired_size,
            refill_waste_limit: limit,
            initial_refill_waste_limit: limit,
            refills: 0,
            slow_allocations: 0,
            ergo: 0,
            taken: 0,
            last_refill_ms: 0,
            allocation_fraction,
            grower: false,
        }
    }

    /// Whether a buffer with `free` bytes left is kept for smaller objects, so that the pending
    /// object goes outside.
    ///
    /// The buffer is kept if more than the refill waste limit is free. The limit rises each time.
    /// So a thread that allocates only objects which do not fit cannot stay outside without end.
    #[inline]
    pub fn keep(&mut self, config: &Config, free: usize) -> bool {
        let keep = free > self.refill_waste_limit;
        if keep {
            self.refill_waste_limit = self.refill_waste_limit.saturating_add(config.waste_increment);
            self.slow_allocations += 1;
        }
        keep
    }

    /// The buffer to ask for, for a pending object of `object` bytes; `None` if the object belongs
    /// outside.
    ///
    /// `available` is a hint of how many bytes the heap could give at once, and `now_ms` any clock
    /// that does not run backwards. With `adaptive`, call
    /// [`Budget::settle`](crate::tlab::budget::Budget::settle) first: it decides on growth and
    /// decay, and this function only applies them.
    ///
    /// The size is min(`available`, base + `object`, largest buffer). The base is the thread's
    /// size, or the size that a thread with many refills has grown to (`hotspot-8381834`,
    /// `epsilon`). `None` if the size is less than `object` or than the smallest buffer.
    #[inline]
    pub fn request(
        &mut self,
        config: &Config,
        object: usize,
        available: usize,
        now_ms: u64,
    ) -> Option<Request> {
        let object = object.checked_next_multiple_of(WORD)?;
        let min = object.max(config.min_tlab_size);
        if min > config.max_tlab_size {
            return None;
        }
        let base = hotspot::boosted(config, self.desired_size, self.refills);
        let mut size = base.saturating_add(object).min(config.max_tlab_size);
        if config.policy == TlabPolicy::Epsilon && config.resize {
            self.ergo = epsilon::decayed(config, self.ergo, self.elapsed_ms(now_ms));
            size = epsilon::elastic_size(config, self.ergo, size, min);
        }
        let size = size.min(align_down(available));
        (size >= min).then_some(Request { min, size })
    }

    /// Notes that the thread was given a buffer of `actual` bytes.
    #[inline]
    pub fn granted(&mut self, config: &Config, actual: usize, now_ms: u64) {
        if self.elapsed_ms(now_ms) > config.decay_ms {
            self.taken = 0;
        }
        self.taken = self.taken.saturating_add(actual);
        self.ergo = self.ergo.max(actual);
        self.refills += 1;
        self.refill_waste_limit = self.initial_refill_waste_limit;
        self.last_refill_ms = now_ms;
    }

    /// Notes that the thread was given a buffer of `actual` bytes that no policy chose: the rest of
    /// a region that the thread fills alone.
    #[inline]
    pub fn granted_of_own(&mut self, config: &Config, actual: usize) {
        self.refills += 1;
        self.refill_waste_limit = actual / config.refill_waste_fraction;
    }

    /// Notes that the thread was given no buffer. `epsilon` starts over with the smallest, so that
    /// the heap can be filled completely.
    #[inline]
    pub fn refused(&mut self) {
        self.ergo = 0;
    }

    /// Notes that the thread lost its buffer before using it up, other than by a cycle's end. The
    /// lifetime of that buffer then says nothing.
    #[inline]
    pub fn retired(&mut self) {
        self.taken = 0;
    }

    /// Adds a cycle that ended, after [`Averages::end_cycle`], and starts counting again.
    ///
    /// With `adaptive`, call [`Budget::end_cycle`](crate::tlab::budget::Budget::end_cycle), which
    /// calls this.
    pub fn end_cycle(&mut self, config: &Config, averages: &Averages, cycle: &Cycle) {
        match config.policy {
            TlabPolicy::Adaptive => {
                self.set_desired_size(
                    config,
                    adaptive::cycle_size(config, self.desired_size, cycle.allocated),
                );
            }
            // The thread's size is the target of elastic growth, and stays.
            TlabPolicy::Epsilon => {}
            _ => {
                if let Some(fraction) = hotspot::cycle_fraction(config, cycle, self.refills) {
                    self.allocation_fraction.sample(fraction);
                }
                if config.resize {
                    let average = &self.allocation_fraction;
                    let size = hotspot::cycle_size(config, averages, average, cycle.capacity);
                    self.set_desired_size(config, size);
                    self.refill_waste_limit = self.initial_refill_waste_limit;
                }
            }
        }
        self.refills = 0;
        self.slow_allocations = 0;
        self.taken = 0;
    }

    /// Whether the end of a cycle in which the thread allocates nothing changes nothing.
    pub(crate) fn rests(&self, config: &Config) -> bool {
        let counts = self.refills == 0 && self.slow_allocations == 0 && self.taken == 0;
        counts && config.policy == TlabPolicy::Adaptive && self.desired_size == config.floor() && !self.grower
    }

    /// `adaptive`: the size the thread would choose next if it were alone, in bytes.
    #[inline]
    pub(in crate::tlab) fn wish(&self, config: &Config, now_ms: u64) -> usize {
        adaptive::wish(config, self.desired_size, self.taken, self.elapsed_ms(now_ms))
    }

    /// Changes the size.
    pub(in crate::tlab) fn set_desired_size(&mut self, config: &Config, size: usize) {
        self.desired_size = size;
        self.initial_refill_waste_limit = size / config.refill_waste_fraction;
    }

    const fn elapsed_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.last_refill_ms)
    }
}
