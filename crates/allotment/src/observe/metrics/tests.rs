//! Metrics agree with records and statistics, and counts never fall.

use super::{Metric, MetricValue, Metrics};
use crate::Heap;
use crate::collector::{CollectionHistory, CollectionKind, CollectionRecord, CollectionSums, OldMarking};
use crate::mutator::{Cause, Mutator, OutOfMemory, RootProvider, RootVisitor, SafepointStatistics};
use crate::object::{Element, Shape, ShapeRef, SlotKind};
use crate::observe::MemoryUse;
use crate::region::{RegionUse, State};
use crate::time_histogram::TimeHistogram;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

const REGION: usize = 4096;
const REGIONS: usize = 64;
const PAIR_BYTES: usize = 24;

/// Each collector, and ways to allocate.
const WAYS: [&str; 9] = [
    "Collector=epsilon",
    "Collector=mark-compact",
    "Collector=parallel,ParallelGCThreads=2",
    "Collector=parallel,-UseTLAB",
    "Collector=parallel,MinTLABSize=64,TLABSize=512",
    "Collector=shenandoah,+ZealCycles",
    // Each cycle degenerates.
    "Collector=shenandoah,ShenandoahGCMode=passive",
    "Collector=shenandoah,+ZealCycles,ShenandoahGCMode=generational",
    "Collector=shenandoah,+ZealCycles,ShenandoahGCMode=generational,-UseTLAB",
];

/// The records that the listener of a heap was told of.
type Told = Arc<Mutex<Vec<CollectionRecord>>>;

fn heap(options: &str) -> (Heap, ShapeRef, Told) {
    let told = Told::default();
    let records = told.clone();
    // Epsilon has to hold all that is ever allocated.
    let regions = if options.contains("epsilon") { 64 * REGIONS } else { REGIONS };
    let builder = Heap::builder().test_geometry(REGION, regions).use_transparent_huge_pages(false);
    let builder = builder.on_collection(move |record| records.lock().unwrap().push(record.clone()));
    let heap = builder.options(options).expect(options).build().expect(options);
    let pair = Shape::fixed("Pair", PAIR_BYTES).slot("next", 8, SlotKind::Strong);
    let pair = heap.register(pair).unwrap();
    (heap, pair, told)
}

/// Allocates this many pairs, of which each tenth is in a list. The list is dropped now and then.
fn work(mutator: &mut Mutator<'_>, pair: ShapeRef, pairs: usize) -> Result<(), OutOfMemory> {
    // SAFETY: null refers to nothing.
    let list = unsafe { mutator.raw().new_root(0) };
    for number in 0..pairs {
        // SAFETY: the shape is the heap's; the first word is its slot.
        unsafe {
            let new = mutator.raw_mut().alloc_raw(pair, 0)?;
            let next = if number % 4000 == 0 { 0 } else { list.get(mutator).expect("of this heap") };
            mutator.raw().store(new.as_ptr().byte_add(8).cast(), next);
            if number % 10 == 0 {
                list.set(mutator, new.as_ptr() as u64);
            }
        }
    }
    Ok(())
}

/// The figures of a heap from other calls.
struct Others {
    memory: MemoryUse,
    stops: SafepointStatistics,
    collections: CollectionHistory,
    records: Vec<CollectionRecord>,
}

/// The metrics of a heap without attached threads, and what it tells otherwise. The heap's own
/// threads changed nothing in between.
fn at_rest(heap: &Heap, told: &Told) -> (Metrics, Others) {
    let read = || Others {
        memory: heap.memory(),
        stops: heap.metrics().stops,
        collections: heap.collections(),
        records: told.lock().unwrap().clone(),
    };
    loop {
        let (before, metrics, after) = (read(), heap.metrics(), read());
        let all_told = before.records.len() as u64 == after.collections.count;
        if all_told && before.memory == after.memory && before.stops == after.stops {
            return (metrics, after);
        }
        thread::yield_now();
    }
}

