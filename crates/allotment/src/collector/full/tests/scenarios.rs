//! Heaps at the ends of the scale.

use super::graph::{ARRAY, BYTES, Graph};
use super::model::Value;
use super::*;
use crate::mutator::{ArraySite, ByCaller, PerObject};
use crate::options::CollectorKind;
use crate::region::State;

fn fill(graph: &mut Graph) -> Vec<u64> {
    let objects = graph.allocate(&[(BYTES, 40); 2000]);
    assert!(objects.len() < 2000, "the heap is full");
    objects
}

#[test]
fn an_empty_heap_is_collected() {
    for workers in WORKERS {
        let statistics = Graph::new(workers, 2, 2, 1).collect(Compaction::Maximum);
        assert_eq!((statistics.live_objects, statistics.used_after), (0, 0));
    }
}

#[test]
fn a_dead_heap_is_free_afterwards() {
    for workers in WORKERS {
        let mut graph = Graph::new(workers, 8, 64, 4);
        fill(&mut graph);
        let statistics = graph.collect(Compaction::Garbage { percent: 100 });
        assert_eq!((statistics.used_after, statistics.details.regions_freed), (0, 8));
        assert_eq!(statistics.used_after, 0);
        let again = fill(&mut graph).len();
        assert!(again * 64 > 7 * REGION, "all of it is usable");
    }
}

#[test]
fn a_live_heap_is_left_alone_or_slides_onto_itself() {
    for workers in WORKERS {
        let mut graph = Graph::new(workers, 8, 64, 4);
        for object in fill(&mut graph) {
            graph.root(Value::Object(object, 0), SlotKind::Strong);
        }
        let statistics = graph.collect(Compaction::Garbage { percent: 1 });
        assert_eq!((statistics.details.regions_left_alone, statistics.moved_bytes), (8, 0));
        for compaction in [Compaction::Maximum, Compaction::MoveAll] {
            let statistics = graph.collect(compaction);
            assert_eq!((statistics.details.regions_left_alone, statistics.moved_bytes), (0, 0));
        }
    }
}

#[test]
fn everything_moves_by_way_of_a_free_region() {
    for workers in WORKERS {
        let mut graph = Graph::new(workers, 8, 64, 4);
        let objects = graph.allocate(&[(BYTES, 40); 6 * 60]);
        assert_eq!(objects.len(), 6 * 60);
        for &object in &objects {
            graph.root(Value::Object(object, 0), SlotKind::Strong);
        }
        for _ in 0..5 {
            let before = graph.addresses.clone();
            let statistics = graph.collect(Compaction::MoveAll);
            assert_eq!(statistics.moved_bytes, statistics.live_bytes);
            assert!(before.iter().all(|(object, place)| graph.addresses[object] != *place));
        }
    }
}

#[test]
fn a_full_heap_with_a_hole_in_every_region_is_compacted_without_free_memory() {
    for workers in WORKERS {
        let mut graph = Graph::new(workers, 8, 64, 4);
        let objects = fill(&mut graph);
        for &object in objects.iter().filter(|&object| object % 4 != 0) {
            graph.root(Value::Object(object, 0), SlotKind::Strong);
        }
        let statistics = graph.collect(Compaction::Garbage { percent: 5 });
        assert!(statistics.details.regions_freed >= 1);
        assert_eq!(statistics.live_objects, graph.roots.len() as u64);
        assert!(!graph.allocate(&[(BYTES, REGION - 24)]).is_empty(), "a whole region is free");
    }
}

/// 300 arrays of 60 objects each, half of which are garbage.
#[test]
fn workers_steal_from_each_other_and_nothing_is_lost() {
    for workers in 2..=4 {
        let mut graph = Graph::new(workers, 400, 64, 1 << 10);
        let roots = graph.allocate(&[(ARRAY, 300)]);
        let arrays = graph.allocate(&[(ARRAY, 60); 300]);
        graph.root(Value::Object(roots[0], 0), SlotKind::Strong);
        for (slot, &array) in arrays.iter().enumerate() {
            graph.store(roots[0], slot, Value::Object(array, 0));
            let leaves = graph.allocate(&[(0, 0); 60]);
            for (slot, &leaf) in leaves.iter().enumerate().step_by(2) {
                graph.store(array, slot, Value::Object(leaf, 0));
            }
        }
        // The others may wake up when all is done, but not always.
        let stolen = (0..200).any(|_| graph.collect(Compaction::MoveAll).details.steals > 0);
        assert!(stolen, "{workers} workers");
    }
}

