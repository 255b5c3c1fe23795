//! When a nearly full heap gives up: a table, and every history against a model that reads the
//! whole history.

use super::*;
use crate::options::{OptionSet, Options, Source};
use proptest::prelude::*;
use std::time::Duration;

const HEAP: usize = 64 * MIB;
const USUAL: OverheadSettings = OverheadSettings { time_percent: 98, free_percent: 2 };

/// A collection of 80 ms that an allocation needed, after 0.1 ms, and that left 0.02 % of the heap.
const STALLED: Effort = Effort {
    extent: Extent::Full,
    need: Need::Allocation,
    collecting: Duration::from_millis(80),
    running: Duration::from_micros(100),
    free_bytes: HEAP / 5000,
    heap_bytes: HEAP,
};
const STILL: Effort = Effort { need: Need::AllocationStill, running: Duration::ZERO, ..STALLED };
const YOUNG: Effort = Effort { extent: Extent::Young, collecting: Duration::from_millis(5), ..STALLED };
const REQUESTED: Effort = Effort { need: Need::None, ..STALLED };
const ZEAL: Effort = Effort { need: Need::Test, ..STALLED };
/// 2 % of the heap.
const ENOUGH: Effort = Effort { free_bytes: HEAP.div_ceil(50), ..STALLED };
/// A byte less than 2 % of the heap.
const TOO_LITTLE: Effort = Effort { free_bytes: HEAP.div_ceil(50) - 1, ..STALLED };
/// 97.5 % of the time.
const CHEAP: Effort = Effort { running: Duration::from_micros(2050), ..STALLED };
/// 98.04 % of the time.
const DEAR: Effort = Effort { running: Duration::from_micros(1600), ..STALLED };
/// A collection before which the program waited.
const LATE: Effort = Effort { running: Duration::from_secs(3600), ..STALLED };
/// A collection during which the machine was suspended.
const SUSPENDED: Effort = Effort { collecting: Duration::from_secs(3600), ..CHEAP };

/// The numbers of the collections that exceed the limit.
fn exceeding(settings: OverheadSettings, efforts: &[Effort]) -> Vec<usize> {
    let mut limit = OverheadLimit::new(settings);
    (0..efforts.len()).filter(|&index| limit.after(&efforts[index]).exceeded).collect()
}

fn times(effort: Effort, times: usize) -> Vec<Effort> {
    vec![effort; times]
}

#[test]
fn settings_are_the_options() {
    let read = |list: &str| {
        let mut set = OptionSet::new();
        set.apply_str(list, Source::CommandLine).unwrap();
        OverheadSettings::from_options(&set.finish().unwrap())
    };
    assert_eq!(OverheadSettings::from_options(&Options::default()), Some(USUAL));
    let other = OverheadSettings { time_percent: 7, free_percent: 30 };
    assert_eq!(read("GCTimeLimit=7,GCHeapFreeLimit=30"), Some(other));
    assert_eq!(read("-UseGCOverheadLimit"), None);
}

