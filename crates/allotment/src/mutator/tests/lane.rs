//! The lane does what a whole refill would have done, and leaves to it what it must.

use super::heap;
use super::kit::{By, Kind, Kit, What};
use crate::Heap;
use crate::mutator::Mutator;
use crate::mutator::refill::NoLane;
use crate::options::CollectorKind;
use crate::region::Attempts;
use crate::tlab::statistics::TlabStatistics;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Options with which sizes are settled.
const SETTLED: &[&str] = &[
    "-ResizeTLAB,MinTLABSize=256,TLABSize=1k",
    "-ResizeTLAB,MinTLABSize=64,TLABSize=64",
    "-ResizeTLAB,MinTLABSize=128,TLABSize=504,MaxTLABSize=520,TLABRefillWasteFraction=1",
    "-ResizeTLAB,MinTLABSize=128,TLABSize=512,ZeroWindowSize=64,TLABPolicy=epsilon",
    "TLABPolicy=hotspot,MinTLABSize=256,TLABSize=512,TLABRefillWasteFraction=2",
    "TLABPolicy=shenandoah,MinTLABSize=64,TLABSize=128,ZeroWindowSize=128",
    "TLABPolicy=shenandoah-8359947,MinTLABSize=64",
];

#[derive(Clone, Copy, Debug)]
enum Step {
    Allocate(What),
    Sample(usize),
    Request,
    /// Somebody takes what lies behind the buffer.
    Behind(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let by = prop::sample::select([By::Caller, By::Object, By::Window].as_slice());
    let length = prop_oneof![20 => 0..100_usize, 1 => 0..1500_usize];
    prop_oneof![
        60 => (by, length).prop_map(|(by, length)| Step::Allocate(What { kind: Kind::Array(0, length), by })),
        1 => prop_oneof![Just(0), 1..2000_usize].prop_map(Step::Sample),
        1 => Just(Step::Request),
        2 => (2..40_usize).prop_map(|words| Step::Behind(words * 8)),
    ]
}

/// What can be seen of a step.
#[derive(Debug, PartialEq)]
struct Seen {
    /// Where in the heap the object is.
    object: Option<usize>,
    end: usize,
    limits: (usize, usize),
    points: u64,
}

/// Runs the steps, in memory that was used before if `used`, with the lane closed before each of them unless `lane`; what was
/// seen, what was counted, and how many refills the lane did.
fn run(options: &str, steps: &[Step], used: bool, lane: bool) -> (Vec<Seen>, TlabStatistics, usize) {
    // With a region for each core, where objects are depends on where the thread runs.
    let heap = heap(4096, 64, &format!("AllocationRegions=1,{options}"));
    let kit = Kit::new(&heap);
    if used {
        let some = What { kind: Kind::Fixed(3), by: By::Caller };
        // A part of them: behind the last object memory is as the system gave it.
        heap.attach(|mutator| (0..500).for_each(|_| _ = kit.allocate(&*mutator, some))).unwrap();
        heap.reset().unwrap();
    }
    let mut in_lane = 0;
    let seen = heap.attach(|mutator| {
        steps
            .iter()
            .map(|step| {
                if !lane {
                    mutator.state().hot.lane.close();
                }
                let (before, open) = (end(mutator), mutator.state().hot.lane.is_open());
                let object = one(&heap, &kit, mutator, *step);
                // Who takes the first buffer of a region has no lane into it.
                let same_region = || mutator.state().shared.same_region(before - 1, end(mutator) - 1);
                in_lane += usize::from(open && end(mutator) > before && same_region());
                let state = mutator.state();
                let base = state.shared.free.table().base();
                let inside = |address: usize| address.saturating_sub(base);
                let limits = (inside(state.hot.limit.plain()), inside(state.hot.limit.zeroed()));
                Seen {
                    object: object.map(inside),
                    end: inside(end(mutator)),
                    limits,
                    points: mutator.sampling_points(),
                }
            })
            .collect()
    });
    heap.verify().expect("a heap without faults");
    (seen.unwrap(), heap.tlab_totals().sum, in_lane)
}

fn end(mutator: &Mutator<'_>) -> usize {
    mutator.state().hot.end()
}

fn one(heap: &Heap, kit: &Kit, mutator: &mut Mutator<'_>, step: Step) -> Option<usize> {
    match step {
        Step::Allocate(what) => return kit.allocate(&*mutator, what).map(|object| object.addr().get()),
        Step::Sample(interval) => mutator.set_sampling_interval(interval),
        Step::Request => {
            heap.request_safepoint();
            let what = What { kind: Kind::Array(0, 4000), by: By::Caller };
            assert_eq!(kit.allocate(&*mutator, what), None, "a request is heard");
            mutator.safepoint();
        }
        Step::Behind(bytes) => {
            let (end, shared) = (end(mutator), &mutator.state().shared);
            if end != 0
                && let Some(piece) = shared.free.extend(end, 16, bytes, &mut Attempts::default())
            {
                // SAFETY: a piece that nobody else has.
                unsafe { crate::object::fill(piece.start, piece.end) };
            }
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_lane_does_what_whole_refills_do(
        options in prop::sample::select(SETTLED), used: bool, steps in prop::collection::vec(step(), 1..400),
    ) {
        let (with, counted_with, _) = run(options, &steps, used, true);
        let (without, counted_without, _) = run(options, &steps, used, false);
        for (turn, (with, without)) in with.iter().zip(&without).enumerate() {
            prop_assert_eq!(with, without, "step {}", turn);
        }
        prop_assert_eq!(counted_with, counted_without);
    }
}

#[test]
fn of_settled_sizes_the_lane_does_most_refills() {
    let object = Step::Allocate(What { kind: Kind::Fixed(0), by: By::Object });
    // 4 buffers of 1 KiB make a region: the first comes from elsewhere.
    let (_, counted, in_lane) =
        run("-ResizeTLAB,MinTLABSize=256,TLABSize=1008", &[object; 64 * 20], false, true);
    assert_eq!((counted.refills, in_lane), (20, 15));
    assert_eq!((counted.compare_exchange_attempts, counted.compare_exchange_successes), (20, 20));
    assert_eq!((counted.allocated, counted.refill_waste), (20 << 10, 0));
}

/// Regression: with buffers of 1 KiB many objects of 144 bytes went outside, at a third of the speed.
#[test]
fn whose_buffer_is_lengthened_sends_nothing_outside_however_much_is_free() {
    let object = Step::Allocate(What { kind: Kind::Array(0, 128), by: By::Object });
    for lane in [true, false] {
        let (_, counted, in_lane) =
            run("-ResizeTLAB,MinTLABSize=256,TLABSize=504", &[object; 20], false, lane);
        assert_eq!((counted.slow_allocations, counted.outside_allocations), (0, 0));
        assert_eq!((counted.refill_waste, counted.refills >= 5, in_lane > 0), (0, true, lane));
    }
}

/// Regression: each object that went outside let the size decay once more, though it is no refill.
#[test]
fn objects_outside_settle_no_sizes() {
    let seconds = Arc::new(AtomicU64::new(0));
    let clock = seconds.clone();
    let builder = Heap::builder().test_geometry(4096, 64).use_transparent_huge_pages(false);
    let builder =
        builder.collector(CollectorKind::Epsilon).options("AllocationRegions=1,MinTLABSize=64,TLABSize=128");
    let heap =
        builder.unwrap().clock(move || Duration::from_secs(clock.load(Ordering::Relaxed))).build().unwrap();
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        let allocate = |mutator: &mut Mutator<'_>, length| {
            let what = What { kind: Kind::Array(0, length), by: By::Object };
            assert!(one(&heap, &kit, mutator, Step::Allocate(what)).is_some());
        };
        let size = |mutator: &Mutator<'_>| mutator.state().owned.borrow().sizing.desired_size();
        for _ in 0..200 {
            allocate(mutator, 48);
        }
        while !(1000..3000).contains(&mutator.state().hot.free()) {
            allocate(mutator, 48);
        }
        let grown = size(mutator);
        assert!(grown >= 2048, "{grown}");
        one(&heap, &kit, mutator, Step::Behind(16));
        seconds.store(2, Ordering::Relaxed);
        for outside in 1..4 {
            allocate(mutator, 3600);
            assert_eq!((size(mutator), mutator.state().counters.read().slow_allocations), (grown, outside));
        }
    })
    .unwrap();
}

