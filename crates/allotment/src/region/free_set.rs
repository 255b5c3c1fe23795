//! The free set: hands regions and buffers to mutators, without a lock in the common case.
//!
//! Each core has a *slot* that names the region its threads take buffers from, by compare-and-swap on
//! that region's top. Threads of one core cannot run at once, so the swap nearly always succeeds, and
//! the lines it hands out are lines this core is about to write anyway. When a region is used up, the
//! slot gets another one: first a region this core wrote last (its lines may still be in its caches;
//! taking turns with another core costs up to twice the time), then one of another core, then one
//! that has never been touched, which the kernel must first fill with pages.
//!
//! A region too full for the request at hand is set aside in `partial`. Nobody looks there while there
//! is a free region; when there is none, every hole of at least an object is found, so a heap is usable
//! to within one small object.
//!
//! Refused: one shared pointer for all threads (HotSpot's eden: one line written by every core at each
//! refill); a lock around all of it (Shenandoah before its compare-and-swap allocator, JDK-8361099),
//! which is kept as `RefillStrategy=lock` for comparison; a random slot per thread, as in that
//! allocator's drafts, which loses the affinity.

use super::bitmap::Bitmap;
use super::table::{RegionTable, State};
use crate::object::MIN_OBJECT_BYTES;
use crate::sync::{AtomicU32, AtomicU64, AtomicUsize, Mutex, Ordering};
use crossbeam_utils::CachePadded;

/// Puts memory behind regions.
pub(crate) trait Backing: Send + Sync {
    /// Makes a region readable and writable; whether the system had the memory.
    fn commit(&self, index: usize) -> bool;
    /// Gives a region's memory back; whether the system took it. Committed again it reads zero.
    fn uncommit(&self, index: usize) -> bool;
}

/// How mutators meet at the free set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefillMode {
    /// A compare-and-swap on the region of the slot.
    CompareAndSwap,
    /// One lock for the whole heap.
    Lock,
}

/// A piece of a region, the taker's alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carve {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// `[dirty, end)` is zero; within `[start, end]`.
    pub(crate) dirty: usize,
}

/// Compare-and-swaps tried and won: the software stand-in for a counter of locked loads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attempts {
    pub(crate) tried: u64,
    pub(crate) won: u64,
}

/// Spare tails a slot remembers; a detaching thread gives its buffer to the next one on its core.
const SPARES: usize = 4;

/// A tail too small to be worth remembering, in bytes.
pub(super) const MIN_SPARE_BYTES: usize = if cfg!(any(test, loom)) { 64 } else { 1024 };

/// A spare is its start in words from the heap's base, above it 22 bits of its size in words.
const SPARE_START_BITS: u32 = 42;

#[derive(Default)]
pub(super) struct Slot {
    /// The region buffers are taken from, plus one; 0: none. Replaced by compare-and-swap, Release.
    region: AtomicU32,
    /// Tails of given-up buffers, packed; 0: none. Swapped in and out, Release and Acquire.
    spares: [AtomicU64; SPARES],
}

/// Which regions and pieces of regions nobody uses.
pub(crate) struct FreeSet<B> {
    pub(super) table: RegionTable,
    pub(super) backing: B,
    pub(super) mode: RefillMode,
    /// Uncommitted regions. **Invariant:** state = Uncommitted <=> bit set, or its taker is at work.
    pub(super) untouched: Bitmap,
    /// Free regions, by the core that wrote them last. **Invariant:** state = Free <=> bit set in
    /// exactly one of them, or its taker is at work.
    pub(super) free: Box<[Bitmap]>,
    /// Shared regions that left their slot with room in them. Never owned: a bit is a hint.
    pub(super) partial: Bitmap,
    slots: Box<[CachePadded<Slot>]>,
    /// Everything, in mode `Lock`; nothing otherwise.
    lock: Mutex<()>,
    /// One humongous claim at a time: two half-claimed runs must not starve each other.
    pub(super) humongous: Mutex<()>,
    /// Regions the system refused to commit, ever. Written on failure only.
    commit_failures: AtomicUsize,
}

impl<B: Backing> FreeSet<B> {
    /// A free set over an untouched table, for `homes` cores (at least 1).
    pub(crate) fn new(table: RegionTable, backing: B, mode: RefillMode, homes: usize) -> FreeSet<B> {
        let regions = table.len();
        let untouched = Bitmap::new(regions);
        (0..regions).for_each(|index| untouched.put(index));
        FreeSet {
            table,
            backing,
            mode,
            untouched,
            free: (0..homes.max(1)).map(|_| Bitmap::new(regions)).collect(),
            partial: Bitmap::new(regions),
            slots: (0..homes.max(1)).map(|_| CachePadded::default()).collect(),
            lock: Mutex::new(()),
            humongous: Mutex::new(()),
            commit_failures: AtomicUsize::new(0),
        }
    }

