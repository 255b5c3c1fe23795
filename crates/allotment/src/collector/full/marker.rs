//! One worker that marks: its found objects wait on a stack, and popped ones until their memory
//! arrives.
//!
//! A stack replaces recursion, so that a list of a million objects needs no more space than one of
//! ten. A popped object waits in a short ring while its header is fetched, because a marker spends
//! most of its time waiting for headers (Cher, Hosking and Vitek, ASPLOS 2004). References of an
//! array are pushed in chunks, so that one array does not fill the stack and workers can share it.
//!
//! A marker normally checks whether a referent is marked before it pushes it. That check also
//! misses the cache where the map is in no cache, or where another marker has just written the
//! block: 8 MiB of tree in no order took one marker 9 ns a node, and two 14. So a marker begins by
//! *asking*: it pushes every referent, and a popped one waits in another ring while its block of
//! the map is fetched. Then 512 MiB of tree in no order take 22 ns a node instead of 55. The marker
//! asks as long as that pays. It stops where objects are met again and again, because each would be
//! pushed each time (a random graph took up to 2.5 times as long; the misses of one object's
//! referents overlap anyway). It also stops where a third of the referents lie near, as half of
//! them do in a tree in order.
//!
//! A marker that no longer asks works in the loop of concurrent markers and snapshots
//! (`work/trace.rs`).

use crate::collector::kernel::{LiveMap, ShapeCache};
use crate::collector::work::{AHEAD, Ring, Trace, WorkEntry, WorkStack, chunk_slots, trace};
use crate::object::{
    Layout, Shape, SlotKind, WORD, for_each_fixed_slot, for_each_word, reference, tail_slots,
};
use crate::platform::prefetch_read;
use crate::region::Space;

/// Objects whose blocks in the map are being fetched, by a marker that asks.
const ASKED: usize = 8;

/// References after which an asking marker checks whether asking still pays.
const WINDOW: usize = if cfg!(test) { 16 } else { 1 << 14 };

/// Objects after which a marker of a list checks whether others rest.
const LOOK_AROUND: usize = if cfg!(test) { 1 } else { 16 };

/// Bytes from a slot to a referent whose block in the map is likely to be in a cache.
const NEAR: usize = 2048;

/// The counts of one marker, or of several.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MarkCounts {
    /// The lowest marked object whose slots were left alone.
    pub(super) overflowed_from: Option<usize>,
    pub(super) overflows: u64,
    pub(super) objects: u64,
    pub(super) bytes: u64,
    pub(super) steals: u64,
    /// Whether any object has a weak slot.
    pub(super) weak_slots: bool,
}

impl MarkCounts {
    pub(super) fn add(&mut self, other: MarkCounts) {
        self.overflowed_from = self.overflowed_from.into_iter().chain(other.overflowed_from).min();
        self.overflows += other.overflows;
        self.objects += other.objects;
        self.bytes += other.bytes;
        self.steals += other.steals;
        self.weak_slots |= other.weak_slots;
    }
}

/// One worker that marks; `LOCKED`: one of several.
pub(super) struct Marker<'h, const LOCKED: bool> {
    pub(super) space: &'h Space,
    pub(super) map: &'h LiveMap,
    shapes: ShapeCache<'h>,
    region_bytes: usize,
    pub(super) stack: WorkStack<'h>,
    /// Whether the marker asks: it pushes referents unchecked, and fetches their blocks of the map
    /// later.
    asks: bool,
    /// While it asks: references since its last check whether asking pays, and those to near
    /// objects.
    met: usize,
    near: usize,
    /// While it asks: objects visited since then.
    visited: usize,
    pub(super) counts: MarkCounts,
}

impl<'h, const LOCKED: bool> Marker<'h, LOCKED> {
    pub(super) fn new(space: &'h Space, map: &'h LiveMap, stack: WorkStack<'h>) -> Self {
        Marker {
            space,
            map,
            shapes: ShapeCache::new(&space.shapes),
            region_bytes: space.free.table().geometry().region_bytes(),
            stack,
            asks: true,
            met: 0,
            near: 0,
            visited: 0,
            counts: MarkCounts::default(),
        }
    }

