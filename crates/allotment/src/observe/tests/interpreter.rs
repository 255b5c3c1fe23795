//! The interpreter: it does each step to the heap and to the model, and compares the two.

use super::graph::{Graph, Kind, NULL, Number, Value};
use super::places::{Frame, PLACES, PlaceKind, Places};
use super::programs::{Path, Step, Wanted};
use crate::Heap;
use crate::mutator::{Ahead, ArraySite, ByCaller, Mutator, OutOfMemory, PerObject, Reservation, Site};
use crate::object::{
    ADDRESS_MASK, Element, Header, LENGTH_OFFSET, Shape, ShapeRef, SlotKind, SlotVisitor, WORD, reference,
};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// The shapes of one heap.
#[derive(Clone, Copy)]
pub(super) struct Shapes {
    pair: ShapeRef,
    traced: ShapeRef,
    vector: ShapeRef,
    ephemerons: ShapeRef,
    bytes: ShapeRef,
}

/// # Safety
/// As for [`TraceFn`](crate::object::TraceFn).
unsafe fn trace(object: NonNull<u8>, slots: &mut SlotVisitor<'_>) {
    slots.strong(object.as_ptr().wrapping_add(8).cast());
    slots.weak(object.as_ptr().wrapping_add(24).cast());
}

impl Shapes {
    pub(super) fn new(heap: &Heap) -> Shapes {
        use SlotKind::{Strong, Weak};
        let register = |shape| heap.register(shape).expect("a shape");
        let pair = Shape::fixed("Pair", 40).slot("a", 8, Strong).slot("b", 16, Strong).slot("c", 24, Weak);
        Shapes {
            pair: register(pair),
            traced: register(Shape::fixed("Traced", 40).traced_by(trace).slots_never_change()),
            vector: register(Shape::array("Vector", 32, Element::Reference(Strong)).slot("type", 16, Strong)),
            ephemerons: register(Shape::array("Ephemerons", 24, Element::Reference(Weak))),
            bytes: register(Shape::array("Bytes", 24, Element::Plain { bytes: 1 })),
        }
    }

    pub(super) fn of(&self, kind: Kind) -> ShapeRef {
        match kind {
            Kind::Pair => self.pair,
            Kind::Traced => self.traced,
            Kind::Vector => self.vector,
            Kind::Ephemerons => self.ephemerons,
            Kind::Bytes => self.bytes,
        }
    }
}

/// The offset of the number of an object: after its slots, before its elements.
fn number_offset(kind: Kind) -> usize {
    match kind {
        Kind::Pair | Kind::Traced => 32,
        Kind::Vector => 24,
        Kind::Ephemerons | Kind::Bytes => 16,
    }
}

fn slot_offset(kind: Kind, slot: usize) -> usize {
    match kind {
        Kind::Pair => 8 + slot * WORD,
        Kind::Traced => 8 + slot * 2 * WORD,
        Kind::Vector if slot == 0 => 16,
        Kind::Vector => 32 + (slot - 1) * WORD,
        Kind::Ephemerons => 24 + slot * WORD,
        Kind::Bytes => unreachable!("bytes have no slots"),
    }
}

fn content(number: Number, index: usize) -> u8 {
    (number as usize * 31 + index) as u8
}

/// A word that looks like a slot but is not one.
fn decoy(number: Number) -> u64 {
    number << 3 | 8
}

/// A program: its part of the heap, and the model of that.
pub(super) struct Program {
    shapes: Shapes,
    places: Places,
    graph: Graph,
    held: BTreeMap<usize, Value>,
    next: Number,
    has_frame: bool,
    /// Allocations for which there was no memory.
    pub(super) out_of_memory: usize,
}

/// A program and the thread that runs it now.
pub(super) struct Thread<'p, 'm, 't> {
    pub(super) program: &'p mut Program,
    pub(super) mutator: &'m mut Mutator<'t>,
    pub(super) frame: Option<&'p Frame>,
}

