//! The common part of both maps: entries in the order of insertion, and buckets with the numbers of
//! entries.
//!
//! ```text
//! buckets  | - | 2 | - | 0 | x | - | - | 3 |  numbers of entries; a power of two, at most 3/4 used
//! hashes   | 81 | 14 | 22 | 97 | ..           with them, growing calls no code of a user
//! keys     |  a |    |  c |  d | ..           1 was removed: x in the buckets, and holds nothing
//! values   |  A |    |  C |  D | ..
//! ```
//!
//! The design is that of the dictionaries of PyPy and CPython (Hettinger 2012, "More compact
//! dictionaries with faster iteration"). The order of iteration does not depend on hashes, and a
//! collector does not scan empty buckets. Triangular probing meets every bucket. Removed entries
//! are squeezed out in place if that makes enough room, else when the map grows. Nothing here
//! allocates: `table.rs` does.
//!
//! Refused:
//!
//! - An object for each entry: it costs a header and an indirection per entry.
//! - Keys and values in the buckets themselves: an iteration would follow the order of hashes and
//!   walk over empty buckets.

use allotment::{Array, Field, Gc, Maybe, Mutator, Plain, Slots, Word};

/// A bucket that never had an entry: a search ends there.
pub(super) const EMPTY: u32 = u32::MAX;

/// A bucket whose entry was removed: a search continues after it.
const REMOVED: u32 = u32::MAX - 1;

/// Fewest buckets.
const FEWEST: usize = 8;

/// Most entries. Their buckets are 2^32, and their numbers lie below [`REMOVED`].
const MOST: usize = 3 << 30;

/// The fields of a map.
pub(super) struct Entries<'a, K: Word, V: Word> {
    pub(super) buckets: &'a Field<Option<Slots<u32>>>,
    pub(super) hashes: &'a Field<Option<Slots<u32>>>,
    pub(super) keys: &'a Field<Option<Array<Maybe<K>>>>,
    pub(super) values: &'a Field<Option<Array<Maybe<V>>>>,
    /// Number of entries made, removed ones included.
    pub(super) made: &'a Plain<usize>,
    pub(super) len: &'a Plain<usize>,
}

/// The contents of the fields, for a span without a safepoint.
struct Arrays<'g, K: Word, V: Word> {
    buckets: &'g [Plain<u32>],
    hashes: &'g [Plain<u32>],
    keys: &'g [Field<Maybe<K>>],
    values: &'g [Field<Maybe<V>>],
}

/// The place where a search found an entry.
#[derive(Clone, Copy)]
pub(super) struct Found {
    bucket: usize,
    entry: usize,
}

/// The buckets that a search for a hash visits, each once.
fn probe(hash: u32, buckets: usize) -> impl Iterator<Item = usize> {
    let mask = buckets.wrapping_sub(1);
    let mut at = hash as usize & mask;
    (1..=buckets).map(move |step| {
        let bucket = at;
        at = (at + step) & mask;
        bucket
    })
}

/// The number of buckets for `entries` entries.
pub(super) fn buckets_for(entries: usize) -> usize {
    // No heap has room for a longer array.
    if entries > MOST { usize::MAX } else { (entries.div_ceil(3) * 4).next_power_of_two().max(FEWEST) }
}

/// The number of entries that this number of buckets allows.
pub(super) fn entries_in(buckets: usize) -> usize {
    buckets / 4 * 3
}

impl<'g, K: Word, V: Word> Arrays<'g, K, V> {
    /// The number of entries that the arrays have room for. The arrays have equal lengths unless
    /// another thread changes the map.
    fn capacity(&self) -> usize {
        self.hashes.len().min(self.keys.len()).min(self.values.len())
    }

    /// Whether the arrays belong together. Unsynchronised threads may leave arrays that do not.
    fn fit(&self) -> bool {
        let lengths = [self.hashes.len(), self.keys.len(), self.values.len()];
        lengths.iter().all(|length| *length == entries_in(self.buckets.len()))
    }

