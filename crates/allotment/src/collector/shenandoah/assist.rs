//! Mutators help a cycle that would come too late.
//!
//! Few workers cannot keep up with hundreds of threads that allocate. To make those sleep until
//! there is memory makes the latest of them wait for all. So a thread that takes a buffer while a
//! cycle is behind does a slice of the cycle's work first, as in Go (Clements and Hudson, 2015),
//! and then has its buffer. A slice ends after [`SLICE`], or when a stop is requested. It waits for
//! nothing and reaches no safepoint.
//!
//! Refused: pacing, that is sleep (HotSpot had it up to JDK 25). A sleeping thread brings no cycle
//! to its end.

use super::Shenandoah;
use super::engine::Engine;
use crate::collector::concurrent::{Buffers, Few, Found, Marker, Updater};
use crate::mutator::{Hot, Mutator, Shared};
use crate::sync::{AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering};
use crate::timeline::{Arguments, Category};
use std::time::{Duration, Instant};

/// The time after which a slice ends.
const SLICE: Duration = Duration::from_micros(50);

/// The end of a slice. Under test a slice ends after a count instead of a time: slices end at every
/// place, and a seed does the same in each run.
struct Slice {
    begun: Instant,
    /// Under test: questions until the end.
    left: u64,
}

impl Slice {
    /// Begins a slice, of which `before` were begun before.
    fn begin(before: u64) -> Slice {
        // Up to 4,095, and short ones as often as long ones.
        let random = before.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        Slice { begun: Instant::now(), left: 1 + ((random >> 8 & 0xFFF) >> (random % 12)) }
    }

    fn is_over(&mut self) -> bool {
        if cfg!(test) {
            self.left = self.left.saturating_sub(1);
            self.left == 0
        } else {
            self.begun.elapsed() >= SLICE
        }
    }
}

/// A cycle is behind when less than one part in this many is left of what was free at its
/// beginning.
const BEHIND: usize = 3;

const POISONED: &str = "nothing panics while it is locked";

/// Regions or pieces of them that are to be done, by workers and by mutators that help.
#[derive(Default)]
pub(super) struct Todo {
    inner: Mutex<Regions>,
}

#[derive(Default)]
struct Regions {
    /// Regions, and where to go on in each, or which piece of it.
    left: Vec<(usize, usize)>,
    /// Regions that threads are at work on.
    under_way: usize,
}

impl Todo {
    fn lock(&self) -> MutexGuard<'_, Regions> {
        self.inner.lock().expect(POISONED)
    }

    /// Sets what is to be done. In a stop.
    pub(super) fn fill(&self, left: Vec<(usize, usize)>) {
        *self.lock() = Regions { left, under_way: 0 };
    }

    /// A region to do, which is to be [ended](Self::end).
    pub(super) fn take(&self) -> Option<(usize, usize)> {
        let mut regions = self.lock();
        let next = regions.left.pop();
        regions.under_way += usize::from(next.is_some());
        next
    }

    /// Ends the work on a region, of which `rest` is left.
    pub(super) fn end(&self, rest: Option<(usize, usize)>) {
        let mut regions = self.lock();
        // There is room for it: it was there before.
        regions.left.extend(rest);
        regions.under_way -= 1;
    }

    /// Whether nothing is left; `None`: threads are at work on the last regions.
    pub(super) fn is_done(&self) -> Option<bool> {
        let regions = self.lock();
        match (regions.left.is_empty(), regions.under_way) {
            (true, 0) => Some(true),
            (true, _) => None,
            (false, _) => Some(false),
        }
    }

    pub(super) fn is_at_rest(&self) -> bool {
        self.inner.try_lock().is_ok()
    }
}

/// What mutators have done for the cycle that is under way.
#[derive(Default)]
pub(super) struct Assists {
    /// Free regions when the cycle began; 0: no cycle is under way. Written by the thread that
    /// begins or ends a cycle. Relaxed: a hint.
    free_at_begin: AtomicUsize,
    /// Slices, and their time in ns. Relaxed: counts.
    slices: AtomicU64,
    time_ns: AtomicU64,
    found: Mutex<Found>,
}

impl Assists {
    /// A cycle begins, with so many free regions.
    pub(super) fn begin(&self, free_regions: usize) {
        self.free_at_begin.store(free_regions.max(1), Ordering::Relaxed);
    }

    /// A cycle has ended.
    pub(super) fn end(&self) {
        self.free_at_begin.store(0, Ordering::Relaxed);
    }

    /// Whether a cycle is under way.
    pub(super) fn has_cycle(&self) -> bool {
        self.free_at_begin.load(Ordering::Relaxed) != 0
    }

    /// The slices since the last call, and their time.
    pub(super) fn take(&self) -> (u64, Duration) {
        let time = Duration::from_nanos(self.time_ns.swap(0, Ordering::Relaxed));
        (self.slices.swap(0, Ordering::Relaxed), time)
    }

    /// What they found since the last call.
    pub(super) fn take_found(&self) -> Found {
        std::mem::take(&mut *self.found.lock().expect(POISONED))
    }

    pub(super) fn is_at_rest(&self) -> bool {
        self.found.try_lock().is_ok()
    }
}

impl Shenandoah {
    /// Does a slice of the cycle's work, if the cycle is behind.
    pub(super) fn assist(&self, mutator: &Mutator<'_>) {
        let shared = mutator.shared();
        let assists = &self.engine.assists;
        let before = assists.free_at_begin.load(Ordering::Relaxed);
        let left = shared.space.free.regions_left();
        if !cfg!(test) && left * BEHIND >= before {
            return;
        }
        let mut slice = Slice::begin(assists.slices.fetch_add(1, Ordering::Relaxed));
        let begun = slice.begun;
        let mut halted = || mutator.is_stop_requested() || slice.is_over();
        if shared.threads.barriers() & Hot::FORWARDING != 0 {
            self.engine.assist_moving(shared, &mut halted);
        } else {
            self.engine.assist_marking(shared, &mut halted);
        }
        let time = begun.elapsed();
        assists.time_ns.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        if let Some(timeline) = &shared.watch.timeline {
            timeline.did(Category::Assist, "Assist", (begun, time), Arguments::default());
        }
    }
}

impl Engine {
    fn assist_marking(&self, shared: &Shared, halted: &mut dyn FnMut() -> bool) {
        let Some(entries) = Few::new() else { return };
        let mut marker = Marker::new(&shared.space, self.marking(shared, self.tables.scope()), entries);
        if !marker.drain_some(halted) {
            self.leftover.want();
        }
        self.assists.found.lock().expect(POISONED).add(marker.finish());
    }

    fn assist_moving(&self, shared: &Shared, halted: &mut dyn FnMut() -> bool) {
        let (home, evacuator) = (shared.space.home(), self.evacuator(shared));
        let (mut buffers, mut copied) = (Buffers::default(), 0);
        if self.copy_next(&evacuator, home, &mut buffers, halted, &mut copied) {
            evacuator.end_buffers(&mut buffers);
            self.copies.count(home, copied as usize);
        } else {
            self.update_next(&mut Updater::new(evacuator, halted, home));
        }
    }
}
