//! One thread of execution, many mutators: the budget must give the result of a walk over all
//! sizes.

use super::*;
use proptest::prelude::*;

const MAX: usize = 2048 * KIB;

/// 5 % of `heap` bytes.
fn budget(config: &Config, heap: usize) -> Budget {
    Budget::new(config, heap, 5.0)
}

fn entries(threads: &[Sizing]) -> impl Iterator<Item = CensusEntry> {
    threads.iter().map(CensusEntry::from)
}

/// Refills. Returns what the thread has to do next.
fn refill(budget: &Budget, config: &Config, sizing: &mut Sizing, now_ms: u64) -> Settlement {
    let settlement = budget.settle(config, sizing, now_ms);
    sizing.granted(config, sizing.desired_size, now_ms);
    settlement
}

/// Lets all threads refill in turn, with the census when one is due.
fn rounds(budget: &Budget, config: &Config, threads: &mut [Sizing], rounds: usize, now_ms: u64) {
    for _ in 0..rounds {
        for id in 0..threads.len() {
            if refill(budget, config, &mut threads[id], now_ms) == Settlement::RunCensus {
                budget.census(entries(threads), now_ms);
            }
            assert!(budget.granted() <= budget.bound());
        }
    }
    budget.verify(entries(threads)).expect("the budget's equations hold");
}

#[test]
fn fair_shares() {
    // bound, held by idle ones, active, share in KiB; floor 16 KiB, largest 2 MiB
    let bound = (4 << 30) / 20;
    for (bound, idle_held, active, expected) in [
        (bound, 0, 0, 2048),
        (bound, 0, 1, 2048),
        (bound, 0, 102, 2048), // 2,105,376 bytes each, 2,097,152 are 2 MiB
        (bound, 0, 103, 1024),
        (bound, 0, 500, 256),                // 429,496 each
        (bound, 499 * 240 * KIB, 1, 2048),   // 499 hold 256 KiB each
        (bound, bound - 300 * KIB, 1, 256),  // what is left, rounded down
        (bound, bound, 1, 16),               // the floor is everybody's
        (bound, usize::MAX, usize::MAX, 16), // a census may be outdated
        (usize::MAX, 0, 1, 2048),
        (0, 0, 1, 16),
    ] {
        let share = fair_share(bound, idle_held, active, 16 * KIB, MAX);
        assert_eq!(share, expected * KIB, "bound {bound}, idle {idle_held}, active {active}");
    }
    // A thread gets a largest buffer that is not a power of two whole or not at all.
    assert_eq!(fair_share(100 * KIB, 0, 1, 16 * KIB, 100 * KIB), 100 * KIB);
    assert_eq!(fair_share(100 * KIB - 1, 0, 1, 16 * KIB, 100 * KIB), 64 * KIB);
}

#[test]
fn a_burst_holds_the_floors() {
    let config = config(MAX);
    let budget = budget(&config, 4 << 30);
    let mut threads = vec![start(&config); 500];
    // 16 KiB and 16 KiB more: 20 KB each
    rounds(&budget, &config, &mut threads, 2, 0);
    assert_eq!(budget.granted(), 0);
    assert!(threads.iter().all(|thread| thread.desired_size == 16 * KIB));
}

#[test]
fn many_hungry_threads_share_and_one_among_the_idle_gets_the_largest() {
    let config = config(MAX);
    let budget = budget(&config, 4 << 30);
    let mut threads = vec![start(&config); 500];
    rounds(&budget, &config, &mut threads, 20, 0);
    assert!(threads.iter().all(|thread| thread.desired_size == 256 * KIB));
    // 499 idle, one goes on. The census at 1000 ms finds no thread idle for longer than 1000 ms,
    // the next one does.
    let mut go_on = |now_ms| {
        if refill(&budget, &config, &mut threads[7], now_ms) == Settlement::RunCensus {
            budget.census(entries(&threads), now_ms);
        }
        threads[7].desired_size / KIB
    };
    assert!((10..2000).step_by(10).all(|now_ms| go_on(now_ms) == 256));
    let sizes = [2000; 5].map(go_on);
    assert_eq!(sizes, [256, 512, 1024, 2048, 2048]);
    budget.verify(entries(&threads)).expect("the budget's equations hold");
}

#[test]
fn who_comes_late_is_not_left_at_the_floor() {
    let config = config(MAX);
    // 5 % are 20 MiB: ten of the largest buffers.
    let budget = budget(&config, 400 << 20);
    let mut threads = vec![start(&config); 10];
    rounds(&budget, &config, &mut threads, 20, 0);
    assert!(threads.iter().all(|thread| thread.desired_size == MAX));
    threads.extend(vec![start(&config); 10]);
    rounds(&budget, &config, &mut threads, 20, 0);
    assert!(threads.iter().all(|thread| thread.desired_size == MAX / 2));
}

