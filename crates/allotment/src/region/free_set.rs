//! The free set: hands regions and buffers to mutators, in the common case without a lock.
//!
//! Each core has a *slot* that names a region. The core's threads take buffers from that region by
//! compare-and-swap on its top. Threads of one core cannot run at once, so the swap nearly always
//! succeeds. The lines that it hands out are lines that this core is about to write anyway. When a
//! region is used up, the slot gets another one. First comes a region that this core wrote last:
//! its lines may still be in the caches, and taking turns with another core costs up to twice the
//! time. Then comes a region of another core. Last comes a region that has never been touched,
//! which the kernel must first fill with pages.
//!
//! A region too full for the request is set aside in `partial`. No thread searches there while
//! there is a free region. When there is none, the search finds every hole of at least an object,
//! so a heap is usable to within one small object. That holds while other threads move regions,
//! too: see [`Transit`].
//!
//! Refused:
//! - One shared pointer for all threads (HotSpot's eden): every core writes one line at each
//!   refill.
//! - A lock around all of it (Shenandoah before its compare-and-swap allocator, JDK-8361099).
//!   `RefillStrategy=lock` keeps it for comparison.
//! - A random slot per thread, as in that allocator's drafts: it loses the affinity.

use super::bitmap::Bitmap;
use super::carve::{Attempts, Carve};
use super::committer::{Backing, Committer};
use super::quarantine::{Disposal, Quarantine};
use super::refill_lock::RefillLock;
use super::spares::Spares;
use super::table::{Region, RegionTable, State};
use super::transit::Transit;
use crate::object::MIN_OBJECT_BYTES;
use crate::options::RefillStrategy;
use crate::probes::probe;
use crate::sync::{AtomicU32, AtomicUsize, Mutex, Ordering, fence};
use crossbeam_utils::CachePadded;

/// Largest run of neighbouring regions of one core, if they come from the system one by one. At the
/// end of a region a core prefetches the beginning of the next one. If that belongs to another
/// core, its owner loses 100 ns. Where two threads took turns, that was 3 % of their work with 64
/// bytes an object.
const MAX_RUN: usize = 8;

/// Least number of such runs that the heap has for each core. In a small heap, longer runs would
/// leave no room for objects larger than a region.
const MIN_RUNS: usize = if cfg!(any(test, loom)) { 1 } else { 4 };

#[derive(Default)]
pub(super) struct Slot {
    /// The region that buffers are taken from, plus one; 0 if there is none. Replaced by
    /// compare-and-swap, Release.
    pub(super) region: AtomicU32,
    pub(super) spares: Spares,
}

/// The regions and pieces of regions that are not in use.
pub(crate) struct FreeSet<B = Committer> {
    pub(super) table: RegionTable,
    pub(super) backing: B,
    /// `RefillStrategy=lock`.
    pub(super) refill_lock: RefillLock,
    /// Uncommitted regions. **Invariant:** state = Uncommitted <=> bit set, or a thread is just
    /// taking it.
    pub(super) untouched: Bitmap,
    /// Free regions, by the core that wrote them last. **Invariant:** state = Free <=> bit set in
    /// exactly one of them, or a thread is just taking it.
    pub(super) free: Box<[Bitmap]>,
    /// Shared regions outside the slots that have room, and full ones until a search finds them
    /// full. Never owned: a bit is a hint. **Invariant:** a shared region with room for an object
    /// has its bit set, or is in the slot of its home, or a thread is just ensuring that.
    pub(super) partial: Bitmap,
    pub(super) transit: Transit,
    pub(super) slots: Box<[CachePadded<Slot>]>,
    /// One humongous claim at a time: two half-claimed runs must not starve each other.
    pub(super) humongous: Mutex<()>,
    /// Regions that the system ever refused to commit. Written on failure only.
    pub(super) commit_failures: AtomicUsize,
    /// Regions that were ever taken to be allocated in, without those for copies. Relaxed: a count.
    pub(super) taken: AtomicUsize,
    /// Regions of the longest run that an allocation wanted of late. Written by allocations of
    /// humongous objects, and at the ends of cycles. Relaxed: a hint.
    pub(super) wanted_run: AtomicUsize,
    /// Regions whose memory went back to the system. Relaxed: a count.
    pub(super) given_back: AtomicUsize,
    /// Number of regions that may be in use. Collectors write it, and the constructor. Relaxed: a
    /// hint.
    pub(super) capacity: AtomicUsize,
    /// The treatment of freed memory.
    pub(crate) disposal: Disposal,
    pub(super) quarantine: Quarantine,
}

