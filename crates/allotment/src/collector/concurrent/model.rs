//! Every interleaving of two threads that reach an object of the set, when copies come before their
//! publication. The steps are those of `Evacuator::decide`, over one word and one content.
//!
//! A thread that knows the place reads and writes there. So a copy that is published and
//! incomplete, or one that was made of an object that is written to, shows.

use crate::collector::kernel::{KEPT, decide, decided};
use crate::object::{Header, Kind, ShapeId};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use loom::thread;
use std::num::NonZeroU32;

const OBJECT: usize = 64;
const CONTENTS: u64 = 7;

/// An object, and a place for each thread's copy.
struct Heap {
    header: AtomicU64,
    /// Copiers may read it while a thread that found it kept writes.
    contents: AtomicU64,
    copies: [UnsafeCell<u64>; 2],
}

// SAFETY: loom ends the model if two threads touch a cell at once.
unsafe impl Sync for Heap {}

fn copy_of(thread: usize) -> usize {
    OBJECT * (thread + 2)
}

impl Heap {
    fn new() -> Arc<Heap> {
        Arc::new(Heap {
            header: AtomicU64::new(Header::new(ShapeId::from_raw(NonZeroU32::MIN)).bits()),
            contents: AtomicU64::new(CONTENTS),
            copies: [UnsafeCell::new(0), UnsafeCell::new(0)],
        })
    }

    /// The place of the object; `keeps`: this thread has no memory for a copy.
    fn reach(&self, thread: usize, keeps: bool) -> usize {
        let header = Header::from_bits(self.header.load(Ordering::Acquire));
        match header.kind() {
            Kind::Forwarded(copy) => return copy,
            _ if header.mark() == KEPT => return OBJECT,
            _ => {}
        }
        if keeps {
            decide(&self.header, header, header.with_mark(KEPT));
            return decided(&self.header, OBJECT);
        }
        let contents = self.contents.load(Ordering::Relaxed);
        // SAFETY: loom ends the model if another thread touches it.
        let write = |contents| self.copies[thread].with_mut(|copy| unsafe { *copy = contents });
        write(contents);
        if decide(&self.header, header, Header::forwarded(copy_of(thread))) {
            return copy_of(thread);
        }
        // The memory is taken back, and is the next copy's.
        write(0);
        decided(&self.header, OBJECT)
    }

    /// The copy at `place`. `None` if the object itself is there.
    fn copy_at(&self, place: usize) -> Option<&UnsafeCell<u64>> {
        (0..2).find(|&thread| copy_of(thread) == place).map(|thread| &self.copies[thread])
    }

    fn read(&self, place: usize) -> u64 {
        match self.copy_at(place) {
            // SAFETY: as above.
            Some(copy) => copy.with(|copy| unsafe { *copy }),
            None => self.contents.load(Ordering::Relaxed),
        }
    }

    fn write(&self, place: usize, contents: u64) {
        match self.copy_at(place) {
            // SAFETY: as above.
            Some(copy) => copy.with_mut(|copy| unsafe { *copy = contents }),
            None => self.contents.store(contents, Ordering::Relaxed),
        }
    }

    /// A mutator asks for the identity hash of the object at `place`, if it is kept.
    fn hash(&self, place: usize) {
        if place != OBJECT {
            return;
        }
        let mut bits = self.header.load(Ordering::Relaxed);
        loop {
            let hashed = Header::from_bits(bits).with_identity_hash(NonZeroU32::MAX).bits();
            match self.header.compare_exchange(bits, hashed, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => bits = now,
            }
        }
    }
}

/// Two threads reach the object, and both find its contents there.
fn both_read(keeps: [bool; 2]) {
    loom::model(move || {
        let heap = Heap::new();
        let other = {
            let heap = heap.clone();
            thread::spawn(move || {
                let place = heap.reach(1, keeps[1]);
                assert_eq!(heap.read(place), CONTENTS);
                place
            })
        };
        let place = heap.reach(0, keeps[0]);
        assert_eq!(heap.read(place), CONTENTS);
        assert_eq!(other.join().unwrap(), place);
        assert!(keeps.contains(&(place == OBJECT)));
    });
}

/// One thread writes to the object as soon as it knows its place, and asks for its hash. The write
/// is not lost to the copy of the other.
fn one_writes(keeps: [bool; 2]) {
    loom::model(move || {
        let heap = Heap::new();
        let writer = {
            let heap = heap.clone();
            thread::spawn(move || {
                let place = heap.reach(1, keeps[1]);
                heap.write(place, CONTENTS + 1);
                heap.hash(place);
                place
            })
        };
        let place = heap.reach(0, keeps[0]);
        assert_eq!(writer.join().unwrap(), place);
        assert_eq!(heap.read(place), CONTENTS + 1);
        if place == OBJECT {
            let header = Header::from_bits(heap.header.load(Ordering::Relaxed));
            assert_eq!((header.mark(), header.identity_hash()), (KEPT, Some(NonZeroU32::MAX)));
        }
    });
}