#[test]
fn a_list_of_a_million_needs_no_stack() {
    const LENGTH: usize = 1_000_000;
    let heap = Heap::builder()
        .collector(CollectorKind::MarkCompact)
        .max_heap_size(64 << 20)
        .build()
        .expect("a heap");
    let mut tools = tools(&heap, 1, 2, 1);
    let shape = heap.register(Shape::fixed("Cell", 16).slot("next", 8, SlotKind::Strong)).expect("a shape");
    let head = heap.attach(|mutator| {
        (0..LENGTH).fold(0, |next, _| {
            // SAFETY: the shape is the heap's, and its slot is written.
            unsafe {
                let cell =
                    mutator.raw().try_alloc_array_raw(ArraySite::<ByCaller>::new(shape), 0).expect("room");
                cell.byte_add(8).cast::<u64>().write(next);
                cell.addr().get() as u64
            }
        })
    });
    let mut roots = [(head.expect("not attached"), SlotKind::Strong)];
    let thread = std::thread::Builder::new().stack_size(128 << 10);
    std::thread::scope(|scope| {
        let collection = || collect_detached(&heap, &mut tools, &mut roots, &[], Compaction::Maximum);
        let statistics = thread.spawn_scoped(scope, collection).expect("a thread").join().expect("no panic");
        assert_eq!((statistics.live_objects, statistics.details.mark_overflows), (LENGTH as u64, 0));
    });
    heap.verify().expect("a sound heap");
}

#[test]
fn objects_that_overflow_the_mark_stack_are_found_again() {
    for workers in WORKERS {
        let mut graph = Graph::new(workers, 16, 2, 1);
        let arrays = graph.allocate(&[(ARRAY, 30); 20]);
        for (turn, &array) in arrays.iter().enumerate() {
            for slot in 0..30 {
                graph.store(array, slot, Value::Object(arrays[(turn * 7 + slot) % 20], 0));
            }
        }
        graph.root(Value::Object(arrays[3], 0), SlotKind::Strong);
        let statistics = graph.collect(Compaction::Maximum);
        assert_eq!(statistics.live_objects, 20);
        assert!(statistics.details.mark_overflows > 0);
    }
}

/// Regression: the fixed slots of an object that was looked at again filled the stack each time. So
/// the rest of its tail never found room.
#[test]
fn an_object_of_many_slots_is_looked_at_again_until_its_tail_is_done() {
    const TAIL: usize = 50;
    for workers in WORKERS {
        let heap = heap(8);
        let leaf = heap.register(Shape::fixed("Leaf", 16)).expect("a shape");
        let wide = Shape::array("Wide", 48, Element::Reference(SlotKind::Strong));
        let slots = [16, 24, 32, 40];
        let wide =
            slots.into_iter().fold(wide, |wide, at| wide.slot(format!("at{at}"), at, SlotKind::Strong));
        let wide = heap.register(wide).expect("a shape");
        let top = heap.attach(|mutator| {
            // SAFETY: the shapes are the heap's, no collection comes, and only slots are written.
            unsafe {
                let top =
                    mutator.raw().try_alloc_array_raw(ArraySite::<PerObject>::new(wide), TAIL).expect("room");
                for slot in (16..48 + TAIL * 8).step_by(8) {
                    let leaf = mutator
                        .raw()
                        .try_alloc_array_raw(ArraySite::<PerObject>::new(leaf), 0)
                        .expect("room");
                    top.byte_add(slot).cast::<u64>().write(leaf.addr().get() as u64);
                }
                top.addr().get() as u64
            }
        });
        let (mut tools, mut roots) =
            (tools(&heap, workers, 2, 1), [(top.expect("not attached"), SlotKind::Strong)]);
        let statistics = collect_detached(&heap, &mut tools, &mut roots, &[], Compaction::Maximum);
        assert_eq!(statistics.live_objects, 1 + (slots.len() + TAIL) as u64);
        assert!(statistics.details.mark_overflows > 0);
        heap.verify().expect("a sound heap");
    }
}

/// Regression: overflowed objects after the first region of a run were not looked at again.
#[test]
fn objects_anywhere_in_a_run_are_looked_at_again() {
    const CELLS: usize = 40;
    for workers in WORKERS {
        let heap = heap(16);
        let cell =
            heap.register(Shape::fixed("Cell", 16).slot("next", 8, SlotKind::Strong)).expect("a shape");
        let bytes = heap.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 })).expect("a shape");
        let array =
            heap.register(Shape::array("Array", 16, Element::Reference(SlotKind::Strong))).expect("a shape");
        let top = heap.attach(|mutator| {
            let mut room = mutator.make_room(3 * REGION).expect("room");
            // SAFETY: the shapes are the heap's, no collection comes, and only slots are written.
            unsafe {
                let top = mutator
                    .raw()
                    .try_alloc_array_raw(ArraySite::<PerObject>::new(array), CELLS)
                    .expect("room");
                let site = ArraySite::<PerObject>::new(bytes);
                // All others lie after the first region.
                mutator.raw().alloc_in_array_raw(&mut room, site, REGION + 100).expect("it was reserved");
                for index in 0..CELLS {
                    let inner =
                        mutator.raw().alloc_in_array_raw(&mut room, ArraySite::<PerObject>::new(cell), 0);
                    let inner = inner.expect("it was reserved");
                    let leaf = mutator
                        .raw()
                        .try_alloc_array_raw(ArraySite::<PerObject>::new(cell), 0)
                        .expect("room");
                    leaf.byte_add(8).cast::<u64>().write(0);
                    inner.byte_add(8).cast::<u64>().write(leaf.addr().get() as u64);
                    top.byte_add(16 + index * 8).cast::<u64>().write(inner.addr().get() as u64);
                }
                top.addr().get() as u64
            }
        });
        let (mut tools, mut roots) =
            (tools(&heap, workers, 2, 1), [(top.expect("not attached"), SlotKind::Strong)]);
        let statistics = collect_detached(&heap, &mut tools, &mut roots, &[], Compaction::Maximum);
        assert_eq!(statistics.live_objects, 1 + 2 * CELLS as u64);
        assert!(statistics.details.mark_overflows > 0);
        heap.verify().expect("a sound heap");
    }
}

