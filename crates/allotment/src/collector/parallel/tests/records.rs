//! The contents of records, and of the lines made from them.

use super::{heap, waste};
use crate::collector::tests::{PAIR_BYTES, REGION, push, root};
use crate::collector::{CollectionKind, WantedWorkers};
use crate::mutator::Mutator;
use crate::object::{Element, Shape};
use std::sync::Barrier;

#[test]
fn a_record_tells_what_a_young_collection_did() {
    let (heap, pair, records) = heap(32, "ZealInterval=1,InitialTenuringThreshold=15,ParallelGCThreads=1");
    heap.attach(|mutator| {
        let list = root(mutator);
        // The fourth collection is a full one, after which all is old.
        for key in 0..4 {
            push(mutator, pair, &list, key).expect("room");
        }
        // An old pair refers to a young one.
        push(mutator, pair, &list, 4).expect("room");
        let old = list.get(mutator).expect("of this heap");
        waste(mutator, pair);
        assert_ne!(list.get(mutator), Some(old), "it was young, and moved");
    })
    .unwrap();
    let records = records.lock().unwrap();
    let third = records[2].young().expect("a young collection");
    // Before the third pair was allocated there were two, of which one is older.
    assert_eq!(third.survived_bytes[..4], [0, PAIR_BYTES, PAIR_BYTES, 0]);
    assert_eq!((third.promoted_bytes, third.kept_bytes, third.tenuring_threshold), (0, 0, 15));
    assert_eq!((third.worker_objects.as_slice(), third.imbalance()), (&[2][..], 1.0));
    assert_eq!((records[2].live_objects, records[2].live_bytes, records[2].workers), (2, 2 * PAIR_BYTES, 1));
    let names: Vec<_> = records[2].phases.iter().map(|phase| phase.name).collect();
    assert_eq!(names, ["Prepare", "Copy", "Weak", "Free"]);
    let lines = records[2].detail_lines();
    for line in ["Age 1: 24 bytes", "Age 2: 24 bytes", "Promoted 0 bytes, kept in place 0, threshold 15"] {
        assert!(lines.contains(&format!("GC(2) {line}")), "{line}: {lines:#?}");
    }
    for start in
        ["Cards: 0 dirty of 0", "PLAB waste ", "Workers: 1 of 1, expected 1k, imbalance 1.00, steals 0"]
    {
        assert!(lines.iter().any(|line| line.starts_with(&format!("GC(2) {start}"))), "{start}: {lines:#?}");
    }
    let sizing = records[2].sizing.as_ref().expect("a decision");
    assert!(
        lines.contains(&format!("GC(2) {}", sizing.decision))
            && lines.contains(&format!("GC(2) {}", sizing.collection))
    );
    assert_eq!(records[3].kind(), CollectionKind::Full);
    assert_eq!(records[3].phases.last().map(|phase| phase.name), Some("Adopt"));
}

#[test]
fn a_record_tells_what_a_full_collection_did() {
    const LISTS: u64 = 100;
    let (heap, pair, records) = heap(64, "ParallelGCThreads=2");
    let bytes = heap.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 })).expect("a shape");
    heap.attach(|mutator| {
        let lists: Vec<_> = (0..LISTS).map(|_| root(mutator)).collect();
        for key in 0..10 * LISTS {
            push(mutator, pair, &lists[(key % LISTS) as usize], key).expect("room");
        }
        // SAFETY: the shape is the heap's, and the object is not used.
        unsafe { mutator.raw_mut().alloc_raw(bytes, 3 * REGION) }.expect("room");
        // The second worker may be late, but not always.
        let steals = |mutator: &mut Mutator<'_>| {
            assert!(mutator.collect());
            let records = records.lock().expect("no test failed in it");
            records.last().and_then(|record| record.full()).is_some_and(|full| full.steals > 0)
        };
        assert!((0..500).any(|_| steals(mutator)));
    })
    .unwrap();
    let records = records.lock().unwrap();
    let first = &records[0];
    let full = first.full().expect("it was requested");
    assert_eq!((full.humongous_freed, full.mark_overflows, full.worker_objects.len()), (1, 0, 2));
    assert!(full.regions_left_alone >= 5 && full.regions_freed >= 4, "{full:?}");
    assert!(full.worker_objects.iter().sum::<u64>() >= 10 * LISTS, "{full:?}");
    let wanted = WantedWorkers { workers: 2, most: 2, bytes: first.used_before };
    assert_eq!((first.workers, first.wanted, first.young()), (2, wanted, None));
    let workers = format!(
        "GC(0) Workers: 2 of 2, used {}k, imbalance {:.2}, steals {}",
        first.used_before.div_ceil(1024),
        full.imbalance(),
        full.steals
    );
    assert!(first.detail_lines().contains(&workers), "{workers}: {:#?}", first.detail_lines());
}

