//! Random graphs in heaps of all collectors, and what a snapshot says of them.
//!
//! Each object has a shape of its own, so its name tells which one it is.

use super::heapsnapshot::{self, Edge, Node};
use super::{COLLECTORS, heap, hprof};
use crate::Heap;
use crate::mutator::{Mutator, Pin, RootHandle, RootProvider, RootVisitor, RootWord};
use crate::object::{Element, HEADER_BYTES, Shape, ShapeRef, SlotKind, SlotVisitor, WORD};
use crate::observe::{Graph, SnapshotFormat, SnapshotSettings};
use proptest::prelude::*;
use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ptr::NonNull;

/// The kind of an object.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// Two strong slots.
    Pair,
    /// A weak slot and a strong one.
    Ephemeron,
    /// A weak slot, and a tail of strong references.
    Vector(usize),
    /// A tail of weak references.
    WeakVector(usize),
    /// A trace function visits the second of three words.
    Traced,
    /// Slots before a tail, of plain bytes or of weak references that no function visits.
    TracedTail(Element, usize),
    /// Plain bytes.
    Bytes(usize),
}

/// Visits the second word.
unsafe fn trace_second(object: NonNull<u8>, slots: &mut SlotVisitor<'_>) {
    // SAFETY: objects of the shape have three words.
    slots.strong(unsafe { object.as_ptr().add(16) }.cast());
}

impl What {
    fn shape(self, name: String) -> Shape {
        use SlotKind::{Strong, Weak};
        match self {
            What::Pair => Shape::fixed(name, 24).slot("car", 8, Strong).slot("cdr", 16, Strong),
            What::Ephemeron => Shape::fixed(name, 24).slot("key", 8, Weak).slot("value", 16, Strong),
            What::Vector(_) => Shape::array(name, 24, Element::Reference(Strong)).slot("type", 16, Weak),
            What::WeakVector(_) => Shape::array(name, 16, Element::Reference(Weak)),
            What::Traced => Shape::fixed(name, 24).traced_by(trace_second).slots_never_change(),
            What::TracedTail(element, _) => {
                Shape::array(name, 24, element).traced_by(trace_second).slots_never_change()
            }
            What::Bytes(_) => Shape::array(name, 16, Element::Plain { bytes: 1 }),
        }
    }

    fn length(self) -> usize {
        match self {
            What::Vector(length)
            | What::WeakVector(length)
            | What::Bytes(length)
            | What::TracedTail(_, length) => length,
            _ => 0,
        }
    }

    /// The slots: offset, type and name of the edge.
    fn slots(self) -> Vec<(usize, &'static str, String)> {
        let named = |offset, kind, name: &str| (offset, kind, name.to_owned());
        match self {
            What::Pair => vec![named(8, "property", "car"), named(16, "property", "cdr")],
            What::Ephemeron => vec![named(8, "weak", "key"), named(16, "property", "value")],
            What::Vector(length) => std::iter::once(named(16, "weak", "type"))
                .chain((0..length).map(|index| (24 + 8 * index, "element", index.to_string())))
                .collect(),
            What::WeakVector(length) => {
                (0..length).map(|index| named(16 + 8 * index, "weak", "element")).collect()
            }
            What::Traced | What::TracedTail(..) => vec![named(16, "element", "0")],
            What::Bytes(_) => vec![],
        }
    }

    fn bytes(self) -> usize {
        match self {
            What::Pair | What::Ephemeron | What::Traced => 24,
            What::Vector(length) => 24 + 8 * length,
            What::WeakVector(length) => 16 + 8 * length,
            What::Bytes(length) => (16 + length).next_multiple_of(8),
            What::TracedTail(element, length) => (24 + element.bytes() * length).next_multiple_of(8),
        }
    }
}

/// Objects, the targets of their slots in turn (more than there are objects: null), and the roots
/// of each kind.
#[derive(Clone, Debug)]
pub(super) struct Model {
    objects: Vec<(What, Vec<usize>)>,
    handles: Vec<usize>,
    weak_handles: Vec<usize>,
    provided: Vec<usize>,
    provided_weakly: Vec<usize>,
    pinned: Vec<usize>,
    framed: Vec<usize>,
}

