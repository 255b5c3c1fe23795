//! Generational heaps through the low-level interface: which collection comes when, and what its
//! record says.

mod handles;
mod idle;
mod records;

use crate::Heap;
use crate::collector::record::EnlargedEden;
use crate::collector::sizing::Change;
use crate::collector::tests::{PAIR_BYTES, REGION, keys, push, root, with_pairs};
use crate::collector::{CollectionKind, CollectionRecord};
use crate::heap::HeapBuilder;
use crate::mutator::{ArraySite, BufferSizes, Cause, Mutator, PerObject};
use crate::object::{Element, Shape, ShapeRef, SlotKind};
use crate::options::{CollectorKind, TlabPolicy};
use crate::region::State;
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

/// A heap of this many small regions, its pairs, and the list that gets its records.
fn heap(regions: usize, options: &str) -> (Heap, ShapeRef, Arc<Mutex<Vec<CollectionRecord>>>) {
    heap_of(Heap::builder(), regions, options)
}

/// [`heap`], by a builder that has been given other settings.
fn heap_of(
    builder: HeapBuilder,
    regions: usize,
    options: &str,
) -> (Heap, ShapeRef, Arc<Mutex<Vec<CollectionRecord>>>) {
    let records: Arc<Mutex<Vec<_>>> = Arc::default();
    let to = records.clone();
    let options = format!("Collector=parallel,+VerifyBeforeGC,+VerifyAfterGC,{options}");
    let heap = builder
        .test_geometry(REGION, regions)
        .use_transparent_huge_pages(false)
        .on_collection(move |record| to.lock().expect("no test failed in it").push(record.clone()))
        .options(options.trim_end_matches(','))
        .expect("options")
        .build();
    let (heap, pair) = with_pairs(heap.expect("a heap"));
    (heap, pair, records)
}

fn kinds(records: &Mutex<Vec<CollectionRecord>>) -> Vec<(CollectionKind, Cause)> {
    let records = records.lock().expect("no test failed in it");
    records.iter().map(|record| (record.kind(), record.cause)).collect()
}

/// A pair without a reference to it.
fn waste(mutator: &mut Mutator<'_>, pair: ShapeRef) {
    // SAFETY: the shape is the heap's, and the pair is not used.
    unsafe { mutator.raw_mut().alloc_raw(pair, 0) }.expect("all of it is garbage");
}

#[test]
fn garbage_is_collected_young_for_ever_and_the_living_become_old() {
    for workers in 1..=4 {
        let (heap, pair, records) = heap(32, &format!("ParallelGCThreads={workers}"));
        heap.attach(|mutator| {
            let list = root(mutator);
            let mut kept = Vec::new();
            for key in 0..50_000 {
                waste(mutator, pair);
                if key % 100 == 0 {
                    push(mutator, pair, &list, key).expect("room");
                    kept.insert(0, key);
                }
            }
            assert_eq!(keys(mutator, &list), kept);
        })
        .unwrap();
        let records = records.lock().unwrap();
        let young: Vec<_> = records.iter().filter(|record| record.kind() == CollectionKind::Young).collect();
        assert!(young.len() > 10 && young.len() * 2 > records.len(), "{} of {}", young.len(), records.len());
        assert_eq!(young.iter().map(|record| record.workers).max(), Some(workers));
        for record in records.iter() {
            assert_eq!(record.young().is_some(), record.kind() == CollectionKind::Young);
            assert!(
                record.sizing.is_some() && record.pause >= record.phases.iter().map(|phase| phase.time).sum()
            );
        }
    }
}

