//! Runs that move, and the pinned runs that they move around.

use super::graph::{ARRAY, BYTES, Graph};
use super::model::{Number, Value};
use super::*;
use crate::region::State;
use proptest::prelude::*;

/// The length of an array of bytes that fills this many regions except for one word.
fn filling(regions: usize) -> usize {
    regions * REGION - 32
}

/// A heap whose freed memory has the pattern, so that the verifier finds stale writes.
fn graph(workers: usize, regions: usize) -> Graph {
    let builder = Heap::builder().test_geometry(REGION, regions).use_transparent_huge_pages(false);
    let options = "Collector=mark-compact,+ZealPoison";
    Graph::of(builder.options(options).expect(options).build().expect("a heap"), workers, 64, 4)
}

/// A sign for each region: `.` for a free one, `o` for one with objects. A region of a run has the
/// sign of its object in `names`, or `r`.
fn drawn(graph: &Graph, names: &[(char, Number)]) -> String {
    let table = graph.heap.shared.space.free.table();
    let sign = |index: usize| match table.get(index).state() {
        State::Free | State::Uncommitted => '.',
        State::HumongousStart | State::HumongousContinuation => {
            let within = |object| (table.bottom(index)..table.end(index)).contains(object);
            let begins = |number: &Number| graph.addresses.get(number).is_some_and(within);
            names.iter().find(|(_, number)| begins(number)).map_or('r', |(name, _)| *name)
        }
        _ => 'o',
    };
    (0..table.len()).map(sign).collect()
}

/// The length of the longest stretch of free regions, and the number of all free regions.
fn free_regions(graph: &Graph) -> (usize, usize) {
    let drawn = drawn(graph, &[]);
    let longest = drawn.split(|sign| sign != '.').map(str::len).max().unwrap_or(0);
    (longest, drawn.matches('.').count())
}

/// A heap of runs as drawn, from the bottom up: `.` is free, upper-case letters are live runs,
/// others are dead runs, `#` is a live and pinned run; `+` is a further region of the run before.
fn heap_of_runs(workers: usize, layout: &str) -> (Graph, Vec<(char, Number)>) {
    let mut graph = graph(workers, layout.len());
    let mut names = Vec::new();
    // The first run that is made is the highest.
    let mut more = 0;
    for sign in layout.chars().rev() {
        if sign == '+' {
            more += 1;
            continue;
        }
        if sign == '.' {
            break;
        }
        // Arrays of references, in each other heap.
        let what = match workers % 2 {
            0 => (BYTES, filling(more + 1)),
            _ => (ARRAY, filling(more + 1) / 8),
        };
        let made = graph.allocate(&[what]);
        assert_eq!(made.len(), 1, "{layout}");
        more = 0;
        if sign.is_uppercase() || sign == '#' {
            graph.root(Value::Object(made[0], 0), SlotKind::Strong);
            names.push((sign, made[0]));
        }
        if sign == '#' {
            graph.model.pins.insert(made[0]);
        }
    }
    (graph, names)
}

#[test]
fn runs_go_down_in_order_and_around_pinned_objects() {
    for (before, after) in [
        ("a+B+c+D+", "BrDr...."),
        ("A+b+C+d+", "ArCr...."),
        ("a+B++c+D+++e+F+", "BrrDrrrFr......"),
        ("A+B+C++", "ArBrCrr"),
        // The run moves by less than its own length.
        ("a+B+++++", "Brrrrr.."),
        // A pinned one stays, and others go past it where they fit.
        ("a+B+#+c+D+", "BrDr#r...."),
        ("a+#+B+++c+D+", "Dr#rBrrr...."),
        ("a+#+B++c+", "..#rBrr.."),
        // Nothing comes from above the wall to where more is free than there.
        ("a++++++#+B+", ".......#rBr"),
        ("#+a+B+", "#rBr.."),
    ] {
        for workers in WORKERS {
            let (mut graph, names) = heap_of_runs(workers, before);
            let statistics = graph.collect(Compaction::Together);
            assert_eq!(drawn(&graph, &names), after.trim(), "{before}");
            let moved = statistics.details.runs_moved;
            assert_eq!(statistics.moved_bytes as usize, statistics.details.run_bytes_moved);
            assert!(statistics.details.run_regions_moved >= 2 * moved);
            // There is nothing left to do.
            assert_eq!(graph.collect(Compaction::Together).details.runs_moved, 0, "{before}");
            assert_eq!(drawn(&graph, &names), after.trim(), "{before}");
        }
    }
}

