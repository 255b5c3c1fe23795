//! A space that collections copy to: the regions of survivors, or the old ones.
//!
//! Workers take pieces of their core's region by compare-and-swap on its top, as mutators do. Only
//! a worker that finds the region full takes a lock to replace it. Old regions with room left are
//! remembered and filled first. Refused: one region for all workers. A worker takes a region
//! because its core wrote that region last. The others would write half of it. The next collection
//! gives each core the regions that it wrote, and would know of only half.

use super::{Evacuation, Role};
use crate::region::{Attempts, CARD_BYTES, FreeSet, State};
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};
use crossbeam_utils::CachePadded;
use std::ops::Range;

/// An old region with less room than this is full.
const MIN_ROOM: usize = CARD_BYTES * if cfg!(test) { 1 } else { 8 };

/// With fewer free regions for each core, all cores share the regions being filled: many half-empty
/// regions would leave nothing for eden. In a heap of 1.15 times the live bytes, a program did a
/// tenth less work with regions per core.
const PLENTY: usize = if cfg!(test) { 2 } else { 32 };

/// Bytes above the top of a region.
fn room(free: &FreeSet, index: usize) -> usize {
    free.table().end(index) - free.table().get(index).top()
}

/// A target of copies.
pub(crate) struct ToSpace {
    kind: SpaceKind,
    /// For each core the region that is filled from it, plus one; 0 if there is none. Written under
    /// the lock, Release.
    current: Box<[CachePadded<AtomicUsize>]>,
    /// Bytes carved since the collection began. Relaxed: a bound that several workers may pass at
    /// once.
    carved: CachePadded<AtomicUsize>,
    /// Other regions with room.
    partial: Mutex<Vec<usize>>,
}

/// The objects that a space takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpaceKind {
    /// Young objects.
    Survivors,
    /// Old objects. Pieces are whole cards, so that each card's objects have one worker.
    Old,
}

