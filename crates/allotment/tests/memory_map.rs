//! The system's view of a heap: its name, its size, and the parts of its memory that are present.

use allotment::Heap;
use allotment::options::CollectorKind;
use allotment::raw::{ArraySite, ByCaller, Element, Shape};
use std::fs;

/// The lines of `/proc/self/maps` that touch the heap or are called so.
fn lines(heap: &Heap, name: &str) -> Vec<String> {
    let range = heap.base()..heap.base() + heap.memory().reserved_bytes;
    let maps = fs::read_to_string("/proc/self/maps").expect("Linux has it");
    let inside = |line: &&str| {
        let (start, _) = line.split_once('-').expect("a range begins the line");
        range.contains(&usize::from_str_radix(start, 16).expect("in hexadecimal")) || line.contains(name)
    };
    maps.lines().filter(inside).map(str::to_owned).collect()
}

/// Bytes of the heap that have memory behind them.
fn resident(heap: &Heap) -> usize {
    let range = heap.base()..heap.base() + heap.memory().reserved_bytes;
    let smaps = fs::read_to_string("/proc/self/smaps").expect("Linux has it");
    let mut inside = false;
    let mut kib = 0;
    for line in smaps.lines() {
        let first = line.split_whitespace().next().unwrap_or_default();
        if let Some((start, _)) = first.split_once('-') {
            inside = usize::from_str_radix(start, 16).is_ok_and(|start| range.contains(&start));
        } else if inside && first == "Rss:" {
            kib +=
                line.split_whitespace().nth(1).and_then(|kib| kib.parse::<usize>().ok()).expect("a number");
        }
    }
    kib << 10
}

#[test]
fn heaps_are_called_by_their_names() {
    let build = |name: &str| Heap::builder().max_heap_size(4 << 20).name(name).build().expect("a small heap");
    let (nursery, odd) = (build("nursery"), build("a/b c"));
    let unnamed = Heap::builder().max_heap_size(4 << 20).build().expect("a small heap");
    for (heap, name) in
        [(&nursery, "allotment-nursery"), (&odd, "allotment-a-b-c"), (&unnamed, "allotment-heap")]
    {
        let lines = lines(heap, name);
        assert!(lines.iter().any(|line| line.contains(name)), "{name}: {lines:#?}");
    }
    assert!(lines(&nursery, "allotment-nursery").iter().all(|line| !line.contains("a-b-c")));
}

#[test]
fn a_new_heap_holds_no_memory_and_one_that_is_touched_ahead_all_of_it() {
    // A heap that collects would do so before it grew beyond its initial size.
    let epsilon = || Heap::builder().collector(CollectorKind::Epsilon);
    let builder = || epsilon().max_heap_size(64 << 20).use_transparent_huge_pages(false);
    let fresh = builder().build().expect("a heap");
    assert_eq!((resident(&fresh), fresh.memory().committed_bytes), (0, 0));

    let committed = builder().initial_heap_size(32 << 20).build().expect("a heap");
    assert_eq!((resident(&committed), committed.memory().committed_bytes), (0, 32 << 20));

    let touched = builder().initial_heap_size(32 << 20).always_pre_touch(true).build().expect("a heap");
    assert_eq!((resident(&touched), touched.memory().committed_bytes), (32 << 20, 32 << 20));

    // Beyond the initial size regions are touched as they are committed.
    let bytes = touched.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 })).expect("a shape");
    let site: ArraySite<ByCaller> = ArraySite::new(bytes);
    // SAFETY: the shape is the heap's, and nobody uses the object.
    let object =
        touched.attach(|mutator| unsafe { mutator.raw().try_alloc_array_raw(site, 40 << 20) }.is_some());
    assert_eq!(object, Ok(true));
    assert_eq!(resident(&touched), touched.memory().committed_bytes);

    touched.reset().expect("nobody is attached");
    assert_eq!(touched.uncommit(), 64 << 20);
    assert_eq!((resident(&touched), touched.memory().committed_bytes), (0, 0));
}

#[test]
fn the_last_handle_gives_the_addresses_back() {
    let heap = Heap::builder().max_heap_size(4 << 20).name("short-lived").build().expect("a small heap");
    let clone = heap.clone();
    drop(heap);
    assert!(!lines(&clone, "allotment-short-lived").is_empty());
    drop(clone);
    let maps = fs::read_to_string("/proc/self/maps").expect("Linux has it");
    assert!(!maps.contains("short-lived"), "{maps}");
}
