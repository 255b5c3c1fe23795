//! A node of 32 bytes: what most of the cases allocate, alone or in lists.

use allotment::{Field, Gc, Local, Mutator, Object, OutOfMemory, alloc, root};
use anyhow::ensure;

/// A node. Its key is one larger than that of the node that it refers to.
#[derive(Object)]
pub(super) struct Node {
    pub(super) next: Field<Option<Node>>,
    pub(super) key: u64,
    /// Makes the node as large as a node of the other experiments.
    rest: u64,
}

/// Bytes of a node, header included.
pub(super) const BYTES: usize = 8 + size_of::<Node>();

/// Nodes of a list of garbage.
const SHORT: usize = 100;

/// Nodes that are checked between two safepoints.
const CHECKED: usize = 10_000;

/// The initialiser of a node.
pub(super) fn node(next: Option<Gc<'_, Node>>, key: u64) -> NewNode<'_> {
    NewNode { next, key, rest: 0 }
}

/// Makes `count` nodes in short lists, and keeps none.
///
/// # Errors
/// The heap is full.
pub(super) fn garbage(mutator: &mut Mutator<'_>, count: usize) -> Result<(), OutOfMemory> {
    let mut list = None;
    for made in 0..count {
        list = if made % SHORT == 0 { None } else { list };
        list = Some(alloc!(mutator, node(list, made as u64))?);
    }
    Ok(())
}

/// Makes a list of `count` nodes, at least one, and returns the newest.
///
/// # Errors
/// The heap is full.
pub(super) fn list<'m>(mutator: &'m mut Mutator<'_>, count: usize) -> Result<Gc<'m, Node>, OutOfMemory> {
    root!(mutator, mut newest = alloc!(mutator, node(None, 0))?);
    for key in 1..count {
        let made = alloc!(mutator, node(Some(newest.get(mutator)), key as u64))?;
        newest.set(mutator, made);
    }
    Ok(newest.get(mutator))
}

/// Checks that `newest` is the newest of `count` nodes of a list. Other threads may stop the world
/// meanwhile.
///
/// # Errors
/// Nodes are missing, or are not as they were made.
pub(super) fn check(mutator: &mut Mutator<'_>, newest: Local<'_, Node>, count: usize) -> anyhow::Result<()> {
    root!(mutator, mut at = Some(newest.get(mutator)));
    let mut left = count;
    loop {
        let mut next = at.get(mutator);
        for _ in 0..CHECKED {
            let Some(node) = next else { break };
            ensure!(
                left > 0 && node.key == left as u64 - 1,
                "a list is broken where {left} of {count} nodes are left"
            );
            left -= 1;
            next = node.next.load(mutator);
        }
        if next.is_none() {
            break;
        }
        at.set(mutator, next);
        mutator.safepoint();
    }
    ensure!(left == 0, "of a list of {count} nodes the last {left} are missing");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use allotment::Heap;

    #[test]
    fn a_list_is_checked_to_its_end() {
        assert_eq!(BYTES, 32);
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        heap.attach(|mutator| {
            for count in [1, 2, CHECKED, CHECKED + 1] {
                root!(mutator, whole = list(mutator, count)?);
                garbage(mutator, 1000)?;
                check(mutator, whole, count).unwrap();
                let more = check(mutator, whole, count + 1).unwrap_err().to_string();
                assert!(more.contains("is broken"), "{more}");
            }
            root!(mutator, bent = alloc!(mutator, node(None, 5))?);
            let missing = check(mutator, bent, 6).unwrap_err().to_string();
            assert_eq!(missing, "of a list of 6 nodes the last 5 are missing");
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
    }
}
