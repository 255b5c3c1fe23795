//! The printed form of a collection, field by field.

use super::*;
use crate::collector::sizing::{AGES, Change, Collection, Decision};
use crate::mutator::BufferSizes;
use crate::object::MAX_AGE;
use crate::options::TlabPolicy;
use std::time::Instant;

fn record(details: Details) -> CollectionRecord {
    CollectionRecord {
        number: 3,
        cause: Cause::AllocationFailure,
        start: Duration::from_secs(1),
        pause: Duration::from_micros(12_345),
        time_to_safepoint: Duration::from_micros(20),
        phases: vec![phase("Mark", 4100)],
        workers: 2,
        wanted: WantedWorkers { workers: 2, most: 4, bytes: (24 << 10) - 1 },
        used_before: 24 << 20,
        used_after: (11 << 20) - 1,
        committed: 64 << 20,
        live_objects: 7,
        live_bytes: 10 << 20,
        moved_bytes: 0,
        weak_cleared: 0,
        uncommitted: 0,
        buffers: TlabTotals::default(),
        details,
        sizing: None,
        overhead: None,
    }
}

const TOTALS: &str = "GC(3) TLAB totals: thrds: 0  refills: 0 max: 0 slow allocs: 0 max 0 waste:  0.0% gc: 0B max: 0B slow: 0B \
                      max: 0B";

fn young() -> CollectionRecord {
    let mut survived_bytes = [0; MAX_AGE as usize + 1];
    survived_bytes[2] = 48;
    let young = YoungDetails {
        survived_bytes,
        promoted_bytes: 24,
        kept_bytes: 16,
        tenuring_threshold: 3,
        eden_regions: 1,
        plab_waste_bytes: 8,
        steals: 5,
        cards_scanned: 7,
        cards_dirty: 6,
        worker_objects: vec![3, 1],
        caller_rested: false,
    };
    record(Details::Young(young))
}

fn full() -> CollectionRecord {
    let full = FullDetails {
        regions_left_alone: 8,
        regions_freed: 9,
        humongous_freed: 2,
        runs_moved: 0,
        run_regions_moved: 0,
        run_bytes_moved: 0,
        mark_overflows: 4,
        steals: 5,
        worker_objects: vec![10, 30],
    };
    record(Details::Full(full))
}

#[test]
fn a_record_prints_as_the_line_users_of_gc_logs_know() {
    let record = full();
    assert_eq!(record.to_string(), "GC(3) Pause Full (Allocation Failure) 24M->10M(64M) 12.345ms");
    assert_eq!(record.phase_lines().collect::<Vec<_>>(), ["GC(3) Mark 4.100ms"]);
}

#[test]
fn a_young_collection_has_its_lines() {
    let expected = [
        "GC(3) Mark 4.100ms",
        TOTALS,
        "GC(3) Age 2: 48 bytes",
        "GC(3) Promoted 24 bytes, kept in place 16, threshold 3",
        "GC(3) Cards: 6 dirty of 7",
        "GC(3) PLAB waste 8 bytes",
        "GC(3) Workers: 2 of 4, expected 24k, imbalance 1.50, steals 5",
    ];
    assert_eq!(young().detail_lines(), expected);
}

#[test]
fn a_full_collection_has_its_lines() {
    let expected = [
        "GC(3) Mark 4.100ms",
        TOTALS,
        "GC(3) Regions: 8 left alone, 9 freed; humongous objects: 2 freed",
        "GC(3) Mark stack overflows: 4",
        "GC(3) Workers: 2 of 4, used 24k, imbalance 1.50, steals 5",
    ];
    assert_eq!(full().detail_lines(), expected);
}

fn phase(name: &'static str, microseconds: u64) -> Phase {
    Phase { name, start: Instant::now(), time: Duration::from_micros(microseconds) }
}

