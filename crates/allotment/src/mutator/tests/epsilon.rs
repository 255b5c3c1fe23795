//! A heap that is never collected: usable until it is full, and exact in its report of that end.

use super::kit::{By, Kind, Kit, SIZES, What};
use super::model::Model;
use super::{OPTION_SETS, heap};
use crate::Heap;
use crate::object::{Element, Shape};
use crate::options::TlabPolicy;

/// Bytes of the heap that no object was ever given.
fn room(heap: &Heap) -> usize {
    heap.geometry().heap_bytes() - heap.memory().used_bytes
}

fn fill(heap: &Heap, kit: &Kit, kind: Kind) {
    let what = What { kind, by: By::Caller };
    heap.attach(|mutator| while kit.allocate(&*mutator, what).is_some() {}).unwrap();
}

#[test]
fn a_heap_is_used_to_the_end() {
    let sets = OPTION_SETS.iter().map(|set| (4096, 64, (*set).to_owned()));
    let policies =
        TlabPolicy::ALL.iter().map(|policy| (256 << 10, 16, format!("TLABPolicy={}", policy.name())));
    for (region, regions, options) in sets.chain(policies) {
        for kind in [Kind::Fixed(0), Kind::Array(0, 16), Kind::Array(2, 5)] {
            let heap = heap(region, regions, &options);
            let kit = Kit::new(&heap);
            fill(&heap, &kit, kind);
            let census = heap.verify().unwrap();
            // If buffers' sizes are odd, an object may fit neither the rest of a buffer nor that of
            // its region.
            let (lost, heap_bytes) = (room(&heap) + census.fillers.1 as usize, region * regions);
            let bound = regions * kit.bytes(kind);
            assert!(lost < bound, "{lost} bytes for {kind:?}, {options}");
            assert_eq!(census.object_bytes() as usize, heap_bytes - lost);
        }
    }
}

#[test]
fn where_they_do_not_each_region_loses_less_than_an_object() {
    for options in OPTION_SETS {
        for kind in [Kind::Fixed(1), Kind::Fixed(2), Kind::Fixed(3), Kind::Array(0, 77)] {
            let heap = heap(4096, 64, options);
            let kit = Kit::new(&heap);
            fill(&heap, &kit, kind);
            let census = heap.verify().unwrap();
            let (left, waste) = (room(&heap), heap.tlab_totals().sum);
            assert_eq!(census.object_bytes() as usize + left + census.fillers.1 as usize, 64 * 4096);
            assert!(left < 64 * kit.bytes(kind), "{left} bytes for {kind:?} with {options}");
            // The tail of the last buffer is kept for the next thread, and is not waste yet.
            let tail = census.fillers.1 - waste.refill_waste - waste.gc_waste;
            assert!(tail < kit.bytes(kind) as u64, "{tail} bytes for {kind:?} with {options}");
            // The rests of regions serve smaller objects.
            fill(&heap, &kit, Kind::Fixed(0));
            assert!(room(&heap) <= 64 * 8, "{} bytes after {kind:?} with {options}", room(&heap));
            heap.verify().unwrap();
        }
    }
}

#[test]
fn a_large_object_that_does_not_fit_costs_small_ones_nothing() {
    for options in OPTION_SETS {
        let heap = heap(4096, 10, options);
        let kit = Kit::new(&heap);
        let mut model = Model::new(&heap, &kit, 0);
        heap.attach(|mutator| {
            let large = [
                Kind::Fixed(6),
                Kind::Fixed(5),
                Kind::Fixed(4),
                Kind::Array(1, 1500),
                Kind::Array(0, 1 << 20),
            ];
            loop {
                let mut allocated = 0;
                for kind in large.into_iter().chain([Kind::Fixed(0)]) {
                    let what = What { kind, by: By::Window };
                    match kit.allocate(&*mutator, what) {
                        Some(object) => {
                            model.born(what, object);
                            allocated += 1;
                        }
                        None => model.check_full(kit.bytes(kind), false),
                    }
                }
                if allocated == 0 {
                    break;
                }
            }
        })
        .unwrap();
        model.check_heap();
        model.check_full(16, false);
    }
}

#[test]
fn the_error_names_the_size_and_the_heap() {
    let heap = heap(4096, 10, "");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        let error = mutator.make_room(100_000).unwrap_err();
        assert_eq!((error.bytes(), error.heap_bytes(), error.refused_by_system()), (100_000, 40_960, false));
        assert_eq!(
            error.to_string(),
            "out of memory: no room for 100000 bytes in a heap of 40960 bytes; a larger MaxHeapSize would help"
        );
        // SAFETY: the shape is the heap's.
        assert_eq!(unsafe { mutator.raw_mut().alloc_raw(kit.shape(Kind::Array(2, 0)), 100_000) }.unwrap_err().bytes(), 800_024);
        // SAFETY: as above.
        unsafe { mutator.raw_mut().alloc_raw(kit.shape(Kind::Fixed(0)), 0) }.expect("there is room for a small one");
    })
    .unwrap();
}

