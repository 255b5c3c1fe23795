//! Timelines of heaps under every collector: each is drawn as its records have it.

use crate::collector::CollectionRecord;
use crate::collector::record::Details;
use crate::object::{Element, Shape, SlotKind};
use crate::{Heap, Mutator};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// An event of the kind `X`; times in ns.
struct Slice {
    row: i64,
    start: u64,
    end: u64,
    category: String,
    name: String,
    arguments: Value,
}

fn nanoseconds(value: &Value) -> u64 {
    (value.as_f64().expect("a number") * 1e3).round() as u64
}

fn read(path: &Path) -> (Vec<Value>, Vec<Slice>) {
    let events: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).expect("JSON");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let slices = events.iter().filter(|event| event["ph"] == "X").map(|event| {
        let start = nanoseconds(&event["ts"]);
        Slice {
            row: event["tid"].as_i64().expect("a row"),
            start,
            end: start + nanoseconds(&event["dur"]),
            category: text(&event["cat"]),
            name: text(&event["name"]),
            arguments: event["args"].clone(),
        }
    });
    let slices = slices.collect();
    (events, slices)
}

/// Slices of one row lie one after the other, or one in the other.
fn check_nesting(slices: &[Slice]) {
    let mut rows: BTreeMap<i64, Vec<&Slice>> = BTreeMap::new();
    slices.iter().for_each(|slice| rows.entry(slice.row).or_default().push(slice));
    for mut row in rows.into_values() {
        row.sort_by_key(|slice| (slice.start, Reverse(slice.end)));
        let mut around: Vec<&Slice> = Vec::new();
        for slice in row {
            around.retain(|outer| outer.end > slice.start);
            if let Some(outer) = around.last() {
                let [a, b] = [outer, slice].map(|s| format!("{} {}..{}", s.name, s.start, s.end));
                assert!(slice.end <= outer.end, "{a} and {b} overlap");
            }
            around.push(slice);
        }
    }
}

fn pauses(record: &CollectionRecord) -> Duration {
    match &record.details {
        Details::Cycle(cycle) => cycle.pauses.iter().map(|pause| pause.time).sum(),
        _ => record.pause,
    }
}

/// Allocates lists, of which some stay.
fn work(heap: &Heap, mutator: &mut Mutator<'_>, rounds: usize) {
    let link = Shape::fixed("Link", 32).slot("next", 8, SlotKind::Strong);
    let link = heap.register(link).expect("a shape");
    // SAFETY: null refers to nothing.
    let [kept, list] = [(); 2].map(|()| unsafe { mutator.raw().new_root(0) });
    for round in 0..rounds {
        for number in 0..64 {
            let head = if number % 16 == 0 { &kept } else { &list };
            // SAFETY: the shape is the heap's; the words are null, or refer to live objects.
            unsafe {
                let new = mutator.raw_mut().alloc_raw(link, 0).expect("room");
                let next = head.get(mutator).expect("of this heap");
                mutator.raw().store(new.as_ptr().byte_add(8).cast(), next);
                head.set(mutator, new.as_ptr() as u64);
            }
        }
        // SAFETY: null refers to nothing.
        unsafe {
            list.set(mutator, 0);
            if round % 40 == 39 {
                kept.set(mutator, 0);
            }
        }
    }
}

/// Runs threads in a heap with these options. Returns the run's time, the records, the file's
/// events and their slices.
fn run(options: &str, path: &Path) -> (u64, Vec<CollectionRecord>, Vec<Value>, Vec<Slice>) {
    let records = Arc::new(Mutex::new(Vec::new()));
    let to = records.clone();
    let begun = Instant::now();
    let heap = Heap::builder().test_geometry(4096, 128).timeline(path.to_path_buf());
    let heap = heap.on_collection(move |record| to.lock().unwrap().push(record.clone()));
    let heap = heap.options(options).unwrap().build().unwrap();
    std::thread::scope(|scope| {
        for number in 0..3 {
            let heap = &heap;
            let name = format!("\"mutator\" \\ {number}\n\u{1F5D1}");
            let thread = std::thread::Builder::new().name(name);
            let body = move || heap.attach(|mutator| work(heap, mutator, 300)).expect("attached");
            thread.spawn_scoped(scope, body).expect("a thread");
        }
    });
    heap.attach(|mutator| mutator.collect()).unwrap();
    heap.verify().unwrap();
    drop(heap);
    let time = begun.elapsed().as_nanos() as u64;
    let (events, slices) = read(path);
    let records = std::mem::take(&mut *records.lock().unwrap());
    (time, records, events, slices)
}

