//! The effect of each zeal option.

use super::{COLLECTORS, STOPPING, heap, verified};
use crate::Heap;
use crate::mutator::{Mutator, PerObject, Site};
use crate::object::{POISON, Shape, ShapeRef};
use crate::region::State;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::ptr::NonNull;

fn cell(heap: &Heap) -> ShapeRef {
    heap.register(Shape::fixed("Cell", 16)).expect("a shape")
}

fn try_alloc(mutator: &Mutator<'_>, shape: ShapeRef) -> Option<NonNull<u8>> {
    // SAFETY: the shape is the heap's, and the tests root what they use across a safepoint.
    unsafe { mutator.raw().try_alloc_raw(Site::<16, PerObject>::new(shape).expect("16 bytes")) }
}

fn alloc(mutator: &mut Mutator<'_>, shape: ShapeRef) -> NonNull<u8> {
    // SAFETY: as above.
    unsafe { mutator.raw_mut().alloc_raw(shape, 0) }.expect("room")
}

fn fill_two_regions(mutator: &mut Mutator<'_>, shape: ShapeRef) {
    for _ in 0..512 {
        alloc(mutator, shape);
    }
}

fn address(object: NonNull<u8>) -> u64 {
    object.addr().get() as u64
}

fn word(address: u64) -> u64 {
    // SAFETY: the tests ask for committed words of their heaps.
    unsafe { (address as *const u64).read() }
}

#[test]
fn a_collection_comes_at_every_nth_allocation_and_programs_get_on() {
    for (interval, collector) in [1, 2, 5].into_iter().flat_map(|each| STOPPING.map(|kind| (each, kind))) {
        let heap = heap(4096, 16, &format!("Collector={collector},ZealInterval={interval}"));
        let shape = cell(&heap);
        heap.attach(|mutator| {
            for allocation in 1..=40_u64 {
                alloc(mutator, shape);
                assert_eq!(heap.collections().count, allocation / interval);
            }
            // `try_*` says no when one is due, and goes on saying so until there was one.
            let allowed = std::iter::from_fn(|| try_alloc(mutator, shape)).count() as u64;
            assert_eq!(allowed, interval - 1 - 40 % interval);
            assert_eq!(try_alloc(mutator, shape), None);
            assert!(mutator.make_room(16).is_ok());
            assert_eq!(heap.collections().count, 40 / interval + 1);
        })
        .unwrap();
    }
}

#[test]
fn a_seed_gives_each_thread_the_same_schedule_again() {
    let collections = |collector: &str, seed: usize| {
        let heap = heap(4096, 16, &format!("Collector={collector},ZealInterval=4,ZealSeed={seed}"));
        let shape = cell(&heap);
        heap.attach(|mutator| {
            let mut when = Vec::new();
            for allocation in 0..100 {
                let before = heap.collections().count;
                alloc(mutator, shape);
                when.extend((heap.collections().count > before).then_some(allocation));
            }
            when
        })
        .unwrap()
    };
    for collector in STOPPING {
        assert_eq!(collections(collector, 1), collections(collector, 1));
        assert_ne!(collections(collector, 1), collections(collector, 2));
    }
}

#[test]
fn with_zeal_move_an_object_is_elsewhere_after_each_collection() {
    for collector in COLLECTORS {
        let heap = heap(4096, 16, &verified(&format!("Collector={collector},+ZealMove")));
        let shape = cell(&heap);
        heap.attach(|mutator| {
            let object = alloc(mutator, shape);
            // SAFETY: a live object.
            let root = unsafe { mutator.raw().new_root(address(object)) };
            for _ in 0..20 {
                let before = root.get(mutator).unwrap();
                assert!(mutator.collect());
                assert_ne!(root.get(mutator).unwrap(), before);
            }
            let object = NonNull::new(root.get(mutator).unwrap() as *mut u8).unwrap();
            // SAFETY: as above.
            let pin = unsafe { mutator.raw().pin(object) };
            assert!(mutator.collect());
            assert_eq!(root.get(mutator).unwrap(), address(pin.object()));
        })
        .unwrap();
    }
}

#[test]
fn with_zeal_poison_what_died_is_the_pattern() {
    let heap = heap(4096, 16, &verified("Collector=mark-compact,+ZealPoison"));
    let shape = cell(&heap);
    heap.attach(|mutator| {
        let (kept, dead, pinned, below) =
            (alloc(mutator, shape), alloc(mutator, shape), alloc(mutator, shape), alloc(mutator, shape));
        // SAFETY: live objects.
        let (root, pin) = unsafe { (mutator.raw().new_root(address(kept)), mutator.raw().pin(pinned)) };
        assert!(mutator.collect());
        assert_eq!(root.get(mutator), Some(address(kept)), "it slid to where it was");
        // After the header of the filler that covers the gap; and above the region's top.
        assert_eq!(word(address(dead) + 8), POISON);
        assert_eq!((word(address(below)), word(address(below) + 8)), (POISON, POISON));
        drop(pin);
        drop(root);
        assert!(mutator.collect());
        assert_eq!((word(address(kept)), word(address(pinned) + 8)), (POISON, POISON));
    })
    .unwrap();
}