#[test]
fn numbers_of_a_heap_at_rest_are_those_of_its_records_and_statistics() {
    const THREADS: usize = 3;
    const PAIRS: usize = 12_000;
    let mut all = CollectionSums::default();
    for options in WAYS {
        let (heap, pair, told) = heap(options);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| heap.attach(|mutator| work(mutator, pair, PAIRS)).unwrap().unwrap());
            }
        });
        heap.attach(|mutator| _ = mutator.collect()).unwrap();
        let (metrics, others) = at_rest(&heap, &told);
        let Others { memory, stops, collections, records } = others;

        assert_eq!(metrics.collector, heap.collector());
        assert_eq!(metrics.memory, memory, "{options}");
        assert_eq!(metrics.buffers, heap.tlab_totals().sum, "{options}");
        assert_eq!(metrics.buffers.object_bytes(), (THREADS * PAIRS * PAIR_BYTES) as u64, "{options}");
        assert_eq!(metrics.threads, heap.metrics().threads);
        assert_eq!((metrics.threads.now, metrics.threads.ever), (0, THREADS as u64 + 1));
        assert_eq!(metrics.stops, stops);
        let arrivals = metrics.stops.times;
        assert_eq!(arrivals.count(), metrics.stops.stops);

        let of = |kind| records.iter().filter(|record| record.kind() == kind).count() as u64;
        let sums = metrics.collections;
        assert_eq!(
            (sums.young, sums.full, sums.concurrent, sums.degenerated),
            (
                of(CollectionKind::Young),
                of(CollectionKind::Full),
                of(CollectionKind::Concurrent),
                of(CollectionKind::Degenerated)
            ),
            "{options}"
        );
        assert_eq!(records.is_empty(), options.contains("epsilon"), "{options}");
        let cycles = || records.iter().filter_map(CollectionRecord::cycle);
        let generations = || cycles().filter_map(|cycle| cycle.generations.as_ref());
        let ended = generations().filter(|of| of.old_marking == OldMarking::Ended).count();
        assert_eq!(sums.old_markings, ended as u64, "{options}");
        let beside: Duration = cycles().map(|cycle| cycle.concurrent_time).sum();
        let marking: Duration = generations().map(|of| of.old_marking_time).sum();
        assert_eq!(sums.concurrent_time, beside + marking, "{options}");
        // A requested cycle ends beside the thread that waits for it.
        let is_concurrent = options.contains("shenandoah") && !options.contains("passive");
        assert_eq!(
            (sums.concurrent > 0, beside > Duration::ZERO),
            (is_concurrent, is_concurrent),
            "{options}"
        );
        assert_eq!(sums.assists, cycles().map(|cycle| cycle.assists).sum::<u64>());
        assert_eq!(sums.assist_time, cycles().map(|cycle| cycle.assist_time).sum());
        assert_eq!(sums.pacing_waits, cycles().map(|cycle| cycle.pacing_waits).sum::<u64>());
        assert_eq!(sums.pacing_time, cycles().map(|cycle| cycle.pacing_time).sum());
        assert_eq!(sums.moved_bytes, records.iter().map(|record| record.moved_bytes as u64).sum::<u64>());

        let mut pauses = TimeHistogram::default();
        for record in &records {
            match record.cycle() {
                Some(cycle) => cycle.pauses.iter().for_each(|pause| pauses.record(pause.time)),
                None => pauses.record(record.pause),
            }
        }
        assert_eq!(metrics.pauses, pauses, "{options}");
        assert_eq!((collections.count, collections.sums), (records.len() as u64, sums));
        assert_eq!((collections.pauses.count(), collections.pauses.total()), (pauses.count(), pauses.sum()));
        assert_eq!(metrics.used_bytes_after_collection, records.last().map(|record| record.used_after));
        assert_eq!((metrics.overhead_limits, metrics.dropped_samples), (0, 0));

        all.old_markings += sums.old_markings;
        all.assists += sums.assists;
        all.degenerated += sums.degenerated;
        all.moved_bytes += sums.moved_bytes;
    }
    let CollectionSums { old_markings, assists, degenerated, moved_bytes, .. } = all;
    assert!([old_markings, assists, degenerated, moved_bytes].iter().all(|&sum| sum > 0), "{all:?}");
}

