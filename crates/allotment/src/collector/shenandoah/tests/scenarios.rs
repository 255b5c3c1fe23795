//! What a program sees of the trigger: whether it waits, and how often cycles run.

use super::simulator::*;
use super::*;
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

fn steady(mib_a_second: f64, cycle: Duration, time: Duration) -> Load {
    let rate = mib_a_second * MIB as f64;
    Load { rate: (rate, rate), cycle, time }
}

/// Rates in MiB/s and cycles of which a heap of 256 MiB with 64 MiB live can do two at a time.
const LOADS: [(f64, u64); 6] = [(10.0, 5), (100.0, 5), (100.0, 50), (1000.0, 5), (1000.0, 50), (3000.0, 20)];

#[test]
fn at_a_steady_rate_no_mutator_waits() {
    for (rate, length) in LOADS {
        let mut heap = Simulator::new("", 256 * MIB, 64 * MIB);
        let account = heap.run(steady(rate, ms(length), 20 * SECOND));
        let cycles = account.reasons.len();
        assert_eq!((account.degenerated, account.missed), (0, 0), "{rate} MiB/s, {length} ms");
        // All but what is kept back is used before a cycle begins.
        let usable = (192.0 - 64.0) * MIB as f64 - 2.0 * rate * MIB as f64 * length as f64 / 1000.0;
        let most = 10.0 + account.allocated as f64 / usable.max(MIB as f64);
        assert!((cycles as f64) < most, "{cycles} cycles of {most}: {rate} MiB/s, {length} ms");
    }
}

#[test]
fn a_rate_that_grows_slowly_is_followed() {
    for (rate, length) in LOADS {
        let mut heap = Simulator::new("", 256 * MIB, 64 * MIB);
        heap.run(steady(rate / 4.0, ms(length), SECOND));
        let account = heap.run(Load {
            rate: (rate / 4.0 * MIB as f64, rate * MIB as f64),
            cycle: ms(length),
            time: 10 * SECOND,
        });
        assert_eq!((account.degenerated, account.missed), (0, 0), "{rate} MiB/s, {length} ms");
    }
}

#[test]
fn a_burst_begins_a_cycle_before_memory_is_gone() {
    for (rate, length) in LOADS {
        // At whichever phase of a cycle it comes.
        for phase in 0..20 {
            let mut heap = Simulator::new("", 256 * MIB, 64 * MIB);
            heap.run(steady(rate / 8.0, ms(length), 5 * SECOND + ms(13 * phase)));
            let account = heap.run(steady(rate, ms(length), ms(200)));
            assert_eq!(account.missed, 0, "{rate} MiB/s, {length} ms, phase {phase}");
            // What a cycle of the burst takes fits what is kept for bursts.
            if rate * length as f64 / 1000.0 < 12.8 {
                assert_eq!(account.degenerated, 0, "{rate} MiB/s, {length} ms, phase {phase}");
            }
        }
    }
}

#[test]
fn a_burst_for_which_the_reserve_is_too_small_is_seen_at_once() {
    let mut heap = Simulator::new("ShenandoahMinFreeThreshold=0", 256 * MIB, 64 * MIB);
    heap.run(steady(10.0, ms(30), 20 * SECOND));
    let account = heap.run(steady(3000.0, ms(30), ms(30)));
    let first = account.reasons.first().map(|(reason, _)| reason);
    assert!(matches!(first, Some(Reason::Spike { .. })), "{account:?}");
}

/// Bursts of 20 and of 100 ms, four a second, each up to 40 times the rate between them.
#[test]
fn of_bursts_that_come_again_hardly_one_waits() {
    for (between, burst, length) in [(25.0, 2500.0, 5), (125.0, 5000.0, 5), (250.0, 1250.0, 20)] {
        for time in [20, 100] {
            let mut heap = Simulator::new("", 256 * MIB, 64 * MIB);
            let (mut cycles, mut degenerated) = (0, 0);
            for round in 0..100 {
                // Cycles are not all as long.
                let length = ms(length + round % 3);
                for load in [(between, 250 - time), (burst, time)] {
                    let account = heap.run(steady(load.0, length, ms(load.1)));
                    assert_eq!(account.missed, 0, "{load:?}");
                    cycles += account.reasons.len();
                    degenerated += account.degenerated;
                    // Nor do cycles begin while most of the memory is free, once they are learnt.
                    for (reason, free) in account.reasons.iter().filter(|_| round > 20) {
                        assert!(*free < 100 * MIB, "{reason}");
                    }
                }
            }
            assert!(cycles > 30 && degenerated * 20 < cycles, "{degenerated} of {cycles}: {burst}, {time}");
        }
    }
}

#[test]
fn a_slow_program_uses_its_memory_first() {
    let mut heap = Simulator::new("", 256 * MIB, 64 * MIB);
    heap.run(steady(100.0, ms(5), 10 * SECOND));
    let account = heap.run(steady(100.0, ms(5), 10 * SECOND));
    for (reason, free) in &account.reasons {
        assert!(matches!(reason, Reason::MinFree { .. }), "{reason}");
        assert!((25 * MIB..26 * MIB).contains(free), "{free}");
    }
    assert!(account.reasons.len() >= 5);
}

#[test]
fn when_nothing_is_allocated_only_time_begins_a_cycle() {
    for live in [0, 64 * MIB, 255 * MIB] {
        let mut heap = Simulator::new("ShenandoahGuaranteedGCInterval=3000", 256 * MIB, live);
        // Before the first cycle the live objects are new.
        heap.run(steady(0.0, ms(5), SECOND));
        let account = heap.run(steady(0.0, ms(5), 30 * SECOND));
        assert!((9..=10).contains(&account.reasons.len()), "{live}: {account:?}");
        for (reason, _) in account.reasons {
            assert!(matches!(reason, Reason::GuaranteedInterval { .. }), "{reason}");
        }
    }
}

#[test]
fn a_program_that_pauses_is_left_alone() {
    let mut heap = Simulator::new("", 256 * MIB, 64 * MIB);
    heap.run(steady(1000.0, ms(20), 5 * SECOND));
    // A cycle may be due when it pauses; none is when its rate has faded.
    heap.run(steady(0.0, ms(20), SECOND));
    let account = heap.run(steady(0.0, ms(20), 60 * SECOND));
    assert!(account.reasons.is_empty(), "{account:?}");
}

#[test]
fn a_heap_that_is_nearly_full_of_live_objects_is_not_collected_without_end() {
    let mut heap = Simulator::new("", 256 * MIB, 240 * MIB);
    let account = heap.run(steady(10.0, ms(5), 20 * SECOND));
    // At least 1 MiB is allocated between two cycles.
    assert!(account.reasons.len() as u64 <= 1 + account.allocated / MIB as u64, "{account:?}");
    assert_eq!((account.degenerated, account.missed), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_cycle_is_always_under_way_before_memory_is_gone(
        live in 0..240_usize,
        length in 1..100_u64,
        loads in prop::collection::vec((0.0..2000.0_f64, 0.0..2000.0_f64, 10..1000_u64), 1..6),
    ) {
        let mut heap = Simulator::new("", 256 * MIB, live * MIB);
        for (first, last, time) in loads {
            let rate = (first * MIB as f64, last * MIB as f64);
            let account = heap.run(Load { rate, cycle: ms(length), time: ms(time) });
            prop_assert_eq!(account.missed, 0);
        }
    }
}
