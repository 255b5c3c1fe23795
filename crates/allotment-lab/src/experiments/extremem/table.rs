//! Hash tables and sets in the heap, with an object for each entry, as in Java's library: a set is
//! an object that has a table, a table is an object that has an array of chains.
//!
//! Refused: the library's `Map`, which keeps its entries in arrays. It has half as many objects and
//! hardly any references between them, so a collector would see another heap.

use super::text::Made;
use allotment::{
    Array, Field, Gc, Local, Mutator, NewArray, Object, OutOfMemory, Plain, Unboxed, Word, alloc, root,
};

/// Buckets of the first array.
const FIRST: usize = 16;

/// A key that is compared by its content.
pub(super) trait Hashed: Word {
    /// The hash of a key; the same for keys that are the same.
    fn hash<'g>(mutator: &'g Mutator<'_>, key: Self::Of<'g>) -> u32;

    /// Whether two keys are the same.
    fn same<'g>(mutator: &'g Mutator<'_>, one: Self::Of<'g>, other: Self::Of<'g>) -> bool;
}

/// An entry, and the rest of its chain.
#[derive(Object)]
pub(super) struct Entry<K: Word, V: Word> {
    hash: u32,
    key: Field<K>,
    value: Field<V>,
    next: Field<Option<Entry<K, V>>>,
}

/// The chains of a table.
type Buckets<K, V> = Array<Option<Entry<K, V>>>;

/// A table.
#[derive(Object)]
pub(super) struct Table<K: Word, V: Word> {
    buckets: Field<Option<Buckets<K, V>>>,
    len: Plain<usize>,
}

/// A set.
#[derive(Object)]
pub(super) struct Set<K: Word> {
    table: Field<Table<K, Unboxed<bool>>>,
}

/// The bucket of a hash: its upper half is folded into the lower, since only low bits choose.
fn bucket(hash: u32, buckets: usize) -> usize {
    (hash ^ hash >> 16) as usize & (buckets - 1)
}

impl<K: Hashed, V: Word> Table<K, V> {
    /// A table for `expected` entries; 0: without an array yet.
    pub(super) fn make<'m>(mutator: &'m mut Mutator<'_>, expected: usize) -> Made<'m, Self> {
        let mut length = FIRST;
        while 3 * length < 4 * expected {
            length *= 2;
        }
        let buckets = match expected {
            0 => None,
            _ => Some(alloc!(mutator, NewArray::<Option<Entry<K, V>>>::new(length, None))?),
        };
        alloc!(mutator, NewTable { buckets, len: Plain::new(0) })
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.len.get()
    }