#[test]
fn regions_that_one_thread_fills_keep_their_objects() {
    for workers in WORKERS {
        let mut graph = Graph::new(workers, 6, 64, 4);
        let shared = graph.heap.shared.clone();
        let table = shared.space.free.table();
        let objects = graph.allocate(&[(0, 0), (5, 0), (0, 0)]);
        graph.store(objects[0], 0, Value::Object(objects[1], 0));
        let index = table.index_of(graph.addresses[&objects[0]]);
        // The state of a region that one thread fills between two marks.
        shared.space.free.forget_room();
        table.get(index).set_state(State::Exclusive);
        let mut roots = [];
        let statistics =
            collect_detached(&graph.heap, &mut graph.tools, &mut roots, &[], Compaction::MoveAll);
        assert_eq!((statistics.live_objects, statistics.moved_bytes), (3, 0));
        assert_eq!(table.get(index).state(), State::Exclusive);
        shared.space.free.share_region(index);
        assert_eq!(graph.collect(Compaction::Maximum).live_objects, 0);
    }
}

/// A heap in which nothing moves: slots are looked at if an object has a weak one, weak roots in
/// any case.
#[test]
fn weak_slots_are_cleared_even_if_nothing_moves() {
    /// Kinds with a weak slot: the last of three, in the tail, shown by a function.
    const NODE: usize = 0;
    const WEAK_ARRAY: usize = 2;
    const TRACED: usize = 4;
    for workers in WORKERS {
        for kind in [BYTES, ARRAY, WEAK_ARRAY, NODE, TRACED] {
            let mut graph = Graph::new(workers, 8, 64, 4);
            let objects = graph.allocate(&[(kind, 1), (BYTES, 40), (BYTES, 40), (BYTES, 40), (BYTES, 40)]);
            let [holder, kept, dead, alive, other] = objects[..] else { panic!("all fit") };
            for object in [holder, kept, alive] {
                graph.root(Value::Object(object, 0), SlotKind::Strong);
            }
            graph.root(Value::Object(dead, 0), SlotKind::Weak);
            graph.root(Value::Object(alive, 0), SlotKind::Weak);
            let mut cleared = 1;
            // The last slot is the weak one if there is one.
            let weak = matches!(kind, WEAK_ARRAY | NODE | TRACED);
            if let Some(slot) = match kind {
                BYTES => None,
                ARRAY | WEAK_ARRAY => Some(usize::from(kind == WEAK_ARRAY)),
                NODE => Some(2),
                _ => Some(1),
            } {
                graph.store(holder, slot, Value::Object(other, 0));
                cleared += u64::from(weak);
            }
            let statistics = graph.collect(Compaction::Garbage { percent: 100 });
            assert_eq!(statistics.moved_bytes, 0);
            assert_eq!(statistics.weak_slots, weak, "kind {kind}");
            assert_eq!(statistics.weak_cleared, cleared, "kind {kind}");
        }
    }
}

/// With `AlwaysPreTouch` tables stay; without, large ones are given back.
#[test]
fn tables_of_a_heap_that_is_touched_ahead_are_kept() {
    for touched_for in [0, 9 * REGION] {
        let mut graph = Graph::new(2, 24, 64, 4);
        let (base, heap_bytes) = (graph.heap.base(), graph.heap.geometry().heap_bytes());
        graph.tools.tables.map =
            LiveMap::new(base, heap_bytes, Pages { huge: false, touched_for, touching: 2 }).expect("a map");
        let objects = fill(&mut graph);
        for round in 0..3 {
            graph.roots.clear();
            graph.model.roots.clear();
            for &object in &objects[..objects.len() / (round + 1)] {
                graph.root(Value::Object(object, 0), SlotKind::Strong);
            }
            graph.collect(Compaction::Maximum);
            assert_eq!(graph.tools.tables.map.is_kept(), touched_for > 0);
        }
    }
}
