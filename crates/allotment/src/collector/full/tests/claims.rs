//! Objects that several markers claim at the same moment: one marker gets each object.

use super::graph::{ARRAY, BYTES, Graph, KINDS};
use super::*;
use crate::collector::kernel::LiveMap;
use crate::object::WORD;
use std::sync::Barrier;

/// Regions of the heaps.
const REGIONS: usize = 16;

fn map(graph: &Graph) -> LiveMap {
    let mut map =
        LiveMap::new(graph.heap.base(), graph.heap.geometry().heap_bytes(), Pages::default()).expect("a map");
    map.open(&graph.heap.shared.space.free, Workers::new(&graph.tools.gang, graph.tools.workers))
        .expect("memory");
    map
}

/// The address of each new object, and its bytes that are marked: only the header of an object that
/// is larger than a region.
fn objects(graph: &mut Graph, wanted: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let numbers = graph.allocate(wanted);
    assert_eq!(numbers.len(), wanted.len());
    let of = |number| {
        let bytes = graph.bytes(number);
        (graph.addresses[&number], if bytes > REGION { WORD } else { bytes })
    };
    numbers.into_iter().map(of).collect()
}

/// Threads claim all objects, each thread from another object on.
fn race<const LOCKED: bool>(markers: usize) {
    let mut graph = Graph::new(1, REGIONS, 64, 4);
    // Small ones that share a block, some of many blocks, and one that is larger than a region.
    let mut wanted: Vec<_> = (0..600)
        .map(|number| if number % 3 == 0 { (BYTES, number * 7 % 90) } else { (number % KINDS, 0) })
        .map(|(kind, length)| (kind, if kind == BYTES { length } else { 0 }))
        .collect();
    wanted.extend([(BYTES, 700), (ARRAY, REGION / WORD + 10), (BYTES, 1500)]);
    let objects = objects(&mut graph, &wanted);
    for round in 0..100 {
        let (map, start) = (map(&graph), Barrier::new(markers));
        let marker = |number: usize| {
            start.wait();
            // Neighbours of neighbours at first, then further and further apart.
            let claims = (0..objects.len()).filter(|index| {
                let (address, marked) = objects[(index + number * round) % objects.len()];
                let claimed = map.claim::<LOCKED>(address, marked, false);
                assert!(map.is_live(address));
                claimed
            });
            claims.count()
        };
        let counts: Vec<usize> = std::thread::scope(|scope| {
            let (marker, numbers) = (&marker, 0..markers);
            let threads: Vec<_> = numbers.map(|number| scope.spawn(move || marker(number))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert_eq!(counts.iter().sum::<usize>(), objects.len(), "each once: {counts:?}");
        for &(address, marked) in &objects {
            let end = address + marked;
            assert_eq!((map.next_live(address, end), map.next_dead(address, end)), (address, end));
        }
    }
}

#[test]
fn two_markers_claim_each_object_once() {
    race::<true>(2);
}

#[test]
fn four_markers_claim_each_object_once() {
    race::<true>(4);
}

#[test]
fn one_marker_claims_each_object_once() {
    race::<false>(1);
}
