//! The region table: the metadata of each region.
//!
//! The metadata lies outside the heap. A collector reads the states of regions whose memory it
//! keeps out of the caches, and an uncommitted region has no memory to read.

use super::Geometry;
use crate::platform::prefetch_read;
use crate::sync::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// The use of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// It has no memory.
    Uncommitted = 0,
    /// It has memory and is empty.
    Free = 1,
    /// Any mutator may take a buffer or an object from it.
    Shared = 2,
    /// One mutator fills it.
    Exclusive = 3,
    /// The first region of an object larger than a region.
    HumongousStart = 4,
    /// A further region of such an object.
    HumongousContinuation = 5,
    /// It is empty, and not available yet (`ZealQuarantine`).
    Quarantined = 6,
    /// It holds young objects that a collection put here because they survived.
    Survivor = 7,
    /// It holds old objects, which a collection put here.
    Old = 8,
    /// Its objects are moved out while threads run. No thread allocates here.
    CollectionSet = 9,
}

impl State {
    /// Whether objects begin in such a region.
    pub(crate) fn begins_objects(self) -> bool {
        !self.is_empty() && self != State::HumongousContinuation
    }

    /// Whether such a region has no contents.
    pub(crate) fn is_empty(self) -> bool {
        matches!(self, State::Free | State::Uncommitted | State::Quarantined)
    }

    fn from_raw(raw: u8) -> State {
        match raw {
            0 => State::Uncommitted,
            1 => State::Free,
            2 => State::Shared,
            3 => State::Exclusive,
            4 => State::HumongousStart,
            5 => State::HumongousContinuation,
            6 => State::Quarantined,
            7 => State::Survivor,
            8 => State::Old,
            9 => State::CollectionSet,
            _ => unreachable!("only `set_state` writes states"),
        }
    }
}

/// One region. It has cache lines of its own, because threads of several cores bump the `top` of
/// their regions. Generated code finds top and end by their offsets.
#[repr(C, align(128))]
pub(crate) struct Region {
    /// Address of the next free byte. Shared: compare-and-swap by any mutator. Exclusive: stored by
    /// the owner. Humongous: the end of the object's part in the region. Relaxed; ordered by the
    /// way in which the region was obtained.
    top: AtomicUsize,
    /// Address after the last byte. Never changes. Beside the top, because code that reads the top
    /// reads the end too.
    end: usize,
    /// Memory from here to the end of the region is zero; memory below may have any contents. The
    /// owner raises it when the region is given up. Relaxed, as `top`.
    dirty: AtomicUsize,
    /// A [`State`]. Stored by the owner, with Release: a walker that sees a state sees its fields.
    state: AtomicU8,
    /// The core (in the free set's numbering) that wrote the region last, so that its caches may
    /// hold it. Stored by the owner, Relaxed: a hint.
    home: AtomicU16,
    /// Humongous start: number of regions of the run. Continuation: regions back to the start.
    /// Otherwise 0.
    run: AtomicU32,
    /// Free: the time since when, in milliseconds of the heap's clock plus one; 0: not read yet.
    /// The thread that frees the region resets it, a reading thread sets it. Relaxed: it only
    /// advises.
    idle_since: AtomicU64,
    /// 1: the memory between `top` and `dirty` has the pattern of freed memory, or was zeroed for
    /// buffers that were given up unused. While the region is empty, the memory has the pattern.
    /// Stored by the owner, Relaxed.
    poisoned: AtomicU8,
    /// 1: the objects are old. The first region of a humongous run has the flag; with a concurrent
    /// collector each region has it. Stored by collections, Relaxed.
    tenured: AtomicU8,
    /// Concurrent cycles since a thread allocated in the region: to be added to the ages of its
    /// objects. Stored in stops, and by the thread that empties the region. Relaxed.
    age: AtomicU8,
}

impl Region {
    /// Offset in bytes of the top.
    pub(crate) const TOP_OFFSET: usize = std::mem::offset_of!(Region, top);
    /// Offset in bytes of the end.
    pub(crate) const END_OFFSET: usize = std::mem::offset_of!(Region, end);

    pub(crate) fn end(&self) -> usize {
        self.end
    }

    pub(crate) fn top(&self) -> usize {
        self.top.load(Ordering::Relaxed)
    }

    pub(crate) fn set_top(&self, top: usize) {
        self.top.store(top, Ordering::Relaxed);
    }

