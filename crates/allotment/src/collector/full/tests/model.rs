//! The object graph as a map from numbers to nodes, and its reachability by the book.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// An object's number; it lies in the object, too.
pub(super) type Number = u64;

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Null or an immediate: these bits.
    Plain(u64),
    /// A reference with these tag bits.
    Object(Number, u64),
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: usize,
    pub(super) length: usize,
    pub(super) header: u64,
    pub(super) slots: Vec<(Value, SlotKind)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) nodes: BTreeMap<Number, Node>,
    pub(super) roots: Vec<(Value, SlotKind)>,
    pub(super) pins: BTreeSet<Number>,
}

impl Model {
    fn reachable(&self) -> BTreeSet<Number> {
        let strong = |&(value, kind): &(Value, SlotKind)| match value {
            Value::Object(number, _) if kind == SlotKind::Strong => Some(number),
            _ => None,
        };
        let mut pending: Vec<Number> = self.roots.iter().filter_map(strong).collect();
        pending.extend(&self.pins);
        let mut reached = BTreeSet::new();
        while let Some(number) = pending.pop() {
            if reached.insert(number) {
                pending.extend(self.nodes[&number].slots.iter().filter_map(strong));
            }
        }
        reached
    }

    /// Removes what is not reachable and clears what referred to it weakly; how many slots that were.
    pub(super) fn collect(&mut self) -> u64 {
        let reached = self.reachable();
        self.nodes.retain(|number, _| reached.contains(number));
        let slots = self.nodes.values_mut().flat_map(|node| &mut node.slots).chain(&mut self.roots);
        let mut cleared = 0;
        for (value, _) in slots {
            if matches!(value, Value::Object(number, _) if !reached.contains(number)) {
                *value = Value::Plain(0);
                cleared += 1;
            }
        }
        cleared
    }
}
