//! Objects that two markers claim at the same moment.

use super::graph::{ARRAY, BYTES, Graph, KINDS};
use super::*;
use crate::collector::full::claims::{Claims, Count, unite};
use crate::collector::full::live_map::{BLOCK_BYTES, Destination};
use crate::mutator::{ArraySite, PerObject};
use crate::object::WORD;
use proptest::prelude::*;
use std::sync::Barrier;

/// Regions of the heaps.
const REGIONS: usize = 16;

fn map(graph: &Graph) -> LiveMap {
    let pages = Pages::default();
    let mut map = LiveMap::new(graph.heap.base(), graph.heap.geometry().heap_bytes(), pages).expect("a map");
    map.open(&graph.heap.shared.free, Team::new(&graph.tools.gang, graph.tools.workers)).expect("memory");
    map
}

/// Objects with address, bytes, and bytes that are marked of each.
fn objects(graph: &mut Graph, wanted: &[(usize, usize)]) -> Vec<(usize, usize, usize)> {
    let numbers = graph.allocate(wanted);
    assert_eq!(numbers.len(), wanted.len());
    let of = |number| {
        let bytes = graph.bytes(number);
        (graph.addresses[&number], bytes, if bytes > REGION { WORD } else { bytes })
    };
    numbers.into_iter().map(of).collect()
}

fn unite_all(graph: &Graph, map: &LiveMap) -> Count {
    let shared = &graph.heap.shared;
    let subject = Subject { free: &shared.free, shapes: &shared.shapes };
    let united = || {
        // SAFETY: no thread is attached, and objects were marked from their first word to their last, or large ones at their first.
        unsafe { unite(subject, map, Team::new(&graph.tools.gang, graph.tools.workers)) }
    };
    shared.registry.while_detached(united).expect("no thread is attached")
}

fn assert_live(map: &LiveMap, objects: &[(usize, usize, usize)], live: impl Fn(usize) -> bool) {
    for (number, &(address, _, marked)) in objects.iter().enumerate() {
        let end = address + marked;
        let found = (map.next_live(address, end), map.next_dead(address, end));
        assert_eq!(found, if live(number) { (address, end) } else { (end, address) });
        assert_eq!(map.is_live(address), live(number));
        // And nothing else is there: the second lane is where destinations will be.
        for block in (address..end).step_by(BLOCK_BYTES) {
            assert_eq!(map.block(block).destination(), Destination::At(0));
        }
    }
}

fn total<'o>(objects: impl Iterator<Item = &'o (usize, usize, usize)>) -> Count {
    objects.fold(Count::default(), |sum, object| Count {
        objects: sum.objects + 1,
        bytes: sum.bytes + object.1 as u64,
    })
}

/// Kinds of objects, some of them of many blocks, few larger than a region.
fn wanted() -> impl Strategy<Value = (usize, usize)> {
    prop_oneof![
        20 => (0..KINDS).prop_map(|kind| (kind, 0)),
        6 => (0..200_usize).prop_map(|length| (BYTES, length)),
        2 => (300..3000_usize).prop_map(|length| (BYTES, length)),
        1 => Just((ARRAY, REGION / WORD + 10)),
    ]
}

proptest! {
    /// As two markers leave the map that did not see each other in time: any object may be claimed by either or both.
    #[test]
    fn what_is_claimed_twice_is_found(
        wanted in prop::collection::vec((wanted(), 0..4_u8), 1..60),
        workers in 1..=3_usize,
    ) {
        let mut graph = Graph::new(workers, 64, 64, 4);
        let objects = objects(&mut graph, &wanted.iter().map(|object| object.0).collect::<Vec<_>>());
        let map = map(&graph);
        let claimed = |number: usize, lane: usize| wanted[number].1 >> lane & 1 != 0;
        for (number, &(address, _, marked)) in objects.iter().enumerate() {
            for lane in (0..2).filter(|&lane| claimed(number, lane)) {
                for word in (address..address + marked).step_by(WORD) {
                    map.block(word).mark::<false>(lane, 1 << (word % BLOCK_BYTES / WORD));
                }
            }
        }
        let twice = objects.iter().enumerate().filter(|&(number, _)| claimed(number, 0) && claimed(number, 1));
        prop_assert_eq!(unite_all(&graph, &map), total(twice.map(|object| object.1)));
        assert_live(&map, &objects, |number| wanted[number].1 != 0);
    }
}

