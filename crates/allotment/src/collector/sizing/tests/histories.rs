//! The properties of every decision, for every history.

use super::*;
use proptest::prelude::*;

const REGIONS: usize = 400;
const REGION: usize = 256 * KIB;

/// A possible collection of a heap of [`REGIONS`].
fn collection() -> impl Strategy<Value = Collection> {
    let times = (0..50_000_000_u64, 0..50_000_000_u64);
    let sizes = (0..100_usize, prop::collection::vec(0..2 * MIB, 3), 0..8 * MIB, 0..2 * MIB);
    let heap = (0..=REGIONS, 0..20_usize, 0..200_usize, prop::bool::weighted(0.05));
    (times, sizes, heap, prop::bool::weighted(0.2)).prop_map(|(times, sizes, heap, full)| {
        let (free, humongous, threads, fails) = heap;
        let used = (REGIONS - free) * REGION;
        let mut survived = [0; AGES];
        if !full {
            for (bytes, age) in sizes.1.iter().zip([1, 2, 9]) {
                survived[age] = (*bytes).min(used / 4);
            }
        }
        Collection {
            extent: if full { Extent::Full } else { Extent::Young },
            pause_ns: times.0,
            mutator_ns: times.1,
            eden_regions: sizes.0,
            survived,
            promoted_bytes: if full { 0 } else { sizes.2 },
            stayed_bytes: if full { 0 } else { sizes.2 / 2 },
            failed_bytes: if fails { sizes.3 } else { 0 },
            scanned_bytes: sizes.3,
            old_bytes: used / 2,
            humongous_regions: humongous,
            live_bytes: if full { used / 2 } else { 0 },
            free_regions: free,
            threads,
            weak_handles: threads / 2,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_decision_can_be_followed(
        history in prop::collection::vec(collection(), 1..40),
        max_age in 0..=15_usize,
        max_new in prop_oneof![Just(0), 256 * KIB..50 * MIB],
        goal in 0..3_usize,
        free_ratio in 0..=95_usize,
    ) {
        let list = format!(
            "MaxTenuringThreshold={max_age},MaxNewSize={max_new},MaxGCPauseMillis={goal},MinHeapFreeRatio={free_ratio}"
        );
        let machine = machine(REGIONS * REGION, REGION);
        let mut sizing = Sizing::new(settings(&list), machine);
        let mut threshold = sizing.first(1).tenuring_threshold;
        prop_assert_eq!(usize::from(threshold), max_age.min(7));
        for done in &history {
            let same = sizing.clone().after(done);
            let next = sizing.after(done);
            prop_assert_eq!(&same, &next);
            prop_assert!(next.eden_regions >= 1 && next.eden_regions <= done.free_regions.max(1), "{}", next);
            prop_assert!((1..=REGIONS).contains(&next.capacity_regions));
            prop_assert!((1..=machine.workers).contains(&sizing.worker_demand(next.eden_regions, done.threads).workers));
            prop_assert!(next.survivor_limit_bytes >= REGION);
            prop_assert!(usize::from(next.tenuring_threshold) <= max_age);
            prop_assert!(next.tenuring_threshold <= threshold + 1);
            prop_assert!(max_age == 0 || next.tenuring_threshold >= 1);
            threshold = next.tenuring_threshold;
            let survivors = machine.regions_of(done.survivor_bytes());
            if max_new != 0 {
                let most = machine.regions_of(max_new).saturating_sub(survivors).max(1);
                prop_assert!(next.eden_regions <= most, "{}", next);
            }
            if !next.full {
                let needed = next.eden_regions + sizing.survival.reserve(next.eden_regions, &machine, sizing.worker_demand(next.eden_regions, done.threads).workers);
                prop_assert!(needed <= done.free_regions, "{} => {}", done, next);
                prop_assert!(needed + REGIONS - done.free_regions <= next.capacity_regions, "{} => {}", done, next);
            }
            if done.extent == Extent::Full {
                let idle = |reason: &Reason| !matches!(
                    reason,
                    Reason::FullWorth { .. } | Reason::FullCheaper { .. } | Reason::FullAfterFailure { .. }
                );
                prop_assert!(next.reasons.iter().all(idle), "{}", next);
            }
            let why = next.reasons.iter().filter(|reason| reason.to_string().starts_with("full next")).count();
            prop_assert_eq!(why, usize::from(next.full));
            prop_assert_eq!(format!("{done} => {next}").lines().count(), 1);
        }
    }
}