#[test]
fn each_collector_is_drawn_as_its_records_have_it() {
    let folder = tempfile::tempdir().unwrap();
    for options in [
        "Collector=mark-compact,ParallelGCThreads=3",
        "Collector=parallel,ParallelGCThreads=1",
        "Collector=parallel,ParallelGCThreads=3",
        "Collector=shenandoah,+ZealCycles,ParallelGCThreads=3,ConcGCThreads=2",
        "Collector=shenandoah,+ZealCycles,ShenandoahGCMode=generational,ParallelGCThreads=2,ConcGCThreads=2",
        "Collector=shenandoah,ShenandoahGCMode=passive,ParallelGCThreads=2",
        "Collector=parallel,ParallelGCThreads=2,ZealInterval=50",
        "Collector=shenandoah,+ZealCycles,ShenandoahGCMode=generational,ConcGCThreads=2,ZealInterval=50",
    ] {
        let path = folder.path().join("t.json");
        let (time, records, events, slices) = run(options, &path);
        check_nesting(&slices);
        assert!(slices.iter().all(|slice| slice.end <= time), "{options}: all within the run");

        // A cycle may end while the heap does.
        let is_concurrent = options.contains("ConcGCThreads");
        let mut drawn: BTreeMap<u64, u64> = BTreeMap::new();
        for slice in &slices {
            let Some(number) = slice.arguments["number"].as_u64() else { continue };
            let pause = if slice.category == "pause" { slice.end - slice.start } else { 0 };
            *drawn.entry(number).or_default() += pause;
        }
        let numbers: BTreeSet<u64> = drawn.keys().copied().collect();
        assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{options}: {numbers:?}");
        let least = if is_concurrent { records.len().saturating_sub(1) } else { records.len() };
        let most = if is_concurrent { records.len() + 1 } else { records.len() };
        assert!((least..=most).contains(&drawn.len()) && least > 2, "{options}: {least} {}", drawn.len());
        for record in &records {
            let expected = pauses(record).as_nanos() as u64;
            let found = drawn.get(&record.number);
            assert!(
                found.is_none_or(|&found| found == expected),
                "{options}: {expected} {found:?}: {record}"
            );
        }
        // A pause is in the record even if another thread ended the cycle right after it.
        for record in records.iter().filter(|record| record.cycle().is_some()) {
            let names: Vec<_> = record.phases.iter().map(|phase| phase.name).collect();
            for (pause, beside) in [
                ("Pause Init Mark", "Concurrent marking"),
                ("Pause Final Mark", "Concurrent weak references"),
                ("Pause Init Evacuation", "Concurrent evacuation"),
            ] {
                let pair = [pause, beside].map(|name| names.contains(&name));
                assert_ne!(pair, [false, true], "{options}: {names:?}");
            }
        }
        let with_number = slices.iter().filter(|slice| slice.category == "pause");
        assert!(with_number.clone().all(|slice| slice.arguments["number"].is_u64()), "{options}");

        let of = |category: &str| slices.iter().filter(|slice| slice.category == category).count();
        let phases: usize = records.iter().map(|record| record.phases_in_stop().len()).sum();
        assert!(of("phase") >= phases, "{options}: {} of {phases}", of("phase"));
        assert_eq!(of("cycle") > 0, is_concurrent, "{options}");
        assert_eq!(of("concurrent") > 0, is_concurrent, "{options}");
        assert!(of("share") > 0, "{options}");
        // Cycles that keep up with the threads may let none of them wait.
        assert!(is_concurrent || of("stall") > 0 && of("safepoint") > 0, "{options}");

        // Each thread has its name.
        let names: BTreeMap<i64, &str> = events
            .iter()
            .filter(|event| event["name"] == "thread_name")
            .map(|event| (event["tid"].as_i64().unwrap(), event["args"]["name"].as_str().unwrap()))
            .collect();
        assert!(
            names.values().any(|name| name.starts_with("\"mutator\" \\ ") && name.ends_with("\n\u{1F5D1}"))
        );
        let dropped = events.iter().any(|event| event["ph"] == "i");
        assert!(dropped || slices.iter().all(|slice| names.contains_key(&slice.row)), "{options}");
        let has_phase = |slice: &&Slice| slice.category == "share" && slice.name != "Work";
        assert!(slices.iter().filter(has_phase).count() * 10 >= of("share") * 9, "{options}");

        let counters: Vec<&Value> = events.iter().filter(|event| event["ph"] == "C").collect();
        assert!(dropped || counters.len() >= 2 * records.len().saturating_sub(1), "{options}");
        for counter in counters {
            let [used, committed, young, old] = ["used", "committed", "young", "old"]
                .map(|key| counter["args"][key].as_u64().expect("a number of bytes"));
            assert!(used == young + old && committed <= 128 * 4096, "{options}: {counter}");
        }
    }
}

#[test]
fn several_workers_share_a_phase_at_once_and_each_has_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    let (_, _, _, slices) = run("Collector=mark-compact,ParallelGCThreads=3", &path);
    let shares = || slices.iter().filter(|slice| slice.category == "share");
    let rows: BTreeSet<i64> = shares().map(|share| share.row).collect();
    assert!(rows.len() >= 3, "{rows:?}");
    for name in ["Mark", "Plan", "Update", "Slide", "Reclaim"] {
        assert!(shares().any(|share| share.name == name), "{name}");
    }
    let stall = |slice: &&Slice| slice.category == "stall" && slice.name == "Allocation stall";
    let outcomes: BTreeSet<&str> =
        slices.iter().filter(stall).filter_map(|slice| slice.arguments["outcome"].as_str()).collect();
    assert!(outcomes.contains("collected"), "{outcomes:?}");
}

#[test]
fn old_bytes_are_those_of_metrics_with_large_objects() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    let heap = Heap::builder().test_geometry(4096, 128).timeline(path.clone());
    let heap = heap.options("Collector=parallel,ParallelGCThreads=1").unwrap().build().unwrap();
    let bytes = heap.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 })).unwrap();
    let old = heap.attach(|mutator| {
        // SAFETY: the shape is the heap's.
        let large = unsafe {
            let new = mutator.raw_mut().alloc_raw(bytes, 3 * 4096).expect("room");
            mutator.raw().new_root(new.as_ptr() as u64)
        };
        (0..4).for_each(|_| assert!(mutator.collect()));
        let old = heap.metrics().old_bytes;
        // The next collection begins with these bytes.
        mutator.collect();
        drop(large);
        old
    });
    let old = old.unwrap();
    drop(heap);
    let (events, _) = read(&path);
    let last = events.iter().rfind(|event| event["ph"] == "C").expect("an occupancy");
    assert!(old >= 3 * 4096);
    assert_eq!(last["args"]["old"].as_u64(), Some(old as u64));
}
