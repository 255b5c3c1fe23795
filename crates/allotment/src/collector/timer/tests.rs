//! What a timer does at which time of the heap's clock, look by look, and its thread.
//!
//! The heap of a test by looks has the test's clock and no thread of its own that looks. The test
//! makes the looks with a timer of its own.

use super::*;
use crate::collector::CollectionKind;
use crate::mutator::Cause;
use crate::{Heap, NewSlots, WeakRoot, alloc};
use std::time::Instant;

const REGION: usize = 256 << 10;
const REGIONS: usize = 64;
/// `UncommitDelay` of the looks, in ms.
const DELAY: u64 = 1000;
/// `GCInterval` of the looks. Pauses, which count in real time, are far shorter.
const INTERVAL: Duration = Duration::from_secs(1000);
/// A time limit: an expected event comes long before it, or never.
const NEVER: Duration = Duration::from_secs(60);

const COLLECTORS: [&str; 5] = [
    "Collector=parallel",
    "Collector=mark-compact",
    "Collector=shenandoah",
    "Collector=shenandoah,ShenandoahGCMode=generational",
    "Collector=shenandoah,ShenandoahGCMode=passive",
];

/// The test's clock, which moves when the test moves it.
#[derive(Clone, Default)]
struct Hand(Arc<AtomicU64>);

impl Hand {
    fn set(&self, age: Duration) {
        self.0.store(age.as_millis() as u64, Ordering::Relaxed);
    }

    fn heap(&self, options: &str) -> Heap {
        let now_ms = self.0.clone();
        build(Heap::builder().clock(move || Duration::from_millis(now_ms.load(Ordering::Relaxed))), options)
    }
}

fn build(builder: crate::heap::HeapBuilder, options: &str) -> Heap {
    let builder = builder.max_heap_size(REGIONS * REGION).region_size(REGION);
    let builder = builder.use_transparent_huge_pages(false).parallel_gc_threads(2);
    builder.options(options).expect(options).build().expect(options)
}

/// A timer beside the heap's own, which never looks.
fn timer(heap: &Heap, uncommit_delay_ms: u64, interval: Option<Duration>) -> Arc<Timer> {
    Arc::new(Timer {
        settings: TimerSettings { uncommit_delay_ms, keep_bytes: 2 * REGION, interval },
        thread: ControlThread::new("a test"),
        cpus: Arc::default(),
        history: heap.history.clone(),
        heap: OnceLock::new(),
        began_ns: AtomicU64::new(0),
        given_bytes: AtomicUsize::new(0),
    })
}

/// Allocates `bytes` of garbage.
fn waste(heap: &Heap, bytes: usize) {
    const LENGTH: usize = 4096;
    heap.attach(|mu| {
        for _ in 0..bytes / (8 * LENGTH) {
            alloc!(mu, NewSlots::<u64>::new(LENGTH, 0)).expect("garbage is collected");
        }
    })
    .unwrap();
}

/// Fills half of the heap by one object, and collects it.
fn use_and_free(heap: &Heap) {
    heap.attach(|mu| {
        alloc!(mu, NewSlots::<u64>::new(REGIONS / 2 * REGION / 8, 0)).expect("garbage is collected");
        assert!(mu.collect());
    })
    .unwrap();
}

/// Waits for an event of another thread.
fn until(what: &str, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < NEVER, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn free_memory_goes_back_after_the_delay_without_a_collection() {
    for options in COLLECTORS {
        let hand = Hand::default();
        let heap = hand.heap(options);
        let timer = timer(&heap, DELAY, None);
        use_and_free(&heap);
        let committed = || heap.memory().committed_bytes;
        let (before, count) = (committed(), heap.collections().count);
        assert!(before > 8 * REGION, "{options}: {before}");
        let wait = Duration::from_millis(DELAY) / LOOKS;
        for now_ms in [0, DELAY - 1] {
            hand.set(Duration::from_millis(now_ms));
            assert_eq!((timer.look(&heap.shared), committed()), (wait, before), "{options}");
        }
        hand.set(Duration::from_millis(DELAY));
        let mut looks = 0;
        while timer.look(&heap.shared) == LEAST_WAIT {
            looks += 1;
        }
        assert!(looks > 0, "{options}");
        // InitialHeapSize of this timer, or what is in use.
        let in_use = heap.shared.space.free.regions_in_use();
        assert_eq!(committed(), in_use.max(2) * REGION, "{options}");
        assert_eq!(timer.look(&heap.shared), Duration::ZERO, "{options}: nothing is left");
        assert_eq!(heap.collections().count, count, "{options}");
        // The memory is there again when it is needed.
        use_and_free(&heap);
        heap.verify().unwrap();
    }
}

#[test]
fn memory_goes_back_in_pieces() {
    let hand = Hand::default();
    let heap = hand.heap("Collector=mark-compact");
    let timer = timer(&heap, 0, None);
    waste(&heap, REGIONS * 7 / 8 * REGION);
    heap.reset().unwrap();
    let mut pieces = Vec::new();
    let mut before = heap.memory().committed_bytes;
    while timer.look(&heap.shared) == LEAST_WAIT {
        let now = heap.memory().committed_bytes;
        pieces.push(before - now);
        before = now;
    }
    assert!(pieces.len() > 1 && pieces.iter().all(|&bytes| bytes <= PIECE_BYTES), "{pieces:?}");
    assert_eq!((pieces[0], before), (PIECE_BYTES, 2 * REGION));
}

#[test]
fn the_log_tells_once_what_went_back() {
    let path = std::env::temp_dir().join(format!("allotment-timer-{}.log", std::process::id()));
    let hand = Hand::default();
    let options = format!("Collector=mark-compact,+PrintGCDetails,GCLog={}", path.display());
    let heap = hand.heap(&options);
    let timer = timer(&heap, 0, None);
    // More than a piece.
    waste(&heap, REGIONS * 7 / 8 * REGION);
    heap.reset().unwrap();
    let before = heap.memory().committed_bytes;
    while timer.look(&heap.shared) == LEAST_WAIT {}
    // The log is complete when the heap has ended.
    drop(heap);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| line.contains("Uncommitted")).collect();
    let left = 2 * REGION;
    let line = format!(
        "[debug][gc] Uncommitted {}k that were free for UncommitDelay, {}k are committed",
        (before - left) >> 10,
        left >> 10
    );
    assert!(lines.len() == 1 && lines[0].ends_with(&line), "{lines:?}");
}

