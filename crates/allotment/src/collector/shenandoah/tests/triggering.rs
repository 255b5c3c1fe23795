//! The rules of the trigger one by one, and what cycles teach it.

use super::*;
use proptest::prelude::*;

const HEAP: usize = 1000 * MIB;
const CONCURRENT: Ended = Ended {
    began: Duration::ZERO,
    ended: Duration::from_millis(20),
    kind: CycleKind::Concurrent,
    free_bytes: 600 * MIB,
    capacity_bytes: HEAP,
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
fn the_first_cycles_begin_early() {
    let mut trigger = trigger("ShenandoahLearningSteps=2");
    let least_bytes = 700 * MIB;
    assert_eq!(trigger.look(ms(1), least_bytes, HEAP, 1), None);
    let free_bytes = least_bytes - 1;
    for step in 1..=2 {
        let reason = trigger.look(ms(1), free_bytes, HEAP, step * 100 * MIB as u64);
        let step = step as usize;
        assert_eq!(reason, Some(Reason::Learning { step, steps: 2, free_bytes, least_bytes }));
        trigger.cycle_ended(CONCURRENT);
    }
    assert_eq!(trigger.look(ms(1), free_bytes, HEAP, 300 * MIB as u64), None);
    let reason = Reason::Learning { step: 1, steps: 5, free_bytes: 691 * MIB, least_bytes: 716 * MIB };
    let text = "Trigger: Learning 1 of 5. Free (691M) is below initial threshold (716M)";
    assert_eq!(reason.to_string(), text);
}

#[test]
fn cycles_that_were_not_in_time_are_none_to_learn_from() {
    let mut trigger = trigger("");
    for kind in [CycleKind::Full, CycleKind::Degenerated].repeat(9) {
        trigger.cycle_ended(Ended { kind, ..CONCURRENT });
    }
    let reason = trigger.look(ms(30), 600 * MIB, HEAP, 100 * MIB as u64);
    assert!(matches!(reason, Some(Reason::Learning { step: 1, .. })), "{reason:?}");
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
    idle.cycle_ended(Ended { began: ms(1001), ended: ms(1500), ..CONCURRENT });
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
    assert_eq!(parameters(CycleKind::Concurrent), (21, 15, 29));
    assert_eq!(parameters(CycleKind::Abbreviated), (21, 15, 28));
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
        history in prop::collection::vec((0..4_usize, 0..=HEAP, 0..100_u64, 0..(1_u64 << 30)), 1..60),
    ) {
        let mut trigger = trigger("");
        let (mut now, mut allocated) = (Duration::ZERO, 0);
        for (kind, free_bytes, time, bytes) in history {
            (now, allocated) = (now + ms(time), allocated + bytes);
            let reason = trigger.look(now, free_bytes, HEAP, allocated);
            if free_bytes < HEAP / 10 && bytes as usize > HEAP / 16 {
                prop_assert!(matches!(reason, Some(Reason::MinFree { .. })), "{reason:?}");
            }
            prop_assert!(bytes > 0 || reason.is_none(), "{reason:?}");
            let kinds = [CycleKind::Concurrent, CycleKind::Abbreviated, CycleKind::Degenerated, CycleKind::Full];
            let began = now;
            now += ms(time);
            let done = Ended { began, ended: now, kind: kinds[kind], free_bytes, capacity_bytes: HEAP };
            trigger.cycle_ended(done);
            let (margin, threshold, penalty) = trigger.parameters();
            for deviations in [margin, threshold] {
                prop_assert!((0.319..=3.291).contains(&deviations), "{deviations}");
            }
            prop_assert!(penalty <= 100);
        }
    }
}
