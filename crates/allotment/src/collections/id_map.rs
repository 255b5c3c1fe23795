//! A map by identity.
//!
//! Objects move, so an address cannot be a key. Objects have identity hashes: an object gets its
//! hash at the first request and keeps it.

use super::entries::Entries;
use super::maps::{define_map, example};
use super::table::{self, Lookup, Table};
use allotment::{Array, Bare, Field, Gc, Local, Maybe, Mutator, OutOfMemory, Plain, Slots, Word};

define_map! {
    /// A map in the heap whose keys are compared by identity. Pointers to the same object are
    /// equal, and so are immediates with the same bits.
    ///
    /// `Gc<IdMap<K, V>>` has `get`, `remove`, `iter` and the other functions that allocate nothing.
    /// [`insert`](Self::insert) and [`reserve`](Self::reserve) are functions on a [`Local`].
    /// Iteration is in the order of insertion.
    ///
    /// ```
    /// use allotment::{
    ///     Heap, IdMap, NewIdMap, NewStr, OutOfMemory, Str, Unboxed, alloc, pass, root,
    /// };
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
    pub struct IdMap<K: Word>, NewIdMap {}
}

impl<K: Word, V: Word> Lookup for IdMap<K, V> {
    type Key = K;

    fn hash<'g>(&self, mu: &'g Mutator<'_>, key: K::Of<'g>) -> u32 {
        mu.identity_hash_of_word(key)
    }

    fn equal<'g>(_: &'g Mutator<'_>, one: K::Of<'g>, other: K::Of<'g>) -> bool {
        one.encode() == other.encode()
    }
}
