//! What full collections leave to the cycles that follow.

use super::super::scope::{Garbage, Scope};
use super::kit::{BY_HAND, Kit, Lists, generational, in_both_modes};

/// With a threshold of 100 percent no cycle in a stop frees enough.
const ALWAYS_FULL: &str = ",ShenandoahCriticalFreeThreshold=100";

/// A full collection lends the reserve for copies to the thread that had no memory. Without it the
/// next cycle could move nothing.
#[test]
fn the_reserve_for_copies_is_kept_again() {
    in_both_modes(|| {
        let kit = Kit::new(4096, 60, &format!("{BY_HAND}{ALWAYS_FULL}"));
        kit.heap
            .attach(|mutator| {
                let fulls =
                    || kit.heap.collections().recent.iter().filter(|record| record.full().is_some()).count();
                while fulls() == 0 {
                    kit.waste(mutator, 1000);
                }
                let (collector, free) = (kit.collector(), &kit.shared().space.free);
                assert_eq!(free.capacity(), free.table().len() - collector.engine.reserve);
            })
            .unwrap();
    });
}

/// Young cycles that gain little are followed by a global one. After a full collection they begin
/// anew.
#[test]
fn the_gains_of_young_cycles_are_forgotten() {
    generational(|| {
        let kit = Kit::new(4096, 60, BY_HAND);
        let next = || {
            let old = kit.collector().engine.old.as_ref().expect("generations");
            old.plan().next(Garbage::Young, false)
        };
        kit.heap
            .attach(|mutator| {
                let mut lists = Lists::new(&kit, mutator, 1, 1);
                // Nothing dies, until hardly any region is free.
                for _ in 0..12 {
                    while kit.shared().space.free.regions_left() > 2 {
                        assert!(lists.push(&kit, mutator, 0));
                    }
                    mutator.blocking(|| kit.cycle());
                    if next() == Scope::Global {
                        break;
                    }
                }
                assert_eq!(next(), Scope::Global);
                mutator
                    .raw_mut()
                    .stop_the_world(|world| kit.collector().engine.make_all_young(world.shared()))
                    .expect("no other thread");
                assert_ne!(next(), Scope::Global);
                lists.check(mutator);
            })
            .unwrap();
    });
}