#[test]
fn a_cycle_and_a_leave_give_everything_back() {
    let config = config(MAX);
    let averages = Averages::new(&config);
    let budget = budget(&config, 4 << 30);
    let mut threads = vec![start(&config); 4];
    rounds(&budget, &config, &mut threads, 20, 0);
    assert_eq!(budget.granted(), 4 * (MAX - 16 * KIB));
    // One allocated on, one a little, one nothing.
    for (thread, allocated) in threads.iter_mut().zip([10 * MAX, 100 * KIB, 0]) {
        budget.end_cycle(&config, &averages, thread, &Cycle { allocated, ..Cycle::default() });
    }
    let sizes: Vec<_> = threads.iter().map(|thread| thread.desired_size / KIB).collect();
    assert_eq!(sizes, [2048, 128, 16, 2048]);
    assert!(!threads[2].grower && threads[1].grower);
    budget.verify(entries(&threads)).expect("the budget's equations hold");
    threads.iter_mut().for_each(|thread| budget.leave(&config, thread));
    // Leaving twice returns nothing twice.
    budget.leave(&config, &mut threads[0]);
    assert_eq!(budget.granted(), 0);
    budget.verify(entries(&threads)).expect("the budget's equations hold");
}

/// Regression: a debug build ended here, because keeping the same size was refused as growth.
#[test]
fn a_cycle_may_end_while_a_smaller_heap_has_lowered_the_bound() {
    let config = config(MAX);
    let averages = Averages::new(&config);
    let budget = budget(&config, 4 << 30);
    let mut threads = vec![start(&config); 4];
    rounds(&budget, &config, &mut threads, 20, 0);
    threads.push(start(&config));
    budget.set_capacity(16 << 20);
    assert!(budget.granted() > budget.bound());
    for thread in &mut threads {
        budget.end_cycle(&config, &averages, thread, &Cycle { allocated: 10 * MAX, ..Cycle::default() });
    }
    assert_eq!((threads[0].desired_size, threads[4].desired_size), (MAX, 16 * KIB));
    let share = budget.share();
    threads.iter_mut().for_each(|thread| budget.trim(&config, thread, share));
    assert!(budget.granted() <= budget.bound());
    budget.verify(entries(&threads)).expect("the budget's equations hold");
}

#[test]
fn who_no_longer_wants_more_is_no_grower() {
    let config = config(MAX);
    // Nothing to grant: the thread wants more and stays at the floor.
    let budget = Budget::new(&config, 1 << 30, 0.0);
    let mut thread = start(&config);
    (0..3).for_each(|_| assert_eq!(refill(&budget, &config, &mut thread, 0), Settlement::Done));
    assert!(thread.grower);
    // Now its buffers last: it wants no more, although its size does not change.
    assert_eq!(refill(&budget, &config, &mut thread, 900), Settlement::Done);
    assert!(!thread.grower);
    budget.verify([CensusEntry::from(&thread)]).expect("the budget's equations hold");
}

#[test]
fn idle_threads_at_the_floor_do_not_count_in_a_census() {
    let config = config(MAX);
    let budget = budget(&config, 4 << 30);
    let mut threads = vec![start(&config); 200];
    rounds(&budget, &config, &mut threads[..103], 20, 0);
    // The growers refilled just now, the other 97 never.
    threads[..103].iter_mut().for_each(|thread| thread.granted(&config, 16 * KIB, 5000));
    budget.census(entries(&threads), 5000);
    assert_eq!(budget.share(), MAX / 2);
}

#[test]
fn an_outdated_census_is_forgotten_with_the_cycle() {
    let config = config(MAX);
    let budget = budget(&config, 4 << 30);
    let mut threads = vec![start(&config); 500];
    rounds(&budget, &config, &mut threads, 20, 0);
    budget.census(entries(&threads), 5000);
    assert_eq!(budget.share(), MAX);
    budget.forget_census();
    assert_eq!(budget.share(), 256 * KIB);
}

#[test]
fn a_census_is_claimed_once_per_decay_time() {
    let config = config(MAX);
    let budget = budget(&config, 4 << 30);
    let due: Vec<_> =
        [0, 999, 1000, 1000, 1999, 2000, 1500, u64::MAX].map(|now| budget.census_due(now)).into();
    assert_eq!(due, [false, false, true, false, false, true, false, true]);
}

