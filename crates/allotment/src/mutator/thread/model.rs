//! Every interleaving of what threads hand over to a marking, and of changes of the table of
//! handles with a collector's visit of it.
//!
//! Chunk 0 of the table has one free slot, and chunk 1 has the handle. So a copy of the handle lies
//! where the visit may have been already.

use super::satb::{SatbBuffer, SatbQueue};
use crate::mutator::roots::{CHUNK, Changed, RootSlot, Roots};
use crate::mutator::{HandleExtent, Hot};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

/// Where the referent of the handle was, and where it is.
const OLD: u64 = 64;
const NEW: u64 = 128;

/// A table in which the next slot is in chunk 0, and its handle in chunk 1.
fn table(barriers: u32) -> (Arc<Roots>, RootSlot) {
    let roots = Roots::default();
    let slots: Vec<_> = (0..=CHUNK as u64).map(|number| roots.strong.take(2 * number + 1)).collect();
    let handle = slots[CHUNK];
    handle.word().store(OLD, Ordering::Relaxed);
    roots.set_barriers(barriers);
    roots.strong.give(slots[1], |_| ());
    (Arc::new(roots), handle)
}

/// Hands over the word of a dropped handle, as the heap does.
fn dropped(queue: &SatbQueue, taken: Changed) {
    if taken.barriers & Hot::MARKING != 0 {
        queue.give_word(taken.word);
    }
}

/// All that is in the queue.
fn drain(queue: &SatbQueue) -> Vec<u64> {
    std::iter::from_fn(|| queue.take_surely()).flatten().collect()
}

/// A thread that is not attached copies the handle and drops it. The marking finds the referent.
#[test]
fn a_handle_that_changes_its_place_is_marked() {
    loom::model(|| {
        let ((roots, handle), queue) = (table(Hot::MARKING), Arc::new(SatbQueue::default()));
        let outside = {
            let (roots, queue) = (roots.clone(), queue.clone());
            thread::spawn(move || {
                let copy = roots.strong.copy(handle, |copied| copied.word);
                roots.strong.give(handle, |taken| dropped(&queue, taken));
                copy.word().load(Ordering::Relaxed)
            })
        };
        let mut found = Vec::new();
        roots.visit_handles(false, HandleExtent::All, |slot| found.push(slot.load(Ordering::Relaxed)));
        // Final mark, in a stop that does not stop the other thread.
        roots.set_barriers(0);
        found.extend(drain(&queue));
        assert_eq!(outside.join().unwrap(), OLD);
        assert!(found.contains(&OLD), "the referent of a handle is marked");
    });
}

/// A thread that is not attached copies a handle while a visit gives handles the new places.
#[test]
fn a_copy_of_a_handle_gets_the_new_place() {
    loom::model(|| {
        let (roots, handle) = table(Hot::FORWARDING);
        let outside = {
            let roots = roots.clone();
            thread::spawn(move || {
                let copy = roots.strong.copy(handle, |copied| copied.word);
                let again = roots.strong.copy(copy, |copied| copied.word);
                roots.strong.give(handle, |_| ());
                [copy, again]
            })
        };
        roots.visit_handles(false, HandleExtent::All, |slot| {
            let _ = slot.compare_exchange(OLD, NEW, Ordering::Relaxed, Ordering::Relaxed);
        });
        let copies = outside.join().unwrap();
        // A copy that was made after the visit is one of a handle that has the new place.
        assert_eq!(copies.map(|copy| copy.word().load(Ordering::Relaxed)), [NEW; 2]);
    });
}

/// A copy of a weak handle whose referent is dead.
#[test]
fn a_copy_of_a_dead_word_is_null() {
    loom::model(|| {
        let (roots, handle) = table(Hot::WEAK);
        let outside = {
            let roots = roots.clone();
            thread::spawn(move || {
                let live = |Changed { barriers, word }| {
                    if barriers & Hot::WEAK != 0 && word == OLD { 0 } else { word }
                };
                roots.strong.copy(handle, live)
            })
        };
        roots.visit_handles(false, HandleExtent::All, |slot| {
            let _ = slot.compare_exchange(OLD, 0, Ordering::Relaxed, Ordering::Relaxed);
        });
        assert_eq!(outside.join().unwrap().word().load(Ordering::Relaxed), 0);
    });
}

/// A thread stores a young object to a handle while the end of a young visit looks at its chunk.
#[test]
fn a_store_beside_the_end_of_a_young_visit_is_remembered() {
    loom::model(|| {
        let roots = Arc::new(Roots::default());
        let handle = roots.strong.take(OLD);
        // In a stop.
        roots.begin_young_visit();
        let storing = {
            let roots = roots.clone();
            thread::spawn(move || {
                handle.word().store(NEW, Ordering::Release);
                roots.strong.stored(handle);
            })
        };
        let is_young = |address| address == NEW as usize;
        roots.end_young_visit(&is_young);
        storing.join().unwrap();
        assert!(roots.forgotten(&is_young).is_none());
        let mut found = Vec::new();
        roots.visit_handles(false, HandleExtent::Young, |slot| found.push(slot.load(Ordering::Relaxed)));
        assert!(found.contains(&NEW));
    });
}

/// A visit of the handles of young objects, beside a thread that is not attached and copies one of
/// them to a chunk without any.
#[test]
fn a_copy_beside_a_young_visit_gets_the_new_place() {
    loom::model(|| {
        let (roots, handle) = table(0);
        roots.begin_young_visit();
        roots.end_young_visit(&|address| address == OLD as usize);
        roots.begin_young_visit();
        roots.set_barriers(Hot::FORWARDING);
        let outside = {
            let roots = roots.clone();
            thread::spawn(move || roots.strong.copy(handle, |copied| copied.word))
        };
        roots.visit_handles(false, HandleExtent::Young, |slot| {
            let _ = slot.compare_exchange(OLD, NEW, Ordering::Relaxed, Ordering::Relaxed);
        });
        let is_young = |address| address == NEW as usize;
        roots.end_young_visit(&is_young);
        let copy = outside.join().unwrap();
        assert_eq!([handle, copy].map(|slot| slot.word().load(Ordering::Relaxed)), [NEW; 2]);
        assert!(roots.forgotten(&is_young).is_none());
    });
}

/// All words that a thread records are found: by the marker meanwhile, or in the stop.
#[test]
fn what_a_thread_records_is_found() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let queue = Arc::new(SatbQueue::default());
        let stands_still = Arc::new(AtomicBool::new(false));
        let mutator = {
            let (queue, stands_still) = (queue.clone(), stands_still.clone());
            thread::spawn(move || {
                let own = SatbBuffer::default();
                // A full buffer and one more word.
                (1..6).for_each(|number| own.record(number * 8, &queue));
                own.give(&queue);
                stands_still.store(true, Ordering::Release);
            })
        };
        let mut found = Vec::new();
        found.extend(queue.take().into_iter().flatten());
        while !stands_still.load(Ordering::Acquire) {
            thread::yield_now();
        }
        found.extend(drain(&queue));
        found.sort_unstable();
        assert_eq!(found, [8, 16, 24, 32, 40]);
        mutator.join().unwrap();
    });
}
