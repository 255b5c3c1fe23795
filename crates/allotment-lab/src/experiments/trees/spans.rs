//! Trees with few roots: below a certain height, whole subtrees are made in a span of the mutator.
//!
//! A `&Mutator` allows no collection. So bare pointers are arguments, results and variables as
//! anywhere in Rust, and `try_alloc` reports when there is no room without a safepoint. Then the
//! nodes made so far are dropped, and the subtree is made as in `tree.rs`, whose `alloc!` collects.
//! A heap with room for the tree is therefore enough, and a span delays a stop by no more than one
//! allocation.
//!
//! Refused: a reservation for the subtree. It would avoid dropping nodes once per collection, but
//! every allocation would check whether the reservation has lapsed.

use super::node::{NewNode, Node};
use allotment::{Gc, Mutator};

/// The highest tree that is made in a span: 127 nodes, 4 KiB. Twice as many levels made no
/// difference.
const SPAN_DEPTH: u64 = 6;

/// Hangs `depth` levels below `node`, if they are few and there is room without a collection. On
/// failure some of the nodes may exist.
pub(super) fn populate(mutator: &Mutator<'_>, depth: u64, node: Gc<'_, Node>) -> bool {
    depth <= SPAN_DEPTH && populate_in_span(mutator, depth, node).is_some()
}

/// A tree, if it is small and there is room without a collection.
pub(super) fn bottom_up<'g>(mutator: &'g Mutator<'_>, depth: u64) -> Option<Gc<'g, Node>> {
    (depth <= SPAN_DEPTH).then(|| bottom_up_in_span(mutator, depth)).flatten()
}

/// Hangs `depth` levels below `node`. Returns `None` if only some of them fit.
fn populate_in_span(mutator: &Mutator<'_>, depth: u64, node: Gc<'_, Node>) -> Option<()> {
    let Some(below) = depth.checked_sub(1) else { return Some(()) };
    let left = mutator.try_alloc(NewNode { left: None, right: None, key: below }).ok()?;
    node.left.store(mutator, Some(left));
    let right = mutator.try_alloc(NewNode { left: None, right: None, key: below }).ok()?;
    node.right.store(mutator, Some(right));
    populate_in_span(mutator, below, left)?;
    populate_in_span(mutator, below, right)
}

/// A tree, or `None` if a safepoint is needed.
fn bottom_up_in_span<'g>(mutator: &'g Mutator<'_>, depth: u64) -> Option<Gc<'g, Node>> {
    let Some(below) = depth.checked_sub(1) else {
        return mutator.try_alloc(NewNode { left: None, right: None, key: 0 }).ok();
    };
    let left = bottom_up_in_span(mutator, below)?;
    let right = bottom_up_in_span(mutator, below)?;
    mutator.try_alloc(NewNode { left: Some(left), right: Some(right), key: depth }).ok()
}

#[cfg(test)]
mod tests {
    use super::super::node::{count, nodes};
    use super::super::tree::{bottom_up, top_down};
    use super::SPAN_DEPTH;
    use allotment::{Heap, OutOfMemory, rebind, root};

    /// Trees of a tenth of the heap, again and again: collections come in the middle of subtrees.
    #[test]
    fn trees_are_whole_whether_or_not_a_collection_comes_between() {
        let heap = Heap::builder().max_heap_size(4 << 20).build().unwrap();
        heap.attach(|mutator| {
            for round in 0..200 {
                let depth = [0, SPAN_DEPTH, SPAN_DEPTH + 1, 12][round % 4];
                root!(mutator, top = top_down::<true>(mutator, depth)?);
                let bottom = rebind!(mutator, bottom_up::<true>(mutator, depth)?);
                assert_eq!(count(mutator, bottom), Some(nodes(depth)));
                assert_eq!(count(mutator, top.get(mutator)), Some(nodes(depth)));
            }
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
        assert!(heap.collections().count > 0);
    }
}
