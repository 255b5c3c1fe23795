//! One worker of an evacuation: takes slots from its stack, copies their referents, updates the
//! slots. This file handles an object of any kind. The worker's loop and the fast path for known
//! headers are in [`group`](super::group).
//!
//! The stack holds slots, not objects. A slot is updated as soon as its referent has an address, so
//! the slot's line was just written. The stack makes copying depth first for a tree, so an
//! object ends up near its referents. A short queue between the stack and the copying gives the
//! header of a referent time to arrive. Refused: a queue of everything (Cheney's breadth-first
//! order puts siblings side by side that are visited far apart). Refused: recursion. Refused: a
//! fetch when a slot is pushed, because an array pushes hundreds at once, more than a core fetches
//! at a time, and most fetches are lost.
//!
//! Several workers may reach an object at once. Each has a place for a copy. The worker whose
//! compare-and-swap puts its address into the header of the original makes *the* copy; the others
//! take theirs back. An object stays if there is no memory for it, or if it must not move. Then the
//! same compare-and-swap sets its mark bits instead, and the rest of the header, with its hash, is
//! kept.

use super::header_cache::{HeaderCache, MOST_BYTES};
use super::lines::{DESTINATION_AHEAD, copy_contents};
use super::plab::Plab;
use super::set::Roles;
use super::{Evacuation, OLD, Role, WorkerStatistics};
use crate::collector::kernel::{KEPT, NO_OBJECT, ShapeCache, broken, decide, decided, word_at};
use crate::collector::work::{WorkEntry, WorkStack, chunk_slots};
use crate::object::{
    ADDRESS_MASK, Header, Kind, Layout, Shape, SlotKind, for_each_fixed_slot, for_each_word, reference,
    tail_slots, with_reference,
};
use crate::platform::prefetch_write;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of slots from which on an array is one entry of the stack. One entry gives another worker
/// many slots at once, and their referents are fetched shortly before their turn.
const ONE_ENTRY: usize = if cfg!(test) { 4 } else { 32 };

/// One worker; `SHARED`: one of several, whose accesses to headers have to be atomic.
pub(super) struct Worker<'e, 'h, const SHARED: bool> {
    pub(super) heap: &'e Evacuation<'h>,
    pub(super) stack: WorkStack<'e>,
    shapes: ShapeCache<'h>,
    pub(super) headers: HeaderCache,
    /// The roles of the heap's set. This field and the next two are read for each object, so they
    /// are close together.
    pub(super) roles: Roles<'h>,
    pub(super) some_stay: bool,
    pub(super) tenuring_threshold: u8,
    pub(super) survivors: Plab,
    pub(super) old: Plab,
    /// Whether the space has no further buffer of the usual size; the worker does not ask again.
    pub(super) survivors_full: bool,
    pub(super) old_full: bool,
    /// Weak slots of this worker's copies.
    pub(super) weak: Vec<usize>,
    /// Whether the stack could not grow: then slots of copied objects have to be searched.
    pub(super) overflowed: bool,
    /// The core that the worker ran on when it began. The worker fills a region of that core, so
    /// that its writes stay in its caches.
    pub(super) home: usize,
    /// Whether the worker leaves the work to others once it has found the roots.
    pub(super) rests: bool,
    pub(super) statistics: WorkerStatistics,
}

impl<'e, 'h, const SHARED: bool> Worker<'e, 'h, SHARED> {
    /// The order of a load of a header that another worker may have changed.
    pub(super) const ACQUIRE: Ordering = if SHARED { Ordering::Acquire } else { Ordering::Relaxed };

    pub(super) fn new(heap: &'e Evacuation<'h>, stack: WorkStack<'e>) -> Self {
        Worker {
            heap,
            stack,
            shapes: ShapeCache::new(&heap.space.shapes),
            headers: HeaderCache::new(),
            roles: heap.set.roles(),
            some_stay: heap.set.some_stay(),
            tenuring_threshold: heap.limits.tenuring_threshold,
            survivors: Plab::new(heap.limits.young_plab_bytes),
            old: Plab::new(heap.limits.old_plab_bytes),
            survivors_full: false,
            old_full: false,
            weak: Vec::new(),
            overflowed: false,
            home: heap.space.home(),
            rests: false,
            statistics: WorkerStatistics::default(),
        }
    }

    /// Works until no worker has any work left.
    pub(super) fn drain(&mut self) {
        loop {
            self.drain_own();
            if !SHARED || !self.stack.find() {
                return;
            }
        }
    }

    /// Leaves all entries, and all work that follows from them, to other workers. Returns `false`
    /// if the entries are too many for the others to take at once.
    pub(super) fn hand_over(&mut self) -> bool {
        let given = self.stack.give_all();
        if given {
            self.stack.rest();
        }
        given
    }

