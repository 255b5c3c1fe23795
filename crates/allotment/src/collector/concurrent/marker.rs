//! One thread that marks while mutators run.
//!
//! Marking finds all objects that were reachable when it began (snapshot at the beginning).
//! Mutators hand over each word that they overwrite (`SatbQueue`), so their stores hide no object.
//! Objects that were born meanwhile lie above the border of their region. They are live, and no
//! marker looks at them.
//!
//! In a heap with generations the marking of old objects goes on across young cycles. While old
//! objects are being marked, a marker of young objects hands over the old ones that it meets, and
//! does not look at them. A marker of old objects passes young ones by: the young cycle in which
//! the marking of old objects began has handed over the old referents of those.
//!
//! Refused: to share the stopped marker (`full/marker.rs`). That one reads slots and headers as
//! plain memory, finds entries that did not fit again, and cannot be interrupted.

use super::entries::Entries;
use super::found::Found;
use super::hand_over::HandOver;
use super::leftover::{Interrupt, Leftover, MarkLeftover};
use super::objects::{Slots, for_each_slot_of, header_at, measure};
use super::old::{for_each_dirty_run, for_each_slot_in};
use super::tables::{Sought, Tables, is_young};
use crate::collector::kernel::{OldTables, ShapeCache};
use crate::collector::work::{Trace, WorkEntry, WorkStack, chunk_slots, trace};
use crate::mutator::SatbQueue;
use crate::object::{
    Header, MAX_AGE, Shape, SlotKind, WORD, for_each_fixed_slot, for_each_word, reference, tail_slots,
};
use crate::region::{CARD_BYTES, Space};
use std::sync::atomic::{AtomicU64, Ordering};

/// Objects after which a worker asks whether it is interrupted.
const PIECE: usize = if cfg!(test) { 8 } else { 512 };

/// Entries that a worker leaves to mutators at once.
const SHARED: usize = if cfg!(test) { 4 } else { 256 };

/// No load copies a live object of more bytes: that would take 10 us and more.
const LARGE: usize = if cfg!(test) { 256 } else { 64 << 10 };

/// The shared data of markers.
#[derive(Clone, Copy)]
pub(in crate::collector) struct MarkShared<'m> {
    pub(in crate::collector) tables: &'m Tables,
    pub(in crate::collector) satb: &'m SatbQueue,
    pub(in crate::collector) left: &'m MarkLeftover,
    pub(in crate::collector) interrupt: &'m Interrupt,
    /// Called now and then by each marker with the bytes that it has marked since.
    pub(in crate::collector) marked: Option<&'m (dyn Fn(u64) + Sync)>,
    /// The objects that these markers look for.
    pub(in crate::collector) sought: Sought,
    /// `None` in a heap without generations.
    pub(in crate::collector) old: Option<OldShared<'m>>,
}

/// The shared data of markers in a heap with generations.
#[derive(Clone, Copy)]
pub(in crate::collector) struct OldShared<'m> {
    pub(in crate::collector) tables: OldTables<'m>,
    /// Old objects that marking has found, and that markers of young objects hand over.
    pub(in crate::collector) found: &'m Leftover,
}

/// Work of a marker until it is halted.
struct Run<'r, 'm, S, F> {
    marker: &'r mut Marker<'m, S>,
    halted: F,
    /// Objects until the marker asks whether it is halted.
    left: usize,
}

impl<S: Entries, F: FnMut() -> bool> Trace for Run<'_, '_, S, F> {
    #[inline(always)]
    fn pop_at_hand(&mut self) -> Option<usize> {
        self.marker.stack.pop_at_hand()
    }

    #[inline(always)]
    fn refill(&mut self) -> bool {
        self.marker.stack.refill()
    }

    #[inline(always)]
    fn keep(&mut self, entry: WorkEntry) {
        self.marker.push(entry.encode());
    }

    #[inline(always)]
    fn share(&mut self) {
        self.marker.stack.share();
    }

    #[inline(always)]
    unsafe fn visit(&mut self, address: usize) -> bool {
        // SAFETY: the caller's predicate.
        unsafe { self.marker.visit(address) };
        self.left -= 1;
        if self.left == 0 {
            self.left = PIECE;
            self.marker.report();
            if (self.halted)() {
                return false;
            }
            if self.marker.shared.left.found.is_wanted() {
                self.marker.leave_up_to(SHARED);
            }
        }
        true
    }