#[test]
fn other_policies_take_no_budget() {
    for policy in TlabPolicy::ALL.iter().skip(1) {
        let config = Config::new(&Settings { policy: *policy, ..Settings::default() });
        let budget = budget(&config, 4 << 30);
        let mut thread = start(&config);
        let size = thread.desired_size;
        (0..100).for_each(|_| assert_eq!(refill(&budget, &config, &mut thread, 0), Settlement::Done));
        budget.leave(&config, &mut thread);
        assert_eq!((budget.granted(), thread.desired_size), (0, size), "{policy}");
    }
}

#[test]
fn absurd_percentages_are_the_nearest_sane_ones() {
    let config = config(MAX);
    for (percent, expected) in [(f64::NAN, 0), (-1.0, 0), (0.0, 0), (1000.0, 1 << 30), (50.0, 1 << 29)] {
        assert_eq!(Budget::new(&config, 1 << 30, percent).bound(), expected, "{percent}");
    }
    // Nothing to grant: everybody stays at the floor.
    let budget = Budget::new(&config, 1 << 30, 0.0);
    let mut thread = start(&config);
    rounds(&budget, &config, std::slice::from_mut(&mut thread), 20, 0);
    assert_eq!((thread.desired_size, budget.granted()), (16 * KIB, 0));
}

#[test]
fn verify_names_what_is_wrong() {
    let config = config(MAX);
    let budget = budget(&config, 4 << 30);
    let entry = |size, grower| [CensusEntry { size, last_refill_ms: 0, grower }];
    let message = |entry| budget.verify(entry);
    assert_eq!(message(entry(16 * KIB, false)), Ok(()));
    assert_eq!(message(entry(32 * KIB, false)), Err("TLAB budget: granted is 0, and must be 16384".into()));
    assert_eq!(message(entry(16 * KIB, true)), Err("TLAB budget: growers is 0, and must be 1".into()));
    assert_eq!(
        message(entry(8 * KIB, true)),
        Err("TLAB budget: a thread's size is 8192, and must be from 16384 to 2097152".into())
    );
}

#[derive(Clone, Debug)]
enum Step {
    Refills { id: usize, count: usize, later_ms: u64 },
    Cycle { allocated: Vec<usize> },
    Leave { id: usize },
    Retire { id: usize },
}

fn step(threads: usize) -> impl Strategy<Value = Step> {
    let id = 0..threads;
    prop_oneof![
        8 => (id.clone(), 1..12_usize, prop_oneof![4 => Just(0), 1 => 0..4000_u64])
            .prop_map(|(id, count, later_ms)| Step::Refills { id, count, later_ms }),
        1 => prop::collection::vec(0..4 * MAX, threads).prop_map(|allocated| Step::Cycle { allocated }),
        1 => id.clone().prop_map(|id| Step::Leave { id }),
        1 => id.prop_map(|id| Step::Retire { id }),
    ]
}

proptest! {
    #[test]
    fn the_ledger_is_what_a_walk_would_find(
        bound in 0..8 * MAX, steps in prop::collection::vec(step(12), 1..200)
    ) {
        let config = config(MAX);
        let averages = Averages::new(&config);
        let floor = config.floor();
        let budget = Budget::new(&config, bound, 100.0);
        let mut threads = vec![start(&config); 12];
        let held =
            |threads: &[Sizing]| threads.iter().map(|thread| thread.desired_size - floor).sum::<usize>();
        let mut now_ms = 0;
        for step in steps {
            match step {
                Step::Refills { id, count, later_ms } => {
                    now_ms += later_ms;
                    for _ in 0..count {
                        let (size, held) = (threads[id].desired_size, held(&threads));
                        let wish = threads[id].wish(&config, now_ms);
                        let settlement = refill(&budget, &config, &mut threads[id], now_ms);
                        // The thread gets what it wishes, up to its share, unless that would break
                        // the bound.
                        let to = wish.min(budget.share());
                        let expected = if to <= size || held + (to - size) <= bound { to } else { size };
                        prop_assert_eq!(threads[id].desired_size, expected);
                        if settlement == Settlement::RunCensus {
                            prop_assert!(expected < wish);
                            budget.census(entries(&threads), now_ms);
                        }
                    }
                }
                Step::Cycle { allocated } => {
                    for (thread, allocated) in threads.iter_mut().zip(allocated) {
                        let cycle = Cycle { allocated, ..Cycle::default() };
                        budget.end_cycle(&config, &averages, thread, &cycle);
                    }
                    budget.forget_census();
                }
                Step::Leave { id } => {
                    budget.leave(&config, &mut threads[id]);
                    threads[id] = start(&config);
                }
                Step::Retire { id } => threads[id].retired(),
            }
            prop_assert_eq!(budget.granted(), held(&threads));
            prop_assert!(budget.granted() <= bound);
            prop_assert_eq!(budget.verify(entries(&threads)), Ok(()));
        }
    }
}
