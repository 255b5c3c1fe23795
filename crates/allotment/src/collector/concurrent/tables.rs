//! The tables of a concurrent collection, about each object and region. Barriers read them, too.

use crate::collector::kernel::{LiveMap, Pages};
use crate::mutator::BarrierTables;
use crate::object::reference;
use crate::platform::MemoryError;
use crate::region::{FreeSet, RegionTable, State};
use crate::sync::{AtomicU8, Ordering};
use std::sync::atomic::AtomicU64;

/// How a region takes part in the evacuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::collector) enum Membership {
    /// Its objects stay.
    None = 0,
    /// Its live objects move.
    InSet = 1,
    /// Its live objects move, except those without memory for a copy.
    Kept = 2,
}

/// The objects that marking looks for, and whether marks decide which old ones are live.
///
/// In a heap without generations all objects are young.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::collector) enum Sought {
    /// None: marking has ended, and marks decide which objects are live.
    #[default]
    Ended = 0,
    /// All objects.
    All = YOUNG | OLD,
    /// None: the marking of young objects has ended. All old objects count as live.
    YoungEnded = OLD_LIVE,
    /// Young objects. All old objects count as live.
    Young = YOUNG | OLD_LIVE,
    /// Old objects, across cycles. All of them count as live until their marking ends.
    Old = OLD | OLD_LIVE,
    /// Young objects, and apart from them old ones, which all count as live.
    YoungBesideOld = YOUNG | OLD | OLD_LIVE,
}

/// Bits of a [`Sought`].
const YOUNG: u8 = 1;
const OLD: u8 = 2;
const OLD_LIVE: u8 = 4;

// The atomics of the model checker are larger. It runs no machine code.
#[cfg(not(loom))]
const _: () = assert!(RegionTable::BORDERS_BYTES == BarrierTables::ENTRY_BYTES);

impl Sought {
    const ALL: [Sought; 6] =
        [Sought::Ended, Sought::All, Sought::YoungEnded, Sought::Young, Sought::Old, Sought::YoungBesideOld];

    /// Whether young objects are being marked.
    #[inline]
    pub(super) fn young(self) -> bool {
        self as u8 & YOUNG != 0
    }

    /// Whether old objects count as live, marked or not.
    #[inline]
    pub(super) fn old_live(self) -> bool {
        self as u8 & OLD_LIVE != 0
    }

    /// The generations whose objects are still sought when young objects no longer are.
    pub(in crate::collector) fn after_young(self) -> Sought {
        match self {
            Sought::All | Sought::Ended => Sought::Ended,
            Sought::Young | Sought::YoungEnded => Sought::YoungEnded,
            Sought::YoungBesideOld | Sought::Old => Sought::Old,
        }
    }
}

/// The tables of one heap.
pub(in crate::collector) struct Tables {
    /// The live words below the top at mark start of each region.
    pub(in crate::collector) map: LiveMap,
    /// A [`Membership`] for each region. Written in stops, except from `InSet` to `Kept`. Relaxed:
    /// a thread that asks has left the stop. Barriers read it by its address, and know 0.
    members: Box<[AtomicU8]>,
    /// Not 0: the map of the region may have been written since it was cleared. Written in a stop
    /// and by the worker that clears. Relaxed: a thread that asks has left the stop.
    marked: Box<[AtomicU8]>,
    /// Not 0: a live object of the region is too large for a copy in a load. Written by markers.
    large: Box<[AtomicU8]>,
    /// A [`Sought`]. Written in stops, before barriers change, and by the thread that begins a
    /// cycle. Relaxed: a thread that asks has left the stop, or holds the lock of a table of
    /// handles.
    sought: AtomicU8,
}

impl Tables {
    /// Tables for the heap that begins at `base`.
    ///
    /// # Errors
    /// [`MemoryError`] if the system has no memory for them.
    pub(in crate::collector) fn new(
        base: usize,
        heap_bytes: usize,
        regions: usize,
        pages: Pages,
    ) -> Result<Tables, MemoryError> {
        let mut map = LiveMap::new(base, heap_bytes, pages)?;
        map.open_for_good()?;
        let bytes = || (0..regions).map(|_| AtomicU8::new(0)).collect();
        Ok(Tables { map, members: bytes(), marked: bytes(), large: bytes(), sought: AtomicU8::new(0) })
    }

