//! A growable array.
//!
//! A list is an object that holds an array. A larger array replaces a full one, so the list keeps
//! its identity. The unused elements of the array hold nothing, and a removed element is cleared in
//! the array.

use allotment::{
    Array, Field, Gc, Local, Maybe, Mutator, NewArray, Object, OutOfMemory, Plain, Word, alloc, root,
};

/// Elements of the first array.
const FIRST: usize = 4;

/// A growable array of words of kind `W`, in the heap.
///
/// `Gc<List<W>>` has `get`, `set`, `pop` and the other functions that allocate nothing.
/// [`push`](Self::push), [`insert`](Self::insert) and [`reserve`](Self::reserve) are functions on a
/// [`Local`].
///
/// ```
/// use allotment::{Heap, List, NewList, NewStr, OutOfMemory, Str, alloc, pass, root};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     root!(mu, words = alloc!(mu, NewList::<Str>::new())?);
///     for word in ["so", "it", "goes"] {
///         let word = alloc!(mu, NewStr::from(word))?;
///         pass!(List::push(mu, words, =word)?);
///     }
///     let words = words.get(mu);
///     assert_eq!(words.get(mu, 2).as_deref(), Some("goes"));
///     assert_eq!(words.iter(mu).map(|word| word.len()).sum::<usize>(), 8);
///     assert_eq!(words.remove(mu, 0).as_deref(), Some("so"));
///     assert_eq!(words.pop(mu).as_deref(), Some("goes"));
///     assert_eq!(words.len(), 1);
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
#[derive(Object)]
pub struct List<W: Word> {
    items: Field<Option<Array<Maybe<W>>>>,
    len: Plain<usize>,
}

impl<W: Word> NewList<'_, W> {
    /// An empty list, without an array yet.
    ///
    /// ```
    /// # use allotment::{Heap, NewList, OutOfMemory, Str, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::<Str>::new())?);
    /// assert!(list.get(mu).is_empty());
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        NewList { items: None, len: Plain::new(0) }
    }
}

