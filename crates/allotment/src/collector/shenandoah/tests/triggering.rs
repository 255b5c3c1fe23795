//! The rules of the trigger one by one, and what cycles teach it.

use super::*;
use proptest::prelude::*;

const HEAP: usize = 1000 * MIB;
const CONCURRENT: Ended = Ended {
    ended: Duration::from_millis(20),
    time: Duration::from_millis(20),
    kind: CycleKind::Concurrent,
    was_behind: false,
    taken_bytes: 0,
    freed_bytes: HEAP,
    free_bytes: 600 * MIB,
    capacity_bytes: HEAP,
    left_bytes: 600 * MIB,
};

fn trigger(list: &str) -> Trigger {
    Trigger::new(TriggerSettings::from(&options(list)))
}

/// A trigger that learnt cycles of 20 ms that leave 600 MiB, then a rate of 1 MiB a millisecond.
/// Returns the time and the bytes that were allocated until then.
fn learnt(list: &str) -> (Trigger, Duration, u64) {
    let mut trigger = trigger(list);
    for free in [600, 590, 610, 600, 600] {
        trigger.cycle_ended(Ended { free_bytes: free * MIB, ..CONCURRENT });
    }
    for tick in 0..=50 {
        assert_eq!(trigger.look(ms(20 + 10 * tick), 600 * MIB, HEAP, 10 * tick * MIB as u64), None);
    }
    (trigger, ms(520), 500 * MIB as u64)
}

#[test]
fn settings_are_the_options() {
    let usual = TriggerSettings {
        min_free_percent: 10,
        init_free_percent: 70,
        learning_steps: 5,
        spike_percent: 5,
        guaranteed_interval: Duration::from_secs(300),
    };
    assert_eq!(TriggerSettings::from(&Options::default()), usual);
    let list = "ShenandoahMinFreeThreshold=1,ShenandoahInitFreeThreshold=2,ShenandoahLearningSteps=3,\
                ShenandoahAllocSpikeFactor=4,ShenandoahGuaranteedGCInterval=0";
    let other = TriggerSettings {
        min_free_percent: 1,
        init_free_percent: 2,
        learning_steps: 3,
        spike_percent: 4,
        guaranteed_interval: Duration::ZERO,
    };
    assert_eq!(TriggerSettings::from(&options(list)), other);
}

#[test]
fn little_free_memory_comes_first() {
    let mut trigger = trigger("");
    let free_bytes = 100 * MIB - 1;
    let reason = trigger.look(ms(1), free_bytes, HEAP, 1);
    assert_eq!(reason, Some(Reason::MinFree { free_bytes, least_bytes: 100 * MIB }));
    let text = "Trigger: Free (48M) is below minimum threshold (51M)";
    let reason = Reason::MinFree { free_bytes: 48 * MIB, least_bytes: 51 * MIB };
    assert_eq!(reason.to_string(), text);
}

#[test]
fn the_first_cycles_begin_early_each_a_little_later() {
    let mut trigger = trigger("ShenandoahLearningSteps=3");
    assert_eq!(trigger.look(ms(1), 700 * MIB, HEAP, 1), None);
    for (step, percent) in [(1, 70), (2, 50), (3, 30)] {
        let least_bytes = percent * 10 * MIB;
        let allocated = step * 100 * MIB as u64;
        assert_eq!(trigger.look(ms(1), least_bytes, HEAP, allocated), None, "{step}");
        let (step, free_bytes) = (step as usize, least_bytes - 1);
        let reason = trigger.look(ms(1), free_bytes, HEAP, allocated);
        assert_eq!(reason, Some(Reason::Learning { step, steps: 3, free_bytes, least_bytes }));
        trigger.cycle_ended(CONCURRENT);
    }
    assert_eq!(trigger.look(ms(1), 101 * MIB, HEAP, 400 * MIB as u64), None);
    let reason = Reason::Learning { step: 1, steps: 5, free_bytes: 691 * MIB, least_bytes: 716 * MIB };
    let text = "Trigger: Learning 1 of 5. Free (691M) is below initial threshold (716M)";
    assert_eq!(reason.to_string(), text);
}

