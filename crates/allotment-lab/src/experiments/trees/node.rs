//! A node of a tree, and the properties of a whole tree. A node has 32 bytes: the header, two
//! references and a number.

use allotment::{Field, Gc, Mutator, Object};

/// A node; a leaf has no children. The key is the height above the leaves.
#[derive(Object)]
pub(super) struct Node {
    pub(super) left: Field<Option<Node>>,
    pub(super) right: Field<Option<Node>>,
    pub(super) key: u64,
}

/// Nodes of a tree with `depth` levels below its top.
pub(super) const fn nodes(depth: u64) -> u64 {
    (1 << (depth + 1)) - 1
}

/// The number of nodes; `None` unless each node has the key of its height, and two children or
/// none.
pub(super) fn count(mutator: &Mutator<'_>, node: Gc<'_, Node>) -> Option<u64> {
    match (node.left.load(mutator), node.right.load(mutator)) {
        (None, None) => (node.key == 0).then_some(1),
        (Some(left), Some(right)) if left.key + 1 == node.key && right.key + 1 == node.key => {
            Some(1 + count(mutator, left)? + count(mutator, right)?)
        }
        _ => None,
    }
}