    /// Moves `top` from `from` to `to`, if no other thread moved it since.
    pub(crate) fn move_top(&self, from: usize, to: usize) -> Result<(), usize> {
        self.top.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).map(drop)
    }

    pub(crate) fn dirty(&self) -> usize {
        self.dirty.load(Ordering::Relaxed)
    }

    /// Notes that memory below `address` was written.
    pub(crate) fn raise_dirty(&self, address: usize) {
        if address > self.dirty() {
            self.dirty.store(address, Ordering::Relaxed);
        }
    }

    /// Notes that the whole region, which begins at `bottom`, reads zero.
    pub(crate) fn forget_dirt(&self, bottom: usize) {
        self.dirty.store(bottom, Ordering::Relaxed);
    }

    /// As [`raise_dirty`](Self::raise_dirty), while other threads may be raising it too.
    pub(crate) fn raise_dirty_together(&self, address: usize) {
        self.dirty.fetch_max(address, Ordering::Relaxed);
    }

    pub(crate) fn state(&self) -> State {
        State::from_raw(self.state.load(Ordering::Acquire))
    }

    pub(crate) fn set_state(&self, state: State) {
        self.state.store(state as u8, Ordering::Release);
    }

    pub(crate) fn home(&self) -> usize {
        self.home.load(Ordering::Relaxed) as usize
    }

    pub(crate) fn set_home(&self, home: usize) {
        self.home.store(home as u16, Ordering::Relaxed);
    }

    pub(crate) fn run(&self) -> usize {
        self.run.load(Ordering::Relaxed) as usize
    }

    pub(crate) fn set_run(&self, regions: usize) {
        self.run.store(regions as u32, Ordering::Relaxed);
    }

    /// Notes that the region is free from now on.
    pub(super) fn forget_idle(&self) {
        self.idle_since.store(0, Ordering::Relaxed);
    }

    /// Milliseconds since the first call for this free region.
    pub(super) fn idle_ms(&self, now_ms: u64) -> u64 {
        match self.idle_since.load(Ordering::Relaxed).checked_sub(1) {
            Some(since) => now_ms.saturating_sub(since),
            None => {
                self.idle_since.store(now_ms.saturating_add(1), Ordering::Relaxed);
                0
            }
        }
    }

    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Relaxed) != 0
    }

    /// Whether the humongous run that begins here is old.
    pub(crate) fn is_tenured(&self) -> bool {
        self.tenured.load(Ordering::Relaxed) != 0
    }

    pub(crate) fn set_tenured(&self, tenured: bool) {
        self.tenured.store(u8::from(tenured), Ordering::Relaxed);
    }

    /// Cycles to add to the ages of the region's objects.
    pub(crate) fn age(&self) -> u8 {
        self.age.load(Ordering::Relaxed)
    }

    pub(crate) fn set_age(&self, cycles: u8) {
        self.age.store(cycles, Ordering::Relaxed);
    }

    pub(super) fn set_poisoned(&self, poisoned: bool) {
        self.poisoned.store(u8::from(poisoned), Ordering::Relaxed);
    }
}

/// The addresses in a region that separate objects known to a concurrent collection from later
/// ones. They are outside the regions' entries, because code that marks reads them for each
/// reference.
///
/// ```text
/// bottom <= top at mark start <= update watermark <= top      while a collection is under way
/// ```
///
/// Both are the region's top at a stop, exactly, or the bottom of a region that was empty then. Set
/// by the stopper, and by the thread that empties the region. Relaxed: ordered by the stop, or by
/// the way in which the region is obtained.
#[repr(C)]
struct Borders {
    /// Objects below it existed when marking began: they are live if they are marked. Objects above
    /// it are live.
    mark_start: AtomicUsize,
    /// Objects below it existed when evacuation began: they may refer to objects that move.
    watermark: AtomicUsize,
}

/// All regions of a heap, and their addresses.
pub(crate) struct RegionTable {
    base: usize,
    geometry: Geometry,
    regions: Box<[Region]>,
    borders: Box<[Borders]>,
}

impl RegionTable {
    /// Bytes from a region's [`mark_start`](Self::mark_start) to that of the next.
    pub(crate) const BORDERS_BYTES: usize = size_of::<Borders>();