#[test]
fn a_first_threshold_below_the_least_is_for_all_steps() {
    let list = "ShenandoahInitFreeThreshold=20,ShenandoahMinFreeThreshold=30";
    let mut trigger = trigger(list);
    for step in 1..=9_u64 {
        let reason = trigger.look(ms(1), 250 * MIB, HEAP, step * 100 * MIB as u64);
        assert!(matches!(reason, Some(Reason::MinFree { .. })), "{reason:?}");
        trigger.cycle_ended(CONCURRENT);
    }
}

/// A heap that has never had a cycle in time. The trigger knows how long a cycle takes, and begins
/// the next one as early as it can.
#[test]
fn cycles_that_were_not_in_time_teach_at_once() {
    for kind in [CycleKind::Degenerated, CycleKind::Full] {
        let mut trigger = trigger("");
        trigger.cycle_ended(Ended { kind, taken_bytes: 450 * MIB, ..CONCURRENT });
        // A sixteenth of 600 MiB later.
        let reason = trigger.look(ms(30), 500 * MIB, HEAP, 100 * MIB as u64);
        assert!(matches!(reason, Some(Reason::Learning { step: 2, .. })), "{reason:?}");
        for _ in 0..4 {
            trigger.cycle_ended(CONCURRENT);
        }
        let reason = trigger.look(ms(30), 500 * MIB, HEAP, 200 * MIB as u64);
        let Some(Reason::Demand { demand_bytes, headroom }) = reason else { panic!("{reason:?}") };
        assert!((600 * MIB..900 * MIB).contains(&demand_bytes), "{demand_bytes}");
        assert!((1..20).contains(&(headroom.penalty_bytes / (10 * MIB))), "{headroom}");
        for _ in 0..26 {
            trigger.cycle_ended(Ended { kind, ..CONCURRENT });
        }
        let reason = trigger.look(ms(30), 500 * MIB, HEAP, 300 * MIB as u64);
        assert!(!matches!(reason, Some(Reason::Learning { .. }) | None), "{reason:?}");
    }
}

#[test]
fn what_mutators_took_while_a_cycle_ran_is_kept_for_the_next() {
    let (mut trigger, now, allocated) = learnt("ShenandoahMinFreeThreshold=0");
    assert_eq!(trigger.look(now, 300 * MIB, HEAP, allocated), None);
    trigger.cycle_ended(Ended { taken_bytes: 250 * MIB, ..CONCURRENT });
    assert_eq!(trigger.demand_bytes(), 250 * MIB);
    let allocated = allocated + 100 * MIB as u64;
    assert_eq!(trigger.look(now + ms(100), 300 * MIB, HEAP, allocated), None);
    let reason = trigger.look(now + ms(100), 300 * MIB - 1, HEAP, allocated);
    let expected = Headroom { free_bytes: 300 * MIB - 1, spike_bytes: 50 * MIB, penalty_bytes: 0 };
    assert_eq!(reason, Some(Reason::Demand { demand_bytes: 250 * MIB, headroom: expected }));
    let text = "Trigger: Free headroom (249M: 299M free - 50M spike - 0B penalties) is below the allocation during a \
                recent GC (250M)";
    assert_eq!(reason.map(|reason| reason.to_string()).as_deref(), Some(text));
    // It fades with cycles that see less, not with those that are nearly too late.
    trigger.cycle_ended(Ended { taken_bytes: 90 * MIB, was_behind: true, ..CONCURRENT });
    assert_eq!(trigger.demand_bytes(), 250 * MIB);
    trigger.cycle_ended(Ended { taken_bytes: 90 * MIB, ..CONCURRENT });
    assert_eq!(trigger.demand_bytes(), 240 * MIB);
}

