//! The bound on the bytes that the buffers of all threads hold above the floor (`adaptive` policy).
//!
//! A thread that grew and then idles holds a large buffer, which other threads cannot take from it
//! before a cycle's end. The budget bounds that cost. For all actions of threads, in any order,
//! this holds, apart from the pending objects of the buffers:
//!
//! ```text
//! granted == sum over threads of (size - floor) <= bound         granted is exact at every instant
//! bytes in buffers <= bound + threads * floor
//! ```
//!
//! A thread reserves growth before it allocates, and returns bytes after its buffer is gone. So
//! `granted` never lags behind the memory. The *growers*, threads that want more than the floor,
//! share the rest of the bound:
//!
//! ```text
//! share = (bound - held by idle growers) / active growers
//!         rounded down to a power of two, from the floor to the largest buffer
//! ```
//!
//! A thread whose size exceeds the share shrinks at its next refill. A census, a walk over all
//! threads, finds the idle growers. A thread that hits the bound runs it, at most once per decay
//! time. Its result is a hint: an outdated share is unfair for a while, but only `granted` enforces
//! the bound.
//!
//! Cost: a refill reads one line, written when a thread becomes a grower or ceases to be one.
//! Shared counters are written only when a thread's size changes. HotSpot has no bound and wastes
//! half a buffer per thread.
//!
//! Refused: a bound enforced by a periodic walk alone (threads can take the heap between two
//! walks); a counter of bytes in use (every refill would write it).

use crossbeam_utils::CachePadded;

use super::sizing::{Averages, Config, Cycle, Sizing};
use crate::options::TlabPolicy;
use crate::sync::{AtomicU64, AtomicUsize, Ordering};

#[cfg(test)]
mod tests;

/// The values that a census reads from each thread. They may be slightly old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CensusEntry {
    /// [`Sizing::desired_size`], in bytes.
    pub size: usize,
    /// Time of the last refill, in the caller's ms; 0 before the first.
    pub last_refill_ms: u64,
    /// Whether the budget counts this thread among those that want more than the floor.
    pub grower: bool,
}

impl From<&Sizing> for CensusEntry {
    fn from(sizing: &Sizing) -> Self {
        Self { size: sizing.desired_size, last_refill_ms: sizing.last_refill_ms, grower: sizing.grower }
    }
}

/// What the caller must do after [`Budget::settle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Settlement {
    /// Nothing.
    Done,
    /// The thread wants more than it may hold, and a check for idle threads is due: call
    /// [`Budget::census`].
    RunCensus,
}

/// The part that every refill reads. Written when the number of growers changes.
#[derive(Debug)]
struct Terms {
    /// The largest size that a thread may have now, in bytes. Written by a thread that changed one
    /// of its inputs.
    share: AtomicUsize,
    /// When the last census was claimed, in the callers' ms. Written by the thread that runs it.
    last_census_ms: AtomicU64,
}

/// The part that changes with a thread's size.
#[derive(Debug, Default)]
struct Ledger {
    /// Sum over threads of size - floor, in bytes. Written by a thread whose size changes.
    granted: AtomicUsize,
    /// Threads that want more than the floor. Written by a thread that starts or ceases to.
    growers: AtomicUsize,
    /// Growers that were idle at the last census. Written by a census.
    idle_growers: AtomicUsize,
    /// Sum over those growers of size - floor, in bytes. Written by a census.
    idle_held: AtomicUsize,
}

/// The budget of one heap.
#[derive(Debug)]
pub struct Budget {
    /// `TLABIdlePercent`, 0 to 100.
    idle_percent: f64,
    /// The most that may be granted, in bytes. Set while no thread refills, and raised at any time.
    bound: AtomicUsize,
    /// Bytes that every thread holds without asking.
    floor: usize,
    /// The largest buffer, in bytes.
    max: usize,
    /// A grower that has not refilled for longer than this is idle, in ms.
    decay_ms: u64,
    terms: CachePadded<Terms>,
    ledger: CachePadded<Ledger>,
}

impl Budget {
    /// A budget of `idle_percent` (`TLABIdlePercent`) of the `capacity` bytes that threads allocate
    /// from. A number that is not a percentage counts as the nearest percentage.
    #[must_use]
    pub fn new(config: &Config, capacity: usize, idle_percent: f64) -> Self {
        let bound = bound_of(capacity, idle_percent);
        let (floor, max) = (config.floor(), config.max_tlab_size);
        Self {
            idle_percent,
            bound: AtomicUsize::new(bound),
            floor,
            max,
            decay_ms: config.decay_ms,
            terms: CachePadded::new(Terms {
                share: AtomicUsize::new(fair_share(bound, 0, 1, floor, max)),
                last_census_ms: AtomicU64::new(0),
            }),
            ledger: CachePadded::default(),
        }
    }