#[test]
fn runs_stay_unless_they_are_asked_to_move() {
    for workers in WORKERS {
        let (mut graph, names) = heap_of_runs(workers, "a+B+c+D+");
        for compaction in [Compaction::Maximum, Compaction::Garbage { percent: 0 }] {
            assert_eq!(graph.collect(compaction).details.runs_moved, 0);
            assert_eq!(drawn(&graph, &names), "..Br..Dr");
        }
    }
}

#[test]
fn slots_hashes_and_weak_references_follow() {
    for workers in WORKERS {
        let (mut graph, _) = heap_of_runs(workers, "..a+B++++c+D+++e+");
        let runs: Vec<Number> = graph.model.roots.iter().map(|(value, _)| numbered(*value)).collect();
        let small = graph.allocate(&[(0, 0); 3]);
        graph.root(Value::Object(small[0], 2), SlotKind::Strong);
        graph.root(Value::Object(runs[0], 4), SlotKind::Weak);
        for (slot, &run) in runs.iter().enumerate() {
            graph.store(small[0], slot, Value::Object(run, 2));
            graph.dress(run, std::num::NonZeroU32::new(0xABCD + slot as u32).unwrap(), 3);
        }
        graph.store(small[0], 2, Value::Object(runs[1], 0));
        let slots = graph.model.nodes[&runs[0]].slots.len();
        if slots > 0 {
            // To itself, to the other, to a sliding object, in the first region and the last.
            for slot in [0, slots - 1] {
                graph.store(runs[0], slot, Value::Object(runs[0], 6));
                graph.store(runs[1], slot, Value::Object(runs[0], 0));
            }
            graph.store(runs[0], slots / 2, Value::Object(runs[1], 0));
            graph.store(runs[1], 1, Value::Object(small[1], 0));
        }
        let statistics = graph.collect(Compaction::Together);
        assert_eq!((statistics.details.runs_moved, statistics.weak_cleared), (2, 0));
    }
}

fn numbered(value: Value) -> Number {
    match value {
        Value::Object(number, _) => number,
        Value::Plain(_) => panic!("no object"),
    }
}

/// A run that was reserved for several objects, of which some are dead, goes as it is.
#[test]
fn a_run_of_several_objects_moves() {
    const LENGTHS: [usize; 9] = [3, 100, REGION / 2, 8, 8, REGION + 500, 0, 40, 500];
    for workers in WORKERS {
        for live in 0_u32..1 << LENGTHS.len() {
            // A few of the ways to choose, other ones for each number of workers.
            if !(live + workers as u32).is_multiple_of(37) {
                continue;
            }
            let mut graph = graph(workers, 12);
            let dead = graph.allocate(&[(BYTES, filling(2))]);
            assert_eq!(dead.len(), 1);
            let shape = graph.shape(BYTES);
            let bytes = LENGTHS.iter().map(|&length| shape.bytes_for(length).unwrap()).sum();
            let made = graph.heap.attach(|mutator| {
                let mut room = mutator.make_room(bytes).expect("room");
                LENGTHS.map(|length| {
                    let site = crate::mutator::ArraySite::<crate::mutator::PerObject>::new(shape);
                    // SAFETY: the shape is the heap's, and nothing collects.
                    unsafe { mutator.raw().alloc_in_array_raw(&mut room, site, length) }.expect("reserved")
                })
            });
            let made = made.expect("not attached yet");
            let objects: Vec<Number> = made
                .iter()
                .zip(LENGTHS)
                .map(|(&object, length)| graph.born((BYTES, length), object))
                .collect();
            for (index, &object) in objects.iter().enumerate().filter(|(index, _)| live >> index & 1 != 0) {
                let kind = if index % 4 == 1 { SlotKind::Weak } else { SlotKind::Strong };
                graph.root(Value::Object(object, 0), SlotKind::Strong);
                graph.root(Value::Object(object, 2), kind);
            }
            // The dead run is above it; below it is room.
            let statistics = graph.collect(Compaction::Together);
            assert_eq!(statistics.details.runs_moved, usize::from(live != 0));
        }
    }
}

#[test]
fn regions_without_memory_are_no_walls() {
    for workers in WORKERS {
        let (mut graph, names) = heap_of_runs(workers, "a+B++c+D++");
        graph.collect(Compaction::Maximum);
        assert!(graph.heap.shared.space.free.uncommit_free() > 0);
        let statistics = graph.collect(Compaction::Together);
        assert_eq!(statistics.details.runs_moved, 2);
        assert_eq!(drawn(&graph, &names), "BrrDrr....");
    }
}