#[test]
fn sizes_that_change_and_buffers_that_are_not_lengthened_have_no_lane() {
    let object = Step::Allocate(What { kind: Kind::Fixed(0), by: By::Object });
    for options in [
        "",
        "TLABPolicy=epsilon,MinTLABSize=64,TLABSize=256",
        "TLABPolicy=hotspot-8381834,MinTLABSize=256,TLABSize=512",
        "-ResizeTLAB,MinTLABSize=256,TLABSize=512,RefillStrategy=lock",
        "-ResizeTLAB,MinTLABSize=256,TLABSize=512,+ZeroTLAB",
        "-UseTLAB",
    ] {
        assert_eq!(run(options, &[object; 1000], false, true).2, 0, "{options}");
    }
    let heap = heap(4096, 64, SETTLED[0]);
    let kit = Kit::new(&heap);
    let is_open = |mutator: &mut Mutator<'_>| {
        assert!(one(&heap, &kit, mutator, object).is_some());
        mutator.state().hot.lane.is_open()
    };
    heap.attach(|mutator| {
        assert!(is_open(mutator));
        mutator.set_sampling_interval(1 << 20);
        assert!(!is_open(mutator), "points lie in buffers to come");
        mutator.set_sampling_interval(0);
        mutator.mark();
        assert!(!is_open(mutator), "a thread's own region is nobody else's to move");
    })
    .unwrap();
}

