//! Interned strings: one object for each text, so that equal texts are the same object.
//!
//! The table is weak: it does not keep a text alive. An entry is an object with a weak slot, and
//! entries are chained. When the table is full, it drops the entries whose text died.
//!
//! Refused: an array of weak slots. The collector would empty the slots of an open-addressing table
//! during a search.

use allotment::{
    Array, Field, Gc, Local, Mutator, NewArray, NewStr, Object, OutOfMemory, Plain, Str, WeakField, alloc,
    ret,
};
use std::hash::{BuildHasher, RandomState};

/// Buckets of the first array.
const FIRST: usize = 16;

#[derive(Object)]
struct Entry {
    text: WeakField<Str>,
    next: Field<Option<Self>>,
    hash: u64,
}

/// A table of texts in the heap. It holds each text once, as long as another reference to the text
/// exists.
///
/// ```
/// use allotment::{Heap, Interner, NewInterner, NewStr, OutOfMemory, alloc, pass, rebind, root};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     root!(mu, names = alloc!(mu, NewInterner::new())?);
///     root!(mu, one = Interner::intern(mu, names, "lambda")?);
///     let text = alloc!(mu, NewStr::from("lambda"))?;
///     let other = pass!(Interner::unify(mu, names, =text)?);
///     assert_eq!(other, one.get(mu));
///     let third = rebind!(Interner::intern(mu, names, "define")?);
///     assert_ne!(third, one.get(mu));
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
#[derive(Object)]
pub struct Interner {
    buckets: Field<Option<Array<Option<Entry>>>>,
    /// Entries, including those whose text died and that were not dropped yet.
    entries: Plain<usize>,
    hasher: RandomState,
}

impl NewInterner<'_> {
    /// An empty table, which has no room for entries yet.
    ///
    /// ```
    /// # use allotment::{Heap, NewInterner, OutOfMemory, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, names = alloc!(mu, NewInterner::new())?);
    /// assert_eq!(names.get(mu).count(mu), 0);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        NewInterner { buckets: None, entries: Plain::new(0), hasher: RandomState::new() }
    }
}

