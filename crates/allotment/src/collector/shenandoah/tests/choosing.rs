//! The collection set, by table and by properties.

use super::super::select::{Effort, FreeRegions, Measured, Selection, select, sort};
use super::*;
use crate::region::WantedRun;
use proptest::prelude::*;

const REGION: usize = MIB;
/// 100 regions, of which 5 are kept for copies.
const SPACE: FreeMemory = FreeMemory {
    region_bytes: REGION,
    capacity_bytes: 100 * MIB,
    free_bytes: 50 * MIB,
    immediate_bytes: 0,
    reserve_regions: 5,
};

fn settings(list: &str) -> ChooseSettings {
    ChooseSettings::from(&options(&format!("ShenandoahGCMode=generational {list}")))
}

/// Full regions with this percentage of garbage each.
fn regions(percents: &[usize]) -> Vec<Candidate> {
    let regions = percents.iter().enumerate();
    regions
        .map(|(region, percent)| {
            let garbage_bytes = REGION * percent / 100;
            Candidate { region, live_bytes: REGION - garbage_bytes, garbage_bytes }
        })
        .collect()
}

#[test]
fn settings_are_the_options() {
    let usual = ChooseSettings {
        garbage_percent: 25,
        ignore_percent: 5,
        immediate_percent: 70,
        min_free_percent: 10,
        reserve_percent: 5,
        waste: 1.2,
        old_garbage_percent: 25,
        expedite_mixed: 10,
        old_percent: 75,
        old_waste: 1.4,
    };
    assert_eq!(ChooseSettings::from(&Options::default()), usual);
    let list = "ShenandoahGarbageThreshold=7,ShenandoahIgnoreGarbageThreshold=6,ShenandoahImmediateThreshold=8,\
                ShenandoahMinFreeThreshold=9,ShenandoahEvacReserve=11,ShenandoahEvacWaste=2,\
                ShenandoahOldGarbageThreshold=12,ShenandoahExpediteMixedThreshold=14,ShenandoahOldEvacPercent=13,ShenandoahOldEvacWaste=3";
    let other = ChooseSettings {
        garbage_percent: 7,
        ignore_percent: 6,
        immediate_percent: 8,
        min_free_percent: 9,
        reserve_percent: 11,
        waste: 2.0,
        old_garbage_percent: 12,
        expedite_mixed: 14,
        old_percent: 13,
        old_waste: 3.0,
    };
    assert_eq!(settings(list), other);
}

#[test]
fn old_regions_by_table() {
    let usual = settings("");
    // Of 100 regions: 5 for young copies, and three times as many for old ones.
    assert_eq!(old_reserve(&usual, 5), 15);
    assert_eq!(old_reserve(&settings("ShenandoahOldEvacPercent=0"), 5), 0);
    assert_eq!(old_reserve(&settings("ShenandoahOldEvacPercent=100"), 5), usize::MAX);
    let numbers = |list: &str, percents: &[usize], reserve| {
        let chosen = choose_old(&regions(percents), &settings(list), REGION, reserve);
        chosen.iter().map(|candidate| candidate.region).collect::<Vec<_>>()
    };
    // 10, 20 and 30 % of a region live: 0.14, 0.42 and 0.84 regions of copies.
    assert_eq!(numbers("", &[90, 80, 70], 1), [0, 1, 2]);
    assert_eq!(numbers("", &[90, 80, 70, 60], 1), [0, 1, 2]);
    assert_eq!(numbers("ShenandoahOldEvacWaste=3", &[90, 80, 70], 1), [0, 1]);
    assert_eq!(numbers("", &[90, 80, 70], 0), [0; 0]);
    assert_eq!(numbers("", &[], 5), [0; 0]);
}

