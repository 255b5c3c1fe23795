//! Many threads: their objects never overlap, whatever each of them does, and a thread that leaves
//! gives back what it held.

use super::kit::{By, Kind, Kit, What};
use super::model::Model;
use super::properties::{Script, script};
use super::script::{Run, Step};
use super::{OPTION_SETS, heap};
use crate::Heap;
use crate::heap::{ResetError, StillAttached};
use crate::mutator::AttachError;
use crate::observe::VerifyError;
use crate::options::CollectorKind;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Barrier;

const THREADS: usize = 8;

/// Runs `body` on every thread, with its number. Returns the results.
fn together<R: Send>(threads: usize, body: impl Fn(u64) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let body = &body;
        let handles: Vec<_> = (0..threads).map(|thread| scope.spawn(move || body(thread as u64))).collect();
        handles.into_iter().map(|handle| handle.join().expect("a thread that checks itself")).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 64, ..ProptestConfig::default() })]

    #[test]
    fn scripts_side_by_side(
        options in prop::sample::select(OPTION_SETS), regions in 20..200_usize,
        scripts in proptest::collection::vec(script(), THREADS),
    ) {
        let heap = heap(4096, regions, options);
        let kit = Kit::new(&heap);
        let models = together(THREADS, |thread| {
            let mut run = Run::among(&heap, &kit, thread);
            let Script(steps) = &scripts[thread as usize];
            let steps: Vec<_> = steps.iter().filter(|step| !matches!(step, Step::Reset)).cloned().collect();
            run.script(&steps);
            run.model.check();
            run.model.census()
        });
        let mut expected = BTreeMap::<_, (u64, u64)>::new();
        for (shape, (objects, bytes)) in models.into_iter().flatten() {
            let entry = expected.entry(shape).or_default();
            *entry = (entry.0 + objects, entry.1 + bytes);
        }
        prop_assert_eq!(heap.verify().unwrap().shapes, expected);
        prop_assert_eq!(heap.metrics().threads.now, 0);
    }
}

#[test]
fn one_thread_after_another_leaves_no_filler() {
    for options in OPTION_SETS {
        let heap = heap(4096, 64, options);
        let kit = Kit::new(&heap);
        let what = What { kind: Kind::Fixed(0), by: By::Object };
        for _ in 0..3000 {
            heap.attach(|mutator| kit.allocate(&*mutator, what).expect("room")).unwrap();
        }
        let census = heap.verify().unwrap();
        assert_eq!(census.objects(kit.shape(what.kind).id()), 3000);
        assert_eq!(heap.metrics().threads.ever, 3000);
        // A buffer at the end of a region cannot go back into it, and is kept for the next thread.
        let lost = census.fillers.1;
        assert!(lost <= 4 * 4096, "{lost} bytes of fillers with {options}");
    }
}

#[test]
fn threads_that_come_and_go_at_once_lose_little_to_fillers() {
    let heap = Heap::builder().collector(CollectorKind::Epsilon).max_heap_size(256 << 20).build().unwrap();
    let kit = Kit::new(&heap);
    let what = What { kind: Kind::Fixed(2), by: By::Object };
    together(THREADS, |_| {
        for _ in 0..1000 {
            let objects = heap.attach(|mutator| (0..10).map_while(|_| kit.allocate(&*mutator, what)).count());
            assert_eq!(objects, Ok(10));
        }
    });
    let census = heap.verify().unwrap();
    assert_eq!(census.objects(kit.shape(what.kind).id()), 80_000);
    let lost = census.fillers.1;
    assert!(lost < census.object_bytes(), "{lost} bytes of fillers, {} of objects", census.object_bytes());
}

/// Regression: the rest of a buffer kept its place among the spares. No thread took it, since it
/// was smaller than the first size of a buffer, so all later spares were lost. All threads are
/// attached before any detaches, so only one can give its buffer back to the region.
#[test]
fn threads_that_leave_together_lose_less_than_their_buffers() {
    const ROUNDS: usize = 500;
    let heap = Heap::builder().collector(CollectorKind::Epsilon).max_heap_size(256 << 20).build().unwrap();
    let kit = Kit::new(&heap);
    let what = What { kind: Kind::Fixed(2), by: By::Object };
    let all = Barrier::new(THREADS);
    together(THREADS, |_| {
        for _ in 0..ROUNDS {
            let objects = heap.attach(|mutator| {
                all.wait();
                let objects = (0..10).map_while(|_| kit.allocate(&*mutator, what)).count();
                all.wait();
                objects
            });
            assert_eq!(objects, Ok(10));
        }
    });
    let census = heap.verify().unwrap();
    assert_eq!(census.objects(kit.shape(what.kind).id()), (ROUNDS * THREADS * 10) as u64);
    let (lost, buffers) = (census.fillers.1, (ROUNDS * THREADS * (16 << 10)) as u64);
    assert!(lost < buffers * 3 / 4, "{lost} bytes of fillers, where a buffer for each would be {buffers}");
}