    #[inline(always)]
    unsafe fn visit_chunk(&mut self, array: usize, number: usize) -> bool {
        // SAFETY: the caller's predicate.
        unsafe { self.marker.scan_chunk(array, number) };
        true
    }
}

/// One thread that marks.
pub(in crate::collector) struct Marker<'m, S> {
    space: &'m Space,
    shared: MarkShared<'m>,
    shapes: ShapeCache<'m>,
    region_bytes: usize,
    stack: S,
    weak: Vec<usize>,
    /// Old objects for the markers of old objects.
    hand_over: HandOver<'m>,
    found: Found,
    /// Bytes of `found` that were reported.
    reported_bytes: u64,
}

impl Marker<'_, WorkStack<'_>> {
    /// Works until no worker has anything left and nothing is recorded, or until all are
    /// interrupted.
    pub(in crate::collector) fn drain_all(&mut self) {
        loop {
            self.drain_own();
            if !self.stack.find() {
                return;
            }
        }
    }

    /// Finds the young objects that the slots in dirty cards of an old region refer to. A card with
    /// such a slot stays dirty. Returns `false` if the worker was interrupted: the region has to be
    /// scanned again.
    ///
    /// # Safety
    /// - The region is old since a former cycle, and nothing moves.
    pub(in crate::collector) unsafe fn remembered(&mut self, index: usize) -> bool {
        let Some(OldShared { tables, .. }) = self.shared.old else { return true };
        let (free, bottom) = (&self.space.free, self.space.free.table().bottom(index));
        // Not the marker's own, which it uses meanwhile.
        let mut shapes = ShapeCache::new(&self.space.shapes);
        for_each_dirty_run(&tables, bottom..free.object_end(index), |run| {
            tables.cards.clean_run(&run);
            self.found.cards += (run.end - run.start).div_ceil(CARD_BYTES) as u64;
            // SAFETY: the caller's predicates.
            unsafe {
                for_each_slot_in(&mut shapes, &tables, bottom, run, |slot, kind, object| {
                    if let Some(address) = reference(slot.load(Ordering::Acquire))
                        && is_young(free, address)
                    {
                        tables.cards.dirty_concurrently(std::ptr::from_ref(slot).addr());
                        match kind {
                            SlotKind::Strong => self.reach(address),
                            SlotKind::Weak => self.has_weak(object),
                        }
                    }
                });
            }
            self.drain_own();
            !self.shared.interrupt.is_set()
        })
    }

    /// Works until nothing is left here, in the leftovers and in the queue of recorded words.
    fn drain_own(&mut self) {
        let interrupt = self.shared.interrupt;
        loop {
            if !self.drain(|| interrupt.is_set()) {
                return self.leave();
            }
            if !self.take_left() && !self.take_recorded(SatbQueue::take) {
                return;
            }
        }
    }
}

impl<'m, S: Entries> Marker<'m, S> {
    pub(in crate::collector) fn new(space: &'m Space, shared: MarkShared<'m>, stack: S) -> Self {
        Marker {
            space,
            shared,
            shapes: ShapeCache::new(&space.shapes),
            region_bytes: space.free.table().geometry().region_bytes(),
            stack,
            weak: Vec::new(),
            hand_over: HandOver::new(shared.old.map(|old| old.found)),
            found: Found::default(),
            reported_bytes: 0,
        }
    }

    /// Reports what was marked since the last report.
    fn report(&mut self) {
        if let Some(marked) = self.shared.marked {
            marked(self.found.bytes - std::mem::replace(&mut self.reported_bytes, self.found.bytes));
        }
    }

    /// Ends the marker's work. Returns the counts of what it found.
    pub(in crate::collector) fn finish(mut self) -> Found {
        self.report();
        self.shared.left.weak_objects.leave(std::mem::take(&mut self.weak));
        self.hand_over.give();
        self.found
    }

