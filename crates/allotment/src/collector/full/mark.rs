//! Mark: finds everything that is reachable over strong slots, and sets the bits of its words.
//!
//! An explicit stack instead of recursion, so that a list of a million objects needs no more of it than
//! one of ten. What is popped waits in a short queue while its header is fetched, for most of the time of
//! a marker is spent waiting for headers (Cher, Hosking and Vitek, ASPLOS 2004). References of an
//! array are pushed in pieces, so that one array does not fill the stack, and workers can share it.
//!
//! If the stack cannot grow, an object that does not fit is marked and its slots are left alone; when the
//! stack is empty, slots of all marked objects from the lowest such address on are looked at again.

use super::broken::broken;
use super::live_map::LiveMap;
use super::live_objects::{ShapeCache, for_each_live};
use super::stack::MarkStack;
use super::{Statistics, Subject, Unavailable};
use crate::memory::prefetch_write;
use crate::object::{
    Shape, SlotKind, SlotVisitor, WORD, for_each_fixed_slot, reference, size_of_object, tail_slots, walk,
};
use crate::region::{Backing, State};

/// Slots of an array that are looked at in one go.
const PIECE: usize = 512;

/// Objects whose headers are being fetched.
const AHEAD: usize = 8;

/// On the stack an address with this bit is an array of which a part was done; its entry is followed by
/// the index of the first slot that was not.
const PARTIAL: usize = 1;

/// One worker that marks.
pub(super) struct Marker<'h, B> {
    subject: Subject<'h, B>,
    map: &'h LiveMap,
    shapes: ShapeCache<'h>,
    region_bytes: usize,
    stack: MarkStack,
    /// Popped, and their headers on the way; 0: none.
    ahead: [usize; AHEAD],
    /// The one that has waited longest.
    turn: usize,
    /// The lowest object that is marked and whose slots were left alone.
    overflowed_from: Option<usize>,
    overflows: u64,
    objects: u64,
    bytes: u64,
}