/// A cycle with two pauses.
fn cycle() -> CollectionRecord {
    let cycle = CycleDetails {
        pauses: vec![phase("Pause Init Mark", 21), phase("Pause Final Mark", 300)],
        concurrent_time: Duration::from_micros(900),
        times_to_safepoint: vec![Duration::from_micros(20); 2],
        trigger: "Trigger: Free (1M) is below minimum threshold (2M)".into(),
        advice: String::new(),
        degenerated: None,
        before_stop: None,
        set_regions: 5,
        kept_regions: 1,
        immediate_regions: 3,
        humongous_freed: 2,
        moved_by_workers: 4097,
        moved_by_mutators: 1024,
        assists: 3,
        assist_time: Duration::from_micros(120),
        pacing_waits: 2,
        pacing_time: Duration::from_micros(900),
        longest_pacing_wait: Duration::from_micros(700),
        recorded_words: 6,
        updated_slots: 8,
        generations: None,
    };
    let phases = vec![
        phase("Concurrent reset", 7),
        phase("Pause Init Mark", 21),
        phase("Concurrent marking", 4100),
        phase("Pause Final Mark", 300),
        phase("Concurrent evacuation", 50),
    ];
    CollectionRecord {
        cause: Cause::Trigger,
        phases,
        weak_cleared: 9,
        ..record(Details::Cycle(Box::new(cycle)))
    }
}

/// [`cycle`], ended in a stop after its last phase but one.
fn degenerated() -> CollectionRecord {
    let mut record = cycle();
    let Details::Cycle(cycle) = &mut record.details else { panic!("a cycle") };
    (cycle.degenerated, cycle.before_stop) = (Some("Concurrent evacuation"), Some(4));
    cycle.pauses.push(phase("Pause Degenerated", 900));
    record.phases.extend([phase("Concurrent update references", 60), phase("Pause Final Mark", 1)]);
    record
}

#[test]
fn a_cycle_has_a_line_for_each_pause_and_phase() {
    let lines = cycle().log_lines(LogLevel::Info);
    let expected = [
        "GC(3) Concurrent reset 0.007ms",
        "GC(3) Pause Init Mark 0.021ms",
        "GC(3) Concurrent marking 4.100ms",
        "GC(3) Pause Final Mark 0.300ms",
        "GC(3) Concurrent evacuation 0.050ms",
        "GC(3) Concurrent (Trigger) 24M->10M(64M) cycle 13.245ms, pauses 12.345ms",
    ];
    assert_eq!(lines, expected.map(|line| (LogLevel::Info, line.to_owned())));
    assert_eq!((cycle().phases_before_stop().len(), cycle().phases_in_stop().len()), (5, 0));
}

#[test]
fn a_cycle_has_its_details() {
    let expected = [
        "GC(3) Trigger: Free (1M) is below minimum threshold (2M)",
        "GC(3) Live: 7 objects, 10240k",
        "GC(3) Regions: 5 in the set, 1 of them kept; 3 were without live objects; humongous objects: 2 freed",
        "GC(3) Moved: 5k by workers, 1k by mutators",
        "GC(3) Words: 6 recorded by mutators; slots: 8 updated by workers; weak: 9 cleared",
        "GC(3) Assists: 3 slices, 0.120ms",
        "GC(3) Pacing: 2 waits, 0.900ms, the longest 0.700ms",
        "GC(3) Workers: 2 of 4",
    ];
    let record = cycle();
    let phases: Vec<String> = record.phase_lines().collect();
    assert_eq!(record.detail_lines(), [phases, expected.map(str::to_owned).to_vec()].concat());
    let lines = record.log_lines(LogLevel::Debug);
    let debug: Vec<&String> =
        lines.iter().filter(|(level, _)| *level == LogLevel::Debug).map(|(_, line)| line).collect();
    assert_eq!(debug, expected, "phases are not told twice");
    let mut asked = cycle();
    let Details::Cycle(cycle) = &mut asked.details else { panic!("a cycle") };
    cycle.trigger = String::new();
    assert_eq!(asked.detail_lines()[5], expected[1]);
}