    /// For a mutator: works on the entries of others until it is `halted`, or until nothing is
    /// left. Leaves the rest. Returns whether there was anything.
    pub(in crate::collector) fn drain_some(&mut self, mut halted: impl FnMut() -> bool) -> bool {
        let mut any = false;
        while self.take_left() || self.take_recorded(SatbQueue::take) {
            any = true;
            if !self.drain(&mut halted) || halted() {
                break;
            }
        }
        self.leave();
        any
    }

    /// In a stop: works until nothing is left, or until `enough` is true, which is asked now and
    /// then. Returns whether nothing is left.
    pub(in crate::collector) fn drain_stopped(&mut self, mut enough: impl FnMut() -> bool) -> bool {
        loop {
            if !self.drain(&mut enough) {
                self.leave();
                return false;
            }
            if !self.take_left() && !self.take_recorded(SatbQueue::take_surely) {
                return true;
            }
        }
    }

    fn take_left(&mut self) -> bool {
        let Some(entries) = self.shared.left.found.take() else { return false };
        entries.into_iter().for_each(|entry| self.push(entry));
        true
    }

    fn take_recorded(&mut self, take: impl FnOnce(&SatbQueue) -> Option<Vec<u64>>) -> bool {
        let Some(words) = take(self.shared.satb) else { return false };
        self.found.recorded += words.len() as u64;
        words.into_iter().filter_map(reference).for_each(|address| self.reach(address));
        true
    }

    fn pop(&mut self) -> Option<usize> {
        loop {
            match self.stack.pop_at_hand() {
                None if self.stack.refill() => {}
                entry => return entry,
            }
        }
    }

    /// Leaves all entries for later.
    fn leave(&mut self) {
        self.leave_up_to(usize::MAX);
        // If there was no memory for them, entries are lost. The next marking must not find them.
        while self.pop().is_some() {}
    }

    /// Leaves some entries to mutators that have time to help.
    #[cold]
    fn leave_up_to(&mut self, most: usize) {
        let mut entries = Vec::new();
        while entries.len() < most
            && let Some(entry) = self.pop()
        {
            if entries.try_reserve(1).is_err() {
                return self.shared.left.found.lose();
            }
            entries.push(entry);
        }
        self.shared.left.found.leave(entries);
    }

    /// Lets marking look at the object at `address`, if it has yet to.
    #[inline(always)]
    pub(in crate::collector) fn reach(&mut self, address: usize) {
        if !self.shared.tables.is_marked(&self.space.free, address)
            && (!self.shared.sought.old_live() || self.is_own(address))
        {
            self.push(WorkEntry::Plain(address).encode());
        }
    }

    /// Whether this marker marks the unmarked object, where generations are marked apart. Hands
    /// over an old object that markers of old objects have to mark.
    #[inline]
    fn is_own(&mut self, address: usize) -> bool {
        let sought = self.shared.sought;
        if is_young(&self.space.free, address) {
            return sought.young();
        }
        if sought == Sought::YoungBesideOld {
            self.hand_over.add(address);
        }
        sought == Sought::Old
    }

    #[inline(always)]
    fn push(&mut self, entry: usize) {
        if !self.stack.push(entry) {
            self.overflow(entry);
        }
    }

    /// Keeps an entry for which the stack has no room.
    #[cold]
    #[inline(never)]
    fn overflow(&mut self, entry: usize) {
        self.leave_up_to(SHARED);
        if !self.stack.push(entry) {
            self.shared.left.found.lose();
        }
    }

    /// Works until this thread's stack is empty, or until `halted` is true, which is asked now and
    /// then. Returns `false` if it was halted; entries may be left then.
    fn drain(&mut self, halted: impl FnMut() -> bool) -> bool {
        let mut run = Run { marker: self, halted, left: PIECE };
        // SAFETY: every pushed address is an object's, and only arrays of references are pushed as
        // chunks.
        unsafe { trace(&mut run) && !(run.halted)() }
    }

