//! Evacuation: the live objects of a set of regions are copied, by workers and by mutators.
//!
//! ```text
//! copy the contents  ->  compare-and-swap of the old header: the copy's address      one copy wins
//! no memory          ->  compare-and-swap of the old header: kept bits               it stays
//! ```
//!
//! The swap is from the header whose object was copied. An object of the set cannot change: no
//! thread has a reference to it. So a failed swap means that another thread has decided, and the
//! thread takes its own copy back. The size of a moved object is the size of its copy, because the
//! old header is gone.
//!
//! In a heap with generations a copy becomes old if the object was old, or if it has survived
//! enough cycles. An object that should become old, and for which there is no old memory, stays
//! young. An old object never becomes young: the old objects that refer to it are not known.

use super::delay::passage;
use super::objects::{header_at, measure, place_of};
use super::space::{CopySpace, Generation};
use super::tables::{Membership, Tables};
use crate::collector::kernel::{KEPT, OldTables, ShapeCache, broken, cover, decide, decided, word_at};
use crate::object::{Header, Kind, LENGTH_OFFSET, MAX_AGE, POISON, WORD};
use crate::region::{Carve, RegionTable, Space};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a copier's buffer.
const BUFFER: usize = if cfg!(test) { 512 } else { 32 << 10 };

/// Bytes that a copier copies before it asks whether it is halted.
const PIECE: usize = if cfg!(test) { 256 } else { 32 << 10 };

/// The tables and the threshold of a heap with generations.
#[derive(Clone, Copy)]
pub(in crate::collector) struct Generations<'e> {
    /// The tables of old regions.
    pub(in crate::collector) tables: OldTables<'e>,
    /// Objects that have survived this number of cycles become old when they are copied.
    pub(in crate::collector) tenuring_threshold: u8,
}

/// The parts of the heap that all threads that evacuate share.
#[derive(Clone, Copy)]
pub(in crate::collector) struct Evacuator<'e> {
    pub(in crate::collector) space: &'e Space,
    pub(in crate::collector) tables: &'e Tables,
    pub(in crate::collector) copies: &'e CopySpace,
    /// `None` in a heap without generations.
    pub(in crate::collector) generations: Option<Generations<'e>>,
}

/// A part of a region of the set: the objects at or above an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collector) struct Part {
    pub(in crate::collector) region: usize,
    /// 0: all of the region.
    pub(in crate::collector) from: usize,
}

impl Part {
    /// Bytes of the objects, dead ones included.
    pub(in crate::collector) fn bytes(self, table: &RegionTable) -> usize {
        table.mark_start(self.region).saturating_sub(self.from.max(table.bottom(self.region)))
    }
}

/// A buffer of a [`Copier`].
#[derive(Default)]
struct Buffer {
    top: usize,
    end: usize,
}

/// The source of memory for copies.
trait Memory {
    fn take(&mut self, bytes: usize, generation: Generation) -> Option<usize>;
    /// Takes back `[start, end)`, the copy of an object that another thread copied faster.
    fn give_back(&mut self, start: usize, end: usize);
    /// Copies words; `from` are those of an object that another thread may decide meanwhile.
    ///
    /// # Safety
    /// - As many words may be read at `from`, and are this thread's alone at `to`.
    unsafe fn copy_words(&self, from: *const u64, to: *mut u64, words: usize) {
        // SAFETY: the caller's predicates.
        unsafe { std::ptr::copy_nonoverlapping(from, to, words) };
    }
}

/// The memory of a thread that copies one object: each copy comes from the region of its core.
struct Single<'e> {
    evacuator: Evacuator<'e>,
    home: usize,
}

impl Memory for Single<'_> {
    fn take(&mut self, bytes: usize, generation: Generation) -> Option<usize> {
        Some(self.evacuator.allocate(self.home, generation, bytes, bytes)?.start)
    }

    fn give_back(&mut self, start: usize, end: usize) {
        self.evacuator.take_back(start, end);
    }

    /// Word by word if the other thread's copies may be poisoned meanwhile
    /// ([`poison_moved`](Evacuator::poison_moved)): the object is then read while it is written.
    unsafe fn copy_words(&self, from: *const u64, to: *mut u64, words: usize) {
        if !self.evacuator.space.free.disposal.poison {
            // SAFETY: the caller's predicates.
            return unsafe { std::ptr::copy_nonoverlapping(from, to, words) };
        }
        for index in 0..words {
            // SAFETY: the caller's predicates; the words of a moved object are written as atomics.
            unsafe {
                to.add(index).write(AtomicU64::from_ptr(from.add(index).cast_mut()).load(Ordering::Relaxed))
            };
        }
    }
}

