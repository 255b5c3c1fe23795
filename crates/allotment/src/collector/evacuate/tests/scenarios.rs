//! Ages, limits, weak slots, and the treatment of freed memory.

use super::*;
use crate::collector::full::Compaction;
use crate::region::{CARD_BYTES, State};
use std::num::NonZeroU32;

#[test]
fn an_empty_heap_is_collected() {
    for workers in WORKERS {
        assert_eq!(young(workers, 2, limits()).collect().sum.objects, 0);
    }
}

#[test]
fn dead_objects_cost_nothing_and_their_regions_are_free() {
    for workers in WORKERS {
        let mut young = young(workers, 8, limits());
        while young.graph.allocate(&[(BYTES, 40); 100]).len() == 100 {}
        assert_eq!((young.collect().sum.objects, young.regions(State::Free)), (0, 8));
    }
}

#[test]
fn objects_survive_as_often_as_the_threshold_says() {
    for workers in WORKERS {
        for threshold in [0, 1, 2, 15] {
            let mut young = young(workers, 8, Limits { tenuring_threshold: threshold, ..limits() });
            let [first, second, leaf] = young.allocate([(PAIR, 0), (PAIR, 0), (LEAF, 0)]);
            young.graph.dress(second, NonZeroU32::new(0xDEAD_BEEF).expect("not 0"), 0);
            young.root(first);
            young.refer(first, 0, second);
            young.refer(second, 1, leaf);
            for collections in 0..18 {
                let statistics = young.collect();
                let is_old = collections >= threshold;
                assert_eq!([first, second, leaf].map(|object| young.is_old(object)), [is_old; 3]);
                let copied = if collections <= threshold { 3 } else { 0 };
                assert_eq!(statistics.sum.objects, copied, "collection {collections}, threshold {threshold}");
            }
        }
    }
}

#[test]
fn copies_beyond_the_survivor_limit_become_old() {
    for workers in WORKERS {
        for (limit, some_survive) in [(0, false), (2048, true)] {
            let mut young = young(workers, 32, Limits { survivor_bytes: limit, ..limits() });
            for object in young.graph.allocate(&[(PAIR, 0); 800]) {
                young.root(object);
            }
            let statistics = young.collect();
            let survived = statistics.sum.survived.iter().sum::<u64>() as usize;
            assert_eq!(survived > 0, some_survive);
            // Each worker may have had a buffer when the limit was passed.
            assert!(survived <= if some_survive { limit + workers * 1024 } else { 0 }, "{survived} bytes");
            assert_eq!(survived as u64 + statistics.sum.promoted_bytes, 800 * 40);
        }
    }
}

#[test]
fn arrays_are_copied_in_pieces_young_and_old() {
    for workers in WORKERS {
        for threshold in [0, 3] {
            let mut young = young(workers, 32, Limits { tenuring_threshold: threshold, ..limits() });
            let [array] = young.allocate([(ARRAY, 300)]);
            young.root(array);
            for round in 0..5 {
                let elements = young.graph.allocate(&[(PAIR, 0); 150]);
                for (index, &element) in elements.iter().enumerate() {
                    young.refer(array, (index * 2 + round) % 300, element);
                }
                young.collect();
            }
            assert!(young.is_old(array));
        }
    }
}

#[test]
fn slots_that_overflow_a_stack_are_found_again() {
    for workers in WORKERS {
        for (threshold, pinned) in [(0, false), (15, false), (15, true), (0, true)] {
            let mut young =
                young(workers, 24, Limits { tenuring_threshold: threshold, stack: TINY, ..limits() });
            let arrays = young.graph.allocate(&[(ARRAY, 30); 20]);
            for (turn, &array) in arrays.iter().enumerate() {
                (0..30).for_each(|slot| young.refer(array, slot, arrays[(turn * 7 + slot) % 20]));
            }
            young.root(arrays[3]);
            if pinned {
                young.graph.model.pins.insert(arrays[10]);
            }
            let statistics = young.collect();
            assert!(statistics.overflows > 0, "a stack holds two slots");
            assert_eq!(statistics.sum.objects + statistics.sum.kept_objects, 20);
            assert_eq!(statistics.sum.kept_objects > 0, pinned);
            young.collect();
        }
    }
}

/// The place of a weak slot, and the fate of its referent.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Root,
    Dead,
    Survives,
    Promoted,
    Pinned,
    Old,
}

