//! The board that the parts of all threads share. Each part puts leaves on the board, and takes
//! leaves of others.
//!
//! Two threads may take the same leaf; then both refer to it. Refused: edges between vertices of
//! several threads. Rewiring such edges both ways at once needs a lock, and the lock would be
//! measured.

use super::vertex::{LEAF_BYTES, Leaf, leaf};
use allotment::{Array, Heap, NewArray, OutOfMemory, Root, alloc, root};
use anyhow::Context;

/// A board.
pub(super) type Board = Array<Option<Leaf>>;

/// Places on the board.
pub(super) const PLACES: usize = 1024;

/// Bytes of the board and its leaves.
pub(super) const BYTES: usize = 16 + PLACES * (8 + LEAF_BYTES);

/// Makes a board, and a root of it for each thread.
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
