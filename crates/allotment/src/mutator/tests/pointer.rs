//! The pointer of a thread without buffers: when it is open, that it gives the same results as the
//! slow path, and that a region which other threads replaced meanwhile does no harm.

use super::heap;
use super::kit::{By, Kind, Kit, What};
use crate::Heap;
use crate::mutator::Mutator;
use crate::mutator::safepoint::Wish;
use crate::options::CollectorKind;
use std::sync::mpsc::channel;
use std::thread;

const PAGE: usize = 4096;

/// 16 bytes.
const SMALL: Kind = Kind::Fixed(0);

fn is_open(mutator: &Mutator<'_>) -> bool {
    mutator.state().hot.pointer.is_open()
}

/// Allocates, and returns the address.
fn place(kit: &Kit, mutator: &Mutator<'_>, kind: Kind) -> Option<usize> {
    kit.allocate(mutator, What { kind, by: By::Object }).map(|object| object.addr().get())
}

#[test]
fn objects_behind_the_first_of_a_region_come_from_it_by_one_swap_each() {
    let heap = heap(PAGE, 10, "-UseTLAB");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        assert!(!is_open(mutator));
        let first = place(&kit, mutator, SMALL).unwrap();
        assert!(is_open(mutator));
        for index in 1..256 {
            assert_eq!(place(&kit, mutator, SMALL), Some(first + 16 * index));
        }
        let counted = mutator.tlab_statistics();
        assert_eq!((counted.outside_allocations, counted.outside_bytes), (256, 4096));
        assert_eq!((counted.compare_exchange_attempts, counted.compare_exchange_successes), (256, 256));
        assert_eq!((counted.refills, counted.allocated), (0, 0));
        // The region is full: the slow path opens the next.
        let other = place(&kit, mutator, SMALL).unwrap();
        assert_eq!(place(&kit, mutator, SMALL), Some(other + 16));
    })
    .unwrap();
    assert_eq!(heap.tlab_totals().sum.outside_allocations, 258);
    heap.verify().unwrap();
}

#[test]
fn it_is_closed_at_a_safepoint_and_with_a_mark_and_while_there_are_sampling_points() {
    let heap = heap(PAGE, 10, "-UseTLAB");
    let kit = Kit::new(&heap);
    let opened = |mutator: &Mutator<'_>| {
        place(&kit, mutator, SMALL).unwrap();
        is_open(mutator)
    };
    heap.attach(|mutator| {
        assert!(opened(mutator));
        mutator.state().hot.limit.request(Wish::Retire);
        assert!(is_open(mutator));
        mutator.safepoint();
        assert!(!is_open(mutator) && opened(mutator));
        // A region is a shared one until the world stops: nothing else closes it.
        mutator.blocking(|| ());
        assert!(is_open(mutator));
        mutator.blocking(|| heap.stop_the_world(|_| ()).unwrap()).unwrap();
        assert!(!is_open(mutator) && opened(mutator));
        mutator.raw_mut().stop_the_world(|_| ()).unwrap();
        assert!(!is_open(mutator) && opened(mutator));
        let sample = |mutator: &mut Mutator<'_>, bytes| {
            heap.set_allocation_sample_interval(bytes);
            mutator.safepoint();
        };
        sample(mutator, 1);
        assert!(!is_open(mutator) && !opened(mutator));
        let before = mutator.sampling_points();
        (0..8).for_each(|_| assert!(!opened(mutator)));
        assert_eq!(mutator.sampling_points() - before, 8);
        sample(mutator, 0);
        assert!(opened(mutator));
        mutator.raw_mut().mark();
        // Objects after a mark come from regions of the thread's own.
        assert!(!is_open(mutator) && !opened(mutator));
    })
    .unwrap();
    heap.verify().unwrap();
}

#[test]
fn it_stays_closed_where_each_object_has_more_to_do() {
    for (collector, options) in [
        (CollectorKind::Epsilon, ""),
        (CollectorKind::Epsilon, "-UseTLAB,RefillStrategy=lock"),
        (CollectorKind::Epsilon, "-UseTLAB,ZealOutOfMemory=500"),
        (CollectorKind::MarkCompact, "-UseTLAB,ZealInterval=3"),
    ] {
        let builder = Heap::builder().test_geometry(PAGE, 10).use_transparent_huge_pages(false);
        let heap = builder.collector(collector).options(options).unwrap().build().unwrap();
        let kit = Kit::new(&heap);
        heap.attach(|mutator| {
            for _ in 0..300 {
                place(&kit, mutator, SMALL);
                // Too large for a buffer.
                place(&kit, mutator, Kind::Array(0, 3000));
                assert!(!is_open(mutator), "{options}");
            }
        })
        .unwrap();
    }
}