impl<B: Backing> FreeSet<B> {
    /// A free set over an untouched table, for `homes` cores (at least 1).
    pub(crate) fn new(table: RegionTable, backing: B, mode: RefillStrategy, homes: usize) -> FreeSet<B> {
        let regions = table.len();
        let untouched = Bitmap::new(regions);
        (0..regions).for_each(|index| untouched.put(index));
        FreeSet {
            table,
            backing,
            refill_lock: RefillLock::new(mode),
            untouched,
            free: (0..homes.max(1)).map(|_| Bitmap::new(regions)).collect(),
            partial: Bitmap::new(regions),
            transit: Transit::default(),
            slots: (0..homes.max(1)).map(|_| CachePadded::default()).collect(),
            humongous: Mutex::new(()),
            commit_failures: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            wanted_run: AtomicUsize::new(0),
            given_back: AtomicUsize::new(0),
            capacity: AtomicUsize::new(regions),
            disposal: Disposal::default(),
            quarantine: Quarantine::default(),
        }
    }

    pub(crate) fn table(&self) -> &RegionTable {
        &self.table
    }

    /// In a child of `fork()`: whether no thread outside this process was changing the free set.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.refill_lock.is_at_rest()
            && self.humongous.try_lock().is_ok()
            && self.quarantine.is_at_rest()
            && self.transit.is_at_rest()
    }

    /// Number of cores that the free set distinguishes.
    pub(crate) fn homes(&self) -> usize {
        self.slots.len()
    }

    /// Takes `desired` bytes, or the rest of a region if that is at least `min`. All are multiples
    /// of 8, `min <= desired <= region`. Returns `None` if the heap has no such piece, or if the
    /// number of regions in use has reached the capacity and the search found no piece.
    pub(crate) fn allocate(
        &self,
        home: usize,
        min: usize,
        desired: usize,
        attempts: &mut Attempts,
    ) -> Option<Carve> {
        let _guard = self.refill_lock.hold();
        let mut may_commit = true;
        // At the capacity the thread does not wait for an exact answer: a thread that lost its CPU
        // within a move would delay all others.
        self.transit.until_settled(
            || self.try_allocate(home, min, desired, attempts, &mut may_commit),
            || !self.may_take(1),
        )
    }

    fn try_allocate(
        &self,
        home: usize,
        min: usize,
        desired: usize,
        attempts: &mut Attempts,
        may_commit: &mut bool,
    ) -> Option<Carve> {
        let slot = &self.slots[home];
        loop {
            let current = slot.region.load(Ordering::Acquire);
            if let Some(index) = current.checked_sub(1)
                && let Some(carve) = self.carve(index as usize, min, desired, attempts)
            {
                return Some(carve);
            }
            if !self.replace(home, current, may_commit) {
                return self.scavenge(min, desired, attempts);
            }
        }
    }

    /// Puts another region than `current` into the slot of `home`. Returns `false` if there is
    /// none.
    fn replace(&self, home: usize, current: u32, may_commit: &mut bool) -> bool {
        // Checks first: threads that find nothing must not make each other search again.
        let none = (self.untouched.is_empty() || !*may_commit) && self.free.iter().all(Bitmap::is_empty);
        if none || !self.may_take(1) {
            return false;
        }
        let moving = self.transit.begin();
        let Some(index) = self.try_take_region(home, may_commit) else { return false };
        self.table.get(index).set_state(State::Shared);
        let slot = &self.slots[home].region;
        if slot.compare_exchange(current, index as u32 + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            if let Some(old) = current.checked_sub(1) {
                // Paired with the fence in `undo`: either `undo` sees the slot changed, or this
                // thread sees the room that `undo` made.
                fence(Ordering::SeqCst);
                self.set_aside(old as usize);
            }
        } else {
            // A thread on this core was faster; its region serves both.
            self.give_region(index, home);
        }
        moving.finish();
        true
    }

    /// Gives `[start, end)`, the tail of a piece, back to its shared region if no thread took the
    /// memory after it.
    ///
    /// The tail was never written, except by zeroes, and it is not a whole spare. A spare begins
    /// with a filler's header, and the next taker is told that the memory is as clean as before.
    pub(crate) fn undo(&self, start: usize, end: usize) -> bool {
        if start >= end {
            return false;
        }
        let index = self.table.index_of(start);
        let region = self.table.get(index);
        if region.state() != State::Shared || region.move_top(end, start).is_err() {
            return false;
        }
        // The region may have left its slot while it was full. Then no thread searches it any more.
        fence(Ordering::SeqCst);
        if !self.is_in_slot(index) {
            self.set_aside(index);
        }
        true
    }

    /// Takes a whole empty, committed region. The caller then owns it, in state Exclusive.
    pub(crate) fn take_region(&self, home: usize) -> Option<usize> {
        let mut may_commit = true;
        let index = self.transit.until_settled(|| self.try_take_region(home, &mut may_commit), || false)?;
        // The owner may lower the top below memory that it wrote.
        self.table.get(index).set_poisoned(false);
        Some(index)
    }

    /// `may_commit`: whether to ask the system for memory. Becomes false when the system refuses.
    fn try_take_region(&self, home: usize, may_commit: &mut bool) -> Option<usize> {
        let index = match self.take_committed(home) {
            Some(index) => index,
            None if *may_commit => {
                let index = self.take_untouched(home)?;
                *may_commit = self.commit_taken(index);
                may_commit.then_some(index)?
            }
            None => return None,
        };
        let region = self.table.get(index);
        region.set_home(home);
        region.set_state(State::Exclusive);
        self.taken.fetch_add(1, Ordering::Relaxed);
        probe!(region_taken, index);
        Some(index)
    }

    /// Counts `regions` that were taken for copies as not taken.
    pub(crate) fn taken_for_copies(&self, regions: usize) {
        self.taken.fetch_sub(regions, Ordering::Relaxed);
    }

    /// Bytes of the regions that were ever taken to be allocated in.
    pub(crate) fn taken_bytes(&self) -> u64 {
        (self.taken.load(Ordering::Relaxed) as u64) << self.table.geometry().region_shift
    }

    /// The lowest region that continues the core's regions, or begins a run that no core has begun.
    /// Otherwise the lowest region.
    fn take_untouched(&self, home: usize) -> Option<usize> {
        let run = (self.table.len() / (MIN_RUNS * self.free.len())).clamp(1, MAX_RUN);
        let suits = |&index: &usize| {
            let below =
                |below: usize| !self.untouched.contains(below) && self.table.get(below).home() == home;
            index.is_multiple_of(run) || below(index - 1)
        };
        let suitable = self.untouched.iter().filter(suits).find(|&index| self.untouched.take(index));
        suitable.or_else(|| self.untouched.take_lowest())
    }

    /// Commits a region that the caller took from `untouched`, or puts it back. Returns whether the
    /// system had the memory. Called outside any lock: it can take as long as the kernel needs to
    /// fill a region with pages. A refusal is not recorded, because memory may be available the
    /// next time.
    pub(super) fn commit_taken(&self, index: usize) -> bool {
        let committed = self.backing.commit(index);
        if !committed {
            self.commit_failures.fetch_add(1, Ordering::Relaxed);
            self.untouched.put(index);
        }
        committed
    }

    /// The core's own regions first, then those of other cores, nearest number first.
    fn take_committed(&self, home: usize) -> Option<usize> {
        let homes = self.free.len();
        (0..homes).find_map(|step| self.free[(home + step) % homes].take_lowest())
    }

    /// Gives a region that the caller owns to the free set, as one that core `home` wrote last.
    pub(crate) fn give_region(&self, index: usize, home: usize) {
        self.table.empty(index);
        self.put_free(index, home);
    }

    /// As [`give_region`](Self::give_region), for a region that is already empty.
    pub(super) fn put_free(&self, index: usize, home: usize) {
        let region = self.table.get(index);
        region.set_home(home);
        region.forget_idle();
        region.set_state(State::Free);
        self.free[home].put(index);
    }

    /// Lets all mutators use the rest of a region that the caller filled alone.
    pub(crate) fn share_region(&self, index: usize) {
        self.table.get(index).set_state(State::Shared);
        self.set_aside(index);
    }

    /// Lets the last resort find a region outside the slots, if it has room. Returns whether it
    /// has.
    pub(super) fn set_aside(&self, index: usize) -> bool {
        let has_room = self.has_room(index);
        if has_room {
            self.partial.note(index);
        }
        has_room
    }

    pub(super) fn has_room(&self, index: usize) -> bool {
        self.table.end(index) - self.table.get(index).top() >= MIN_OBJECT_BYTES
    }

    /// The last resort: the rest of any shared region.
    fn scavenge(&self, min: usize, desired: usize, attempts: &mut Attempts) -> Option<Carve> {
        let in_slots =
            self.slots.iter().filter_map(|slot| slot.region.load(Ordering::Acquire).checked_sub(1));
        for index in in_slots {
            if let Some(carve) = self.carve(index as usize, min, desired, attempts) {
                return Some(carve);
            }
        }
        for index in self.partial.iter() {
            if let Some(carve) = self.carve(index, min, desired, attempts) {
                return Some(carve);
            }
            if !self.has_room(index) {
                self.forget_partial(index);
            }
        }
        (0..self.slots.len()).find_map(|home| self.take_spare(home, min))
    }

    /// Spares the last resort another search of a full region.
    fn forget_partial(&self, index: usize) {
        let moving = self.transit.begin();
        // A buffer may have been undone in it since.
        if self.partial.take(index) && self.set_aside(index) {
            moving.finish();
        }
    }

    /// Bumps the top of a region that several threads take from: `desired` bytes, or the rest if
    /// that is at least `min`.
    pub(crate) fn carve(
        &self,
        index: usize,
        min: usize,
        desired: usize,
        attempts: &mut Attempts,
    ) -> Option<Carve> {
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

    /// The region of `address`, if it is shared and threads take from it by compare-and-swap alone.
    pub(crate) fn swapped(&self, address: usize) -> Option<&Region> {
        let region = self.table.get(self.table.index_of(address));
        (!self.refill_lock.is_used() && region.state() == State::Shared).then_some(region)
    }

    /// Takes a spare tail of at least `min` bytes that a detached thread left on this core.
    pub(crate) fn take_spare(&self, home: usize, min: usize) -> Option<Carve> {
        self.slots[home].spares.take(self.table.base(), min)
    }

    /// Remembers the tail of a piece, which the caller covered with a filler. Returns `false` if
    /// there is no place for it, or if the tail is too small or a whole region of the largest size.
    pub(crate) fn give_spare(&self, home: usize, start: usize, end: usize) -> bool {
        self.slots[home].spares.give(self.table.base(), start, end)
    }

    /// The spare tails at this moment, for the checker.
    pub(super) fn spares(&self) -> impl Iterator<Item = Carve> + '_ {
        self.slots.iter().flat_map(|slot| slot.spares.iter(self.table.base()))
    }

    /// Address after the last object that begins in region `index`: the region's top, or the end
    /// of its run's object.
    pub(crate) fn object_end(&self, index: usize) -> usize {
        match self.table.get(index).state() {
            State::HumongousStart => self.table.get(index + self.table.get(index).run() - 1).top(),
            _ => self.table.get(index).top(),
        }
    }

    /// Whether the region is in the slot of its home.
    pub(super) fn is_in_slot(&self, index: usize) -> bool {
        self.slots[self.table.get(index).home()].region.load(Ordering::Acquire) == index as u32 + 1
    }
}
