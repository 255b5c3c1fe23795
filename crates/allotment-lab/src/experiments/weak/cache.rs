//! Two caches of weak references: in the heap, and outside the heap.

use allotment::{
    Array, Field, Gc, Local, Mutator, NewArray, NewSlots, Object, OutOfMemory, Slots, WeakField, WeakRoot,
    alloc, root,
};

/// A cached value.
#[derive(Object)]
pub(super) struct Value {
    pub(super) key: u64,
    /// How many times the value of this key has been made, this time included.
    pub(super) serial: u64,
    pub(super) payload: Field<Slots<u8>>,
}

/// Bytes of a value without its payload's elements: two headers, the fields, a length.
pub(super) const VALUE_BYTES: usize = 8 + size_of::<Value>() + 16;

/// Makes a value.
///
/// # Errors
/// The heap is full.
pub(super) fn make<'m>(
    mutator: &'m mut Mutator<'_>,
    key: u64,
    serial: u64,
    bytes: usize,
) -> Result<Gc<'m, Value>, OutOfMemory> {
    let payload = alloc!(mutator, NewSlots::new(bytes, serial as u8))?;
    alloc!(mutator, NewValue { key, serial, payload })
}

/// A cache that finds values by key, and keeps none of them alive.
pub(super) trait Cache {
    /// The value of a key, if it still exists.
    fn find<'g>(&self, mutator: &'g Mutator<'_>, key: usize) -> Option<Gc<'g, Value>>;

    /// Stores `value` under `key`.
    fn put(&mut self, mutator: &Mutator<'_>, key: usize, value: Gc<'_, Value>);
}

/// An entry in the heap.
#[derive(Object)]
pub(super) struct WeakEntry {
    value: WeakField<Value>,
}

/// Bytes of an entry, header included, and of the reference to it.
pub(super) const ENTRY_BYTES: usize = 8 + size_of::<WeakEntry>() + 8;

/// The table of entries.
pub(super) type Table = Array<Option<WeakEntry>>;

/// Entries that are objects.
pub(super) struct Fields<'r>(pub(super) Local<'r, Table>);

/// A table of `entries` entries without values.
///
/// # Errors
/// The heap is full.
pub(super) fn table<'m>(mutator: &'m mut Mutator<'_>, entries: usize) -> Result<Gc<'m, Table>, OutOfMemory> {
    root!(mutator, table = alloc!(mutator, NewArray::new(entries, None))?);
    for index in 0..entries {
        let entry = alloc!(mutator, NewWeakEntry { value: None })?;
        table.get(mutator).at(index).store(mutator, Some(entry));
    }
    Ok(table.get(mutator))
}

impl Cache for Fields<'_> {
    #[inline]
    fn find<'g>(&self, mutator: &'g Mutator<'_>, key: usize) -> Option<Gc<'g, Value>> {
        self.0.get(mutator).at(key).load(mutator)?.as_ref().value.load(mutator)
    }

    #[inline]
    fn put(&mut self, mutator: &Mutator<'_>, key: usize, value: Gc<'_, Value>) {
        if let Some(entry) = self.0.get(mutator).at(key).load(mutator) {
            entry.value.store(mutator, Some(value));
        }
    }
}

/// Entries that are roots.
pub(super) struct Roots(Vec<Option<WeakRoot<Value>>>);

impl Roots {
    /// `entries` entries without values.
    pub(super) fn new(entries: usize) -> Roots {
        Roots((0..entries).map(|_| None).collect())
    }
}

impl Cache for Roots {
    #[inline]
    fn find<'g>(&self, mutator: &'g Mutator<'_>, key: usize) -> Option<Gc<'g, Value>> {
        self.0[key].as_ref()?.get(mutator)
    }

    #[inline]
    fn put(&mut self, mutator: &Mutator<'_>, key: usize, value: Gc<'_, Value>) {
        self.0[key] = Some(WeakRoot::new(mutator, value));
    }
}
