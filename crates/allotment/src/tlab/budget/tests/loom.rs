//! Every interleaving of a few mutators: `RUSTFLAGS="--cfg loom" cargo test -p allotment --lib budget --release`.

use super::*;
use ::loom::sync::Arc;
use ::loom::thread;

/// A budget with room for one thread at 32 KiB, and not for two.
fn narrow() -> (Config, Arc<Budget>) {
    let config = config(32 * KIB);
    let budget = Arc::new(Budget::new(&config, 24 * KIB, 100.0));
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
fn two_threads_never_exceed_the_bound_and_the_last_share_is_right() {
    ::loom::model(|| {
        let (config, budget) = narrow();
        let grow = |budget: &Budget, config: &Config| {
            let mut sizing = hungry(config);
            let _ = budget.settle(config, &mut sizing, 0);
            assert!(budget.granted() <= budget.bound());
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
    });
}

#[test]
fn growing_leaving_and_a_census_at_once_leave_nothing_behind() {
    ::loom::model(|| {
        let (config, budget) = narrow();
        let mut idle = hungry(&config);
        let _ = budget.settle(&config, &mut idle, 0);
        let entry = CensusEntry::from(&idle);
        let leaver = thread::spawn({
            let (config, budget) = (config.clone(), budget.clone());
            move || budget.leave(&config, &mut idle)
        });
        let census = thread::spawn({
            let budget = budget.clone();
            // It saw the thread before that left: outdated, as any census may be.
            move || budget.census([entry], 5000)
        });
        let mut mine = hungry(&config);
        let _ = budget.settle(&config, &mut mine, 0);
        assert!(budget.granted() <= budget.bound());
        leaver.join().expect("the leaving thread ended");
        census.join().expect("the census ended");
        budget.verify([CensusEntry::from(&mine)]).expect("the budget's equations hold");
        budget.leave(&config, &mut mine);
        budget.forget_census();
        budget.verify([]).expect("the budget's equations hold");
        assert_eq!((budget.granted(), budget.share()), (0, fair_share(24 * KIB, 0, 1, 16 * KIB, 32 * KIB)));
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