impl<W: Word> Default for NewList<'_, W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: Word> List<W> {
    /// A list with room for `capacity` elements. A safepoint.
    ///
    /// ```
    /// # use allotment::{Heap, List, OutOfMemory, Unboxed, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = List::<Unboxed<u32>>::with_capacity(mu, 100)?);
    /// assert_eq!((list.get(mu).len(), list.get(mu).capacity(mu)), (0, 100));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OutOfMemory`] if there is no memory for the list.
    pub fn with_capacity<'m>(
        mu: &'m mut Mutator<'_>,
        capacity: usize,
    ) -> Result<Gc<'m, List<W>>, OutOfMemory> {
        let items = match capacity {
            0 => None,
            _ => Some(alloc!(mu, NewArray::<Maybe<W>>::new(capacity, Maybe(None)))?),
        };
        alloc!(mu, NewList { items, len: Plain::new(0) })
    }

    /// Adds `value` at the end. A safepoint if the list is full.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// root!(mu, seven = Unboxed(7));
    /// List::push(mu, list, seven)?;
    /// pass!(List::push(mu, list, =Unboxed(8))?);
    /// assert!(list.get(mu).iter(mu).eq([7, 8].map(Unboxed)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OutOfMemory`] if the list cannot grow. The list is then unchanged.
    pub fn push(mu: &mut Mutator<'_>, list: Local<'_, Self>, value: Local<'_, W>) -> Result<(), OutOfMemory> {
        Self::insert_or_grow(mu, list, None, value).map(|_| ())
    }

    /// Inserts `value` before the element at `index`, or at the end. Returns `false` if the list is
    /// shorter than `index`. A safepoint if the list is full.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// for number in [1, 2, 3] {
    ///     pass!(List::push(mu, list, =Unboxed(number))?);
    /// }
    /// assert!(pass!(List::insert(mu, list, 1, =Unboxed(7))?));
    /// assert!(list.get(mu).iter(mu).eq([1, 7, 2, 3].map(Unboxed)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OutOfMemory`] if the list cannot grow. The list is then unchanged.
    pub fn insert(
        mu: &mut Mutator<'_>,
        list: Local<'_, Self>,
        index: usize,
        value: Local<'_, W>,
    ) -> Result<bool, OutOfMemory> {
        Self::insert_or_grow(mu, list, Some(index), value)
    }

    /// Makes room for `additional` more elements. If there is not enough room yet, the room at
    /// least doubles. A safepoint.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// for number in [1, 2, 3] {
    ///     pass!(List::push(mu, list, =Unboxed(number))?);
    /// }
    /// List::reserve(mu, list, 100)?;
    /// assert!(list.get(mu).capacity(mu) >= 103);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OutOfMemory`] if there is no memory for the elements. The list is then unchanged.
    pub fn reserve(
        mu: &mut Mutator<'_>,
        list: Local<'_, Self>,
        additional: usize,
    ) -> Result<(), OutOfMemory> {
        mu.safepoint();
        let (items, len) = list.get(mu).slots(mu);
        if len.saturating_add(additional) <= items.len() {
            return Ok(());
        }
        Self::grow(mu, list, additional, None).map(|_| ())
    }

    /// Inserts before `index`, or at the end. Returns whether it did.
    fn insert_or_grow(
        mu: &mut Mutator<'_>,
        list: Local<'_, Self>,
        index: Option<usize>,
        value: Local<'_, W>,
    ) -> Result<bool, OutOfMemory> {
        let this = list.get(mu);
        let (items, len) = this.slots(mu);
        match insert_at(mu, items, len, index, value.get(mu)) {
            Some(inserted) => {
                this.len.set(len + usize::from(inserted));
                Ok(inserted)
            }
            None => Self::grow(mu, list, 1, Some((index, value))),
        }
    }

    /// Replaces the array by one with room for `additional` more elements. `new` is inserted into
    /// the new array, before an index or at the end, before another thread knows of that array. So
    /// the insertion succeeds even if other threads fill the list as fast as it grows. Returns
    /// whether `new` was inserted.
    fn grow(
        mu: &mut Mutator<'_>,
        list: Local<'_, Self>,
        additional: usize,
        new: Option<(Option<usize>, Local<'_, W>)>,
    ) -> Result<bool, OutOfMemory> {
        let (items, len) = list.get(mu).slots(mu);
        let larger = len.saturating_add(additional).max(items.len().saturating_mul(2)).max(FIRST);
        root!(mu, larger_items = alloc!(mu, NewArray::<Maybe<W>>::new(larger, Maybe(None)))?);
        // The list as it is after the safepoint. It is longer only if another thread has changed
        // it.
        let this = list.get(mu);
        let old = this.items.load(mu);
        let len = this.len.get().min(old.map_or(0, |old| old.len())).min(larger - usize::from(new.is_some()));
        if let Some(old) = old {
            root!(mu, old = old);
            Array::copy(mu, larger_items, 0, old, 0..len);
        }
        let (this, items) = (list.get(mu), larger_items.get(mu));
        let inserted = new.is_some_and(|(index, value)| {
            insert_at(mu, items.as_ref(), len, index, value.get(mu)) == Some(true)
        });
        this.items.store(mu, Some(items));
        this.len.set(len + usize::from(inserted));
        Ok(inserted)
    }

    /// The number of elements.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// for number in [1, 2, 3] {
    ///     pass!(List::push(mu, list, =Unboxed(number))?);
    /// }
    /// assert_eq!(list.get(mu).len(), 3);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn len(&self) -> usize {
        self.len.get()
    }

    /// Whether the list has no elements.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// for number in [1, 2, 3] {
    ///     pass!(List::push(mu, list, =Unboxed(number))?);
    /// }
    /// assert!(!list.get(mu).is_empty());
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of elements that fit into the present array.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// for number in [1, 2, 3] {
    ///     pass!(List::push(mu, list, =Unboxed(number))?);
    /// }
    /// assert!(list.get(mu).capacity(mu) >= 3);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn capacity(&self, mu: &Mutator<'_>) -> usize {
        self.slots(mu).0.len()
    }

    /// The element at `index`.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// for number in [1, 2, 3] {
    ///     pass!(List::push(mu, list, =Unboxed(number))?);
    /// }
    /// assert_eq!(list.get(mu).get(mu, 0), Some(Unboxed(1)));
    /// assert_eq!(list.get(mu).get(mu, 3), None);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get<'g>(&self, mu: &'g Mutator<'_>, index: usize) -> Option<W::Of<'g>> {
        self.used(mu).get(index)?.load(mu).0
    }

    /// The last element.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// for number in [1, 2, 3] {
    ///     pass!(List::push(mu, list, =Unboxed(number))?);
    /// }
    /// assert_eq!(list.get(mu).last(mu), Some(Unboxed(3)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn last<'g>(&self, mu: &'g Mutator<'_>) -> Option<W::Of<'g>> {
        self.used(mu).last()?.load(mu).0
    }

    /// Replaces the element at `index`; `false` if there is none.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// for number in [1, 2, 3] {
    ///     pass!(List::push(mu, list, =Unboxed(number))?);
    /// }
    /// assert!(list.get(mu).set(mu, 0, Unboxed(7)));
    /// assert!(!list.get(mu).set(mu, 3, Unboxed(7)));
    /// assert!(list.get(mu).iter(mu).eq([7, 2, 3].map(Unboxed)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "false: there is no such element, and nothing has changed"]
    pub fn set(&self, mu: &Mutator<'_>, index: usize, value: W::Of<'_>) -> bool {
        let slot = self.used(mu).get(index);
        if let Some(slot) = slot {
            slot.store(mu, Maybe(Some(value)));
        }
        slot.is_some()
    }

    /// Removes the last element and returns it.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// for number in [1, 2, 3] {
    ///     pass!(List::push(mu, list, =Unboxed(number))?);
    /// }
    /// assert_eq!(list.get(mu).pop(mu), Some(Unboxed(3)));
    /// assert_eq!(list.get(mu).len(), 2);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pop<'g>(&self, mu: &'g Mutator<'_>) -> Option<W::Of<'g>> {
        self.remove(mu, self.len().checked_sub(1)?)
    }

    /// Removes the element at `index` and returns it. The elements after it move one place to the
    /// front.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// for number in [1, 2, 3] {
    ///     pass!(List::push(mu, list, =Unboxed(number))?);
    /// }
    /// assert_eq!(list.get(mu).remove(mu, 0), Some(Unboxed(1)));
    /// assert!(list.get(mu).iter(mu).eq([2, 3].map(Unboxed)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove<'g>(&self, mu: &'g Mutator<'_>, index: usize) -> Option<W::Of<'g>> {
        let used = self.used(mu);
        let value = used.get(index)?.load(mu).0;
        for to in index..used.len() - 1 {
            used[to].store(mu, used[to + 1].load(mu));
        }
        self.truncate(mu, used.len() - 1);
        value
    }

    /// Removes the element at `index` and returns it. The last element takes its place.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// for number in [1, 2, 3] {
    ///     pass!(List::push(mu, list, =Unboxed(number))?);
    /// }
    /// assert_eq!(list.get(mu).swap_remove(mu, 0), Some(Unboxed(1)));
    /// assert!(list.get(mu).iter(mu).eq([3, 2].map(Unboxed)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn swap_remove<'g>(&self, mu: &'g Mutator<'_>, index: usize) -> Option<W::Of<'g>> {
        let used = self.used(mu);
        let value = used.get(index)?.load(mu).0;
        used[index].store(mu, used[used.len() - 1].load(mu));
        self.truncate(mu, used.len() - 1);
        value
    }

    /// Removes elements from the end until `len` are left. Does nothing if there are no more than
    /// `len`.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// for number in [1, 2, 3] {
    ///     pass!(List::push(mu, list, =Unboxed(number))?);
    /// }
    /// list.get(mu).truncate(mu, 1);
    /// assert!(list.get(mu).iter(mu).eq([Unboxed(1)]));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn truncate(&self, mu: &Mutator<'_>, len: usize) {
        let used = self.used(mu);
        if len < used.len() {
            used[len..].iter().for_each(|slot| slot.store(mu, Maybe(None)));
            self.len.set(len);
        }
    }

    /// Removes all elements and releases the array.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// for number in [1, 2, 3] {
    ///     pass!(List::push(mu, list, =Unboxed(number))?);
    /// }
    /// list.get(mu).clear(mu);
    /// assert_eq!((list.get(mu).len(), list.get(mu).capacity(mu)), (0, 0));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn clear(&self, mu: &Mutator<'_>) {
        self.len.set(0);
        self.items.store(mu, None);
    }

    /// The elements, as many as there are now. Elements removed meanwhile are skipped.
    ///
    /// ```
    /// # use allotment::{Heap, List, NewList, OutOfMemory, Unboxed, alloc, pass, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, list = alloc!(mu, NewList::new())?);
    /// for number in [1, 2, 3] {
    ///     pass!(List::push(mu, list, =Unboxed(number))?);
    /// }
    /// assert_eq!(list.get(mu).iter(mu).map(|number| number.0).sum::<i32>(), 6);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter<'g, 't>(
        &self,
        mu: &'g Mutator<'t>,
    ) -> impl DoubleEndedIterator<Item = W::Of<'g>> + use<'g, 't, W> {
        self.used(mu).iter().filter_map(move |slot| slot.load(mu).0)
    }

    /// The array, and the number of its elements in use.
    fn slots<'g>(&self, mu: &'g Mutator<'_>) -> (&'g [Field<Maybe<W>>], usize) {
        let items = self.items.load(mu).map_or(&[][..], Gc::as_ref);
        // The two may differ if another thread changes the list.
        (items, self.len.get().min(items.len()))
    }

    fn used<'g>(&self, mu: &'g Mutator<'_>) -> &'g [Field<Maybe<W>>] {
        let (items, len) = self.slots(mu);
        &items[..len]
    }
}