#[test]
fn a_requested_stop_is_heard_by_the_next_object() {
    let heap = heap(PAGE, 10, "-UseTLAB");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        place(&kit, mutator, SMALL).unwrap();
        mutator.state().hot.limit.request(Wish::Retire);
        assert_eq!(place(&kit, mutator, SMALL), None);
        mutator.safepoint();
        assert!(place(&kit, mutator, SMALL).is_some());
    })
    .unwrap();
}

#[test]
fn sizes_that_the_region_does_not_hold_take_the_slow_path() {
    let heap = heap(PAGE, 10, "-UseTLAB");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        let first = place(&kit, mutator, SMALL).unwrap();
        // More than a region; a region, for which this one has no room any more.
        for kind in [Kind::Fixed(6), Kind::Fixed(5)] {
            assert!(place(&kit, mutator, kind).unwrap().abs_diff(first) >= PAGE - 16);
        }
        assert!(kit.allocate(&*mutator, What { kind: Kind::Array(2, 1 << 40), by: By::Caller }).is_none());
    })
    .unwrap();
    heap.verify().unwrap();
}

#[test]
fn memory_that_was_used_before_is_zeroed_where_that_is_wanted() {
    let heap = heap(PAGE, 10, "-UseTLAB");
    let kit = Kit::new(&heap);
    for round in 0..3 {
        heap.attach(|mutator| {
            for by in [By::Object, By::Window].into_iter().cycle().take(250) {
                let object = kit.allocate(&*mutator, What { kind: Kind::Fixed(3), by }).unwrap();
                let words = object.cast::<u64>();
                for word in 1..136 / 8 {
                    // SAFETY: a word of a new object, which has 136 bytes.
                    unsafe {
                        assert_eq!(words.add(word).read(), 0, "{round} {by:?}");
                        words.add(word).write(u64::MAX);
                    }
                }
            }
            assert!(is_open(mutator));
        })
        .unwrap();
        heap.reset().unwrap();
    }
}

/// A thread may have the address of a region that another thread replaced. It goes on in that
/// region to its end, and both leave a heap that can be walked.
#[test]
fn a_region_that_others_replaced_is_filled_by_who_still_has_it() {
    let heap = heap(PAGE, 10, "-UseTLAB");
    let kit = Kit::new(&heap);
    let (to_other, asked) = channel();
    let (answer, answered) = channel();
    thread::scope(|scope| {
        let (heap, kit) = (&heap, kit.clone());
        let of_other = kit.clone();
        scope.spawn(move || {
            heap.attach(|mutator| {
                for kind in asked {
                    answer.send(place(&of_other, mutator, kind).unwrap()).unwrap();
                }
            })
            .unwrap();
        });
        let other = |kind: Kind| {
            to_other.send(kind).unwrap();
            answered.recv().unwrap()
        };
        let first = other(SMALL);
        heap.attach(|mutator| {
            // There is no room for it in the first region, which leaves its place to another.
            let large = place(&kit, mutator, Kind::Fixed(5)).unwrap();
            assert_ne!(first / PAGE, large / PAGE);
            for index in 1..256 {
                assert_eq!(other(SMALL), first + 16 * index);
            }
            assert_ne!(other(SMALL) / PAGE, first / PAGE);
        })
        .unwrap();
        drop(to_other);
    });
    heap.verify().unwrap();
    assert_eq!(heap.tlab_totals().sum.outside_allocations, 258);
}

/// However threads interleave, each object belongs to one thread, and the counts are those of all
/// objects.
#[test]
fn threads_that_bump_one_region_share_nothing() {
    const THREADS: usize = 4;
    let heap: Heap = heap(PAGE, 64, "-UseTLAB");
    let kit = Kit::new(&heap);
    let all = thread::scope(|scope| {
        let thread = || {
            let mut places = Vec::new();
            heap.attach(|mutator| {
                while let Some(place) = place(&kit, mutator, SMALL) {
                    places.push(place);
                }
            })
            .unwrap();
            places
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(thread)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let distinct: std::collections::BTreeSet<usize> = all.iter().copied().collect();
    assert_eq!((distinct.len(), all.len()), (64 * PAGE / 16, 64 * PAGE / 16));
    let counted = heap.tlab_totals().sum;
    assert_eq!(
        (counted.outside_allocations, counted.outside_bytes),
        (all.len() as u64, 16 * all.len() as u64)
    );
    assert_eq!(counted.compare_exchange_successes, all.len() as u64);
    heap.verify().unwrap();
}