#[test]
fn a_cycle_of_a_heap_with_generations_tells_of_both() {
    let mut record = cycle();
    let Details::Cycle(cycle) = &mut record.details else { panic!("a cycle") };
    let mut ages = [0; AGES];
    (ages[0], ages[2]) = (4096, 8);
    cycle.generations = Some(GenerationsDetails {
        scope: CycleScope::Young,
        old_copied_bytes: 1025,
        promoted_regions: 1,
        tenuring_threshold: 3,
        ages,
        dirty_cards: 17,
        old_regions: 4,
        old_marking: OldMarking::Ended,
        old_marking_time: Duration::from_micros(1500),
        old_marked_bytes: 2048,
        old_set_regions: 2,
        old_candidates: 1,
    });
    let lines = record.log_lines(LogLevel::Info);
    assert_eq!(lines[1].1, "GC(3) Pause Init Mark (Young) 0.021ms");
    assert_eq!(
        lines[5].1,
        "GC(3) Concurrent (Young) (Trigger) 24M->10M(64M) cycle 13.245ms, pauses 12.345ms"
    );
    let expected = [
        "GC(3) Age 0: 4096 bytes",
        "GC(3) Age 2: 8 bytes",
        "GC(3) Old: 4 regions, 1 of them promoted in place; 2k copied; threshold 3; 17 dirty cards",
        "GC(3) Old marking: ended; 2k in 1.500ms between cycles; 2 old regions in the set, 1 left for later",
    ];
    assert_eq!(record.lines_after_phases()[5..9], expected);
}

#[test]
fn a_degenerated_cycle_shows_the_phases_of_its_stop() {
    let record = degenerated();
    let names = |phases: &[Phase]| phases.iter().map(|phase| phase.name).collect::<Vec<_>>();
    let before = ["Concurrent reset", "Pause Init Mark", "Concurrent marking", "Pause Final Mark"];
    assert_eq!(names(record.phases_before_stop()), before);
    let inside = ["Concurrent evacuation", "Concurrent update references", "Pause Final Mark"];
    assert_eq!(names(record.phases_in_stop()), inside);
    let lines = record.log_lines(LogLevel::Info);
    assert_eq!(lines[4].1, "GC(3) Pause Degenerated 0.900ms");
    assert_eq!(lines[5].1, "GC(3) Pause Degenerated (Trigger) 24M->10M(64M) cycle 13.245ms, pauses 12.345ms");
    let details = record.lines_after_phases();
    assert_eq!(details[1], "GC(3) Degenerated: Concurrent evacuation");
    assert_eq!(details[2], "GC(3) In the stop: Concurrent evacuation 0.050ms");
    let mut outside = degenerated();
    let Details::Cycle(cycle) = &mut outside.details else { panic!("a cycle") };
    (cycle.degenerated, cycle.before_stop) = (Some("Outside of Cycle"), Some(0));
    cycle.pauses = vec![phase("Pause Degenerated", 900)];
    assert_eq!((outside.phases_before_stop().len(), outside.phases_in_stop().len()), (0, 7));
    for record in [young(), full()] {
        assert_eq!((record.phases_before_stop().len(), record.phases_in_stop().len()), (0, 1));
    }
}

#[test]
fn runs_that_moved_have_a_line() {
    let mut record = full();
    let Details::Full(full) = &mut record.details else { panic!("a full collection") };
    (full.runs_moved, full.run_regions_moved, full.run_bytes_moved) = (2, 7, 6 * 1024 + 1);
    assert_eq!(record.detail_lines()[3], "GC(3) Humongous runs: 2 moved, 7 regions, 7k");
}

#[test]
fn workers_that_are_missing_are_told() {
    let record = CollectionRecord { workers: 1, ..full() };
    let line = "GC(3) Workers: 1 of 4, 2 wanted, used 24k, imbalance 1.50, steals 5";
    assert_eq!(record.detail_lines().last().map(String::as_str), Some(line));
    let text = record.shortage().expect("one is missing");
    assert!(text.starts_with("1 worker instead of 2: the system started no more threads ("), "{text}");
    assert!(full().shortage().is_none());
}

#[test]
fn what_to_change_is_a_warning_after_the_line_of_the_cycle() {
    let mut record = cycle();
    let before = record.log_lines(LogLevel::Info);
    let Details::Cycle(cycle) = &mut record.details else { panic!("a cycle") };
    cycle.advice = "set MaxHeapSize to more".into();
    let mut expected = before;
    expected.push((LogLevel::Warning, "GC(3) set MaxHeapSize to more".into()));
    assert_eq!(record.log_lines(LogLevel::Info), expected);
}

