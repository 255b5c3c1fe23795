//! The nodes above the blocks: keys and children.

use crate::block::Block;
use crate::tick::Key;
use allotment::{
    Array, Field, Gc, Mutator, NewArray, NewSlots, Object, OutOfMemory, Plain, Slots, Word, alloc,
};

/// The most children of a node. Tests have few, so that small trees are high.
pub(crate) const FANOUT: usize = if cfg!(test) { 4 } else { 128 };

/// Words of a key in a node.
const KEY_WORDS: usize = 2;

/// A node of the tree, taken out of its slot.
#[derive(Clone, Copy, Debug, Word)]
#[word(Node)]
pub(crate) enum At<'g> {
    /// The root of an empty store.
    Nothing,
    /// A leaf.
    Block(Gc<'g, Slots<u64>>),
    /// A node with children.
    Inner(Gc<'g, Inner>),
}

/// A node with children. All leaves below it are at one depth.
///
/// ```text
/// keys[0]      is not read: the key above the node stands for it
/// keys[i]      ticks of child i-1 < keys[i] <= ticks of child i
/// children[i]  Nothing from `len` on
/// ```
#[derive(Object)]
pub(crate) struct Inner {
    len: Plain<usize>,
    keys: Field<Slots<u64>>,
    children: Field<Array<Node>>,
}

impl Inner {
    /// A node without children.
    ///
    /// # Errors
    /// The heap is full.
    pub(crate) fn make<'m>(mu: &'m mut Mutator<'_>) -> Result<Gc<'m, Inner>, OutOfMemory> {
        let mut keys = alloc!(mu, NewSlots::new(FANOUT * KEY_WORDS, 0_u64))?;
        let children = alloc!(mu, [keys] => NewArray::new(FANOUT, At::Nothing))?;
        alloc!(mu, NewInner { len: Plain::new(0), keys, children })
    }

    /// Children.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.get()
    }

    /// Whether there is no room for one more child.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len() == FANOUT
    }

    /// The keys of its children.
    #[inline]
    pub(crate) fn keys<'g>(&self, mu: &'g Mutator<'_>) -> &'g [[Plain<u64>; KEY_WORDS]] {
        &self.keys.load(mu).as_ref().as_chunks().0[..self.len()]
    }

    /// The key of a child.
    #[inline]
    pub(crate) fn key(&self, mu: &Mutator<'_>, child: usize) -> Key {
        read(&self.keys(mu)[child])
    }

    /// A child.
    #[inline]
    pub(crate) fn child<'g>(&self, mu: &'g Mutator<'_>, child: usize) -> At<'g> {
        self.children.load(mu).at(child).load(mu)
    }

    /// The child where a key belongs.
    #[inline]
    pub(crate) fn index(&self, mu: &Mutator<'_>, key: Key) -> usize {
        let behind = self.keys(mu).get(1..).unwrap_or_default();
        behind.partition_point(|words| read(words) <= key)
    }

    /// The child where the greatest key below this one belongs.
    #[inline]
    pub(crate) fn index_below(&self, mu: &Mutator<'_>, key: Key) -> usize {
        let behind = self.keys(mu).get(1..).unwrap_or_default();
        behind.partition_point(|words| read(words) < key)
    }

    /// Puts a child at a place, before the child that is there. The node must have room.
    pub(crate) fn insert(&self, mu: &Mutator<'_>, at: usize, key: Key, child: At<'_>) {
        let (len, keys) = (self.len(), self.keys.load(mu));
        keys.copy_within(at * KEY_WORDS..len * KEY_WORDS, (at + 1) * KEY_WORDS);
        self.children.load(mu).copy_within(mu, at..len, at + 1);
        self.len.set(len + 1);
        self.set(mu, at, key, child);
    }

    /// Replaces a child and its key.
    pub(crate) fn set(&self, mu: &Mutator<'_>, at: usize, key: Key, child: At<'_>) {
        let [instrument, time] = &self.keys(mu)[at];
        instrument.set(key.instrument.into());
        time.set(key.time);
        self.children.load(mu).at(at).store(mu, child);
    }

    /// Takes a child out.
    pub(crate) fn remove(&self, mu: &Mutator<'_>, at: usize) {
        let (len, keys) = (self.len(), self.keys.load(mu));
        keys.copy_within((at + 1) * KEY_WORDS..len * KEY_WORDS, at * KEY_WORDS);
        self.children.load(mu).copy_within(mu, at + 1..len, at);
        self.truncate(mu, len - 1);
    }

    /// Keeps the first `len` children.
    pub(crate) fn truncate(&self, mu: &Mutator<'_>, len: usize) {
        self.children.load(mu).fill(mu, len..self.len(), At::Nothing);
        self.len.set(len);
    }

    /// Moves the children from a place on to the end of another node, which must have
    /// room.
    pub(crate) fn move_to(&self, mu: &Mutator<'_>, from: usize, other: &Inner) {
        for child in from..self.len() {
            other.insert(mu, other.len(), self.key(mu, child), self.child(mu, child));
        }
        self.truncate(mu, from);
    }
}

#[inline]
fn read([instrument, time]: &[Plain<u64>; KEY_WORDS]) -> Key {
    Key { instrument: instrument.get() as u32, time: time.get() }
}

impl At<'_> {
    /// Whether it has neither ticks nor children.
    pub(crate) fn is_empty(self) -> bool {
        match self {
            At::Nothing => true,
            At::Block(block) => Block(block).len() == 0,
            At::Inner(inner) => inner.len() == 0,
        }
    }
}
