//! The looks of barriers' entries, which read the collector's tables without a call, say what the
//! collector says. `platform/` has the tests that the machine code makes these looks.

use super::super::cycle::Stage;
use super::kit::{BY_HAND, Kit, Lists, NEXT, Random, in_both_modes, slot};
use crate::mutator::{BarrierTables, Hot, Mutator};
use crate::stress_seed;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// Reads a word of a table.
fn entry(address: usize, number: usize) -> usize {
    let entry = address + number * BarrierTables::ENTRY_BYTES;
    // SAFETY: an entry of a table of the heap, whose words are atomics.
    unsafe { AtomicUsize::from_ptr(ptr::with_exposed_provenance_mut(entry)) }.load(Ordering::Relaxed)
}

/// The look of a load: whether the objects of the address's region stay.
fn stays(tables: &BarrierTables, address: usize) -> bool {
    let byte = tables.moving + ((address - tables.heap) >> tables.region_shift);
    // SAFETY: as in `entry`.
    unsafe { AtomicU8::from_ptr(ptr::with_exposed_provenance_mut(byte)) }.load(Ordering::Relaxed) == 0
}

/// The look of a store: whether marking has nothing to find at the address.
fn is_found(tables: &BarrierTables, address: usize) -> bool {
    let offset = address - tables.heap;
    let marks = entry(tables.marks, offset / BarrierTables::MARK_BYTES);
    address >= entry(tables.borders, offset >> tables.region_shift)
        || marks >> (offset % BarrierTables::MARK_BYTES / 8) & 1 != 0
}

/// The answers of the looks since a test began.
#[derive(Debug, Default)]
struct Seen {
    found: usize,
    sought: usize,
    moving: usize,
}

/// Compares each address of the regions in use. The cycle rests.
fn compare(kit: &Kit, seen: &mut Seen) {
    let (collector, space) = (kit.collector(), &kit.shared().space);
    let tables = collector.engine.tables.barrier_tables(&space.free);
    let table = space.free.table();
    assert_eq!((tables.heap, tables.heap_bytes), (table.base(), table.len() << tables.region_shift));
    let barriers = kit.shared().threads.barriers();
    for index in space.free.in_use() {
        let is_in_set = collector.engine.tables.is_in_set(index);
        for address in (table.bottom(index)..table.end(index)).step_by(8) {
            let (is_found, is_sought) =
                (is_found(&tables, address), collector.engine.tables.is_sought(&space.free, address));
            assert!(!(is_found && is_sought), "{:?}: {address:#x}", kit.stage());
            assert_eq!(stays(&tables, address), !is_in_set, "{:?}: {address:#x}", kit.stage());
            if barriers & Hot::MARKING != 0 {
                seen.found += usize::from(is_found);
                seen.sought += usize::from(is_sought);
            }
            if barriers & Hot::FORWARDING != 0 {
                seen.moving += usize::from(is_in_set);
            }
        }
    }
}

#[test]
fn looks_say_what_the_collector_says_at_every_step() {
    in_both_modes(|| {
        for seed in 1..6_u64 {
            let kit = Kit::new(4096, 60, &format!("+ZealPoison,{BY_HAND}"));
            let mut random = Random(stress_seed::of_part(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let mut seen = Seen::default();
            kit.heap
                .attach(|mutator| {
                    let mut lists = Lists::new(&kit, mutator, 16, 1);
                    for _ in 0..150 {
                        (0..random.below(60)).for_each(|_| lists.change(&kit, mutator, &mut random));
                        mutator.blocking(|| {
                            if matches!(kit.stage(), Stage::Mark | Stage::Evacuate) && random.below(2) == 0 {
                                kit.interrupted();
                            } else {
                                kit.next();
                            }
                            compare(&kit, &mut seen);
                        });
                        lists.check(mutator);
                    }
                    mutator.blocking(|| kit.end_cycle());
                    lists.check(mutator);
                })
                .unwrap();
            kit.heap.verify().unwrap();
            assert!(seen.found > 1000 && seen.sought > 1000 && seen.moving > 1000, "{seen:?}");
        }
    });
}

/// The words that a thread has handed over, and that no marker has taken. They stay there.
fn handed_over(kit: &Kit, mutator: &mut Mutator<'_>) -> Vec<u64> {
    mutator.blocking(|| ());
    let (queue, mut words) = (&kit.shared().threads.satb, Vec::new());
    let buffers: Vec<_> = std::iter::from_fn(|| queue.take_surely()).collect();
    for buffer in buffers {
        words.extend(&buffer);
        queue.give(buffer);
    }
    words
}

/// A store hands over what marking has to find, and nothing else.
#[test]
fn a_store_hands_over_sought_words_alone() {
    in_both_modes(|| {
        let kit = Kit::new(4096, 60, &format!("+ZealPoison,{BY_HAND}"));
        kit.heap
            .attach(|mutator| {
                let mut lists = Lists::new(&kit, mutator, 3, 1);
                (0..40).for_each(|_| assert!(lists.push(&kit, mutator, 0)));
                let node = lists.first(mutator, 0);
                // SAFETY: a slot of a live object.
                let next = unsafe { mutator.raw().load(slot(node, NEXT)) };
                // SAFETY: a slot of a live object, and what it holds.
                let store =
                    |mutator: &Mutator<'_>, bits| unsafe { mutator.raw().store(slot(node, NEXT), bits) };
                mutator.blocking(|| kit.advance_to(Stage::Mark));
                assert_eq!(kit.shared().threads.barriers(), Hot::MARKING);
                assert_eq!(handed_over(&kit, mutator), [0_u64; 0]);
                // A sought word, then null, then an immediate, then a new object.
                let new = kit.node(mutator).expect("room");
                for bits in [0, 5, new, next] {
                    store(mutator, bits);
                }
                assert_eq!(handed_over(&kit, mutator), [next]);
                mutator.blocking(|| kit.advance_to(Stage::FinalMark));
                let before = handed_over(&kit, mutator);
                store(mutator, 0);
                store(mutator, next);
                assert_eq!(handed_over(&kit, mutator), before, "it is marked");
                mutator.blocking(|| kit.end_cycle());
                lists.check(mutator);
            })
            .unwrap();
        kit.heap.verify().unwrap();
    });
}
