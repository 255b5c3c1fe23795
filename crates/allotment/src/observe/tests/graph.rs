//! The naive model: objects by number, the contents of their slots, and reachability.

use crate::object::SlotKind;
use std::collections::{BTreeMap, BTreeSet};

/// An object's number, which also lies in it.
pub(super) type Number = u64;

/// The contents of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Null or an immediate.
    Plain(u64),
    /// An object, and the tag on the way to it.
    Object(Number, u64),
}

pub(super) const NULL: Value = Value::Plain(0);

/// A kind of object: its slots in the fixed part, and whether a tail follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Two strong slots and a weak one.
    Pair,
    /// A trace function finds a strong slot and a weak one, around a word that only looks like one.
    Traced,
    /// A strong slot, and strong elements.
    Vector,
    /// Weak elements.
    Ephemerons,
    /// Bytes.
    Bytes,
}

pub(super) const KINDS: [Kind; 5] = [Kind::Pair, Kind::Traced, Kind::Vector, Kind::Ephemerons, Kind::Bytes];

impl Kind {
    /// The kinds of the slots of an object with `length` elements.
    pub(super) fn slots(self, length: usize) -> Vec<SlotKind> {
        use SlotKind::{Strong, Weak};
        match self {
            Kind::Pair => vec![Strong, Strong, Weak],
            Kind::Traced => vec![Strong, Weak],
            Kind::Vector => vec![Strong; 1 + length],
            Kind::Ephemerons => vec![Weak; length],
            Kind::Bytes => vec![],
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) length: usize,
    pub(super) slots: Vec<Value>,
    /// Its identity hash, once it was asked for.
    pub(super) hash: Option<u32>,
}

/// All objects that ever were. Dead ones are kept: a weak reference may still lead to one.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: BTreeMap<Number, Node>,
}

impl Graph {
    pub(super) fn add(&mut self, number: Number, kind: Kind, length: usize) {
        let slots = vec![NULL; kind.slots(length).len()];
        self.nodes.insert(number, Node { kind, length, slots, hash: None });
    }

    /// The objects that are alive if the given ones are.
    pub(super) fn reachable(&self, from: impl IntoIterator<Item = Number>) -> BTreeSet<Number> {
        let mut pending: Vec<_> = from.into_iter().collect();
        let mut reached = BTreeSet::new();
        while let Some(number) = pending.pop() {
            if !reached.insert(number) {
                continue;
            }
            let node = &self.nodes[&number];
            let kinds = node.kind.slots(node.length);
            pending.extend(node.slots.iter().zip(kinds).filter_map(|(value, kind)| match value {
                Value::Object(number, _) if kind == SlotKind::Strong => Some(*number),
                _ => None,
            }));
        }
        reached
    }
}
