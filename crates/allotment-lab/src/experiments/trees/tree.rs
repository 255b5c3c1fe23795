//! The two ways of making a tree.
//!
//! From the top, a node exists before its children, and they are stored into it. From the bottom, a
//! node is initialised with its children.
//!
//! Each way checks the depth in line and has the rest in a function of its own, so no function is
//! called for a leaf. HotSpot's compiler does the same by itself (`MaxRecursiveInlineLevel=1`), but
//! LLVM inlines no function into itself. The check in line saves a quarter of the time.

use super::node::{NewNode, Node};
use super::spans;
use crate::harness::keep;
use allotment::{Gc, Local, Mutator, OutOfMemory, alloc, rebind, ret, root};

/// Makes a tree in each way, and drops both. `SPANS`: as in [`top_down`].
///
/// # Errors
/// The heap is full.
pub(super) fn pair<const SPANS: bool>(mutator: &mut Mutator<'_>, depth: u64) -> Result<(), OutOfMemory> {
    keep(top_down::<SPANS>(mutator, depth)?.as_ref());
    keep(bottom_up::<SPANS>(mutator, depth)?.as_ref());
    Ok(())
}

/// Makes a tree from its top. `SPANS`: small subtrees in a span ([`spans`]).
///
/// # Errors
/// The heap is full.
pub(super) fn top_down<'m, const SPANS: bool>(
    mutator: &'m mut Mutator<'_>,
    depth: u64,
) -> Result<Gc<'m, Node>, OutOfMemory> {
    root!(mutator, top = alloc!(mutator, NewNode { left: None, right: None, key: depth })?);
    populate::<SPANS>(mutator, depth, top)?;
    Ok(top.get(mutator))
}

/// The reason why a child exists.
const STORED: &str = "both children were stored, and no other thread has the node";

/// Hangs `depth` levels below `node`. It is inlined, as [`bottom_up`] is.
#[inline(always)]
fn populate<const SPANS: bool>(
    mutator: &mut Mutator<'_>,
    depth: u64,
    node: Local<'_, Node>,
) -> Result<(), OutOfMemory> {
    match depth.checked_sub(1) {
        Some(below) => hang::<SPANS>(mutator, below, node),
        None => Ok(()),
    }
}

/// Hangs two children below `node`, and `below` levels below these. The children are read again
/// where they are needed, as in the Java program.
fn hang<const SPANS: bool>(
    mutator: &mut Mutator<'_>,
    below: u64,
    node: Local<'_, Node>,
) -> Result<(), OutOfMemory> {
    if SPANS && spans::populate(mutator, below + 1, node.get(mutator)) {
        return Ok(());
    }
    let left = alloc!(mutator, NewNode { left: None, right: None, key: below })?;
    node.get(mutator).left.store(mutator, Some(left));
    let right = alloc!(mutator, NewNode { left: None, right: None, key: below })?;
    node.get(mutator).right.store(mutator, Some(right));
    root!(mutator, mut child = node.get(mutator).left.load(mutator).expect(STORED));
    populate::<SPANS>(mutator, below, child.local())?;
    child.set(mutator, node.get(mutator).right.load(mutator).expect(STORED));
    populate::<SPANS>(mutator, below, child.local())
}

/// Makes a tree from its leaves. `SPANS`: as in [`top_down`].
///
/// # Errors
/// The heap is full.
#[inline(always)]
pub(super) fn bottom_up<'m, const SPANS: bool>(
    mutator: &'m mut Mutator<'_>,
    depth: u64,
) -> Result<Gc<'m, Node>, OutOfMemory> {
    match depth.checked_sub(1) {
        Some(below) => join::<SPANS>(mutator, below),
        None => alloc!(mutator, NewNode { left: None, right: None, key: 0 }),
    }
}

/// Makes two trees of `below` levels below their tops, and their parent.
fn join<'m, const SPANS: bool>(
    mutator: &'m mut Mutator<'_>,
    below: u64,
) -> Result<Gc<'m, Node>, OutOfMemory> {
    if SPANS && let Some(tree) = spans::bottom_up(mutator, below + 1) {
        ret!(mutator, Ok(tree));
    }
    root!(mutator, left = bottom_up::<SPANS>(mutator, below)?);
    let right = rebind!(mutator, bottom_up::<SPANS>(mutator, below)?);
    let left = left.get(mutator);
    alloc!(mutator, NewNode { left: Some(left), right: Some(right), key: below + 1 })
}

#[cfg(test)]
mod tests {
    use super::super::node::{count, nodes};
    use super::*;
    use allotment::Heap;

    #[test]
    fn both_ways_make_the_same_tree_of_nodes_of_32_bytes() {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        heap.attach(|mutator| {
            for depth in [0, 1, 2, 10] {
                let top = rebind!(mutator, top_down::<false>(mutator, depth)?);
                assert_eq!(count(mutator, top), Some(nodes(depth)));
                root!(mutator, bottom = bottom_up::<false>(mutator, depth)?);
                assert!(mutator.collect());
                assert_eq!(count(mutator, bottom.get(mutator)), Some(nodes(depth)));
            }
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
        let last = heap.collections().recent.back().cloned().unwrap();
        assert_eq!((last.live_objects, last.live_bytes), (2047, 2047 * 32));
    }

    #[test]
    fn a_tree_that_lacks_a_node_is_not_counted() {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        heap.attach(|mutator| {
            let top = rebind!(mutator, bottom_up::<false>(mutator, 3)?);
            assert_eq!(count(mutator, top), Some(15));
            top.left.store(mutator, None);
            assert_eq!(count(mutator, top), None);
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
    }
}