impl Program {
    /// Objects of programs with different `first` numbers are told apart.
    pub(super) fn new(heap: &Heap, shapes: Shapes, first: Number, has_frame: bool) -> Program {
        Program {
            shapes,
            places: Places::new(heap),
            graph: Graph::default(),
            held: BTreeMap::new(),
            next: first << 32 | 1,
            has_frame,
            out_of_memory: 0,
        }
    }

    fn place(&self, chosen: usize) -> usize {
        let first =
            if self.has_frame { 0 } else { PLACES.iter().take_while(|place| place.is_in_frame()).count() };
        first + chosen % (PLACES.len() - first)
    }

    /// The number of objects that are alive in the model.
    pub(super) fn alive(&self) -> usize {
        self.graph.reachable(self.strongly_held()).len()
    }

    fn strongly_held(&self) -> impl Iterator<Item = Number> + '_ {
        self.held.iter().filter_map(|(place, value)| match value {
            Value::Object(number, _) if !PLACES[*place].is_weak() => Some(*number),
            _ => None,
        })
    }

    /// Its frame is gone.
    pub(super) fn forget_frame(&mut self) {
        self.held.retain(|place, _| !PLACES[*place].is_in_frame());
        self.has_frame = false;
    }
}

impl<'t> Thread<'_, '_, 't> {
    /// A word that is not a slot.
    fn word(&self, address: usize) -> u64 {
        // SAFETY: callers ask for words of live objects.
        unsafe { AtomicU64::from_ptr(address as *mut u64) }.load(Ordering::Relaxed)
    }

    /// A slot, by the barrier of its kind.
    fn load(&self, address: usize, kind: SlotKind) -> u64 {
        let slot = address as *const u64;
        // SAFETY: callers ask for slots of live objects.
        unsafe {
            if kind == SlotKind::Weak {
                self.mutator.raw().load_weak(slot)
            } else {
                self.mutator.raw().load(slot)
            }
        }
    }

    fn bits(&self, place: usize) -> u64 {
        self.program.places.get(self.mutator, self.frame, PLACES[place])
    }

    /// Checks a word that holds `value` in the model. Returns the actual value, which may be null
    /// if the word is weak and nothing else holds its referent.
    fn agree(&self, bits: u64, value: Value, weak: bool) -> Value {
        match (value, reference(bits)) {
            (Value::Plain(expected), _) => {
                assert_eq!(bits, expected, "a word that is not a reference changed")
            }
            (Value::Object(number, tag), Some(address)) => {
                self.look_at(address, number);
                assert_eq!(bits & !ADDRESS_MASK, tag, "the tag of a reference to {number}");
            }
            (Value::Object(number, _), None) => {
                assert!(weak, "a strong reference to {number} became {bits:#x}");
                assert_eq!(bits & ADDRESS_MASK, 0);
                let alive = self.program.graph.reachable(self.program.strongly_held());
                assert!(
                    !alive.contains(&number),
                    "{number} is alive, and a weak reference to it was cleared"
                );
                return NULL;
            }
        }
        value
    }

    /// The header, length and number are that object's.
    fn look_at(&self, address: usize, number: Number) {
        let node = &self.program.graph.nodes[&number];
        let header = Header::from_bits(self.word(address));
        let shape = self.program.shapes.of(node.kind);
        assert_eq!(header.kind(), shape.header().kind(), "{number} is a {:?}", node.kind);
        assert_eq!(header.identity_hash().map(|hash| hash.get()), node.hash, "hash of {number}");
        assert_eq!(self.word(address + number_offset(node.kind)), number, "at {address:#x}");
        if shape.has_tail() {
            assert_eq!(self.word(address + LENGTH_OFFSET), node.length as u64);
        }
    }

    /// The contents of a place, as heap and model agree.
    fn held(&mut self, place: usize) -> (u64, Value) {
        let value = self.program.held.get(&place).copied().unwrap_or(NULL);
        let bits = self.bits(place);
        let agreed = self.agree(bits, value, PLACES[place].is_weak());
        if agreed != value {
            self.program.held.insert(place, agreed);
        }
        (if agreed == NULL { 0 } else { bits }, agreed)
    }

