//! A map by identity.
//!
//! Objects move, so an address is no key: objects have identity hashes, which they get when they are first asked for and keep.

use super::entries::{self, Entries, Found, Table};
use allotment::{
    Array, Bare, Field, Gc, Local, Maybe, Mutator, Object, OutOfMemory, Plain, Slots, Word, alloc,
};

/// A map whose keys are compared by identity, in the heap: pointers to the same object are equal, and so are immediates
/// with the same bits.
///
/// `Gc<IdMap<K, V>>` has `get`, `remove`, `iter` and the others that allocate nothing; [`insert`](Self::insert) and
/// [`reserve`](Self::reserve) are functions on a [`Local`]. Iteration is in the order of insertion.
///
/// ```
/// use allotment::{Heap, IdMap, NewIdMap, NewStr, OutOfMemory, Str, Unboxed, alloc, pass, root};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     root!(mu, seen = alloc!(mu, NewIdMap::<Str, Unboxed<u32>>::new())?);
///     root!(mu, one = alloc!(mu, NewStr::from("same"))?);
///     let other = alloc!(mu, NewStr::from("same"))?;
///     pass!(IdMap::insert(mu, seen, =other, =Unboxed(2))?);
///     assert!(!seen.get(mu).contains(mu, one.get(mu)));
///     pass!(IdMap::insert(mu, seen, one, =Unboxed(1))?);
///     mu.collect();
///     assert_eq!(seen.get(mu).get(mu, one.get(mu)), Some(Unboxed(1)));
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
#[derive(Object)]
pub struct IdMap<K: Word, V: Word> {
    buckets: Field<Option<Slots<u32>>>,
    hashes: Field<Option<Slots<u32>>>,
    keys: Field<Option<Array<Maybe<K>>>>,
    values: Field<Option<Array<Maybe<V>>>>,
    made: Plain<usize>,
    len: Plain<usize>,
}

impl<K: Word, V: Word> NewIdMap<'_, K, V> {
    /// An empty map, without room yet.
    pub fn new() -> Self {
        NewIdMap {
            buckets: None,
            hashes: None,
            keys: None,
            values: None,
            made: Plain::new(0),
            len: Plain::new(0),
        }
    }
}

impl<K: Word, V: Word> Default for NewIdMap<'_, K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Word, V: Word> Table for IdMap<K, V> {
    type Key = K;
    type Value = V;

    fn entries(&self) -> Entries<'_, K, V> {
        let IdMap { buckets, hashes, keys, values, made, len } = self;
        Entries { buckets, hashes, keys, values, made, len }
    }
}

impl<K: Word, V: Word> IdMap<K, V> {
    /// A map with room for `capacity` entries. A safepoint.
    ///
    /// # Errors
    /// [`OutOfMemory`] where there is none for it.
    pub fn with_capacity<'m>(
        mu: &'m mut Mutator<'_>,
        capacity: usize,
    ) -> Result<Gc<'m, IdMap<K, V>>, OutOfMemory> {
        allotment::root!(mu, map = alloc!(mu, NewIdMap::new())?);
        entries::reserve(mu, map, capacity)?;
        Ok(map.get(mu))
    }

    /// Makes `value` what the map holds for `key`. A safepoint where the map is full and does not have the key.
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
        let hash = mu.identity_hash_of_word(key);
        (hash, self.entries().find(mu, hash, |other| key.encode() == other.encode()))
    }
}
