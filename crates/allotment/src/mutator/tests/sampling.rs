//! Samples: which objects are sampled, what a sample stands for, and which sampled objects live.
//!
//! Heaps of these tests draw the same distances in each run. So sums of one thread either are
//! within three standard deviations of exact ones, or are not, in each run. Where threads run
//! beside each other, each run differs, and sums must be within five: chance exceeds those once in
//! two million sums.

use super::kit::{By, Kind, Kit, What};
use super::{OPTION_SETS, heap};
use crate::Heap;
use crate::mutator::sampling::DroppedSamples;
use crate::mutator::{ByCaller, GeneratedCalls, Mutator, Site, sample_probability};
use crate::object::{Element, Header, Shape, ShapeRef, SlotKind};
use crate::options::CollectorKind;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::thread;

/// Objects and bytes of each shape, as the program knows them, with the variances of their
/// estimates at one interval.
#[derive(Default)]
struct Exact(BTreeMap<u32, [(f64, f64); 2]>);

impl Exact {
    fn add(&mut self, shape: ShapeRef, bytes: usize, interval: usize, times: usize) {
        let (k, p) = (bytes as f64, sample_probability(bytes, interval));
        let sums = self.0.entry(shape.id().get()).or_default();
        for (sum, value) in sums.iter_mut().zip([1.0, k]) {
            sum.0 += value * times as f64;
            sum.1 += value * value * (1.0 - p) / p * times as f64;
        }
    }

    /// Checks each shape's estimates of the heap, and their sum, for a program that is the same in
    /// each run.
    fn check(&self, heap: &Heap) {
        self.check_within(3.0, heap);
    }

    /// Checks the estimates, and allows this many standard deviations.
    fn check_within(&self, deviations: f64, heap: &Heap) {
        let mut found: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
        for bucket in heap.shared.samples().buckets {
            let weight = bucket.samples as f64 / sample_probability(bucket.bytes, bucket.interval);
            let sums = found.entry(bucket.shape).or_default();
            sums[0] += weight;
            sums[1] += weight * bucket.bytes as f64;
        }
        let (mut total, mut exact) = ([0.0; 2], [(0.0, 0.0); 2]);
        for (shape, sums) in &self.0 {
            let found = found.remove(shape).unwrap_or_default();
            for kind in 0..2 {
                let (sum, variance) = sums[kind];
                assert!(
                    (found[kind] - sum).abs() <= deviations * variance.sqrt() + 0.5,
                    "shape {shape}, {kind}: {} instead of {sum} +- {}",
                    found[kind],
                    variance.sqrt()
                );
                total[kind] += found[kind];
                exact[kind] = (exact[kind].0 + sum, exact[kind].1 + variance);
            }
        }
        assert!(found.is_empty(), "shapes that were not allocated: {found:?}");
        for (total, (sum, variance)) in total.into_iter().zip(exact) {
            assert!((total - sum).abs() <= deviations * variance.sqrt() + 0.5, "{total} instead of {sum}");
        }
        assert_eq!(heap.shared.samples().dropped.samples, 0);
    }
}

/// A heap with a shape of bytes, and fixed shapes of these sizes.
fn heap_of(collector: CollectorKind, options: &str, sizes: &[usize]) -> (Heap, ShapeRef, Vec<ShapeRef>) {
    let builder = Heap::builder().test_seed(0).max_heap_size(64 << 20).use_transparent_huge_pages(false);
    let heap = builder.collector(collector).options(options).expect(options).build().expect(options);
    let array = heap.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 })).unwrap();
    let fixed = |bytes: &usize| heap.register(Shape::fixed(format!("Fixed{bytes}"), *bytes)).unwrap();
    let fixed = sizes.iter().map(fixed).collect();
    (heap, array, fixed)
}

fn allocate(mutator: &mut Mutator<'_>, shape: ShapeRef, length: usize) -> *mut u8 {
    // SAFETY: the shape is the heap's, and nothing uses the object after a safepoint.
    unsafe { mutator.raw_mut().alloc_raw(shape, length) }.unwrap().as_ptr()
}

/// Each collector, with generations and without.
const COLLECTORS: [(CollectorKind, &str); 5] = [
    (CollectorKind::Epsilon, ""),
    (CollectorKind::MarkCompact, ""),
    (CollectorKind::Parallel, ""),
    (CollectorKind::Shenandoah, "ShenandoahGCMode=satb"),
    (CollectorKind::Shenandoah, "ShenandoahGCMode=generational"),
];

