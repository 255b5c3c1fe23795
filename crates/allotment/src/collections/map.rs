//! A map by content.

use super::entries::{self, Entries, Found, Table};
use super::key::Key;
use allotment::{
    Array, Field, Gc, Local, Maybe, Mutator, Object, OutOfMemory, Plain, Slots, Str, Word, alloc,
};
use std::hash::{BuildHasher, Hasher, RandomState};

/// A map whose keys are compared by content, in the heap. What that means for a kind of word, its [`Key`] says.
///
/// `Gc<Map<K, V>>` has `get`, `remove`, `iter` and the others that allocate nothing; [`insert`](Self::insert) and
/// [`reserve`](Self::reserve) are functions on a [`Local`]. Iteration is in the order of insertion.
///
/// ```
/// use allotment::{Heap, Map, NewMap, NewStr, OutOfMemory, Str, Unboxed, alloc, pass, root};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     root!(mu, counts = alloc!(mu, NewMap::<Str, Unboxed<u32>>::new())?);
///     for word in ["row", "your", "row", "boat", "row"] {
///         let count = counts.get(mu).get_str(mu, word).map_or(0, |count| count.0);
///         let word = alloc!(mu, NewStr::from(word))?;
///         pass!(Map::insert(mu, counts, =word, =Unboxed(count + 1))?);
///     }
///     let counts = counts.get(mu);
///     let all: Vec<_> = counts.iter(mu).map(|(word, count)| format!("{word} {}", count.0)).collect();
///     assert_eq!(all, ["row 3", "your 1", "boat 1"]);
///     let (word, _) = counts.iter(mu).next().expect("three");
///     assert_eq!(counts.remove(mu, word), Some(Unboxed(3)));
///     assert_eq!(counts.len(), 2);
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
#[derive(Object)]
pub struct Map<K: Key, V: Word> {
    buckets: Field<Option<Slots<u32>>>,
    hashes: Field<Option<Slots<u32>>>,
    keys: Field<Option<Array<Maybe<K>>>>,
    values: Field<Option<Array<Maybe<V>>>>,
    made: Plain<usize>,
    len: Plain<usize>,
    hasher: RandomState,
}

impl<K: Key, V: Word> NewMap<'_, K, V> {
    /// An empty map, without room yet.
    pub fn new() -> Self {
        NewMap {
            buckets: None,
            hashes: None,
            keys: None,
            values: None,
            made: Plain::new(0),
            len: Plain::new(0),
            hasher: RandomState::new(),
        }
    }
}

impl<K: Key, V: Word> Default for NewMap<'_, K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Key, V: Word> Table for Map<K, V> {
    type Key = K;
    type Value = V;

    fn entries(&self) -> Entries<'_, K, V> {
        let Map { buckets, hashes, keys, values, made, len, hasher: _ } = self;
        Entries { buckets, hashes, keys, values, made, len }
    }
}

/// What the hasher found, for a table whose hashes have half as many bits.
fn fold(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

impl<K: Key, V: Word> Map<K, V> {
    /// A map with room for `capacity` entries. A safepoint.
    ///
    /// # Errors
    /// [`OutOfMemory`] where there is none for it.
    pub fn with_capacity<'m>(
        mu: &'m mut Mutator<'_>,
        capacity: usize,
    ) -> Result<Gc<'m, Map<K, V>>, OutOfMemory> {
        allotment::root!(mu, map = alloc!(mu, NewMap::new())?);
        entries::reserve(mu, map, capacity)?;
        Ok(map.get(mu))
    }

    /// Makes `value` what the map holds for `key`. A safepoint where the map is full and has no equal key.
    ///
    /// An equal key that is there stays, and its place in the order with it.
    ///
    /// # Errors
    /// [`OutOfMemory`] where the map cannot grow. It has not changed then.
    pub fn insert(
        mu: &mut Mutator<'_>,
        map: Local<'_, Self>,
        key: Local<'_, K>,
        value: Local<'_, V>,
    ) -> Result<(), OutOfMemory> {
        entries::insert(mu, map, key, value, |map, mu, key| map.find(mu, key))
    }

    /// Makes room for `additional` more entries, and for twice as many as there are if it has to make any. A safepoint.
    ///
    /// # Errors
    /// [`OutOfMemory`] where there is none for them. The map has not changed then.
    pub fn reserve(mu: &mut Mutator<'_>, map: Local<'_, Self>, additional: usize) -> Result<(), OutOfMemory> {
        entries::reserve(mu, map, additional)
    }

    /// What the map holds for `key`.
    pub fn get<'g>(&self, mu: &'g Mutator<'_>, key: K::Of<'g>) -> Option<V::Of<'g>> {
        self.entries().value(mu, self.find(mu, key).1?)
    }

    /// Whether the map holds anything for `key`.
    pub fn contains<'g>(&self, mu: &'g Mutator<'_>, key: K::Of<'g>) -> bool {
        self.find(mu, key).1.is_some()
    }

    /// Takes an entry out; its value.
    pub fn remove<'g>(&self, mu: &'g Mutator<'_>, key: K::Of<'g>) -> Option<V::Of<'g>> {
        self.entries().remove(mu, self.find(mu, key).1?)
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.len.get()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many entries it can have without growing, if none is removed.
    pub fn capacity(&self, mu: &Mutator<'_>) -> usize {
        self.entries().capacity(mu)
    }

    /// Takes all entries out, and gives up the room.
    pub fn clear(&self, mu: &Mutator<'_>) {
        self.entries().clear(mu);
    }

    /// Keys and values in the order of insertion, as many as there are now. What is removed meanwhile is not met.
    pub fn iter<'g, 't>(
        &self,
        mu: &'g Mutator<'t>,
    ) -> impl DoubleEndedIterator<Item = (K::Of<'g>, V::Of<'g>)> + use<'g, 't, K, V> {
        self.entries().iter(mu)
    }

    fn find<'g>(&self, mu: &'g Mutator<'_>, key: K::Of<'g>) -> (u32, Option<Found>) {
        let mut state = self.hasher.build_hasher();
        K::hash(key, mu, &mut state);
        let hash = fold(state.finish());
        (hash, self.entries().find(mu, hash, |other| K::equal(key, other, mu)))
    }
}

impl<V: Word> Map<Str, V> {
    /// What the map holds for a text that need not lie in the heap.
    pub fn get_str<'g>(&self, mu: &'g Mutator<'_>, key: &str) -> Option<V::Of<'g>> {
        let hash = fold(self.hasher.hash_one(key));
        self.entries().value(mu, self.entries().find(mu, hash, |other| *other == *key)?)
    }
}
