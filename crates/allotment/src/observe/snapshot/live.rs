//! The live objects of a stopped heap: marked from the roots, counted by shape, visited in order.
//!
//! Only live objects are in a snapshot: those that strong references lead to. A heap between two
//! collections has dead objects too, and some collectors leave references in them that lead
//! nowhere. Refused: a full collection first. It moves everything, may fail because there is no
//! room, and must not run in a heap that does not collect.
//!
//! The marker's stack has a limit, a part of the heap's size. When it is full, an object is marked
//! but not pushed, and the lowest such address is noted. Then the marker looks again at all marked
//! objects from there on. Tails are pushed in pieces, so a long array fills no stack.
//!
//! Objects stand still, but roots do not: a thread that is not attached, or is blocking, drops and
//! copies handles and pins while the world is stopped. So the roots are copied once, under their
//! locks, and all passes go over the copy. No lock is held while a writer is called. Refused: to
//! visit the tables in each pass. Counts and edges would then be of different moments.

use super::index::{Index, push, reserve, zeroes};
use super::{SnapshotError, SnapshotSummary};
use crate::collector::work::{Trace, WorkEntry, chunk_slots, trace};
use crate::mutator::{RootKind, World};
use crate::object::{
    Element, Header, Kind, LENGTH_OFFSET, Layout, MIN_OBJECT_BYTES, Shape, ShapeId, ShapePlace, Shapes,
    SlotKind, WORD, for_each_fixed_slot, for_each_word, reference, tail_slots,
};
use crate::platform::prefetch_read;
use crate::region::{Committer, FreeSet};
use std::collections::VecDeque;

/// Objects whose headers are being fetched.
const AHEAD: usize = 16;

/// A full stack has one entry for this number of bytes of the heap, 0.2 % of it.
const BYTES_PER_ENTRY: usize = 4096;

/// A stack that is never smaller, in entries.
const LEAST_ENTRIES: usize = if cfg!(test) { 4 } else { 4096 };

/// A live object.
#[derive(Clone, Copy)]
pub(super) struct LiveObject<'h> {
    pub(super) address: usize,
    /// Number of its shape among the [`LiveHeap::shapes`].
    pub(super) shape: usize,
    pub(super) layout: &'h Shape,
    /// Bytes, header included.
    pub(super) bytes: usize,
}

/// The shape of live objects, and how many there are.
pub(super) struct LiveShape<'h> {
    pub(super) id: ShapeId,
    pub(super) shape: &'h Shape,
    pub(super) objects: u64,
    pub(super) bytes: u64,
}

/// A reference from an object: which of its slots it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// The slot of this number in [`Shape::slots`].
    Slot(usize),
    /// The element of this number; or the slot that a trace function visits as its `n`th.
    Element(usize),
}

/// A root that refers to a live object, as it was when the marker copied it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LiveRoot {
    pub(super) kind: RootKind,
    /// How it keeps its referent.
    pub(super) slot: SlotKind,
    /// Its referent.
    pub(super) address: usize,
}

/// The live objects of a stopped heap.
pub(super) struct LiveHeap<'w> {
    world: &'w World<'w>,
    /// In the order of the visit, which mixes the kinds.
    roots: Vec<LiveRoot>,
    pub(super) index: Index,
    pub(super) shapes: Vec<LiveShape<'w>>,
    /// By number of a shape's id: its place in `shapes`, + 1.
    places: [Vec<u32>; 2],
    pub(super) objects: u64,
    pub(super) bytes: u64,
    /// References to live objects, those of roots not counted.
    pub(super) edges: u64,
    /// Bytes of the marker's stack at its largest.
    stack_bytes: usize,
}