const COLLECTING: &[(CollectorKind, &str)] = COLLECTORS.split_at(1).1;

/// Five programs. The interval is small, so that a short program has many samples.
#[test]
fn sums_of_sizes_from_16_bytes_to_a_mebibyte_are_those_of_the_program() {
    const INTERVAL: usize = 16 << 10;
    for (collector, options) in COLLECTING {
        let (heap, array, _) = heap_of(*collector, options, &[]);
        heap.set_allocation_sample_interval(INTERVAL);
        let mut exact = Exact::default();
        heap.attach(|mutator| {
            for turn in 0..4 {
                for size in (4..=20).map(|bits| (1 << bits) - 8 * (turn % 2)) {
                    let times = ((4 << 20) / size).clamp(4, 10_000);
                    for _ in 0..times {
                        allocate(mutator, array, size.max(16) - 16);
                    }
                    exact.add(array, size.max(16), INTERVAL, times);
                }
            }
        })
        .unwrap();
        exact.check(&heap);
    }
}

/// A thread that allocates less than an interval is seen as often as its bytes deserve.
#[test]
fn sums_of_threads_that_die_early_are_those_of_the_program() {
    const INTERVAL: usize = 32 << 10;
    let (heap, _, fixed) = heap_of(CollectorKind::Parallel, "", &[48]);
    heap.set_allocation_sample_interval(INTERVAL);
    let mut exact = Exact::default();
    for thread in 0..1500 {
        let objects = 10 + thread % 100;
        heap.attach(|mutator| (0..objects).for_each(|_| _ = allocate(mutator, fixed[0], 0))).unwrap();
        exact.add(fixed[0], 48, INTERVAL, objects);
    }
    exact.check(&heap);
}

#[test]
fn sums_of_objects_outside_buffers_are_those_of_the_program() {
    const INTERVAL: usize = 8 << 10;
    for options in ["-UseTLAB", "MinTLABSize=2k,MaxTLABSize=2k,TLABSize=2k"] {
        let (heap, array, fixed) = heap_of(CollectorKind::Parallel, options, &[32]);
        heap.set_allocation_sample_interval(INTERVAL);
        let mut exact = Exact::default();
        heap.attach(|mutator| {
            for turn in 0..20_000 {
                let bytes = 16 + 8 * (turn % 500);
                allocate(mutator, array, bytes - 16);
                exact.add(array, bytes, INTERVAL, 1);
                allocate(mutator, fixed[0], 0);
                exact.add(fixed[0], 32, INTERVAL, 1);
            }
        })
        .unwrap();
        exact.check(&heap);
    }
}

/// Regression: points on a fixed grid hit the same object of a loop's turn each time.
#[test]
fn sums_of_a_periodic_loop_are_those_of_the_program() {
    const INTERVAL: usize = 512 << 10;
    const TURNS: usize = 400_000;
    let (heap, _, fixed) = heap_of(CollectorKind::Parallel, "", &[24, 40, 64, 128]);
    heap.set_allocation_sample_interval(INTERVAL);
    heap.attach(|mutator| {
        for _ in 0..TURNS {
            fixed.iter().for_each(|shape| _ = allocate(mutator, *shape, 0));
        }
    })
    .unwrap();
    let mut exact = Exact::default();
    for (shape, bytes) in fixed.iter().zip([24, 40, 64, 128]) {
        exact.add(*shape, bytes, INTERVAL, TURNS);
    }
    exact.check(&heap);
}