#[test]
fn out_of_memory_comes_when_live_objects_fill_every_region_and_not_before() {
    let (heap, pair, records) = heap(16, "ParallelGCThreads=2");
    // Ten to a region, and a rest of 96 bytes.
    let large = heap.register(Shape::array("Large", 24, Element::Plain { bytes: 1 }).slot(
        "next",
        16,
        SlotKind::Strong,
    ));
    let large = large.expect("a shape");
    heap.attach(|mutator| {
        let list = root(mutator);
        let mut larges = 0;
        // SAFETY: the shape is the heap's, and its slot is written.
        while let Ok(new) = unsafe { mutator.raw_mut().alloc_raw(large, 400 - 24) } {
            // SAFETY: a slot of the new object, which is the root from now on.
            unsafe {
                mutator
                    .raw()
                    .store(new.as_ptr().byte_add(16).cast(), list.get(mutator).expect("of this heap"));
                list.set(mutator, new.as_ptr() as u64);
            }
            larges += 1;
        }
        assert_eq!(larges, 16 * 10, "ten in every region");
        let small = root(mutator);
        let mut length = 0;
        while push(mutator, pair, &small, length).is_ok() {
            length += 1;
        }
        assert_eq!(length, 16 * 4, "the rest of each region has room for four");
        assert!(heap.memory().used_bytes >= 16 * (REGION - PAIR_BYTES), "{:?}", heap.memory());
        assert!(keys(mutator, &small).into_iter().eq((0..length).rev()));
        drop(list);
        for key in length..1000 {
            push(mutator, pair, &small, key).expect("the large ones are garbage");
        }
        assert!(keys(mutator, &small).into_iter().eq((0..1000).rev()));
    })
    .unwrap();
    heap.verify().unwrap();
    // A young one that does not help is followed by full ones, for the same allocation.
    let kinds = kinds(&records);
    let (young, full) = (CollectionKind::Young, CollectionKind::Full);
    assert!(kinds.windows(3).any(|three| three.iter().map(|one| one.0).eq([young, full, full])), "{kinds:?}");
    assert!(kinds.iter().all(|one| one.1 == Cause::AllocationFailure));
}

#[test]
fn the_capacity_grows_before_the_heap_is_collected_as_a_whole() {
    let options =
        "Collector=parallel,InitialHeapSize=32m,MaxHeapSize=64m,MaxNewSize=1m,-UseTransparentHugePages";
    let heap = Heap::builder().options(options).unwrap().build().unwrap();
    let bytes = heap.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 })).expect("a shape");
    let allocate = |length: usize| {
        heap.attach(|mutator| {
            // SAFETY: the shape is the heap's, and the object is not used.
            unsafe { mutator.raw_mut().alloc_raw(bytes, length) }.expect("room");
        })
        .unwrap();
        heap.collections().recent.iter().map(|record| record.kind()).collect::<Vec<_>>()
    };
    let raised = || {
        let record = heap.collections().recent.pop_back().expect("a collection");
        record.sizing.expect("a decision").raised
    };
    let regions = |bytes: usize| bytes / heap.geometry().region_bytes();
    // More than eden, and less than the capacity: InitialHeapSize.
    assert_eq!(allocate(8 << 20), [CollectionKind::Young]);
    let Change { from, to } = raised().expect("eden has no room for it");
    assert!(from <= regions(1 << 20) && (regions(8 << 20)..=regions(32 << 20)).contains(&to), "{from}->{to}");
    assert_eq!(allocate(16 << 20), [CollectionKind::Young; 2]);
    // More than that: only a full collection is left to try.
    let kinds = allocate(48 << 20);
    assert!(kinds.ends_with(&[CollectionKind::Full]), "{kinds:?}");
    assert_eq!(raised().map(|raised| raised.to), Some(regions(64 << 20)), "all of MaxHeapSize");
    heap.attach(|mutator| assert!(mutator.collect())).unwrap();
    assert_eq!(raised(), None, "no allocation asked for room");
}

#[test]
fn zeal_collects_young_three_times_of_four() {
    let (heap, pair, records) = heap(32, "ZealInterval=1");
    heap.attach(|mutator| (0..12).for_each(|_| waste(mutator, pair))).unwrap();
    let (young, full) = (CollectionKind::Young, CollectionKind::Full);
    let expected: Vec<_> =
        [young, young, young, full].repeat(3).into_iter().map(|kind| (kind, Cause::Zeal)).collect();
    assert_eq!(kinds(&records), expected);
}

#[test]
fn a_requested_collection_is_full() {
    let (heap, pair, records) = heap(32, "");
    heap.attach(|mutator| {
        let list = root(mutator);
        push(mutator, pair, &list, 1).expect("room");
        assert!(mutator.collect());
    })
    .unwrap();
    assert_eq!(kinds(&records), [(CollectionKind::Full, Cause::Requested)]);
    let table = heap.shared.space.free.table();
    assert_eq!((0..table.len()).filter(|&index| table.get(index).state() == State::Old).count(), 1);
}

