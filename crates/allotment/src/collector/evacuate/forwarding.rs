//! Forwarding: who decides what becomes of an object that several workers have reached.
//!
//! ```text
//! header  --compare-and-swap-->  address of the copy, or the header with mark bits: it stays
//! ```
//!
//! Once, and for ever: whoever comes second takes over what it finds. The swap publishes the copy (Release), so who has its
//! address may read it (Acquire, of the swap that failed and of a load alike). Refused: to claim an object first and
//! to copy it then, which copies nothing in vain, but lets the others wait.

use crate::object::{Header, Kind};
use std::sync::atomic::{AtomicU64, Ordering};

/// The mark bits of an object that stays where it is.
pub(super) const KEPT: u8 = 3;

/// The header of an object in the collection set, which workers change at once.
pub(super) trait Word {
    /// Puts `to` in place of `from`, or says what is there instead.
    fn swap(&self, from: u64, to: u64) -> Result<u64, u64>;
}

macro_rules! word {
    ($atomic:ty) => {
        impl Word for $atomic {
            #[inline(always)]
            fn swap(&self, from: u64, to: u64) -> Result<u64, u64> {
                self.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            }
        }
    };
}

// Laid over objects, which the model checker's atomics cannot be: so there are two.
word!(AtomicU64);
#[cfg(all(test, loom))]
word!(loom::sync::atomic::AtomicU64);

/// The object at `address`, whose header was `from`, has the header `to` from now on.
///
/// # Errors
/// The address that it has because another worker was faster.
#[inline(always)]
pub(super) fn decide(word: &impl Word, address: usize, from: Header, to: Header) -> Result<(), usize> {
    match word.swap(from.bits(), to.bits()) {
        Ok(_) => Ok(()),
        Err(seen) => Err(match Header::from_bits(seen).kind() {
            Kind::Forwarded(copy) => copy,
            _ => address,
        }),
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

    /// What a worker does that reaches the object; the address it has for it, and whether it decided.
    fn reach(heap: &Heap, worker: usize, keeps: bool) -> (usize, bool) {
        let header = Header::from_bits(heap.header.load(Ordering::Acquire));
        let outcome = match header.kind() {
            Kind::Forwarded(copy) => Err(copy),
            _ if header.mark() == KEPT => Err(OBJECT),
            _ if keeps => decide(&heap.header, OBJECT, header, header.with_mark(KEPT)),
            _ => {
                // SAFETY: loom ends the model if somebody else touches it.
                heap.copies[worker].with_mut(|copy| unsafe { *copy = CONTENTS });
                decide(&heap.header, OBJECT, header, Header::forwarded(copy_of(worker)))
            }
        };
        match outcome {
            Ok(()) => (if keeps { OBJECT } else { copy_of(worker) }, true),
            Err(address) => {
                if !keeps && header == born() {
                    // Taken back: nobody else may have seen it.
                    // SAFETY: as above.
                    heap.copies[worker].with_mut(|copy| unsafe { *copy = 0 });
                }
                (address, false)
            }
        }
    }

    /// The same, and it reads what it has been given.
    fn work(heap: &Heap, worker: usize, keeps: [bool; 2]) -> (usize, bool) {
        let (address, decided) = reach(heap, worker, keeps[worker]);
        if let Some(copier) = [0, 1].into_iter().find(|&copier| copy_of(copier) == address) {
            // SAFETY: loom ends the model if somebody else touches it.
            let contents = heap.copies[copier].with(|copy| unsafe { *copy });
            assert_eq!(contents, CONTENTS, "who has the address may read the copy");
        } else {
            assert!(address == OBJECT && keeps.contains(&true));
        }
        (address, decided)
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
                thread::spawn(move || work(&heap, 1, keeps))
            };
            let first = work(&heap, 0, keeps);
            let second = other.join().unwrap();
            assert_eq!(first.0, second.0, "both have the same address");
            assert!(first.1 != second.1, "one of them decided");
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
