//! The write barrier: stores dirty their cards, whatever the collector, and nothing else does.

use crate::Heap;
use crate::mutator::{Hot, Mutator};
use crate::object::{Element, Shape, SlotKind, WORD};
use crate::options::CollectorKind;

const CARD: usize = 1 << Hot::CARD_SHIFT;

/// Slots of the array, which so has several cards.
const LENGTH: usize = 400;

/// Addresses of the heap whose card is dirty.
fn dirty(heap: &Heap) -> Vec<usize> {
    let cards = (heap.base()..heap.base() + heap.geometry().heap_bytes()).step_by(CARD);
    cards.filter(|&card| heap.shared.space.cards.is_dirty(card)).collect()
}

fn with_array(collector: CollectorKind, body: impl FnOnce(&Heap, &mut Mutator<'_>, *mut u64)) {
    let heap = super::heap(1 << 16, 16, &format!("Collector={}", collector.name()));
    let shape = Shape::array("Vector", 16, Element::Reference(SlotKind::Strong));
    let vector = heap.register(shape).expect("a shape");
    heap.attach(|mutator| {
        // SAFETY: the shape is this heap's.
        let array = unsafe { mutator.raw_mut().alloc_raw(vector, LENGTH) }.expect("room");
        body(&heap, mutator, array.as_ptr().wrapping_add(16).cast());
    })
    .expect("not attached yet");
}

#[test]
fn a_store_dirties_the_card_of_its_slot() {
    for collector in CollectorKind::ALL {
        with_array(*collector, |heap, mutator, slots| {
            assert!(dirty(heap).is_empty());
            let mut expected = Vec::new();
            for index in [0, 1, LENGTH / 2, LENGTH - 1] {
                let slot = slots.wrapping_add(index);
                // SAFETY: a slot of a live array; null refers to nothing.
                unsafe { mutator.raw().store(slot, 0) };
                expected.push(slot.addr() & !(CARD - 1));
                expected.dedup();
                assert_eq!(dirty(heap), expected, "{collector:?}, slot {index}");
            }
        });
    }
}

#[test]
fn loads_and_roots_dirty_nothing() {
    with_array(CollectorKind::MarkCompact, |heap, mutator, slots| {
        let array = slots.addr() - 2 * WORD;
        // SAFETY: the array is alive, and what is in its slots is null.
        unsafe {
            let root = mutator.raw().new_root(array as u64);
            let weak = mutator.raw().new_weak_root(array as u64);
            root.set(mutator, 0);
            root.set(mutator, array as u64);
            assert_eq!(mutator.raw().load(slots), 0);
            drop(weak);
        }
        mutator.collect();
        assert!(dirty(heap).is_empty());
    });
}

#[test]
fn generated_code_finds_the_table_in_the_mutators_first_line() {
    with_array(CollectorKind::Epsilon, |heap, mutator, slots| {
        let slot = slots.wrapping_add(LENGTH - 1);
        let hot: *const Hot = &raw const mutator.state().hot;
        // SAFETY: the offset is the field's; the sum is a byte of the heap's card table.
        unsafe {
            let cards = hot.byte_add(Hot::CARDS_OFFSET).cast::<usize>().read();
            (cards.wrapping_add(slot.addr() >> Hot::CARD_SHIFT) as *mut u8).write(Hot::DIRTY_CARD);
        }
        assert_eq!(dirty(heap), [slot.addr() & !(CARD - 1)]);
    });
}