/// The use of regions and the bytes of old objects, region by region.
fn looked_up(heap: &Heap) -> (RegionUse, usize, usize) {
    let table = heap.shared.space.free.table();
    let (mut regions, mut used, mut old) = (RegionUse::default(), 0, 0);
    let mut in_old_run = false;
    for index in 0..table.len() {
        let region = table.get(index);
        let bytes = region.top() - table.bottom(index);
        used += bytes;
        let is_old = match region.state() {
            State::Old => true,
            State::HumongousContinuation => in_old_run,
            _ => region.is_tenured(),
        };
        in_old_run = is_old;
        old += if is_old { bytes } else { 0 };
        match region.state() {
            State::Uncommitted => regions.uncommitted += 1,
            State::Free => regions.free += 1,
            State::Shared => regions.shared += 1,
            State::Exclusive => regions.exclusive += 1,
            State::HumongousStart | State::HumongousContinuation => regions.humongous += 1,
            State::Quarantined => regions.quarantined += 1,
            State::Survivor => regions.survivor += 1,
            State::Old => regions.old += 1,
            State::CollectionSet => regions.collection_set += 1,
        }
    }
    (regions, used, old)
}

#[test]
fn regions_in_a_stop_are_counted_by_their_states_and_bytes_by_generation() {
    for options in WAYS {
        let (heap, pair, _) = heap(options);
        let bytes = heap.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 })).unwrap();
        let mut most_old = 0;
        heap.attach(|mutator| {
            // SAFETY: the shape is the heap's.
            let large = unsafe {
                let new = mutator.raw_mut().alloc_raw(bytes, 3 * REGION).unwrap();
                mutator.raw().new_root(new.as_ptr() as u64)
            };
            for _ in 0..24 {
                work(mutator, pair, 700).unwrap();
                mutator.collect();
                work(mutator, pair, 300).unwrap();
                mutator.raw_mut().stop_the_world(|_| {
                    let metrics = heap.metrics();
                    let (regions, used, old) = looked_up(&heap);
                    assert_eq!(metrics.regions, regions, "{options}");
                    assert_eq!(metrics.memory.used_bytes, used, "{options}");
                    assert_eq!((metrics.young_bytes, metrics.old_bytes), (used - old, old), "{options}");
                    assert_eq!(regions.humongous, 4, "{options}");
                    most_old = most_old.max(old);
                });
            }
            drop(large);
        })
        .unwrap();
        let generations = options.contains("parallel") || options.contains("generational");
        assert_eq!(most_old > 0, generations, "{options}");
    }
}

#[test]
fn samples_without_memory_are_counted_as_the_profile_counts_them() {
    let (heap, pair, _) = heap("Collector=epsilon,AllocationSampleInterval=16,AllocationSampleMemory=64k");
    heap.attach(|mutator| work(mutator, pair, 10_000)).unwrap().unwrap();
    let dropped = heap.metrics().dropped_samples;
    assert!(dropped > 0);
    assert_eq!(dropped, heap.allocation_profile().dropped_samples());
}

struct NoRoots;

// SAFETY: it has no roots.
unsafe impl RootProvider for NoRoots {
    fn visit_roots(&self, _: &mut RootVisitor<'_, '_>) {}
}

#[test]
fn roots_are_counted_by_kind() {
    let (heap, pair, _) = heap("Collector=parallel");
    let counts = |heap: &Heap| {
        let roots = heap.metrics().roots;
        [roots.handles, roots.weak_handles, roots.providers, roots.pinned_objects]
    };
    let held = heap
        .attach(|mutator| {
            // SAFETY: the shape is the heap's, and objects are held at once.
            unsafe {
                let object = mutator.raw_mut().alloc_raw(pair, 0).unwrap();
                let one = mutator.raw().new_root(object.as_ptr() as u64);
                let pins = [mutator.raw().pin(object), mutator.raw().pin(object)];
                let weak = mutator.raw().new_weak_root(object.as_ptr() as u64);
                (one.clone(), one, weak, pins)
            }
        })
        .unwrap();
    let provider = heap.add_root_provider(Box::new(NoRoots));
    assert_eq!(counts(&heap), [2, 1, 1, 1]);
    let (first, second, weak, [pin, other]) = held;
    drop((first, pin));
    assert_eq!(counts(&heap), [1, 1, 1, 1]);
    heap.remove_root_provider(provider).unwrap();
    drop((second, weak, other));
    assert_eq!(counts(&heap), [0; 4]);
}