impl<'w> LiveHeap<'w> {
    /// Marks the live objects of a stopped world.
    pub(super) fn find(world: &'w World<'w>) -> Result<LiveHeap<'w>, SnapshotError> {
        let free = &world.shared().space.free;
        let (table, geometry) = (free.table(), free.table().geometry());
        let index = Index::new(table.base(), geometry.region_shift, table.len())?;
        let live = LiveHeap {
            world,
            roots: Vec::new(),
            index,
            shapes: Vec::new(),
            places: [Vec::new(), Vec::new()],
            objects: 0,
            bytes: 0,
            edges: 0,
            stack_bytes: 0,
        };
        let limit = (geometry.heap_bytes() / BYTES_PER_ENTRY).max(LEAST_ENTRIES);
        let mut marker = Marker { live, stack: Vec::new(), limit, overflowed_from: None, outcome: Ok(()) };
        marker.mark()?;
        let mut live = marker.live;
        live.objects = live.index.number()?;
        live.count()?;
        Ok(live)
    }

    /// Counts objects by shape, and references.
    fn count(&mut self) -> Result<(), SnapshotError> {
        let (mut counts, mut edges) = (zeroes::<(u64, u64)>(self.shapes.len())?, 0);
        for object in self.objects() {
            counts[object.shape].0 += 1;
            counts[object.shape].1 += object.bytes as u64;
            self.for_each_edge(&object, |_, _, _| edges += 1);
        }
        for (shape, (objects, bytes)) in self.shapes.iter_mut().zip(counts) {
            (shape.objects, shape.bytes) = (objects, bytes);
            self.bytes += bytes;
        }
        self.edges = edges;
        Ok(())
    }

    /// The counts of a snapshot of these objects, of `file_bytes`, with this number of `roots`.
    pub(super) fn summary(&self, roots: u64, clamped: u64, file_bytes: u64) -> SnapshotSummary {
        SnapshotSummary {
            objects: self.objects,
            bytes: self.bytes,
            references: self.edges,
            roots,
            clamped,
            file_bytes,
            table_bytes: self.table_bytes() as u64,
        }
    }

    /// Bytes of memory that the tables take, beside the heap.
    pub(super) fn table_bytes(&self) -> usize {
        self.index.bytes() + self.stack_bytes + self.roots.capacity() * size_of::<LiveRoot>()
    }

    fn free(&self) -> &'w FreeSet<Committer> {
        &self.world.shared().space.free
    }

    /// Refuses an address at which no object can be: the heap is broken.
    fn check(&self, address: usize) -> Result<(), SnapshotError> {
        let table = self.free().table();
        let inside = (table.base()..table.bottom(table.len())).contains(&address);
        if inside && address.is_multiple_of(WORD) && address < self.object_end(address) {
            Ok(())
        } else {
            Err(SnapshotError::Broken { address })
        }
    }

    /// The end of the objects in the region, or the run of regions, that an address is in.
    fn object_end(&self, address: usize) -> usize {
        let table = self.free().table();
        let index = table.index_of(address);
        match table.get(index).state() {
            state if state.is_empty() => 0,
            _ => self.free().object_end(table.first_of_run(index)),
        }
    }

    /// The object at `address`, which [`check`](Self::check) has let pass.
    fn object(&mut self, address: usize) -> Result<LiveObject<'w>, SnapshotError> {
        // SAFETY: a word below the end of a region's objects is readable.
        let header = Header::from_bits(unsafe { (address as *const u64).read() });
        let Kind::Object(id) = header.kind() else { return Err(SnapshotError::Broken { address }) };
        let shape = self.place_of(id, address)?;
        let layout = self.shapes[shape].shape;
        let room = self.object_end(address) - address;
        if room < MIN_OBJECT_BYTES {
            return Err(SnapshotError::Broken { address });
        }
        // SAFETY: an object of this shape; its first two words are below the end of the region's
        // objects.
        let bytes = unsafe { Layout::of(layout).size_of(address) };
        if bytes > room {
            return Err(SnapshotError::Broken { address });
        }
        Ok(LiveObject { address, shape, layout, bytes })
    }

    /// The place of a shape among those of live objects.
    fn place_of(&mut self, id: ShapeId, address: usize) -> Result<usize, SnapshotError> {
        let ShapePlace { list, index } = Shapes::place_of(id);
        match self.places[list].get(index) {
            Some(place) if *place != 0 => return Ok(*place as usize - 1),
            _ => {}
        }
        let shape = self.world.shared().space.shapes.get(id).ok_or(SnapshotError::Broken { address })?;
        let places = &mut self.places[list];
        if places.len() <= index {
            // At least twice as many: shapes may come in the order of their numbers.
            let more = (index + 1 - places.len()).max(places.len());
            reserve(places, more)?;
            places.resize(index + 1, 0);
        }
        push(&mut self.shapes, LiveShape { id, shape, objects: 0, bytes: 0 })?;
        self.places[list][index] = self.shapes.len() as u32;
        Ok(self.shapes.len() - 1)
    }

    /// The live objects, in order of their addresses and numbers.
    pub(super) fn objects(&self) -> impl Iterator<Item = LiveObject<'w>> + '_ {
        let mut addresses = self.index.addresses();
        let mut ahead = VecDeque::with_capacity(AHEAD);
        // Objects of a shape often lie side by side.
        let mut last: Option<(ShapeId, usize, Layout<'w>)> = None;
        std::iter::from_fn(move || {
            while ahead.len() < AHEAD {
                let Some(address) = addresses.next() else { break };
                prefetch_read(address);
                ahead.push_back(address);
            }
            let address = ahead.pop_front()?;
            // SAFETY: the marker saw an object there.
            let header = Header::from_bits(unsafe { (address as *const u64).read() });
            let Kind::Object(id) = header.kind() else { return None };
            if !matches!(&last, Some((last, ..)) if *last == id) {
                let ShapePlace { list, index } = Shapes::place_of(id);
                let shape = self.places[list][index] as usize - 1;
                last = Some((id, shape, Layout::of(self.shapes[shape].shape)));
            }
            let (_, shape, layout) = last.as_ref()?;
            // SAFETY: as above.
            let bytes = unsafe { layout.size_of(address) };
            Some(LiveObject { address, shape: *shape, layout: layout.shape, bytes })
        })
    }

    /// Calls `visit` with each reference of an object that leads to a live object.
    pub(super) fn for_each_edge(
        &self,
        object: &LiveObject<'_>,
        mut visit: impl FnMut(Edge, usize, SlotKind),
    ) {
        let LiveObject { address, layout, .. } = *object;
        let mut edge = |edge, slot: *mut u64, kind| {
            // SAFETY: a slot of an object of the stopped heap.
            if let Some(target) = reference(unsafe { slot.read() })
                && (kind == SlotKind::Strong || self.is_live(target))
            {
                visit(edge, target, kind);
            }
        };
        if !layout.is_traced() {
            for (number, slot) in layout.slots().iter().enumerate() {
                edge(Edge::Slot(number), (address + slot.offset) as *mut u64, slot.kind);
            }
        } else {
            let mut number = 0;
            // SAFETY: an object of the stopped heap.
            unsafe {
                for_each_fixed_slot(address, layout, |slot, kind| {
                    edge(Edge::Element(number), slot, kind);
                    number += 1;
                });
            }
        }
        // SAFETY: as above.
        if let Some(tail) = unsafe { tail_slots(address, layout) } {
            for index in 0..tail.length {
                edge(Edge::Element(index), tail.start.wrapping_add(index), tail.kind);
            }
        }
    }

    /// The roots that lead to a live object. They are the same whenever this is called.
    pub(super) fn roots(&self) -> &[LiveRoot] {
        &self.roots
    }

    /// Whether a live object is at the address that a weak slot holds.
    fn is_live(&self, address: usize) -> bool {
        self.check(address).is_ok() && self.index.contains(address)
    }

    /// The number of the live object at an address that an edge or a root led to.
    pub(super) fn number_of(&self, address: usize) -> u64 {
        self.index.number_of(address).expect("only references to live objects are visited")
    }

    /// The number of elements in the tail of an object that has one.
    pub(super) fn length(&self, object: &LiveObject<'_>) -> usize {
        // SAFETY: an object with a tail has its length after the header.
        unsafe { ((object.address + LENGTH_OFFSET) as *const usize).read() }
    }

    /// The first `most` bytes of an object whose tail is plain bytes; `None` for others.
    pub(super) fn text<'o>(&self, object: &'o LiveObject<'_>, most: usize) -> Option<&'o [u8]> {
        let LiveObject { address, layout, bytes, .. } = *object;
        (layout.tail() == Some(Element::Plain { bytes: 1 })).then(|| {
            // SAFETY: an object with a tail has its length after the header; the heap is stopped,
            // and the bytes are the object's.
            unsafe {
                let length = self.length(object).min(bytes - layout.fixed_bytes()).min(most);
                std::slice::from_raw_parts((address + layout.fixed_bytes()) as *const u8, length)
            }
        })
    }
}

