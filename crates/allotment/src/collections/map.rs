//! A map by content.

use super::entries::Entries;
use super::key::Key;
use super::maps::{define_map, example};
use super::table::{self, Lookup, Table};
use allotment::{Array, Field, Gc, Local, Maybe, Mutator, OutOfMemory, Plain, Slots, Str, Word};
use std::hash::{BuildHasher, Hasher, RandomState};

define_map! {
    /// A map in the heap whose keys are compared by content. The [`Key`] of a kind of word defines
    /// its content.
    ///
    /// `Gc<Map<K, V>>` has `get`, `remove`, `iter` and the other functions that allocate nothing.
    /// [`insert`](Self::insert) and [`reserve`](Self::reserve) are functions on a [`Local`].
    /// Iteration is in the order of insertion.
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
    ///     let all = counts.iter(mu).map(|(word, count)| format!("{word} {}", count.0));
    ///     let all: Vec<_> = all.collect();
    ///     assert_eq!(all, ["row 3", "your 1", "boat 1"]);
    ///     let (word, _) = counts.iter(mu).next().expect("three");
    ///     assert_eq!(counts.remove(mu, word), Some(Unboxed(3)));
    ///     assert_eq!(counts.len(), 2);
    ///     Ok::<(), OutOfMemory>(())
    /// })??;
    /// # Ok(())
    /// # }
    /// ```
    pub struct Map<K: Key>, NewMap { hasher: RandomState = RandomState::new(), }
}

impl<K: Key, V: Word> Lookup for Map<K, V> {
    type Key = K;

    fn hash<'g>(&self, mu: &'g Mutator<'_>, key: K::Of<'g>) -> u32 {
        let mut state = self.hasher.build_hasher();
        K::hash(key, mu, &mut state);
        fold(state.finish())
    }

    fn equal<'g>(mu: &'g Mutator<'_>, one: K::Of<'g>, other: K::Of<'g>) -> bool {
        K::equal(one, other, mu)
    }
}

/// Folds the hasher's result to half as many bits, the size of the table's hashes.
fn fold(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

impl<V: Word> Map<Str, V> {
    /// The value for a text, which need not lie in the heap.
    ///
    /// ```
    /// # use allotment::{Heap, Map, NewMap, NewStr, OutOfMemory, Str, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, ages = alloc!(mu, NewMap::<Str, Unboxed<u32>>::new())?);
    /// let name = alloc!(mu, NewStr::from("Ada"))?;
    /// pass!(Map::insert(mu, ages, =name, =Unboxed(36))?);
    /// assert_eq!(ages.get(mu).get_str(mu, "Ada"), Some(Unboxed(36)));
    /// assert_eq!(ages.get(mu).get_str(mu, "Bob"), None);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get_str<'g>(&self, mu: &'g Mutator<'_>, key: &str) -> Option<V::Of<'g>> {
        let hash = fold(self.hasher.hash_one(key));
        self.entries().value(mu, self.entries().find(mu, hash, |other| *other == *key)?)
    }
}
