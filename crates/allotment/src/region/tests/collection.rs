//! The effects of a collection on the free set, with memory that does not exist.

use super::*;
use crate::region::{Occupancy, RegionUse};

/// Two regions of one core, one full and one with room, and one region that is free.
fn used() -> FreeSet<Arc<Memory>> {
    let (free, _) = heap(1024, 4, 2, RefillStrategy::Cas);
    allocate(&free, 1, 1024, 1024).expect("a region");
    allocate(&free, 1, 512, 512).expect("half a region");
    let index = free.take_region(1).expect("a third region");
    free.give_region(index, 1);
    free
}

#[test]
fn room_is_found_where_it_was_offered() {
    let free = used();
    let bottom = free.table().bottom(0);
    free.forget_room();
    assert!(free.verify().unwrap_err().contains("no thread would find it"));
    free.offer_region(0, bottom + 256);
    free.offer_region(1, free.table().get(1).top());
    free.verify().unwrap();
    // The region with more room serves its core first, and reports which part is no longer zero.
    let piece = allocate(&free, 1, 512, 512).expect("room");
    assert_eq!((piece.start, piece.dirty), (bottom + 256, piece.end));
    // The other region is found when nothing else is left.
    while let Some(piece) = allocate(&free, 1, 512, 512) {
        assert!(piece.end <= free.table().end(3));
    }
    assert_eq!(free.occupancy().used_bytes, 4 * 1024 - 256);
}

#[test]
fn regions_in_use_are_all_that_are_neither_free_nor_untouched() {
    for regions in [1, 63, 64, 65, 128, 150] {
        let (free, _) = heap(1024, regions, 3, RefillStrategy::Cas);
        assert!(free.in_use().next().is_none());
        let mut taken: Vec<usize> = (0..regions).map_while(|turn| free.take_region(turn % 3)).collect();
        assert_eq!(taken.len(), regions);
        for step in [5, 3, 2, 1] {
            taken.sort_unstable();
            assert!(free.in_use().eq(taken.iter().copied()), "{taken:?} of {regions}");
            assert_eq!(free.regions_in_use(), taken.len());
            for index in taken.extract_if(.., |index| *index % step == 0) {
                free.give_region(index, index % 3);
            }
            free.verify().unwrap();
        }
        assert!(free.in_use().next().is_none());
    }
}

#[test]
fn occupancy_tells_old_regions_and_runs_from_the_rest() {
    let (free, _) = heap(1024, 8, 2, RefillStrategy::Cas);
    let untouched = RegionUse { uncommitted: 8, ..RegionUse::default() };
    assert_eq!(free.occupancy(), Occupancy { regions: untouched, ..Occupancy::default() });
    allocate(&free, 1, 512, 512).expect("half a region");
    let old = free.take_region(0).expect("a region");
    free.table().get(old).set_top(free.table().bottom(old) + 256);
    free.table().get(old).set_state(State::Old);
    let run = free.allocate_humongous(0, 2 * 1024 + 128).expect("three regions");
    let sum = free.occupancy();
    assert_eq!((sum.old_bytes, sum.tenured_bytes, sum.regions.humongous), (256, 256, 3));
    assert_eq!(sum.used_bytes, 512 + 256 + 2 * 1024 + 128);
    let regions = RegionUse { uncommitted: 3, shared: 1, old: 1, humongous: 3, ..RegionUse::default() };
    assert_eq!(sum.regions, regions);
    // The first region of a run has the flag that it is old.
    free.table().get(free.table().index_of(run.start)).set_tenured(true);
    assert_eq!(free.occupancy().tenured_bytes, 256 + 2 * 1024 + 128);
}

#[test]
fn only_a_free_region_is_taken() {
    let free = used();
    assert!(!free.take_free_region(0) && !free.take_free_region(3));
    assert!(free.take_free_region(2));
    assert!(!free.take_free_region(2));
    assert_eq!(free.table().get(2).state(), State::Exclusive);
    free.give_region(2, 0);
    free.verify().unwrap();
}