impl Default for NewInterner<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl Interner {
    /// The one object with this text. If there is none, the call makes it. A safepoint.
    ///
    /// ```
    /// # use allotment::{Heap, Interner, NewInterner, OutOfMemory, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, names = alloc!(mu, NewInterner::new())?);
    /// root!(mu, one = Interner::intern(mu, names, "lambda")?);
    /// root!(mu, other = Interner::intern(mu, names, "lambda")?);
    /// assert_eq!(one.get(mu), other.get(mu));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OutOfMemory`] if there is no memory for a new object. The table is then unchanged.
    pub fn intern<'m>(
        mu: &'m mut Mutator<'_>,
        interner: Local<'_, Self>,
        text: &str,
    ) -> Result<Gc<'m, Str>, OutOfMemory> {
        mu.safepoint();
        if let Some(known) = interner.get(mu).get(mu, text) {
            ret!(mu, Ok(known));
        }
        allotment::root!(mu, new = alloc!(mu, NewStr::from(text))?);
        Self::add(mu, interner, new)
    }

    /// The one object with the text of `text`. If there is none, the table adopts `text` itself. A
    /// safepoint.
    ///
    /// ```
    /// # use allotment::{Heap, Interner, NewInterner, NewStr, OutOfMemory, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, names = alloc!(mu, NewInterner::new())?);
    /// root!(mu, text = alloc!(mu, NewStr::from("lambda"))?);
    /// root!(mu, one = Interner::unify(mu, names, text)?);
    /// assert_eq!(one.get(mu), text.get(mu));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OutOfMemory`] if there is no memory for a new entry. The table is then unchanged.
    pub fn unify<'m>(
        mu: &'m mut Mutator<'_>,
        interner: Local<'_, Self>,
        text: Local<'_, Str>,
    ) -> Result<Gc<'m, Str>, OutOfMemory> {
        mu.safepoint();
        if let Some(known) = interner.get(mu).get(mu, text.get(mu).as_ref()) {
            ret!(mu, Ok(known));
        }
        Self::add(mu, interner, text)
    }

    /// The one object with this text, if there is one.
    ///
    /// ```
    /// # use allotment::{Heap, Interner, NewInterner, OutOfMemory, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, names = alloc!(mu, NewInterner::new())?);
    /// assert!(names.get(mu).get(mu, "lambda").is_none());
    /// root!(mu, name = Interner::intern(mu, names, "lambda")?);
    /// assert_eq!(names.get(mu).get(mu, "lambda"), Some(name.get(mu)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get<'g>(&self, mu: &'g Mutator<'_>, text: &str) -> Option<Gc<'g, Str>> {
        let hash = self.hasher.hash_one(text);
        let buckets = self.buckets.load(mu)?;
        let entries = self.chain(mu, buckets[bucket(hash, buckets.len())].load(mu));
        let mut texts = entries.filter(|entry| entry.hash == hash).filter_map(|entry| entry.text.load(mu));
        texts.find(|known| **known == *text)
    }

    /// The number of texts in the table. Walks the table.
    ///
    /// ```
    /// # use allotment::{Heap, Interner, NewInterner, OutOfMemory, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, names = alloc!(mu, NewInterner::new())?);
    /// root!(mu, _kept = Interner::intern(mu, names, "lambda")?);
    /// Interner::intern(mu, names, "define")?;
    /// assert_eq!(names.get(mu).count(mu), 2);
    /// mu.collect(); // no reference leads to "define"
    /// assert_eq!(names.get(mu).count(mu), 1);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn count(&self, mu: &Mutator<'_>) -> usize {
        let live = |entry: &Gc<'_, Entry>| entry.text.is_live(mu);
        self.buckets.load(mu).map_or(0, |buckets| {
            let first = buckets.iter(mu);
            first.map(|first| self.chain(mu, first).filter(live).count()).sum()
        })
    }

    /// The entries from `first` on, as an iterator that ends. It meets all entries of a ring that
    /// does not change, see [`chain`]. Unsynchronised threads can also lead a walk from chain to
    /// chain without end. So the walk ends after four times as many entries as the table may have,
    /// whatever these threads do. Their count of entries may then be a little too low, so the
    /// buckets count too.
    fn chain<'g>(
        &self,
        mu: &'g Mutator<'_>,
        first: Option<Gc<'g, Entry>>,
    ) -> impl Iterator<Item = Gc<'g, Entry>> + use<'g> {
        let buckets = self.buckets.load(mu).map_or(0, |buckets| buckets.len());
        let most = self.entries.get().saturating_add(buckets).saturating_mul(4);
        chain(mu, first).take(most)
    }

    /// Adds a text that was not in the table.
    fn add<'m>(
        mu: &'m mut Mutator<'_>,
        interner: Local<'_, Self>,
        text: Local<'_, Str>,
    ) -> Result<Gc<'m, Str>, OutOfMemory> {
        Self::make_room(mu, interner)?;
        let hash = interner.get(mu).hasher.hash_one(text.get(mu).as_ref());
        let entry = alloc!(mu, NewEntry { text: Some(text.get(mu)), next: None, hash })?;
        let this = interner.get(mu);
        // Only a table that another thread changes meanwhile has no buckets here.
        if let Some(buckets) = this.buckets.load(mu) {
            link(mu, buckets, entry);
            this.entries.set(this.entries.get() + 1);
        }
        Ok(text.get(mu))
    }

    /// Ensures that there are no more entries than buckets.
    fn make_room(mu: &mut Mutator<'_>, interner: Local<'_, Self>) -> Result<(), OutOfMemory> {
        let this = interner.get(mu);
        let length = this.buckets.load(mu).map_or(0, |buckets| buckets.len());
        if this.entries.get() < length {
            return Ok(());
        }
        this.drop_dead(mu);
        // The walk must gain a quarter of the entries, so that its cost per entry stays small.
        if this.entries.get() < length / 4 * 3 {
            return Ok(());
        }
        let larger = length.saturating_mul(2).max(FIRST);
        let buckets = alloc!(mu, NewArray::<Option<Entry>>::new(larger, None))?;
        let this = interner.get(mu);
        if let Some(old) = this.buckets.load(mu) {
            for first in old.iter(mu) {
                for entry in this.chain(mu, first) {
                    link(mu, buckets, entry);
                }
            }
        }
        this.buckets.store(mu, Some(buckets));
        Ok(())
    }

    /// Drops the entries whose text died.
    fn drop_dead(&self, mu: &Mutator<'_>) {
        let Some(buckets) = self.buckets.load(mu) else { return };
        let mut left = 0;
        for slot in buckets.as_ref() {
            let entries = self.chain(mu, slot.load(mu));
            slot.store(mu, None);
            for entry in entries.filter(|entry| entry.text.is_live(mu)) {
                entry.next.store(mu, slot.load(mu));
                slot.store(mu, Some(entry));
                left += 1;
            }
        }
        self.entries.set(left);
    }
}