#[test]
fn an_allocation_that_waits_for_a_collection_is_a_stall() {
    let (heap, pair, told) = heap("Collector=mark-compact");
    heap.attach(|mutator| work(mutator, pair, 60_000)).unwrap().unwrap();
    let (metrics, Others { records, .. }) = at_rest(&heap, &told);
    assert!(records.len() > 3);
    assert!(records.iter().all(|record| record.cause == Cause::AllocationFailure));
    assert_eq!(metrics.stalls.count, records.len() as u64);
    assert!(metrics.stalls.time >= metrics.pauses.sum());

    // A stop that begins with a young collection may go on with a full one.
    let (heap, pair, _) = self::heap("Collector=parallel,ParallelGCThreads=2,-CollectWhenIdle");
    heap.attach(|mutator| work(mutator, pair, 60_000)).unwrap().unwrap();
    let metrics = heap.metrics();
    assert!(metrics.stops.stops > 3);
    assert_eq!(metrics.stalls.count, metrics.stops.stops);

    let (heap, pair, _) = self::heap("Collector=epsilon");
    heap.attach(|mutator| work(mutator, pair, usize::MAX)).unwrap().expect_err("no room");
    assert_eq!(heap.metrics().stalls, Default::default(), "nobody waited");
}

/// Eden grows for threads that have come, without a stop.
#[test]
fn an_allocation_that_finds_room_after_all_is_not_a_stall() {
    const THREADS: usize = 40;
    // More than one thread's eden, and less than what that many may have.
    const PAIRS: usize = (10 << 20) / PAIR_BYTES;
    let heap =
        Heap::builder().max_heap_size(128 << 20).region_size(256 << 10).use_transparent_huge_pages(false);
    let heap = heap.options("Collector=parallel,-CollectWhenIdle").unwrap().build().unwrap();
    let pair = heap.register(Shape::fixed("Pair", PAIR_BYTES).slot("next", 8, SlotKind::Strong)).unwrap();
    let [attached, done] = [(); 2].map(|()| Barrier::new(THREADS + 1));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            let wait = |mutator: &mut Mutator<'_>| {
                mutator.blocking(|| (attached.wait(), done.wait()));
            };
            let heap = &heap;
            scope.spawn(move || heap.attach(wait).unwrap());
        }
        attached.wait();
        heap.attach(|mutator| work(mutator, pair, PAIRS)).unwrap().unwrap();
        let metrics = heap.metrics();
        assert_eq!((metrics.stops.stops, metrics.stalls), (0, Default::default()));
        heap.attach(|mutator| _ = mutator.collect()).unwrap();
        let grew = |record: &CollectionRecord| record.sizing.as_ref().is_some_and(|of| of.enlarged.is_some());
        assert!(heap.collections().recent.iter().any(grew), "a thread looked for room, and found it");
        done.wait();
    });
}

/// Recycling moves the top of a buffer back, or takes an earlier buffer up again.
#[test]
fn recycled_objects_count_each_time_they_are_allocated() {
    for options in ["Collector=epsilon", "Collector=parallel,MinTLABSize=64,TLABSize=512"] {
        let (heap, pair, _) = heap(options);
        let mut objects = 0;
        heap.attach(|mutator| {
            for round in 0..60 {
                work(mutator, pair, round % 7).unwrap();
                let mark = mutator.raw_mut().mark();
                for inner in 0..round % 4 {
                    let pairs = 1 + (round * 31 + inner * 17) % 400;
                    work(mutator, pair, pairs).unwrap();
                    // SAFETY: what was allocated since is unreachable, and no older mark is used.
                    unsafe { mutator.raw_mut().recycle(mark) };
                    objects += pairs;
                }
                objects += round % 7;
            }
        })
        .unwrap();
        assert_eq!(heap.metrics().buffers.object_bytes(), (objects * PAIR_BYTES) as u64, "{options}");
    }
}

fn all_regions(regions: &RegionUse) -> usize {
    let RegionUse { uncommitted, free, shared, exclusive, survivor, old, .. } = *regions;
    let RegionUse { humongous, collection_set, quarantined, .. } = *regions;
    uncommitted + free + shared + exclusive + survivor + old + humongous + collection_set + quarantined
}

