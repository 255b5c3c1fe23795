//! Mark: finds everything that is reachable over strong slots, and sets the bits of its words.
//!
//! An explicit stack instead of recursion, so that a list of a million objects needs no more of it than
//! one of ten. What is popped waits in a short ring while its header is fetched, for most of the time of
//! a marker is spent waiting for headers (Cher, Hosking and Vitek, ASPLOS 2004). References of an
//! array are pushed in chunks, so that one array does not fill the stack, and workers can share it.
//!
//! Refused: to look at the bit of a referent when it is popped, with another ring in which its block is fetched. A shuffled tree,
//! whose nodes are met once, takes a tenth less time (64 MiB) to 60 % less (512 MiB, where the map is in no cache), and a graph, whose
//! objects are met again and again, up to twice the time: the misses of one object's referents overlap as it is.
//!
//! If the stack cannot grow, an object that does not fit is marked and its slots are left alone; when the
//! stack is empty, slots of all marked objects from the lowest such address on are looked at again. One worker does that
//! alone: while others mark, the map shows objects of which not all words are marked yet, and cannot be walked.

use super::broken::broken;
use super::claims::{Claims, LANES, unite};
use super::live_map::LiveMap;
use super::live_objects::{ShapeCache, for_each_live};
use super::{Roots, Statistics, Subject, Unavailable};
use crate::collector::work::{Crew, Entry, Ring, Team, WorkStack, chunk_slots};
use crate::memory::prefetch_write;
use crate::object::{
    Shape, SlotKind, SlotVisitor, WORD, for_each_fixed_slot, reference, size_of_object, tail_slots, walk,
};
use crate::region::{Backing, State};
use std::sync::Mutex;

/// Objects whose headers are being fetched.
const AHEAD: usize = 16;

/// What markers found.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// The lowest object that is marked and whose slots were left alone.
    overflowed_from: Option<usize>,
    overflows: u64,
    objects: u64,
    bytes: u64,
    steals: u64,
    /// Whether any object has a weak slot.
    weak: bool,
}

impl Found {
    fn add(&mut self, other: Found) {
        self.overflowed_from = self.overflowed_from.into_iter().chain(other.overflowed_from).min();
        self.overflows += other.overflows;
        self.objects += other.objects;
        self.bytes += other.bytes;
        self.steals += other.steals;
        self.weak |= other.weak;
    }
}

/// Marks all that roots and pins reach; the addresses of what is pinned.
///
/// # Errors
/// [`Unavailable`] when there is no memory for the list of pins.
///
/// # Safety
/// - As for [`collect`](super::collect); the crew has a worker for each of the team.
pub(super) unsafe fn mark<B: Backing>(
    subject: Subject<'_, B>,
    map: &LiveMap,
    team: Team<'_>,
    crew: &Crew,
    roots: &mut Roots<'_>,
    statistics: &mut Statistics,
) -> Result<Vec<usize>, Unavailable> {
    // SAFETY: the caller's predicates.
    let (pins, found) = unsafe {
        match team.workers() {
            ..=LANES => mark_by::<B, false>(subject, map, team, crew, roots),
            _ => mark_by::<B, true>(subject, map, team, crew, roots),
        }
    }?;
    statistics.live_objects = found.objects;
    statistics.live_bytes = found.bytes;
    statistics.mark_overflows = found.overflows;
    statistics.steals = found.steals;
    statistics.weak_slots = found.weak;
    Ok(pins)
}

/// # Safety
/// - As for [`mark`]; `LOCKED` if there are more workers than [`LANES`].
unsafe fn mark_by<B: Backing, const LOCKED: bool>(
    subject: Subject<'_, B>,
    map: &LiveMap,
    team: Team<'_>,
    crew: &Crew,
    roots: &mut Roots<'_>,
) -> Result<(Vec<usize>, Found), Unavailable> {
    let marker = |number| Marker::<B, LOCKED>::new(subject, map, number, crew.worker(number));
    crew.begin();
    let mut first = marker(0);
    // SAFETY: the caller's predicate.
    let pins = unsafe { first.reach_roots(roots) }?;
    let (first, found) = (Mutex::new(Some(first)), Mutex::new(Found::default()));
    team.run(&|number| {
        let own = if number == 0 { first.lock().expect(POISONED).take() } else { None };
        let mut marker = own.unwrap_or_else(|| marker(number));
        marker.drain_all();
        found.lock().expect(POISONED).add(marker.found());
    });
    let mut found = found.into_inner().expect(POISONED);
    if team.workers() > 1 {
        // SAFETY: all have marked, and nothing has moved.
        let twice = unsafe { unite(subject, map, team) };
        found.objects -= twice.objects;
        found.bytes -= twice.bytes;
    }
    let mut last = Marker::<B, false>::new(subject, map, 0, crew.worker(0));
    last.found = found;
    crew.begin();
    last.look_again();
    Ok((pins, last.found()))
}

const POISONED: &str = "a collection that panics ends the process";

/// One worker that marks; `LOCKED`: one of more than [`LANES`].
struct Marker<'h, B, const LOCKED: bool> {
    subject: Subject<'h, B>,
    map: &'h LiveMap,
    claims: Claims<'h, LOCKED>,
    shapes: ShapeCache<'h>,
    region_bytes: usize,
    stack: WorkStack<'h>,
    found: Found,
}

