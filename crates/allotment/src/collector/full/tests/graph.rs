//! A real heap beside its model: every change is made to both, and they are compared after a
//! collection.

use super::model::{Model, Node, Number, Value};
use super::*;
use crate::mutator::{ArraySite, PerObject};
use crate::object::{ADDRESS_MASK, Header, SlotVisitor, WORD, reference};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

/// Kinds of objects; the number of an object is the last word of its fixed part.
pub(in crate::collector) const KINDS: usize = 7;
/// The kind with a tail of strong references.
pub(in crate::collector) const ARRAY: usize = 1;
/// The kind with a tail of bytes.
pub(in crate::collector) const BYTES: usize = 3;

pub(in crate::collector) struct Graph {
    pub(in crate::collector) heap: Heap,
    pub(in crate::collector) tools: Tools,
    pub(in crate::collector) model: Model,
    /// Where each object of the model lies.
    pub(in crate::collector) addresses: BTreeMap<Number, usize>,
    /// The roots as the heap sees them, in the order of the model's.
    pub(in crate::collector) roots: Vec<(u64, SlotKind)>,
    shapes: [ShapeRef; KINDS],
    next: Number,
}

/// Offsets and kinds of the slots of each kind of object, without tails.
const FIXED_SLOTS: [&[(usize, SlotKind)]; KINDS] = [
    &[(8, SlotKind::Strong), (16, SlotKind::Strong), (24, SlotKind::Weak)],
    &[],
    &[(16, SlotKind::Strong)],
    &[],
    &[(8, SlotKind::Strong), (24, SlotKind::Weak)],
    &[],
    &[(8, SlotKind::Strong), (16, SlotKind::Strong)],
];
/// Fixed part in bytes; the number is its last word.
const FIXED: [usize; KINDS] = [40, 24, 32, 24, 40, 16, 32];
const TAILS: [Option<Element>; KINDS] = [
    None,
    Some(Element::Reference(SlotKind::Strong)),
    Some(Element::Reference(SlotKind::Weak)),
    Some(Element::Plain { bytes: 1 }),
    None,
    None,
    None,
];

/// Two slots with a word between them that only looks like a reference.
///
/// # Safety
/// As for [`TraceFn`](crate::object::TraceFn).
unsafe fn trace(object: NonNull<u8>, slots: &mut SlotVisitor<'_>) {
    slots.strong(object.as_ptr().wrapping_add(8).cast());
    slots.weak(object.as_ptr().wrapping_add(24).cast());
}

impl Graph {
    pub(in crate::collector) fn new(workers: usize, regions: usize, piece: usize, pieces: usize) -> Graph {
        Graph::of(heap(regions), workers, piece, pieces)
    }

    /// An empty graph in an empty heap.
    pub(in crate::collector) fn of(heap: Heap, workers: usize, piece: usize, pieces: usize) -> Graph {
        let shapes = std::array::from_fn(|kind| {
            let name = format!("Kind{kind}");
            let mut shape = match TAILS[kind] {
                Some(element) => Shape::array(name, FIXED[kind], element),
                None => Shape::fixed(name, FIXED[kind]),
            };
            if kind == 4 {
                shape = shape.traced_by(trace);
            } else {
                for &(offset, slot) in FIXED_SLOTS[kind] {
                    shape = shape.slot(format!("at{offset}"), offset, slot);
                }
            }
            heap.register(shape).expect("a shape")
        });
        let tools = tools(&heap, workers, piece, pieces);
        let (model, addresses, roots) = (Model::default(), BTreeMap::new(), Vec::new());
        Graph { heap, tools, model, addresses, roots, shapes, next: 1 }
    }

    /// Allocates objects of these kinds and lengths, by one thread. Returns the objects that fit.
    pub(in crate::collector) fn allocate(&mut self, wanted: &[(usize, usize)]) -> Vec<Number> {
        let shapes = self.shapes;
        let objects = self.heap.attach(|mutator| {
            let each = wanted.iter().map(|&(kind, length)| {
                // SAFETY: the shape is the heap's, and the object is initialised before any
                // collection.
                unsafe {
                    mutator.raw().try_alloc_array_raw(ArraySite::<PerObject>::new(shapes[kind]), length)
                }
            });
            each.collect::<Vec<_>>()
        });
        let objects = objects.expect("not attached yet");
        wanted.iter().zip(objects).filter_map(|(&what, object)| Some(self.born(what, object?))).collect()
    }

