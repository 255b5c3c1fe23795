//! A sorted map in the heap: a red-black tree with an object for each node, which knows its parent,
//! as in Java's library.
//!
//! The rules: a red node has black children, and all ways from the root to a leaf have equally many
//! black nodes. Nothing is ever removed: a tree is built, read, and dropped as a whole.
//!
//! Refused: a sorted array or a B-tree. Both have fewer and larger objects, so a collector would
//! see another heap.

use super::text::Made;
use allotment::{Field, Gc, Local, Mutator, Object, OutOfMemory, Plain, Word, alloc};
use std::cmp::Ordering;

/// A key with an order.
pub(super) trait Ordered: Word {
    /// The order of `one` and `other`.
    fn order<'g>(mutator: &'g Mutator<'_>, one: Self::Of<'g>, other: Self::Of<'g>) -> Ordering;
}

/// A node.
#[derive(Object)]
pub(super) struct Node<K: Word, V: Word> {
    key: Field<K>,
    value: Field<V>,
    left: Field<Option<Node<K, V>>>,
    right: Field<Option<Node<K, V>>>,
    parent: Field<Option<Node<K, V>>>,
    red: Plain<u8>,
}

/// A tree.
#[derive(Object)]
pub(super) struct Tree<K: Word, V: Word> {
    root: Field<Option<Node<K, V>>>,
    len: Plain<usize>,
}

/// A node, or none.
type At<'g, K, V> = Option<Gc<'g, Node<K, V>>>;

impl<K: Word, V: Word> Node<K, V> {
    fn is_red(&self) -> bool {
        self.red.get() != 0
    }

    fn paint(&self, red: bool) {
        self.red.set(u8::from(red));
    }

    /// The child on a side.
    fn child(&self, left: bool) -> &Field<Option<Node<K, V>>> {
        if left { &self.left } else { &self.right }
    }
}

impl<K: Ordered, V: Word> Tree<K, V> {
    /// An empty tree.
    pub(super) fn make<'m>(mutator: &'m mut Mutator<'_>) -> Made<'m, Self> {
        alloc!(mutator, NewTree { root: None, len: Plain::new(0) })
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.len.get()
    }

    /// The value of a key.
    pub(super) fn get<'g>(&self, mutator: &'g Mutator<'_>, key: K::Of<'g>) -> Option<V::Of<'g>> {
        let mut at = self.root.load(mutator);
        while let Some(node) = at {
            at = match K::order(mutator, key, node.key.load(mutator)) {
                Ordering::Less => node.left.load(mutator),
                Ordering::Greater => node.right.load(mutator),
                Ordering::Equal => return Some(node.value.load(mutator)),
            };
        }
        None
    }

    /// Adds a key that the tree does not have.
    ///
    /// # Errors
    /// The heap is full.
    pub(super) fn insert(
        mutator: &mut Mutator<'_>,
        tree: Local<'_, Self>,
        key: Local<'_, K>,
        value: Local<'_, V>,
    ) -> Result<(), OutOfMemory> {
        let (new_key, value) = (key.get(mutator), value.get(mutator));
        let (left, right, parent) = (None, None, None);
        let new = alloc!(mutator, NewNode { key: new_key, value, left, right, parent, red: Plain::new(1) })?;
        let tree = tree.get(mutator);
        let mut parent = None;
        let mut at = &tree.as_ref().root;
        while let Some(node) = at.load(mutator) {
            parent = Some(node);
            let left = K::order(mutator, key.get(mutator), node.key.load(mutator)) == Ordering::Less;
            at = node.as_ref().child(left);
        }
        at.store(mutator, Some(new));
        new.parent.store(mutator, parent);
        tree.len.set(tree.len() + 1);
        tree.as_ref().balance(mutator, new);
        Ok(())
    }

    /// Restores the rules after `new`, a red node, was added (Cormen, Leiserson, Rivest and Stein,
    /// RB-Insert-Fixup).
    fn balance<'g>(&self, mutator: &'g Mutator<'_>, new: Gc<'g, Node<K, V>>) {
        let mut node = new;
        while let Some(parent) = node.parent.load(mutator).filter(|parent| parent.is_red()) {
            // A red node is not the root, so it has a parent.
            let Some(grand) = parent.parent.load(mutator) else { break };
            let left = is(parent, grand.left.load(mutator));
            let uncle = grand.as_ref().child(!left).load(mutator);
            if let Some(uncle) = uncle.filter(|uncle| uncle.is_red()) {
                parent.paint(false);
                uncle.paint(false);
                grand.paint(true);
                node = grand;
                continue;
            }
            let mut top = parent;
            if is(node, parent.as_ref().child(!left).load(mutator)) {
                self.rotate(mutator, parent, left);
                (top, node) = (node, parent);
            }
            top.paint(false);
            grand.paint(true);
            self.rotate(mutator, grand, !left);
        }
        if let Some(root) = self.root.load(mutator) {
            root.paint(false);
        }
    }

    /// Turns a node to the left or to the right: the child of the other side takes its place.
    fn rotate<'g>(&self, mutator: &'g Mutator<'_>, node: Gc<'g, Node<K, V>>, left: bool) {
        let Some(child) = node.as_ref().child(!left).load(mutator) else { return };
        let inner = child.as_ref().child(left).load(mutator);
        node.as_ref().child(!left).store(mutator, inner);
        if let Some(inner) = inner {
            inner.parent.store(mutator, Some(node));
        }
        let parent = node.parent.load(mutator);
        child.parent.store(mutator, parent);
        match parent {
            None => self.root.store(mutator, Some(child)),
            Some(parent) => {
                let side = is(node, parent.left.load(mutator));
                parent.as_ref().child(side).store(mutator, Some(child));
            }
        }
        child.as_ref().child(left).store(mutator, Some(node));
        node.parent.store(mutator, Some(child));
    }
}

