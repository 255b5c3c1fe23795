//! Runs of regions: they are young at first, and become old in place.

use super::*;
use crate::collector::full::Compaction;
use crate::collector::full::tests::model::Number;
use crate::mutator::{ArraySite, PerObject};
use crate::region::State;

/// Slots of an array of more than two regions.
const LENGTH: usize = 2 * REGION / 8;

#[test]
fn reached_humongous_objects_become_old_in_place_and_others_are_freed() {
    for workers in WORKERS {
        let mut young = young(workers, 24, limits());
        let [array, dead, leaf] = young.allocate([(ARRAY, LENGTH), (BYTES, 3 * REGION), (LEAF, 0)]);
        let place = young.graph.addresses[&array];
        young.root(array);
        young.refer(array, LENGTH - 1, leaf);
        young.refer(array, LENGTH / 2, array);
        young.graph.root(Value::Object(dead, 0), SlotKind::Weak);
        let statistics = young.collect();
        assert_eq!((young.regions(State::HumongousStart), statistics.weak_cleared), (1, 1));
        assert_eq!((statistics.sum.kept_objects, statistics.sum.stayed_bytes), (1, LENGTH as u64 * 8 + 24));
        assert_eq!(young.graph.addresses[&array], place);
        assert!(young.is_old(array) && !young.is_old(leaf));
        // Cards lead to its referents.
        young.forget_roots();
        assert_eq!(young.collect().sum.objects, 1);
        young.collect_full(Compaction::Maximum);
        assert!(young.graph.model.nodes.is_empty());
        // The run is young again with what is born there next.
        let [next] = young.allocate([(ARRAY, LENGTH)]);
        young.collect();
        assert_eq!(young.regions(State::HumongousStart), 0);
        assert!(!young.graph.model.nodes.contains_key(&next));
    }
}

#[test]
fn an_array_of_references_is_scanned_in_pieces() {
    for workers in WORKERS {
        for stack in [DEEP, TINY] {
            let mut young = young(workers, 64, Limits { stack, ..limits() });
            let [array] = young.allocate([(ARRAY, LENGTH)]);
            young.root(array);
            for (slot, element) in young.graph.allocate(&[(PAIR, 0); LENGTH]).into_iter().enumerate() {
                young.refer(array, slot, element);
            }
            let statistics = young.collect();
            assert_eq!(statistics.sum.objects, LENGTH as u64);
            young.collect();
        }
    }
}

/// Allocates all of these in one run of regions.
fn reserve(young: &mut Young, wanted: &[(usize, usize)]) -> Vec<Number> {
    let shapes: Vec<_> = wanted.iter().map(|&(kind, length)| (young.graph.shape(kind), length)).collect();
    let bytes = shapes.iter().map(|(shape, length)| shape.bytes_for(*length).expect("a size")).sum();
    let objects = young.graph.heap.attach(|mutator| {
        let mut room = mutator.make_room(bytes).expect("a run");
        let each = shapes.iter().map(|&(shape, length)| {
            // SAFETY: the shape is the heap's, and the object is initialised before any collection.
            unsafe { mutator.raw().alloc_in_array_raw(&mut room, ArraySite::<PerObject>::new(shape), length) }
        });
        each.map(|object| object.expect("it was reserved")).collect::<Vec<_>>()
    });
    let objects = objects.expect("not attached yet");
    objects.into_iter().zip(wanted).map(|(object, &what)| young.graph.born(what, object)).collect()
}

#[test]
fn a_run_that_was_reserved_for_several_objects_lives_as_long_as_one_of_them() {
    for workers in WORKERS {
        for alive in [0, 100, 150, 299] {
            let mut young = young(workers, 24, limits());
            let objects = reserve(&mut young, &[(PAIR, 0); 300]);
            let [leaf] = young.allocate([(LEAF, 0)]);
            young.refer(objects[alive], 0, leaf);
            young.graph.store(objects[alive], 2, Value::Object(objects[(alive + 1) % 300], 0));
            young.root(objects[alive]);
            let statistics = young.collect();
            assert_eq!((statistics.sum.kept_objects, statistics.weak_cleared), (1, 1));
            assert_eq!(young.regions(State::HumongousStart), 1);
            assert_eq!(young.collect().sum.objects, 1, "the leaf, by a card in the middle of the run");
            young.forget_roots();
            young.collect_full(Compaction::Maximum);
            assert_eq!(young.regions(State::HumongousStart), 0);
        }
    }
}

#[test]
fn several_objects_of_a_run_are_found_again_when_the_stack_overflows() {
    for workers in WORKERS {
        for alive in [0, 1, 2, 3] {
            let mut young = young(workers, 24, Limits { stack: TINY, ..limits() });
            // The last begins in the second region of the run.
            let arrays = reserve(&mut young, &[(ARRAY, 200), (ARRAY, 200), (ARRAY, 300), (ARRAY, 400)]);
            let leaves = young.graph.allocate(&[(PAIR, 0); 60]);
            for (slot, &leaf) in leaves.iter().enumerate() {
                young.refer(arrays[alive], slot * 3, leaf);
                young.refer(leaf, 0, leaves[slot * 7 % 60]);
                young.refer(leaf, 1, leaves[slot * 11 % 60]);
            }
            young.root(arrays[alive]);
            let statistics = young.collect();
            assert!(statistics.overflows > 0, "a stack holds two slots");
            assert_eq!((statistics.sum.kept_objects, statistics.sum.objects), (1, 60));
        }
    }
}

#[test]
fn a_pin_in_a_run_keeps_the_pinned_object() {
    for workers in WORKERS {
        let mut young = young(workers, 24, limits());
        let objects = reserve(&mut young, &[(PAIR, 0); 300]);
        young.graph.model.pins.insert(objects[200]);
        young.refer(objects[200], 1, objects[10]);
        assert_eq!(young.collect().sum.kept_objects, 2);
        young.collect();
    }
}

/// Cards and starts of a run lie elsewhere once it has moved; the objects in its old place have
/// their own.
#[test]
fn a_run_that_moved_is_old_where_it_is_now() {
    for workers in WORKERS {
        let mut young = young(workers, 24, limits());
        let [above] = young.allocate([(ARRAY, LENGTH)]);
        let [array] = young.allocate([(ARRAY, LENGTH)]);
        young.root(above);
        young.root(array);
        young.collect();
        let before = young.graph.addresses[&array];
        young.collect_full(Compaction::Together);
        assert_ne!(young.graph.addresses[&array], before);
        // The run moves by less than its length.
        young.forget_roots();
        young.root(above);
        young.collect_full(Compaction::Together);
        for slot in [0, LENGTH / 2, LENGTH - 1] {
            let [leaf] = young.allocate([(LEAF, 0)]);
            young.graph.store(above, slot, Value::Object(leaf, 0));
        }
        assert_eq!(young.collect().sum.objects, 3, "by the cards of where it is");
        assert_eq!(young.regions(State::HumongousStart), 1);
        let [third] = young.allocate([(ARRAY, LENGTH)]);
        young.root(third);
        assert_eq!(young.collect().sum.kept_objects, 1);
        young.collect();
    }
}
