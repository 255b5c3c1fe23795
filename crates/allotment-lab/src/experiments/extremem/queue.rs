//! Queues whose links are in the queued objects: the queues of sold and of saved products, and the
//! logs of changes.
//!
//! The head and the last link of a queue are old objects that refer to young ones: that is what
//! card tables and remembered sets are for. Refused: queues outside the heap.

use super::text::Made;
use allotment::{Field, Gc, Mutator, Object, alloc};

/// An object that can stand in a queue.
pub(super) trait Linked: Object<View = Self> + Sized {
    /// The next object in the queue.
    fn next(&self) -> &Field<Option<Self>>;

    /// The object before it, if the object has such a link.
    fn previous(&self) -> Option<&Field<Option<Self>>> {
        None
    }
}

/// A queue. A caller of its methods holds the queue's lock.
#[derive(Object)]
pub(super) struct Queue<T: Linked> {
    head: Field<Option<T>>,
    tail: Field<Option<T>>,
}

impl<T: Linked> Queue<T> {
    /// An empty queue.
    pub(super) fn make<'m>(mutator: &'m mut Mutator<'_>) -> Made<'m, Self> {
        alloc!(mutator, NewQueue { head: None, tail: None })
    }

    /// Appends an object that stands in no queue.
    pub(super) fn push(&self, mutator: &Mutator<'_>, new: Gc<'_, T>) {
        match self.tail.load(mutator) {
            None => self.head.store(mutator, Some(new)),
            Some(last) => {
                last.as_ref().next().store(mutator, Some(new));
                if let Some(previous) = new.as_ref().previous() {
                    previous.store(mutator, Some(last));
                }
            }
        }
        self.tail.store(mutator, Some(new));
    }

    /// The first object.
    pub(super) fn first<'g>(&self, mutator: &'g Mutator<'_>) -> Option<Gc<'g, T>> {
        self.head.load(mutator)
    }

    /// The object after `one`.
    pub(super) fn after<'g>(mutator: &'g Mutator<'_>, one: Gc<'g, T>) -> Option<Gc<'g, T>> {
        one.as_ref().next().load(mutator)
    }

    /// Takes the first out. It no longer refers to the others: a dead old object would keep all
    /// that follow alive.
    pub(super) fn pop<'g>(&self, mutator: &'g Mutator<'_>) -> Option<Gc<'g, T>> {
        let first = self.head.load(mutator)?;
        let second = first.as_ref().next().load(mutator);
        first.as_ref().next().store(mutator, None);
        self.head.store(mutator, second);
        match second {
            None => self.tail.store(mutator, None),
            Some(second) => {
                if let Some(previous) = second.as_ref().previous() {
                    previous.store(mutator, None);
                }
            }
        }
        Some(first)
    }

    /// Takes all out: the first, which leads to the others.
    pub(super) fn take<'g>(&self, mutator: &'g Mutator<'_>) -> Option<Gc<'g, T>> {
        let first = self.head.load(mutator);
        self.head.store(mutator, None);
        self.tail.store(mutator, None);
        first
    }
}

/// A change that the update thread applies when it rebuilds: what takes the place `index`.
#[derive(Object)]
pub(super) struct Change<T: Object> {
    pub(super) index: usize,
    pub(super) replacement: Field<T>,
    next: Field<Option<Change<T>>>,
}

impl<'g, T: Object> NewChange<'g, T> {
    /// A change that stands in no queue yet.
    pub(super) fn of(index: usize, replacement: Gc<'g, T>) -> Self {
        NewChange { index, replacement, next: None }
    }
}

impl<T: Object> Linked for Change<T> {
    fn next(&self) -> &Field<Option<Self>> {
        &self.next
    }
}

#[cfg(test)]
mod tests {
    use super::super::goods::{Id, NewId};
    use super::*;
    use allotment::{Heap, OutOfMemory, root};

    #[test]
    fn what_goes_in_first_comes_out_first() {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        heap.attach(|mutator| {
            root!(mutator, queue = Queue::<Change<Id>>::make(mutator)?);
            let push = |mutator: &mut Mutator<'_>, index: usize| {
                let id = alloc!(mutator, NewId { value: index as u64 })?;
                let change = alloc!(mutator, NewChange::of(index, id))?;
                queue.get(mutator).push(mutator, change);
                Ok::<(), OutOfMemory>(())
            };
            for index in 0..5 {
                push(mutator, index)?;
            }
            let pop = |mutator: &mut Mutator<'_>| queue.get(mutator).pop(mutator).map(|change| change.index);
            assert_eq!([pop(mutator), pop(mutator)], [Some(0), Some(1)]);
            mutator.collect();
            push(mutator, 7)?;
            assert_eq!(queue.get(mutator).first(mutator).map(|change| change.index), Some(2));
            assert_eq!(
                [pop(mutator), pop(mutator), pop(mutator), pop(mutator)],
                [Some(2), Some(3), Some(4), Some(7)]
            );
            assert_eq!(pop(mutator), None);
            push(mutator, 8)?;
            push(mutator, 9)?;
            let first = queue.get(mutator).take(mutator).unwrap();
            assert_eq!((first.index, first.next.load(mutator).map(|next| next.index)), (8, Some(9)));
            assert!(queue.get(mutator).first(mutator).is_none() && pop(mutator).is_none());
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
    }
}