    /// The addresses of the tables that barriers read without a call. They never change.
    pub(in crate::collector) fn barrier_tables(&self, free: &FreeSet) -> BarrierTables {
        let table = free.table();
        BarrierTables {
            heap: table.base(),
            heap_bytes: table.geometry().heap_bytes(),
            region_shift: table.geometry().region_shift as usize,
            moving: self.members.as_ptr().expose_provenance(),
            borders: table.borders(),
            marks: self.map.first_block(),
        }
    }

    /// The objects that marking looks for.
    pub(in crate::collector) fn sought(&self) -> Sought {
        let bits = self.sought.load(Ordering::Relaxed);
        let sought = Sought::ALL.into_iter().find(|sought| *sought as u8 == bits);
        sought.expect("`set_sought` writes no other bits")
    }

    pub(in crate::collector) fn set_sought(&self, sought: Sought) {
        self.sought.store(sought as u8, Ordering::Relaxed);
    }

    /// Whether young objects are being marked.
    #[inline]
    pub(in crate::collector) fn marks_young(&self) -> bool {
        self.seeks(YOUNG)
    }

    /// Whether old objects are being marked, which may go on across cycles.
    #[inline]
    pub(in crate::collector) fn marks_old(&self) -> bool {
        self.seeks(OLD)
    }

    /// Whether this bit of [`Sought`] is set.
    #[inline]
    fn seeks(&self, bit: u8) -> bool {
        self.sought.load(Ordering::Relaxed) & bit != 0
    }

    /// How the region takes part in the evacuation.
    #[inline(always)]
    pub(in crate::collector) fn membership(&self, index: usize) -> Membership {
        match self.members[index].load(Ordering::Relaxed) {
            0 => Membership::None,
            1 => Membership::InSet,
            _ => Membership::Kept,
        }
    }

    /// Whether live objects of the region move, or were to move.
    #[inline(always)]
    pub(in crate::collector) fn is_in_set(&self, index: usize) -> bool {
        self.members[index].load(Ordering::Relaxed) != 0
    }

    pub(in crate::collector) fn set_membership(&self, index: usize, membership: Membership) {
        self.members[index].store(membership as u8, Ordering::Relaxed);
    }

    /// Notes that the region has a live object that is too large for a copy in a load.
    pub(super) fn note_large(&self, index: usize) {
        self.large[index].store(1, Ordering::Relaxed);
    }

    pub(in crate::collector) fn has_large(&self, index: usize) -> bool {
        self.large[index].load(Ordering::Relaxed) != 0
    }

    /// Notes that markers may write the map of the region.
    pub(in crate::collector) fn open_region(&self, index: usize) {
        self.marked[index].store(1, Ordering::Relaxed);
    }

    /// Clears the notes of the last marking about the region.
    pub(in crate::collector) fn clear_region(&self, table: &RegionTable, index: usize) {
        if self.marked[index].swap(0, Ordering::Relaxed) != 0 {
            self.map.clear(table.bottom(index), table.end(index));
            self.large[index].store(0, Ordering::Relaxed);
        }
    }

    /// Whether the object at `address` is marked, or lies above the border of its region.
    #[inline(always)]
    pub(super) fn is_marked(&self, free: &FreeSet, address: usize) -> bool {
        let table = free.table();
        address >= table.mark_start(table.index_of(address)) || self.map.is_live(address)
    }

    /// Whether the object at `address` is live. While marking runs: whether it is known to be live.
    #[inline]
    pub(in crate::collector) fn is_live(&self, free: &FreeSet, address: usize) -> bool {
        self.is_marked(free, address) || self.seeks(OLD_LIVE) && !is_young(free, address)
    }

    /// The word of a slot, if marking has yet to find its referent and an overwrite may hide it. A
    /// slot that hides nothing is not read.
    #[inline]
    pub(in crate::collector) fn hidden_by_store(&self, free: &FreeSet, slot: &AtomicU64) -> Option<u64> {
        if !self.may_hide(free, slot.as_ptr().addr()) {
            return None;
        }
        // Acquire: the referent is initialised.
        let bits = slot.load(Ordering::Acquire);
        reference(bits).filter(|&address| self.is_sought(free, address)).map(|_| bits)
    }