    pub(crate) fn table(&self) -> &RegionTable {
        &self.table
    }

    /// Regions the system refused to commit since the heap began.
    pub(crate) fn commit_failures(&self) -> usize {
        self.commit_failures.load(Ordering::Relaxed)
    }

    /// Cores the free set tells apart.
    pub(crate) fn homes(&self) -> usize {
        self.slots.len()
    }

    /// Takes `desired` bytes, or what is left of a region if that is at least `min`. All multiples of 8,
    /// `min <= desired <= region`. `None`: the heap has no such piece.
    pub(crate) fn allocate(&self, home: usize, min: usize, desired: usize, attempts: &mut Attempts) -> Option<Carve> {
        let _guard = (self.mode == RefillMode::Lock).then(|| lock(&self.lock));
        let slot = &self.slots[home];
        loop {
            let current = slot.region.load(Ordering::Acquire);
            if let Some(index) = current.checked_sub(1)
                && let Some(carve) = self.carve(index as usize, min, desired, attempts)
            {
                return Some(carve);
            }
            let Some(index) = self.take_region(home) else {
                return self.scavenge(min, desired, attempts);
            };
            self.table.get(index).set_state(State::Shared);
            if slot.region.compare_exchange(current, index as u32 + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                if let Some(old) = current.checked_sub(1) {
                    self.set_aside(old as usize);
                }
            } else {
                // A thread on this core was faster; its region serves both.
                self.give_region(index, home);
            }
        }
    }

    /// Takes a spare tail of at least `min` bytes that a detached thread left on this core.
    pub(crate) fn take_spare(&self, home: usize, min: usize) -> Option<Carve> {
        self.slots[home].spares.iter().find_map(|cell| {
            let seen = cell.load(Ordering::Relaxed);
            // Compared whole: the same tail, given up again meanwhile, is the same tail.
            (seen != 0 && self.unpack(seen).end - self.unpack(seen).start >= min)
                .then(|| cell.compare_exchange(seen, 0, Ordering::Acquire, Ordering::Relaxed).ok())
                .flatten()
                .map(|packed| self.unpack(packed))
        })
    }

    /// Remembers a tail that the caller covered with a filler; whether there was a place for it.
    pub(crate) fn give_spare(&self, home: usize, start: usize, end: usize) -> bool {
        if end - start < MIN_SPARE_BYTES {
            return false;
        }
        let packed = (((end - start) / 8) as u64) << SPARE_START_BITS | ((start - self.table.base()) / 8) as u64;
        self.slots[home]
            .spares
            .iter()
            .any(|cell| cell.compare_exchange(0, packed, Ordering::Release, Ordering::Relaxed).is_ok())
    }

    fn unpack(&self, packed: u64) -> Carve {
        let start = self.table.base() + (packed & ((1 << SPARE_START_BITS) - 1)) as usize * 8;
        let end = start + (packed >> SPARE_START_BITS) as usize * 8;
        Carve { start, end, dirty: end }
    }

    /// Gives `[start, end)` back to its shared region if nothing was taken behind it.
    pub(crate) fn undo(&self, start: usize, end: usize) -> bool {
        start < end && {
            let region = self.table.get(self.table.index_of(start));
            region.state() == State::Shared && region.move_top(end, start).is_ok()
        }
    }

    /// Takes a whole empty, committed region; it is the caller's, and in state Exclusive.
    pub(crate) fn take_region(&self, home: usize) -> Option<usize> {
        let index = self.take_committed(home).or_else(|| self.take_untouched())?;
        let region = self.table.get(index);
        region.set_home(home);
        region.set_state(State::Exclusive);
        Some(index)
    }

    /// The caller's own regions first, then those of other cores, nearest number first.
    fn take_committed(&self, home: usize) -> Option<usize> {
        let homes = self.free.len();
        (0..homes).find_map(|step| self.free[(home + step) % homes].take_lowest())
    }

    fn take_untouched(&self) -> Option<usize> {
        let index = self.untouched.take_lowest()?;
        if self.backing.commit(index) {
            return Some(index);
        }
        self.commit_failures.fetch_add(1, Ordering::Relaxed);
        self.untouched.put(index);
        None
    }

    /// Gives a region that the caller owns to the free set, as one that core `home` wrote last.
    pub(crate) fn give_region(&self, index: usize, home: usize) {
        self.table.empty(index);
        let region = self.table.get(index);
        region.set_home(home);
        region.set_state(State::Free);
        self.free[home].put(index);
    }

    /// Lets all mutators use what is left of a region that the caller filled alone.
    pub(crate) fn share_region(&self, index: usize) {
        self.table.get(index).set_state(State::Shared);
        self.set_aside(index);
    }

    fn set_aside(&self, index: usize) {
        if self.table.end(index) - self.table.get(index).top() >= MIN_OBJECT_BYTES {
            self.partial.put(index);
        }
    }