/// The memory of a [`Copier`]: small objects come from its buffers.
struct Buffered<'e> {
    single: Single<'e>,
    /// By generation.
    buffers: [Buffer; 2],
}

impl Memory for Buffered<'_> {
    fn take(&mut self, bytes: usize, generation: Generation) -> Option<usize> {
        let buffer = &mut self.buffers[generation as usize];
        if buffer.end - buffer.top < bytes {
            if bytes > BUFFER / 4 {
                return self.single.take(bytes, generation);
            }
            let Single { evacuator, home } = self.single;
            let carve = evacuator.allocate(home, generation, bytes, BUFFER)?;
            evacuator.end_buffer(buffer);
            *buffer = Buffer { top: carve.start, end: carve.end };
        }
        let start = buffer.top;
        buffer.top += bytes;
        Some(start)
    }

    fn give_back(&mut self, start: usize, end: usize) {
        let table = self.single.evacuator.space.free.table();
        // The end of a region may be the bottom of the region of another buffer.
        let ends_buffer = |buffer: &&mut Buffer| {
            buffer.top == end && table.index_of(start) == table.index_of(buffer.end - 1)
        };
        match self.buffers.iter_mut().find(ends_buffer) {
            Some(buffer) => buffer.top = start,
            None => self.single.give_back(start, end),
        }
    }
}

/// The place of an object whose fate is decided.
struct Decided {
    address: usize,
    bytes: usize,
    /// Whether this thread made the copy.
    copied: bool,
}

