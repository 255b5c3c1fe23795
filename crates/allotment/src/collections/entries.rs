//! What both maps are made of: entries in the order of insertion, and buckets with their numbers.
//!
//! ```text
//! buckets  | - | 2 | - | 0 | x | - | - | 3 |    numbers of entries; a power of two, at most 3/4 used
//! hashes   | 81 | 14 | 22 | 97 | ..             with them, growing calls no code of a user
//! keys     |  a |    |  c |  d | ..             1 was removed: x in the buckets, and holds nothing
//! values   |  A |    |  C |  D | ..
//! ```
//!
//! As the dictionaries of PyPy and CPython (Hettinger 2012, "More compact dictionaries with faster iteration"): an iteration
//! does not depend on hashes, and empty buckets are nothing that a collector looks at. Triangular probing, which meets every
//! bucket. Removed entries are squeezed out in place where that makes room, else when the map grows. Nothing here allocates:
//! `table.rs` does.
//!
//! Refused: an object for each entry (a header and a hop each); keys and values in the buckets themselves (an iteration in the
//! order of hashes, over empty ones).

use allotment::{Array, Field, Gc, Maybe, Mutator, Plain, Slots, Word};

/// A bucket that no entry was put in: a search ends.
pub(super) const EMPTY: u32 = u32::MAX;

/// A bucket whose entry was removed: a search goes on.
const REMOVED: u32 = u32::MAX - 1;

/// Fewest buckets.
const FEWEST: usize = 8;

/// Most entries: their buckets are 2^32, and their numbers lie below [`REMOVED`].
const MOST: usize = 3 << 30;

/// The fields of a map.
pub(super) struct Entries<'a, K: Word, V: Word> {
    pub(super) buckets: &'a Field<Option<Slots<u32>>>,
    pub(super) hashes: &'a Field<Option<Slots<u32>>>,
    pub(super) keys: &'a Field<Option<Array<Maybe<K>>>>,
    pub(super) values: &'a Field<Option<Array<Maybe<V>>>>,
    /// Entries made, with those that were removed.
    pub(super) made: &'a Plain<usize>,
    pub(super) len: &'a Plain<usize>,
}

/// What the fields hold, for a span.
struct Arrays<'g, K: Word, V: Word> {
    buckets: &'g [Plain<u32>],
    hashes: &'g [Plain<u32>],
    keys: &'g [Field<Maybe<K>>],
    values: &'g [Field<Maybe<V>>],
}

/// Where an entry was found.
#[derive(Clone, Copy)]
pub(super) struct Found {
    bucket: usize,
    entry: usize,
}

/// The buckets that a hash is looked for in, each once.
fn probe(hash: u32, buckets: usize) -> impl Iterator<Item = usize> {
    let mask = buckets.wrapping_sub(1);
    let mut at = hash as usize & mask;
    (1..=buckets).map(move |step| {
        let bucket = at;
        at = (at + step) & mask;
        bucket
    })
}

/// Buckets for as many entries, and for how many they are enough.
pub(super) fn geometry(entries: usize) -> (usize, usize) {
    // No heap has room for what is longer than that.
    if entries > MOST {
        return (usize::MAX, 0);
    }
    let buckets = (entries.div_ceil(3) * 4).next_power_of_two().max(FEWEST);
    (buckets, buckets / 4 * 3)
}

impl<'g, K: Word, V: Word> Arrays<'g, K, V> {
    /// Entries there is room for. The arrays are as long as each other unless another thread changes the map.
    fn capacity(&self) -> usize {
        self.hashes.len().min(self.keys.len()).min(self.values.len())
    }

    /// Whether they belong together. Threads that take no turns may leave such as do not.
    fn fit(&self) -> bool {
        let lengths = [self.hashes.len(), self.keys.len(), self.values.len()];
        lengths.iter().all(|length| *length == self.buckets.len() / 4 * 3)
    }