#[test]
fn the_set_by_table() {
    let enough = SPACE;
    let short = FreeMemory { free_bytes: 13 * MIB, ..SPACE };
    let table: &[(&str, &str, FreeMemory, &[usize], &[usize])] = &[
        ("nothing to choose from", "", enough, &[], &[]),
        ("most garbage first", "", enough, &[30, 90, 60], &[1, 2, 0]),
        ("equal ones by number", "", enough, &[60, 60, 60], &[0, 1, 2]),
        ("little garbage is left alone", "", enough, &[25, 26, 5, 0], &[1]),
        ("but not if memory is short", "", short, &[25, 26, 5, 4, 0], &[1, 0, 2]),
        ("until there is enough", "", short, &[90, 90, 20, 20], &[0, 1]),
        (
            "a threshold of 0",
            "ShenandoahGarbageThreshold=0,ShenandoahIgnoreGarbageThreshold=0",
            enough,
            &[0, 1, 2],
            &[2, 1],
        ),
        ("no more than the reserve holds", "", enough, &[40; 9], &[0, 1, 2, 3, 4, 5]),
        ("and with more waste less", "ShenandoahEvacWaste=2", enough, &[40; 9], &[0, 1, 2, 3]),
        ("no reserve", "", FreeMemory { reserve_regions: 0, ..SPACE }, &[90; 3], &[]),
        // 160 of 220 percent of a region.
        (
            "immediate garbage is enough",
            "",
            FreeMemory { immediate_bytes: REGION * 160 / 100, ..SPACE },
            &[30, 30],
            &[],
        ),
        ("just enough", "", FreeMemory { immediate_bytes: REGION * 140 / 100, ..SPACE }, &[30, 30], &[]),
        (
            "just too little",
            "",
            FreeMemory { immediate_bytes: REGION * 139 / 100, ..SPACE },
            &[30, 30],
            &[0, 1],
        ),
        ("no immediate garbage is never enough", "ShenandoahImmediateThreshold=0", enough, &[30], &[0]),
    ];
    for (name, list, space, percents, expected) in table {
        let mut candidates = regions(percents);
        let choice = choose(&mut candidates, &settings(list), space);
        let set: Vec<usize> = choice.set.iter().map(|candidate| candidate.region).collect();
        assert_eq!(set, *expected, "{name}");
    }
}

#[test]
fn a_choice_tells_its_numbers() {
    let space = FreeMemory { immediate_bytes: 5 * MIB, free_bytes: 2 * MIB, ..SPACE };
    let mut candidates = regions(&[100, 75, 50, 10, 100, 100, 100]);
    let choice = choose(&mut candidates, &settings("ShenandoahImmediateThreshold=60"), &space);
    let garbage = 4 * MIB + MIB * 75 / 100 + MIB * 50 / 100 + MIB * 10 / 100;
    assert_eq!((choice.garbage_bytes, choice.live_bytes), (garbage, 7 * MIB - garbage));
    // 10 regions of capacity and what may be copied, less what is free.
    assert_eq!(choice.wanted_bytes, 10 * MIB + 5 * MIB * 10 / 12 - 7 * MIB);
    assert_eq!((choice.set.is_empty(), choice.copy_regions), (false, 2));
    let enough = choose(&mut candidates, &settings("ShenandoahImmediateThreshold=40"), &space);
    assert!(enough.set.is_empty());
}

#[test]
fn a_reserve_is_whole_regions_and_at_least_one() {
    for (percent, capacity, expected) in
        [(5, 0, 1), (5, 10, 1), (5, 20, 1), (5, 21, 2), (5, 100, 5), (100, 100, 100), (1, 2048, 21)]
    {
        let settings = settings(&format!("ShenandoahEvacReserve={percent}"));
        assert_eq!(
            reserve_regions(&settings, REGION, capacity * REGION),
            expected,
            "{percent} of {capacity}"
        );
    }
    for (live, expected) in [(0, 0), (1, 1), (REGION * 5 / 6, 1), (REGION, 2), (10 * REGION, 12)] {
        assert_eq!(copy_regions(settings("").waste, REGION, live), expected, "{live}");
    }
}

fn candidate() -> impl Strategy<Value = (usize, usize)> {
    (0..=REGION).prop_flat_map(|used| (0..=used).prop_map(move |live| (live, used - live)))
}