/// Models of fewer than `most` objects.
pub(super) fn model(most: usize) -> impl Strategy<Value = Model> {
    let what = prop_oneof![
        4 => Just(What::Pair),
        1 => Just(What::Ephemeron),
        2 => (0usize..12).prop_map(What::Vector),
        1 => (0usize..6).prop_map(What::WeakVector),
        1 => Just(What::Traced),
        1 => (0usize..9).prop_map(|length| What::TracedTail(Element::Plain { bytes: 1 }, length)),
        1 => (0usize..9).prop_map(|length| What::TracedTail(Element::Reference(SlotKind::Weak), length)),
        1 => (0usize..50).prop_map(What::Bytes),
        1 => prop_oneof![Just(What::Vector(600)), Just(What::Bytes(5000))],
    ];
    let objects = prop::collection::vec((what, prop::collection::vec(0..most + most / 3, 14)), 1..most);
    let some = || prop::collection::vec(0..most, 0..3);
    (objects, some(), some(), some(), some(), some(), some()).prop_map(
        |(
            objects,
            mut handles,
            mut weak_handles,
            mut provided,
            mut provided_weakly,
            mut pinned,
            mut framed,
        )| {
            let count = objects.len();
            let (strong, weak) = ([&mut handles, &mut provided], [&mut weak_handles, &mut provided_weakly]);
            for roots in strong.into_iter().chain(weak).chain([&mut pinned, &mut framed]) {
                roots.iter_mut().for_each(|root| *root %= count);
            }
            Model { objects, handles, weak_handles, provided, provided_weakly, pinned, framed }
        },
    )
}

impl Model {
    /// The references of an object: type and name of the edge, target.
    fn references(&self, object: usize) -> Vec<(&'static str, String, usize)> {
        let (what, targets) = &self.objects[object];
        let slots = what.slots().into_iter().zip(targets.iter().cycle());
        let references = slots.map(|((_, kind, name), target)| (kind, name, *target));
        references.filter(|(_, _, target)| *target < self.objects.len()).collect()
    }

    /// Which objects are live.
    fn live(&self, without: Option<usize>) -> Vec<bool> {
        let roots = [&self.handles, &self.provided, &self.pinned, &self.framed];
        let mut work: Vec<usize> = roots.into_iter().flatten().copied().collect();
        let mut live = vec![false; self.objects.len()];
        while let Some(object) = work.pop() {
            if Some(object) != without && !std::mem::replace(&mut live[object], true) {
                let strong = self.references(object).into_iter().filter(|(kind, ..)| *kind != "weak");
                work.extend(strong.map(|(_, _, target)| target));
            }
        }
        live
    }
}

/// Provides these words: strong ones, then weak ones.
struct Provider([Vec<UnsafeCell<u64>>; 2]);

// SAFETY: only the heap's visits write the words, and these exclude each other.
unsafe impl Sync for Provider {}

// SAFETY: all words are visited, and the provider uses neither heap nor locks.
unsafe impl RootProvider for Provider {
    fn visit_roots(&self, roots: &mut RootVisitor<'_, '_>) {
        self.0[0].iter().for_each(|word| roots.slot(word.get()));
        self.0[1].iter().for_each(|word| roots.weak_slot(word.get()));
    }
}

