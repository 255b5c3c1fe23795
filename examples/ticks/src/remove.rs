//! Removal of a range of ticks that a program no longer needs.
//!
//! A removal allocates nothing, so it works in a full heap. Blocks and nodes that become empty
//! leave the tree. Neighbours with few ticks or children are merged where the range began or ended:
//! at most to three quarters of a node, so that a put after a removal does not split it again.

use crate::block::Block;
use crate::inner::{At, FANOUT, Inner};
use crate::store::Store;
use crate::tick::{Key, bounds};
use allotment::{Local, Mutator};
use std::ops::RangeBounds;

impl Store {
    /// Removes the ticks of a range of keys, and returns their number.
    ///
    /// It reaches no safepoint. It borrows the mutator exclusively, so that no reader runs
    /// meanwhile.
    pub fn remove(mu: &mut Mutator<'_>, store: Local<'_, Store>, range: impl RangeBounds<Key>) -> usize {
        let mu = &*mu;
        let store = store.get(mu);
        let Some((from, below)) = bounds(&range) else { return 0 };
        let removed = remove(mu, store.root.load(mu), from, below);
        store.len.set(store.len() - removed);
        let mut root = store.root.load(mu);
        while let At::Inner(inner) = root
            && inner.len() == 1
        {
            root = inner.child(mu, 0);
        }
        store.root.store(mu, if root.is_empty() { At::Nothing } else { root });
        removed
    }
}

/// Removes the ticks of a range below a node, and the blocks and nodes that become empty.
fn remove(mu: &Mutator<'_>, at: At<'_>, from: Key, below: Option<Key>) -> usize {
    match at {
        At::Nothing => 0,
        At::Block(block) => {
            let block = Block(block);
            let range = block.below(from)..below.map_or(block.len(), |below| block.below(below));
            block.remove(range.clone());
            range.len()
        }
        At::Inner(inner) => {
            let first = inner.index(mu, from);
            let last = below.map_or(inner.len() - 1, |below| inner.index_below(mu, below));
            let mut removed = 0;
            let mut kept = first;
            for child in first..=last {
                let node = inner.child(mu, child);
                removed += remove(mu, node, from, below);
                if !node.is_empty() {
                    inner.set(mu, kept, inner.key(mu, child), node);
                    kept += 1;
                }
            }
            // Those after the range move up.
            let len = inner.len();
            for child in last + 1..len {
                inner.set(mu, kept + child - last - 1, inner.key(mu, child), inner.child(mu, child));
            }
            inner.truncate(mu, len - (last + 1 - kept));
            if removed > 0 {
                for child in (first.saturating_sub(1)..=kept).rev() {
                    merge(mu, inner.as_ref(), child);
                }
            }
            removed
        }
    }
}

/// Merges a child with the next one, if there is one and both have few entries.
fn merge(mu: &Mutator<'_>, inner: &Inner, child: usize) {
    let little = |sum: usize, capacity: usize| sum * 4 <= capacity * 3;
    if child + 1 >= inner.len() {
        return;
    }
    match (inner.child(mu, child), inner.child(mu, child + 1)) {
        (At::Block(one), At::Block(other)) => {
            let (one, other) = (Block(one), Block(other));
            if !little(one.len() + other.len(), one.capacity()) {
                return;
            }
            other.move_to(0, one);
        }
        (At::Inner(one), At::Inner(other)) => {
            if !little(one.len() + other.len(), FANOUT) {
                return;
            }
            // The key above the node is the key of its first child.
            other.set(mu, 0, inner.key(mu, child + 1), other.child(mu, 0));
            other.move_to(mu, 0, one.as_ref());
        }
        _ => return,
    }
    inner.remove(mu, child + 1);
}