proptest! {
    #[test]
    fn every_set_is_worth_its_copies_and_fits(
        regions in prop::collection::vec(candidate(), 0..60),
        (free, immediate) in (0..=100_usize, 0..=30_usize),
        reserve in 0..20_usize,
        (garbage_percent, ignore_percent) in (0..=100_usize, 0..=100_usize),
        waste in 1.0..3.0_f64,
    ) {
        let settings = ChooseSettings { garbage_percent, ignore_percent, waste, ..settings("") };
        let space = FreeMemory {
            free_bytes: free * MIB,
            immediate_bytes: immediate * MIB,
            reserve_regions: reserve,
            ..SPACE
        };
        let mut candidates: Vec<Candidate> = regions.iter().enumerate()
            .map(|(region, &(live_bytes, garbage_bytes))| Candidate { region, live_bytes, garbage_bytes })
            .collect();
        let choice = choose(&mut candidates, &settings, &space);
        let sum = |bytes: fn(&(usize, usize)) -> usize| {
            choice.set.iter().map(|candidate| bytes(&regions[candidate.region])).sum::<usize>()
        };
        prop_assert_eq!((choice.live_bytes, choice.garbage_bytes), (sum(|pair| pair.0), sum(|pair| pair.1)));
        prop_assert!(choice.copy_regions <= reserve);
        prop_assert_eq!(choice.copy_regions, copy_regions(waste, REGION, choice.live_bytes));
        let mut distinct: Vec<usize> = choice.set.iter().map(|candidate| candidate.region).collect();
        distinct.sort_unstable();
        distinct.dedup();
        prop_assert_eq!(distinct.len(), choice.set.len());
        prop_assert!(choice.set.is_sorted_by_key(|candidate| std::cmp::Reverse(candidate.garbage_bytes)));
        let mut before = 0;
        for candidate in &choice.set {
            let garbage = candidate.garbage_bytes;
            prop_assert!(garbage > 0 && garbage >= REGION * ignore_percent / 100);
            prop_assert!(garbage > REGION * garbage_percent / 100 || before < choice.wanted_bytes);
            before += garbage;
        }
        // The order of the candidates does not matter.
        candidates.reverse();
        prop_assert_eq!(choose(&mut candidates, &settings, &space), choice);
    }
}

#[test]
fn sets_shrink_from_their_ends_old_ones_first_until_the_copies_fit() {
    let candidate = |region| Candidate { region, live_bytes: REGION / 2, garbage_bytes: REGION / 2 };
    let all = settings("ShenandoahEvacWaste=1,ShenandoahOldEvacWaste=1");
    for (room, young, old) in [(9, 4, 2), (3, 4, 2), (2, 4, 0), (1, 2, 0), (0, 0, 0)] {
        let (set, old_set) = ((0..4).map(candidate).collect(), (4..6).map(candidate).collect());
        let selection = Selection {
            set,
            skips: false,
            old_set,
            settings: all,
            region_bytes: REGION,
            old_candidates: vec![],
        };
        let expected: Vec<usize> = (0..young).chain(4..4 + old).collect();
        assert_eq!(selection.fitting(room), expected, "{room} regions");
    }
}

/// Measured regions go where their garbage and their age send them.
#[test]
fn measured_regions_are_sorted_by_what_becomes_of_them() {
    let full = Measured { region: 0, used_bytes: 100, live_bytes: 90, young_age: Some(0), may_move: true };
    let measured = [
        Measured { region: 1, live_bytes: 0, ..full },
        Measured { region: 2, ..full },
        Measured { region: 3, young_age: Some(4), ..full },
        // Too much garbage to become old as it is.
        Measured { region: 4, young_age: Some(4), live_bytes: 10, ..full },
        Measured { region: 5, young_age: None, ..full },
        Measured { region: 6, may_move: false, ..full },
        Measured { region: 7, young_age: Some(4), may_move: false, ..full },
    ];
    for (threshold, promoted, others) in [
        (Some(4), vec![3, 7], vec![2, 4, 5]),
        (Some(5), vec![], vec![2, 3, 4, 5]),
        (None, vec![], vec![2, 3, 4, 5]),
    ] {
        let mut sorted = sort(&measured, threshold, 25);
        assert_eq!((&sorted.immediate, &sorted.promoted), (&vec![1], &promoted), "{threshold:?}");
        // With `ZealMove` all that can move does.
        let memory = FreeRegions {
            region_bytes: 100,
            heap_bytes: 10_000,
            free_regions: 50,
            regions_left: 50,
            reserve_regions: 5,
            regions_to_next: 50,
            wanted_run: None,
        };
        let options = settings("");
        let selection = select(&mut sorted, &[], &options, Effort::All, &memory, |region| region == 5);
        let old: Vec<usize> = selection.old_candidates.iter().map(|candidate| candidate.region).collect();
        assert_eq!(old, [5]);
        let mut set = selection.fitting(usize::MAX);
        set.sort_unstable();
        assert_eq!(set, others, "{threshold:?}");
    }
}

