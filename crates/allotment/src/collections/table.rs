//! Maps as objects of the heap: the rule by which a map searches for a key, and the operations that
//! may allocate.
//!
//! A safepoint moves the map and its arrays. So an allocating operation holds the map as a
//! [`Local`] and loads its entries again after the safepoint.

use super::entries::{EMPTY, Entries, Found, buckets_for, entries_in};
use allotment::{Local, Maybe, Mutator, NewArray, NewSlots, Object, OutOfMemory, Word, alloc};

/// The rule by which a map searches for a key.
pub(super) trait Lookup {
    type Key: Word;

    /// The hash of a key; equal keys have the same hash.
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

    /// The hash of a key, and the entry with that key.
    fn find<'g>(&self, mu: &'g Mutator<'_>, key: <Self::Key as Word>::Of<'g>) -> (u32, Option<Found>) {
        let hash = self.hash(mu, key);
        (hash, self.entries().find(mu, hash, |other| Self::equal(mu, key, other)))
    }
}

/// An entry that has no place yet: its hash, its key, its value.
type Entry<'f, T> = (u32, Local<'f, <T as Lookup>::Key>, Local<'f, <T as Table>::Value>);

/// Makes room for `additional` more entries.
pub(super) fn reserve<T: Table>(
    mu: &mut Mutator<'_>,
    map: Local<'_, T>,
    additional: usize,
) -> Result<(), OutOfMemory> {
    mu.safepoint();
    match map.get(mu).as_ref().entries().make_room(mu, additional) {
        Some(wanted) => grow(mu, map, wanted, None),
        None => Ok(()),
    }
}

/// Gives the map arrays for `wanted` entries, at least 1, and moves the entries there. `last` is
/// added before another thread knows of the arrays, so it always finds a place.
fn grow<T: Table>(
    mu: &mut Mutator<'_>,
    map: Local<'_, T>,
    wanted: usize,
    last: Option<Entry<'_, T>>,
) -> Result<(), OutOfMemory> {
    let buckets = buckets_for(wanted);
    let capacity = entries_in(buckets);
    let mut buckets = alloc!(mu, NewSlots::new(buckets, EMPTY))?;
    let mut hashes = alloc!(mu, [buckets] => NewSlots::new(capacity, 0_u32))?;
    let mut keys = alloc!(mu, [buckets, hashes] => NewArray::<Maybe<T::Key>>::new(capacity, Maybe(None)))?;
    let values =
        alloc!(mu, [buckets, hashes, keys] => NewArray::<Maybe<T::Value>>::new(capacity, Maybe(None)))?;
    let last = last.map(|(hash, key, value)| (hash, key.get(mu), value.get(mu)));
    map.get(mu).as_ref().entries().move_to(mu, buckets, hashes, keys, values, last);
    Ok(())
}

/// Adds an entry or replaces its value.
///
/// The operation ends, whatever a key's hash and equality and other threads do to the map. The key
/// is hashed once and searched for at most twice. The second search is needed because the map may
/// have got the key at the safepoint at which it grew. After that no user code runs, and other
/// threads do not know the new arrays, so they cannot affect them.
pub(super) fn insert<T: Table>(
    mu: &mut Mutator<'_>,
    map: Local<'_, T>,
    key: Local<'_, T::Key>,
    value: Local<'_, T::Value>,
) -> Result<(), OutOfMemory> {
    let hash = map.get(mu).as_ref().hash(mu, key.get(mu));
    if replace_or_append(mu, map, hash, key, value) {
        return Ok(());
    }
    reserve(mu, map, 1)?;
    if replace_or_append(mu, map, hash, key, value) {
        return Ok(());
    }
    let wanted = map.get(mu).as_ref().entries().wanted(1);
    grow(mu, map, wanted, Some((hash, key, value)))
}

/// Replaces the value of an equal key, or appends an entry. Returns whether the map has the entry
/// now.
fn replace_or_append<T: Table>(
    mu: &Mutator<'_>,
    map: Local<'_, T>,
    hash: u32,
    key: Local<'_, T::Key>,
    value: Local<'_, T::Value>,
) -> bool {
    let this = map.get(mu);
    let (entries, key) = (this.as_ref().entries(), key.get(mu));
    match entries.find(mu, hash, |other| T::equal(mu, key, other)) {
        // User code for equality may have removed the entry.
        Some(found) if entries.set_value(mu, found, value.get(mu)) => true,
        _ => entries.append(mu, hash, key, value.get(mu)),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::NewMap;
    use super::*;
    use crate::{Heap, OutOfMemory, Unboxed, root};

    type Numbers<'a> = Entries<'a, Unboxed<u32>, Unboxed<u32>>;

    /// Regression: an insertion into a map that unsynchronised threads had damaged never ended.
    #[test]
    fn insertions_end_whatever_other_threads_left() {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        heap.attach(|mu| {
            for damage in 0..6 {
                root!(mu, map = alloc!(mu, NewMap::<Unboxed<u32>, Unboxed<u32>>::new())?);
                for number in 0..5 {
                    root!(mu, number = Unboxed(number));
                    insert(mu, map, number, number)?;
                }
                root!(mu, buckets = alloc!(mu, NewSlots::new(4, 7_u32))?);
                root!(mu, hashes = alloc!(mu, NewSlots::new(4, 0_u32))?);
                root!(mu, values = alloc!(mu, NewArray::<Maybe<Unboxed<u32>>>::new(1, Maybe(None)))?);
                let this = map.get(mu);
                let entries: Numbers<'_> = this.as_ref().entries();
                let whole = "an array of five entries";
                match damage {
                    // Full of numbers, without entries for them.
                    0 => entries
                        .buckets
                        .load(mu)
                        .expect(whole)
                        .as_ref()
                        .iter()
                        .for_each(|bucket| bucket.set(7)),
                    // Too few, and full; too few, and empty.
                    1 => entries.buckets.store(mu, Some(buckets.get(mu))),
                    2 => {
                        buckets.get(mu).as_ref().iter().for_each(|bucket| bucket.set(EMPTY));
                        entries.buckets.store(mu, Some(buckets.get(mu)));
                    }
                    // A key without its value; without a place for it.
                    3 => entries.values.load(mu).expect(whole)[2].store(mu, Maybe(None)),
                    4 => entries.values.store(mu, Some(values.get(mu))),
                    _ => entries.hashes.store(mu, Some(hashes.get(mu))),
                }
                for number in 0..20 {
                    root!(mu, number = Unboxed(number));
                    insert(mu, map, number, number)?;
                    assert_eq!(map.get(mu).get(mu, number.get(mu)), Some(number.get(mu)), "damage {damage}");
                }
            }
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
        heap.verify().unwrap();
    }
}