/// Regression: of a run that was reserved for several objects only the first block was united.
#[test]
fn a_run_of_several_objects_is_united_as_a_whole() {
    for workers in WORKERS {
        let graph = Graph::new(workers, 16, 64, 4);
        let bytes = graph.shape(BYTES);
        let objects = graph.heap.attach(|mutator| {
            let mut room = mutator.make_room(3 * REGION).expect("room");
            let lengths = [100, REGION + 500, 40, 2000, 16];
            lengths.map(|length| {
                let site = ArraySite::<PerObject>::new(bytes);
                // SAFETY: the shape is the heap's, and no collection comes.
                let object =
                    unsafe { mutator.alloc_in_array_raw(&mut room, site, length) }.expect("it was reserved");
                let size = bytes.bytes_for(length).expect("it was allocated");
                (object.addr().get(), size, if size > REGION { WORD } else { size })
            })
        });
        let objects = objects.expect("not attached yet");
        for first in 0..2 {
            let map = map(&graph);
            // By turns: a neighbour that nobody marked, or that both have.
            for (number, &(address, _, marked)) in
                objects.iter().enumerate().filter(|object| object.0 % 2 == first)
            {
                for lane in if number % 4 < 2 { 0..2 } else { 1..2 } {
                    for word in (address..address + marked).step_by(WORD) {
                        map.block(word).mark::<false>(lane, 1 << (word % BLOCK_BYTES / WORD));
                    }
                }
            }
            let twice =
                objects.iter().enumerate().filter(|(number, _)| number % 2 == first && number % 4 < 2);
            assert_eq!(unite_all(&graph, &map), total(twice.map(|object| object.1)));
            assert_live(&map, &objects, |number| number % 2 == first);
        }
    }
}

/// Threads claim all objects, each from another one on, and are counted.
fn race<const LOCKED: bool>(markers: usize) {
    let mut graph = Graph::new(1, REGIONS, 64, 4);
    let wanted: Vec<_> = (0..600)
        .map(|number| (if number % 3 == 0 { BYTES } else { number % KINDS }, number * 7 % 90))
        .collect();
    let wanted: Vec<_> =
        wanted.into_iter().map(|(kind, length)| (kind, if kind == BYTES { length } else { 0 })).collect();
    let objects = objects(&mut graph, &wanted);
    for round in 0..100 {
        let (map, start) = (map(&graph), Barrier::new(markers));
        let marker = |number: usize| {
            let mut claims = Claims::<LOCKED>::new(&map, number);
            start.wait();
            // Neighbours of neighbours at first, then further and further apart.
            for index in 0..objects.len() {
                let (address, bytes, marked) = objects[(index + number * round) % objects.len()];
                claims.claim(address, bytes, marked, false);
                assert!(claims.has(address));
            }
            claims.count()
        };
        let counts: Vec<Count> = std::thread::scope(|scope| {
            let (marker, numbers) = (&marker, 0..markers);
            let threads: Vec<_> = numbers.map(|number| scope.spawn(move || marker(number))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let sum = |of: fn(&Count) -> u64| counts.iter().map(of).sum::<u64>();
        let twice = unite_all(&graph, &map);
        let once = Count {
            objects: sum(|count| count.objects) - twice.objects,
            bytes: sum(|count| count.bytes) - twice.bytes,
        };
        assert_eq!(once, total(objects.iter()));
        assert_live(&map, &objects, |_| true);
    }
}

#[test]
fn two_markers_count_each_object_once() {
    race::<false>(2);
}

#[test]
fn four_markers_count_each_object_once() {
    race::<true>(4);
}

#[test]
fn one_marker_counts_each_object_once() {
    race::<false>(1);
}
