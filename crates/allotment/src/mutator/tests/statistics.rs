//! Statistics of a thread's buffers, as the thread itself reads them and as the heap sums them.

use super::kit::{By, Kind, Kit, What};
use super::{OPTION_SETS, heap};
use crate::mutator::Mutator;
use std::sync::Barrier;

const THREADS: usize = 4;

#[test]
fn what_each_mutator_counts_sums_to_the_totals() {
    for options in OPTION_SETS {
        let heap = heap(4096, 400, options);
        let kit = Kit::new(&heap);
        let allocate = |mutator: &Mutator<'_>, objects: usize| {
            for turn in 0..objects {
                let kind = Kind::Fixed([0, 1, 2, 3, 1, 0, 4][turn % 7]);
                kit.allocate(mutator, What { kind, by: By::Caller }).expect("room");
            }
        };
        // The counts of a detached thread stay in the totals.
        heap.attach(|mutator| allocate(mutator, 100)).unwrap();
        let mut expected = heap.tlab_totals();
        let (counted, read) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
        let (totals, of_threads) = std::thread::scope(|scope| {
            let (heap, allocate, counted, read) = (&heap, &allocate, &counted, &read);
            let work = |thread: usize| {
                heap.attach(|mutator| {
                    assert_eq!(mutator.tlab_statistics(), Default::default(), "nothing of others");
                    allocate(mutator, 100 * (1 + thread));
                    let own = mutator.tlab_statistics();
                    counted.wait();
                    read.wait();
                    own
                })
            };
            let threads: Vec<_> =
                (0..THREADS).map(|thread| scope.spawn(move || work(thread).unwrap())).collect();
            counted.wait();
            let totals = heap.tlab_totals();
            read.wait();
            (totals, threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>())
        });
        of_threads.iter().for_each(|own| expected.add(own));
        assert_eq!(totals, expected, "{options}");
        let most = of_threads.iter().map(|own| own.allocated_in_all()).max();
        assert!(most.is_some_and(|most| most < totals.sum.allocated_in_all()), "{options}");
    }
}
