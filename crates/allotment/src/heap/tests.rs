//! The heap from outside: how it begins, what it says of its memory, and what it refuses.

use super::{BuildError, Heap};
use crate::collector::CollectionKind;
use crate::mutator::{ArraySite, ByCaller, Mutator, PerObject, Site, ThreadActivity};
use crate::object::{Element, Shape, ShapeRef};
use crate::observe::MemoryUse;
use crate::options::{CollectorKind, OptionId, Origin};
use crate::platform::{PrefetchSettings, PrefetchStyle, Processor, current_cpu, run_on_cpus};
use crate::{NewSlots, OutOfMemory, alloc, root};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

const REGION: usize = 256 << 10;

/// 16 regions of the smallest size, with these options.
fn small(options: &str) -> Result<Heap, BuildError> {
    let builder = Heap::builder().max_heap_size(16 * REGION).use_transparent_huge_pages(false);
    builder.collector(CollectorKind::Epsilon).options(options)?.build()
}

fn words(heap: &Heap) -> ShapeRef {
    heap.register(Shape::array("Words", 16, Element::Plain { bytes: 8 })).unwrap()
}

fn array(mutator: &Mutator<'_>, shape: ShapeRef, bytes: usize) -> bool {
    // SAFETY: the shape is the heap's; nothing uses the object.
    unsafe { mutator.raw().try_alloc_array_raw(ArraySite::<ByCaller>::new(shape), (bytes - 16) / 8) }
        .is_some()
}

#[test]
fn memory_is_committed_when_it_is_needed_and_given_back() {
    let heap = small("").unwrap();
    let shape = words(&heap);
    let memory = |committed: usize, used| {
        let expected = MemoryUse {
            reserved_bytes: 16 * REGION,
            capacity_bytes: heap.shared.space.free.capacity() * REGION,
            committed_bytes: committed * REGION,
            used_bytes: used,
            tlab_bytes_above_floor: 0,
        };
        assert_eq!(heap.memory(), expected);
    };
    memory(0, 0);
    assert_eq!(heap.uncommit(), 0);
    heap.attach(|mutator| assert!(array(mutator, shape, 3 * REGION))).unwrap();
    memory(3, 3 * REGION);
    assert_eq!(heap.uncommit(), 0, "it is in use");
    heap.reset().unwrap();
    memory(3, 0);
    assert_eq!(heap.uncommit(), 3 * REGION);
    memory(0, 0);
    heap.attach(|mutator| assert!(array(mutator, shape, 16 * REGION))).unwrap();
    memory(16, 16 * REGION);
    assert_eq!(heap.verify().unwrap().regions, [0, 0, 0, 16, 0]);
}

#[test]
fn the_initial_size_is_committed_in_whole_regions() {
    for (options, regions) in [
        ("InitialHeapSize=1", 1),
        ("InitialHeapSize=256k", 1),
        ("InitialHeapSize=700k", 3),
        ("InitialHeapSize=4m,+AlwaysPreTouch", 16),
        ("+AlwaysPreTouch", 0),
    ] {
        let heap = small(options).unwrap();
        assert_eq!(heap.memory().committed_bytes, regions * REGION, "{options}");
        assert_eq!(heap.verify().unwrap().regions, [regions, 0, 0, 0, 16 - regions], "{options}");
    }
}

/// Regression: an initial size above the size that the heap chose for itself was cut down silently.
#[test]
fn an_initial_size_above_the_chosen_maximum_is_refused() {
    let error = Heap::builder().initial_heap_size(30 << 40).max_ram_percentage(0.1).build().unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("InitialHeapSize=30t {builder} is greater than MaxHeapSize="), "{text}");
    assert!(text.contains(" {ergonomic}; lower the one or raise the other"), "{text}");
}

#[test]
fn heaps_that_cannot_be_are_refused_with_what_can() {
    for (options, expected) in [
        ("MaxHeapSize=64t", "32t"),
        ("MaxHeapSize=1m", "MaxHeapSize"),
        ("RegionSize=300k", "power of two"),
        ("RegionSize=1m", "at least 10 regions"),
        ("InitialHeapSize=5m", "greater than MaxHeapSize"),
        ("MaxHeapSiz=5m", "MaxHeapSize"),
    ] {
        let text = small(options).map(|heap| heap.geometry()).unwrap_err().to_string();
        assert!(text.contains(expected), "{options}: {text}");
    }
}

#[test]
fn the_largest_heap_is_reserved_and_usable_at_its_end() {
    // Without a collector nothing keeps an allocation from the whole heap.
    let heap = match Heap::builder().max_heap_size(32 << 40).collector(CollectorKind::Epsilon).build() {
        Ok(heap) => heap,
        // A machine whose address space is limited says so.
        Err(error) => return assert!(error.to_string().contains("ulimit -v"), "{error}"),
    };
    assert_eq!(heap.geometry().heap_bytes(), 1 << 45);
    let shape = words(&heap);
    // Runs come from the high end.
    heap.attach(|mutator| assert!(array(mutator, shape, 65 << 20))).unwrap();
    assert_eq!(heap.verify().unwrap().object_bytes(), 65 << 20);
}