    /// The contents of slot `slot` of an object, as heap and model agree.
    fn slot(&mut self, address: usize, number: Number, slot: usize) -> (u64, Value) {
        let node = &self.program.graph.nodes[&number];
        let (kind, value) = (node.kind.slots(node.length)[slot], node.slots[slot]);
        let bits = self.load(address + slot_offset(node.kind, slot), kind);
        let agreed = self.agree(bits, value, kind == SlotKind::Weak);
        self.program.graph.nodes.get_mut(&number).expect("looked up above").slots[slot] = agreed;
        (bits, agreed)
    }

    /// Follows a path as far as it leads; no safepoint.
    fn follow(&mut self, path: &Path) -> (u64, Value) {
        let (mut bits, mut value) = self.held(self.program.place(path.place));
        for hop in &path.hops {
            let (Value::Object(number, _), Some(address)) = (value, reference(bits)) else { break };
            let slots = self.program.graph.nodes[&number].slots.len();
            if slots == 0 {
                break;
            }
            let next = self.slot(address, number, hop % slots);
            if !matches!(next.1, Value::Object(..)) {
                break;
            }
            (bits, value) = next;
        }
        (bits, value)
    }

    fn put(&mut self, place: usize, bits: u64, value: Value) {
        let kind = PLACES[place];
        let (bits, value) = match value {
            Value::Object(number, _) if !kind.keeps_tags() => (bits & ADDRESS_MASK, Value::Object(number, 0)),
            Value::Object(..) => (bits, value),
            // Handles are dropped, and a pin is of an object.
            Value::Plain(_) => (0, NULL),
        };
        self.program.places.set(self.mutator, self.frame, kind, bits);
        self.program.held.insert(place, value);
    }

    /// Memory of an object as it is wanted, header and length written. May reach a safepoint.
    fn memory(&mut self, wanted: Wanted) -> Result<NonNull<u8>, OutOfMemory> {
        let shape = self.program.shapes.of(wanted.kind);
        // SAFETY: the shapes are the heap's, and all slots are written before the next safepoint.
        unsafe {
            let mutator = &mut *self.mutator;
            let made = match (wanted.way % 4, wanted.kind) {
                (0, Kind::Pair | Kind::Traced) => {
                    mutator.raw().try_alloc_raw(Site::<40, ByCaller>::new(shape).expect("40 bytes"))
                }
                (0, _) => mutator.raw().try_alloc_array_raw(ArraySite::<ByCaller>::new(shape), wanted.length),
                (1, _) => {
                    mutator.raw().try_alloc_array_raw(ArraySite::<PerObject>::new(shape), wanted.length)
                }
                (2, _) => mutator.raw().try_alloc_array_raw(ArraySite::<Ahead>::new(shape), wanted.length),
                _ => mutator.raw_mut().burst(|burst| {
                    burst.try_alloc_array_raw(ArraySite::<PerObject>::new(shape), wanted.length)
                }),
            };
            match made {
                Some(object) => Ok(object),
                None => mutator.raw_mut().alloc_raw(shape, wanted.length),
            }
        }
    }

    /// Makes the memory an object of the model.
    fn born(&mut self, object: NonNull<u8>, wanted: Wanted) -> (u64, Value) {
        let Wanted { kind, length, .. } = wanted;
        let number = self.program.next;
        self.program.next += 1;
        self.program.graph.add(number, kind, length);
        let address = object.addr().get();
        // SAFETY: words of the new object.
        unsafe {
            self.mutator.raw().store((address + number_offset(kind)) as *mut u64, number);
            for slot in 0..kind.slots(length).len() {
                self.mutator.raw().store((address + slot_offset(kind, slot)) as *mut u64, 0);
            }
            if kind == Kind::Traced {
                self.mutator.raw().store((address + 16) as *mut u64, decoy(number));
            }
            if kind == Kind::Bytes {
                (0..length).for_each(|index| object.add(24 + index).write(content(number, index)));
            }
        }
        (address as u64, Value::Object(number, 0))
    }

