//! Without memory for copies, live objects stay and become old.

use super::*;
use crate::collector::full::Compaction;
use crate::collector::full::tests::model::Number;
use crate::region::State;

/// Fills the free memory, with at most `most` objects.
fn fill(young: &mut Young, most: usize) -> Vec<Number> {
    young.graph.allocate(&vec![(PAIR, 0); most])
}

#[test]
fn without_a_free_region_everything_stays_and_a_full_collection_puts_it_together() {
    for workers in WORKERS {
        let mut young = young(workers, 8, limits());
        let objects = fill(&mut young, 2000);
        assert!(objects.len() < 2000, "the heap is full");
        for (index, &object) in objects.iter().enumerate().filter(|(index, _)| index % 4 != 0) {
            young.root(object);
            young.refer(object, 0, objects[(index * 7) % objects.len()]);
        }
        let statistics = young.collect();
        assert_eq!((statistics.sum.objects, statistics.sum.stayed_bytes), (0, 0));
        assert!(statistics.sum.kept_bytes > 0);
        assert_eq!(young.regions(State::Old), 8);
        // Nothing is young any more, and nothing is free.
        assert_eq!(young.collect().sum.kept_objects, 0);
        young.graph.roots.truncate(300);
        young.graph.model.roots.truncate(300);
        young.collect_full(Compaction::Maximum);
        assert!(young.regions(State::Free) > 0);
        young.collect();
    }
}

#[test]
fn objects_without_memory_for_a_copy_stay_beside_those_that_moved() {
    for workers in WORKERS {
        for threshold in [0, 15] {
            for free in 1..4 {
                let limits = Limits { tenuring_threshold: threshold, ..limits() };
                let mut young = young(workers, 12, limits);
                let mut held = Vec::new();
                while young.regions(State::Shared) < 12 - free {
                    held.extend(fill(&mut young, 20));
                }
                for (index, &object) in held.iter().enumerate() {
                    young.refer(object, 0, held[(index + 1) % held.len()]);
                    young.refer(object, 1, held[(index * 31) % held.len()]);
                    young.graph.store(object, 2, Value::Object(held[(index * 13) % held.len()], 0));
                }
                young.root(held[0]);
                let statistics = young.collect();
                assert!(statistics.sum.objects > 0 && statistics.sum.kept_objects > 0);
                assert_eq!(statistics.sum.objects + statistics.sum.kept_objects, held.len() as u64);
                // Cards of objects that stayed lead to objects that moved.
                young.forget_roots();
                young.collect();
                young.root(held[0]);
                young.collect_full(Compaction::Maximum);
                young.forget_roots();
                young.collect_full(Compaction::Maximum);
                assert_eq!(young.regions(State::Old), 0);
            }
        }
    }
}

#[test]
fn a_region_in_which_something_stayed_is_parsable_whatever_was_copied_from_it() {
    for workers in WORKERS {
        let mut young = young(workers, 8, limits());
        // Of all sizes, and a few that survive, so that there are gaps of all sizes.
        let mut objects = Vec::new();
        while young.regions(State::Shared) < 7 {
            objects.extend(young.graph.allocate(&[(BYTES, objects.len() * 37 % 190)]));
        }
        objects.iter().filter(|&object| object % 3 != 1).for_each(|&object| young.root(object));
        let statistics = young.collect();
        assert!(statistics.sum.kept_objects > 0 && statistics.sum.objects > 0);
        young.collect_full(Compaction::Maximum);
        young.collect();
    }
}

#[test]
fn without_memory_and_without_a_stack_nothing_is_lost() {
    for workers in WORKERS {
        let mut young = young(workers, 12, Limits { stack: TINY, ..limits() });
        let arrays = young.graph.allocate(&[(ARRAY, 60); 200]);
        assert!(arrays.len() < 200, "the heap is full");
        for (turn, &array) in arrays.iter().enumerate() {
            (0..60).for_each(|slot| young.refer(array, slot, arrays[(turn * 7 + slot * 3) % arrays.len()]));
        }
        young.root(arrays[0]);
        let statistics = young.collect();
        assert!(statistics.overflows > 0 && statistics.sum.kept_objects > 0);
    }
}