#[test]
fn five_full_collections_in_a_row_are_too_many() {
    let none: &[usize] = &[];
    let table: &[(&str, Vec<Effort>, &[usize])] = &[
        ("four", times(STALLED, 4), none),
        ("the fifth, and each after it", times(STALLED, 8), &[4, 5, 6, 7]),
        ("just too little", times(TOO_LITTLE, 6), &[4, 5]),
        ("just enough", times(ENOUGH, 20), none),
        ("just too much time", times(DEAR, 5), &[4]),
        ("time for the program", times(CHEAP, 20), none),
        ("much garbage, back to back", times(Effort { free_bytes: HEAP / 2, ..STALLED }, 50), none),
        ("enough once", [times(STALLED, 4), times(ENOUGH, 1), times(STALLED, 5)].concat(), &[9]),
        ("enough, once exceeded", [times(STALLED, 5), times(ENOUGH, 1), times(STALLED, 4)].concat(), &[4]),
        ("two in a stop", [STALLED, STILL].repeat(5), &[8]),
        (
            "the second in a stop frees enough",
            { [STALLED, Effort { need: Need::AllocationStill, ..ENOUGH }].repeat(9) },
            none,
        ),
        ("young ones between", [YOUNG, YOUNG, STALLED].repeat(5), &[14]),
        ("young ones alone", times(YOUNG, 50), none),
        (
            "the running time before a young one counts",
            { [Effort { running: Duration::from_millis(4), ..YOUNG }, STALLED].repeat(9) },
            none,
        ),
        ("requested", times(REQUESTED, 50), none),
        ("requested ones between neither count nor end the row", [REQUESTED, STALLED].repeat(5), &[9]),
        (
            "the running time before a requested one counts",
            { [Effort { running: Duration::from_millis(4), ..REQUESTED }, STALLED].repeat(9) },
            none,
        ),
        (
            "a requested one frees enough",
            { [times(STALLED, 4), vec![Effort { need: Need::None, ..ENOUGH }], times(STALLED, 5)].concat() },
            &[9],
        ),
        ("zeal", times(ZEAL, 50), none),
        ("zeal between", [times(STALLED, 4), times(ZEAL, 1)].concat().repeat(5), none),
        ("the program waited once", [times(STALLED, 3), times(LATE, 1), times(STALLED, 2)].concat(), &[5]),
        ("the program waits each other time", [STALLED, LATE].repeat(9), none),
        (
            "it does something else, once exceeded",
            { [times(STALLED, 5), times(LATE, 1), times(STALLED, 2)].concat() },
            &[4, 7],
        ),
        ("suspended once", [times(CHEAP, 4), times(SUSPENDED, 1), times(CHEAP, 9)].concat(), none),
        ("suspended twice", [times(CHEAP, 4), times(SUSPENDED, 2), times(CHEAP, 9)].concat(), none),
    ];
    for (name, efforts, expected) in table {
        assert_eq!(exceeding(USUAL, efforts), *expected, "{name}");
    }
}

#[test]
fn limits_that_nothing_and_everything_exceeds() {
    let limits = |time_percent, free_percent| OverheadSettings { time_percent, free_percent };
    let full = Effort { free_bytes: 0, running: Duration::ZERO, ..STALLED };
    assert!(exceeding(limits(100, 100), &times(full, 50)).is_empty());
    assert!(exceeding(limits(0, 0), &times(full, 50)).is_empty());
    let free = Effort { free_bytes: HEAP - 1, ..LATE };
    assert_eq!(exceeding(limits(0, 100), &times(free, 6)), [4, 5]);
    let timeless = Effort { collecting: Duration::ZERO, running: Duration::ZERO, ..full };
    assert!(exceeding(limits(0, 100), &times(timeless, 50)).is_empty(), "a clock that stands still");
}

#[test]
fn an_embedder_that_releases_memory_gets_five_more_collections() {
    let mut limit = OverheadLimit::new(USUAL);
    let mut exceeds = |times: usize| (0..times).filter(|_| limit.after(&STALLED).exceeded).count();
    assert_eq!(exceeds(6), 2);
    limit.begin_anew();
    let mut exceeds = |times: usize| (0..times).filter(|_| limit.after(&STALLED).exceeded).count();
    assert_eq!((exceeds(4), exceeds(1)), (0, 1));
}

#[test]
fn the_collection_that_may_decide_is_known_before() {
    let mut limit = OverheadLimit::new(USUAL);
    let near = [STALLED; 6].map(|effort| {
        let near = limit.is_near();
        limit.after(&effort);
        near
    });
    assert_eq!(near, [false, false, false, false, true, true]);
    limit.after(&ENOUGH);
    assert!(!limit.is_near());
}