#[test]
fn a_thread_that_panics_detaches_and_the_heap_stays_usable() {
    let heap = heap(4096, 64, "");
    let kit = Kit::new(&heap);
    let what = What { kind: Kind::Fixed(0), by: By::Window };
    let outcomes = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (heap, kit) = (&heap, &kit);
                scope.spawn(move || {
                    heap.attach(|mutator| {
                        (0..10 + thread).for_each(|_| assert!(kit.allocate(&*mutator, what).is_some()));
                        if thread % 2 == 0 {
                            mutator.raw_mut().mark();
                            kit.allocate(&*mutator, what).unwrap();
                            // Without the panic hook: nothing is printed.
                            std::panic::resume_unwind(Box::new("out"));
                        }
                    })
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().is_err()).collect::<Vec<_>>()
    });
    assert_eq!(outcomes, [true, false].repeat(THREADS / 2));
    assert_eq!((heap.metrics().threads.now, heap.metrics().threads.ever), (0, THREADS as u64));
    let objects = |heap: &Heap| heap.verify().unwrap().objects(kit.shape(what.kind).id());
    assert_eq!(objects(&heap), (0..8).map(|thread| 10 + thread + (thread + 1) % 2).sum::<u64>());
    heap.attach(|mutator| kit.allocate(&*mutator, what).unwrap()).unwrap();
    heap.reset().unwrap();
    assert_eq!(objects(&heap), 0);
}

#[test]
fn an_attached_thread_attaches_to_no_heap_and_stays_what_it_was() {
    let (one, other) = (heap(4096, 10, ""), heap(4096, 10, ""));
    let kit = Kit::new(&one);
    let what = What { kind: Kind::Fixed(0), by: By::Window };
    one.attach(|mutator| {
        kit.allocate(&*mutator, what).unwrap();
        assert_eq!(one.attach(|_| ()), Err(AttachError::AlreadyAttached));
        assert_eq!(other.attach(|_| ()), Err(AttachError::AlreadyAttached));
        assert_eq!((one.metrics().threads.now, other.metrics().threads.now), (1, 0));
        kit.allocate(&*mutator, what).unwrap();
        assert_eq!(one.attach(|_| ()), Err(AttachError::AlreadyAttached), "still");
    })
    .unwrap();
    assert_eq!(other.attach(|_| 7), Ok(7));
    assert_eq!(one.verify().unwrap().objects(kit.shape(what.kind).id()), 2);
}

#[test]
fn reset_and_the_checker_are_refused_while_a_thread_is_attached() {
    let heap = heap(4096, 10, "");
    let kit = Kit::new(&heap);
    let what = What { kind: Kind::Fixed(0), by: By::Window };
    let (inside, outside) = (Barrier::new(3), Barrier::new(3));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let objects = heap.attach(|mutator| {
                    kit.allocate(&*mutator, what).unwrap();
                    inside.wait();
                    outside.wait();
                    kit.allocate(&*mutator, what).is_some()
                });
                assert_eq!(objects, Ok(true));
            });
        }
        inside.wait();
        let (reset, verified) = (heap.reset(), heap.verify());
        outside.wait();
        assert_eq!(reset, Err(StillAttached { threads: 2 }.into()));
        assert_eq!(verified, Err(VerifyError::Attached(StillAttached { threads: 2 })));
    });
    assert_eq!(heap.verify().unwrap().objects(kit.shape(what.kind).id()), 4);
    heap.reset().unwrap();
    assert_eq!(heap.attach(|mutator| kit.allocate(&*mutator, what).is_some()), Ok(true));
    let inside = heap.attach(|_| heap.reset());
    assert_eq!(inside, Ok(Err(ResetError::Attached(StillAttached { threads: 1 }))), "from inside as well");
}

#[test]
fn two_heaps_keep_their_objects_apart() {
    let heaps = [heap(4096, 64, "MinTLABSize=256,TLABSize=512"), heap(4096, 64, "-UseTLAB")];
    let kits = [Kit::new(&heaps[0]), Kit::new(&heaps[1])];
    together(4, |thread| {
        let mut models = [0, 1].map(|index| Model::new(&heaps[index], &kits[index], thread));
        for turn in 0..300 {
            let index = (turn + thread as usize) % 2;
            let what = What { kind: Kind::Fixed(turn % 3), by: By::Window };
            let object = heaps[index].attach(|mutator| kits[index].allocate(&*mutator, what)).unwrap();
            models[index].born(what, object.expect("room"));
        }
        models.iter().for_each(Model::check);
    });
    assert!(heaps.iter().all(|heap| heap.verify().unwrap().object_bytes() > 0));
}
