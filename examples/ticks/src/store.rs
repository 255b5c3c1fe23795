//! The store: the root of the tree, and the calls that read.

use crate::block::{MIN_BLOCK_BYTES, words_of};
use crate::inner::{At, Node};
use crate::range::Ticks;
use crate::tick::{Key, Quote, Tick, key_of};
use allotment::{Field, Gc, Mutator, Object, OutOfMemory, Plain, alloc};
use std::ops::RangeBounds;

/// An ordered store of ticks. See the [crate](crate) for how to use it.
///
/// Invariants between two calls:
///
/// ```text
/// len = sum over blocks of their ticks
/// no block and no node is empty; the root of a store without ticks is Nothing
/// all blocks are at one depth
/// ```
#[derive(Object)]
pub struct Store {
    pub(crate) root: Field<Node>,
    pub(crate) len: Plain<usize>,
    /// The words of each block.
    pub(crate) block_words: usize,
}

impl Store {
    /// An empty store, with blocks of `block_bytes` bytes at most.
    ///
    /// # Panics
    /// If that is less than [`MIN_BLOCK_BYTES`].
    ///
    /// # Errors
    /// The heap is full.
    pub fn make<'m>(mu: &'m mut Mutator<'_>, block_bytes: usize) -> Result<Gc<'m, Store>, OutOfMemory> {
        assert!(
            block_bytes >= MIN_BLOCK_BYTES,
            "a block has at least {MIN_BLOCK_BYTES} bytes, not {block_bytes}"
        );
        let block_words = words_of(block_bytes);
        alloc!(mu, NewStore { root: At::Nothing, len: Plain::new(0), block_words })
    }

    /// Ticks.
    pub fn len(&self) -> usize {
        self.len.get()
    }

    /// Whether it has no ticks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The quote of a key.
    #[inline]
    pub fn get(&self, mu: &Mutator<'_>, key: Key) -> Option<Quote> {
        let block = self.root.load(mu).leaf(mu, key)?.block;
        let words = block.ticks().get(block.below(key))?;
        (key_of(words) == key).then(|| Tick::read(words).quote)
    }

    /// The newest tick of an instrument up to a time, that time included.
    #[inline]
    pub fn at_or_before(&self, mu: &Mutator<'_>, key: Key) -> Option<Tick> {
        let root = self.root.load(mu);
        let leaf = root.leaf(mu, key)?;
        let words = match leaf.block.up_to(key) {
            0 => root.leaf_below(mu, leaf.from?)?.block.ticks().last()?,
            count => &leaf.block.ticks()[count - 1],
        };
        let tick = Tick::read(words);
        (tick.key.instrument == key.instrument).then_some(tick)
    }

    /// The ticks of a range of keys, in order.
    /// `Key::new(instrument, from)..Key::new(instrument, to)` is a range of one
    /// instrument; `..` is all ticks.
    #[inline]
    pub fn range<'g, 't>(&self, mu: &'g Mutator<'t>, range: impl RangeBounds<Key>) -> Ticks<'g, 't> {
        Ticks::new(mu, self.root.load(mu), &range)
    }
}