/// All at once, on threads, with changes of the interval by another thread.
#[test]
fn sums_of_threads_are_those_of_the_program_while_the_interval_changes() {
    for (collector, options) in COLLECTING {
        let (heap, array, fixed) = heap_of(*collector, options, &[16, 72]);
        heap.set_allocation_sample_interval(1 << 10);
        thread::scope(|scope| {
            for thread in 0..3 {
                let (heap, fixed) = (&heap, &fixed);
                scope.spawn(move || {
                    heap.attach(|mutator| {
                        for turn in 0..30_000_usize {
                            allocate(mutator, fixed[turn % 2], 0);
                            if turn % 16 == 0 {
                                allocate(mutator, array, (turn * 31 + thread) % 4000);
                            }
                            if turn % 1000 == 0 {
                                mutator.blocking(|| ());
                            }
                        }
                    })
                    .unwrap();
                });
            }
            for turn in 0..200 {
                heap.set_allocation_sample_interval([1 << 10, 3 << 10, 700][turn % 3]);
                thread::yield_now();
            }
        });
        // The variance is that of the largest interval, or less.
        let mut exact = Exact::default();
        for thread in 0..3 {
            for turn in 0..30_000_usize {
                exact.add(fixed[turn % 2], [16, 72][turn % 2], 3 << 10, 1);
                if turn % 16 == 0 {
                    let length = (turn * 31 + thread) % 4000;
                    exact.add(array, array.bytes_for(length).unwrap(), 3 << 10, 1);
                }
            }
        }
        exact.check_within(5.0, &heap);
        let intervals: std::collections::BTreeSet<usize> =
            heap.shared.samples().buckets.iter().map(|bucket| bucket.interval).collect();
        assert!(intervals.iter().all(|interval| [1 << 10, 3 << 10, 700].contains(interval)), "{intervals:?}");
    }
}

/// Samples, and samples of living objects, of a shape.
fn of(heap: &Heap, shape: ShapeRef) -> (u64, u64) {
    let buckets = heap.shared.samples().buckets;
    let of = buckets.iter().filter(|bucket| bucket.shape == shape.id().get());
    of.fold((0, 0), |sum, bucket| (sum.0 + bucket.samples, sum.1 + bucket.living))
}

#[test]
fn a_change_of_the_interval_is_adopted_at_the_next_safepoint_and_by_new_threads() {
    let heap = heap(4096, 512, "");
    let kit = Kit::new(&heap);
    let what = What { kind: Kind::Fixed(0), by: By::Object };
    heap.attach(|mutator| {
        let passed = |count, mutator: &mut Mutator<'_>| {
            let before = mutator.sampling_points();
            (0..count).for_each(|_| assert!(kit.allocate(&*mutator, what).is_some()));
            mutator.sampling_points() - before
        };
        assert_eq!(passed(1000, mutator), 0, "off by default");
        thread::scope(|scope| scope.spawn(|| heap.set_allocation_sample_interval(1)).join().unwrap());
        assert!(kit.allocate(&*mutator, what).is_none(), "a safepoint is requested");
        mutator.safepoint();
        assert_eq!(passed(100, mutator), 100);
        heap.set_allocation_sample_interval(usize::MAX);
        mutator.safepoint();
        assert_eq!(passed(100, mutator), 0);
        heap.set_allocation_sample_interval(0);
        mutator.safepoint();
        assert_eq!(passed(100, mutator), 0);
        heap.set_allocation_sample_interval(1);
    })
    .unwrap();
    heap.attach(|mutator| {
        assert!(kit.allocate(&*mutator, what).is_some());
        assert_eq!(mutator.sampling_points(), 1);
    })
    .unwrap();
    assert_eq!(of(&heap, kit.shape(what.kind)), (101, 101));
}

/// A call for one object takes a sample of one object, and a call for an array one of an array.
#[test]
fn objects_that_generated_code_asks_for_are_sampled_one_by_one() {
    const CALLS: GeneratedCalls = GeneratedCalls::new();
    for (collector, options) in COLLECTING {
        let (heap, bytes, fixed) = heap_of(*collector, options, &[40]);
        heap.set_allocation_sample_interval(1);
        heap.attach(|mutator| {
            mutator.safepoint();
            let hot = mutator.raw().hot();
            for turn in 0..50 {
                let (object, array) = (fixed[0].header().bits(), bytes.header().bits());
                // SAFETY: this thread's hot part; the headers are those of the shapes, which have
                // no references.
                let made = unsafe {
                    [
                        (CALLS.allocate_object)(hot, object, 40),
                        (CALLS.allocate_object_zeroed)(hot, object, 40),
                        (CALLS.allocate_array_object)(hot, array, turn, 1, 16),
                        (CALLS.allocate_array_object_zeroed)(hot, array, turn, 1, 16),
                    ]
                };
                assert!(made.iter().all(|made| !made.is_null()));
                // SAFETY: the length of the arrays, which nothing moved since.
                assert_eq!(unsafe { made[3].byte_add(8).cast::<usize>().read() }, turn);
            }
        })
        .unwrap();
        assert_eq!((of(&heap, fixed[0]).0, of(&heap, bytes).0), (100, 100), "{collector:?} {options}");
        heap.verify().unwrap();
    }
}