impl<'e> Evacuator<'e> {
    fn old_tables(&self) -> Option<OldTables<'e>> {
        Some(self.generations?.tables)
    }

    fn allocate(&self, home: usize, generation: Generation, bytes: usize, desired: usize) -> Option<Carve> {
        self.copies.allocate(&self.space.free, self.old_tables(), home, generation, bytes, desired)
    }

    fn take_back(&self, start: usize, end: usize) {
        self.copies.take_back(&self.space.free, self.old_tables(), start, end);
    }

    /// The generation of the copy of an object in region `index`, and the copy's header.
    #[inline]
    fn copy_of(&self, header: Header, index: usize) -> (Generation, Header) {
        let Some(Generations { tenuring_threshold, .. }) = self.generations else {
            return (Generation::Young, header);
        };
        let region = self.space.free.table().get(index);
        // The region has become older in the stop that began evacuation.
        let age = header.age().saturating_add(region.age()).min(MAX_AGE);
        if region.is_tenured() || age > tenuring_threshold {
            return (Generation::Old, header);
        }
        (Generation::Young, header.with_age(age))
    }

    /// Memory for a copy of an object in region `index`. A young object whose copy should be old
    /// may get young memory.
    #[inline]
    fn memory_for(
        &self,
        memory: &mut impl Memory,
        bytes: usize,
        generation: Generation,
        index: usize,
    ) -> Option<(usize, Generation)> {
        if self.copies.fails() {
            return None;
        }
        if let Some(start) = memory.take(bytes, generation) {
            return Some((start, generation));
        }
        let may_stay_young =
            generation == Generation::Old && !self.space.free.table().get(index).is_tenured();
        let start = if may_stay_young { memory.take(bytes, Generation::Young) } else { None };
        Some((start?, Generation::Young))
    }

    /// The place of the live object at `address`, which is moved if it has yet to move. For a
    /// thread that runs on core `home`.
    #[inline]
    pub(in crate::collector) fn forward(&self, address: usize, home: usize) -> usize {
        if !self.tables.is_in_set(self.space.free.table().index_of(address)) {
            return address;
        }
        self.forward_moving(address, home)
    }

    #[inline(never)]
    fn forward_moving(&self, address: usize, home: usize) -> usize {
        // SAFETY: the caller has a reference to the object.
        let header = unsafe { header_at(address) };
        match header.kind() {
            Kind::Forwarded(copy) => return copy,
            _ if header.mark() == KEPT => return address,
            _ => {}
        }
        let mut shapes = ShapeCache::new(&self.space.shapes);
        // SAFETY: as above.
        let decided = unsafe { self.decide(&mut shapes, address, &mut Single { evacuator: *self, home }) };
        if decided.copied {
            self.copies.count(home, decided.bytes);
        }
        decided.address
    }

    /// Copies the object at `address` to `memory`, unless another thread has decided it.
    ///
    /// # Safety
    /// - A live object of the set is, or was, at `address`.
    #[inline]
    unsafe fn decide(
        &self,
        shapes: &mut ShapeCache<'_>,
        address: usize,
        memory: &mut impl Memory,
    ) -> Decided {
        // SAFETY: the caller's predicate.
        let (word, header) = unsafe { (word_at(address), header_at(address)) };
        if let Kind::Forwarded(copy) = header.kind() {
            // SAFETY: the copy was complete before its address was published.
            return Decided { address: copy, bytes: unsafe { measure(shapes, copy) }.1, copied: false };
        }
        if !header.is_object() {
            broken(address, "something refers to it, but no object is there");
        }
        let layout = shapes.layout(header, address);
        // SAFETY: an object of that layout, which does not change.
        let bytes = unsafe { layout.size_of(address) };
        if header.mark() == KEPT {
            return Decided { address, bytes, copied: false };
        }
        debug_assert!(self.tables.is_live(&self.space.free, address), "{address:#x} is dead, and moves");
        let index = self.space.free.table().index_of(address);
        let (generation, new_header) = self.copy_of(header, index);
        let Some((copy, generation)) = self.memory_for(memory, bytes, generation, index) else {
            // First: a thread that finds the object kept may ask for the region.
            self.tables.set_membership(index, Membership::Kept);
            decide(word, header, header.with_mark(KEPT));
            return Decided { address: decided(word, address), bytes, copied: false };
        };
        // SAFETY: the object's words, and memory of this thread's alone for as many.
        unsafe {
            let (from, to) = ((address + WORD) as *const u64, (copy + WORD) as *mut u64);
            memory.copy_words(from, to, bytes / WORD - 1);
            (copy as *mut u64).write(new_header.bits());
        }
        passage();
        if decide(word, header, Header::forwarded(copy)) {
            if let Some(tables) = self.old_tables().filter(|_| generation == Generation::Old) {
                tables.starts.record(copy, bytes);
            }
            return Decided { address: copy, bytes, copied: true };
        }
        memory.give_back(copy, copy + bytes);
        Decided { address: decided(word, address), bytes, copied: false }
    }

    /// Ends the use of a buffer: its rest goes back, or becomes a filler.
    fn end_buffer(&self, buffer: &mut Buffer) {
        let Buffer { top, end } = std::mem::take(buffer);
        if top < end {
            self.take_back(top, end);
        }
    }

    /// Fills the old places of objects of a region with the pattern of freed memory, in a heap that
    /// is tested: a load without its barrier then reads the pattern. A mutator that copies such an
    /// object at this moment has lost already, and reads as atomics what is written here. Workers and
    /// mutators that help have finished their copies.
    ///
    /// # Safety
    /// - Each live object of the region was moved or kept.
    pub(in crate::collector) unsafe fn poison_moved(&self, index: usize) {
        let mut shapes = ShapeCache::new(&self.space.shapes);
        self.tables.for_each_marked(&self.space.free, index, |at| {
            // SAFETY: the first live word after an object is a header.
            let place = place_of(unsafe { header_at(at) }, at);
            // SAFETY: a complete copy, or the object itself.
            let (slots, bytes) = unsafe { measure(&mut shapes, place) };
            if place != at {
                // The length stays: a thread that has lost may have yet to read it.
                let kept = if slots.shape.tail().is_some() { LENGTH_OFFSET + WORD } else { WORD };
                for word in (at + kept..at + bytes).step_by(WORD) {
                    // SAFETY: a word of the object. Only stale references lead to the object.
                    // Barriers read its header and its length, and copy the rest as atomics.
                    unsafe { word_at(word) }.store(POISON, Ordering::Relaxed);
                }
            }
            bytes
        });
    }

    /// Makes an ordinary region of a region of the set in which some objects were kept: the memory
    /// of all others becomes fillers. Returns the end of the last kept object. Records the starts
    /// in an old region. In a stop, while no thread copies.
    ///
    /// # Safety
    /// - No thread refers to an object of the region that has moved.
    pub(in crate::collector) unsafe fn settle_kept(&self, index: usize) -> usize {
        let mut shapes = ShapeCache::new(&self.space.shapes);
        let table = self.space.free.table();
        let mut unused = table.bottom(index);
        let old = self.old_tables().filter(|_| table.get(index).is_tenured());
        if let Some(tables) = &old {
            tables.starts.clear_range(unused, table.end(index));
        }
        let record = |start: usize, bytes: usize| {
            if let Some(tables) = old.filter(|_| bytes > 0) {
                tables.starts.record(start, bytes);
            }
        };
        self.tables.for_each_marked(&self.space.free, index, |at| {
            // SAFETY: the first live word after an object is a header.
            let header = unsafe { header_at(at) };
            // SAFETY: a complete copy, or the object itself.
            let bytes = unsafe { measure(&mut shapes, place_of(header, at)) }.1;
            if header.is_object() {
                // SAFETY: the objects between two kept ones are dead or have moved.
                unsafe {
                    cover(&self.space.free, unused, at);
                    (at as *mut u64).write(header.with_mark(0).bits());
                }
                record(unused, at - unused);
                record(at, bytes);
                unused = at + bytes;
            }
            bytes
        });
        unused
    }
}