    /// Calls `found` with each word that [`hidden_by_store`](Self::hidden_by_store) gives for a slot
    /// of this range. The slots lie in one object.
    pub(in crate::collector) fn hidden_by_stores(
        &self,
        free: &FreeSet,
        slots: &[AtomicU64],
        found: &mut dyn FnMut(u64),
    ) {
        let table = free.table();
        let mut rest = slots;
        while let Some(first) = rest.first() {
            let address = first.as_ptr().addr();
            let in_region = (table.end(table.index_of(address)) - address) / size_of::<AtomicU64>();
            let (part, after) = rest.split_at(in_region.min(rest.len()));
            rest = after;
            // One answer for the part: an object is born before or after a border, as a whole.
            if self.may_hide(free, address) {
                part.iter().filter_map(|slot| self.hidden_by_store(free, slot)).for_each(&mut *found);
            }
        }
    }

    /// Whether the slot at `address` may be the only way to an object that marking has yet to find.
    /// `false` for slots of objects that were born since marking began. If only old objects are
    /// marked, `false` for slots of young objects: the cycle that began this marking has found
    /// their referents.
    #[inline]
    pub(in crate::collector) fn may_hide(&self, free: &FreeSet, address: usize) -> bool {
        let table = free.table();
        // No object is born old.
        !is_young(free, address) || self.marks_young() && address < table.mark_start(table.index_of(address))
    }

    /// Whether marking has yet to find the object at `address`, if the object is live.
    #[inline]
    pub(in crate::collector) fn is_sought(&self, free: &FreeSet, address: usize) -> bool {
        // In this order: a map that is being cleared is not read.
        self.seeks(if is_young(free, address) { YOUNG } else { OLD }) && !self.is_marked(free, address)
    }

    /// Calls `visit` with each marked object that begins in region `index`; `visit` returns its
    /// size.
    pub(super) fn for_each_marked(&self, free: &FreeSet, index: usize, visit: impl FnMut(usize) -> usize) {
        self.for_each_marked_from(free, index, 0, visit);
    }

    /// [`for_each_marked`](Self::for_each_marked) of the objects at or above `from`, where one may
    /// begin.
    pub(super) fn for_each_marked_from(
        &self,
        free: &FreeSet,
        index: usize,
        from: usize,
        mut visit: impl FnMut(usize) -> usize,
    ) {
        let table = free.table();
        if !table.get(index).state().begins_objects() {
            return;
        }
        let end = marked_end(free, index);
        let mut at = self.map.next_live(from.max(table.bottom(index)), end);
        while at < end {
            at = self.map.next_live(at.saturating_add(visit(at)), end);
        }
    }

    /// Bytes of live objects below `top` in a region that is not a part of a run, once marking has
    /// ended. `top` was the region's: it may have moved since.
    pub(in crate::collector) fn live_bytes(&self, free: &FreeSet, index: usize, top: usize) -> usize {
        let table = free.table();
        let bottom = table.bottom(index);
        let border = table.mark_start(index).min(top);
        self.map.live_bytes(bottom, border) + (top - border)
    }

    /// Whether a run of regions holds a live object, once marking has ended.
    pub(in crate::collector) fn is_run_live(&self, free: &FreeSet, start: usize) -> bool {
        let table = free.table();
        let bottom = table.bottom(start);
        // The owner of a run that was made since may give it back at any moment.
        if table.mark_start(start) == bottom {
            return true;
        }
        debug_assert!(table.get(start).state() == State::HumongousStart);
        let end = free.object_end(start);
        self.map.next_live(bottom, end) < end
    }
}

/// The address after the last object of the region that can be marked.
pub(super) fn marked_end(free: &FreeSet, index: usize) -> usize {
    let table = free.table();
    match table.get(index).state() {
        State::HumongousStart if table.mark_start(index) > table.bottom(index) => free.object_end(index),
        State::HumongousStart => table.bottom(index),
        // A stopped world may have lowered the top since.
        _ => table.mark_start(index).min(table.get(index).top()),
    }
}

/// Whether the object at `address` is young, in a heap with generations.
#[inline]
pub(super) fn is_young(free: &FreeSet, address: usize) -> bool {
    let table = free.table();
    !table.get(table.index_of(address)).is_tenured()
}
