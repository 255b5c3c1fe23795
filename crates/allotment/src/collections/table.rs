//! Maps as objects of the heap: the rule by which one looks for a key, and the operations that may allocate.
//!
//! A safepoint moves the map and its arrays, so what allocates holds the map as a [`Local`] and asks it for its entries again
//! afterwards.

use super::entries::{EMPTY, Entries, Found, geometry};
use allotment::{Local, Maybe, Mutator, NewArray, NewSlots, Object, OutOfMemory, Word, alloc};

/// How a map looks for a key.
pub(super) trait Lookup {
    type Key: Word;

    /// What equal keys have in common.
    fn hash<'g>(&self, mu: &'g Mutator<'_>, key: <Self::Key as Word>::Of<'g>) -> u32;

    /// Whether two keys with that hash are the same.
    fn equal<'g>(
        mu: &'g Mutator<'_>,
        one: <Self::Key as Word>::Of<'g>,
        other: <Self::Key as Word>::Of<'g>,
    ) -> bool;
}

/// An object that is a map.
pub(super) trait Table: Lookup + Object<View = Self> + Sized {
    type Value: Word;

    fn entries(&self) -> Entries<'_, Self::Key, Self::Value>;

    /// The hash of a key, and the entry that has it.
    fn find<'g>(&self, mu: &'g Mutator<'_>, key: <Self::Key as Word>::Of<'g>) -> (u32, Option<Found>) {
        let hash = self.hash(mu, key);
        (hash, self.entries().find(mu, hash, |other| Self::equal(mu, key, other)))
    }
}

/// Makes room for `additional` more entries.
pub(super) fn reserve<T: Table>(
    mu: &mut Mutator<'_>,
    map: Local<'_, T>,
    additional: usize,
) -> Result<(), OutOfMemory> {
    let Some(wanted) = map.get(mu).as_ref().entries().make_room(mu, additional) else { return Ok(()) };
    let (buckets, capacity) = geometry(wanted);
    let mut buckets = alloc!(mu, NewSlots::new(buckets, EMPTY))?;
    let mut hashes = alloc!(mu, [buckets] => NewSlots::new(capacity, 0_u32))?;
    let mut keys = alloc!(mu, [buckets, hashes] => NewArray::<Maybe<T::Key>>::new(capacity, Maybe(None)))?;
    let values =
        alloc!(mu, [buckets, hashes, keys] => NewArray::<Maybe<T::Value>>::new(capacity, Maybe(None)))?;
    map.get(mu).as_ref().entries().move_to(mu, buckets, hashes, keys, values);
    Ok(())
}

/// Adds an entry or replaces its value. The key is looked for again after a safepoint at which the map grew.
pub(super) fn insert<T: Table>(
    mu: &mut Mutator<'_>,
    map: Local<'_, T>,
    key: Local<'_, T::Key>,
    value: Local<'_, T::Value>,
) -> Result<(), OutOfMemory> {
    loop {
        let this = map.get(mu);
        let entries = this.as_ref().entries();
        let (hash, found) = this.as_ref().find(mu, key.get(mu));
        let done = match found {
            Some(found) => entries.set_value(mu, found, value.get(mu)),
            None => entries.append(mu, hash, key.get(mu), value.get(mu)),
        };
        if done {
            return Ok(());
        }
        reserve(mu, map, 1)?;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::NewMap;
    use super::*;
    use crate::{Heap, Unboxed, root};

    /// Regression: an insertion into a map whose buckets other threads had filled, without entries for them, never ended.
    #[test]
    fn buckets_without_entries_are_made_anew() {
        let heap = Heap::builder().max_heap_size(4 << 20).build().unwrap();
        heap.attach(|mu| {
            root!(mu, map = alloc!(mu, NewMap::<Unboxed<u32>, Unboxed<u32>>::new())?);
            root!(mu, one = Unboxed(1_u32));
            root!(mu, two = Unboxed(2_u32));
            insert(mu, map, one, one)?;
            let entries = map.get(mu).as_ref().entries();
            let buckets = entries.buckets.load(mu).expect("the map has entries");
            buckets.as_ref().iter().for_each(|bucket| bucket.set(7));
            insert(mu, map, two, two)?;
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
    }
}