impl<'h, B: Backing> Marker<'h, B> {
    pub(super) fn new(subject: Subject<'h, B>, map: &'h LiveMap, stack: MarkStack) -> Marker<'h, B> {
        Marker {
            subject,
            map,
            shapes: ShapeCache::new(subject),
            region_bytes: subject.free.table().geometry().region_bytes(),
            stack,
            ahead: [0; AHEAD],
            turn: 0,
            overflowed_from: None,
            overflows: 0,
            objects: 0,
            bytes: 0,
        }
    }

    /// Marks all that roots and pins reach; the addresses of what is pinned.
    ///
    /// # Errors
    /// [`Unavailable`] when there is no memory for the list of pins.
    ///
    /// # Safety
    /// - As for [`collect`](super::collect).
    pub(super) unsafe fn mark(
        &mut self,
        roots: &mut dyn FnMut(&mut SlotVisitor<'_>),
        pinned: &mut dyn FnMut(&mut dyn FnMut(usize)),
    ) -> Result<Vec<usize>, Unavailable> {
        let mut pins = Vec::new();
        let mut room = Ok(());
        pinned(&mut |address| {
            room = room.clone().and_then(|()| pins.try_reserve(1));
            if room.is_ok() {
                pins.push(address);
            }
            self.reach(address);
        });
        room?;
        // SAFETY: a root slot holds a reference or none, as the caller says.
        roots(&mut SlotVisitor::new(&mut |slot, kind| unsafe { self.slot(slot, kind) }));
        self.reach_private_objects();
        self.drain();
        self.look_again();
        Ok(pins)
    }

    pub(super) fn report(&self, statistics: &mut Statistics) {
        statistics.live_objects = self.objects;
        statistics.live_bytes = self.bytes;
        statistics.mark_overflows = self.overflows;
    }

    /// Regions that a thread fills alone are recycled by it, at moments only it knows: all they hold stays.
    fn reach_private_objects(&mut self) {
        let table = self.subject.free.table();
        for index in (0..table.len()).filter(|&index| table.get(index).state() == State::Exclusive) {
            let (bottom, top) = (table.bottom(index), table.get(index).top());
            // SAFETY: the region is parsable up to its top.
            let parsed = unsafe {
                walk(self.subject.shapes, bottom, top, |object| {
                    if object.shape.is_some() {
                        self.reach(object.address);
                    }
                })
            };
            if parsed.is_err() {
                broken(bottom, "a region that one thread fills is not parsable");
            }
            self.drain();
        }
    }

    /// # Safety
    /// - The slot is readable, and holds a reference to an object of this heap or none.
    #[inline(always)]
    unsafe fn slot(&mut self, slot: *mut u64, kind: SlotKind) {
        if kind == SlotKind::Strong {
            // SAFETY: the caller's predicate.
            let bits = unsafe { slot.read() };
            if let Some(address) = reference(bits) {
                self.reach(address);
            }
        }
    }

    #[inline(always)]
    fn reach(&mut self, address: usize) {
        if !self.map.is_live(address) && !self.stack.push([address]) {
            self.overflow(address);
        }
    }

    #[cold]
    #[inline(never)]
    fn overflow(&mut self, address: usize) {
        self.overflows += 1;
        // SAFETY: an address that was to be pushed is an object's.
        unsafe {
            let shape = self.shapes.of(address);
            self.claim(address, shape);
        }
        self.overflowed_from = Some(self.overflowed_from.map_or(address, |lowest| lowest.min(address)));
    }

    /// Until nothing is left to look at but what overflowed.
    fn drain(&mut self) {
        let mut idle = 0;
        while idle < AHEAD {
            idle += 1;
            let next = match self.stack.pop() {
                Some(entry) if entry & PARTIAL != 0 => {
                    let done = self.stack.pop().unwrap_or(0);
                    // SAFETY: only arrays of references are pushed so, with what was done of them.
                    unsafe { self.scan_tail(entry & !PARTIAL, done) };
                    idle = 0;
                    continue;
                }
                Some(address) => {
                    prefetch_write::<0>(address);
                    address
                }
                None => 0,
            };
            let due = std::mem::replace(&mut self.ahead[self.turn], next);
            self.turn = (self.turn + 1) % AHEAD;
            if next != 0 {
                idle = 0;
            }
            if due != 0 {
                idle = 0;
                // SAFETY: what is pushed is an object's address.
                unsafe { self.visit(due) };
            }
        }
    }

    /// Marks an object and looks at its slots.
    ///
    /// # Safety
    /// - `address` is an object's.
    #[inline(always)]
    unsafe fn visit(&mut self, address: usize) {
        // SAFETY: the caller's predicate.
        unsafe {
            let shape = self.shapes.of(address);
            if self.claim(address, shape) {
                self.scan(address, shape);
            }
        }
    }

    /// # Safety
    /// - An object of `shape` is at `address`.
    #[inline(always)]
    unsafe fn claim(&mut self, address: usize, shape: &Shape) -> bool {
        // SAFETY: the caller's predicate.
        let bytes = unsafe { size_of_object(address, shape) };
        let marked = if bytes > self.region_bytes { WORD } else { bytes };
        let claimed = self.map.claim(address, marked);
        if claimed {
            self.objects += 1;
            self.bytes += bytes as u64;
        }
        claimed
    }

    /// # Safety
    /// - An object of `shape` is at `address`.
    #[inline(always)]
    unsafe fn scan(&mut self, address: usize, shape: &Shape) {
        // SAFETY: the caller's predicate; slots of objects hold what slots hold.
        unsafe {
            for_each_fixed_slot(address, shape, |slot, kind| self.slot(slot, kind));
            if tail_slots(address, shape).is_some_and(|tail| tail.kind == SlotKind::Strong) {
                self.scan_tail(address, 0);
            }
        }
    }

    /// Looks at a piece of the references of an array, and pushes the rest.
    ///
    /// # Safety
    /// - `address` is an object's.
    unsafe fn scan_tail(&mut self, address: usize, done: usize) {
        // SAFETY: the caller's predicate.
        let tail = unsafe {
            let shape = self.shapes.of(address);
            tail_slots(address, shape)
        };
        let Some(tail) = tail else { return };
        let end = tail.length.min(done + PIECE);
        // Before its elements, so that it is looked at after them, and a stack with room for one array never
        // overflows with an array.
        if end < tail.length && !self.stack.push([end, address | PARTIAL]) {
            self.overflow(address);
        }
        for index in done..end {
            // SAFETY: a slot of the object.
            unsafe { self.slot(tail.start.add(index), tail.kind) };
        }
    }

    /// Until nothing overflowed. Each round marks something that was not, or looks at what the last one left.
    fn look_again(&mut self) {
        let table = self.subject.free.table();
        while let Some(from) = self.overflowed_from.take() {
            for index in table.index_of(from)..table.len() {
                // SAFETY: nothing has moved; what is marked is objects.
                unsafe {
                    for_each_live(self.subject, self.map, index, from, |address, shape, _| {
                        self.scan(address, shape);
                        self.drain();
                    });
                }
            }
        }
    }
}