#[test]
fn sampled_objects_die_with_their_objects_and_move_with_them() {
    for (collector, options) in COLLECTING {
        let (heap, _, _) = heap_of(*collector, &format!("{options},+ZealMove,+VerifyAfterGC"), &[]);
        let kept = heap.register(Shape::fixed("Kept", 24).slot("next", 8, SlotKind::Strong)).unwrap();
        let dead = heap.register(Shape::fixed("Dead", 32)).unwrap();
        heap.set_allocation_sample_interval(1);
        heap.attach(|mutator| {
            // SAFETY: null refers to nothing.
            let list = unsafe { mutator.raw().new_root(0) };
            for turn in 1..=3 {
                for _ in 0..100 {
                    let new = allocate(mutator, kept, 0);
                    let next = list.get(mutator).unwrap();
                    // SAFETY: a slot of the new object, and words that refer to live objects.
                    unsafe {
                        mutator.raw().store(new.add(8).cast(), next);
                        list.set(mutator, new as u64);
                    }
                    allocate(mutator, dead, 0);
                }
                assert_eq!(of(&heap, dead), (100 * turn, 100), "{collector:?} {options}");
                mutator.collect();
                assert_eq!(of(&heap, kept), (100 * turn, 100 * turn), "{collector:?} {options}");
                assert_eq!(of(&heap, dead), (100 * turn, 0), "{collector:?} {options}");
            }
            drop(list);
            mutator.collect();
            assert_eq!(of(&heap, kept), (300, 0));
        })
        .unwrap();
        heap.verify().unwrap();
    }
}

#[test]
fn a_reset_ends_all_sampled_objects() {
    let (heap, _, fixed) = heap_of(CollectorKind::Epsilon, "AllocationSampleInterval=16", &[160]);
    heap.attach(|mutator| (0..10).for_each(|_| _ = allocate(mutator, fixed[0], 0))).unwrap();
    let (samples, living) = of(&heap, fixed[0]);
    assert!(samples > 5 && living == samples);
    heap.reset().unwrap();
    assert_eq!(of(&heap, fixed[0]), (samples, 0));
}

/// Objects of one block are sampled as if each had been allocated alone.
#[test]
fn objects_made_of_one_block_are_sampled_one_by_one() {
    const CALLS: GeneratedCalls = GeneratedCalls::new();
    const INTERVAL: usize = 200;
    const BLOCKS: usize = 20_000;
    for (collector, options) in COLLECTORS {
        let (heap, _, fixed) = heap_of(collector, options, &[16, 80, 304]);
        heap.set_allocation_sample_interval(INTERVAL);
        heap.attach(|mutator| {
            for block in 0..BLOCKS {
                if block % 1000 == 0 {
                    mutator.blocking(|| ());
                }
                // SAFETY: this thread's hot part, and objects made before the next safepoint.
                unsafe {
                    let mut at = (CALLS.allocate)(mutator.raw().hot(), 400);
                    for (shape, bytes) in fixed.iter().zip([16, 80, 304]) {
                        at.cast::<Header>().write(shape.header());
                        at = at.add(bytes);
                    }
                }
            }
        })
        .unwrap();
        let mut exact = Exact::default();
        for (shape, bytes) in fixed.iter().zip([16, 80, 304]) {
            exact.add(*shape, bytes, INTERVAL, BLOCKS);
        }
        exact.check(&heap);
    }
}

