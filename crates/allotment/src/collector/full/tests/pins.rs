//! Pinned objects, and objects that slide around them.

use super::graph::{BYTES, Graph};
use super::model::Value;
use super::*;

/// A region and a half of objects, every third of which is a root.
fn heap_with_garbage(workers: usize, length: usize) -> (Graph, Vec<u64>) {
    let mut graph = Graph::new(workers, 4, 64, 4);
    let count = 3 * REGION / 2 / (24 + length.next_multiple_of(8));
    let objects = graph.allocate(&vec![(BYTES, length); count]);
    assert_eq!(objects.len(), count);
    for &object in objects.iter().step_by(3) {
        graph.root(Value::Object(object, 0), SlotKind::Strong);
    }
    (graph, objects)
}

#[test]
fn one_pin_at_every_position() {
    for workers in WORKERS {
        // 32 bytes fill blocks exactly, 24 and 40 do not, 512 are a block.
        for length in [0, 8, 16, 488] {
            for position in 0..heap_with_garbage(workers, length).1.len() {
                let (mut graph, objects) = heap_with_garbage(workers, length);
                graph.model.pins.insert(objects[position]);
                graph.collect(Compaction::Maximum);
                graph.collect(Compaction::MoveAll);
                graph.model.pins.clear();
                graph.collect(Compaction::Maximum);
            }
        }
    }
}

#[test]
fn everything_pinned_moves_nothing() {
    for workers in WORKERS {
        let (mut graph, objects) = heap_with_garbage(workers, 8);
        graph.model.pins.extend(&objects);
        let statistics = graph.collect(Compaction::MoveAll);
        assert_eq!((statistics.moved_bytes, statistics.details.regions_freed), (0, 0));
        graph.model.pins = objects.iter().copied().step_by(2).collect();
        let statistics = graph.collect(Compaction::Maximum);
        assert!(statistics.moved_bytes > 0 && statistics.used_after < statistics.used_before);
    }
}

#[test]
fn a_pin_keeps_what_it_refers_to() {
    for workers in WORKERS {
        let mut graph = Graph::new(workers, 4, 64, 4);
        let objects = graph.allocate(&[(5, 0), (0, 0), (5, 0), (0, 0)]);
        graph.store(objects[1], 0, Value::Object(objects[3], 6));
        graph.model.pins.insert(objects[1]);
        assert_eq!(graph.collect(Compaction::Maximum).live_objects, 2);
        graph.model.pins.clear();
        assert_eq!(graph.collect(Compaction::Maximum).live_objects, 0);
    }
}