#[test]
fn a_quarantine_lasts_as_many_collections_and_never_means_out_of_memory() {
    for collector in COLLECTORS {
        let heap = heap(4096, 8, &verified(&format!("Collector={collector},ZealQuarantine=2")));
        let shape = cell(&heap);
        let table = heap.shared.space.free.table();
        let quarantined = || (0..8).filter(|&index| table.get(index).state() == State::Quarantined).count();
        heap.attach(|mutator| {
            fill_two_regions(mutator, shape);
            assert!(mutator.collect());
            assert_eq!(quarantined(), 2);
            assert!(mutator.collect());
            assert_eq!(quarantined(), 2);
            assert!(mutator.collect());
            assert_eq!(quarantined(), 0);
            fill_two_regions(mutator, shape);
            assert!(mutator.collect());
            assert_eq!(quarantined(), 2);
            // Six regions are left, and eight are there.
            assert!(mutator.make_room(8 * 4096).is_ok());
        })
        .unwrap();
        heap.verify().unwrap();
    }
}

/// Set to the name of a test and a collector by a test that runs itself again.
const CHILD: &str = "ALLOTMENT_TEST_CHILD";

/// Runs the test of that name again for each collector, as a child that `dies`. `check` gets the
/// child's exit status and its output.
fn children(name: &str, dies: impl Fn(&str), check: impl Fn(ExitStatus, &str)) {
    let child = std::env::var(CHILD).unwrap_or_default();
    if let Some(collector) = child.strip_prefix(name).and_then(|rest| rest.strip_prefix(' ')) {
        return dies(collector);
    }
    for collector in COLLECTORS {
        let path = format!("observe::tests::zeal::{name}");
        let mut command = crate::own_program();
        command.args([&path, "--exact", "--nocapture", "--test-threads=1"]);
        let output = command.env(CHILD, format!("{name} {collector}")).output().expect("it was started");
        check(output.status, &String::from_utf8_lossy(&output.stderr));
    }
}

const SIGABRT: i32 = 6;
const SIGSEGV: i32 = 11;

#[test]
fn with_zeal_protect_a_stale_reference_is_a_fault() {
    let dies = |collector: &str| {
        let heap = heap(4096, 16, &format!("Collector={collector},+ZealProtect,ZealQuarantine=1"));
        let shape = cell(&heap);
        heap.attach(|mutator| {
            let object = alloc(mutator, shape);
            assert!(mutator.collect());
            eprintln!("it died");
            std::hint::black_box(word(address(object)));
        })
        .unwrap();
    };
    children("with_zeal_protect_a_stale_reference_is_a_fault", dies, |status, error| {
        assert_eq!(status.signal(), Some(SIGSEGV), "{status}: {error}");
        assert!(error.contains("it died"), "{error}");
    });
}

/// Writes where nobody may, and collects.
fn broken_heap(name: &str, options: &str, expected: &str) {
    let dies = |collector: &str| {
        // No buffer reaches the end of its region: a concurrent collector covers the rest of a
        // buffer, and what a filler holds is not checked.
        let heap = heap(4096, 16, &format!("Collector={collector},MinTLABSize=64,TLABSize=64,{options}"));
        let shape = cell(&heap);
        heap.attach(|mutator| {
            let object = alloc(mutator, shape);
            let last = heap.base() + 4096 - 8;
            assert!(object.addr().get() < last);
            // SAFETY: committed memory that nobody uses.
            unsafe { (last as *mut u64).write(0xBAD) };
            mutator.collect();
        })
        .unwrap();
    };
    children(name, dies, |status, error| {
        assert_eq!(status.signal(), Some(SIGABRT), "{status}: {error}");
        assert_eq!(error.matches("allotment: ").count(), 1, "{error}");
        assert!(error.contains(expected), "{error}");
    });
}

#[test]
fn a_heap_broken_before_a_collection_ends_the_process_with_a_line_that_says_where() {
    broken_heap(
        "a_heap_broken_before_a_collection_ends_the_process_with_a_line_that_says_where",
        "+VerifyBeforeGC,+VerifyAfterGC",
        "allotment: the heap is broken before a collection: ",
    );
}

#[test]
fn a_heap_broken_after_a_collection_ends_the_process_with_a_line_that_says_where() {
    broken_heap(
        "a_heap_broken_after_a_collection_ends_the_process_with_a_line_that_says_where",
        "+VerifyAfterGC",
        "has 0x0000000000000bad there instead of 0, and no object is there",
    );
}