/// A region of 100 bytes with 20 bytes of garbage.
fn few(region: usize) -> Measured {
    Measured { region, used_bytes: 100, live_bytes: 80, young_age: Some(0), may_move: true }
}

/// So little is free that even regions with little garbage are chosen.
fn memory(regions_to_next: usize) -> FreeRegions {
    FreeRegions {
        region_bytes: 100,
        heap_bytes: 10_000,
        free_regions: 9,
        regions_left: 0,
        reserve_regions: 5,
        regions_to_next,
        wanted_run: None,
    }
}

/// The regions that move, where some would be worth a move.
fn set_of(
    measured: &[Measured],
    memory: FreeRegions,
    options: &ChooseSettings,
    effort: Effort,
    waiting: &[Candidate],
    is_old: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut sorted = sort(measured, None, 25);
    let selection = select(&mut sorted, waiting, options, effort, &memory, is_old);
    assert_eq!(selection.skips, selection.set.is_empty() && selection.old_set.is_empty());
    selection.fitting(usize::MAX)
}

/// The garbage that a move has to free depends on the memory that is free without it.
#[test]
fn a_set_moves_if_it_frees_a_quarter_of_what_is_left_without_it() {
    // 40 bytes of garbage in the first two, and 100 in the third.
    let measured = [few(1), few(2), Measured { live_bytes: 0, ..few(3) }];
    let set = |regions_to_next, effort, waiting: &[Candidate]| {
        set_of(&measured[..2], memory(regions_to_next), &settings(""), effort, waiting, |_| false)
    };
    for (regions_to_next, expected) in [(0, vec![1, 2]), (1, vec![1, 2]), (2, vec![])] {
        assert_eq!(set(regions_to_next, Effort::Usual, &[]), expected, "{regions_to_next}");
        assert_eq!(set(regions_to_next, Effort::Thorough, &[]), [1, 2], "{regions_to_next}");
    }
    // Old regions that move make an update necessary in any case.
    let old = Candidate { region: 7, live_bytes: 50, garbage_bytes: 50 };
    assert_eq!(set(2, Effort::Usual, &[old]), [1, 2, 7]);
    // Immediate garbage is free without a move.
    let all = settings("ShenandoahImmediateThreshold=100");
    let with_immediate = |memory| set_of(&measured, memory, &all, Effort::Usual, &[], |_| false);
    assert!(with_immediate(memory(1)).is_empty(), "40 bytes of 200");
    // It need not make runs of regions: a program that wants some has those that are free.
    for (free_bytes, expected) in [(0, vec![1, 2]), (160, vec![1, 2]), (161, vec![])] {
        let wanted_run = Some(WantedRun { regions: 2, free_bytes });
        let memory = FreeRegions { wanted_run, ..memory(9) };
        assert_eq!(with_immediate(memory), expected, "{free_bytes}");
    }
}

/// Otherwise the next cycle, which begins at once for the old regions, would update all slots for
/// these alone.
#[test]
fn a_set_moves_if_a_cycle_for_old_regions_follows_at_once() {
    let measured = [few(1), few(2)];
    let options = settings("ShenandoahExpediteMixedThreshold=1,ShenandoahOldGarbageThreshold=20");
    for (old, expected) in [(0..0, vec![]), (1..2, vec![]), (1..3, vec![1, 2])] {
        let is_old = |region: usize| old.contains(&region);
        let set = set_of(&measured, memory(2), &options, Effort::Usual, &[], is_old);
        assert_eq!(set, expected, "{old:?}");
    }
}