#[test]
fn runs_for_humongous_objects_are_used_up_by_half_at_least() {
    let (mut trigger, now, allocated) = learnt("ShenandoahAllocSpikeFactor=0");
    let look = |trigger: &mut Trigger, free| trigger.look_for_runs(8, free * MIB, MIB);
    // One more object, and nothing is known about what a cycle takes.
    assert_eq!([100, 50, 8].map(|free| look(&mut trigger, free)), [None, None, None]);
    let reason = look(&mut trigger, 7);
    let expected = Reason::Runs { regions: 8, free_bytes: 7 * MIB, least_bytes: 8 * MIB };
    assert_eq!(reason, Some(expected));
    let text = "Trigger: Free in runs of 8 regions (7168K) is below threshold (8192K)";
    assert_eq!(reason.map(|reason| reason.to_string()).as_deref(), Some(text));
    trigger.cycle_ended(Ended { taken_bytes: 42 * MIB, ..CONCURRENT });
    // Nothing was allocated since.
    assert_eq!([120, 0].map(|free| look(&mut trigger, free)), [None, None]);
    assert_eq!(trigger.look(now, 500 * MIB, HEAP, allocated + 50 * MIB as u64), None);
    assert_eq!(look(&mut trigger, 50), None);
    assert!(look(&mut trigger, 49).is_some());
    // A cycle that leaves hardly any runs makes no other one necessary at once.
    trigger.cycle_ended(Ended { taken_bytes: 42 * MIB, ..CONCURRENT });
    assert_eq!(trigger.look(now, 500 * MIB, HEAP, allocated + 100 * MIB as u64), None);
    assert_eq!([16, 8].map(|free| look(&mut trigger, free)), [None, None]);
    assert!(look(&mut trigger, 7).is_some());
    trigger.cycle_ended(CONCURRENT);
    assert_eq!(trigger.look(now, 500 * MIB, HEAP, allocated + 150 * MIB as u64), None);
    assert_eq!(look(&mut trigger, 0), None);
    // 50 MiB are kept for bursts, too.
    let (mut usual, ..) = learnt("");
    assert_eq!([300, 58].map(|free| look(&mut usual, free)), [None, None]);
    assert!(look(&mut usual, 57).is_some());
}

#[test]
fn cycles_that_gain_nothing_begin_later_and_are_told_once() {
    let mut trigger = trigger("");
    let mut allocated = 0;
    // In sixteenths of the 160 MiB that each leaves.
    for (cycle, sixteenths) in [1, 1, 2, 4, 8, 8, 8].into_iter().enumerate() {
        let least = sixteenths * 10 * MIB as u64;
        if cycle > 0 {
            let reason = trigger.look(ms(100), 80 * MIB, HEAP, allocated + least - 1);
            assert_eq!(reason, None, "{cycle}");
        }
        allocated += least;
        assert!(trigger.look(ms(100), 80 * MIB, HEAP, allocated).is_some(), "{cycle}");
        let freed_bytes = least as usize / 16 - 1;
        let advice = trigger.cycle_ended(Ended {
            time: Duration::ZERO,
            freed_bytes,
            free_bytes: 160 * MIB,
            left_bytes: 160 * MIB,
            ..CONCURRENT
        });
        let expected = Advice::Fruitless { cycles: 4, left_bytes: 160 * MIB };
        assert_eq!(advice, (cycle == 3).then_some(expected), "{cycle}");
    }
    // One that gains is enough.
    trigger.cycle_ended(Ended { free_bytes: 160 * MIB, ..CONCURRENT });
    assert!(trigger.look(ms(100), 80 * MIB, HEAP, allocated + 10 * MIB as u64).is_some());
}

#[test]
fn at_the_mean_rate_a_cycle_begins_when_it_still_fits() {
    // 20 MiB in a cycle, and 50 MiB for bursts; ShenandoahMinFreeThreshold is out of the way.
    let list = "ShenandoahMinFreeThreshold=0";
    let (mut trigger, now, allocated) = learnt(list);
    assert_eq!(trigger.look(now, 71 * MIB, HEAP, allocated), None);
    let Some(Reason::AverageRate { cycle, rate, headroom, margin }) =
        trigger.look(now, 69 * MIB, HEAP, allocated)
    else {
        panic!("no cycle begins");
    };
    assert_eq!((cycle, margin), (ms(20), 1.8));
    assert!((rate / (1000 * MIB) as f64 - 1.0).abs() < 0.001, "{rate}");
    let expected = Headroom { free_bytes: 69 * MIB, spike_bytes: 50 * MIB, penalty_bytes: 0 };
    assert_eq!((headroom, headroom.bytes()), (expected, 19 * MIB));

    let reason = Reason::AverageRate { cycle, rate: (500 * MIB) as f64, headroom, margin };
    let text = "Trigger: Average GC time (20.00 ms) is above the time for average allocation rate (500M/s) to \
                deplete free headroom (19M: 69M free - 50M spike - 0B penalties) (margin of error = 1.80)";
    assert_eq!(reason.to_string(), text);
}

