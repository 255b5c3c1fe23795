//! A check of the whole tree.

use crate::block::Block;
use crate::inner::At;
use crate::store::Store;
use crate::tick::{Key, key_of};
use allotment::Mutator;

/// The sizes of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Ticks.
    pub ticks: usize,
    /// Blocks.
    pub blocks: usize,
    /// The ticks for which the blocks have room, present ones included.
    pub room: usize,
    /// Nodes above the blocks.
    pub nodes: usize,
    /// Nodes between the root and a tick, both included.
    pub height: usize,
}

impl Store {
    /// Checks the order of all keys and the invariants of the tree, and counts.
    ///
    /// # Errors
    /// Says which invariant is broken, and where.
    pub fn verify(&self, mu: &Mutator<'_>) -> Result<Extent, String> {
        let root = self.root.load(mu);
        let mut extent = Extent::default();
        if !matches!(root, At::Nothing) {
            extent.height = verify(mu, root, Key::MIN, None, &mut extent)?;
        }
        if extent.ticks != self.len() {
            return Err(format!("the tree has {} ticks, but its length is {}", extent.ticks, self.len()));
        }
        Ok(extent)
    }
}

/// Checks the subtree of a node, whose keys are from `from` on and below `below`. Returns
/// its height.
fn verify(
    mu: &Mutator<'_>,
    at: At<'_>,
    from: Key,
    below: Option<Key>,
    extent: &mut Extent,
) -> Result<usize, String> {
    if at.is_empty() {
        return Err(format!("an empty node at {from:?}"));
    }
    match at {
        At::Nothing => Ok(0),
        At::Block(block) => {
            let block = Block(block);
            let keys = block.ticks().iter().map(key_of);
            if !keys.clone().is_sorted_by(|one, next| one < next) {
                return Err(format!("a block out of order at {from:?}"));
            }
            if keys.clone().any(|key| key < from || below.is_some_and(|below| key >= below)) {
                return Err(format!("a tick outside of its block's keys, {from:?} to {below:?}"));
            }
            extent.blocks += 1;
            extent.ticks += block.len();
            extent.room += block.capacity();
            Ok(1)
        }
        At::Inner(inner) => {
            extent.nodes += 1;
            let mut height = None;
            for child in 0..inner.len() {
                let own = if child == 0 { from } else { inner.key(mu, child) };
                let next = if child + 1 < inner.len() { Some(inner.key(mu, child + 1)) } else { below };
                if next.is_some_and(|next| own >= next) {
                    return Err(format!("a child without keys, {own:?} to {next:?}"));
                }
                let found = verify(mu, inner.child(mu, child), own, next, extent)?;
                if *height.get_or_insert(found) != found {
                    return Err(format!("a child of another depth at {own:?}"));
                }
            }
            Ok(1 + height.unwrap_or(0))
        }
    }
}