    fn reserve(&mut self, wanted: &[Wanted]) -> Option<Reservation<'t>> {
        let bytes = wanted.iter().map(|wanted| {
            let shape = self.program.shapes.of(wanted.kind);
            shape.bytes_for(wanted.length).expect("a size")
        });
        let room = self.mutator.make_room(bytes.sum());
        self.program.out_of_memory += usize::from(room.is_err());
        room.ok()
    }

    pub(super) fn step(&mut self, step: &Step) {
        match step {
            Step::Allocate(wanted, place) => match self.memory(*wanted) {
                Ok(object) => {
                    let (bits, value) = self.born(object, *wanted);
                    self.put(self.program.place(*place), bits, value);
                }
                Err(_) => self.program.out_of_memory += 1,
            },
            Step::Reserve(wanted, place) => {
                let Some(mut room) = self.reserve(wanted) else { return };
                // The first refers to the others, where it can.
                let mut first = None;
                for (index, wanted) in wanted.iter().enumerate() {
                    let site = ArraySite::<PerObject>::new(self.program.shapes.of(wanted.kind));
                    // SAFETY: as in `memory`.
                    let object =
                        unsafe { self.mutator.raw().alloc_in_array_raw(&mut room, site, wanted.length) };
                    let (bits, value) = self.born(object.expect("what was reserved"), *wanted);
                    match first {
                        None => {
                            first = Some((bits, value));
                            self.put(self.program.place(*place), bits, value);
                        }
                        Some((holder, holder_value)) => {
                            self.store(holder, holder_value, index, bits, value);
                        }
                    }
                }
            }
            Step::Store(holder, slot, from, tag) => {
                let (holder, holder_value) = self.follow(holder);
                let (bits, value) = self.follow(from);
                let (bits, value) = match value {
                    Value::Object(number, _) => (bits & ADDRESS_MASK | tag, Value::Object(number, *tag)),
                    Value::Plain(_) => (tag | 1, Value::Plain(tag | 1)),
                };
                self.store(holder, holder_value, *slot, bits, value);
            }
            Step::Clear(holder, slot) => {
                let (holder, value) = self.follow(holder);
                self.store(holder, value, *slot, 0, NULL);
            }
            Step::Move(from, slot, to, other) => {
                let (holder, holder_value) = self.follow(from);
                let (target, target_value) = self.follow(to);
                let Some((bits, value)) = self.slot_of(holder, holder_value, *slot) else { return };
                self.store(target, target_value, *other, bits, value);
                self.store(holder, holder_value, *slot, 0, NULL);
            }
            Step::Copy(from, start, to, at, count) => {
                let (from, to) = (self.follow(from), self.follow(to));
                self.copy(from, *start, to, *at, *count);
            }
            Step::Root(from, place) => {
                let (bits, value) = self.follow(from);
                self.put(self.program.place(*place), bits, value);
            }
            Step::Drop(place) => self.put(self.program.place(*place), 0, NULL),
            Step::Hash(path) => {
                if let (bits, Value::Object(number, _)) = self.follow(path) {
                    let object = NonNull::new((bits & ADDRESS_MASK) as *mut u8).expect("an object");
                    // SAFETY: a live object.
                    let hash = unsafe { self.mutator.raw().identity_hash_raw(object) }.get();
                    let node = self.program.graph.nodes.get_mut(&number).expect("a node");
                    assert_eq!(*node.hash.get_or_insert(hash), hash);
                }
            }
            Step::Collect => assert!(self.mutator.collect()),
            Step::Safepoint => self.mutator.safepoint(),
            Step::Block => self.mutator.blocking(std::thread::yield_now),
            Step::Check => self.check(),
        }
    }

    /// What a slot of an object holds, if the object has slots.
    fn slot_of(&mut self, holder: u64, holder_value: Value, slot: usize) -> Option<(u64, Value)> {
        let (Value::Object(number, _), Some(address)) = (holder_value, reference(holder)) else {
            return None;
        };
        let slots = self.program.graph.nodes[&number].slots.len();
        let (bits, value) = (slots > 0).then(|| self.slot(address, number, slot % slots))?;
        Some((if value == NULL { 0 } else { bits }, value))
    }

    /// Copies elements of one vector to another, or to itself.
    fn copy(&mut self, from: (u64, Value), start: usize, to: (u64, Value), at: usize, count: usize) {
        let vector = |(bits, value)| {
            let (Value::Object(number, _), Some(address)) = (value, reference(bits)) else { return None };
            let node = &self.program.graph.nodes[&number];
            (node.kind == Kind::Vector && node.length > 0).then_some((address, number, node.length))
        };
        let (Some((source, from, length)), Some((target, to, other))) = (vector(from), vector(to)) else {
            return;
        };
        let (start, at) = (start % length, at % other);
        let most = (length - start).min(other - at);
        let (clears, count) = (count % 2 == 1, 1 + count / 2 % most);
        let slot = |address, index| (address + slot_offset(Kind::Vector, 1 + index)) as *mut u64;
        // SAFETY: slots of live vectors.
        unsafe { self.mutator.raw().copy_slots(slot(target, at), slot(source, start), count) };
        let copied = self.program.graph.nodes[&from].slots[1 + start..][..count].to_vec();
        self.program.graph.nodes.get_mut(&to).expect("a node").slots[1 + at..][..count]
            .copy_from_slice(&copied);
        if clears && from != to {
            // SAFETY: as above.
            unsafe { self.mutator.raw().store_slots(slot(source, start), count, 0) };
            self.program.graph.nodes.get_mut(&from).expect("a node").slots[1 + start..][..count].fill(NULL);
        }
    }

    fn store(&mut self, holder: u64, holder_value: Value, slot: usize, bits: u64, value: Value) {
        let (Value::Object(number, _), Some(address)) = (holder_value, reference(holder)) else { return };
        let node = self.program.graph.nodes.get_mut(&number).expect("a node");
        if node.slots.is_empty() {
            return;
        }
        let slot = slot % node.slots.len();
        node.slots[slot] = value;
        // SAFETY: a slot of a live object; the reference was followed or made since the last
        // safepoint.
        unsafe { self.mutator.raw().store((address + slot_offset(node.kind, slot)) as *mut u64, bits) };
    }

    /// Checks that every held object, and every object it leads to, is unchanged: each object in
    /// one place, with all its contents.
    pub(super) fn check(&mut self) {
        let mut addresses = BTreeMap::<Number, usize>::new();
        let mut pending = Vec::new();
        for chosen in 0..PLACES.len() {
            pending.push(self.held(self.program.place(chosen)));
        }
        while let Some((bits, value)) = pending.pop() {
            let (Value::Object(number, _), Some(address)) = (value, reference(bits)) else { continue };
            if let Some(before) = addresses.insert(number, address) {
                assert_eq!(before, address, "{number} is in two places");
                continue;
            }
            let node = &self.program.graph.nodes[&number];
            let (kind, length, slots) = (node.kind, node.length, node.slots.len());
            if kind == Kind::Traced {
                assert_eq!(self.word(address + 16), decoy(number), "what is not a slot was left alone");
            }
            if kind == Kind::Bytes {
                // SAFETY: the bytes of a live object.
                let bytes = unsafe { std::slice::from_raw_parts((address + 24) as *const u8, length) };
                assert!((0..length).all(|index| bytes[index] == content(number, index)), "bytes of {number}");
            }
            for slot in 0..slots {
                pending.push(self.slot(address, number, slot));
            }
        }
        let mut places: Vec<_> = addresses.values().collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), addresses.len(), "two objects are in one place");
    }

    /// Drops everything that is held in places of that kind.
    pub(super) fn drop_all(&mut self, which: impl Fn(PlaceKind) -> bool) {
        for chosen in 0..PLACES.len() {
            let place = self.program.place(chosen);
            if which(PLACES[place]) {
                self.put(place, 0, NULL);
            }
        }
    }
}