#[test]
fn weak_slots_are_cleared_when_their_referent_dies_and_then_only() {
    let makes = |young: &mut Young, what: What| {
        let [object] = young.allocate([(PAIR, 0)]);
        match what {
            What::Old => {
                young.root(object);
                young.limits.tenuring_threshold = 0;
                young.collect();
            }
            // Of an age that is below the threshold of 5, or not.
            What::Promoted => {
                young.graph.dress(object, NonZeroU32::MIN, 9);
                young.root(object);
            }
            What::Survives => young.root(object),
            What::Pinned => drop(young.graph.model.pins.insert(object)),
            What::Dead | What::Root => {}
        }
        object
    };
    for workers in WORKERS {
        for holder in [What::Root, What::Survives, What::Promoted, What::Pinned, What::Old] {
            for referent in [What::Dead, What::Survives, What::Promoted, What::Pinned, What::Old] {
                let mut young = young(workers, 16, limits());
                let (from, to) = match holder {
                    // An old object is made first: it takes a collection.
                    What::Old => (makes(&mut young, holder), makes(&mut young, referent)),
                    _ => {
                        let to = makes(&mut young, referent);
                        // In a region of its own, in case one of the two is pinned.
                        young.graph.allocate(&[(BYTES, REGION - 32)]);
                        (makes(&mut young, holder), to)
                    }
                };
                match holder {
                    What::Root => young.graph.root(Value::Object(to, 4), SlotKind::Weak),
                    _ => young.graph.store(from, 2, Value::Object(to, 4)),
                }
                young.limits.tenuring_threshold = 5;
                for collection in 0..3 {
                    let statistics = young.collect();
                    let cleared = u64::from(referent == What::Dead && collection == 0);
                    assert_eq!(statistics.weak_cleared, cleared, "{holder:?} to {referent:?}");
                }
                let is_old = !matches!(referent, What::Survives | What::Dead);
                assert_eq!(young.is_old(to), is_old, "{holder:?} to {referent:?}");
            }
        }
    }
}

#[test]
fn a_pin_keeps_its_region_and_dead_objects_there_are_covered() {
    for workers in WORKERS {
        let mut young = young(workers, 8, limits());
        let objects = young.graph.allocate(&[(PAIR, 0); 60]);
        let (pinned, beside, behind) = (objects[20], objects[21], objects[50]);
        young.graph.model.pins.insert(pinned);
        young.root(beside);
        let [new] = young.allocate([(BYTES, REGION - 100)]);
        young.refer(beside, 0, new);
        young.refer(pinned, 0, behind);
        let statistics = young.collect();
        assert_eq!((statistics.sum.kept_objects, statistics.sum.objects), (3, 1));
        assert_eq!(statistics.sum.stayed_bytes, 3 * 40);
        assert_eq!(young.state_at(beside), State::Old);
        assert_eq!(young.state_at(new), State::Survivor);
        // Only the card of `beside` leads to `new`.
        young.forget_roots();
        assert_eq!(young.collect().sum.cards_dirty, 1);
        assert_eq!(young.state_at(new), State::Survivor);
        young.graph.model.pins.clear();
        young.collect_full(Compaction::Maximum);
        assert_eq!(young.regions(State::Old), 0);
    }
}

#[test]
fn an_old_region_with_room_is_filled_on() {
    for workers in WORKERS {
        let limits = Limits { tenuring_threshold: 0, ..limits() };
        let mut young = Young::new((32 << 10, 12), "", workers, limits);
        for _ in 0..10 {
            for object in young.graph.allocate(&[(PAIR, 0); 10]) {
                young.root(object);
            }
            young.collect();
        }
        assert_eq!(young.regions(State::Old), 1);
        // After a full collection too, and where a pin made a region old.
        young.collect_full(Compaction::Maximum);
        let [pinned, other] = young.allocate([(LEAF, 0), (LEAF, 0)]);
        young.graph.model.pins.insert(pinned);
        young.root(other);
        for _ in 0..10 {
            let [next] = young.allocate([(LEAF, 0)]);
            young.root(next);
            young.collect();
        }
        assert_eq!(young.regions(State::Old), 2);
    }
}

#[test]
fn the_rest_of_a_buffer_in_an_old_region_is_used_again() {
    let limits = Limits { tenuring_threshold: 0, old_plab_bytes: REGION, ..limits() };
    let mut young = young(1, 8, limits);
    // Objects of 896 bytes: four fill a region of buffers. Four leave a card of a buffer that is a
    // region, and one has the next region.
    for object in young.allocate([(BYTES, 872); 9]) {
        young.root(object);
    }
    young.collect();
    let table = young.graph.heap.shared.space.free.table();
    let room = |index| table.end(index) - table.get(index).top();
    let mut rooms: Vec<usize> = young.regions_in(State::Old).into_iter().map(room).collect();
    rooms.sort_unstable();
    // That the space has the second one is checked after each collection.
    assert_eq!(rooms, [0, CARD_BYTES, REGION - 2 * CARD_BYTES]);
}

#[test]
fn freed_memory_is_disposed_of_as_the_heap_is_told() {
    for options in
        ["+ZealPoison", "+ZealProtect", "ZealQuarantine=2", "+ZealPoison,+ZealProtect,ZealQuarantine=1"]
    {
        for workers in WORKERS {
            let mut young = Young::new((8192, 24), options, workers, limits());
            let [list] = young.allocate([(PAIR, 0)]);
            young.root(list);
            for round in 0..12 {
                let objects =
                    young.graph.allocate(&[(PAIR, 0), (BYTES, 3000), (PAIR, 0), (BYTES, 9000), (LEAF, 0)]);
                young.refer(objects[0], 0, objects[2]);
                young.refer(list, round % 2, objects[0]);
                young.graph.model.pins.clear();
                young.graph.model.pins.insert(objects[round % objects.len()]);
                young.limits.tenuring_threshold = (round % 4) as u8;
                young.collect();
                if round % 5 == 4 {
                    young.collect_full(Compaction::MoveAll);
                }
            }
        }
    }
}