    /// Marks an object and looks at its slots.
    ///
    /// # Safety
    /// - `address` is an object's.
    #[inline(always)]
    unsafe fn visit(&mut self, address: usize) {
        // SAFETY: the caller's predicate.
        let (Slots { words, has_slots, shape }, bytes) = unsafe { measure(&mut self.shapes, address) };
        let marked = if bytes > self.region_bytes { WORD } else { bytes };
        if !self.shared.tables.map.claim::<true>(address, marked, false) {
            return;
        }
        if self.shared.old.is_some() {
            // SAFETY: as above.
            self.count_age(address, unsafe { header_at(address) }, bytes);
        }
        self.found.objects += 1;
        self.found.bytes += bytes as u64;
        if bytes > LARGE {
            self.shared.tables.note_large(self.space.free.table().index_of(address));
        }
        if words != 0 {
            // SAFETY: slots of an object.
            for_each_word(address, words, |slot| unsafe { self.slot(slot) });
        } else if has_slots {
            // SAFETY: the caller's predicate.
            unsafe { self.scan(address, shape) };
        }
    }

    /// # Safety
    /// - `slot` is a strong slot of an object.
    #[inline(always)]
    unsafe fn slot(&mut self, slot: *mut u64) {
        // SAFETY: an aligned word that all access as atomic. Acquire: the referent is initialised.
        let bits = unsafe { AtomicU64::from_ptr(slot) }.load(Ordering::Acquire);
        if let Some(address) = reference(bits) {
            self.reach(address);
        }
    }

    /// # Safety
    /// - An object of `shape` is at `address`.
    #[inline(never)]
    unsafe fn scan(&mut self, address: usize, shape: &Shape) {
        let mut weak = false;
        // SAFETY: the caller's predicate.
        unsafe {
            match tail_slots(address, shape) {
                Some(tail) if tail.kind == SlotKind::Strong => self.scan_chunk(address, 0),
                Some(_) => weak = true,
                None => {}
            }
            for_each_fixed_slot(address, shape, |slot, kind| match kind {
                SlotKind::Strong => self.slot(slot),
                SlotKind::Weak => weak = true,
            });
        }
        if weak {
            self.has_weak(address);
            // No list keeps young objects with weak slots until the marking of old objects ends. So
            // their weak slots keep old objects alive until the next marking.
            if self.shared.sought == Sought::YoungBesideOld {
                // SAFETY: the caller's predicate.
                unsafe { self.hand_over_weak(address) };
            }
        }
    }

    /// Hands over the old objects that weak slots refer to.
    ///
    /// # Safety
    /// - An object is at `address`.
    #[cold]
    unsafe fn hand_over_weak(&mut self, address: usize) {
        // SAFETY: the caller's predicate.
        let (slots, _) = unsafe { measure(&mut self.shapes, address) };
        let free = &self.space.free;
        // SAFETY: as above.
        unsafe {
            for_each_slot_of(address, slots, |slot, kind| {
                if kind == SlotKind::Weak
                    && let Some(referent) = reference(slot.load(Ordering::Acquire))
                    && !is_young(free, referent)
                {
                    self.reach(referent);
                }
            });
        }
    }

    /// Notes an object with weak slots.
    fn has_weak(&mut self, address: usize) {
        if self.weak.try_reserve(1).is_err() {
            return self.shared.left.weak_objects.lose();
        }
        if self.weak.last() != Some(&address) {
            self.weak.push(address);
        }
    }

    /// Counts the bytes of a young object by age: the sum of the ages of object and region.
    fn count_age(&mut self, address: usize, header: Header, bytes: usize) {
        let table = self.space.free.table();
        let region = table.get(table.index_of(address));
        if !region.is_tenured() {
            let age = header.age().saturating_add(region.age()).min(MAX_AGE);
            self.found.ages[usize::from(age)] += bytes as u64;
        }
    }

    /// Looks at a chunk of the references of an array, and pushes the next.
    ///
    /// # Safety
    /// - `address` is that of an array of references.
    unsafe fn scan_chunk(&mut self, address: usize, number: usize) {
        // SAFETY: the caller's predicate.
        let tail = unsafe {
            let shape = measure(&mut self.shapes, address).0.shape;
            tail_slots(address, shape)
        };
        let Some(tail) = tail else { return };
        let slots = chunk_slots(tail.length);
        let end = tail.length.min((number + 1) * slots);
        if end < tail.length {
            self.push(WorkEntry::Chunk { array: address, number: number + 1 }.encode());
        }
        for index in number * slots..end {
            // SAFETY: a slot of the array.
            unsafe { self.slot(tail.start.add(index)) };
        }
    }
}