/// Makes the model in a heap, and calls `look` while its roots are there.
pub(super) fn with_model<R>(heap: &Heap, model: &Model, look: impl FnOnce(&mut Mutator<'_>) -> R) -> R {
    let shapes: Vec<ShapeRef> = model
        .objects
        .iter()
        .enumerate()
        .map(|(number, (what, _))| heap.register(what.shape(format!("n{number}"))).unwrap())
        .collect();
    heap.attach(|mutator| {
        let made: Vec<RootHandle> = shapes
            .iter()
            .zip(&model.objects)
            .map(|(shape, (what, _))| {
                // SAFETY: the shape is the heap's, and the object goes to a root at once.
                unsafe {
                    let object = mutator.raw_mut().alloc_raw(*shape, what.length()).expect("room");
                    mutator.raw().new_root(object.addr().get() as u64)
                }
            })
            .collect();
        let word = |mutator: &Mutator<'_>, object: usize| made[object].get(mutator).expect("of this heap");
        for (number, (what, targets)) in model.objects.iter().enumerate() {
            for ((offset, ..), target) in what.slots().into_iter().zip(targets.iter().cycle()) {
                let bits = if *target < made.len() { word(mutator, *target) } else { 1 };
                // SAFETY: a slot of a live object; there is no safepoint between both lines.
                unsafe { mutator.raw().store((word(mutator, number) as usize + offset) as *mut u64, bits) };
            }
        }
        // SAFETY: words of live objects.
        let (handles, weak, pins): (Vec<RootHandle>, Vec<RootHandle>, Vec<Pin>) = unsafe {
            (
                model.handles.iter().map(|object| mutator.raw().new_root(word(mutator, *object))).collect(),
                model
                    .weak_handles
                    .iter()
                    .map(|object| mutator.raw().new_weak_root(word(mutator, *object)))
                    .collect(),
                model
                    .pinned
                    .iter()
                    .map(|object| mutator.raw().pin(NonNull::new(word(mutator, *object) as *mut u8).unwrap()))
                    .collect(),
            )
        };
        let provided = [&model.provided, &model.provided_weakly]
            .map(|objects| objects.iter().map(|object| UnsafeCell::new(word(mutator, *object))).collect());
        let provider = heap.add_root_provider(Box::new(Provider(provided)));
        let frames: Vec<RootWord> =
            model.framed.iter().map(|object| RootWord::new(word(mutator, *object))).collect();
        // SAFETY: the words outlive the links, which are dropped in reverse.
        let mut links: Vec<_> =
            frames.iter().map(|frame| unsafe { mutator.raw().link_word(NonNull::from(frame)) }).collect();
        drop(made);
        let outcome = look(mutator);
        while links.pop().is_some() {}
        heap.remove_root_provider(provider);
        drop((handles, weak, pins));
        outcome
    })
    .unwrap()
}

/// The number of the object that a node is.
fn object(node: &Node) -> usize {
    node.name.strip_prefix('n').and_then(|number| number.parse().ok()).expect("an object of the model")
}

fn check(model: &Model, nodes: &[Node]) {
    let live = model.live(None);
    let found: BTreeMap<usize, &Node> = nodes[7..].iter().map(|node| (object(node), node)).collect();
    let expected: Vec<usize> = (0..live.len()).filter(|object| live[*object]).collect();
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), expected);
    assert_eq!(nodes.len(), 7 + expected.len());
    for (number, node) in found {
        assert_eq!((node.kind.as_str(), node.bytes), ("object", model.objects[number].0.bytes() as u64));
        let named = |edge: &Edge| (edge.kind.clone(), edge.name.clone(), object(&nodes[edge.to]));
        let edges: Vec<_> = node.edges.iter().map(named).collect();
        let references = model.references(number).into_iter().filter(|(.., target)| live[*target]);
        let expected: Vec<_> =
            references.map(|(kind, name, target)| (kind.to_owned(), name, target)).collect();
        assert_eq!(edges, expected, "n{number}");
    }
    let roots = heapsnapshot::roots(nodes);
    for (kind, objects, strong) in [
        ("(frames)", &model.framed, true),
        ("(handles)", &model.handles, true),
        ("(weak handles)", &model.weak_handles, false),
        ("(providers)", &model.provided, true),
        ("(pins)", &model.pinned, true),
    ] {
        let mut found: Vec<_> =
            roots[kind].iter().map(|(to, strong)| (object(&nodes[*to]), *strong)).collect();
        let mut expected: Vec<_> =
            objects.iter().filter(|object| live[**object]).map(|object| (*object, strong)).collect();
        found.sort_unstable();
        if kind == "(providers)" {
            let weak = model.provided_weakly.iter().filter(|object| live[**object]);
            expected.extend(weak.map(|object| (*object, false)));
        }
        expected.sort_unstable();
        if kind == "(pins)" {
            // An object is pinned once, however often.
            expected.dedup();
        }
        assert_eq!(found, expected, "{kind}");
    }
}