    pub(in crate::collector) fn born(
        &mut self,
        (kind, length): (usize, usize),
        object: NonNull<u8>,
    ) -> Number {
        let (number, address) = (self.next, object.addr().get());
        self.next += 1;
        let tail = match TAILS[kind] {
            Some(Element::Reference(slot)) => vec![(Value::Plain(0), slot); length],
            _ => Vec::new(),
        };
        let fixed = FIXED_SLOTS[kind].iter().map(|&(_, slot)| (Value::Plain(0), slot));
        let slots = fixed.chain(tail).collect();
        // SAFETY: the new object is the test's.
        unsafe {
            write(address + FIXED[kind] - WORD, number);
            if kind == BYTES {
                let bytes = (address + FIXED[kind]) as *mut u8;
                (0..length).for_each(|index| bytes.add(index).write(content(number, index)));
            }
            if kind == 4 {
                // Refers to itself, in a word that is no slot.
                write(address + 16, address as u64);
            }
        }
        let header = self.shapes[kind].header().bits();
        self.model.nodes.insert(number, Node { kind, length, header, slots });
        self.addresses.insert(number, address);
        number
    }

    /// The word that stands for a value.
    pub(in crate::collector) fn bits(&self, value: Value) -> u64 {
        match value {
            Value::Plain(bits) => bits,
            Value::Object(number, tag) => self.addresses[&number] as u64 | tag,
        }
    }

    pub(in crate::collector) fn slot_address(&self, number: Number, slot: usize) -> usize {
        let kind = self.model.nodes[&number].kind;
        let fixed = FIXED_SLOTS[kind];
        let offset = match fixed.get(slot) {
            Some((offset, _)) => *offset,
            None => FIXED[kind] + (slot - fixed.len()) * WORD,
        };
        self.addresses[&number] + offset
    }

    pub(in crate::collector) fn store(&mut self, number: Number, slot: usize, value: Value) {
        let address = self.slot_address(number, slot);
        // SAFETY: a slot of an object that the model says is there.
        unsafe { write(address, self.bits(value)) };
        // Young objects skip the barrier: this exposes a collection that relies on it where it may
        // not.
        if self.model.old.contains(&number) {
            self.heap.shared.space.cards.dirty(address);
        }
        self.model.nodes.get_mut(&number).expect("it is there").slots[slot].0 = value;
    }

    pub(in crate::collector) fn root(&mut self, value: Value, kind: SlotKind) {
        self.model.roots.push((value, kind));
        self.roots.push((self.bits(value), kind));
    }

    /// Gives the object a hash and an age.
    pub(in crate::collector) fn dress(&mut self, number: Number, hash: NonZeroU32, age: u8) {
        let node = self.model.nodes.get_mut(&number).expect("it is there");
        node.header = Header::from_bits(node.header).with_identity_hash(hash).with_age(age).bits();
        // SAFETY: the header of an object.
        unsafe { write(self.addresses[&number], node.header) };
    }

    /// Collects both, and compares.
    pub(in crate::collector) fn collect(&mut self, compaction: Compaction) -> FullStatistics {
        self.collect_then(compaction, |_, _| {})
    }

    /// Collects both, calls `after`, and compares. `after` is what a collector does to the heap in
    /// the same pause.
    pub(in crate::collector) fn collect_then(
        &mut self,
        compaction: Compaction,
        after: impl FnOnce(&Heap, &Tools),
    ) -> FullStatistics {
        let mut pins: Vec<usize> = self.model.pins.iter().map(|number| self.addresses[number]).collect();
        pins.reverse();
        let before = self.addresses.clone();
        let statistics = collect_detached(&self.heap, &mut self.tools, &mut self.roots, &pins, compaction);
        assert_eq!(self.heap.memory().used_bytes, statistics.used_after);
        after(&self.heap, &self.tools);
        assert_eq!(statistics.weak_cleared, self.model.collect());
        assert_eq!(statistics.live_objects, self.model.nodes.len() as u64);
        assert_eq!(statistics.workers, self.tools.workers);
        assert_eq!(statistics.details.worker_objects.len(), self.tools.workers, "an entry for each worker");
        let marked: u64 = statistics.details.worker_objects.iter().sum();
        assert!(marked >= statistics.live_objects, "each object was marked");
        assert!(marked == statistics.live_objects || self.tools.workers > 1, "a lone marker marks each once");
        self.find_all(&self.model.pins.clone(), |_, _, header| header);
        for pin in &self.model.pins {
            assert_eq!(self.addresses[pin], before[pin], "object {pin} is pinned");
        }
        let census = self.heap.verify().expect("a sound heap");
        for (kind, shape) in self.shapes.iter().enumerate() {
            let expected = self.model.nodes.values().filter(|node| node.kind == kind).count();
            assert_eq!(census.objects(shape.id()), expected as u64, "only live objects are left");
        }
        assert_eq!(census.object_bytes(), statistics.live_bytes);
        statistics
    }