/// One thread that copies regions of the set.
pub(in crate::collector) struct Copier<'e> {
    memory: Buffered<'e>,
    copied_bytes: usize,
}

impl<'e> Copier<'e> {
    /// A thread that runs on core `home`.
    pub(in crate::collector) fn new(evacuator: Evacuator<'e>, home: usize) -> Copier<'e> {
        let memory = Buffered { single: Single { evacuator, home }, buffers: Default::default() };
        Copier { memory, copied_bytes: 0 }
    }

    /// Copies a part of a region of the set, until that is done or the thread is `halted`. Returns
    /// the rest, if there is one.
    pub(in crate::collector) fn copy(
        &mut self,
        Part { region, from }: Part,
        halted: &mut dyn FnMut() -> bool,
    ) -> Option<Part> {
        let evacuator = self.memory.single.evacuator;
        let (map, table) = (&evacuator.tables.map, evacuator.space.free.table());
        let mut shapes = ShapeCache::new(&evacuator.space.shapes);
        let end = table.mark_start(region);
        let mut at = map.next_live(from.max(table.bottom(region)), end);
        let mut since = 0;
        while at < end {
            // SAFETY: the first live word after an object is a header.
            let decided = unsafe { evacuator.decide(&mut shapes, at, &mut self.memory) };
            if decided.copied {
                self.copied_bytes += decided.bytes;
                since += decided.bytes;
            }
            at = map.next_live(at + decided.bytes, end);
            if since >= PIECE {
                since = 0;
                if halted() && at < end {
                    return Some(Part { region, from: at });
                }
            }
        }
        None
    }

    /// Ends the copying. Returns the copied bytes.
    pub(in crate::collector) fn finish(mut self) -> usize {
        let Single { evacuator, .. } = self.memory.single;
        self.memory.buffers.iter_mut().for_each(|buffer| evacuator.end_buffer(buffer));
        self.copied_bytes
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Heap;
    use crate::collector::kernel::Pages;
    use crate::region::StartTable;

    /// The end of a region of old copies is the bottom of the region of young ones.
    #[test]
    fn what_is_given_back_stays_in_its_region() {
        let heap = Heap::builder().test_geometry(4096, 16).options("Collector=shenandoah").unwrap();
        let heap = heap.use_transparent_huge_pages(false).build().unwrap();
        let shared = &heap.shared;
        let table = shared.space.free.table();
        let (base, bytes) = (table.base(), table.geometry().heap_bytes());
        let tables = Tables::new(base, bytes, table.len(), Pages::default()).unwrap();
        let starts = StartTable::new(base, bytes).unwrap();
        let copies = CopySpace::new(1, 0);
        assert_eq!(copies.provide(&shared.space.free, 2), Ok(2));
        let old = OldTables { cards: &shared.space.cards, starts: &starts };
        let evacuator = Evacuator {
            space: &shared.space,
            tables: &tables,
            copies: &copies,
            generations: Some(Generations { tables: old, tenuring_threshold: 1 }),
        };
        let mut memory = Copier::new(evacuator, 0).memory;
        let young = memory.take(64, Generation::Young).unwrap();
        memory.give_back(young, young + 64);
        let mut last = 0;
        for _ in 0..8 {
            last = memory.take(512, Generation::Old).unwrap();
        }
        assert_eq!(last + 512, young, "the regions are neighbours");
        memory.give_back(last, last + 512);
        assert_eq!(memory.take(64, Generation::Young), Some(young));
        assert_eq!(memory.take(512, Generation::Old), Some(last));
    }
}