    /// Copies the slot's referent if needed, and updates the slot.
    ///
    /// # Safety
    /// - The slot may be read and written, and refers into the collection set.
    #[inline(always)]
    pub(super) unsafe fn update(&mut self, slot: *mut u64, old: usize) {
        // SAFETY: the caller's predicate.
        let bits = unsafe { slot.read() };
        debug_assert!(reference(bits).is_some_and(|address| self.heap.set.role_at(address).is_in_set()));
        let address = (bits & ADDRESS_MASK) as usize;
        // SAFETY: the caller's predicate.
        let to = unsafe { self.reach(address) };
        // SAFETY: the caller's predicate.
        unsafe { slot.write(with_reference(bits, to)) };
        self.heap.remember(slot, old != 0, to);
    }

    /// The final address of the object at `address`, which is in the collection set.
    ///
    /// # Safety
    /// - An object of this heap is at `address`, or was.
    pub(super) unsafe fn reach(&mut self, address: usize) -> usize {
        // SAFETY: a header, which workers change atomically.
        let word = unsafe { word_at(address) };
        let header = Header::from_bits(word.load(Self::ACQUIRE));
        // Nearly all objects are unmarked: one test for them.
        if !header.is_unmarked_object() {
            match header.kind() {
                Kind::Forwarded(to) => return to,
                Kind::Object(_) if header.mark() == KEPT => return address,
                Kind::Object(_) => {}
                _ => broken(address, NO_OBJECT),
            }
        }
        // SAFETY: an object is there, or was; only its header and, once it is kept, its slots
        // change.
        unsafe { self.evacuate(address, word, header) }
    }

    /// Copies the object at `address`, or keeps it there. Returns its final address.
    ///
    /// # Safety
    /// - An object is at `address`, and had this header.
    #[inline(always)]
    unsafe fn evacuate(&mut self, address: usize, word: &AtomicU64, header: Header) -> usize {
        // SAFETY: the caller's predicate.
        let bytes = unsafe { self.shapes.layout(header, address).size_of(address) };
        if self.some_stay && self.heap.set.role_at(address).stays() {
            // SAFETY: the caller's predicate.
            return unsafe { self.keep(address, word, header, bytes) };
        }
        let young = header.age() < self.tenuring_threshold;
        let buffer = if young { &mut self.survivors } else { &mut self.old };
        let place = match buffer.allocate(bytes) {
            Some(to) => Some((to, !young)),
            None => self.allocate_slowly(bytes, young),
        };
        let Some((to, old)) = place else {
            // SAFETY: the caller's predicate.
            return unsafe { self.keep(address, word, header, bytes) };
        };
        prefetch_write::<DESTINATION_AHEAD>(to);
        let forwarded = Header::forwarded(to);
        if !SHARED || self.stack.is_alone() {
            word.store(forwarded.bits(), Ordering::Relaxed);
        } else if !decide(word, header, forwarded) {
            self.retract(to, bytes, old);
            return decided(word, address);
        }
        let moved = if old { header.with_age(0) } else { header.older() };
        // SAFETY: an object of `bytes` bytes, of which other workers change only the header, and as
        // many bytes at `to` that are this worker's.
        unsafe {
            copy_contents(address, to, bytes);
            (to as *mut u64).write(moved.bits());
        }
        self.statistics.copied(1, bytes as u64, (!old).then_some(moved.age()));
        if old {
            self.heap.tables.starts.record(to, bytes);
        }
        // Looked up again: a value kept from above would have to be stored meanwhile.
        let layout = self.shapes.last();
        let &Layout { words, has_slots, shape, .. } = layout;
        if layout.uniform_bytes().is_some() && bytes <= MOST_BYTES {
            self.headers.learn(header, old, (bytes, words), &mut self.statistics);
        }
        let old = if old { OLD } else { 0 };
        if words != 0 {
            // Reads the original, whose words are the same: a word that was just stored cannot be
            // loaded at once.
            for_each_word(address, words, |word| {
                // SAFETY: a slot of an object of that layout; other workers change only its header.
                if unsafe { self.roles.of_referent(word.read()) }.is_in_set() {
                    self.push((word.addr() - address + to) | old);
                }
            });
        } else if has_slots {
            // SAFETY: as above.
            unsafe { self.scan(to, shape, old) };
        }
        to
    }

    /// Keeps the object where it is, and its region with it.
    ///
    /// # Safety
    /// - As for [`evacuate`](Self::evacuate).
    #[cold]
    #[inline(never)]
    unsafe fn keep(&mut self, address: usize, word: &AtomicU64, header: Header, bytes: usize) -> usize {
        if !decide(word, header, header.with_mark(KEPT).with_age(0)) {
            return decided(word, address);
        }
        self.heap.set.note_kept(address);
        self.statistics.kept_objects += 1;
        self.statistics.kept_bytes += bytes as u64;
        if self.heap.set.role_at(address).stays() {
            self.statistics.stayed_bytes += bytes as u64;
        }
        let shape = self.shapes.last().shape;
        // SAFETY: only this worker looks at the object: its swap decided.
        unsafe { self.scan(address, shape, OLD) };
        address
    }