/// Objects of half a region and more, of which a region holds one, between runs, and a full heap:
/// no hole is large, and all become one.
#[test]
fn a_heap_of_mixed_sizes_becomes_one_piece() {
    for workers in WORKERS {
        let mut graph = graph(workers, 64);
        let objects: Vec<Number> = (0..)
            .map_while(|turn| {
                let bytes = [REGION / 2, 3 * REGION / 2, 5 * REGION / 2, REGION - 64, 100][turn % 5];
                graph.allocate(&[(BYTES, bytes)]).first().copied()
            })
            .collect();
        for &object in objects.iter().filter(|&object| object % 6 != 0) {
            graph.root(Value::Object(object, 0), SlotKind::Strong);
        }
        graph.collect(Compaction::Maximum);
        let (longest, free) = free_regions(&graph);
        assert!(longest < free, "{}", drawn(&graph, &[]));
        let statistics = graph.collect(Compaction::Together);
        let (longest, now) = free_regions(&graph);
        assert!(longest == now && now >= free && statistics.details.runs_moved > 0, "{}", drawn(&graph, &[]));
        assert_eq!(graph.allocate(&[(BYTES, filling(now))]).len(), 1);
    }
}

/// A kind, a length (a part of a region or some regions), and a number that decides whether the
/// object lives and whether it is pinned.
fn piece() -> impl Strategy<Value = (usize, usize, u8)> {
    let bytes = prop_oneof![
        3 => 8..REGION / 4,
        2 => REGION / 4..REGION - 32,
        4 => REGION..4 * REGION,
        1 => 4 * REGION..20 * REGION,
    ];
    (prop::bool::ANY, bytes, any::<u8>())
        .prop_map(|(array, bytes, fate)| if array { (ARRAY, bytes / 8, fate) } else { (BYTES, bytes, fate) })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Without pins all free memory is one piece, however full the heap is and wherever objects
    /// lie. With pinned runs the longest piece does not get shorter.
    #[test]
    fn free_memory_becomes_one_piece(
        workers in 1usize..4,
        regions in 24usize..120,
        rounds in prop::collection::vec(
            (prop::collection::vec(piece(), 4..120), 20u8..255, 0u8..12, any::<bool>()),
            1..4,
        ),
    ) {
        let mut graph = graph(workers, regions);
        for (pieces, live, pinned, uncommitted) in rounds {
            let objects: Vec<_> = pieces
                .iter()
                .filter_map(|&(kind, length, fate)| Some((*graph.allocate(&[(kind, length)]).first()?, fate)))
                .collect();
            graph.model.pins.clear();
            for &(object, fate) in objects.iter().filter(|(_, fate)| *fate < live) {
                graph.root(Value::Object(object, 0), SlotKind::Strong);
                if fate < pinned {
                    graph.model.pins.insert(object);
                }
                // From each to one that was made before or lives longer.
                if !graph.model.nodes[&object].slots.is_empty() {
                    let last = graph.model.nodes[&object].slots.len() - 1;
                    let other = objects[usize::from(fate) % objects.len()].0;
                    graph.store(object, last, Value::Object(other, 0));
                }
            }
            graph.collect(Compaction::Garbage { percent: 100 });
            if uncommitted {
                graph.heap.shared.space.free.uncommit_free();
            }
            let (longest, free) = free_regions(&graph);
            graph.collect(Compaction::Together);
            let (longest_now, free_now) = free_regions(&graph);
            // Around pinned objects the others may need a region more.
            if graph.model.pins.iter().all(|&pin| graph.bytes(pin) > REGION) {
                prop_assert!(free_now >= free && longest_now >= longest, "{}", drawn(&graph, &[]));
            }
            if graph.model.pins.is_empty() {
                prop_assert_eq!(longest_now, free_now, "{}", drawn(&graph, &[]));
                if free_now > 1 {
                    prop_assert_eq!(graph.allocate(&[(BYTES, filling(free_now))]).len(), 1);
                    graph.collect(Compaction::MoveAll);
                }
            }
            // Every third root goes.
            let mut turn = 0;
            graph.roots.retain(|_| { turn += 1; turn % 3 != 0 });
            turn = 0;
            graph.model.roots.retain(|_| { turn += 1; turn % 3 != 0 });
        }
    }
}