    /// The counts so far, with those of the stack.
    pub(super) fn counts(&self) -> MarkCounts {
        MarkCounts { steals: self.counts.steals + self.stack.steals(), ..self.counts }
    }

    /// Reaches the referent of a strong slot, and notes a weak slot.
    ///
    /// # Safety
    /// - The slot is readable, and holds a reference to an object of this heap or none.
    #[inline(always)]
    pub(super) unsafe fn slot<const ASKS: bool>(&mut self, slot: *mut u64, kind: SlotKind) {
        if kind == SlotKind::Strong {
            // SAFETY: the caller's predicate.
            let bits = unsafe { slot.read() };
            if let Some(address) = reference(bits) {
                if ASKS {
                    self.met += 1;
                    self.near += usize::from(address.abs_diff(slot.addr()) < NEAR);
                }
                self.reach::<ASKS>(address);
            }
        } else {
            self.counts.weak_slots = true;
        }
    }

    /// Pushes an object, unless it is known to be marked.
    #[inline(always)]
    pub(super) fn reach<const ASKS: bool>(&mut self, address: usize) {
        if (ASKS || !self.map.is_live(address)) && !self.stack.push(WorkEntry::Plain(address).encode()) {
            self.overflow(address);
        }
    }

    /// Handles an object for which the stack has no room.
    #[cold]
    #[inline(never)]
    fn overflow(&mut self, address: usize) {
        // SAFETY: an address that was to be pushed is an object's.
        let claimed = unsafe { self.claim(address) };
        // Otherwise the marker that claimed it looks at its slots, or has left them.
        if claimed {
            self.leave(address);
        }
    }

    /// Leaves some or all slots of a marked object to `look_again`.
    #[cold]
    fn leave(&mut self, address: usize) {
        self.counts.overflows += 1;
        let lowest = self.counts.overflowed_from.map_or(address, |lowest| lowest.min(address));
        self.counts.overflowed_from = Some(lowest);
    }

    /// Works until no worker has anything left except what overflowed.
    pub(super) fn drain_all(&mut self) {
        loop {
            self.drain();
            if !self.stack.find() {
                return;
            }
        }
    }

    /// Works until this worker has nothing left.
    pub(super) fn drain(&mut self) {
        if self.asks {
            self.drain_asking();
        }
        // SAFETY: objects and chunks of arrays of references are all that is pushed.
        unsafe { trace(self) };
    }

    /// Works as [`drain`](Self::drain), or until asking does not pay.
    fn drain_asking(&mut self) {
        let (mut asked, mut ahead) = (Ring::<ASKED, 1>::new(), Ring::<AHEAD, 1>::new());
        loop {
            if self.met >= WINDOW {
                self.asks = self.met * 2 < self.visited * 3 && self.near * 3 < self.met;
                (self.met, self.near, self.visited) = (0, 0, 0);
            }
            let entry = if self.asks { self.stack.pop_at_hand() } else { None };
            let next = match entry.map(WorkEntry::decode) {
                Some(WorkEntry::Chunk { array, number }) => {
                    // SAFETY: only arrays of references are pushed as chunks.
                    unsafe { self.scan_chunk::<true>(array, number) };
                    continue;
                }
                Some(WorkEntry::Plain(address)) => {
                    self.map.prefetch_to_mark(address);
                    self.stack.share();
                    asked.add([address])
                }
                None => asked.take(),
            };
            let due = match next {
                [0] if entry.is_some() => continue,
                [0] => match ahead.take() {
                    [0] if self.asks && self.stack.refill() => continue,
                    [0] => return,
                    due => due,
                },
                [next] if self.map.is_live(next) => continue,
                [next] => {
                    prefetch_read(next);
                    ahead.add([next])
                }
            };
            if due != [0] {
                // SAFETY: every pushed address is an object's.
                unsafe { self.visit::<true>(due[0]) };
                self.visited += 1;
            }
        }
    }

