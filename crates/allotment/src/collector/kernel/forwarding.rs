//! Forwarding: one worker decides the fate of an object that several workers have reached.
//!
//! ```text
//! header  --compare-and-swap-->  address of the copy, or the header with mark bits: it stays
//! ```
//!
//! The decision is final: a later worker takes over the result and need not wait. The swap
//! publishes the address of the copy and the state of its region (Release; Acquire for a load and
//! for a failed swap alike). It does not publish the contents of the copy, which are written after
//! the swap: the swap waits for all stores before it. **Invariant:** until all workers have met, a
//! copy is read only by the worker that made it and by a worker that was given a chunk of it.
//! Refused: a separate mark for the worker that claims an object, with the address later: the
//! others would wait for the address.
//!
//! Refused: copies without a swap in memory that belongs to one worker, which gets the slots of all
//! others into it (Oancea, Mycroft and Watt, ISMM 2009). Meetings of the workers, or leases of
//! blocks, cost as much as the swaps.

use crate::object::{Header, Kind};
use std::sync::atomic::{AtomicU64, Ordering};

/// The mark bits of an object that stays where it is.
pub(in crate::collector) const KEPT: u8 = 3;

/// The header of an object in the collection set, which several workers change at once.
pub(in crate::collector) trait Word {
    /// Replaces `from` by `to`, if the word is `from`. Returns whether it was.
    fn swap(&self, from: u64, to: u64) -> bool;

    /// The word's present value.
    fn get(&self) -> u64;
}

macro_rules! word {
    ($atomic:ty) => {
        impl Word for $atomic {
            #[inline(always)]
            fn swap(&self, from: u64, to: u64) -> bool {
                self.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
            }

            fn get(&self) -> u64 {
                self.load(Ordering::Acquire)
            }
        }
    };
}

// The atomics lie in objects, where the model checker's cannot be. So there are two types.
word!(AtomicU64);
#[cfg(all(test, loom))]
word!(loom::sync::atomic::AtomicU64);

/// The header of the object at `address`.
///
/// # Safety
/// - A header is there, and is changed only atomically while this is used.
#[inline(always)]
pub(in crate::collector) unsafe fn word_at<'a>(address: usize) -> &'a AtomicU64 {
    // SAFETY: the caller's predicate.
    unsafe { AtomicU64::from_ptr(address as *mut u64) }
}

/// Changes an object's header from `from` to `to`. Returns `false` if another worker was faster.
#[inline(always)]
pub(in crate::collector) fn decide(word: &impl Word, from: Header, to: Header) -> bool {
    word.swap(from.bits(), to.bits())
}

/// The address of the object at `address`, after another worker decided it.
pub(in crate::collector) fn decided(word: &impl Word, address: usize) -> usize {
    match Header::from_bits(word.get()).kind() {
        Kind::Forwarded(copy) => copy,
        _ => address,
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::object::ShapeId;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicU64 as ModelWord;
    use loom::thread;
    use std::num::NonZeroU32;

    const OBJECT: usize = 64;
    const CONTENTS: u64 = 7;

    /// An object, and a place for each worker's copy.
    struct Heap {
        header: ModelWord,
        copies: [UnsafeCell<u64>; 2],
    }

    // SAFETY: loom ends the model if two threads touch a cell at once.
    unsafe impl Sync for Heap {}

    fn born() -> Header {
        Header::new(ShapeId::from_raw(NonZeroU32::MIN))
    }

    fn copy_of(worker: usize) -> usize {
        OBJECT * (worker + 2)
    }

    /// The steps of a worker that reaches the object. Returns the object's address for the worker,
    /// and whether the worker decided it.
    fn reach(heap: &Heap, worker: usize, keeps: bool) -> (usize, bool) {
        let header = Header::from_bits(heap.header.load(Ordering::Acquire));
        match header.kind() {
            Kind::Forwarded(copy) => return (copy, false),
            _ if header.mark() == KEPT => return (OBJECT, false),
            _ => {}
        }
        let to = if keeps { header.with_mark(KEPT) } else { Header::forwarded(copy_of(worker)) };
        // SAFETY: loom ends the model if another thread touches it.
        let write = |contents| heap.copies[worker].with_mut(|copy| unsafe { *copy = contents });
        if !decide(&heap.header, header, to) {
            // A filler, or the next copy.
            write(0);
            return (decided(&heap.header, OBJECT), false);
        }
        if keeps {
            return (OBJECT, true);
        }
        write(CONTENTS);
        (copy_of(worker), true)
    }

    /// Two workers reach an object; `keeps` says which of them find no memory for a copy.
    fn check(keeps: [bool; 2]) {
        loom::model(move || {
            let heap = Arc::new(Heap {
                header: ModelWord::new(born().bits()),
                copies: [UnsafeCell::new(0), UnsafeCell::new(0)],
            });
            let other = {
                let heap = heap.clone();
                thread::spawn(move || reach(&heap, 1, keeps[1]))
            };
            let first = reach(&heap, 0, keeps[0]);
            let second = other.join().unwrap();
            assert_eq!(first.0, second.0, "both have the same address");
            assert!(first.1 != second.1, "one of them decided");
            match [0, 1].into_iter().find(|&copier| copy_of(copier) == first.0) {
                // SAFETY: as above.
                Some(copier) => assert_eq!(heap.copies[copier].with(|copy| unsafe { *copy }), CONTENTS),
                None => assert!(first.0 == OBJECT && keeps.contains(&true)),
            }
        });
    }

    #[test]
    fn of_two_copies_one_is_the_copy() {
        check([false, false]);
    }

    #[test]
    fn an_object_that_one_worker_keeps_and_another_copies_is_in_one_place() {
        check([true, false]);
    }

    #[test]
    fn an_object_that_both_keep_is_kept_once() {
        check([true, true]);
    }
}