#[test]
fn an_unusual_rate_begins_a_cycle_before_the_mean_has_followed() {
    let (mut trigger, now, allocated) = learnt("ShenandoahMinFreeThreshold=0");
    // 16 MiB in a millisecond: 320 MiB in a cycle.
    let (now, allocated) = (now + ms(1), allocated + 16 * MIB as u64);
    let reason = trigger.look(now, 300 * MIB, HEAP, allocated);
    let Some(Reason::Spike { cycle, rate, headroom, threshold }) = reason else {
        panic!("{reason:?}");
    };
    assert_eq!((cycle, rate, threshold), (ms(20), (16_000 * MIB) as f64, 1.8));
    assert_eq!(headroom.bytes(), 250 * MIB);
    let text = reason.map(|reason| reason.to_string()).unwrap_or_default();
    let expected = "instantaneous allocation rate (15G/s) to deplete free headroom (250M: 300M free - 50M spike - 0B \
                    penalties) (spike threshold = 1.80)";
    assert!(text.ends_with(expected), "{text}");
    // With room for it, nothing is urgent.
    let (mut trigger, ..) = learnt("");
    assert_eq!(trigger.look(now, 400 * MIB, HEAP, allocated), None);
}

#[test]
fn the_interval_counts_from_the_last_cycle_and_0_is_never() {
    let mut idle = trigger("ShenandoahGuaranteedGCInterval=1000");
    assert_eq!(idle.look(ms(1000), HEAP, HEAP, 0), None);
    let (since, interval) = (ms(1001), ms(1000));
    let reason = Reason::GuaranteedInterval { since, interval };
    assert_eq!(idle.look(ms(1001), HEAP, HEAP, 0), Some(reason.clone()));
    let text = "Trigger: Time since last GC (1001 ms) is larger than guaranteed interval (1000 ms)";
    assert_eq!(reason.to_string(), text);
    idle.cycle_ended(Ended { ended: ms(1500), ..CONCURRENT });
    assert_eq!(idle.look(ms(2500), HEAP, HEAP, 0), None);
    assert!(idle.look(ms(2501), HEAP, HEAP, 0).is_some());
    assert_eq!(trigger("ShenandoahGuaranteedGCInterval=0").look(ms(u64::MAX), HEAP, HEAP, 0), None);
}

#[test]
fn without_new_objects_only_time_begins_a_cycle() {
    let mut trigger = trigger("");
    for kind in [CycleKind::Concurrent, CycleKind::Degenerated, CycleKind::Full].repeat(9) {
        trigger.cycle_ended(Ended { kind, free_bytes: 16 * MIB, ..CONCURRENT });
    }
    for free in [0, 16 * MIB, 600 * MIB] {
        assert_eq!(trigger.look(ms(100), free, HEAP, 0), None);
    }
    // A sixteenth of what the last cycle left is worth another.
    assert_eq!(trigger.look(ms(100), 15 * MIB, HEAP, MIB as u64 - 1), None);
    assert!(trigger.look(ms(100), 15 * MIB, HEAP, MIB as u64).is_some());
}

#[test]
fn cycles_that_come_too_late_widen_the_margins() {
    let mut trigger = trigger("");
    let mut parameters = |kind| {
        trigger.cycle_ended(Ended { kind, ..CONCURRENT });
        let (margin, threshold, penalty) = trigger.parameters();
        ((margin * 10.0).round() as usize, (threshold * 10.0).round() as usize, penalty)
    };
    assert_eq!(parameters(CycleKind::Concurrent), (18, 18, 0));
    assert_eq!(parameters(CycleKind::Degenerated), (19, 17, 10));
    assert_eq!(parameters(CycleKind::Full), (21, 15, 30));
    assert_eq!(parameters(CycleKind::Concurrent), (21, 15, 27));
    assert_eq!(parameters(CycleKind::Abbreviated), (21, 15, 24));
    assert_eq!(parameters(CycleKind::Skipped), (21, 15, 21));
    for _ in 0..20 {
        parameters(CycleKind::Full);
    }
    assert_eq!(parameters(CycleKind::Degenerated), (33, 3, 100));
}

