//! A space that collections copy to: the regions of survivors, or the old ones.
//!
//! Workers take pieces of their core's region by compare-and-swap on its top, as mutators do; only who finds it full takes
//! a lock to put another in its place. Old regions that were not filled are remembered, and are filled first. Refused: one region for
//! all workers. What one of them takes a region for, because its core wrote it last, half of which the others would write, and the next
//! collection, which gives each core what it wrote, would know of half.

use super::set::{CollectionSet, Role};
use super::tables::OldTables;
use crate::region::{Attempts, Backing, CARD_BYTES, FreeSet, State};
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};
use crossbeam_utils::CachePadded;

/// An old region with less room than this is full.
const MIN_ROOM: usize = CARD_BYTES * if cfg!(test) { 1 } else { 8 };

/// With fewer free regions for each core all share what they fill: of many of those that end half empty nothing is left for eden. In a heap
/// of 1.15 times what lives a program did a tenth less with regions of their own.
const PLENTY: usize = if cfg!(test) { 2 } else { 32 };

/// Bytes above the top of a region.
fn room<B: Backing>(free: &FreeSet<B>, index: usize) -> usize {
    free.table().end(index) - free.table().get(index).top()
}

/// Where objects are copied to.
pub(crate) struct Space {
    kind: Kind,
    /// For each core the region that is filled from it, plus one; 0: none. Written under the lock, Release.
    current: Box<[CachePadded<AtomicUsize>]>,
    /// Bytes carved since the collection began. Relaxed: a bound that several may pass at once.
    carved: CachePadded<AtomicUsize>,
    /// Other regions with room.
    partial: Mutex<Vec<usize>>,
}

/// Which objects a space takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Young ones.
    Survivors,
    /// Old ones. Pieces are whole cards, so that each card's objects have one worker.
    Old,
}

impl Space {
    /// For a heap of so many cores (at least 1).
    pub(crate) fn new(kind: Kind, homes: usize) -> Space {
        Space {
            kind,
            current: (0..homes).map(|_| CachePadded::default()).collect(),
            carved: CachePadded::default(),
            partial: Mutex::new(Vec::new()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<usize>> {
        self.partial.lock().expect("a collection that panics ends the process")
    }

    /// A collection begins: survivors of the last one are not added to, and whoever wants an old region that is not full finds it.
    pub(crate) fn begin<B: Backing>(&self, free: &FreeSet<B>) {
        self.carved.store(0, Ordering::Relaxed);
        for current in &self.current {
            if let Some(index) = current.swap(0, Ordering::Relaxed).checked_sub(1)
                && self.kind == Kind::Old
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

    /// Lets the space use what is left of a region whose objects belong to it, and which it does not have.
    pub(crate) fn offer<B: Backing>(&self, free: &FreeSet<B>, index: usize) {
        if room(free, index) >= MIN_ROOM {
            self.lock().push(index);
        }
    }

    /// The same for a region that it took itself: it may be the one being filled, or it may have been found to have room.
    pub(super) fn offer_again<B: Backing>(&self, free: &FreeSet<B>, index: usize) {
        // Under the lock: who puts another region in its place then sees the room, or has done so.
        let mut partial = self.lock();
        if self.filled().all(|filled| filled != index)
            && !partial.contains(&index)
            && room(free, index) >= MIN_ROOM
        {
            partial.push(index);
        }
    }

    /// Those that are being filled.
    fn filled(&self) -> impl Iterator<Item = usize> + '_ {
        self.current.iter().filter_map(|current| current.load(Ordering::Acquire).checked_sub(1))
    }

    /// Each region of the space with room for more is one being filled, or is remembered once.
    #[cfg(test)]
    pub(super) fn verify<B: Backing>(&self, free: &FreeSet<B>, regions: &[usize]) {
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

    /// Bytes carved since the collection began.
    pub(crate) fn carved(&self) -> usize {
        self.carved.load(Ordering::Relaxed)
    }

    /// `bytes` rounded up to what pieces of this space are multiples of.
    pub(crate) fn round(&self, bytes: usize) -> usize {
        match self.kind {
            Kind::Survivors => bytes,
            Kind::Old => bytes.next_multiple_of(CARD_BYTES),
        }
    }

    /// Takes `desired` bytes, or what is left of a region if that is at least `min`; both rounded. At most
    /// `limit` bytes in a collection, give or take a piece of each worker.
    pub(crate) fn carve<B: Backing>(
        &self,
        free: &FreeSet<B>,
        set: &CollectionSet,
        old: &OldTables<'_>,
        home: usize,
        (min, desired): (usize, usize),
        limit: usize,
    ) -> Option<(usize, usize)> {
        if self.carved() >= limit {
            return None;
        }
        let carve = |index| {
            let piece = free.carve(index, min, desired, &mut Attempts::default())?;
            self.carved.fetch_add(piece.end - piece.start, Ordering::Relaxed);
            Some((piece.start, piece.end))
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
            let next = match Space::suitable(free, &partial, home, min) {
                Some(place) => partial.swap_remove(place),
                None => {
                    // Under the lock: so nobody puts one that has room out of sight.
                    let shared = || self.filled().find_map(carve);
                    let is_plenty = free.free_regions() >= PLENTY * self.current.len();
                    if !is_plenty && let Some(piece) = shared() {
                        return Some(piece);
                    }
                    match self.take(free, set, old, home) {
                        Some(next) => next,
                        None => return shared(),
                    }
                }
            };
            if let Some(last) = current.checked_sub(1).filter(|&last| room(free, last) >= MIN_ROOM)
                && self.kind == Kind::Old
            {
                partial.push(last);
            }
            slot.store(next + 1, Ordering::Release);
        }
    }

    /// The place of a region with so much room, of the core's own if there is one.
    fn suitable<B: Backing>(free: &FreeSet<B>, partial: &[usize], home: usize, min: usize) -> Option<usize> {
        let has_room = |&index: &usize| room(free, index) >= min;
        let is_own = |&index: &usize| free.table().get(index).home() == home;
        let own = partial.iter().position(|index| is_own(index) && has_room(index));
        own.or_else(|| partial.iter().position(has_room))
    }

    fn take<B: Backing>(
        &self,
        free: &FreeSet<B>,
        set: &CollectionSet,
        old: &OldTables<'_>,
        home: usize,
    ) -> Option<usize> {
        let index = free.take_region(home)?;
        match self.kind {
            Kind::Survivors => {
                set.set(index, Role::SURVIVORS);
                free.table().get(index).set_state(State::Survivor);
            }
            Kind::Old => {
                old.clear(free.table().bottom(index), free.table().end(index));
                free.table().get(index).set_state(State::Old);
            }
        }
        Some(index)
    }
}
