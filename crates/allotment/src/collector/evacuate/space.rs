//! A space that collections copy to: the regions of survivors, or the old ones.
//!
//! Workers take pieces of one region by compare-and-swap on its top, as mutators do; only who finds it full takes
//! a lock to put another in its place. Old regions that were not filled are remembered, and are filled first.

use super::set::{CollectionSet, Role};
use super::tables::OldTables;
use crate::region::{Attempts, Backing, CARD_BYTES, FreeSet, State};
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};

/// An old region with less room than this is full.
const MIN_ROOM: usize = CARD_BYTES * if cfg!(test) { 1 } else { 8 };

/// Bytes above the top of a region.
fn room<B: Backing>(free: &FreeSet<B>, index: usize) -> usize {
    free.table().end(index) - free.table().get(index).top()
}

/// Where objects are copied to.
pub(crate) struct Space {
    kind: Kind,
    /// The region being filled, plus one; 0: none. Written under the lock, Release.
    current: AtomicUsize,
    /// Bytes carved since the collection began. Relaxed: a bound that several may pass at once.
    carved: AtomicUsize,
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
    pub(crate) fn new(kind: Kind) -> Space {
        Space {
            kind,
            current: AtomicUsize::new(0),
            carved: AtomicUsize::new(0),
            partial: Mutex::new(Vec::new()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<usize>> {
        self.partial.lock().expect("a collection that panics ends the process")
    }

    /// A collection begins: survivors of the last one are not added to.
    pub(crate) fn begin(&self) {
        self.carved.store(0, Ordering::Relaxed);
        if self.kind == Kind::Survivors {
            self.current.store(0, Ordering::Relaxed);
        }
    }

    /// Forgets all regions; those with room are [offered](Self::offer) again.
    pub(crate) fn forget(&self) {
        self.current.store(0, Ordering::Relaxed);
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
        let has = self.current.load(Ordering::Relaxed) == index + 1 || partial.contains(&index);
        if !has && room(free, index) >= MIN_ROOM {
            partial.push(index);
        }
    }

    /// Each region of the space with room for more is the one being filled, or is remembered once.
    #[cfg(test)]
    pub(super) fn verify<B: Backing>(&self, free: &FreeSet<B>, regions: &[usize]) {
        let partial = self.lock();
        for &index in regions {
            let times = partial.iter().filter(|&&other| other == index).count()
                + usize::from(self.current.load(Ordering::Relaxed) == index + 1);
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
        loop {
            let current = self.current.load(Ordering::Acquire);
            if let Some(index) = current.checked_sub(1)
                && let Some(piece) = free.carve(index, min, desired, &mut Attempts::default())
            {
                self.carved.fetch_add(piece.end - piece.start, Ordering::Relaxed);
                return Some((piece.start, piece.end));
            }
            let mut partial = self.lock();
            if self.current.load(Ordering::Relaxed) != current {
                continue;
            }
            let next = match partial.iter().position(|&index| room(free, index) >= min) {
                Some(place) => partial.swap_remove(place),
                None => self.take(free, set, old, home)?,
            };
            if let Some(last) = current.checked_sub(1).filter(|&last| room(free, last) >= MIN_ROOM)
                && self.kind == Kind::Old
            {
                partial.push(last);
            }
            self.current.store(next + 1, Ordering::Release);
        }
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
