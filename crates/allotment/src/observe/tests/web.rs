//! Webs: trees of nodes that hang on tables, and a model of them. A slot, a handle, a pin or a frame
//! holds each node, and nothing else does.
//!
//! A test with several ways to each object does not notice that a collector lost one of them. Here
//! a node that a collector misses at the one place that holds the node is gone. Programs move nodes
//! from place to place, one by one and by ranges of slots, and look at each node on their way.

mod worker;

pub(super) use worker::Worker;

use crate::Heap;
use crate::mutator::{Pin, RootHandle};
use crate::object::{Element, MIN_OBJECT_BYTES, Shape, ShapeRef, SlotKind, WORD};
use std::collections::{BTreeMap, BTreeSet};

/// Offsets in a node: two children, the first child again as a weak slot, the number of the node,
/// and its complement.
const CHILDREN: usize = 8;
const TWIN: usize = 24;
const NUMBER: usize = 32;
const NODE_BYTES: usize = 48;

/// The offset of the first slot of a table.
const SLOTS: usize = MIN_OBJECT_BYTES;

/// Slots in the frame of a thread.
const FRAME_SLOTS: usize = 4;

/// A node's number, which also lies in the node. 0: no node.
pub(super) type Number = u64;

/// The shapes of one heap.
#[derive(Clone, Copy)]
pub(super) struct WebShapes {
    node: ShapeRef,
    table: ShapeRef,
    bytes: ShapeRef,
}

impl WebShapes {
    pub(super) fn new(heap: &Heap) -> WebShapes {
        let register = |shape| heap.register(shape).expect("a shape");
        let node = Shape::fixed("Node", NODE_BYTES)
            .slot("first", CHILDREN, SlotKind::Strong)
            .slot("second", CHILDREN + WORD, SlotKind::Strong)
            .slot("twin", TWIN, SlotKind::Weak);
        WebShapes {
            node: register(node),
            table: register(Shape::array("Table", SLOTS, Element::Reference(SlotKind::Strong))),
            bytes: register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 })),
        }
    }
}

/// The place of a reference in the web.
#[derive(Clone, Copy)]
enum Place {
    /// A table and a slot of it.
    Table(usize, usize),
    /// A node and the first or second child of it.
    Child(Number, usize),
}

/// A place and the address of its slot, until the next safepoint.
#[derive(Clone, Copy)]
struct Spot {
    place: Place,
    slot: *mut u64,
}

/// A table, and the nodes that its slots hold.
struct Table {
    root: RootHandle,
    length: usize,
    slots: BTreeMap<usize, Number>,
}

/// The only holder of a node that no slot of the web holds.
enum Holder {
    Handle(RootHandle),
    Pin(Pin),
    /// A slot of the thread's frame.
    Frame(usize),
}

/// A part of a web on its way to another thread.
pub(super) struct Parcel {
    root: RootHandle,
    number: Number,
    nodes: BTreeMap<Number, [Number; 2]>,
}

/// The web of one thread.
pub(super) struct Web {
    shapes: WebShapes,
    tables: Vec<Table>,
    aside: Vec<(Holder, Number)>,
    weak: Vec<(RootHandle, Number)>,
    /// The children of each node. A dead node stays in the model while a weak handle may lead to it.
    nodes: BTreeMap<Number, [Number; 2]>,
    next: Number,
    /// Nodes that may live at most.
    most_nodes: usize,
    /// Nodes that lived at the last count, and those that were made since.
    about_alive: usize,
}

impl Web {
    /// A web without tables, whose nodes have numbers from `first` on.
    pub(super) fn new(shapes: WebShapes, first: Number, most_nodes: usize) -> Web {
        Web {
            shapes,
            tables: Vec::new(),
            aside: Vec::new(),
            weak: Vec::new(),
            nodes: BTreeMap::new(),
            next: first,
            most_nodes,
            about_alive: 0,
        }
    }

    /// The node at a place, as the model knows it.
    fn at(&self, place: Place) -> Number {
        match place {
            Place::Table(table, slot) => self.tables[table].slots.get(&slot).copied().unwrap_or(0),
            Place::Child(node, side) => self.nodes[&node][side],
        }
    }

    fn note(&mut self, place: Place, number: Number) {
        match place {
            Place::Table(table, slot) if number == 0 => _ = self.tables[table].slots.remove(&slot),
            Place::Table(table, slot) => _ = self.tables[table].slots.insert(slot, number),
            Place::Child(node, side) => self.nodes.get_mut(&node).expect("a node")[side] = number,
        }
    }

    /// The nodes that these lead to.
    fn reachable(&self, from: impl IntoIterator<Item = Number>) -> BTreeSet<Number> {
        let mut pending: Vec<_> = from.into_iter().filter(|&number| number != 0).collect();
        let mut reached = BTreeSet::new();
        while let Some(number) = pending.pop() {
            if reached.insert(number) {
                pending.extend(self.nodes[&number].iter().filter(|&&child| child != 0));
            }
        }
        reached
    }

    fn alive(&self) -> BTreeSet<Number> {
        let held = self.tables.iter().flat_map(|table| table.slots.values().copied());
        self.reachable(held.chain(self.aside.iter().map(|(_, number)| *number)))
    }

    /// Forgets the dead nodes to which no weak handle leads. Returns those that live.
    fn count(&mut self) -> BTreeSet<Number> {
        let alive = self.alive();
        let known = self.reachable(self.weak.iter().map(|(_, number)| *number));
        self.nodes.retain(|number, _| alive.contains(number) || known.contains(number));
        self.about_alive = alive.len();
        alive
    }
}