#[test]
fn no_memory_goes_back_while_a_thread_has_the_regions() {
    let hand = Hand::default();
    let heap = hand.heap("Collector=parallel");
    let timer = timer(&heap, 0, None);
    use_and_free(&heap);
    let before = heap.memory().committed_bytes;
    let regions = heap.shared.space.lock_regions();
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(timer.look(&heap.shared), LEAST_WAIT));
    });
    assert_eq!(heap.memory().committed_bytes, before);
    drop(regions);
    timer.look(&heap.shared);
    assert!(heap.memory().committed_bytes < before);
}

#[test]
fn a_heap_collects_when_it_did_not_for_the_interval() {
    for options in COLLECTORS {
        let hand = Hand::default();
        let heap = hand.heap(options);
        let timer = timer(&heap, u64::MAX >> 20, Some(INTERVAL));
        let collections = || heap.collections().count;
        let weak = heap.attach(|mu| {
            let array = alloc!(mu, NewSlots::<u64>::new(1, 0)).unwrap();
            WeakRoot::new(mu, array)
        });
        let weak = weak.unwrap();
        assert_eq!(timer.look(&heap.shared), INTERVAL, "{options}");
        hand.set(INTERVAL - Duration::from_secs(1));
        assert_eq!(timer.look(&heap.shared), Duration::from_secs(1), "{options}");
        assert_eq!(collections(), 0, "{options}");
        hand.set(INTERVAL);
        assert_eq!(timer.look(&heap.shared), INTERVAL, "{options}");
        until(options, || collections() == 1);
        let record = heap.collections().recent.pop_back().unwrap();
        let kind = match options {
            "Collector=parallel" | "Collector=mark-compact" => CollectionKind::Full,
            _ if options.contains("passive") => CollectionKind::Degenerated,
            _ => CollectionKind::Concurrent,
        };
        assert_eq!((record.cause, record.kind()), (Cause::Interval, kind), "{options}");
        assert!(record.to_string().contains(" (Interval) "), "{record}");
        heap.attach(|mu| assert!(weak.get(mu).is_none())).unwrap();
        // Another collection, after which the interval begins anew.
        hand.set(INTERVAL * 3 / 2);
        timer.look(&heap.shared);
        heap.attach(|mu| assert!(mu.collect())).unwrap();
        hand.set(INTERVAL * 9 / 4);
        timer.look(&heap.shared);
        assert_eq!(collections(), 2, "{options}");
        hand.set(INTERVAL * 3);
        timer.look(&heap.shared);
        until(options, || collections() == 3);
        heap.verify().unwrap();
    }
}

/// `beside`: whether a thread is attached, in `blocking`, while the memory goes back.
fn goes_back(heap: &Heap, beside: bool) {
    use_and_free(heap);
    let committed = || heap.memory().committed_bytes;
    let wait =
        || until("memory goes back", || committed() <= heap.shared.space.free.regions_in_use() * REGION);
    let count = heap.collections().count;
    if beside {
        heap.attach(|mu| mu.blocking(wait)).unwrap();
    } else {
        wait();
    }
    assert_eq!(heap.collections().count, count);
}

#[test]
fn a_thread_gives_memory_back_and_rests_and_gives_back_again() {
    for options in COLLECTORS {
        let heap = build(Heap::builder(), &format!("{options},UncommitDelay=1"));
        for beside in [false, true, false] {
            goes_back(&heap, beside);
        }
        // Without a collection, too.
        waste(&heap, REGIONS / 4 * REGION);
        heap.reset().unwrap();
        until(options, || heap.memory().committed_bytes == 0);
        heap.verify().unwrap();
    }
}

#[test]
fn a_heap_is_dropped_while_its_timer_waits_or_looks() {
    for options in COLLECTORS {
        // A thread that is not woken would wait for days.
        for of_timer in ["UncommitDelay=2147483647", "GCInterval=2147483647"] {
            let heap = build(Heap::builder(), &format!("{options},{of_timer}"));
            use_and_free(&heap);
        }
        for round in 0..10 {
            let heap = build(Heap::builder(), &format!("{options},UncommitDelay=0,GCInterval=1"));
            use_and_free(&heap);
            std::thread::sleep(Duration::from_micros(200 * round));
        }
    }
}

#[test]
fn a_heap_is_sound_while_its_timer_collects_and_gives_memory_back() {
    for options in COLLECTORS {
        let heap = build(Heap::builder(), &format!("{options},UncommitDelay=0,GCInterval=1"));
        let intervals = || heap.collections().recent.iter().any(|record| record.cause == Cause::Interval);
        let begun = Instant::now();
        let mut rounds = 0;
        while rounds < 100 || !intervals() {
            assert!(begun.elapsed() < NEVER, "{options}");
            waste(&heap, 8 * REGION);
            heap.verify().unwrap();
            rounds += 1;
        }
        until(options, || heap.memory().used_bytes == 0);
    }
}
