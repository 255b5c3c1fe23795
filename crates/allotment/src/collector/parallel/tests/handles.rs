//! Young collections look at the handles of young objects alone.

use super::{Mutator, waste};
use crate::Heap;
use crate::collector::CollectionKind;
use crate::collector::tests::{REGION, keys, push, root, with_pairs};
use crate::mutator::{CHUNK, RootHandle};
use crate::object::{ShapeRef, reference};

/// A heap whose collections are not checked: a check visits all handles.
fn heap(workers: usize) -> (Heap, ShapeRef) {
    let options = format!("Collector=parallel,ParallelGCThreads={workers}");
    let builder = Heap::builder().test_geometry(REGION, 64).use_transparent_huge_pages(false);
    with_pairs(builder.options(&options).expect("options").build().expect("a heap"))
}

/// Allocates garbage until there was a young collection. Returns how many slots of handles it
/// looked at.
fn visited(heap: &Heap, mutator: &mut Mutator<'_>, pair: ShapeRef) -> usize {
    let roots = &heap.shared.threads.roots;
    let before = heap.collections().count;
    roots.take_visited();
    while heap.collections().count == before {
        waste(mutator, pair);
    }
    let visited = roots.take_visited();
    let collections = heap.collections();
    assert_eq!(collections.count, before + 1);
    assert_eq!(collections.recent.back().expect("a collection").kind(), CollectionKind::Young);
    visited
}

/// A list with one key, which a handle holds.
fn list(mutator: &mut Mutator<'_>, pair: ShapeRef, key: u64) -> RootHandle {
    let list = root(mutator);
    push(mutator, pair, &list, key).expect("room");
    list
}

/// The slots that a young collection looks at, with this many handles of old objects and a few of
/// young ones.
fn visited_beside_old(handles: usize, workers: usize) -> usize {
    let (heap, pair) = heap(workers);
    let visited = heap.attach(|mutator| {
        let first = list(mutator, pair, 1);
        let old: Vec<_> = (0..handles).map(|_| first.clone()).collect();
        assert!(mutator.collect());
        let young: Vec<_> = (0..5).map(|key| list(mutator, pair, key)).collect();
        let visited = visited(&heap, mutator, pair);
        for (key, list) in young.iter().enumerate() {
            assert_eq!(keys(mutator, list), [key as u64]);
        }
        assert!(old.iter().all(|handle| handle.get(mutator) == first.get(mutator)));
        visited
    });
    heap.verify().expect("in order");
    visited.expect("attached")
}

#[test]
fn handles_of_old_objects_cost_a_young_collection_nothing() {
    for workers in [1, 2] {
        let (few, many) = (visited_beside_old(200, workers), visited_beside_old(20_000, workers));
        assert!(few >= 5 && many <= 2 * few, "{few} of 200, {many} of 20,000");
    }
}

#[test]
fn a_handle_of_an_object_that_becomes_old_is_looked_at_until_then() {
    let (heap, pair) = heap(1);
    heap.attach(|mutator| {
        let list = list(mutator, pair, 7);
        let mut visits = vec![visited(&heap, mutator, pair)];
        while visits.last() != Some(&0) {
            assert!(visits.len() < 40, "{visits:?}");
            visits.push(visited(&heap, mutator, pair));
        }
        // Two visits of one chunk in each collection.
        assert!(visits.len() > 1 && visits[..visits.len() - 1].iter().all(|&slots| slots == 2 * CHUNK));
        // A store makes the collections look again.
        let place = list.get(mutator);
        list_again(mutator, pair, &list);
        assert_eq!(visited(&heap, mutator, pair), 2 * CHUNK);
        assert_eq!(keys(mutator, &list), [8]);
        assert_ne!(list.get(mutator), place);
    })
    .expect("attached");
    heap.verify().expect("in order");
}

/// Lets the handle hold another list, of one key.
fn list_again(mutator: &mut Mutator<'_>, pair: ShapeRef, handle: &RootHandle) {
    // SAFETY: null refers to nothing.
    assert!(unsafe { handle.set(mutator, 0) });
    push(mutator, pair, handle, 8).expect("room");
}

/// A young collection clears weak handles of young objects, and leaves those of old ones alone.
#[test]
fn weak_handles_of_the_dead_are_cleared_by_the_collections_that_look_at_them() {
    let (heap, pair) = heap(1);
    heap.attach(|mutator| {
        let lists = [1, 2].map(|key| list(mutator, pair, key));
        // SAFETY: live objects.
        let weak = |mutator: &Mutator<'_>, list: &RootHandle| unsafe {
            mutator.raw().new_weak_root(list.get(mutator).expect("this heap's"))
        };
        let of_old = weak(mutator, &lists[0]);
        let others: Vec<_> = (0..10 * CHUNK).map(|_| weak(mutator, &lists[1])).collect();
        assert!(mutator.collect());
        let young = [3, 4].map(|key| list(mutator, pair, key));
        let of_young = [0, 1].map(|number| weak(mutator, &young[number]));
        let [kept, dropped] = young;
        let [old, lives] = lists;
        drop((dropped, old));
        assert!(visited(&heap, mutator, pair) < 10 * CHUNK);
        assert_eq!(of_young[0].get(mutator), kept.get(mutator));
        assert_eq!(of_young[1].get(mutator), Some(0));
        assert!(of_old.get(mutator).and_then(reference).is_some(), "an old object counts as live");
        assert!(mutator.collect());
        assert_eq!(of_old.get(mutator), Some(0));
        assert!(others.iter().all(|other| other.get(mutator) == lives.get(mutator)));
    })
    .expect("attached");
    heap.verify().expect("in order");
}