/// The bucket of a hash; `length` is not 0.
fn bucket(hash: u64, length: usize) -> usize {
    hash as usize & (length - 1)
}

/// The entries from `first` on. The caller may link each elsewhere after meeting it. Unsynchronised
/// threads can tie a ring: the walk then meets all of it, some entries twice, and ends (Brent, An
/// Improved Monte Carlo Factorization Algorithm, 1980, section 2).
fn chain<'g>(
    mu: &'g Mutator<'_>,
    first: Option<Gc<'g, Entry>>,
) -> impl Iterator<Item = Gc<'g, Entry>> + use<'g> {
    let (mut next, mut met) = (first, first);
    let (mut steps, mut most) = (0_usize, 1_usize);
    std::iter::from_fn(move || {
        let entry = next?;
        next = entry.next.load(mu).filter(|next| Some(*next) != met);
        steps += 1;
        if steps == most {
            (met, steps, most) = (next, 0, most * 2);
        }
        Some(entry)
    })
}

fn link(mu: &Mutator<'_>, buckets: Gc<'_, Array<Option<Entry>>>, entry: Gc<'_, Entry>) {
    let slot = &buckets[bucket(entry.hash, buckets.len())];
    entry.next.store(mu, slot.load(mu));
    slot.store(mu, Some(entry));
}

#[cfg(test)]
mod tests {
    use super::{Interner, NewInterner, chain};
    use allotment::{Heap, List, Mutator, NewList, alloc, root};

    /// Threads that take no turns did, and a look-up went round and round.
    #[test]
    fn a_ring_of_entries_ends_a_walk() {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        let walk = |mu: &mut Mutator<'_>| {
            for (length, back) in (1..20_usize).flat_map(|length| (0..length).map(move |back| (length, back)))
            {
                root!(mu, table = alloc!(mu, NewInterner::new()).unwrap());
                let names: Vec<_> = (0..length).map(|number| number.to_string()).collect();
                root!(mu, texts = alloc!(mu, NewList::new()).unwrap());
                for name in &names {
                    root!(mu, text = Interner::intern(mu, table, name).unwrap());
                    List::push(mu, texts, text).unwrap();
                }
                // All entries in one chain. The last entry is tied to the one `back` from the
                // first, and every bucket leads there.
                let buckets = table.get(mu).buckets.load(mu).unwrap();
                let all: Vec<_> = buckets.iter(mu).flat_map(|first| chain(mu, first)).collect();
                for (entry, next) in all.iter().zip(all.iter().skip(1).chain([&all[back]])) {
                    entry.next.store(mu, Some(*next));
                }
                buckets.as_ref().iter().for_each(|slot| slot.store(mu, Some(all[0])));
                assert!((length..=4 * length).contains(&chain(mu, Some(all[0])).count()), "{length}, {back}");
                assert!(names.iter().all(|name| table.get(mu).get(mu, name).is_some()));
                assert!(table.get(mu).get(mu, "none").is_none());
                // The operations that add, grow and drop must end on it, too.
                for number in 100..140 {
                    Interner::intern(mu, table, &number.to_string()).unwrap();
                }
                assert!(table.get(mu).get(mu, "139").is_some());
            }
        };
        heap.attach(walk).unwrap();
        heap.verify().unwrap();
    }

    /// Unsynchronised threads count too few entries, and a walk has no more steps than the count
    /// allows.
    #[test]
    fn a_count_that_is_too_low_hides_no_text() {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        let body = |mu: &mut Mutator<'_>| {
            root!(mu, table = alloc!(mu, NewInterner::new()).unwrap());
            root!(mu, texts = alloc!(mu, NewList::new()).unwrap());
            for number in 0..16 {
                root!(mu, text = Interner::intern(mu, table, &number.to_string()).unwrap());
                List::push(mu, texts, text).unwrap();
            }
            table.get(mu).entries.set(0);
            assert!((0..16).all(|number| table.get(mu).get(mu, &number.to_string()).is_some()));
            assert_eq!(table.get(mu).count(mu), 16);
        };
        heap.attach(body).unwrap();
    }
}