/// Each number of a name and attribute that must not fall: counts, times, and parts of histograms.
fn grown<'m>(metrics: &[Metric<'m>]) -> BTreeMap<(&'m str, Option<(&'m str, &'m str)>, usize), u128> {
    let mut grown = BTreeMap::new();
    for metric in metrics {
        let key = |part| (metric.name, metric.attribute, part);
        match metric.value {
            MetricValue::Counter(count) => _ = grown.insert(key(0), count.into()),
            MetricValue::TimeCounter(time) => _ = grown.insert(key(0), time.as_nanos()),
            MetricValue::Histogram(histogram) => {
                grown.insert(key(0), histogram.sum().as_nanos());
                for (place, count) in histogram.counts().iter().enumerate() {
                    grown.insert(key(1 + place), (*count).into());
                }
            }
            MetricValue::Level(_) => {}
        }
    }
    grown
}

#[test]
fn counts_never_fall_while_threads_allocate_attach_and_collect() {
    const WRITERS: usize = 3;
    const READERS: usize = 3;
    for options in WAYS {
        let (heap, pair, _) = heap(options);
        let (writing, readings) = (AtomicUsize::new(WRITERS), AtomicUsize::new(0));
        let compare = |before: &mut Metrics| {
            let now = heap.metrics();
            let (old, new) = (before.named(), now.named());
            let (old, new) = (grown(&old), grown(&new));
            assert_eq!(old.len(), new.len());
            for (name, count) in &old {
                assert!(new[name] >= *count, "{options}: {name:?}: {count}, then {}", new[name]);
            }
            assert_eq!(all_regions(&now.regions), heap.geometry().regions);
            assert_eq!(now.memory.used_bytes, now.young_bytes + now.old_bytes);
            *before = now;
            readings.fetch_add(1, Ordering::Relaxed);
        };
        thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| {
                    let mut before = heap.metrics();
                    for _ in 0..12 {
                        let visit = heap.attach(|mutator| {
                            work(mutator, pair, 900)?;
                            compare(&mut before);
                            work(mutator, pair, 100)
                        });
                        visit.unwrap().unwrap();
                    }
                    writing.fetch_sub(1, Ordering::Relaxed);
                });
            }
            for _ in 0..READERS {
                scope.spawn(|| {
                    let mut before = heap.metrics();
                    while writing.load(Ordering::Relaxed) > 0 {
                        compare(&mut before);
                    }
                });
            }
        });
        assert!(readings.into_inner() >= WRITERS * 12);
        let objects = heap.metrics().buffers.object_bytes();
        assert_eq!(objects, (WRITERS * 12 * 1000 * PAIR_BYTES) as u64, "{options}");
    }
}

/// The table of names in the documentation.
const PAGE: &str = include_str!("../../../../../docs/observe.md");

#[test]
fn each_name_is_in_the_table_of_the_page_with_its_unit_and_attribute() {
    let (heap, _, _) = heap("Collector=parallel");
    let metrics = heap.metrics();
    let mut expected: Vec<String> = Vec::new();
    for metric in metrics.named() {
        let kind = match metric.value {
            MetricValue::Counter(_) | MetricValue::TimeCounter(_) => "counter",
            MetricValue::Level(_) => "level",
            MetricValue::Histogram(_) => "histogram",
        };
        let attribute = metric.attribute.map_or(String::new(), |(key, _)| format!("`{key}`"));
        let row = format!("| `{}` | `{}` | {kind} | {attribute} |", metric.name, metric.unit);
        if expected.last() != Some(&row) {
            expected.push(row);
        }
    }
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let rows: Vec<String> =
        PAGE.lines().map(squeezed).filter(|line| line.starts_with("| `allotment.")).collect();
    assert_eq!(rows.len(), expected.len(), "{expected:#?}");
    for (row, expected) in rows.iter().zip(&expected) {
        assert!(row.starts_with(&squeezed(expected)), "{row}\nwhere {expected} is right");
    }
    let mut names: Vec<_> = metrics.named().iter().map(|metric| (metric.name, metric.attribute)).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "two metrics have the same name and attribute");
}