fn check_classes(model: &Model, dump: &hprof::Dump) {
    let live = model.live(None);
    let numbers: BTreeMap<u64, usize> =
        dump.instances.iter().map(|(id, object)| (*id, object.class[1..].parse().unwrap())).collect();
    let mut found: Vec<usize> = numbers.values().copied().collect();
    found.sort_unstable();
    assert_eq!(found, (0..live.len()).filter(|object| live[*object]).collect::<Vec<_>>());
    let of = |id: &u64| numbers[id];
    for (id, object) in &dump.instances {
        let number = numbers[id];
        let what = model.objects[number].0;
        let shape = what.shape(String::new());
        let of_array = if shape.tail().is_some() { HEADER_BYTES + WORD } else { 0 };
        assert_eq!(object.bytes, shape.fixed_bytes() - of_array);
        let fields = object.fields.iter().filter(|(_, is_reference, _)| *is_reference);
        let fields: Vec<(&str, u64)> = fields.map(|(name, _, value)| (name.as_str(), *value)).collect();
        let strong = model.references(number).into_iter().filter(|(kind, ..)| *kind != "weak");
        let (mut slots, mut elements) = (BTreeMap::new(), Vec::new());
        // Of a tail, null is an element, too.
        elements.resize(if let What::Vector(length) = what { length } else { 0 }, None);
        for (kind, name, target) in strong {
            match (kind, what) {
                ("property", _) => drop(slots.insert(name, target)),
                (_, What::Vector(_)) => elements[name.parse::<usize>().unwrap()] = Some(target),
                _ => elements.push(Some(target)),
            }
        }
        let array = fields.iter().find(|(name, _)| *name == "elements").map_or(0, |(_, id)| *id);
        let fields: BTreeMap<String, usize> = fields
            .iter()
            .filter(|(name, target)| *name != "elements" && *target != 0)
            .map(|(name, target)| ((*name).to_owned(), of(target)))
            .collect();
        assert_eq!(fields, slots);
        match what {
            // Data is zeroes: nobody asked for texts.
            What::Bytes(length) => assert_eq!(dump.data[&array], (8, vec![0; length])),
            What::WeakVector(length) => assert_eq!(dump.data[&array], (11, vec![0; WORD * length])),
            What::Vector(_) | What::Traced | What::TracedTail(..) if array != 0 => {
                let target = |id: &u64| (*id != 0).then(|| of(id));
                assert_eq!(dump.arrays[&array].iter().map(target).collect::<Vec<_>>(), elements);
            }
            What::Vector(_) => panic!("a tail without an array"),
            _ => assert!(elements.is_empty()),
        }
    }
    let mut found: Vec<(u8, usize)> = dump.roots.iter().map(|(tag, id)| (*tag, of(id))).collect();
    let of_kind = |tag, objects: &[usize]| objects.iter().map(|object| (tag, *object)).collect::<Vec<_>>();
    let mut pinned = model.pinned.clone();
    pinned.sort_unstable();
    pinned.dedup();
    let mut expected = [
        of_kind(1, &model.handles),
        of_kind(2, &model.framed),
        of_kind(4, &model.provided),
        of_kind(0xFF, &pinned),
    ]
    .concat();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn a_snapshot_is_the_live_part_of_the_heap(
        model in model(30), collector in prop::sample::select(COLLECTORS.to_vec()), collects: bool,
    ) {
        let heap = heap(4096, 128, collector);
        with_model(&heap, &model, |mutator| {
            if collects {
                mutator.collect();
            }
            let mut file = Vec::new();
            let summary = mutator.snapshot(&mut file, &SnapshotSettings::default()).unwrap();
            let nodes = heapsnapshot::read(&file);
            check(&model, &nodes);
            let bytes: u64 = nodes.iter().map(|node| node.bytes).sum();
            assert_eq!((summary.objects, summary.bytes), (nodes.len() as u64 - 7, bytes));
            assert_eq!((summary.file_bytes, summary.clamped), (file.len() as u64, 0));
            let mut file_of_classes = Vec::new();
            let settings = SnapshotSettings::default().format(SnapshotFormat::Hprof);
            mutator.snapshot(&mut file_of_classes, &settings).unwrap();
            check_classes(&model, &hprof::read(&file_of_classes));
            // The same from a thread that is not attached.
            let mut again = Vec::new();
            mutator.blocking(|| heap.snapshot(&mut again, &SnapshotSettings::default())).unwrap();
            assert!(file == again);
        });
        heap.verify().unwrap();
    }

    #[test]
    fn a_census_counts_and_retains_as_the_model_does(
        model in model(30), collector in prop::sample::select(COLLECTORS.to_vec()),
    ) {
        let heap = heap(4096, 128, collector);
        let census = with_model(&heap, &model, |mutator| mutator.census(true)).unwrap();
        let live = model.live(None);
        assert_eq!(census.shapes.len(), live.iter().filter(|live| **live).count());
        for shape in &census.shapes {
            let number: usize = shape.name[1..].parse().unwrap();
            let bytes = |object: usize| model.objects[object].0.bytes() as u64;
            let rest = model.live(Some(number));
            let retained: u64 = (0..live.len()).filter(|object| live[*object] && !rest[*object]).map(bytes).sum();
            assert_eq!((shape.objects, shape.bytes, shape.retained), (1, bytes(number), Some(retained)), "n{number}");
        }
        assert_eq!(census.bytes, census.shapes.iter().map(|shape| shape.bytes).sum::<u64>());
    }
}

/// The strong references in a snapshot, for own dominators.
pub(super) fn graph(nodes: &[Node]) -> Graph {
    let mut graph = Graph { first: vec![0], class: vec![0; nodes.len()], ..Graph::default() };
    for node in nodes {
        graph.targets.extend(node.edges.iter().filter(|edge| edge.kind != "weak").map(|edge| edge.to as u32));
        graph.first.push(graph.targets.len());
        graph.bytes.push(node.bytes);
    }
    graph
}