impl<'h, B: Backing, const LOCKED: bool> Marker<'h, B, LOCKED> {
    fn new(subject: Subject<'h, B>, map: &'h LiveMap, number: usize, stack: WorkStack<'h>) -> Self {
        Marker {
            subject,
            map,
            claims: Claims::new(map, number),
            shapes: ShapeCache::new(subject),
            region_bytes: subject.free.table().geometry().region_bytes(),
            stack,
            found: Found::default(),
        }
    }

    /// Puts all that roots and pins refer to on the stack; the addresses of what is pinned.
    ///
    /// # Safety
    /// - As for [`mark`].
    unsafe fn reach_roots(&mut self, roots: &mut Roots<'_>) -> Result<Vec<usize>, Unavailable> {
        let mut pins = Vec::new();
        let mut room = Ok(());
        (roots.pinned)(&mut |address| {
            room = room.clone().and_then(|()| pins.try_reserve(1));
            if room.is_ok() {
                pins.push(address);
            }
            self.reach(address);
        });
        room?;
        (roots.slots)(&mut SlotVisitor::new(&mut |slot, kind| {
            // Weak roots are updated in any case.
            if kind == SlotKind::Strong {
                // SAFETY: a root slot holds a reference or none, as the caller says.
                unsafe { self.slot(slot, kind) };
            }
        }));
        self.reach_private_objects();
        Ok(pins)
    }

    fn found(&self) -> Found {
        let (before, own) = (self.found, self.claims.count());
        Found {
            objects: before.objects + own.objects,
            bytes: before.bytes + own.bytes,
            steals: before.steals + self.stack.steals(),
            ..before
        }
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
            // One worker would have to do it anyway, and keeps its stack small.
            if self.stack.workers() == 1 {
                self.drain();
            }
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
        } else {
            self.found.weak = true;
        }
    }

    #[inline(always)]
    fn reach(&mut self, address: usize) {
        if !self.claims.has(address) && !self.stack.push(Entry::Plain(address).encode()) {
            self.overflow(address);
        }
    }

    /// There is no room for it.
    #[cold]
    #[inline(never)]
    fn overflow(&mut self, address: usize) {
        // SAFETY: an address that was to be pushed is an object's.
        let claimed = unsafe {
            let shape = self.shapes.of(address);
            self.claim(address, shape)
        };
        // Otherwise who claimed it looks at its slots, or has left them.
        if claimed {
            self.leave(address);
        }
    }

    /// Leaves the slots of an object that is marked, or some of them, to [`look_again`](Self::look_again).
    #[cold]
    fn leave(&mut self, address: usize) {
        self.found.overflows += 1;
        let lowest = self.found.overflowed_from.map_or(address, |lowest| lowest.min(address));
        self.found.overflowed_from = Some(lowest);
    }

    /// Until no worker has anything left to look at but what overflowed.
    fn drain_all(&mut self) {
        loop {
            self.drain();
            if !self.stack.find() {
                return;
            }
        }
    }

    /// Until this worker has nothing left.
    fn drain(&mut self) {
        let mut ahead = Ring::<AHEAD>::new();
        loop {
            let due = match self.stack.pop().map(Entry::decode) {
                Some(Entry::Chunk { array, number }) => {
                    // SAFETY: only arrays of references are pushed so.
                    unsafe { self.scan_chunk(array, number) };
                    continue;
                }
                Some(Entry::Plain(address)) => {
                    prefetch_write::<0>(address);
                    if self.stack.is_wanted() {
                        self.stack.give();
                    }
                    ahead.add(address)
                }
                None => match ahead.take() {
                    None => return,
                    due => due,
                },
            };
            if let Some(due) = due {
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
        self.claims.claim(address, bytes, marked)
    }

    /// # Safety
    /// - An object of `shape` is at `address`.
    #[inline(always)]
    unsafe fn scan(&mut self, address: usize, shape: &Shape) {
        // SAFETY: the caller's predicate; slots of objects hold what slots hold.
        unsafe {
            // First, while there is room for the rest of it: `look_again` begins with an empty stack.
            match tail_slots(address, shape) {
                Some(tail) if tail.kind == SlotKind::Strong => self.scan_chunk(address, 0),
                Some(_) => self.found.weak = true,
                None => {}
            }
            for_each_fixed_slot(address, shape, |slot, kind| self.slot(slot, kind));
        }
    }

    /// Looks at a chunk of the references of an array, and pushes the next.
    ///
    /// # Safety
    /// - `address` is an object's.
    unsafe fn scan_chunk(&mut self, address: usize, number: usize) {
        // SAFETY: the caller's predicate.
        let tail = unsafe {
            let shape = self.shapes.of(address);
            tail_slots(address, shape)
        };
        let Some(tail) = tail else { return };
        let slots = chunk_slots(tail.length);
        let end = tail.length.min((number + 1) * slots);
        // Before its elements, so that it is looked at after them, and a stack with room for one array never
        // overflows with an array; and so that it is what others are given first.
        let rest = Entry::Chunk { array: address, number: number + 1 };
        if end < tail.length && !self.stack.push(rest.encode()) {
            self.leave(address);
        }
        for index in number * slots..end {
            // SAFETY: a slot of the object.
            unsafe { self.slot(tail.start.add(index), tail.kind) };
        }
    }

    /// Until nothing overflowed. Each round marks something that was not, or looks at what the last one left.
    fn look_again(&mut self) {
        let table = self.subject.free.table();
        while let Some(from) = self.found.overflowed_from.take() {
            let region = table.index_of(from);
            // A run that was reserved for several objects is one, wherever they begin.
            let first = match table.get(region).state() {
                State::HumongousContinuation => region - table.get(region).run(),
                _ => region,
            };
            for index in first..table.len() {
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