struct Marker<'w> {
    live: LiveHeap<'w>,
    /// [Entries](WorkEntry) that the marker has yet to look at.
    stack: Vec<usize>,
    /// The most entries.
    limit: usize,
    /// The lowest marked object that was not pushed, or of which a chunk was not.
    overflowed_from: Option<usize>,
    /// The first failure, which ends the marking.
    outcome: Result<(), SnapshotError>,
}

impl Marker<'_> {
    fn mark(&mut self) -> Result<(), SnapshotError> {
        self.copy_roots()?;
        for root in 0..self.live.roots.len() {
            let LiveRoot { slot, address, .. } = self.live.roots[root];
            if slot == SlotKind::Strong {
                self.reach(address)?;
            }
        }
        self.drain()?;
        while let Some(from) = self.overflowed_from.take() {
            // Marks may be added below the place that this loop has come to. Then they are drained
            // from the stack, or noted for the next turn.
            let mut at = from;
            loop {
                let next = self.live.index.addresses_from(at).next();
                let Some(address) = next else { break };
                self.scan(address, 0)?;
                self.drain()?;
                at = address + WORD;
            }
        }
        // A stack never becomes smaller.
        self.live.stack_bytes = self.stack.capacity() * size_of::<usize>();
        // Which referents of weak roots are live is known now.
        let mut roots = std::mem::take(&mut self.live.roots);
        roots.retain(|root| root.slot == SlotKind::Strong || self.live.is_live(root.address));
        self.live.roots = roots;
        Ok(())
    }

    /// Copies all roots that refer to an object.
    fn copy_roots(&mut self) -> Result<(), SnapshotError> {
        let (world, roots) = (self.live.world, &mut self.live.roots);
        let mut outcome = Ok(());
        world.visit_root_targets(&mut |kind, address, slot| {
            if outcome.is_ok() {
                outcome = push(roots, LiveRoot { kind, slot, address });
            }
        });
        outcome
    }

    /// A strong reference leads to `address`.
    fn reach(&mut self, address: usize) -> Result<(), SnapshotError> {
        self.live.check(address)?;
        if !self.live.index.add(address)? {
            return Ok(());
        }
        self.push(WorkEntry::Plain(address))
    }

    fn push(&mut self, entry: WorkEntry) -> Result<(), SnapshotError> {
        let (WorkEntry::Plain(address) | WorkEntry::Chunk { array: address, .. }) = entry;
        if self.stack.len() == self.limit {
            let lowest = self.overflowed_from.map_or(address, |from| from.min(address));
            self.overflowed_from = Some(lowest);
            return Ok(());
        }
        if self.stack.len() == self.stack.capacity() {
            let more = self.stack.len().max(LEAST_ENTRIES).min(self.limit - self.stack.len());
            reserve(&mut self.stack, more)?;
        }
        self.stack.push(entry.encode());
        Ok(())
    }

    /// Works until nothing is left on the stack.
    fn drain(&mut self) -> Result<(), SnapshotError> {
        // SAFETY: `check` has let pass every address that was pushed, and visits look again at what
        // is there.
        unsafe { trace(self) };
        std::mem::replace(&mut self.outcome, Ok(()))
    }

    /// Reaches what an object refers to, up to its first chunk, or another chunk of it. Pushes the
    /// next chunk.
    fn scan(&mut self, address: usize, number: usize) -> Result<(), SnapshotError> {
        let object = self.live.object(address)?;
        let shape = object.layout;
        let layout = Layout::of(shape);
        if !layout.has_slots {
            return Ok(());
        }
        // SAFETY: an object of the stopped heap.
        let tail = unsafe { tail_slots(address, shape) };
        let chunk = tail.map(|tail| {
            let slots = chunk_slots(tail.length);
            (tail, number * slots..tail.length.min((number + 1) * slots))
        });
        if let Some((tail, chunk)) = &chunk
            && chunk.end < tail.length
        {
            self.push(WorkEntry::Chunk { array: address, number: number + 1 })?;
        }
        let mut outcome = Ok(());
        let mut slot = |slot: *mut u64, kind| {
            // SAFETY: a slot of an object of the stopped heap.
            if let Some(target) = reference(unsafe { slot.read() })
                && kind == SlotKind::Strong
                && outcome.is_ok()
            {
                outcome = self.reach(target);
            }
        };
        if layout.words != 0 {
            for_each_word(address, layout.words, |word| slot(word, SlotKind::Strong));
        } else if number == 0 {
            // SAFETY: an object of the stopped heap.
            unsafe { for_each_fixed_slot(address, shape, &mut slot) };
        }
        if let Some((tail, chunk)) = chunk {
            chunk.for_each(|index| slot(tail.start.wrapping_add(index), tail.kind));
        }
        outcome
    }
}

impl Trace for Marker<'_> {
    fn pop_at_hand(&mut self) -> Option<usize> {
        self.stack.pop()
    }

    fn refill(&mut self) -> bool {
        false
    }

    /// After a failure, when nothing is looked at any more.
    fn keep(&mut self, _: WorkEntry) {}

    fn share(&mut self) {}

    unsafe fn visit(&mut self, address: usize) -> bool {
        self.outcome = self.scan(address, 0);
        self.outcome.is_ok()
    }

    unsafe fn visit_chunk(&mut self, array: usize, number: usize) -> bool {
        self.outcome = self.scan(array, number);
        self.outcome.is_ok()
    }
}