#[test]
fn a_copy_is_complete_when_it_is_found() {
    both_read([false, false]);
}

#[test]
fn an_object_that_one_thread_keeps_and_another_copies_is_in_one_place() {
    both_read([true, false]);
    both_read([false, true]);
}

#[test]
fn an_object_that_both_keep_stays() {
    both_read([true, true]);
}

#[test]
fn no_write_to_a_copy_is_lost() {
    one_writes([false, false]);
}

#[test]
fn no_write_to_a_kept_object_is_lost() {
    one_writes([false, true]);
    one_writes([true, false]);
    one_writes([true, true]);
}

/// Two loads heal a slot while a mutator stores to it: what was stored stays.
#[test]
fn a_healed_slot_keeps_what_was_stored() {
    loom::model(|| {
        const NEW: u64 = 8;
        let (heap, slot) = (Heap::new(), Arc::new(AtomicU64::new(OBJECT as u64)));
        let load = |heap: Arc<Heap>, slot: Arc<AtomicU64>, thread: usize| {
            move || {
                let bits = slot.load(Ordering::Acquire);
                if bits == OBJECT as u64 {
                    let place = heap.reach(thread, false) as u64;
                    let _ = slot.compare_exchange(bits, place, Ordering::Release, Ordering::Relaxed);
                    assert_eq!(heap.read(place as usize), CONTENTS);
                }
            }
        };
        let healer = thread::spawn(load(heap.clone(), slot.clone(), 1));
        load(heap, slot.clone(), 0)();
        slot.store(NEW, Ordering::Release);
        healer.join().unwrap();
        assert_eq!(slot.load(Ordering::Relaxed), NEW);
    });
}

/// A card is cleaned and then read, while mutators write slots of it and then dirty it
/// (`CardTable::clean_run`, `Mutator::store`). The reader sees each slot, or the card is dirty. The
/// card's byte is in a mapping that loom does not know, so the operations stand here again. The
/// mutators' exchange is one store of the processor (`platform::exchange_unread`).
#[test]
fn each_store_is_seen_or_its_card_is_dirty() {
    loom::model(|| {
        // The card is dirty from an earlier store.
        let card = Arc::new(AtomicU8::new(1));
        let slots = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
        let mutators = slots.clone().map(|slot| {
            let card = card.clone();
            thread::spawn(move || {
                slot.store(CONTENTS, Ordering::Release);
                card.swap(1, Ordering::Release);
            })
        });
        let see = || slots.each_ref().map(|slot| slot.load(Ordering::Acquire) == CONTENTS);
        card.swap(0, Ordering::AcqRel);
        let seen = see();
        mutators.into_iter().for_each(|mutator| mutator.join().unwrap());
        // As the next reader of the card does it: it also sees the slots then.
        let is_dirty = card.swap(0, Ordering::AcqRel) == 1;
        assert!(seen == [true; 2] || is_dirty && see() == [true; 2]);
    });
}

/// As above, and the reader dirties the card again, because it has found a young referent
/// (`CardTable::dirty_concurrently`). A second reader, which nothing else orders after the mutator,
/// sees the slot if the first one did not.
#[test]
fn a_card_that_its_reader_dirties_hides_no_store_from_the_next_reader() {
    loom::model(|| {
        let (slot, card) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU8::new(1)));
        let mutator = {
            let (slot, card) = (slot.clone(), card.clone());
            thread::spawn(move || {
                slot.store(CONTENTS, Ordering::Release);
                card.swap(1, Ordering::Release);
            })
        };
        let first = {
            let (slot, card) = (slot.clone(), card.clone());
            thread::spawn(move || {
                card.swap(0, Ordering::AcqRel);
                let seen = slot.load(Ordering::Acquire) == CONTENTS;
                card.swap(1, Ordering::Release);
                seen
            })
        };
        card.swap(0, Ordering::AcqRel);
        let seen_by_second = slot.load(Ordering::Acquire) == CONTENTS;
        let seen = first.join().unwrap() || seen_by_second;
        mutator.join().unwrap();
        let is_dirty = card.swap(0, Ordering::AcqRel) == 1;
        assert!(seen || is_dirty && slot.load(Ordering::Relaxed) == CONTENTS);
    });
}