    /// The key of an entry that was not removed.
    fn key(&self, mu: &'g Mutator<'_>, entry: usize) -> Option<K::Of<'g>> {
        // A key without a place for its value counts as absent: its value could not be replaced.
        self.keys.get(entry).filter(|_| entry < self.values.len())?.load(mu).0
    }

    /// Whether some bucket is free.
    fn has_place(&self) -> bool {
        self.buckets.iter().any(|bucket| bucket.get() >= REMOVED)
    }

    /// Puts an entry's number into a free bucket. Returns whether there was one.
    fn place(&self, hash: u32, entry: usize) -> bool {
        let free = |at: &usize| self.buckets[*at].get() >= REMOVED;
        let bucket = probe(hash, self.buckets.len()).find(free);
        if let Some(at) = bucket {
            self.buckets[at].set(entry as u32);
        }
        bucket.is_some()
    }

    /// Makes an entry. Returns whether there was a bucket for it. Each array must have an element
    /// with the entry's number.
    fn put(&self, mu: &Mutator<'_>, entry: usize, hash: u32, key: K::Of<'_>, value: V::Of<'_>) -> bool {
        let placed = self.place(hash, entry);
        if placed {
            self.keys[entry].store(mu, Maybe(Some(key)));
            self.values[entry].store(mu, Maybe(Some(value)));
            self.hashes[entry].set(hash);
        }
        placed
    }

    /// Moves the entries of `from` that were not removed, at most `room`, to the front of these
    /// arrays, which may be the same arrays. Returns the number of entries moved. The buckets must
    /// be empty.
    fn adopt(&self, mu: &Mutator<'_>, from: &Arrays<'_, K, V>, made: usize, room: usize) -> usize {
        let mut to = 0;
        for entry in 0..made.min(from.capacity()) {
            let (key, value) = (from.keys[entry].load(mu), from.values[entry].load(mu));
            if key.0.is_none() || to == room {
                continue;
            }
            let hash = from.hashes[entry].get();
            self.keys[to].store(mu, key);
            self.values[to].store(mu, value);
            self.hashes[to].set(hash);
            self.place(hash, to);
            to += 1;
        }
        to
    }
}

impl<'a, K: Word, V: Word> Entries<'a, K, V> {
    fn arrays<'g>(&self, mu: &'g Mutator<'_>) -> Arrays<'g, K, V> {
        Arrays {
            buckets: self.buckets.load(mu).map_or(&[], Gc::as_ref),
            hashes: self.hashes.load(mu).map_or(&[], Gc::as_ref),
            keys: self.keys.load(mu).map_or(&[], Gc::as_ref),
            values: self.values.load(mu).map_or(&[], Gc::as_ref),
        }
    }

    /// The number of entries that fit into the present arrays.
    pub(super) fn capacity(&self, mu: &Mutator<'_>) -> usize {
        self.arrays(mu).capacity()
    }

    /// The entry with that hash whose key is `equal` to the given one. `equal` may be user code,
    /// which may change the map.
    pub(super) fn find<'g>(
        &self,
        mu: &'g Mutator<'_>,
        hash: u32,
        equal: impl Fn(K::Of<'g>) -> bool,
    ) -> Option<Found> {
        let arrays = self.arrays(mu);
        for bucket in probe(hash, arrays.buckets.len()) {
            match arrays.buckets[bucket].get() {
                EMPTY => return None,
                REMOVED => {}
                entry => {
                    let entry = entry as usize;
                    let same_hash = arrays.hashes.get(entry).is_some_and(|other| other.get() == hash);
                    if same_hash && arrays.key(mu, entry).is_some_and(&equal) {
                        return Some(Found { bucket, entry });
                    }
                }
            }
        }
        None
    }

    pub(super) fn value<'g>(&self, mu: &'g Mutator<'_>, at: Found) -> Option<V::Of<'g>> {
        self.arrays(mu).values.get(at.entry)?.load(mu).0
    }

    /// Replaces an entry's value. Returns whether the entry is still there.
    pub(super) fn set_value(&self, mu: &Mutator<'_>, at: Found, value: V::Of<'_>) -> bool {
        let arrays = self.arrays(mu);
        // The key decides whether the entry is there: unsynchronised threads may remove the value
        // alone.
        let there = arrays.key(mu, at.entry).is_some();
        if there {
            arrays.values[at.entry].store(mu, Maybe(Some(value)));
        }
        there
    }