    /// The key of an entry that was not removed.
    fn key(&self, mu: &'g Mutator<'_>, entry: usize) -> Option<K::Of<'g>> {
        // One without a place for its value is none: it could not be replaced.
        self.keys.get(entry).filter(|_| entry < self.values.len())?.load(mu).0
    }

    /// Whether some bucket is free.
    fn has_place(&self) -> bool {
        self.buckets.iter().any(|bucket| bucket.get() >= REMOVED)
    }

    /// Puts an entry's number into a bucket; whether there was one.
    fn place(&self, hash: u32, entry: usize) -> bool {
        let free = |at: &usize| self.buckets[*at].get() >= REMOVED;
        let bucket = probe(hash, self.buckets.len()).find(free);
        if let Some(at) = bucket {
            self.buckets[at].set(entry as u32);
        }
        bucket.is_some()
    }

    /// Makes an entry; whether there was a bucket for it. There is an element of that number in each array.
    fn put(&self, mu: &Mutator<'_>, entry: usize, hash: u32, key: K::Of<'_>, value: V::Of<'_>) -> bool {
        let placed = self.place(hash, entry);
        if placed {
            self.keys[entry].store(mu, Maybe(Some(key)));
            self.values[entry].store(mu, Maybe(Some(value)));
            self.hashes[entry].set(hash);
        }
        placed
    }

    /// Moves the entries of `from` that were not removed, at most `room`, to the front of these arrays, which may be the same;
    /// how many there are. The buckets must be empty.
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

    /// How many entries there can be without other arrays.
    pub(super) fn capacity(&self, mu: &Mutator<'_>) -> usize {
        self.arrays(mu).capacity()
    }

    /// The entry with that hash whose key is the one. `equal` may be code of a user, which may change the map.
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

    /// Replaces an entry's value; whether it is still there.
    pub(super) fn set_value(&self, mu: &Mutator<'_>, at: Found, value: V::Of<'_>) -> bool {
        let arrays = self.arrays(mu);
        // Its key says so: the value alone may be gone where threads take no turns.
        let there = arrays.key(mu, at.entry).is_some();
        if there {
            arrays.values[at.entry].store(mu, Maybe(Some(value)));
        }
        there
    }

    /// Adds an entry; whether there was room.
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

    /// Removes an entry; its value, if it was still there.
    pub(super) fn remove<'g>(&self, mu: &'g Mutator<'_>, at: Found) -> Option<V::Of<'g>> {
        let arrays = self.arrays(mu);
        let value = self.value(mu, at)?;
        arrays.buckets.get(at.bucket)?.set(REMOVED);
        arrays.keys.get(at.entry)?.store(mu, Maybe(None));
        arrays.values.get(at.entry)?.store(mu, Maybe(None));
        self.len.set(self.len.get().saturating_sub(1));
        Some(value)
    }

    /// Makes room for `additional` more entries in the arrays that are there. `Some`: for how many new ones should have room.
    pub(super) fn make_room(&self, mu: &Mutator<'_>, additional: usize) -> Option<usize> {
        let (arrays, made, len) = (self.arrays(mu), self.made.get(), self.len.get());
        let fit = arrays.fit();
        // Threads that take no turns can fill the buckets and count fewer entries: then all are put into them anew.
        if fit && made.saturating_add(additional) <= arrays.capacity() && arrays.has_place() {
            return None;
        }
        // Squeezing costs as much as there is; a quarter of it must be won for that to be little for each.
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

    /// For how many entries new arrays should have room, if there must be room for `additional` more.
    pub(super) fn wanted(&self, additional: usize) -> usize {
        // Threads that take no turns may have counted entries that were never made.
        let len = self.len.get().min(self.made.get());
        len.saturating_add(additional).max(len.saturating_mul(2))
    }

    /// Moves the entries to other arrays, and adds `last`, which has a place there. The buckets must be [`EMPTY`], and nobody
    /// else may know the arrays.
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