#[test]
fn absurd_lengths_are_out_of_memory_and_nothing_else() {
    for options in ["", "-UseTLAB"] {
        let heap = heap(4096, 10, options);
        let kit = Kit::new(&heap);
        let references =
            Shape::array("References", 1 << 46, Element::Reference(crate::object::SlotKind::Strong));
        let largest = heap.register(references).unwrap();
        heap.attach(|mutator| {
            for length in [(1 << 43) - 1, 1 << 43, (1 << 43) + 1, usize::MAX / 8, usize::MAX - 1, usize::MAX]
            {
                for index in 0..3 {
                    let shape = kit.shape(Kind::Array(index, 0));
                    let what = |by| What { kind: Kind::Array(index, length), by };
                    for by in [By::Caller, By::Object, By::Window] {
                        assert_eq!(kit.allocate(&*mutator, what(by)), None);
                        assert_eq!(mutator.raw_mut().burst(|burst| kit.allocate(burst, what(by))), None);
                        let mut room = mutator.make_room(64).unwrap();
                        assert_eq!(kit.allocate((&*mutator, &mut room), what(by)), None);
                    }
                    // SAFETY: the shape is the heap's.
                    let error = unsafe { mutator.raw_mut().alloc_raw(shape, length) }.unwrap_err();
                    assert_eq!(error.bytes(), shape.bytes_for(length).unwrap_or(usize::MAX));
                }
                // SAFETY: the shape is the heap's.
                unsafe { mutator.raw_mut().alloc_raw(largest, length) }.unwrap_err();
            }
            for bytes in [usize::MAX, usize::MAX - 6, usize::MAX - 7, usize::MAX - 8, 1 << 63, 1 << 47] {
                assert_eq!(mutator.make_room(bytes).unwrap_err().bytes(), bytes);
            }
            kit.allocate(&*mutator, What { kind: Kind::Fixed(0), by: By::Window }).expect("nothing happened");
        })
        .unwrap();
        heap.verify().unwrap();
    }
}

#[test]
fn humongous_objects_are_zero_the_second_time_too() {
    let heap = heap(4096, 16, "");
    let kit = Kit::new(&heap);
    let whole = |bytes: usize| What { kind: Kind::Array(0, bytes - 16), by: By::Window };
    let mut model = Model::new(&heap, &kit, 0);
    for bytes in [16 * 4096, 4096 + 8, 3 * 4096, 8 * 4096 - 8, 16 * 4096] {
        let count = heap.attach(|mutator| {
            assert_eq!(kit.allocate(&*mutator, whole(16 * 4096 + 8)), None, "more than there is");
            std::iter::from_fn(|| {
                kit.allocate(&*mutator, whole(bytes)).map(|object| model.born(whole(bytes), object))
            })
            .count()
        });
        assert_eq!(count, Ok(16 / bytes.div_ceil(4096)));
        model.check_heap();
        heap.reset().unwrap();
        model.keep(0);
    }
}

#[test]
fn buffers_and_objects_outside_add_up_to_the_bytes_used() {
    for options in OPTION_SETS {
        let heap = heap(4096, 64, options);
        let kit = Kit::new(&heap);
        let mut failed = 0;
        heap.attach(|mutator| {
            for turn in 0..2000 {
                let kind = Kind::Fixed([0, 1, 2, 3, 1, 0, 4][turn % 7]);
                let humongous = (turn % 97 == 0).then_some(Kind::Fixed(6));
                for kind in humongous.into_iter().chain([kind]) {
                    failed += u64::from(kit.allocate(&*mutator, What { kind, by: By::Caller }).is_none());
                }
                let (used, totals) = (heap.memory().used_bytes, heap.tlab_totals());
                assert_eq!(
                    used as u64,
                    totals.sum.allocated + totals.sum.outside_bytes,
                    "turn {turn}, {options}"
                );
            }
        })
        .unwrap();
        let totals = heap.tlab_totals();
        assert!(totals.sum.slow_allocations <= totals.sum.outside_allocations + failed);
        assert_eq!(totals.threads, usize::from(options != &"-UseTLAB"));
        assert!(totals.sum.compare_exchange_successes <= totals.sum.compare_exchange_attempts);
        assert_eq!(SIZES.len(), 7, "the turns above name sizes by their place");
    }
}