#[test]
fn regions_go_back_to_the_system_when_their_time_has_come() {
    let uncommit = |free: &FreeSet<_>, now_ms, delay_ms, keep_bytes| {
        free.uncommit_idle(now_ms, delay_ms, keep_bytes, |_| true)
    };
    let free = used();
    assert_eq!(uncommit(&free, 1000, 50, 0), 0);
    assert_eq!(uncommit(&free, 1049, 50, 0), 0);
    // Used meanwhile: the time starts again.
    assert!(free.take_free_region(2));
    free.give_region(2, 1);
    assert_eq!(uncommit(&free, 1050, 50, 0), 0);
    assert_eq!(uncommit(&free, 1100, 50, 3 * 1024), 0, "three regions are to stay committed");
    assert_eq!(uncommit(&free, 1100, 50, 2 * 1024 + 1), 0);
    assert_eq!(free.uncommit_idle(1100, 50, 2 * 1024, |_| false), 0, "it ends early");
    assert_eq!(uncommit(&free, 1100, 50, 2 * 1024), 1024);
    free.verify().unwrap();
    assert_eq!(free.table().get(2).state(), State::Uncommitted);
}

#[test]
fn a_run_is_a_run_where_it_was_moved_to() {
    // It moves by less than its length, by more, and to regions that were never used.
    for down in [1, 2, 4] {
        let (free, memory) = heap(1024, 8, 2, RefillStrategy::Cas);
        let piece = free.allocate_humongous(1, 2500).expect("room");
        let start = free.table().index_of(piece.start);
        assert_eq!(start, 5);
        memory.write(piece.start, piece.end);
        free.table().get(start).set_tenured(true);
        let run = free.run(start);
        assert_eq!((run.regions, run.bytes), (3, 2500));
        let to = start - down;
        for index in to..start {
            // The uppermost region had memory before, and was written.
            if index == start - 1 {
                let taken = free.take_untouched_region(index);
                assert!(taken);
                free.give_region(index, 0);
                assert!(!free.take_untouched_region(index) && free.take_free_region(index));
                free.table().get(index).raise_dirty(free.table().end(index));
            } else {
                assert!(!free.take_free_region(index) && free.take_untouched_region(index));
            }
            assert_eq!(free.table().get(index).state(), State::Exclusive);
        }
        memory.write(free.table().bottom(to), free.table().bottom(to) + run.bytes);
        free.settle_run(to, &run);
        (to + 3..start + 3).for_each(|index| free.retire_region(index, 0));
        free.verify().unwrap();
        assert_eq!(free.run(to), run);
        assert_eq!(free.object_end(to), free.table().bottom(to) + 2500);
        assert!(free.table().get(to).is_tenured());
        assert_eq!(free.occupancy().regions.humongous, 3);
        assert!((0..8).all(|index| index == to || !free.table().get(index).is_tenured()));
        // The written memory above it is recorded, so the next owner learns of it.
        free.give_humongous(to);
        free.verify().unwrap();
        let again = free.allocate_humongous(0, 8 * 1024).expect("all of it");
        memory.check(again);
        assert!(again.dirty >= free.table().bottom(start + 2), "to where the run reached");
    }
}

#[test]
fn a_region_for_which_there_is_no_memory_is_not_taken() {
    let (free, memory) = heap(1024, 4, 1, RefillStrategy::Cas);
    memory.allowance.store(1, Ordering::Relaxed);
    assert!(free.take_untouched_region(2));
    assert!(!free.take_untouched_region(1));
    assert!(!free.take_untouched_region(2), "somebody has it");
    free.give_region(2, 0);
    free.verify().unwrap();
    assert_eq!((free.table().get(1).state(), free.commit_failures()), (State::Uncommitted, 1));
}

#[test]
fn free_regions_are_scattered_unless_they_are_side_by_side() {
    // Regions in use.
    for (used, scattered) in [
        (&[][..], false),
        (&[0, 1, 2, 3, 4, 5], false),
        (&[0], false),
        (&[5], false),
        (&[0, 5], false),
        (&[1], true),
        (&[0, 2], true),
        (&[0, 1, 3, 4], true),
        (&[0, 1, 2, 4, 5], false),
    ] {
        let (free, _) = heap(1024, 6, 2, RefillStrategy::Cas);
        let all: Vec<usize> = std::iter::from_fn(|| free.take_region(0)).collect();
        // Some without memory.
        for index in all.into_iter().filter(|index| !used.contains(index)) {
            free.give_region(index, index % 2);
            if index % 3 == 0 {
                free.uncommit_free();
            }
        }
        assert_eq!(free.is_scattered(), scattered, "{used:?}");
    }
}