    /// Marks an object and looks at its slots.
    ///
    /// # Safety
    /// - `address` is an object's.
    #[inline(always)]
    unsafe fn visit<const ASKS: bool>(&mut self, address: usize) {
        // SAFETY: the caller's predicate.
        unsafe {
            if !self.claim(address) {
                return;
            }
            // Looked up again: a value kept from above would have to be stored meanwhile.
            let &Layout { words, has_slots, shape, .. } = self.shapes.last();
            if words != 0 {
                for_each_word(address, words, |slot| self.slot::<ASKS>(slot, SlotKind::Strong));
            } else if has_slots {
                self.scan::<ASKS>(address, shape);
            }
        }
    }

    /// Marks an object, unless another worker has. Returns `true` if this worker should scan its
    /// slots.
    ///
    /// # Safety
    /// - `address` is an object's.
    #[inline(always)]
    unsafe fn claim(&mut self, address: usize) -> bool {
        // SAFETY: the caller's predicate.
        let bytes = unsafe { self.shapes.layout_of(address).size_of(address) };
        let marked = if bytes > self.region_bytes { WORD } else { bytes };
        let claimed = self.map.claim::<LOCKED>(address, marked, LOCKED && self.stack.is_alone());
        if claimed {
            self.counts.objects += 1;
            self.counts.bytes += bytes as u64;
        }
        claimed
    }

    /// Looks at all slots of an object.
    ///
    /// # Safety
    /// - An object of `shape` is at `address`.
    #[inline(never)]
    pub(super) unsafe fn scan<const ASKS: bool>(&mut self, address: usize, shape: &Shape) {
        // SAFETY: the caller's predicate; slots of objects hold references or none.
        unsafe {
            // First, while the stack has room for the rest of the array: `look_again` begins with
            // an empty stack.
            match tail_slots(address, shape) {
                Some(tail) if tail.kind == SlotKind::Strong => self.scan_chunk::<ASKS>(address, 0),
                Some(_) => self.counts.weak_slots = true,
                None => {}
            }
            for_each_fixed_slot(address, shape, |slot, kind| self.slot::<ASKS>(slot, kind));
        }
    }

    /// Looks at a chunk of the references of an array, and pushes the next.
    ///
    /// # Safety
    /// - `address` is an object's.
    unsafe fn scan_chunk<const ASKS: bool>(&mut self, address: usize, number: usize) {
        // SAFETY: the caller's predicate.
        let tail = unsafe {
            let shape = self.shapes.of(address);
            tail_slots(address, shape)
        };
        let Some(tail) = tail else { return };
        let slots = chunk_slots(tail.length);
        let end = tail.length.min((number + 1) * slots);
        // Pushed before the chunk's elements, so that it is looked at after them: a stack with room
        // for one array then never overflows with an array. It is also the first entry that others
        // are given.
        let rest = WorkEntry::Chunk { array: address, number: number + 1 };
        if end < tail.length && !self.stack.push(rest.encode()) {
            self.leave(address);
        }
        for index in number * slots..end {
            // SAFETY: a slot of the object.
            unsafe { self.slot::<ASKS>(tail.start.add(index), tail.kind) };
        }
    }
}

impl<const LOCKED: bool> Trace for Marker<'_, LOCKED> {
    #[inline(always)]
    fn pop_at_hand(&mut self) -> Option<usize> {
        self.stack.pop_at_hand()
    }

    #[inline(always)]
    fn refill(&mut self) -> bool {
        self.stack.refill()
    }

    fn keep(&mut self, _entry: WorkEntry) {
        unreachable!("no visit of a stopped marker ends the loop");
    }

    #[inline(always)]
    fn share(&mut self) {
        self.stack.share();
    }

    #[inline(always)]
    fn runs_low(&mut self, visits: usize) {
        if LOCKED && visits.is_multiple_of(LOOK_AROUND) {
            self.stack.look_around();
        }
    }

    #[inline(always)]
    unsafe fn visit(&mut self, address: usize) -> bool {
        // SAFETY: the caller's predicate.
        unsafe { self.visit::<false>(address) };
        true
    }

    #[inline(always)]
    unsafe fn visit_chunk(&mut self, array: usize, number: usize) -> bool {
        // SAFETY: the caller's predicate.
        unsafe { self.scan_chunk::<false>(array, number) };
        true
    }
}