#[test]
fn a_record_says_that_the_caller_rested() {
    let mut record = young();
    let Details::Young(young) = &mut record.details else { panic!("it is young") };
    young.caller_rested = true;
    let line = "GC(3) Workers: 2 of 4 beside the caller, expected 24k, imbalance 1.50, steals 5";
    assert_eq!(record.detail_lines().last().map(String::as_str), Some(line));
}

#[test]
fn memory_that_was_given_back_is_told_where_there_was_some() {
    for record in [young(), full()] {
        let before = record.detail_lines();
        let record = CollectionRecord { uncommitted: 9000, ..record };
        let line = "GC(3) Uncommitted 9k that were free for UncommitDelay, 65536k are committed";
        assert_eq!(record.detail_lines(), [before, vec![line.to_owned()]].concat());
    }
}

#[test]
fn cost_and_yield_are_shown_with_the_overhead_limit() {
    let overhead = GcOverhead {
        collecting: Duration::from_micros(99_119),
        running: Duration::from_micros(881),
        free_bytes: 13_421,
        heap_bytes: 64 << 20,
        full_collections: 3,
        ..GcOverhead::default()
    };
    for record in [young(), full()] {
        let before = record.detail_lines();
        let record = CollectionRecord { overhead: Some(overhead), ..record };
        let line =
            "GC(3) GC overhead: 99.12% of the time in collections, 0.02% of the heap free, 3 of 5 in a row";
        assert_eq!(record.detail_lines(), [before, vec![line.to_owned()]].concat());
        assert_eq!(CollectionRecord::outcome_of(&[record], false), Outcome::Collected);
    }
}

#[test]
fn decisions_have_lines_in_the_order_they_were_taken() {
    let decision = Decision {
        eden_regions: 80,
        capacity_regions: 128,
        tenuring_threshold: 7,
        full: false,
        survivor_limit_bytes: 64 << 10,
        reasons: Vec::new(),
    };
    let buffers = BufferSizes {
        policy: TlabPolicy::Adaptive,
        threads: 41,
        allocators: 8,
        allocated: 9000 << 10,
        capacity: 9216 << 10,
        before: 1312 << 10,
        after: 656 << 10,
        cut: 2,
        share: 64 << 10,
    };
    let part = |look| LastPart { after: Duration::from_micros(12_345), look };
    let sizing = SizingDetails {
        enlarged: Some(EnlargedEden { regions: Change { from: 4, to: 80 }, threads: 41 }),
        last_part: Some(part(IdleLook::Began)),
        collection: Collection { eden_regions: 80, threads: 41, ..Collection::default() },
        decision,
        buffers,
        raised: Some(Change { from: 40, to: 48 }),
    };
    let expected = [
        "GC(3) eden 4->80 without a stop: 41 threads",
        "GC(3) eden's last part open after 12.345ms: looked for idle times",
        "GC(3) young 0.000 ms after 0.000 ms: eden 80 regions, survived 0k, promoted 0k, stayed 0k, failed 0k, scanned 0k, \
         old 0k, humongous 0 regions, free 0 regions, 41 threads",
        "GC(3) next young: eden 80, capacity 128, tenuring 7, survivors 64k",
        "GC(3) TLABs adaptive: 41 threads, 8 allocated 9000k of eden 9216k, sizes 1312k->656k, 2 cut to 64k",
        "GC(3) room for the allocation: 40->48 regions may be in use",
    ];
    let before = young().detail_lines().len();
    let lines = |sizing| CollectionRecord { sizing: Some(Box::new(sizing)), ..young() }.detail_lines();
    assert_eq!(lines(sizing.clone())[before..], expected);
    let quiet = SizingDetails {
        enlarged: None,
        last_part: None,
        buffers: BufferSizes { cut: 0, ..buffers },
        raised: None,
        ..sizing
    };
    let sizes = expected[4].trim_end_matches(", 2 cut to 64k");
    assert_eq!(lines(quiet)[before..], [expected[2], expected[3], sizes]);
    for (look, text) in [(IdleLook::TooSoon, "too soon to look"), (IdleLook::NoThread, "no thread to look")] {
        let text = format!("eden's last part open after 12.345ms: {text} for idle times");
        assert_eq!(part(look).to_string(), text);
    }
}