    /// A table over the heap that begins at `base` (aligned to a region). No region is committed.
    pub(crate) fn new(base: usize, geometry: Geometry) -> RegionTable {
        debug_assert!(base.is_multiple_of(geometry.region_bytes()));
        let regions = (0..geometry.regions)
            .map(|index| {
                let bottom = base + (index << geometry.region_shift);
                Region {
                    top: AtomicUsize::new(bottom),
                    end: bottom + (1 << geometry.region_shift),
                    dirty: AtomicUsize::new(bottom),
                    state: AtomicU8::new(State::Uncommitted as u8),
                    home: AtomicU16::new(0),
                    run: AtomicU32::new(0),
                    idle_since: AtomicU64::new(0),
                    poisoned: AtomicU8::new(0),
                    tenured: AtomicU8::new(0),
                    age: AtomicU8::new(0),
                }
            })
            .collect();
        let border = |index: usize| AtomicUsize::new(base + (index << geometry.region_shift));
        let borders = (0..geometry.regions)
            .map(|index| Borders { mark_start: border(index), watermark: border(index) })
            .collect();
        RegionTable { base, geometry, regions, borders }
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    pub(crate) fn base(&self) -> usize {
        self.base
    }

    pub(crate) fn len(&self) -> usize {
        self.regions.len()
    }

    pub(crate) fn get(&self, index: usize) -> &Region {
        &self.regions[index]
    }

    /// Prefetches the metadata of a region, which another core may have written last. Does nothing
    /// if there is no such region.
    pub(crate) fn fetch(&self, index: usize) {
        prefetch_read(self.regions.as_ptr().wrapping_add(index).addr());
    }

    /// Address of the first byte of a region.
    pub(crate) fn bottom(&self, index: usize) -> usize {
        self.base + (index << self.geometry.region_shift)
    }

    /// Address after the last byte of a region.
    pub(crate) fn end(&self, index: usize) -> usize {
        self.bottom(index + 1)
    }

    /// The region of an address inside the heap.
    pub(crate) fn index_of(&self, address: usize) -> usize {
        debug_assert!((self.base..self.base + self.geometry.heap_bytes()).contains(&address));
        (address - self.base) >> self.geometry.region_shift
    }

    /// The region in which the contents of region `index` begin: the first of its run, or itself.
    pub(crate) fn first_of_run(&self, index: usize) -> usize {
        match self.get(index).state() {
            State::HumongousContinuation => index.saturating_sub(self.get(index).run()),
            _ => index,
        }
    }

    /// Whether the objects of region `index` are old; in a heap without generations, none are.
    pub(crate) fn is_old(&self, index: usize) -> bool {
        match self.get(index).state() {
            State::Old => true,
            State::HumongousStart | State::CollectionSet => self.get(index).is_tenured(),
            // With some collectors only the first region of a run has the flag.
            State::HumongousContinuation => self.get(self.first_of_run(index)).is_tenured(),
            _ => false,
        }
    }

    /// The region's top when marking began, or its bottom if it was empty then.
    #[inline(always)]
    pub(crate) fn mark_start(&self, index: usize) -> usize {
        self.borders[index].mark_start.load(Ordering::Relaxed)
    }

    /// The address of the first region's [`mark_start`](Self::mark_start). Those of other regions
    /// follow at a distance of [`BORDERS_BYTES`](Self::BORDERS_BYTES). For machine code.
    pub(crate) fn borders(&self) -> usize {
        self.borders.as_ptr().expose_provenance()
    }

    /// The region's top when evacuation began, or its bottom if it was empty then.
    pub(crate) fn watermark(&self, index: usize) -> usize {
        self.borders[index].watermark.load(Ordering::Relaxed)
    }

    /// Marking begins: all objects in the region were there before. In a stop.
    pub(crate) fn set_mark_start(&self, index: usize) {
        self.borders[index].mark_start.store(self.get(index).top(), Ordering::Relaxed);
    }

    /// Marking begins, and all objects of the region count as live. In a stop.
    pub(crate) fn set_all_live(&self, index: usize) {
        self.borders[index].mark_start.store(self.bottom(index), Ordering::Relaxed);
    }

    /// Evacuation begins: all objects in the region were there before. In a stop.
    pub(crate) fn set_watermark(&self, index: usize) {
        self.borders[index].watermark.store(self.get(index).top(), Ordering::Relaxed);
    }

    /// Forgets the contents of a region that the caller owns. Its memory stays unchanged.
    pub(crate) fn empty(&self, index: usize) {
        let region = self.get(index);
        if region.top() > self.bottom(index) {
            region.set_poisoned(false);
        }
        region.raise_dirty(region.top().min(self.end(index)));
        region.set_top(self.bottom(index));
        region.set_run(0);
        region.set_tenured(false);
        region.set_age(0);
        self.borders[index].mark_start.store(self.bottom(index), Ordering::Relaxed);
        self.borders[index].watermark.store(self.bottom(index), Ordering::Relaxed);
    }
}
