//! Objects larger than a region.

use super::graph::{ARRAY, BYTES, Graph};
use super::model::Value;
use super::*;

/// Slots of an array of more than two regions.
const LENGTH: usize = 2 * REGION / 8;

#[test]
fn they_stay_in_place_and_die_as_a_whole() {
    for workers in WORKERS {
        let mut graph = Graph::new(workers, 12, 64, 4);
        let objects = graph.allocate(&[(ARRAY, LENGTH), (BYTES, 3 * REGION), (0, 0), (0, 0)]);
        let [array, bytes, first, second] = objects[..] else { panic!("all fit") };
        let place = graph.addresses[&array];
        graph.store(array, LENGTH - 1, Value::Object(second, 0));
        graph.store(second, 2, Value::Object(bytes, 0));
        graph.store(array, 0, Value::Object(array, 2));
        graph.root(Value::Object(array, 0), SlotKind::Strong);
        graph.root(Value::Object(first, 0), SlotKind::Weak);

        let statistics = graph.collect(Compaction::Maximum);
        assert_eq!((statistics.live_objects, statistics.weak_cleared), (2, 2));
        assert_eq!((statistics.details.humongous_freed, statistics.details.regions_freed), (1, 4));
        assert_eq!(graph.addresses[&array], place);

        graph.model.pins.insert(array);
        graph.collect(Compaction::MoveAll);
        graph.model.pins.clear();
        graph.roots.clear();
        graph.model.roots.clear();
        let statistics = graph.collect(Compaction::Maximum);
        assert_eq!((statistics.details.humongous_freed, statistics.used_after), (1, 0));
    }
}

#[test]
fn memory_of_dead_humongous_objects_takes_sliding_objects() {
    for workers in WORKERS {
        let mut graph = Graph::new(workers, 4, 64, 4);
        let objects = graph.allocate(&[(BYTES, REGION + 1), (BYTES, REGION / 2), (BYTES, REGION / 4)]);
        graph.root(Value::Object(objects[1], 0), SlotKind::Strong);
        graph.root(Value::Object(objects[2], 0), SlotKind::Strong);
        graph.collect(Compaction::MoveAll);
        // Two regions in one piece are free again.
        assert_eq!(graph.allocate(&[(BYTES, REGION + 1)]).len(), 1);
    }
}

#[test]
fn arrays_of_references_are_marked_in_pieces() {
    for workers in WORKERS {
        let mut graph = Graph::new(workers, 24, 2, 1);
        let array = graph.allocate(&[(ARRAY, LENGTH)])[0];
        graph.root(Value::Object(array, 0), SlotKind::Strong);
        let elements = graph.allocate(&vec![(0, 0); LENGTH]);
        for (slot, &element) in elements.iter().enumerate() {
            graph.store(array, slot, Value::Object(element, 0));
        }
        let inner = graph.allocate(&[(ARRAY, LENGTH)])[0];
        graph.store(elements[LENGTH / 2], 0, Value::Object(inner, 0));
        graph.store(inner, LENGTH - 1, Value::Object(elements[0], 0));
        let statistics = graph.collect(Compaction::Maximum);
        assert_eq!(statistics.live_objects, LENGTH as u64 + 2);
        assert!(statistics.details.mark_overflows > 0, "the stack holds two entries");
    }
}