/// Whether a node is the one at a place.
fn is<'g, K: Word, V: Word>(node: Gc<'g, Node<K, V>>, place: At<'g, K, V>) -> bool {
    place.is_some_and(|other| other.is_same(node))
}

#[cfg(test)]
mod tests {
    use super::super::goods::{Id, NewId};
    use super::*;
    use allotment::{Heap, Unboxed, root};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Numbers = Tree<Id, Unboxed<u32>>;

    /// The black nodes below a node, itself included; checks the rules and collects the keys.
    fn check(mutator: &Mutator<'_>, at: At<'_, Id, Unboxed<u32>>, keys: &mut Vec<u64>) -> usize {
        let Some(node) = at else { return 1 };
        let (left, right) = (node.left.load(mutator), node.right.load(mutator));
        for child in [left, right].into_iter().flatten() {
            assert!(is(node, child.parent.load(mutator)), "a child knows its parent");
            assert!(!(node.is_red() && child.is_red()), "a red node has black children");
        }
        let below = check(mutator, left, keys);
        keys.push(node.key.load(mutator).value);
        assert_eq!(below, check(mutator, right, keys), "as many black nodes on each way");
        below + usize::from(!node.is_red())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_tree_is_a_sorted_map_and_keeps_the_rules(keys in prop::collection::vec(0..2000_u64, 0..400)) {
            let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
            let mut model = BTreeSet::new();
            heap.attach(|mutator| {
                root!(mutator, tree = Numbers::make(mutator)?);
                for (number, key) in keys.iter().enumerate() {
                    root!(mutator, boxed = alloc!(mutator, NewId { value: *key })?, value = Unboxed(*key as u32));
                    assert_eq!(tree.get(mutator).get(mutator, boxed.get(mutator)).is_some(), model.contains(key));
                    if model.insert(*key) {
                        Tree::insert(mutator, tree, boxed, value)?;
                    }
                    let found = tree.get(mutator).get(mutator, boxed.get(mutator)).map(|value| value.0);
                    assert_eq!(found, Some(*key as u32));
                    if number % 64 == 63 {
                        mutator.collect();
                    }
                }
                let mut found = Vec::new();
                let tree = tree.get(mutator);
                check(mutator, tree.root.load(mutator), &mut found);
                assert!(found.iter().eq(model.iter()) && tree.len() == model.len());
                Ok::<(), OutOfMemory>(())
            }).unwrap().unwrap();
        }
    }
}