#[test]
fn an_idle_thread_holds_at_most_64_kib() {
    for policy in ["adaptive", "epsilon", "shenandoah-8359947"] {
        let heap = Heap::builder().max_heap_size(64 << 20).options(&format!("TLABPolicy={policy}")).unwrap();
        let heap = heap.build().unwrap();
        let site: Site<16, PerObject> = Site::new(heap.register(Shape::fixed("Cell", 16)).unwrap()).unwrap();
        heap.attach(|mutator| {
            assert_eq!(heap.memory().used_bytes, 0, "{policy}: attached, and nothing allocated");
            // SAFETY: the shape is the heap's; nothing uses the object.
            unsafe { mutator.raw().try_alloc_raw(site) }.expect("room");
            let used = heap.memory().used_bytes;
            assert!(used <= 64 << 10, "{used} bytes with {policy}");
        })
        .unwrap();
        assert_eq!(heap.memory().used_bytes, 16, "what was not used goes back to the region");
    }
}

#[test]
fn what_buffers_hold_above_the_floor_is_counted_and_comes_back() {
    let heap = Heap::builder().max_heap_size(256 << 20).build().unwrap();
    let site: Site<64> = Site::new(heap.register(Shape::fixed("Line", 64)).unwrap()).unwrap();
    heap.attach(|mutator| {
        let grown = (0..1 << 20).any(|_| {
            // SAFETY: the shape is the heap's; nothing uses the objects.
            let object = unsafe { mutator.raw().try_alloc_raw(site) };
            object.is_none() || heap.memory().tlab_bytes_above_floor > 0
        });
        assert!(grown, "64 MiB without a pause");
        assert!(heap.memory().tlab_bytes_above_floor <= (256 << 20) / 20);
    })
    .unwrap();
    assert_eq!(heap.memory().tlab_bytes_above_floor, 0);
    heap.verify().unwrap();
}

#[test]
fn clones_are_one_heap_and_the_memory_outlives_the_first_handle() {
    let heap = small("").unwrap();
    let shape = words(&heap);
    let clone = heap.clone();
    assert_eq!((heap.base(), heap.collector()), (clone.base(), "epsilon"));
    let inside = clone.attach(move |mutator| {
        drop(heap);
        array(mutator, shape, 1000)
    });
    assert_eq!(inside, Ok(true));
    assert_eq!(clone.verify().unwrap().object_bytes(), 1000);
    assert!(format!("{clone:?}").contains("geometry"));
}

#[test]
fn what_the_heap_chose_itself_is_marked_as_such() {
    let heap = small("RefillStrategy=lock").unwrap();
    let row = |name: &str| heap.options().rows().find(|row| row.info.name == name).expect("an option");
    assert_eq!((row("RegionSize").value.as_str(), row("RegionSize").origin), ("256k", Origin::Ergonomic));
    assert_eq!(
        (row("AllocationRegions").value.as_str(), row("AllocationRegions").origin),
        ("1", Origin::Ergonomic)
    );
    assert_eq!((row("MaxHeapSize").value.as_str(), row("TLABPolicy").value.as_str()), ("4m", "adaptive"));
    assert!(matches!(row("MaxHeapSize").origin, Origin::Given(_)));
    assert_eq!(row("TLABPolicy").origin, Origin::Default);
}

#[test]
fn prefetch_is_as_given_or_as_suits_the_processor() {
    let processor = Processor::detect();
    let ours = PrefetchSettings::recommended(&processor);
    let settings = |options: &str| small(options).unwrap().prefetch_settings();
    let heap = small("").unwrap();
    assert_eq!(heap.prefetch_settings(), ours);
    assert_eq!(settings("AllocatePrefetchStyle=0").style, PrefetchStyle::None);
    assert_eq!(settings("AllocatePrefetchDistance=0").style, PrefetchStyle::None, "nothing ahead is nothing");
    // A user who says how to prefetch wants a prefetch.
    let some = settings("AllocatePrefetchDistance=192,AllocatePrefetchInstr=1,AllocatePrefetchLines=4");
    assert_eq!((some.style, some.distance, some.lines), (PrefetchStyle::Always, 192, 4));
    let three = "AllocatePrefetchStyle=3,AllocatePrefetchInstr=0,AllocatePrefetchStepSize";
    assert_eq!(settings(&format!("{three}=128")).style, PrefetchStyle::Lines);
    let error = small(&format!("{three}=48")).unwrap_err();
    assert!(
        matches!(error, BuildError::Prefetch(_)) && error.to_string().contains("64 is the nearest"),
        "{error}"
    );
    let origin = heap.options().origin(OptionId::AllocatePrefetchStyle);
    let changed = ours.style != PrefetchStyle::Always;
    assert_eq!(origin, if changed { Origin::Ergonomic } else { Origin::Default });
}

/// Regression: a heap made by a thread bound to one CPU had a single region for all threads to take
/// buffers from.
#[test]
fn a_heap_that_a_bound_thread_makes_is_for_all_cpus_of_the_process() {
    let homes = || small("").unwrap().shared.space.free.homes();
    let bound = std::thread::spawn(move || {
        run_on_cpus(&[current_cpu()]);
        homes()
    });
    assert_eq!(bound.join().unwrap(), homes());
}

