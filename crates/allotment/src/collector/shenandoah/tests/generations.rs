//! Old objects: their marking across young cycles, and what ends it.

use super::kit::{BY_HAND, Kit, Lists, generational};
use crate::collector::concurrent::Sought;
use crate::collector::record::{GenerationsDetails, OldMarking};
use crate::collector::shenandoah::cycle::Stage;
use crate::mutator::{Hot, Mutator};
use crate::sync::Ordering;

/// A heap with old objects, whose next cycle is number 1: it begins the marking of old objects.
fn with_old_objects(test: impl Fn(&Kit, &mut Mutator<'_>, &mut Lists)) {
    with_options("", test);
}

/// A heap with old objects, as [`with_old_objects`], and these options.
fn with_options(options: &str, test: impl Fn(&Kit, &mut Mutator<'_>, &mut Lists)) {
    generational(|| {
        let kit = Kit::new(4096, 60, &format!("+ZealPoison,{BY_HAND}{options}"));
        kit.heap
            .attach(|mutator| {
                let mut lists = Lists::new(&kit, mutator, 4, 1);
                while kit.shared().space.free.old_regions() == 0 || !kit.cycles().is_multiple_of(6) {
                    lists.add_half_dead(&kit, mutator, 40);
                    mutator.blocking(|| kit.cycle());
                }
                mutator.blocking(|| kit.cycle());
                lists.check(mutator);
                test(&kit, mutator, &mut lists);
                lists.check(mutator);
            })
            .unwrap();
        kit.heap.verify().unwrap();
    });
}

/// What the last cycle did about old objects.
fn last(kit: &Kit) -> GenerationsDetails {
    kit.collector().publish();
    let recent = kit.heap.collections().recent;
    let cycle = recent.iter().rev().find_map(|record| record.cycle()).expect("a cycle");
    cycle.generations.clone().expect("generations")
}

fn old_marking(kit: &Kit) -> OldMarking {
    last(kit).old_marking
}

#[test]
fn old_objects_are_marked_over_three_cycles() {
    with_old_objects(|kit, mutator, lists| {
        let engine = &kit.collector().engine;
        for (expected, barriers) in
            [(OldMarking::Began, Hot::MARKING), (OldMarking::UnderWay, Hot::MARKING), (OldMarking::Ended, 0)]
        {
            lists.add_half_dead(kit, mutator, 20);
            mutator.blocking(|| kit.cycle());
            assert_eq!((old_marking(kit), kit.shared().threads.barriers()), (expected, barriers));
            assert_eq!(engine.resting_barriers(), barriers);
            lists.check(mutator);
        }
    });
}

/// What the cycle that ends the marking has no memory to copy moves with the next young one.
#[test]
fn old_regions_move_in_mixed_cycles() {
    with_options(",ShenandoahEvacReserve=1,ShenandoahOldGarbageThreshold=1", |kit, mutator, lists| {
        for _ in 0..60 {
            lists.add_half_dead(kit, mutator, 20);
            // Old objects die, and others stay.
            (0..30).for_each(|_| lists.pop(mutator, 0));
            mutator.blocking(|| kit.cycle());
            lists.check(mutator);
            let GenerationsDetails { old_marking, old_set_regions, .. } = last(kit);
            if old_marking == OldMarking::None && old_set_regions > 0 {
                return;
            }
        }
        panic!("no mixed cycle");
    });
}

/// Where a stop loses entries of markers, what the marking of old objects has found is not all.
#[test]
fn a_stop_that_loses_marks_ends_the_marking_of_old_objects() {
    with_old_objects(|kit, mutator, _| {
        mutator.blocking(|| kit.advance_to(Stage::Mark));
        let engine = &kit.collector().engine;
        assert!(engine.marks_old());
        engine.left.found.lose();
        // The next stop finishes the cycle.
        kit.collector().given_up_in_row.store(2, Ordering::Relaxed);
        mutator.raw_mut().stop_the_world(|_| ()).expect("no other thread");
        assert_eq!(
            (kit.stage(), engine.marks_old(), kit.shared().threads.barriers()),
            (Stage::Idle, false, 0)
        );
        assert!(mutator.collect());
    });
}

/// A stop keeps the marking of old objects, and finishes the cycle that ends it.
#[test]
fn stops_do_not_end_the_marking_of_old_objects() {
    with_old_objects(|kit, mutator, lists| {
        let engine = &kit.collector().engine;
        let stop =
            |mutator: &mut Mutator<'_>| mutator.raw_mut().stop_the_world(|_| ()).expect("no other thread");
        lists.add_half_dead(kit, mutator, 20);
        mutator.blocking(|| kit.cycle());
        stop(mutator);
        assert!(engine.marks_old());
        mutator.blocking(|| kit.advance_to(Stage::Mark));
        stop(mutator);
        assert!(engine.marks_old(), "a young cycle was given up");
        mutator.blocking(|| kit.advance_to(Stage::Mark));
        assert!(engine.marks_old());
        stop(mutator);
        assert_eq!((kit.stage(), engine.marks_old()), (Stage::Idle, false));
        assert_eq!(old_marking(kit), OldMarking::Ended);
    });
}

/// A full collection gives old regions with room to mutators: copies must not come there.
#[test]
fn no_copy_comes_to_a_region_that_a_full_collection_made_young() {
    with_old_objects(|kit, mutator, lists| {
        let space = &kit.collector().engine.copies;
        for _ in 0..12 {
            if space.rests() > 0 {
                break;
            }
            lists.add_half_dead(kit, mutator, 30);
            mutator.blocking(|| kit.cycle());
        }
        assert!(space.rests() > 0);
        mutator
            .raw_mut()
            .stop_the_world(|world| kit.collector().engine.make_all_young(world.shared()))
            .expect("no other thread");
        assert_eq!(space.rests(), 0);
    });
}

/// Between cycles the borders of young regions are stale: below one there may be a new object,
/// whose slots hold anything.
#[test]
fn words_of_young_slots_hide_nothing_where_old_objects_alone_are_marked() {
    // With a buffer the border would be the end of its region, where another region begins.
    with_options(",-UseTLAB", |kit, mutator, lists| {
        let (free, tables) = (&kit.shared().space.free, &kit.collector().engine.tables);
        let table = free.table();
        let old = free.in_use().find(|&index| table.get(index).is_tenured()).expect("an old region");
        let young = loop {
            assert!(lists.push(kit, mutator, 0));
            let young = table.index_of(lists.first(mutator, 0) as usize);
            table.set_mark_start(young);
            if table.mark_start(young) < table.bottom(young + 1) {
                break young;
            }
        };
        let before = tables.sought();
        let (below, above) = (table.mark_start(young) - 8, table.mark_start(young));
        let hides = |sought| {
            tables.set_sought(sought);
            [table.bottom(old), below, above].map(|address| tables.may_hide(free, address))
        };
        assert_eq!(hides(Sought::YoungBesideOld), [true, true, false]);
        assert_eq!(hides(Sought::Old), [true, false, false]);
        tables.set_sought(before);
    });
}