    /// The last resort: whatever is left in any shared region.
    fn scavenge(&self, min: usize, desired: usize, attempts: &mut Attempts) -> Option<Carve> {
        let in_slots = self.slots.iter().filter_map(|slot| slot.region.load(Ordering::Acquire).checked_sub(1));
        for index in in_slots {
            if let Some(carve) = self.carve(index as usize, min, desired, attempts) {
                return Some(carve);
            }
        }
        for index in self.partial.iter() {
            if let Some(carve) = self.carve(index, min, desired, attempts) {
                return Some(carve);
            }
            if self.table.end(index) - self.table.get(index).top() < MIN_OBJECT_BYTES {
                self.partial.take(index);
            }
        }
        (0..self.slots.len()).find_map(|home| self.take_spare(home, min))
    }

    /// Bumps the top of a shared region.
    fn carve(&self, index: usize, min: usize, desired: usize, attempts: &mut Attempts) -> Option<Carve> {
        let (region, region_end) = (self.table.get(index), self.table.end(index));
        let mut top = region.top();
        loop {
            let room = region_end - top;
            if room < min {
                return None;
            }
            let mut bytes = desired.min(room);
            if min < desired && room - bytes < MIN_OBJECT_BYTES {
                bytes = room;
            }
            attempts.tried += 1;
            match region.move_top(top, top + bytes) {
                Ok(()) => {
                    attempts.won += 1;
                    let end = top + bytes;
                    return Some(Carve { start: top, end, dirty: region.dirty().clamp(top, end) });
                }
                Err(now) => top = now,
            }
        }
    }

    /// Empties every committed region and gives all of them to the core that wrote them last.
    ///
    /// The caller knows that no mutator is attached.
    pub(crate) fn reset(&self) {
        for slot in &self.slots {
            slot.region.store(0, Ordering::Relaxed);
            slot.spares.iter().for_each(|cell| cell.store(0, Ordering::Relaxed));
        }
        self.partial.clear();
        for index in 0..self.table.len() {
            let region = self.table.get(index);
            match region.state() {
                State::Uncommitted | State::Free => {}
                State::HumongousStart | State::HumongousContinuation => self.give_humongous_region(index),
                State::Shared | State::Exclusive => self.give_region(index, region.home()),
            }
        }
    }

    /// Gives the memory of free regions back to the system; the bytes it took.
    pub(crate) fn uncommit_free(&self) -> usize {
        let mut regions = 0;
        for bitmap in &self.free {
            for index in bitmap.iter() {
                if !bitmap.take(index) {
                    continue;
                }
                if self.backing.uncommit(index) {
                    self.table.get(index).forget_dirt(self.table.bottom(index));
                    self.table.get(index).set_state(State::Uncommitted);
                    self.untouched.put(index);
                    regions += 1;
                } else {
                    bitmap.put(index);
                }
            }
        }
        regions << self.table.geometry().region_shift
    }

    /// Commits the lowest untouched regions until `bytes` of the heap are committed; whether the system
    /// had the memory.
    pub(crate) fn commit_ahead(&self, bytes: usize) -> bool {
        let wanted = bytes.div_ceil(self.table.geometry().region_bytes()).min(self.table.len());
        let committed = self.table.len() - self.untouched.count();
        (committed..wanted).enumerate().all(|(turn, _)| match self.take_untouched() {
            Some(index) => {
                // Dealt out by turns, in runs: neighbours on one core share its prefetcher's pages.
                let home = turn * self.free.len() / (wanted - committed);
                self.give_region(index, home);
                true
            }
            None => false,
        })
    }

    /// Bytes handed out as buffers and objects, at about this moment.
    pub(crate) fn used_bytes(&self) -> usize {
        (0..self.table.len()).map(|index| self.table.get(index).top() - self.table.bottom(index)).sum()
    }

    /// Regions with memory behind them.
    pub(crate) fn committed_regions(&self) -> usize {
        self.table.len() - self.untouched.count()
    }

    /// Address behind the last object that begins in region `index`: its top, or the end of its run's
    /// object.
    pub(crate) fn object_end(&self, index: usize) -> usize {
        match self.table.get(index).state() {
            State::HumongousStart => self.table.get(index + self.table.get(index).run() - 1).top(),
            _ => self.table.get(index).top(),
        }
    }

    /// The spare tails as they are now, for the checker.
    pub(super) fn spares(&self) -> impl Iterator<Item = Carve> + '_ {
        self.slots.iter().flat_map(|slot| slot.spares.iter()).filter_map(|cell| {
            let packed = cell.load(Ordering::Acquire);
            (packed != 0).then(|| self.unpack(packed))
        })
    }
}

/// A lock whose holder cannot have panicked with the data half changed: it guards no data.
pub(super) fn lock(mutex: &Mutex<()>) -> crate::sync::MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(|_| panic!("a thread panicked inside the free set"))
}
