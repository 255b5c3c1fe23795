//! Range reads.
//!
//! A reader walks a block as a slice. At the block's end it goes down from the root to the next
//! one, whose least key it knows.

use crate::inner::At;
use crate::tick::{Key, Tick, Words, bounds};
use allotment::Mutator;
use std::fmt;
use std::iter::FusedIterator;
use std::ops::RangeBounds;
use std::slice;

/// The ticks of a range, in order: made by [`Store::range`](crate::Store::range).
///
/// It borrows the mutator, so no safepoint and no change of the store happens while it lives.
pub struct Ticks<'g, 't> {
    mu: &'g Mutator<'t>,
    root: At<'g>,
    /// The rest of the block.
    ticks: slice::Iter<'g, Words>,
    /// The least key of the next block, if the range goes on there.
    next: Option<Key>,
    /// The end of the range, if it has one.
    below: Option<Key>,
}

impl<'g, 't> Ticks<'g, 't> {
    pub(crate) fn new(mu: &'g Mutator<'t>, root: At<'g>, range: &impl RangeBounds<Key>) -> Self {
        let (next, below) = bounds(range).map_or((None, None), |(from, below)| (Some(from), below));
        Ticks { mu, root, ticks: slice::Iter::default(), next, below }
    }

    /// Goes on in the block of a key.
    fn enter(&mut self, from: Key) {
        let Some(leaf) = self.root.leaf(self.mu, from) else { return };
        let (ticks, first) = (leaf.block.ticks(), leaf.block.below(from));
        self.next = leaf.below.filter(|next| self.below.is_none_or(|below| *next < below));
        let last = match self.below {
            Some(below) if self.next.is_none() => leaf.block.below(below),
            _ => ticks.len(),
        };
        self.ticks = ticks[first..last].iter();
    }
}

impl Iterator for Ticks<'_, '_> {
    type Item = Tick;

    #[inline]
    fn next(&mut self) -> Option<Tick> {
        loop {
            if let Some(words) = self.ticks.next() {
                return Some(Tick::read(words));
            }
            let from = self.next.take()?;
            self.enter(from);
        }
    }

    /// By blocks, which is faster than tick by tick.
    #[inline]
    fn fold<A, F: FnMut(A, Tick) -> A>(mut self, first: A, mut f: F) -> A {
        let mut folded = first;
        loop {
            folded = self.ticks.by_ref().fold(folded, |folded, words| f(folded, Tick::read(words)));
            let Some(from) = self.next.take() else { return folded };
            self.enter(from);
        }
    }
}

impl FusedIterator for Ticks<'_, '_> {}

impl fmt::Debug for Ticks<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticks").field("next", &self.next).field("below", &self.below).finish_non_exhaustive()
    }
}
