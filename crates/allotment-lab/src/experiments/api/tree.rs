//! A binary tree in the heap, in a chosen memory order, with dead objects in between.
//!
//! Node `i` has the children `2i + 1` and `2i + 2`, which makes the tree complete. The order of
//! allocation is a permutation of these numbers. All nodes are allocated first and linked
//! afterwards; otherwise children would have to come before their parents.
//!
//! Refused: a tree that grows by random insertion. Its depth, and with it the collector's stack,
//! would differ from one tree to the next.

use super::node::{LEFT, NewNode, Node, RIGHT, key, slot};
use crate::walk::Random;
use allotment::{Gc, Mutator, NewArray, OutOfMemory, alloc, rebind, root};

/// The numbers of `nodes` nodes in the order of a depth-first traversal, so that linked nodes lie
/// together.
pub(super) fn sequential(nodes: u32) -> Vec<u32> {
    let mut order = Vec::with_capacity(nodes as usize);
    let mut stack = vec![0_u64];
    while let Some(node) = stack.pop() {
        if node < u64::from(nodes) {
            order.push(node as u32);
            stack.extend([2 * node + 2, 2 * node + 1]);
        }
    }
    order
}

/// The numbers of `nodes` nodes, shuffled. The order is the same in every run.
pub(super) fn shuffled(nodes: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..nodes).collect();
    Random::new(0).shuffle(&mut order);
    order
}

/// A tree of as many nodes as `order` has, with `garbage` dead nodes before each.
///
/// # Errors
/// The heap is too small.
pub(super) fn build<'m>(
    mutator: &'m mut Mutator<'_>,
    order: &[u32],
    garbage: usize,
) -> Result<Option<Gc<'m, Node>>, OutOfMemory> {
    root!(mutator, nodes = alloc!(mutator, NewArray::<Option<Node>>::new(order.len(), None))?);
    for &number in order {
        for _ in 0..garbage {
            alloc!(mutator, NewNode { left: None, right: None, key: 0 })?;
        }
        let node = alloc!(mutator, NewNode { left: None, right: None, key: u64::from(number) })?;
        nodes.get(mutator).at(number as usize).store(mutator, Some(node));
    }
    let nodes = nodes.get(mutator);
    let node = |number: usize| nodes.get(number).and_then(|field| field.load(mutator));
    for (number, parent) in nodes.iter(mutator).enumerate() {
        if let Some(parent) = parent {
            parent.left.store(mutator, node(2 * number + 1));
            parent.right.store(mutator, node(2 * number + 2));
        }
    }
    let top = node(0);
    Ok(rebind!(mutator, top))
}

/// Returns the number of nodes, and the sum of their keys.
///
/// # Safety
/// - `top` is null or the address of a live node, as are all nodes below it, with no safepoint
///   meanwhile.
#[inline(never)]
pub(super) unsafe fn traverse(top: *const u8) -> (u64, u64) {
    let (mut nodes, mut sum) = (0, 0_u64);
    let mut stack = Vec::with_capacity(64);
    let mut at = top;
    loop {
        while !at.is_null() {
            // SAFETY: the caller's predicate.
            unsafe {
                nodes += 1;
                sum = sum.wrapping_add(key(at));
                stack.push(slot::<RIGHT>(at));
                at = slot::<LEFT>(at);
            }
        }
        match stack.pop() {
            Some(next) => at = next,
            None => return (nodes, sum),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::test_heap;
    use super::super::node::address;
    use super::*;
    use std::ptr;

    #[test]
    fn both_orders_have_every_node_once() {
        for nodes in [1, 2, 3, 10, 1000] {
            for mut order in [sequential(nodes), shuffled(nodes)] {
                order.sort_unstable();
                assert_eq!(order, (0..nodes).collect::<Vec<_>>());
            }
        }
        assert_eq!(sequential(7), [0, 1, 3, 4, 2, 5, 6]);
        let displaced = shuffled(1000).iter().zip(0..).filter(|&(&node, place)| node != place).count();
        assert!(displaced > 900, "{displaced}");
    }

    #[test]
    fn a_tree_is_whole_in_both_orders_and_after_a_collection() {
        for order in [sequential(1000), shuffled(1000)] {
            let heap = test_heap();
            heap.attach(|mutator| {
                root!(mutator, top = build(mutator, &order, 2)?);
                for _ in 0..2 {
                    let first = top.get(mutator).map_or(ptr::null(), address);
                    // SAFETY: a live tree, and no safepoint.
                    assert_eq!(unsafe { traverse(first) }, (1000, 499_500));
                    assert!(mutator.collect());
                }
                Ok::<(), OutOfMemory>(())
            })
            .unwrap()
            .unwrap();
            let last = heap.collections().recent.back().cloned().unwrap();
            assert_eq!((last.live_objects, last.live_bytes), (1000, 32_000));
        }
    }
}