#[test]
fn the_weak_handle_of_a_dead_old_object_is_cleared_though_young_collections_suffice() {
    for weak_handles in [true, false] {
        // Collections take no time, so only their number decides.
        let builder = Heap::builder().clock(|| Duration::ZERO);
        let (heap, pair, records) = heap_of(builder, 32, "ParallelGCThreads=1");
        let young = || kinds(&records).iter().filter(|one| one.0 == CollectionKind::Young).count();
        heap.attach(|mutator| {
            let list = root(mutator);
            push(mutator, pair, &list, 1).expect("room");
            // SAFETY: the word of a root.
            let weak = unsafe { mutator.raw().new_weak_root(list.get(mutator).expect("of this heap")) };
            assert!(mutator.collect(), "it becomes old");
            // SAFETY: null refers to nothing.
            unsafe { list.set(mutator, 0) };
            let weak = weak_handles.then_some(weak);
            while young() < 1100 && weak.as_ref().is_none_or(|weak| weak.get(mutator) != Some(0)) {
                waste(mutator, pair);
            }
        })
        .unwrap();
        let full = kinds(&records).len() - young();
        let expected = if weak_handles { (1024, 2) } else { (1100, 1) };
        assert_eq!((young(), full), expected, "young and full collections");
    }
}

#[test]
fn a_store_to_an_old_object_is_found_by_its_card() {
    let (heap, pair, records) = heap(32, "MaxTenuringThreshold=3,InitialTenuringThreshold=3");
    heap.attach(|mutator| {
        let list = root(mutator);
        push(mutator, pair, &list, 1).expect("room");
        assert!(mutator.collect());
        // SAFETY: the shape is the heap's; the old pair's slot, and the new one's words, are
        // written before a safepoint.
        unsafe {
            let new = mutator.raw_mut().alloc_raw(pair, 0).expect("room");
            mutator.raw().store(new.as_ptr().byte_add(8).cast(), 0);
            new.byte_add(16).cast::<u64>().write(2);
            let old = list.get(mutator).expect("of this heap");
            mutator.raw().store((old as *mut u64).add(1), new.as_ptr() as u64);
        }
        while heap.collections().count < 2 {
            waste(mutator, pair);
        }
        assert_eq!(keys(mutator, &list), [1, 2]);
    })
    .unwrap();
    let records = records.lock().unwrap();
    let young = records[1].young().expect("a young collection");
    assert_eq!((young.cards_dirty, young.cards_scanned), (1, 1));
    assert_eq!(young.survived_bytes[1], PAIR_BYTES);
}

#[test]
fn old_regions_without_garbage_are_left_alone() {
    let (heap, pair, records) = heap(32, "");
    heap.attach(|mutator| {
        let (first, list) = (root(mutator), root(mutator));
        push(mutator, pair, &first, 0).expect("room");
        (1..800).for_each(|key| push(mutator, pair, &list, key).expect("room"));
        assert!(mutator.collect());
        drop(first);
        assert!(mutator.collect());
        assert!(keys(mutator, &list).into_iter().eq((1..800).rev()));
    })
    .unwrap();
    let records = records.lock().unwrap();
    let last = records.last().expect("a collection");
    assert_eq!((last.live_objects, last.moved_bytes), (799, 0), "less than 5 % of a region is garbage");
}

#[test]
fn buffers_have_another_size_after_a_collection() {
    let options = "TLABPolicy=hotspot,MinTLABSize=64,TLABSize=64,MaxTLABSize=1024,ParallelGCThreads=1";
    let (heap, pair, records) = heap(64, options);
    heap.attach(|mutator| {
        let refills = |mutator: &mut Mutator<'_>| {
            let before = heap.tlab_totals().sum.refills;
            (0..300).for_each(|_| waste(mutator, pair));
            heap.tlab_totals().sum.refills - before
        };
        let first = refills(mutator);
        // A cycle counts if most of eden was used in it.
        while heap.collections().count < 3 {
            waste(mutator, pair);
        }
        assert!(refills(mutator) * 2 < first, "{first} before");
    })
    .unwrap();
    let records = records.lock().unwrap();
    let sizing = records[0].sizing.as_ref().expect("a decision");
    let BufferSizes { policy, threads, allocators, before, after, .. } = sizing.buffers;
    assert_eq!((policy, threads, allocators, before), (TlabPolicy::Hotspot, 1, 1, 64));
    assert!(after >= 2 * before, "{sizing:?}");
    let lines = records[0].detail_lines();
    assert!(lines.contains(&format!("GC(0) {}", sizing.buffers)), "{lines:#?}");
}

