//! The ways down the tree: to the block where a key belongs, and to the block before it.

use crate::block::Block;
use crate::inner::{At, Inner};
use crate::tick::Key;
use allotment::{Gc, Mutator};

/// A block, and the keys that belong there.
#[derive(Clone, Copy)]
pub(crate) struct Leaf<'g> {
    pub(crate) block: Block<'g>,
    /// The least key that belongs there; `None` in the first block.
    pub(crate) from: Option<Key>,
    /// The least key that belongs to the next block; `None` in the last.
    pub(crate) below: Option<Key>,
}

impl<'g> At<'g> {
    /// The block where a key belongs; `None` in an empty tree.
    #[inline]
    pub(crate) fn leaf(self, mu: &'g Mutator<'_>, key: Key) -> Option<Leaf<'g>> {
        self.go_down(mu, |inner| inner.index(mu, key))
    }

    /// The block where the greatest key below this one belongs; `None` in an empty tree.
    pub(crate) fn leaf_below(self, mu: &'g Mutator<'_>, key: Key) -> Option<Leaf<'g>> {
        self.go_down(mu, |inner| inner.index_below(mu, key))
    }

    #[inline]
    fn go_down(self, mu: &'g Mutator<'_>, choose: impl Fn(&Inner) -> usize) -> Option<Leaf<'g>> {
        let (mut at, mut from, mut below) = (self, None, None);
        loop {
            match at {
                At::Nothing => return None,
                At::Block(block) => return Some(Leaf { block: Block(block), from, below }),
                At::Inner(inner) => {
                    let (keys, index) = (inner.keys(mu).len(), choose(inner.as_ref()));
                    if index > 0 {
                        from = Some(inner.key(mu, index));
                    }
                    if index + 1 < keys {
                        below = Some(inner.key(mu, index + 1));
                    }
                    at = inner.child(mu, index);
                }
            }
        }
    }

    /// The full node that must be split before a tick can be put.
    pub(crate) fn way(self, mu: &'g Mutator<'_>, key: Key) -> Way<'g> {
        let (mut at, mut way) = (self, Way { top: self, parent: None });
        while let At::Inner(inner) = at {
            let index = inner.index(mu, key);
            at = inner.child(mu, index);
            if !inner.is_full() {
                way = Way { top: at, parent: Some((inner, index)) };
            }
        }
        way
    }
}

/// The full node in the way of a tick: the topmost of the full nodes that end in the block where
/// the tick belongs. It can be split at once, since the node above it has room.
#[derive(Clone, Copy)]
pub(crate) struct Way<'g> {
    pub(crate) top: At<'g>,
    /// The node above it, which has room, and its place there; `None` at the root.
    pub(crate) parent: Option<(Gc<'g, Inner>, usize)>,
}