    /// Adds an entry. Returns whether there was room.
    pub(super) fn append<'g>(
        &self,
        mu: &'g Mutator<'_>,
        hash: u32,
        key: K::Of<'g>,
        value: V::Of<'g>,
    ) -> bool {
        let arrays = self.arrays(mu);
        let entry = self.made.get();
        if entry >= arrays.capacity() || !arrays.put(mu, entry, hash, key, value) {
            return false;
        }
        self.made.set(entry + 1);
        self.len.set(self.len.get() + 1);
        true
    }

    /// Removes an entry. Returns its value if the entry was still there.
    pub(super) fn remove<'g>(&self, mu: &'g Mutator<'_>, at: Found) -> Option<V::Of<'g>> {
        let arrays = self.arrays(mu);
        let value = self.value(mu, at)?;
        arrays.buckets.get(at.bucket)?.set(REMOVED);
        arrays.keys.get(at.entry)?.store(mu, Maybe(None));
        arrays.values.get(at.entry)?.store(mu, Maybe(None));
        self.len.set(self.len.get().saturating_sub(1));
        Some(value)
    }

    /// Makes room for `additional` more entries in the present arrays. If that fails, returns
    /// `Some` with the number of entries that new arrays should have room for.
    pub(super) fn make_room(&self, mu: &Mutator<'_>, additional: usize) -> Option<usize> {
        let (arrays, made, len) = (self.arrays(mu), self.made.get(), self.len.get());
        let fit = arrays.fit();
        // Unsynchronised threads can fill the buckets and count fewer entries. All entries are then
        // put into the buckets anew.
        if fit && made.saturating_add(additional) <= arrays.capacity() && arrays.has_place() {
            return None;
        }
        // Squeezing costs as much as there are entries. It must gain a quarter of the room, so that
        // its cost per entry stays small.
        if fit && len.saturating_add(additional) <= arrays.capacity() / 4 * 3 {
            arrays.buckets.iter().for_each(|bucket| bucket.set(EMPTY));
            let left = arrays.adopt(mu, &arrays, made, arrays.capacity());
            arrays.keys[left..].iter().for_each(|slot| slot.store(mu, Maybe(None)));
            arrays.values[left..].iter().for_each(|slot| slot.store(mu, Maybe(None)));
            self.made.set(left);
            self.len.set(left);
            return None;
        }
        Some(self.wanted(additional))
    }

    /// The number of entries that new arrays should have room for, if `additional` more entries
    /// must fit.
    pub(super) fn wanted(&self, additional: usize) -> usize {
        // Unsynchronised threads may have counted entries that were never made.
        let len = self.len.get().min(self.made.get());
        len.saturating_add(additional).max(len.saturating_mul(2))
    }

    /// Moves the entries to other arrays, and adds `last`, which has a place there. The buckets
    /// must be [`EMPTY`], and no other thread may know the arrays.
    pub(super) fn move_to<'g>(
        &self,
        mu: &'g Mutator<'_>,
        buckets: Gc<'g, Slots<u32>>,
        hashes: Gc<'g, Slots<u32>>,
        keys: Gc<'g, Array<Maybe<K>>>,
        values: Gc<'g, Array<Maybe<V>>>,
        last: Option<(u32, K::Of<'g>, V::Of<'g>)>,
    ) {
        let new = Arrays {
            buckets: buckets.as_ref(),
            hashes: hashes.as_ref(),
            keys: keys.as_ref(),
            values: values.as_ref(),
        };
        let room = new.capacity().saturating_sub(last.is_some().into());
        let mut left = new.adopt(mu, &self.arrays(mu), self.made.get(), room);
        if let Some((hash, key, value)) = last {
            left += usize::from(new.put(mu, left, hash, key, value));
        }
        self.buckets.store(mu, Some(buckets));
        self.hashes.store(mu, Some(hashes));
        self.keys.store(mu, Some(keys));
        self.values.store(mu, Some(values));
        self.made.set(left);
        self.len.set(left);
    }

    pub(super) fn clear(&self, mu: &Mutator<'_>) {
        self.len.set(0);
        self.made.set(0);
        self.buckets.store(mu, None);
        self.hashes.store(mu, None);
        self.keys.store(mu, None);
        self.values.store(mu, None);
    }

    pub(super) fn iter<'g, 't>(
        &self,
        mu: &'g Mutator<'t>,
    ) -> impl DoubleEndedIterator<Item = (K::Of<'g>, V::Of<'g>)> + use<'g, 't, K, V> {
        let arrays = self.arrays(mu);
        let made = self.made.get().min(arrays.capacity());
        let entries = arrays.keys[..made].iter().zip(&arrays.values[..made]);
        entries.filter_map(move |(key, value)| key.load(mu).0.zip(value.load(mu).0))
    }
}