#[test]
fn without_memory_for_copies_objects_stay_and_a_full_collection_follows() {
    let (heap, pair, records) =
        heap(24, "ParallelGCThreads=2,MaxTenuringThreshold=0,InitialTenuringThreshold=0");
    heap.attach(|mutator| {
        // Garbage lets the heap expect that nothing needs copying.
        while heap.collections().count < 5 {
            waste(mutator, pair);
        }
        let list = root(mutator);
        let mut length = 0;
        while push(mutator, pair, &list, length).is_ok() {
            length += 1;
        }
        assert_eq!(length, 24 * (REGION / PAIR_BYTES) as u64);
        assert!(keys(mutator, &list).into_iter().eq((0..length).rev()));
        // An array of more than a region makes its own room when there is some.
        drop(list);
        let bytes = heap.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 })).expect("a shape");
        // SAFETY: the shape is the heap's, and the object is not used.
        let large =
            unsafe { mutator.raw().try_alloc_array_raw(ArraySite::<PerObject>::new(bytes), 3 * REGION) };
        assert!(large.is_none(), "nothing was collected yet");
        // SAFETY: as above.
        unsafe { mutator.raw_mut().alloc_raw(bytes, 3 * REGION) }.expect("room");
    })
    .unwrap();
    let records = records.lock().unwrap();
    let failed = |record: &CollectionRecord| record.young().is_some_and(|young| young.kept_bytes > 0);
    let failure = records.iter().position(failed).expect("a collection that found no memory");
    assert_eq!(records[failure + 1].kind(), CollectionKind::Full);
}

/// Regression: the collector went on filling the old region that it had begun before the reset,
/// although mutators used that region by then.
#[test]
fn after_a_reset_nothing_is_copied_to_regions_of_before() {
    let (heap, pair, records) = heap(32, "MaxTenuringThreshold=1,InitialTenuringThreshold=1");
    for _ in 0..3 {
        heap.attach(|mutator| {
            let list = root(mutator);
            let mut kept = Vec::new();
            for key in 0..20_000 {
                waste(mutator, pair);
                if key % 200 == 0 {
                    push(mutator, pair, &list, key).expect("room");
                    kept.insert(0, key);
                }
            }
            assert_eq!(keys(mutator, &list), kept);
        })
        .unwrap();
        heap.reset().expect("no thread is attached, and nothing is rooted");
        assert_eq!(heap.memory().used_bytes, 0);
    }
    let records = records.lock().unwrap();
    let promoted =
        records.iter().filter_map(|record| record.young()).filter(|young| young.promoted_bytes > 0);
    assert!(promoted.count() > 3, "old regions were there each time");
    assert!(heap.memory().used_bytes == 0 && heap.verify().is_ok());
}

fn enlarged(record: &CollectionRecord) -> Option<EnlargedEden> {
    record.sizing.as_ref().and_then(|sizing| sizing.enlarged)
}

/// Eden is made for the attached threads. It grows when it is full and more threads have come:
/// without a stop, for which all would wait.
#[test]
fn threads_that_come_find_room_without_a_stop() {
    const THREADS: usize = 40;
    // More than one thread's eden, and less than the eden of all threads, whatever the caches.
    const BYTES: usize = 10 << 20;
    for others in [0, THREADS] {
        let heap =
            Heap::builder().max_heap_size(128 << 20).region_size(256 << 10).use_transparent_huge_pages(false);
        let heap = heap.collector(CollectorKind::Parallel).collect_when_idle(false);
        let (heap, pair) = with_pairs(heap.build().expect("a heap"));
        let (attached, done) = (Barrier::new(others + 1), Barrier::new(others + 1));
        std::thread::scope(|scope| {
            for _ in 0..others {
                scope.spawn(|| {
                    let wait = |barrier: &Barrier| {
                        barrier.wait();
                    };
                    heap.attach(|mutator| {
                        mutator.blocking(|| wait(&attached));
                        mutator.blocking(|| wait(&done));
                    })
                    .expect("it is attached to none");
                });
            }
            attached.wait();
            heap.attach(|mutator| (0..BYTES / PAIR_BYTES).for_each(|_| waste(mutator, pair)))
                .expect("it is attached to none");
            let stops = heap.metrics().stops.stops;
            assert_eq!(heap.collections().count, stops);
            assert_eq!(stops == 0, others == THREADS, "{stops} stops beside {others} threads");
            heap.attach(|mutator| assert!(mutator.collect())).expect("it is attached to none");
            let enlarged: Vec<_> = heap.collections().recent.iter().filter_map(enlarged).collect();
            assert_eq!(
                enlarged.len(),
                usize::from(others == THREADS),
                "once, and told by the next collection"
            );
            for EnlargedEden { regions: Change { from, to }, threads } in enlarged {
                assert!(from < to && to << 18 >= BYTES && threads == THREADS + 1, "{from}->{to}: {threads}");
            }
            done.wait();
        });
    }
}