#[test]
fn a_stop_is_heard_at_the_end_of_the_lanes_buffer() {
    let heap = heap(4096, 64, "-ResizeTLAB,MinTLABSize=256,TLABSize=1008");
    let kit = Kit::new(&heap);
    let object = What { kind: Kind::Fixed(0), by: By::Object };
    heap.attach(|mutator| {
        (0..64).for_each(|_| assert!(kit.allocate(&*mutator, object).is_some()));
        let (state, full) = (mutator.state(), end(mutator));
        assert!(state.hot.lane.is_open() && state.hot.free() == 0);
        heap.request_safepoint();
        assert_eq!(
            (state.lengthen_in_lane(16), kit.allocate(&*mutator, object), end(mutator)),
            (Err(NoLane::Closed), None, full)
        );
        mutator.safepoint();
        assert!(kit.allocate(&*mutator, object).is_some());
    })
    .unwrap();
}

#[test]
fn a_buffer_with_room_is_not_lengthened_whoever_asks() {
    let heap = heap(4096, 64, "-ResizeTLAB,MinTLABSize=256,TLABSize=1008,TLABRefillWasteFraction=1");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        assert!(kit.allocate(&*mutator, What { kind: Kind::Fixed(0), by: By::Object }).is_some());
        let (state, full) = (mutator.state(), end(mutator));
        assert!(state.hot.lane.is_open() && state.hot.free() == 1008);
        assert!(state.memory_past_limit(16, false).is_some() && end(mutator) == full);
    })
    .unwrap();
}

#[test]
fn who_lost_the_race_for_what_is_behind_allocates_no_further_than_its_buffer() {
    let heap = heap(4096, 64, "-ResizeTLAB,MinTLABSize=256,TLABSize=1008");
    let kit = Kit::new(&heap);
    let object = What { kind: Kind::Fixed(0), by: By::Caller };
    heap.attach(|mutator| {
        assert!(kit.allocate(&*mutator, object).is_some());
        let (state, full) = (mutator.state(), end(mutator));
        assert!(!state.hot.limit.arm_through(full + 1024, full, || false));
        state.come_back_from_lane();
        assert_eq!(state.hot.limit.both().0, full);
        state.hot.verify();
    })
    .unwrap();
    let counted = heap.tlab_totals().sum;
    assert_eq!((counted.compare_exchange_attempts, counted.compare_exchange_successes), (2, 1));
}