    /// Pushes the slots of an object that has its new address.
    ///
    /// # Safety
    /// - An object of `shape` is there, and no other worker looks at it.
    #[inline(never)]
    unsafe fn scan(&mut self, address: usize, shape: &'h Shape, old: usize) {
        // SAFETY: the caller's predicate.
        unsafe {
            for_each_fixed_slot(address, shape, |slot, kind| self.meet(slot, kind, old));
            if let Some(tail) = tail_slots(address, shape) {
                let entry = WorkEntry::Chunk { array: address, number: 0 }.encode();
                if tail.length < ONE_ENTRY || !self.stack.push(entry) {
                    (0..tail.length).for_each(|index| self.meet(tail.start.add(index), tail.kind, old));
                }
            }
        }
    }

    /// Pushes the slots of one piece of an array, after the rest of the array, which others may
    /// take.
    ///
    /// # Safety
    /// - An array of references is there, and no other worker looks at its piece of that number.
    #[inline(never)]
    pub(super) unsafe fn scan_chunk(&mut self, array: usize, number: usize) {
        // SAFETY: the caller's predicate.
        let header = Header::from_bits(unsafe { (array as *const u64).read() });
        let Kind::Object(_) = header.kind() else { broken(array, NO_OBJECT) };
        let shape = self.shape(header, array);
        // SAFETY: as above.
        let Some(tail) = (unsafe { tail_slots(array, shape) }) else { return };
        let slots = chunk_slots(tail.length);
        let (from, to) = (number * slots, ((number + 1) * slots).min(tail.length));
        if to < tail.length {
            self.push(WorkEntry::Chunk { array, number: number + 1 }.encode());
        }
        let old = if self.heap.set.role_at(array) == Role::SURVIVORS { 0 } else { OLD };
        // SAFETY: slots of the tail.
        (from..to).for_each(|index| unsafe { self.meet(tail.start.add(index), tail.kind, old) });
    }

    /// Pushes a slot of a copied object, if it refers into the collection set.
    ///
    /// # Safety
    /// - The slot may be read and written, and holds a reference to an object of this heap or none.
    #[inline(always)]
    pub(super) unsafe fn meet(&mut self, slot: *mut u64, kind: SlotKind, old: usize) {
        // SAFETY: the caller's predicate.
        if unsafe { self.is_for_now(slot, kind, old) } {
            self.push(slot.addr() | old);
        }
    }

    /// Pushes an entry that can be found again if the stack has no room for it.
    #[inline(always)]
    pub(super) fn push(&mut self, entry: usize) {
        if !self.stack.push(entry) {
            self.overflowed = true;
        }
    }

    /// Pushes a slot of an old object, if the slot refers into the collection set. A slot that does
    /// not fit on the stack is handled at once, with everything that it leads to, because no later
    /// walk would find the slot.
    ///
    /// # Safety
    /// - As for [`meet`](Self::meet).
    #[inline(always)]
    pub(super) unsafe fn meet_old(&mut self, slot: *mut u64, kind: SlotKind) {
        // SAFETY: the caller's predicate.
        unsafe {
            if self.is_for_now(slot, kind, OLD) && !self.stack.push(slot.addr() | OLD) {
                self.update(slot, OLD);
                self.drain_own();
            }
        }
    }

    /// Handles a slot, and everything that it leads to.
    ///
    /// # Safety
    /// - As for [`meet`](Self::meet).
    pub(super) unsafe fn meet_at_once(&mut self, slot: *mut u64, kind: SlotKind, old: usize) {
        // SAFETY: the caller's predicate.
        unsafe {
            if self.is_for_now(slot, kind, old) {
                self.update(slot, old);
                self.drain_own();
            }
        }
    }

    /// Updates a strong root slot. The slot cannot wait, because the visitor of roots may show a
    /// copy of a slot. Weak root slots are visited again. The objects that the slot leads to wait
    /// for those of other roots: too few at a time could not be shared with other workers.
    ///
    /// # Safety
    /// - As for [`meet`](Self::meet).
    pub(super) unsafe fn meet_root(&mut self, slot: *mut u64, kind: SlotKind) {
        if kind == SlotKind::Strong {
            // SAFETY: the caller's predicate.
            unsafe {
                if self.is_for_now(slot, kind, 0) {
                    self.update(slot, 0);
                }
            }
            if self.stack.is_deep() && !(self.rests && self.stack.give_all()) {
                self.drain_own();
            }
        }
    }

    /// Whether a slot refers into the collection set, and is not left for the end.
    ///
    /// # Safety
    /// - As for [`meet`](Self::meet).
    #[inline(always)]
    unsafe fn is_for_now(&mut self, slot: *mut u64, kind: SlotKind, old: usize) -> bool {
        // SAFETY: the caller's predicate.
        let role = unsafe { self.roles.of_referent(slot.read()) };
        role.is_in_set() && !(kind == SlotKind::Weak && self.note_weak(slot.addr() | old))
    }

    /// Remembers a weak slot for the end. Without memory for that, the slot counts as strong: then
    /// no referent dies too early.
    fn note_weak(&mut self, entry: usize) -> bool {
        let room = self.weak.try_reserve(1).is_ok();
        if room {
            self.weak.push(entry);
        }
        room
    }

    /// The shape of the object at `address`, which has this header.
    pub(super) fn shape(&mut self, header: Header, address: usize) -> &'h Shape {
        self.shapes.layout(header, address).shape
    }
}
