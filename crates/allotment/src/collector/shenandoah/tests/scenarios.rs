//! What a program sees of the trigger: whether it waits, and how often cycles run.

use super::simulator::*;
use super::*;
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

fn steady(mib_a_second: f64, cycle: Duration, time: Duration) -> Load {
    let rate = mib_a_second * MIB as f64;
    Load { rate: (rate, rate), regions: 1, cycle, time }
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
            regions: 1,
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

/// A program that alternates between a rate and bursts: two rates in MiB/s and their times in ms.
struct Bursts {
    between: (f64, u64),
    burst: (f64, u64),
    /// Regions of each object in a burst.
    regions: usize,
    /// The length of a cycle in ms. Cycles are not all as long.
    length: u64,
}

/// A hundred bursts. Checks that no cycle comes too late after the fifth. Returns the cycles with
/// the bytes that were free, those of the first bursts left out.
fn bursts(heap: &mut Simulator, program: &Bursts) -> Vec<(Reason, usize)> {
    let (mut cycles, mut reasons) = (0, Vec::new());
    for round in 0..100 {
        let length = ms(program.length + round % 3);
        for ((rate, time), regions) in [(program.between, 1), (program.burst, program.regions)] {
            let account = heap.run(Load { regions, ..steady(rate, length, ms(time)) });
            let before = cycles;
            cycles += account.reasons.len();
            // A cycle that degenerates may have begun in the part before.
            assert!(account.degenerated == 0 || before < 5, "round {round}, cycle {cycles}: {account:?}");
            assert!(account.missed == 0 || before < 5, "round {round}, cycle {cycles}: {account:?}");
            assert_eq!(account.advice, [], "nothing has to be changed");
            if round > 20 {
                reasons.extend(account.reasons);
            }
        }
    }
    assert!(cycles > 30, "{cycles}");
    reasons
}

/// Bursts of 20 and of 100 ms, four a second, each up to 100 times the rate between them.
#[test]
fn of_bursts_that_come_again_only_the_first_wait() {
    for (between, burst, length) in [(25.0, 2500.0, 5), (125.0, 5000.0, 5), (250.0, 1250.0, 20)] {
        for time in [20, 100] {
            let mut heap = Simulator::new("", 256 * MIB, 64 * MIB);
            let program = Bursts { between: (between, 250 - time), burst: (burst, time), regions: 1, length };
            // Nor do cycles begin while most of the memory is free.
            for (reason, free) in bursts(&mut heap, &program) {
                assert!(free < 110 * MIB, "{reason}");
            }
        }
    }
}

/// A burst each second that takes half of what is free, in cycles of 20 ms. The rate between two
/// bursts has faded when the next one comes.
#[test]
fn of_bursts_that_are_rare_only_the_first_wait() {
    let mut heap = Simulator::new("", 256 * MIB, 64 * MIB);
    bursts(&mut heap, &Bursts { between: (50.0, 950), burst: (3000.0, 30), regions: 1, length: 20 });
}

/// Objects of eight regions in a heap with 40 MiB that are in no such run: more than the free
/// memory at which a cycle begins.
#[test]
fn of_bursts_of_humongous_objects_only_the_first_wait() {
    for (burst, length) in [(500.0, 20), (1500.0, 10), (2500.0, 5)] {
        let mut heap = Simulator::new("", 256 * MIB, 64 * MIB);
        heap.scattered = 40 * MIB;
        let program = Bursts { between: (25.0, 150), burst: (burst, 100), regions: 8, length };
        let reasons = bursts(&mut heap, &program);
        assert!(reasons.iter().any(|(reason, _)| matches!(reason, Reason::Runs { .. })), "{burst}");
    }
}

/// With 80 % live, there is room for two times the allocation of a cycle, and little more.
#[test]
fn in_a_tight_heap_cycles_follow_each_other_in_time() {
    for (rate, length) in [(100.0, 100), (200.0, 100), (400.0, 50), (2000.0, 10)] {
        let mut heap = Simulator::new("", 256 * MIB, 256 * MIB * 4 / 5);
        let mut cycles = 0;
        for _ in 0..200 {
            let account = heap.run(steady(rate, ms(length), ms(50)));
            assert!(cycles < 5 || account.degenerated + account.missed == 0, "{rate}, {length}: {account:?}");
            cycles += account.reasons.len();
            assert_eq!(account.advice, []);
        }
        assert!(cycles > 20, "{cycles}");
    }
}

/// Cycles that come too late whatever the trigger does: the log says so, once. As soon as the
/// program slows down, they are in time again.
#[test]
fn what_no_trigger_can_do_is_said_once() {
    let mut heap = Simulator::new("", 256 * MIB, 256 * MIB * 4 / 5);
    let account = heap.run(steady(1000.0, ms(100), 5 * SECOND));
    assert!(account.degenerated > 20);
    let [Advice::Slow { cycle, demand_bytes, left_bytes }] = account.advice[..] else {
        panic!("{:?}", account.advice)
    };
    assert!((ms(99)..=ms(101)).contains(&cycle), "{cycle:?}");
    assert!(demand_bytes > left_bytes && left_bytes <= 52 * MIB, "{demand_bytes}, {left_bytes}");
    let mut late = 0;
    for _ in 0..5 {
        let account = heap.run(steady(100.0, ms(100), SECOND));
        assert_eq!(account.advice, []);
        late = account.degenerated;
    }
    assert_eq!(late, 0);
}

/// The lessons of bad times fade: a quiet program uses its memory first, as before.
#[test]
fn after_bad_times_cycles_become_rare_again() {
    let quiet = |heap: &mut Simulator| heap.run(steady(100.0, ms(5), 40 * SECOND)).reasons.len();
    let mut heap = Simulator::new("", 256 * MIB, 64 * MIB);
    let usual = quiet(&mut heap);
    heap.run(steady(3000.0, ms(80), 10 * SECOND));
    assert!(heap.trigger.parameters().2 > 50, "cycles came too late");
    (0..2).for_each(|_| assert!(quiet(&mut heap) > 0));
    let (penalty, demand) = (heap.trigger.parameters().2, heap.trigger.demand_bytes());
    assert!(penalty == 0 && demand < 10 * MIB, "{penalty}, {demand}");
    let later = quiet(&mut heap);
    assert!(later <= usual, "{later} cycles instead of {usual}");
}

/// A program whose objects all live: cycles free nothing, so they become rare. Without that it
/// would be one for each sixteenth of what is left, twenty in all.
#[test]
fn cycles_that_gain_nothing_become_rare() {
    let mut trigger = Trigger::new(TriggerSettings::from(&options("")));
    let (capacity_bytes, mut free_bytes, mut allocated, mut cycles) = (256 * MIB, 128 * MIB, 0, 0);
    for tick in 1..=1500 {
        (free_bytes, allocated) = (free_bytes - REGION / 4, allocated + REGION as u64 / 4);
        if trigger.look(ms(tick), free_bytes, capacity_bytes, allocated).is_some() {
            cycles += 1;
            trigger.cycle_ended(Ended {
                ended: ms(tick),
                time: ms(1),
                kind: CycleKind::Concurrent,
                was_behind: false,
                taken_bytes: 0,
                freed_bytes: 0,
                free_bytes,
                capacity_bytes,
                left_bytes: free_bytes,
            });
        }
    }
    assert!((5..10).contains(&cycles), "{cycles}");
}

/// Garbage that a cycle leaves where it is adds up: cycles that leave some do not become rare.
#[test]
fn cycles_that_leave_garbage_do_not_become_rare() {
    let cycles = |kinds: [CycleKind; 2]| {
        let mut trigger = Trigger::new(TriggerSettings::from(&options("")));
        let (capacity_bytes, free_bytes, mut allocated, mut cycles) = (256 * MIB, 16 * MIB, 0, 0);
        for tick in 1..=1000 {
            allocated += MIB as u64 / 8;
            if trigger.look(ms(tick), free_bytes, capacity_bytes, allocated).is_some() {
                trigger.cycle_ended(Ended {
                    ended: ms(tick),
                    time: Duration::ZERO,
                    kind: kinds[usize::from(cycles > 1)],
                    was_behind: false,
                    taken_bytes: 0,
                    freed_bytes: 0,
                    free_bytes,
                    capacity_bytes,
                    left_bytes: free_bytes,
                });
                cycles += 1;
            }
        }
        cycles
    };
    let (concurrent, skipped) = (CycleKind::Concurrent, CycleKind::Skipped);
    let (usual, leaves, fruitless) =
        (cycles([skipped; 2]), cycles([concurrent, skipped]), cycles([concurrent; 2]));
    // One for each sixteenth of what is free; in the end one for each half.
    assert!((120..=125).contains(&usual) && fruitless < 25, "{usual}, {fruitless}");
    // After two that gained nothing, one for each eighth.
    assert!((60..=64).contains(&leaves), "{leaves}");
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
            let account = heap.run(Load { rate, regions: 1, cycle: ms(length), time: ms(time) });
            prop_assert_eq!(account.missed, 0);
        }
    }
}