#[test]
fn reserved_memory_is_sampled_when_it_holds_objects() {
    let heap = heap(4096, 64, "");
    let kit = Kit::new(&heap);
    let what = What { kind: Kind::Fixed(2), by: By::Object };
    heap.set_allocation_sample_interval(1);
    heap.attach(|mutator| {
        let mut room = mutator.make_room(400).unwrap();
        (0..4).for_each(|_| assert!(kit.allocate((&*mutator, &mut room), what).is_some()));
        assert_eq!(mutator.sampling_points(), 1);
        assert_eq!(of(&heap, kit.shape(what.kind)), (0, 0), "not complete before the next safepoint");
        mutator.blocking(|| ());
        assert_eq!(of(&heap, kit.shape(what.kind)), (4, 4));
    })
    .unwrap();
    assert_eq!(heap.shared.samples().buckets.len(), 1, "the rest is not an object");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// With an interval of a byte each object is sampled: the samples are the objects, by size, and
    /// those live that were not recycled.
    #[test]
    fn each_object_is_sampled_once_and_recycled_ones_are_dead(
        options in prop::sample::select(OPTION_SETS),
        steps in proptest::collection::vec((0..4_usize, 0..300_usize), 1..120),
    ) {
        let heap = heap(4096, 512, options);
        let kit = Kit::new(&heap);
        heap.set_allocation_sample_interval(1);
        let (mut all, mut living) = (BTreeMap::<usize, u64>::new(), Vec::new());
        heap.attach(|mutator| {
            // The first mark is taken among objects.
            let mut mark = None;
            for (turn, (step, length)) in steps.iter().enumerate() {
                let what = What { kind: Kind::Array(0, *length), by: By::Window };
                let object = match step {
                    0 => kit.allocate(&*mutator, what),
                    1 => mutator.raw_mut().burst(|burst| kit.allocate(burst, what)),
                    2 => {
                        heap.request_safepoint();
                        mutator.safepoint();
                        kit.allocate(&*mutator, what)
                    }
                    _ => {
                        mutator.blocking(|| ());
                        kit.allocate(&*mutator, what)
                    }
                };
                prop_assert!(object.is_some());
                *all.entry(kit.bytes(what.kind)).or_default() += 1;
                living.push(kit.bytes(what.kind));
                match (turn % 20, mark) {
                    (5, None) => mark = Some((mutator.raw_mut().mark(), living.len())),
                    (15, Some((since, length))) => {
                        // SAFETY: nothing is used, and there are no other marks.
                        unsafe { mutator.raw_mut().recycle(since) };
                        living.truncate(length);
                    }
                    _ => {}
                }
            }
            Ok(())
        }).unwrap()?;
        let mut lives = BTreeMap::<usize, u64>::new();
        living.iter().for_each(|bytes| *lives.entry(*bytes).or_default() += 1);
        // Code with frame pointers has a bucket for each stack.
        let (mut sampled, mut sampled_lives) = (BTreeMap::<usize, u64>::new(), BTreeMap::new());
        for bucket in heap.shared.samples().buckets {
            *sampled.entry(bucket.bytes).or_default() += bucket.samples;
            if bucket.living > 0 {
                *sampled_lives.entry(bucket.bytes).or_default() += bucket.living;
            }
        }
        prop_assert_eq!((sampled, sampled_lives), (all, lives));
        heap.verify().unwrap();
    }
}

/// Regression: a stopper or a worker uses the state of a thread in `blocking`, and the thread did
/// too.
#[test]
fn a_profile_taken_in_blocking_leaves_the_state_of_the_thread_alone() {
    for (collector, options) in COLLECTORS {
        let (heap, _, fixed) = heap_of(collector, options, &[32]);
        heap.set_allocation_sample_interval(1);
        heap.attach(|mutator| {
            mutator.raw_mut().mark();
            (0..10).for_each(|_| _ = allocate(mutator, fixed[0], 0));
            mutator.blocking(|| {
                let inner = heap.shared.threads.registry.threads.lock();
                // As a stopper has it.
                let _owned = inner.threads[0].state().owned.borrow_mut();
                assert_eq!(of(&heap, fixed[0]).0, 10, "{collector:?} {options}");
            });
            allocate(mutator, fixed[0], 0);
            assert_eq!(of(&heap, fixed[0]).0, 11, "a thread that runs sees its own");
        })
        .unwrap();
    }
}

/// Regression: the stack of the first sample was taken for the one of all later samples.
#[test]
fn a_walk_is_bounded_by_the_stack_on_which_the_sample_is_taken() {
    let heap = heap(4096, 64, "");
    let foreign = vec![0_u8; 4096];
    heap.attach(|mutator| {
        let sampling = &mutator.state().sampling;
        let own = 0_u8;
        let own = (&raw const own).addr();
        for _ in 0..2 {
            assert_eq!(sampling.stack_bounds(foreign.as_ptr().addr()), None);
            assert_eq!(sampling.stack_bounds(8), None, "below the stack");
            let bounds = sampling.stack_bounds(own).expect("the system tells");
            assert!(bounds.start == own && bounds.end > own && bounds.end - own <= 1 << 30);
            assert_eq!(sampling.stack_bounds(bounds.end), None);
        }
    })
    .unwrap();
}