/// The parameters after a cycle that began with `free` MiB, at a rate in MiB a millisecond,
/// and that left `free_after` MiB, where 600 MiB are usual.
fn parameters_after(rate: u64, free: usize, free_after: usize) -> (f64, f64, usize) {
    let (mut trigger, now, allocated) = learnt("ShenandoahMinFreeThreshold=0");
    let (now, allocated) = (now + ms(10), allocated + rate * 10 * MIB as u64);
    assert!(trigger.look(now, free * MIB, HEAP, allocated).is_some());
    // Looks before the end of the cycle may find other reasons.
    trigger.look(now, 0, HEAP, allocated);
    trigger.cycle_ended(Ended { free_bytes: free_after * MIB, ..CONCURRENT });
    trigger.parameters()
}

#[test]
fn what_is_free_after_a_cycle_moves_the_margin_of_the_rule_that_asked() {
    // At the mean rate.
    let (margin, threshold, _) = parameters_after(1, 60, 500);
    assert!(margin > 1.8 && threshold == 1.8, "{margin}, {threshold}");
    let (margin, threshold, _) = parameters_after(1, 60, 700);
    assert!(margin < 1.8 && threshold == 1.8, "{margin}, {threshold}");
    assert_eq!(parameters_after(1, 60, 600), (1.8, 1.8, 0));
    // At an unusual rate.
    let (margin, threshold, _) = parameters_after(16, 300, 500);
    assert!(margin == 1.8 && threshold < 1.8, "{margin}, {threshold}");
    let (margin, threshold, _) = parameters_after(16, 300, 700);
    assert!(margin == 1.8 && threshold > 1.8, "{margin}, {threshold}");
    // However unusual it is, it is one cycle.
    let (margin, ..) = parameters_after(1, 60, 0);
    assert!((margin - 1.9).abs() < 1e-9, "{margin}");
}

#[test]
fn a_cycle_that_no_rule_asked_for_moves_no_margin() {
    let mut trigger = trigger("");
    for free in [580, 620, 600, 0, 1000] {
        trigger.cycle_ended(Ended { free_bytes: free * MIB, ..CONCURRENT });
        assert_eq!(trigger.parameters(), (1.8, 1.8, 0));
    }
}

proptest! {
    #[test]
    fn whatever_happens_the_parameters_stay_in_their_bounds(
        history in prop::collection::vec((0..5_usize, 0..=HEAP, 0..100_u64, 0..(1_u64 << 30)), 1..60),
    ) {
        let mut trigger = trigger("");
        let (mut now, mut allocated) = (Duration::ZERO, 0);
        for (kind, free_bytes, time, bytes) in history {
            (now, allocated) = (now + ms(time), allocated + bytes);
            let reason = trigger.look(now, free_bytes, HEAP, allocated);
            if free_bytes < HEAP / 10 && bytes as usize > HEAP / 2 {
                prop_assert!(matches!(reason, Some(Reason::MinFree { .. })), "{reason:?}");
            }
            prop_assert!(bytes > 0 || reason.is_none(), "{reason:?}");
            let kinds = [
                CycleKind::Concurrent,
                CycleKind::Abbreviated,
                CycleKind::Skipped,
                CycleKind::Degenerated,
                CycleKind::Full,
            ];
            now += ms(time);
            trigger.cycle_ended(Ended {
                ended: now,
                time: ms(time),
                kind: kinds[kind],
                was_behind: time % 2 == 0,
                taken_bytes: bytes as usize,
                freed_bytes: free_bytes,
                free_bytes,
                capacity_bytes: HEAP,
                left_bytes: free_bytes,
            });
            prop_assert!(trigger.demand_bytes() <= HEAP);
            let (margin, threshold, penalty) = trigger.parameters();
            for deviations in [margin, threshold] {
                prop_assert!((0.319..=3.291).contains(&deviations), "{deviations}");
            }
            prop_assert!(penalty <= 100);
        }
        // All come back with cycles in time.
        let bad = trigger.parameters();
        for _ in 0..200 {
            now += ms(100);
            trigger.cycle_ended(Ended { ended: now, ..CONCURRENT });
        }
        let (margin, threshold, penalty) = trigger.parameters();
        prop_assert_eq!((margin, threshold, penalty), (bad.0, bad.1, 0));
        prop_assert!(trigger.demand_bytes() < HEAP / 1000);
    }
}