/// The decisions at each collection of a program that keeps some of its objects, with a clock that
/// advances by `step` at each reading.
fn decisions(step: Duration) -> Vec<String> {
    let reads = AtomicU32::new(0);
    let heap = Heap::builder()
        .max_heap_size(64 * REGION)
        .clock(move || step * reads.fetch_add(1, Ordering::Relaxed))
        .options("Collector=parallel,ParallelGCThreads=1,AllocationRegions=1,-CollectWhenIdle")
        .unwrap();
    let heap = heap.build().unwrap();
    heap.attach(|mutator| {
        root!(mutator, mut kept = alloc!(mutator, NewSlots::<u64>::new(100, 0))?);
        for number in 0..20_000 {
            let next = alloc!(mutator, NewSlots::<u64>::new(500, number))?;
            if number % 50 == 0 {
                kept.set(mutator, next);
            }
        }
        Ok::<(), OutOfMemory>(())
    })
    .unwrap()
    .unwrap();
    let records = heap.collections().recent;
    records
        .iter()
        .map(|record| format!("{:?}", record.sizing.as_ref().map(|sizing| &sizing.decision)))
        .collect()
}

#[test]
fn what_a_heap_decides_follows_from_its_clock() {
    let first = decisions(Duration::from_micros(300));
    assert!(first.len() > 3, "{} collections", first.len());
    assert_eq!(first, decisions(Duration::from_micros(300)));
    // Where no time passes pauses cost nothing.
    assert_ne!(first, decisions(Duration::ZERO));
}

#[test]
fn free_memory_goes_back_after_the_delay_on_the_heaps_clock() {
    use CollectionKind::{Full, Young};
    for (options, kind) in [
        ("Collector=mark-compact", Full),
        ("Collector=parallel", Full),
        ("Collector=parallel,ZealInterval=1", Young),
    ] {
        let now_ms = Arc::new(AtomicU32::new(0));
        let clock = now_ms.clone();
        let heap = Heap::builder()
            .max_heap_size(16 * REGION)
            .clock(move || Duration::from_millis(clock.load(Ordering::Relaxed).into()))
            .options(&format!("{options},InitialHeapSize=256k,UncommitDelay=1000,-UseTransparentHugePages"));
        let heap = heap.unwrap().build().unwrap();
        let allocate = |length: usize| {
            let array = NewSlots::<u64>::new(length, 0);
            heap.attach(|mutator| alloc!(mutator, array).map(|_| ())).unwrap().unwrap();
        };
        let collect = || {
            match kind {
                Full => assert_eq!(heap.attach(|mutator| mutator.collect()), Ok(true)),
                _ => allocate(1),
            }
            let last = heap.collections().recent.pop_back().unwrap();
            (last.kind(), last.uncommitted)
        };
        // Under zeal three young ones follow.
        let until_full = || while collect().0 != Full {};
        allocate(8 * REGION / 8);
        until_full();
        now_ms.store(999, Ordering::Relaxed);
        until_full();
        let early: usize = heap.collections().recent.iter().map(|record| record.uncommitted).sum();
        assert_eq!(early, 0, "{options}");
        now_ms.store(1000, Ordering::Relaxed);
        let last = collect();
        assert!(last.0 == kind && last.1 > 0, "{options}: {last:?}");
    }
}

#[test]
fn attached_threads_are_told_by_what_they_do_and_what_they_allocated() {
    let (heap, ends) = (small("").unwrap(), AtomicBool::new(false));
    let shape = words(&heap);
    let activity = |name: &str| {
        let threads = heap.threads();
        let thread = threads.iter().find(|thread| thread.identity.name() == Some(name));
        thread.map(|thread| (thread.activity, thread.allocated_bytes()))
    };
    let wait = || {
        while !ends.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    std::thread::scope(|scope| {
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        named("runs")
            .spawn_scoped(scope, || {
                let body = |mutator: &mut Mutator<'_>| {
                    // SAFETY: the shape is the heap's; nothing uses the object.
                    unsafe { mutator.raw_mut().alloc_raw(shape, (4096 - 16) / 8) }.unwrap();
                    while !ends.load(Ordering::Relaxed) {
                        mutator.safepoint();
                    }
                };
                heap.attach(body).unwrap();
            })
            .unwrap();
        named("blocks")
            .spawn_scoped(scope, || heap.attach(|mutator| mutator.blocking(wait)).unwrap())
            .unwrap();
        let until = |name: &str, expected: ThreadActivity, bytes: u64| {
            while activity(name) != Some((expected, bytes)) {
                std::thread::yield_now();
            }
        };
        until("runs", ThreadActivity::Running, 4096);
        until("blocks", ThreadActivity::Blocking, 0);
        // What it had in its buffer counts as before.
        heap.stop_the_world(|_| until("runs", ThreadActivity::Stopped, 4096)).unwrap();
        until("runs", ThreadActivity::Running, 4096);
        ends.store(true, Ordering::Relaxed);
    });
    assert!(heap.threads().is_empty());
}