    fn entry<'g>(&self, mutator: &'g Mutator<'_>, key: K::Of<'g>) -> Option<Gc<'g, Entry<K, V>>> {
        let buckets = self.buckets.load(mutator)?;
        let hash = K::hash(mutator, key);
        let mut next = buckets.at(bucket(hash, buckets.len())).load(mutator);
        while let Some(entry) = next {
            if entry.hash == hash && K::same(mutator, entry.key.load(mutator), key) {
                return Some(entry);
            }
            next = entry.next.load(mutator);
        }
        None
    }

    /// The value of a key.
    pub(super) fn get<'g>(&self, mutator: &'g Mutator<'_>, key: K::Of<'g>) -> Option<V::Of<'g>> {
        self.entry(mutator, key).map(|entry| entry.value.load(mutator))
    }

    /// Adds an entry unless the key has one. Returns whether it did.
    ///
    /// # Errors
    /// The heap is full.
    pub(super) fn insert(
        mutator: &mut Mutator<'_>,
        table: Local<'_, Self>,
        key: Local<'_, K>,
        value: Local<'_, V>,
    ) -> Result<bool, OutOfMemory> {
        if table.get(mutator).entry(mutator, key.get(mutator)).is_some() {
            return Ok(false);
        }
        let (len, buckets) = (table.get(mutator).len(), table.get(mutator).buckets.load(mutator));
        let length = buckets.map_or(0, |buckets| buckets.len());
        if 4 * (len + 1) > 3 * length {
            Self::grow(mutator, table, (2 * length).max(FIRST))?;
        }
        let hash = K::hash(mutator, key.get(mutator));
        let (key, value) = (key.get(mutator), value.get(mutator));
        let entry = alloc!(mutator, NewEntry { hash, key, value, next: None })?;
        let table = table.get(mutator);
        if let Some(buckets) = table.buckets.load(mutator) {
            let first = buckets.at(bucket(hash, buckets.len()));
            entry.next.store(mutator, first.load(mutator));
            first.store(mutator, Some(entry));
        }
        table.len.set(len + 1);
        Ok(true)
    }

    /// Gives the table an array of `length` chains, and moves the entries there.
    fn grow(mutator: &mut Mutator<'_>, table: Local<'_, Self>, length: usize) -> Result<(), OutOfMemory> {
        let new = alloc!(mutator, NewArray::<Option<Entry<K, V>>>::new(length, None))?;
        let table = table.get(mutator);
        for chain in table.buckets.load(mutator).map_or(&[][..], Gc::as_ref) {
            let mut next = chain.load(mutator);
            while let Some(entry) = next {
                next = entry.next.load(mutator);
                let first = new.at(bucket(entry.hash, length));
                entry.next.store(mutator, first.load(mutator));
                first.store(mutator, Some(entry));
            }
        }
        table.buckets.store(mutator, Some(new));
        Ok(())
    }

    /// Removes the entry of a key, if there is one.
    pub(super) fn remove<'g>(&self, mutator: &'g Mutator<'_>, key: K::Of<'g>) {
        let Some(found) = self.entry(mutator, key) else { return };
        let Some(buckets) = self.buckets.load(mutator) else { return };
        let mut at = buckets.at(bucket(found.hash, buckets.len()));
        while let Some(entry) = at.load(mutator) {
            if entry.is_same(found) {
                at.store(mutator, entry.next.load(mutator));
                self.len.set(self.len.get() - 1);
                return;
            }
            at = &entry.as_ref().next;
        }
    }

    /// The keys, in no order.
    pub(super) fn keys<'g, 't>(
        &self,
        mutator: &'g Mutator<'t>,
    ) -> impl Iterator<Item = K::Of<'g>> + use<'g, 't, K, V> {
        let chains = self.buckets.load(mutator).map_or(&[][..], Gc::as_ref);
        chains.iter().flat_map(move |chain| {
            std::iter::successors(chain.load(mutator), move |entry| entry.next.load(mutator))
                .map(move |entry| entry.key.load(mutator))
        })
    }
}

impl<K: Hashed> Set<K> {
    /// An empty set.
    pub(super) fn make<'m>(mutator: &'m mut Mutator<'_>) -> Made<'m, Self> {
        let table = allotment::rebind!(Table::<K, Unboxed<bool>>::make(mutator, 0)?);
        alloc!(mutator, NewSet { table })
    }

    /// Adds a key unless it is there. Returns whether it did.
    ///
    /// # Errors
    /// The heap is full.
    pub(super) fn insert(
        mutator: &mut Mutator<'_>,
        set: Local<'_, Self>,
        key: Local<'_, K>,
    ) -> Result<bool, OutOfMemory> {
        root!(mutator, table = set.get(mutator).table.load(mutator), present = Unboxed(true));
        Table::insert(mutator, table, key, present)
    }

    /// The set's table.
    pub(super) fn table<'g>(&self, mutator: &'g Mutator<'_>) -> Gc<'g, Table<K, Unboxed<bool>>> {
        self.table.load(mutator)
    }
}

#[cfg(test)]
mod tests {
    use super::super::goods::{Id, NewId};
    use super::*;
    use allotment::Heap;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_table_is_a_map(steps in prop::collection::vec((0..60_u64, any::<bool>()), 0..300), expected in 0..40_usize) {
            let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
            let mut model = BTreeMap::new();
            heap.attach(|mutator| {
                root!(mutator, table = Table::<Id, Unboxed<u32>>::make(mutator, expected)?);
                for (number, (key, inserts)) in steps.iter().enumerate() {
                    root!(mutator, boxed = alloc!(mutator, NewId { value: *key })?, value = Unboxed(number as u32));
                    if *inserts {
                        let added = Table::insert(mutator, table, boxed, value)?;
                        assert_eq!(added, !model.contains_key(key));
                        model.entry(*key).or_insert(number as u32);
                    } else {
                        table.get(mutator).remove(mutator, boxed.get(mutator));
                        model.remove(key);
                    }
                    let found = table.get(mutator).get(mutator, boxed.get(mutator)).map(|value| value.0);
                    assert_eq!(found, model.get(key).copied());
                    if number % 64 == 63 {
                        mutator.collect();
                    }
                }
                let mut keys: Vec<u64> = table.get(mutator).keys(mutator).map(|key| key.value).collect();
                keys.sort_unstable();
                assert!(keys.iter().eq(model.keys()) && table.get(mutator).len() == model.len());
                Ok::<(), OutOfMemory>(())
            }).unwrap().unwrap();
        }
    }
}