    /// Bytes of an object.
    pub(in crate::collector) fn bytes(&self, number: Number) -> usize {
        let Node { kind, length, .. } = self.model.nodes[&number];
        self.shapes[kind].bytes_for(length).expect("it was allocated")
    }

    /// The shape of a kind.
    pub(in crate::collector) fn shape(&self, kind: usize) -> ShapeRef {
        self.shapes[kind]
    }

    /// Finds every object of the model again, from the roots and from objects that have not moved,
    /// and compares. `expected` has the number, the place and the former header of each, and says
    /// what its header should be.
    pub(in crate::collector) fn find_all(
        &mut self,
        unmoved: &BTreeSet<Number>,
        expected: impl Fn(Number, usize, u64) -> u64,
    ) {
        let mut found: BTreeMap<Number, usize> = BTreeMap::new();
        let mut pending = Vec::new();
        for (&(value, _), &(bits, _)) in self.model.roots.iter().zip(&self.roots) {
            pending.push((value, bits));
        }
        pending
            .extend(unmoved.iter().map(|&number| (Value::Object(number, 0), self.addresses[&number] as u64)));
        while let Some((value, bits)) = pending.pop() {
            let (number, tag) = match value {
                Value::Plain(expected) => {
                    assert_eq!(bits, expected);
                    continue;
                }
                Value::Object(number, tag) => (number, tag),
            };
            assert_eq!(bits & !ADDRESS_MASK, tag, "a tag travels with its reference");
            let address = reference(bits).expect("a reference");
            if let Some(other) = found.insert(number, address) {
                assert_eq!(other, address, "object {number} is in two places");
                continue;
            }
            self.addresses.insert(number, address);
            let node = self.model.nodes.get_mut(&number).expect("it lives");
            node.header = expected(number, address, node.header);
            let node = &self.model.nodes[&number];
            // SAFETY: an object, if the collection is right.
            unsafe { compare(number, node, address) };
            for (slot, &(value, _)) in node.slots.iter().enumerate() {
                // SAFETY: a slot of an object.
                pending.push((value, unsafe { read(self.slot_address(number, slot)) }));
            }
        }
        assert!(self.model.nodes.keys().eq(found.keys()));
        self.addresses = found;
    }
}

/// # Safety
/// - An object of the node's kind and length is at `address`.
unsafe fn compare(number: Number, node: &Node, address: usize) {
    // SAFETY: the caller's predicate.
    unsafe {
        assert_eq!(read(address), node.header, "object {number}");
        assert_eq!(read(address + FIXED[node.kind] - WORD), number);
        if TAILS[node.kind].is_some() {
            assert_eq!(read(address + WORD), node.length as u64);
        }
        if node.kind == BYTES {
            let bytes = std::slice::from_raw_parts((address + FIXED[BYTES]) as *const u8, node.length);
            assert!(bytes.iter().enumerate().all(|(index, &byte)| byte == content(number, index)));
        }
    }
}

fn content(number: Number, index: usize) -> u8 {
    (number as usize * 31 + index) as u8
}

/// # Safety
/// - A word at `address` may be read.
unsafe fn read(address: usize) -> u64 {
    // SAFETY: the caller's predicate.
    unsafe { (address as *const u64).read() }
}

/// # Safety
/// - A word at `address` may be written.
unsafe fn write(address: usize, word: u64) {
    // SAFETY: the caller's predicate.
    unsafe { (address as *mut u64).write(word) }
}
