//! A node, and a walk along a list that sees whether all of it is there.

use allotment::{Field, Gc, Mutator, Object};

/// A node. Each of a list has a key one larger than the one before it.
#[derive(Object)]
pub(super) struct Node {
    pub(super) next: Field<Option<Node>>,
    pub(super) key: u64,
    /// Makes it as large as a node of the other experiments.
    pub(super) value: u64,
}

/// Bytes of a node, header included.
pub(super) const BYTES: usize = 8 + size_of::<Node>();

/// The number of nodes from `first` on, where keys rise by one and values are what the key asks for; else nothing.
pub(super) fn count(mutator: &Mutator<'_>, first: Option<Gc<'_, Node>>) -> Option<u64> {
    let (mut found, mut at) = (0, first);
    while let Some(node) = at {
        found += 1;
        at = node.next.load(mutator);
        if node.value != value(node.key) || at.is_some_and(|next| next.key != node.key + 1) {
            return None;
        }
    }
    Some(found)
}

/// The value that goes with a key.
pub(super) fn value(key: u64) -> u64 {
    key.rotate_left(32) ^ 0x5555
}