#[test]
fn the_measurement_is_in_the_result() {
    let mut limit = OverheadLimit::new(USUAL);
    limit.after(&Effort { running: Duration::from_millis(15), ..YOUNG });
    let overhead = limit.after(&Effort { running: Duration::ZERO, ..STALLED });
    assert_eq!((overhead.time_percent(), overhead.full_collections), (85.0, 1));
    assert!((overhead.free_percent() - 0.02).abs() < 0.001 && !overhead.exceeded);
    let text = "85.00% of the time in collections, 0.02% of the heap free, 1 of 5 in a row";
    assert_eq!(overhead.to_string(), text);
    let nothing = crate::mutator::GcOverhead::default();
    assert_eq!((nothing.time_percent(), nothing.free_percent()), (0.0, 0.0));
}

fn effort() -> impl Strategy<Value = Effort> {
    let need = prop_oneof![
        20 => Just(Need::Allocation),
        2 => Just(Need::AllocationStill),
        2 => Just(Need::None),
        1 => Just(Need::Test),
    ];
    let extent = prop_oneof![1 => Just(Extent::Young), 5 => Just(Extent::Full)];
    // Around the limits.
    let times = (prop_oneof![0..100_u64, Just(u64::MAX)], prop_oneof![3 => 0..3_u64, 1 => 0..100_u64]);
    (extent, need, times, 0..110_usize).prop_map(|(extent, need, (collecting, running), free)| Effort {
        extent,
        need,
        collecting: Duration::from_millis(collecting),
        running: Duration::from_millis(running),
        // Mostly below 2 %.
        free_bytes: HEAP / 5000 * free,
        heap_bytes: HEAP,
    })
}

/// Whether the last of these exceeds the limit, computed from the whole history.
fn exceeds(settings: OverheadSettings, history: &[Effort]) -> bool {
    let enough =
        |effort: &Effort| effort.free_bytes * 100 >= settings.free_percent as usize * effort.heap_bytes;
    let ends = |effort: &Effort| enough(effort) || effort.need == Need::Test;
    let row = &history[history.iter().rposition(ends).map_or(0, |index| index + 1)..];
    let counts = |effort: &Effort| effort.extent == Extent::Full && effort.need == Need::Allocation;
    if !row.last().is_some_and(counts) {
        return false;
    }
    let needed = |effort: &&Effort| effort.need != Need::None;
    let dear: Vec<bool> = row
        .split_inclusive(counts)
        .map(|part| {
            let collecting: u128 =
                part.iter().filter(needed).map(|effort| effort.collecting.as_nanos()).sum();
            let running: u128 = part.iter().map(|effort| effort.running.as_nanos()).sum();
            collecting * 100 > (collecting + running) * u128::from(settings.time_percent)
        })
        .collect();
    let last = dear.len().checked_sub(5).map(|first| &dear[first..]);
    last.is_some_and(|last| last[3] && last[4] && last.iter().filter(|&&dear| dear).count() >= 3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_history_is_judged_as_by_looking_back(
        history in prop::collection::vec(effort(), 1..40),
        time_percent in prop_oneof![Just(98_u32), 0..=100_u32],
        free_percent in prop_oneof![Just(2_u32), 0..=3_u32],
    ) {
        let settings = OverheadSettings { time_percent, free_percent };
        let expected: Vec<usize> =
            (0..history.len()).filter(|&index| exceeds(settings, &history[..=index])).collect();
        prop_assert_eq!(exceeding(settings, &history), expected);
    }

    #[test]
    fn whatever_was_before_a_heap_that_stalls_gives_up(
        history in prop::collection::vec(effort(), 0..20),
    ) {
        // The time since the last full collection may be cheap: one more collection.
        let stalls = times(STALLED, 8);
        let exceeding = exceeding(USUAL, &[history.clone(), stalls].concat());
        prop_assert!(exceeding.contains(&(history.len() + 5)), "{exceeding:?}");
    }
}
