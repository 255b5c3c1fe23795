//! What is printed of a collection, field by field.

use super::*;
use crate::object::MAX_AGE;

fn record(kind: CollectionKind) -> CollectionRecord {
    CollectionRecord {
        number: 3,
        kind,
        cause: Cause::AllocationFailure,
        start: Duration::from_secs(1),
        pause: Duration::from_micros(12_345),
        time_to_safepoint: Duration::from_micros(20),
        phases: vec![Phase { name: "Mark", time: Duration::from_micros(4100) }],
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
        buffers: Totals::default(),
        young: None,
        full: None,
        sizing: None,
    }
}

const TOTALS: &str = "GC(3) TLAB totals: thrds: 0  refills: 0 max: 0 slow allocs: 0 max 0 waste:  0.0% gc: 0B max: 0B slow: 0B \
                      max: 0B";

fn young() -> CollectionRecord {
    let mut survived_bytes = [0; MAX_AGE as usize + 1];
    survived_bytes[2] = 48;
    let young = YoungRecord {
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
    };
    CollectionRecord { young: Some(young), ..record(CollectionKind::Young) }
}

fn full() -> CollectionRecord {
    let full = FullRecord {
        regions_left_alone: 8,
        regions_freed: 9,
        humongous_freed: 2,
        mark_overflows: 4,
        steals: 5,
        worker_objects: vec![10, 30],
    };
    CollectionRecord { full: Some(full), ..record(CollectionKind::Full) }
}

#[test]
fn a_record_prints_as_the_line_users_of_gc_logs_know() {
    let record = record(CollectionKind::Full);
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

#[test]
fn workers_that_are_missing_are_told() {
    let record = CollectionRecord { workers: 1, ..full() };
    let line = "GC(3) Workers: 1 of 4, 2 wanted, used 24k, imbalance 1.50, steals 5";
    assert_eq!(record.detail_lines().last().map(String::as_str), Some(line));
}