#[test]
fn memory_that_is_given_back_at_once_is_told() {
    for delay in [0, 300_000] {
        let (heap, pair, records) = heap(32, &format!("UncommitDelay={delay}"));
        heap.attach(|mutator| {
            (0..500).for_each(|_| waste(mutator, pair));
            let before = heap.memory().committed_bytes;
            assert!(mutator.collect());
            let records = records.lock().unwrap();
            let last = records.last().expect("a collection");
            assert_eq!(last.uncommitted, before - last.committed);
            assert_eq!(last.uncommitted > 0, delay == 0, "{last:?}");
            let told = last.detail_lines().iter().any(|line| line.contains("Uncommitted"));
            assert_eq!(told, delay == 0);
        })
        .unwrap();
    }
}

/// The wanted workers, the bytes that decided their number, and a caller that rests where there are
/// more threads than CPUs.
#[test]
fn a_record_tells_why_so_many_worked() {
    // More bytes than one worker is wanted for.
    const PAIRS: usize = (600 << 10) / PAIR_BYTES;
    let cpus = std::thread::available_parallelism().expect("a number").get();
    for others in [0, cpus + 1] {
        let (heap, pair, records) = heap(1024, "ParallelGCThreads=2,-CollectWhenIdle");
        let (attached, done) = (Barrier::new(others + 1), Barrier::new(others + 1));
        std::thread::scope(|scope| {
            for _ in 0..others {
                scope.spawn(|| {
                    heap.attach(|mutator| {
                        mutator.blocking(|| attached.wait());
                        mutator.blocking(|| done.wait());
                    })
                    .expect("it is attached to none");
                });
            }
            attached.wait();
            heap.attach(|mutator| {
                let list = root(mutator);
                (0..PAIRS as u64).for_each(|key| push(mutator, pair, &list, key).expect("room"));
                let begun = records.lock().unwrap().len();
                while records.lock().unwrap().len() < begun + 2 {
                    waste(mutator, pair);
                }
            })
            .expect("it is attached to none");
            done.wait();
        });
        let records = records.lock().unwrap();
        let last = records.last().expect("a collection");
        let WantedWorkers { workers, most, bytes } = last.wanted;
        assert_eq!((last.kind(), workers, most, last.workers), (CollectionKind::Young, 2, 2, 2));
        assert!((512 << 10..2 << 20).contains(&bytes), "{bytes}");
        let young = last.young().expect("it is young");
        assert_eq!(young.caller_rested, others > 0);
        let beside = if others > 0 { " beside the caller" } else { "" };
        let start =
            format!("GC({}) Workers: 2 of 2{beside}, expected {}k, ", last.number, bytes.div_ceil(1024));
        assert!(last.detail_lines().iter().any(|line| line.starts_with(&start)), "{start}: {last:?}");
        let first = records.first().expect("a collection");
        assert!(first.wanted.workers == 1 && first.wanted.bytes < 512 << 10, "nothing was known: {first:?}");
    }
}
