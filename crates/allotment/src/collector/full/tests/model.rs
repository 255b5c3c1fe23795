//! The object graph as a map from numbers to nodes, and its reachability by the book.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// An object's number; it lies in the object, too.
pub(in crate::collector) type Number = u64;

/// The value of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collector) enum Value {
    /// Null or an immediate: these bits.
    Plain(u64),
    /// A reference with these tag bits.
    Object(Number, u64),
}

#[derive(Clone, Debug)]
pub(in crate::collector) struct Node {
    pub(in crate::collector) kind: usize,
    pub(in crate::collector) length: usize,
    pub(in crate::collector) header: u64,
    pub(in crate::collector) slots: Vec<(Value, SlotKind)>,
}

#[derive(Clone, Debug, Default)]
pub(in crate::collector) struct Model {
    pub(in crate::collector) nodes: BTreeMap<Number, Node>,
    pub(in crate::collector) roots: Vec<(Value, SlotKind)>,
    pub(in crate::collector) pins: BTreeSet<Number>,
    /// Old objects: a young collection looks at them only by their dirty cards, and frees none.
    pub(in crate::collector) old: BTreeSet<Number>,
}

impl Model {
    fn reachable(&self, others: &BTreeSet<Number>) -> BTreeSet<Number> {
        let strong = |&(value, kind): &(Value, SlotKind)| match value {
            Value::Object(number, _) if kind == SlotKind::Strong => Some(number),
            _ => None,
        };
        let mut pending: Vec<Number> = self.roots.iter().filter_map(strong).collect();
        pending.extend(&self.pins);
        pending.extend(others);
        let mut reached = BTreeSet::new();
        while let Some(number) = pending.pop() {
            if reached.insert(number) {
                pending.extend(self.nodes[&number].slots.iter().filter_map(strong));
            }
        }
        reached
    }

    /// Removes unreachable objects and clears the weak slots that referred to them. Returns the
    /// number of these slots.
    pub(in crate::collector) fn collect(&mut self) -> u64 {
        self.collect_but(&BTreeSet::new())
    }

    /// Removes unreachable young objects, and clears the weak slots that referred to them. Returns
    /// the number of these slots.
    pub(in crate::collector) fn collect_young(&mut self) -> u64 {
        self.collect_but(&self.old.clone())
    }

    fn collect_but(&mut self, others: &BTreeSet<Number>) -> u64 {
        let reached = self.reachable(others);
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
