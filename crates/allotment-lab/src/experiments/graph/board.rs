//! What the parts of all threads have in common: a board where each puts leaves, and takes those of others.
//!
//! Two threads may take the same leaf; then both refer to it. Edges between vertices of several threads were refused:
//! to rewire them both ways at once would need a lock, and that would be what is measured.

use super::vertex::{LEAF_BYTES, Leaf, leaf};
use allotment::{Array, Heap, NewArray, OutOfMemory, Root, alloc, root};
use anyhow::Context;

/// A board.
pub(super) type Board = Array<Option<Leaf>>;

/// Places on it.
pub(super) const PLACES: usize = 1024;

/// Bytes of it and its leaves.
pub(super) const BYTES: usize = 16 + PLACES * (8 + LEAF_BYTES);

/// Makes one, and as many roots of it as there are threads.
///
/// # Errors
/// The heap is too small for it.
pub(super) fn make(heap: &Heap, threads: usize) -> anyhow::Result<Vec<Root<Board>>> {
    let roots = heap.attach(|mutator| {
        root!(mutator, board = alloc!(mutator, NewArray::<Option<Leaf>>::new(PLACES, None))?);
        for place in 0..PLACES {
            let leaf = alloc!(mutator, leaf(place as u64))?;
            board.get(mutator).at(place).store(mutator, Some(leaf));
        }
        Ok::<_, OutOfMemory>((0..threads).map(|_| Root::new(mutator, board.get(mutator))).collect())
    })?;
    roots.context("the heap has no room for what the threads share")
}