/// Regression: dead samples were searched for only among more than the memory ever held.
#[test]
fn memory_that_is_used_up_is_there_again_when_the_samples_are_dead() {
    for (collector, options) in COLLECTING {
        let options = format!("{options},AllocationSampleMemory=64k");
        let (heap, _, fixed) = heap_of(*collector, &options, &[16, 24]);
        heap.set_allocation_sample_interval(1);
        heap.attach(|mutator| {
            for _ in 0..2000 {
                allocate(mutator, fixed[0], 0);
            }
            mutator.collect();
            let dropped = heap.shared.watch.sampler.dropped().samples;
            assert!(dropped > 500, "{options}: {dropped}");
            for _ in 0..10 {
                allocate(mutator, fixed[1], 0);
            }
            mutator.blocking(|| ());
            assert_eq!(heap.shared.watch.sampler.dropped().samples, dropped, "{options}");
        })
        .unwrap();
        assert_eq!(of(&heap, fixed[1]), (10, 10), "{options}");
    }
}

/// Regression: they piled up until a stop came, and from 4096 on they were dropped.
#[test]
fn blocks_of_generated_code_are_handed_over_without_a_stop() {
    const CALLS: GeneratedCalls = GeneratedCalls::new();
    const BLOCKS: u64 = 6000;
    for (collector, options) in COLLECTORS {
        let (heap, _, fixed) = heap_of(collector, options, &[32]);
        heap.set_allocation_sample_interval(1);
        let site: Site<32, ByCaller> = Site::new(fixed[0]).unwrap();
        heap.attach(|mutator| {
            for block in 0..BLOCKS {
                if block % 2 == 0 {
                    // SAFETY: this thread's hot part, and an object that is made at once.
                    unsafe {
                        let at = (CALLS.allocate)(mutator.raw().hot(), 32);
                        at.cast::<Header>().write(fixed[0].header());
                    }
                } else {
                    let mut room = mutator.make_room(32).unwrap();
                    // SAFETY: the shape is the heap's, and nothing uses the object.
                    unsafe { mutator.raw().alloc_in_raw(&mut room, site) }.unwrap();
                }
                let seen = of(&heap, fixed[0]).0;
                assert!(block - seen <= 64, "{block}: {seen}");
            }
            mutator.blocking(|| ());
        })
        .unwrap();
        assert_eq!(of(&heap, fixed[0]), (BLOCKS, BLOCKS));
        assert_eq!(heap.shared.samples().dropped, DroppedSamples::default());
    }
}

#[test]
fn blocks_that_are_recycled_before_their_objects_are_read_are_counted_apart() {
    let heap = heap(4096, 64, "");
    let kit = Kit::new(&heap);
    let what = What { kind: Kind::Fixed(2), by: By::Object };
    heap.set_allocation_sample_interval(1);
    heap.attach(|mutator| {
        let mark = mutator.raw_mut().mark();
        let mut room = mutator.make_room(400).unwrap();
        assert!(kit.allocate((&*mutator, &mut room), what).is_some());
        // SAFETY: nothing is used, and there are no other marks.
        unsafe { mutator.raw_mut().recycle(mark) };
        mutator.blocking(|| ());
    })
    .unwrap();
    assert_eq!(of(&heap, kit.shape(what.kind)), (0, 0));
    let dropped = DroppedSamples { samples: 0, bytes: 0, recycled: 1 };
    assert_eq!(heap.shared.samples().dropped, dropped);
}

#[test]
fn samples_beyond_the_memory_are_dropped_and_counted() {
    let (heap, array, _) =
        heap_of(CollectorKind::Parallel, "AllocationSampleInterval=16,AllocationSampleMemory=64k", &[]);
    heap.attach(|mutator| {
        for turn in 0..20_000 {
            allocate(mutator, array, turn % 3000 * 8);
        }
        assert!(mutator.sampling_points() > 19_000);
    })
    .unwrap();
    let samples = heap.shared.samples();
    let kept: u64 = samples.buckets.iter().map(|bucket| bucket.samples).sum();
    assert!(kept > 0 && samples.dropped.samples > 10_000 && samples.dropped.bytes > 1 << 20);
    assert!(samples.buckets.len() < (64 << 10) / 100);
    heap.attach(|mutator| mutator.collect()).unwrap();
    heap.verify().unwrap();
}