/// Inserts before `index`, or after the first `len` of these slots, which are the elements. Returns
/// `None` if there is no room for one more, and `Some(false)` if there are fewer than `index`
/// elements.
fn insert_at<W: Word>(
    mu: &Mutator<'_>,
    items: &[Field<Maybe<W>>],
    len: usize,
    index: Option<usize>,
    value: W::Of<'_>,
) -> Option<bool> {
    let index = index.unwrap_or(len);
    if index > len {
        return Some(false);
    }
    if len >= items.len() {
        return None;
    }
    for to in (index..len).rev() {
        items[to + 1].store(mu, items[to].load(mu));
    }
    items[index].store(mu, Maybe(Some(value)));
    Some(true)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use allotment::{Heap, Unboxed, root};

    /// A state that unsynchronised threads can leave: a length beyond that of the array.
    #[test]
    fn a_list_takes_elements_whatever_other_threads_left() {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        let body = |mu: &mut Mutator<'_>| {
            for (room, len) in [(0, 5), (0, usize::MAX), (4, 5), (4, usize::MAX), (4, 4), (4, 2)] {
                root!(mu, list = List::<Unboxed<u32>>::with_capacity(mu, room).unwrap(), value = Unboxed(7));
                list.get(mu).len.set(len);
                List::push(mu, list, value).unwrap();
                assert_eq!(list.get(mu).last(mu), Some(Unboxed(7)), "{room} {len}");
                assert!(List::insert(mu, list, 0, value).unwrap());
                assert_eq!(list.get(mu).get(mu, 0), Some(Unboxed(7)), "{room} {len}");
                assert!(!List::insert(mu, list, 99, value).unwrap());
                List::reserve(mu, list, 20).unwrap();
                assert!(list.get(mu).len() <= list.get(mu).capacity(mu));
            }
        };
        heap.attach(body).unwrap();
        heap.verify().unwrap();
    }
}
