//! A node, and a walk along a list that checks whether the list is complete.

use allotment::{Field, Gc, Mutator, Object};

/// A node. Its key is one larger than that of the node before it in the list.
#[derive(Object)]
pub(super) struct Node {
    pub(super) next: Field<Option<Node>>,
    pub(super) key: u64,
    /// Makes the node as large as a node of the other experiments.
    pub(super) value: u64,
}

/// Bytes of a node, header included.
pub(super) const BYTES: usize = 8 + size_of::<Node>();

/// The number of nodes from `first` on; `None` unless keys rise by one and each value matches its
/// key.
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

#[cfg(test)]
mod tests {
    use super::*;
    use allotment::{Heap, OutOfMemory, alloc};

    #[test]
    fn a_list_counts_as_long_as_it_is_as_it_was_made() {
        assert_eq!(BYTES, 32);
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        heap.attach(|mutator| {
            assert_eq!(count(mutator, None), Some(0));
            let last = alloc!(mutator, NewNode { next: None, key: 9, value: value(9) })?;
            let mut one = alloc!(mutator, NewNode { next: Some(last), key: 8, value: value(8) })?;
            assert_eq!(count(mutator, Some(one)), Some(2));
            let far = alloc!(mutator, [one] => NewNode { next: Some(one), key: 6, value: value(6) })?;
            assert_eq!(count(mutator, Some(far)), None, "a key is missing");
            assert_eq!(count(mutator, Some(one)), Some(2));
            let bent = alloc!(mutator, NewNode { next: None, key: 7, value: 7 })?;
            assert_eq!(count(mutator, Some(bent)), None, "a value is wrong");
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
    }
}