    /// Settles the thread's size for the refill that it is about to make. Call it after the old
    /// buffer is gone and before [`Sizing::request`]. Does nothing under another policy than
    /// `adaptive`.
    #[inline]
    pub fn settle(&self, config: &Config, sizing: &mut Sizing, now_ms: u64) -> Settlement {
        if config.policy != TlabPolicy::Adaptive {
            return Settlement::Done;
        }
        let size = sizing.desired_size;
        let wish = sizing.wish(config, now_ms);
        if wish == size && size <= self.share() && sizing.grower == (wish > self.floor) {
            return Settlement::Done;
        }
        self.change(config, sizing, wish, now_ms)
    }

    /// [`settle`](Self::settle) for a thread whose size or state differs from its wish or exceeds
    /// its share.
    #[cold]
    fn change(&self, config: &Config, sizing: &mut Sizing, wish: usize, now_ms: u64) -> Settlement {
        self.set_grower(sizing, wish > self.floor);
        let size = sizing.desired_size;
        let to = wish.min(self.share());
        if to != size && self.resize(size, to) {
            sizing.set_desired_size(config, to);
        }
        if sizing.desired_size < wish && self.census_due(now_ms) {
            Settlement::RunCensus
        } else {
            Settlement::Done
        }
    }

    /// Applies a cycle's end to the thread ([`Sizing::end_cycle`], under every policy), and
    /// returns to the budget the bytes that it gives up.
    ///
    /// After the last thread, call [`forget_census`](Self::forget_census).
    pub fn end_cycle(&self, config: &Config, averages: &Averages, sizing: &mut Sizing, cycle: &Cycle) {
        let before = sizing.desired_size;
        sizing.end_cycle(config, averages, cycle);
        if config.policy == TlabPolicy::Adaptive {
            let after = sizing.desired_size;
            // A cycle's end never makes a thread grow, so nothing can be denied here.
            let shrunk = after <= before && self.resize(before, after);
            debug_assert!(shrunk, "a cycle's end grew a buffer from {before} to {after} bytes");
            self.set_grower(sizing, after > self.floor);
        }
    }

    /// Sets the capacity: from here on threads allocate from `capacity` bytes. Not to be called
    /// while a thread refills. If the capacity is less than before, the caller must
    /// [trim](Self::trim) each thread next.
    pub fn set_capacity(&self, capacity: usize) {
        self.bound.store(bound_of(capacity, self.idle_percent), Ordering::Relaxed);
        self.refresh_share();
    }

    /// Raises the capacity: from here on threads allocate from at least `capacity` bytes. May be
    /// called while threads refill.
    pub fn raise_capacity(&self, capacity: usize) {
        self.bound.fetch_max(bound_of(capacity, self.idle_percent), Ordering::Relaxed);
        self.refresh_share();
    }

    /// Takes the bytes above the share from a thread.
    pub fn trim(&self, config: &Config, sizing: &mut Sizing, share: usize) {
        if config.policy == TlabPolicy::Adaptive && sizing.desired_size > share {
            self.shrink(config, sizing, share);
        }
    }

    fn shrink(&self, config: &Config, sizing: &mut Sizing, to: usize) {
        let returned = self.resize(sizing.desired_size, to);
        debug_assert!(returned, "shrinking is never denied");
        sizing.set_desired_size(config, to);
        self.set_grower(sizing, to > self.floor);
    }

    /// Discards the result of the last census: after a cycle's end, threads that idled are growers
    /// no more.
    pub fn forget_census(&self) {
        self.census([], 0);
    }

    /// Returns all bytes that a thread holds, when it detaches. The thread is back at the floor.
    pub fn leave(&self, config: &Config, sizing: &mut Sizing) {
        if config.policy == TlabPolicy::Adaptive {
            self.shrink(config, sizing, self.floor);
        }
    }