impl ToSpace {
    /// A space for a heap of `homes` cores (at least 1).
    pub(crate) fn new(kind: SpaceKind, homes: usize) -> ToSpace {
        ToSpace {
            kind,
            current: (0..homes).map(|_| CachePadded::default()).collect(),
            carved: CachePadded::default(),
            partial: Mutex::new(Vec::new()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<usize>> {
        self.partial.lock().expect("a collection that panics ends the process")
    }

    /// Begins a collection: survivors of the last one get no further objects, and old regions with
    /// room are offered.
    pub(crate) fn begin(&self, free: &FreeSet) {
        self.carved.store(0, Ordering::Relaxed);
        for current in &self.current {
            if let Some(index) = current.swap(0, Ordering::Relaxed).checked_sub(1)
                && self.kind == SpaceKind::Old
            {
                self.offer(free, index);
            }
        }
    }

    /// Forgets all regions; those with room are [offered](Self::offer) again.
    pub(crate) fn forget(&self) {
        self.current.iter().for_each(|current| current.store(0, Ordering::Relaxed));
        self.lock().clear();
    }

    /// Lets the space use the rest of a region that it does not have, but whose objects belong to
    /// it.
    pub(crate) fn offer(&self, free: &FreeSet, index: usize) {
        if room(free, index) >= MIN_ROOM {
            self.lock().push(index);
        }
    }

    /// Lets the space use the rest of a region that it took itself. The region may be the one being
    /// filled, or may already be remembered for its room.
    pub(super) fn offer_again(&self, free: &FreeSet, index: usize) {
        // Under the lock: a worker that replaces the region then sees the room, or has replaced it
        // already.
        let mut partial = self.lock();
        if self.filled().all(|filled| filled != index)
            && !partial.contains(&index)
            && room(free, index) >= MIN_ROOM
        {
            partial.push(index);
        }
    }

    /// The regions that are being filled.
    fn filled(&self) -> impl Iterator<Item = usize> + '_ {
        self.current.iter().filter_map(|current| current.load(Ordering::Acquire).checked_sub(1))
    }

    /// Checks that each region of the space with enough room is being filled, or is remembered
    /// once.
    #[cfg(test)]
    pub(super) fn verify(&self, free: &FreeSet, regions: &[usize]) {
        let partial = self.lock();
        for &index in regions {
            let times = partial.iter().copied().chain(self.filled()).filter(|&other| other == index).count();
            let room = room(free, index);
            assert!(
                times <= 1 && (times == 1 || room < MIN_ROOM),
                "region {index}: {room} bytes, {times} times"
            );
        }
    }

    /// `bytes` rounded up to a multiple of this space's unit for pieces.
    pub(crate) fn round(&self, bytes: usize) -> usize {
        match self.kind {
            SpaceKind::Survivors => bytes,
            SpaceKind::Old => bytes.next_multiple_of(CARD_BYTES),
        }
    }

    /// Takes `desired` bytes, or the rest of a region if that is at least `min`; both are
    /// [rounded](Self::round). In one collection the survivors get at most the bytes of their
    /// limit, give or take a piece of each worker.
    pub(super) fn carve(
        &self,
        heap: &Evacuation<'_>,
        home: usize,
        min: usize,
        desired: usize,
    ) -> Option<Range<usize>> {
        let limit = heap.limits.survivor_bytes;
        if self.kind == SpaceKind::Survivors && self.carved.load(Ordering::Relaxed) >= limit {
            return None;
        }
        let free = &heap.space.free;
        let (min, desired) = (self.round(min), self.round(desired));
        let carve = |index| {
            let piece = free.carve(index, min, desired, &mut Attempts::default())?;
            self.carved.fetch_add(piece.end - piece.start, Ordering::Relaxed);
            Some(piece.start..piece.end)
        };
        let slot = &self.current[home];
        loop {
            let current = slot.load(Ordering::Acquire);
            if let Some(piece) = current.checked_sub(1).and_then(carve) {
                return Some(piece);
            }
            let mut partial = self.lock();
            if slot.load(Ordering::Relaxed) != current {
                continue;
            }
            let next = match ToSpace::suitable(free, &partial, home, min) {
                Some(place) => partial.swap_remove(place),
                None => {
                    // Under the lock: so no worker replaces a region that still has room.
                    let shared = || self.filled().find_map(carve);
                    let is_plenty = free.free_regions() >= PLENTY * self.current.len();
                    if !is_plenty && let Some(piece) = shared() {
                        return Some(piece);
                    }
                    match self.take(heap, home) {
                        Some(next) => next,
                        None => return shared(),
                    }
                }
            };
            if let Some(last) = current.checked_sub(1).filter(|&last| room(free, last) >= MIN_ROOM)
                && self.kind == SpaceKind::Old
            {
                partial.push(last);
            }
            slot.store(next + 1, Ordering::Release);
        }
    }

    /// The place of a region with at least `min` bytes of room, of the core's own if there is one.
    fn suitable(free: &FreeSet, partial: &[usize], home: usize, min: usize) -> Option<usize> {
        let has_room = |&index: &usize| room(free, index) >= min;
        let is_own = |&index: &usize| free.table().get(index).home() == home;
        let own = partial.iter().position(|index| is_own(index) && has_room(index));
        own.or_else(|| partial.iter().position(has_room))
    }

    /// Takes a free region for the space.
    fn take(&self, heap: &Evacuation<'_>, home: usize) -> Option<usize> {
        let (free, table) = (&heap.space.free, heap.space.free.table());
        let index = free.take_region(home)?;
        let state = match self.kind {
            SpaceKind::Survivors => {
                heap.set.set(index, Role::SURVIVORS);
                State::Survivor
            }
            SpaceKind::Old => {
                heap.tables.clear(table.bottom(index), table.end(index));
                State::Old
            }
        };
        table.get(index).set_state(state);
        Some(index)
    }
}
