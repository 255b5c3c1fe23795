//! Every interleaving of two mutators, and of three as far as two preemptions reach:
//! `RUSTFLAGS="--cfg loom" cargo test -p allotment --lib budget --release`.

use super::*;
use ::loom::sync::Arc;
use ::loom::thread;

/// A budget whose share is 32 KiB for one grower and 16 KiB, the floor, for two.
fn narrow() -> (Config, Arc<Budget>) {
    let config = config(32 * KIB);
    let budget = Arc::new(Budget::new(&config, 40 * KIB, 100.0));
    (config, budget)
}

/// A thread that used up two buffers of 16 KiB and wants one of 32.
fn hungry(config: &Config) -> Sizing {
    let mut sizing = start(config);
    sizing.granted(config, 16 * KIB, 0);
    sizing.granted(config, 16 * KIB, 0);
    sizing
}

#[test]
fn of_two_threads_one_is_granted_what_the_bound_allows_once() {
    ::loom::model(|| {
        let config = config(64 * KIB);
        let budget = Arc::new(Budget::new(&config, 40 * KIB, 100.0));
        let grow = |budget: &Budget| {
            let granted = budget.resize(16 * KIB, 48 * KIB);
            assert!(budget.granted() <= budget.bound());
            granted
        };
        let other = thread::spawn({
            let budget = budget.clone();
            move || grow(&budget)
        });
        let granted = [grow(&budget), other.join().expect("the other thread ended")];
        assert_eq!(granted.iter().filter(|granted| **granted).count(), 1);
        assert_eq!(budget.granted(), 32 * KIB);
    });
}

#[test]
fn the_last_share_fits_two_growers() {
    ::loom::model(|| {
        let (config, budget) = narrow();
        let grow = |budget: &Budget, config: &Config| {
            let mut sizing = hungry(config);
            let _ = budget.settle(config, &mut sizing, 0);
            sizing
        };
        let other = thread::spawn({
            let (config, budget) = (config.clone(), budget.clone());
            move || grow(&budget, &config)
        });
        let mine = grow(&budget, &config);
        let theirs = other.join().expect("the other thread ended");
        let entries = [CensusEntry::from(&mine), CensusEntry::from(&theirs)];
        budget.verify(entries).expect("the budget's equations hold");
        assert_eq!(budget.share(), 16 * KIB);
    });
}

/// A thread that holds 32 KiB of the budget, as the census sees it and as itself.
fn grown(config: &Config, budget: &Budget) -> (CensusEntry, Sizing) {
    let mut sizing = hungry(config);
    let _ = budget.settle(config, &mut sizing, 0);
    (CensusEntry::from(&sizing), sizing)
}

#[test]
fn a_thread_that_leaves_returns_all_while_another_grows() {
    ::loom::model(|| {
        let (config, budget) = narrow();
        let (entry, mut leaving) = grown(&config, &budget);
        assert_eq!((entry.size, budget.granted()), (32 * KIB, 16 * KIB));
        let leaver = thread::spawn({
            let (config, budget) = (config.clone(), budget.clone());
            move || budget.leave(&config, &mut leaving)
        });
        let (entry, mut mine) = grown(&config, &budget);
        leaver.join().expect("the leaving thread ended");
        budget.verify([entry]).expect("the budget's equations hold");
        budget.leave(&config, &mut mine);
        budget.verify([]).expect("the budget's equations hold");
        assert_eq!((budget.granted(), budget.share()), (0, 32 * KIB));
    });
}

#[test]
fn an_outdated_census_does_not_break_the_equations() {
    let mut three = ::loom::model::Builder::new();
    three.preemption_bound = Some(2);
    three.check(|| {
        let (config, budget) = narrow();
        let (entry, mut leaving) = grown(&config, &budget);
        let leaver = thread::spawn({
            let (config, budget) = (config.clone(), budget.clone());
            move || budget.leave(&config, &mut leaving)
        });
        let census = thread::spawn({
            let budget = budget.clone();
            move || budget.census([entry], 5000)
        });
        let (entry, _) = grown(&config, &budget);
        assert!(budget.granted() <= budget.bound());
        leaver.join().expect("the leaving thread ended");
        census.join().expect("the census ended");
        budget.verify([entry]).expect("the budget's equations hold");
        budget.forget_census();
        budget.verify([entry]).expect("the budget's equations hold");
    });
}

#[test]
fn one_census_is_claimed_by_one_thread() {
    ::loom::model(|| {
        let (_, budget) = narrow();
        let other = thread::spawn({
            let budget = budget.clone();
            move || budget.census_due(1000)
        });
        let claimed = [budget.census_due(1000), other.join().expect("the other thread ended")];
        assert_eq!(claimed.iter().filter(|claimed| **claimed).count(), 1);
    });
}
