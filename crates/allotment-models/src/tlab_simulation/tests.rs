//! What holds in every simulation, and the order of the policies.

use super::collect::Phase;
use super::cpus::Task;
use super::engine::Engine;
use super::thread::Stage;
use super::{Arrival, CollectorModel, Costs, MAX_CPUS, Scenario, Shop, simulate};
use allotment::internals::shenandoah::CycleKind;
use allotment::options::TlabPolicy;
use proptest::prelude::*;
use std::time::Duration;

const MIB: u64 = 1 << 20;

impl super::engine::Engine {
    /// Checks that no byte is lost.
    ///
    /// # Errors
    /// Says which sum is wrong.
    fn verify(&self) -> Result<(), String> {
        self.regions.verify()?;
        let held: u64 =
            self.threads.iter().filter_map(|thread| thread.buffer).map(super::thread::Buffer::free).sum();
        let (objects, waste, spared) = (self.regions.objects, self.waste, self.regions.spared());
        let handed = self.regions.handed();
        if handed != objects + waste + held + spared {
            return Err(format!(
                "{handed} bytes were handed out: {objects} are objects, {waste} waste, {held} in buffers, {spared} spare"
            ));
        }
        if self.config.policy == TlabPolicy::Adaptive {
            let entries = self
                .threads
                .iter()
                .map(|thread| allotment::internals::tlab::CensusEntry::from(&thread.sizing));
            self.budget.verify(entries).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// A small heap, so that what is rare elsewhere is common.
fn small(policy: TlabPolicy, collector: CollectorModel) -> Scenario {
    Scenario {
        policy,
        collector,
        threads: 12,
        operations: 12,
        before: 200,
        heap: 8 * MIB,
        live: MIB,
        keeps: 4000,
        ..Scenario::storm()
    }
}

/// Runs a scenario, and checks all sums after each event.
fn checked(scenario: &Scenario) -> super::Outcome {
    let mut engine = Engine::new(scenario).unwrap();
    while engine.step() {
        engine.verify().unwrap_or_else(|error| panic!("{scenario:?}: {error}"));
    }
    engine.outcome()
}

#[test]
fn one_thread_with_objects_of_one_size_refills_as_often_as_they_fit() {
    // A buffer of 32 KiB and the pending object holds 683 objects of 48 bytes, and grows in place.
    for (operations, refills) in [(1, 1), (10, 10), (33, 33)] {
        let scenario = Scenario {
            threads: 1,
            operations,
            before: 0,
            bytes: 683 * 48,
            objects: (48, 48),
            max_tlab_size: 32 << 10,
            tlab_size: 32 << 10,
            idle_percent: 0.0,
            heap: 512 * MIB,
            ..small(TlabPolicy::Shenandoah8359947, CollectorModel::Genshen)
        };
        let outcome = checked(&scenario);
        // 32768 = 682 * 48 + 32: a rest is used by the next buffer, which lies after it.
        let bytes: u64 = operations * 683 * 48;
        assert_eq!(outcome.refills, bytes.div_ceil(32 << 10), "{operations} operations");
        assert!(outcome.refills <= refills + 1 && outcome.collections == 0);
    }
}

#[test]
fn the_same_seed_is_the_same_run_and_another_seed_another() {
    let scenario =
        Scenario { arrival: Arrival::Poisson, ..small(TlabPolicy::Adaptive, CollectorModel::Genshen) };
    let outcome = simulate(&scenario).unwrap();
    assert_eq!(simulate(&scenario).unwrap(), outcome);
    assert_ne!(simulate(&Scenario { seed: 2, ..scenario }).unwrap(), outcome);
}

#[test]
fn larger_first_buffers_never_leave_less_unused() {
    let mut before = 0.0;
    for tlab_size in [16 << 10, 64 << 10, 256 << 10, MIB] {
        let scenario = Scenario {
            tlab_size,
            region: 4 * MIB,
            max_tlab_size: 4 * MIB,
            before: 0,
            operations: 3,
            heap: 128 * MIB,
            threads: 300,
            ..small(TlabPolicy::Hotspot, CollectorModel::Genshen)
        };
        let unused = checked(&scenario).first_unused.unwrap_or(0.0);
        assert!(unused >= before, "{tlab_size}: {unused} % after {before} %");
        before = unused;
    }
    assert!(before > 90.0, "{before}");
}

#[test]
fn a_heap_that_is_nearly_full_is_collected_often_and_one_without_room_is_refused() {
    let scenario = Scenario {
        survives: 100.0,
        keeps: 500 << 10,
        threads: 10,
        operations: 100,
        ..small(TlabPolicy::Adaptive, CollectorModel::Parallel)
    };
    let empty = checked(&Scenario { live: 0, survives: 0.0, ..scenario });
    let full = checked(&Scenario { live: scenario.heap / 10 * 9 - 10 * scenario.keeps, ..scenario });
    assert_eq!((full.out_of_memory, full.operations), (None, 1000));
    assert!(full.collections + full.full > 2 * empty.collections, "{full:?} {empty:?}");
    let error = simulate(&Scenario { live: scenario.heap, ..scenario }).unwrap_err().to_string();
    assert!(error.contains("leave no room"), "{error}");
}

#[test]
fn what_cannot_be_simulated_is_refused_with_the_reason() {
    let storm = Scenario::storm();
    let refused = |scenario: Scenario, reason: &str| {
        let error = simulate(&scenario).unwrap_err().to_string();
        assert!(error.contains(reason), "{reason}: {error}");
    };
    refused(Scenario { threads: 0, ..storm }, "threads of 0");
    refused(Scenario { cpus: 0, ..storm }, "CPUs of 0");
    refused(Scenario { operations: 0, ..storm }, "operations of 0");
    refused(Scenario { workers: 0, ..storm }, "workers of 0");
    refused(Scenario { workers: usize::MAX, ..storm }, "1 to 1024 can");
    refused(Scenario { concurrent_workers: usize::MAX, ..storm }, "1 to 1024 can");
    refused(Scenario { heap: 32 << 40, region: MIB, ..storm }, "up to 1048576 can");
    refused(Scenario { first: Duration::MAX, ..storm }, "up to a day");
    refused(Scenario { costs: Costs { visit: Duration::MAX, ..storm.costs }, ..storm }, "up to 1s");
    refused(Scenario { costs: Costs { copy: f64::NAN, ..storm.costs }, ..storm }, "for a KiB");
    refused(Scenario { objects: (20, 40), ..storm }, "multiples of 8");
    refused(Scenario { bytes: 100, ..storm }, "144 bytes (one object)");
    refused(Scenario { survives: 101.0, ..storm }, "0 to 100 percent");
    refused(Scenario { eden: 0, ..storm }, "1 to 100");
    refused(Scenario { pace: Duration::ZERO, ..storm }, "--arrival steady");
    refused(Scenario { arrival: Arrival::Steady, ..storm }, "has none");
    refused(Scenario { region: 3 * MIB, ..storm }, "a power of two");
    refused(Scenario { heap: MIB, live: 0, ..storm }, "MaxHeapSize");
    refused(Scenario { warm_up: storm.duration, ..storm }, "less than the duration");
    let shop = Scenario::extremem(Shop::Loaded);
    refused(Scenario { think: shop.pace, ..shop }, "less than the pace");
}

/// The finding of JDK-8359947, as measured with the experiment `storm`: the table of
/// `docs/experiments/storm.md`.
#[test]
fn the_order_of_policies_in_a_storm_is_the_measured_one() {
    let of = |policy| {
        let storm = Scenario { policy, region: 4 * MIB, operations: 40, ..Scenario::storm() };
        simulate(&storm).unwrap()
    };
    let [adaptive, before, after] =
        [TlabPolicy::Adaptive, TlabPolicy::Shenandoah, TlabPolicy::Shenandoah8359947].map(of);
    for small in [&adaptive, &after] {
        assert!(before.max > small.max && before.p99 > small.p99, "{before:?} {small:?}");
        assert!(before.waited_threads > 100 && small.waited_threads == 0, "{before:?} {small:?}");
        assert!(before.stops > small.stops && before.degenerated > small.degenerated);
        assert_eq!(small.degenerated, 0, "{small:?}");
    }
    assert!(before.first_unused > adaptive.first_unused && adaptive.first_unused > after.first_unused);
}

/// A simulation before its first event, with an object that the first thread wants.
fn begun(scenario: &Scenario) -> Engine {
    let mut engine = Engine::new(&Scenario { before: 0, ..*scenario }).unwrap();
    engine.threads[0].next = 48;
    engine
}

#[test]
fn the_trigger_learns_from_cycles_that_moved_objects() {
    let scenario = Scenario {
        arrival: Arrival::Poisson,
        survives: 20.0,
        keeps: 60_000,
        heap: 64 * MIB,
        threads: 50,
        operations: 400,
        pace: Duration::from_millis(10),
        ..small(TlabPolicy::Shenandoah8359947, CollectorModel::Genshen)
    };
    let mut engine = Engine::new(&scenario).unwrap();
    let before = engine.collector.trigger.parameters();
    while engine.step() {}
    let after = engine.collector.trigger.parameters();
    let outcome = engine.outcome();
    // Only a cycle that moved objects, or one in a stop, changes a margin.
    assert_eq!((outcome.degenerated, outcome.full), (0, 0), "{outcome:?}");
    assert_ne!(after, before, "{outcome:?}");
}

#[test]
fn a_stop_drops_a_cycle_that_resets_and_ends_one_that_marks() {
    for (phase, degenerated) in [(Phase::Idle, 0), (Phase::Reset, 0), (Phase::Mark, 1)] {
        let mut engine = begun(&small(TlabPolicy::Adaptive, CollectorModel::Genshen));
        if phase != Phase::Idle {
            engine.begin_cycle(false);
            engine.wake_workers();
        }
        if phase == Phase::Mark {
            assert!(engine.next_phase());
        }
        assert_eq!(engine.collector.phase, phase);
        engine.make_room(0);
        assert_eq!((engine.collector.phase, engine.collector.left), (Phase::Idle, 0));
        assert!(engine.queue.is_empty() && engine.collector.pieces.iter().all(Option::is_none));
        assert_eq!(engine.window().degenerated, degenerated, "{phase:?}");
        engine.verify().unwrap();
    }
}

/// A thread with a buffer of a region, in a cycle that marks.
fn marking_with_a_buffer() -> Engine {
    let scenario =
        Scenario { threads: 1, survives: 0.0, ..small(TlabPolicy::Shenandoah, CollectorModel::Genshen) };
    let mut engine = begun(&scenario);
    assert!(engine.allocate(0).is_some());
    engine.begin_cycle(false);
    assert!(engine.next_phase());
    engine
}

#[test]
fn a_stop_before_the_visit_gives_a_buffer_back_and_a_visit_fills_it() {
    for is_visited in [false, true] {
        let mut engine = marking_with_a_buffer();
        let piece = engine.threads[0].buffer.unwrap().piece;
        let visit = if is_visited { engine.visit(0) } else { 0 };
        assert_eq!(visit > 0, is_visited);
        assert_eq!(engine.threads[0].buffer.is_none(), is_visited);
        engine.retire_all();
        // A visited region is full of waste, and the other one holds an object.
        let top = engine.regions.table[piece.region as usize].top;
        assert_eq!(top, if is_visited { piece.end } else { 48 });
        assert_eq!(engine.waste, if is_visited { piece.bytes() - 48 } else { 0 });
        assert_eq!(engine.visit(0) > 0, !is_visited, "once");
        engine.verify().unwrap();
    }
}

#[test]
fn a_worker_visits_sleeping_threads_and_others_when_they_have_a_cpu() {
    let mut engine = marking_with_a_buffer();
    engine.threads[0].stage = Stage::Work;
    engine.wake_workers();
    while engine.collector.left > 0 {
        engine.next_piece(0);
    }
    assert!(engine.threads[0].buffer.is_some());
    engine.queue.push_front(Task::Thread(0));
    engine.dispatch();
    assert!(engine.threads[0].visited == engine.collector.visits);
}

#[test]
fn a_region_whose_objects_must_be_dead_is_free_after_a_cycle_without_a_copy() {
    for (later, freed) in [(0, 0), (MIB, 1)] {
        let scenario = Scenario {
            threads: 1,
            survives: 10.0,
            keeps: MIB / 10,
            ..small(TlabPolicy::Shenandoah, CollectorModel::Genshen)
        };
        let mut engine = begun(&scenario);
        assert_eq!(scenario.dies_after(), Some(MIB / 10 * 10));
        assert!(engine.allocate(0).is_some());
        engine.threads[0].allocated = MIB;
        engine.retire_all();
        engine.regions.objects += later;
        // Without a reserve nothing can be copied.
        engine.collector.reserve = 0;
        engine.begin_cycle(false);
        while engine.next_phase() {}
        assert_eq!(engine.regions.shared().len(), 1 - freed);
    }
}

#[test]
fn a_thread_that_got_memory_has_its_object_before_another_takes_the_buffer() {
    let mut engine = begun(&small(TlabPolicy::Shenandoah, CollectorModel::Genshen));
    engine.make_room(0);
    assert_eq!((engine.threads[0].next, engine.threads[0].allocated, engine.regions.objects), (0, 48, 48));
    engine.retire_all();
    engine.verify().unwrap();
}

#[test]
fn what_lives_is_young_for_some_cycles_and_again_after_a_full_collection() {
    let mut engine = begun(&small(TlabPolicy::Adaptive, CollectorModel::Genshen));
    let cycle = |engine: &mut Engine| {
        engine.begin_cycle(false);
        while engine.next_phase() {}
        engine.cycle_ended(CycleKind::Concurrent, 0);
        engine.collector.visited()
    };
    let live = engine.scenario.live as f64;
    let visited: Vec<bool> = (0..4).map(|_| cycle(&mut engine) >= live).collect();
    assert_eq!(visited, [true, true, false, false]);
    engine.regions.capacity = 0;
    engine.collector.degenerated_in_row = 9;
    engine.make_room(0);
    assert!(engine.collector.visited() >= live);
}

#[test]
fn a_cycle_that_leaves_little_is_followed_by_one_of_all_objects() {
    let mut engine = begun(&small(TlabPolicy::Adaptive, CollectorModel::Genshen));
    while engine.regions.allocate(0, 48, 1 << 20).is_some() {}
    // A cycle that has freed nothing.
    engine.begin_cycle(false);
    engine.cycle_ended(CycleKind::Concurrent, 0);
    for all in [true, false] {
        engine.begin_cycle(false);
        assert_eq!(engine.collector.all, all);
        engine.cycle_ended(CycleKind::Concurrent, 0);
    }
}

#[test]
fn threads_that_have_slept_get_a_cpu_before_workers_and_busy_threads() {
    let mut engine = begun(&Scenario { cpus: 1, ..small(TlabPolicy::Adaptive, CollectorModel::Genshen) });
    engine.begin_cycle(false);
    engine.wake_workers();
    engine.threads[1].is_hog = true;
    engine.queue.extend([Task::Thread(1), Task::Thread(2)]);
    let mut order = Vec::new();
    while let Some(task) = engine.next_task() {
        order.push(task);
    }
    assert_eq!(order, [Task::Thread(2), Task::Collector(0), Task::Thread(1)]);
}

#[test]
fn a_full_collection_follows_many_degenerated_cycles_and_makes_the_trigger_careful() {
    for (in_row, degenerated) in [(0, 1), (4, 0)] {
        let mut engine = begun(&small(TlabPolicy::Adaptive, CollectorModel::Shenandoah));
        // Threads may use nothing.
        engine.regions.capacity = 0;
        engine.collector.degenerated_in_row = in_row;
        let before = engine.collector.trigger.parameters();
        engine.make_room(0);
        let counts = *engine.window();
        assert_eq!((counts.degenerated, counts.full), (degenerated, 1 - degenerated));
        assert!(!engine.collector.out_of_memory);
        let (margin, spike, penalty) = engine.collector.trigger.parameters();
        assert!(margin > before.0 && spike < before.1 && penalty > before.2);
    }
}

#[test]
fn what_is_alive_has_its_regions_after_a_cycle_that_moves_nothing() {
    let scenario = Scenario {
        survives: 100.0,
        keeps: MIB,
        threads: 1,
        ..small(TlabPolicy::Adaptive, CollectorModel::Shenandoah)
    };
    let mut engine = begun(&scenario);
    let before = engine.regions.live();
    engine.threads[0].allocated = MIB;
    engine.begin_cycle(true);
    while engine.next_phase() {}
    assert_eq!(engine.regions.live(), 2 * before);
}

#[test]
fn a_wait_counts_in_the_part_of_an_operation_that_had_it() {
    let scenario = Scenario {
        arrival: Arrival::Staggered,
        think: Duration::from_millis(1),
        ..small(TlabPolicy::Adaptive, CollectorModel::Genshen)
    };
    for (thought, operations) in [(false, 1), (true, 0)] {
        let mut engine = begun(&scenario);
        let thread = &mut engine.threads[0];
        (thread.stage, thread.left, thread.thought, thread.held) = (Stage::Work, 0, thought, 1000);
        engine.decide(0);
        assert_eq!(engine.threads[0].held, 0);
        let outcome = engine.outcome();
        assert_eq!((outcome.operations, outcome.waits, outcome.waited_threads), (operations, 1, 1));
        assert_eq!(outcome.wait_max, Some(1.0));
    }
}

#[test]
fn no_operation_begins_after_the_duration() {
    let scenario = Scenario {
        arrival: Arrival::Staggered,
        pace: Duration::from_millis(120),
        duration: Duration::from_millis(25),
        operations: 100,
        before: 0,
        ..small(TlabPolicy::Adaptive, CollectorModel::Genshen)
    };
    // Threads begin every 10 ms.
    assert_eq!(checked(&scenario).operations, 3);
    let none = Scenario { arrival: Arrival::Poisson, duration: Duration::from_nanos(1), ..scenario };
    assert_eq!(checked(&none).operations, 0);
}

#[test]
fn the_largest_and_the_smallest_numbers_are_simulated() {
    let day = Duration::from_secs(86_400);
    let (second, most) = (Duration::from_secs(1), 1e6);
    let costs = Costs {
        pause: second,
        thread: second,
        visit: second,
        mark: most,
        copy: most,
        update: most,
        full: most,
    };
    let none = Costs {
        pause: Duration::ZERO,
        thread: Duration::ZERO,
        visit: Duration::ZERO,
        mark: 0.0,
        copy: 0.0,
        update: 0.0,
        full: 0.0,
    };
    for collector in [CollectorModel::Parallel, CollectorModel::Shenandoah, CollectorModel::Genshen] {
        let scenario = Scenario {
            workers: MAX_CPUS,
            concurrent_workers: MAX_CPUS,
            ..small(TlabPolicy::Shenandoah, collector)
        };
        let slow = Scenario {
            costs,
            cpu: day,
            first: day,
            refill: day,
            wake_up: day,
            switch: day,
            duration: day,
            // Or most events would be ends of slices.
            time_slice: day,
            threads: 2,
            before: 0,
            ..scenario
        };
        // Of one operation: the next would begin after the duration.
        assert_eq!(simulate(&slow).unwrap().operations, 2);
        let zero = Duration::ZERO;
        let quick =
            Scenario { costs: none, first: zero, refill: zero, wake_up: zero, switch: zero, ..scenario };
        assert_eq!(checked(&quick).operations, 144);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn no_byte_is_lost(
        policy in prop::sample::select(TlabPolicy::ALL),
        collector in prop::sample::select(vec![CollectorModel::Parallel, CollectorModel::Shenandoah, CollectorModel::Genshen]),
        arrival in prop::sample::select(vec![Arrival::Instant, Arrival::Staggered, Arrival::Poisson, Arrival::Steady]),
        threads in 1_usize..30,
        cpus in 1_usize..5,
        bytes in 1000_u64..50_000,
        tlab_size in prop::sample::select(vec![0, 4096, 100_000]),
        survives in 0.0..50.0,
        seed in 0_u64..1000,
    ) {
        let steady = arrival == Arrival::Steady;
        let scenario = Scenario {
            arrival,
            threads,
            cpus,
            bytes,
            tlab_size,
            survives,
            seed,
            pace: if steady { Duration::ZERO } else { Duration::from_millis(3) },
            think: if arrival.is_scheduled() { Duration::from_millis(1) } else { Duration::ZERO },
            concurrent_workers: cpus.div_ceil(2),
            objects: (16, 976),
            operations: 8,
            before: 20,
            ..small(policy, collector)
        };
        let outcome = checked(&scenario);
        prop_assert_eq!(outcome.out_of_memory, None, "{:?}", &scenario);
        prop_assert_eq!(outcome.operations, threads as u64 * 8);
        prop_assert!((0.0..=100.0).contains(&outcome.waste) && outcome.refills > 0);
    }
}