    /// Claims the census: true for one caller per decay time, which then must run it.
    fn census_due(&self, now_ms: u64) -> bool {
        let last = &self.terms.last_census_ms;
        let before = last.load(Ordering::Relaxed);
        now_ms.saturating_sub(before) >= self.decay_ms
            && last.compare_exchange(before, now_ms, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Finds the idle growers, whose last refill is longer ago than the decay time. They keep what
    /// they hold, and the share divides the rest among the others.
    ///
    /// `threads`: every attached thread, at any instant of the walk.
    pub fn census(&self, threads: impl IntoIterator<Item = CensusEntry>, now_ms: u64) {
        let (mut growers, mut held) = (0_usize, 0_usize);
        for thread in threads {
            if thread.grower && now_ms.saturating_sub(thread.last_refill_ms) > self.decay_ms {
                growers += 1;
                held = held.saturating_add(thread.size.saturating_sub(self.floor));
            }
        }
        self.ledger.idle_growers.store(growers, Ordering::Relaxed);
        self.ledger.idle_held.store(held, Ordering::Relaxed);
        self.refresh_share();
    }

    /// The largest size a thread may have now, in bytes: from the floor to the largest buffer.
    #[inline]
    #[must_use]
    pub fn share(&self) -> usize {
        self.terms.share.load(Ordering::Relaxed)
    }

    /// Sum over threads of size - floor, in bytes.
    #[must_use]
    pub fn granted(&self) -> usize {
        self.ledger.granted.load(Ordering::Relaxed)
    }

    /// The most that [`granted`](Self::granted) can be, in bytes.
    #[must_use]
    pub fn bound(&self) -> usize {
        self.bound.load(Ordering::Relaxed)
    }

    /// Changes one thread's size in the ledger; false if the bound does not allow it. Shrinking
    /// always succeeds. So does keeping the same size, even where a smaller heap has lowered the
    /// bound below the granted bytes.
    ///
    /// Relaxed: `granted` is a number that orders no other memory, and the additions to one atomic
    /// have one order.
    fn resize(&self, from: usize, to: usize) -> bool {
        let granted = &self.ledger.granted;
        if to <= from {
            granted.fetch_sub(from - to, Ordering::Relaxed);
            return true;
        }
        let growth = to - from;
        let mut before = granted.load(Ordering::Relaxed);
        loop {
            let Some(after) = before.checked_add(growth).filter(|after| *after <= self.bound()) else {
                return false;
            };
            match granted.compare_exchange_weak(before, after, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => before = now,
            }
        }
    }

    /// Adds the thread to the growers, or removes it.
    fn set_grower(&self, sizing: &mut Sizing, grower: bool) {
        if sizing.grower == grower {
            return;
        }
        sizing.grower = grower;
        if grower {
            self.ledger.growers.fetch_add(1, Ordering::Relaxed);
        } else {
            self.ledger.growers.fetch_sub(1, Ordering::Relaxed);
        }
        self.refresh_share();
    }

    /// Publishes the share that the ledger implies.
    ///
    /// Two threads may run this at once, and the one that read the ledger first may publish last.
    /// So each thread reads again after publishing. `swap` puts all publications in one order. The
    /// later thread sees the earlier one's reads and writes (acquire and release). Hence the last
    /// thread to publish does not leave before the share fits the ledger.
    fn refresh_share(&self) {
        let mut share = self.implied_share();
        loop {
            self.terms.share.swap(share, Ordering::AcqRel);
            let again = self.implied_share();
            if again == share {
                return;
            }
            share = again;
        }
    }

    /// The share that the ledger implies.
    fn implied_share(&self) -> usize {
        let read = |number: &AtomicUsize| number.load(Ordering::Relaxed);
        let Ledger { growers, idle_growers, idle_held, .. } = &*self.ledger;
        let active = read(growers).saturating_sub(read(idle_growers));
        fair_share(self.bound(), read(idle_held), active, self.floor, self.max)
    }

    /// Checks the invariants while no thread changes its size. `threads` are all attached threads,
    /// under the `adaptive` policy.
    ///
    /// # Errors
    /// The first invariant that does not hold, with both sides.
    pub fn verify(&self, threads: impl IntoIterator<Item = CensusEntry>) -> Result<(), String> {
        let fault = |what, found: usize, expected| {
            Err(format!("TLAB budget: {what} is {found}, and must be {expected}"))
        };
        let (mut held, mut growers) = (0_usize, 0_usize);
        for thread in threads {
            held += thread.size.saturating_sub(self.floor);
            growers += usize::from(thread.grower);
            if thread.size < self.floor || thread.size > self.max {
                let expected = format!("from {} to {}", self.floor, self.max);
                return fault("a thread's size", thread.size, expected);
            }
        }
        let equal = |what, found: usize, expected: usize| match found == expected {
            true => Ok(()),
            false => fault(what, found, expected.to_string()),
        };
        equal("granted", self.granted(), held)?;
        equal("growers", self.ledger.growers.load(Ordering::Relaxed), growers)?;
        equal("share", self.share(), self.implied_share())?;
        if self.granted() > self.bound() {
            return fault("granted", self.granted(), format!("at most {}", self.bound()));
        }
        Ok(())
    }
}

fn bound_of(capacity: usize, idle_percent: f64) -> usize {
    // The cast saturates at the nearest integer value, and NaN becomes 0.
    (capacity as f64 * (idle_percent.clamp(0.0, 100.0) / 100.0)) as usize
}

/// The size that each of `active` growers may have, in bytes, when idle ones hold `idle_held` of
/// `bound` bytes above the floor: (`bound` - `idle_held`) / `active`, rounded down to a power of
/// two, from `floor` to `max`.
///
/// Zero active growers count as one: the share is the size that the next grower may have. With n
/// growers all at the share, n * (share - floor) <= bound - idle held.
#[must_use]
pub(crate) fn fair_share(bound: usize, idle_held: usize, active: usize, floor: usize, max: usize) -> usize {
    let share = bound.saturating_sub(idle_held) / active.max(1);
    // `max` need not be a power of two. A thread whose share reaches it may have all of it.
    let share = if share >= max { max } else { share.checked_ilog2().map_or(0, |log| 1 << log) };
    share.max(floor)
}
