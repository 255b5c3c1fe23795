//! What a collection does to the free set, on memory that is not there.

use super::*;
use crate::region::Occupancy;

/// Two regions of one core, one full and one with room, and one region that is free.
fn used() -> FreeSet<Arc<Memory>> {
    let (free, _) = heap(1024, 4, 2, RefillMode::CompareAndSwap);
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
    assert!(free.verify().unwrap_err().contains("nobody would find it"));
    free.offer_region(0, bottom + 256);
    free.offer_region(1, free.table().get(1).top());
    free.verify().unwrap();
    // The roomier one serves its core first, and says what is not zero any more.
    let piece = allocate(&free, 1, 512, 512).expect("room");
    assert_eq!((piece.start, piece.dirty), (bottom + 256, piece.end));
    // The other one is found when nothing else is left.
    while let Some(piece) = allocate(&free, 1, 512, 512) {
        assert!(piece.end <= free.table().end(3));
    }
    assert_eq!(free.occupancy().used_bytes, 4 * 1024 - 256);
}

#[test]
fn regions_in_use_are_all_that_are_neither_free_nor_untouched() {
    for regions in [1, 63, 64, 65, 128, 150] {
        let (free, _) = heap(1024, regions, 3, RefillMode::CompareAndSwap);
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
    let (free, _) = heap(1024, 8, 2, RefillMode::CompareAndSwap);
    assert_eq!(free.occupancy(), Occupancy::default());
    allocate(&free, 1, 512, 512).expect("half a region");
    let old = free.take_region(0).expect("a region");
    free.table().get(old).set_top(free.table().bottom(old) + 256);
    free.table().get(old).set_state(State::Old);
    free.allocate_humongous(0, 2 * 1024 + 128).expect("three regions");
    let sum = free.occupancy();
    assert_eq!((sum.old_bytes, sum.humongous_regions), (256, 3));
    assert_eq!(sum.used_bytes, 512 + 256 + 2 * 1024 + 128);
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
    let free = used();
    assert_eq!(free.uncommit_idle(1000, 50, 0), 0);
    assert_eq!(free.uncommit_idle(1049, 50, 0), 0);
    // Used meanwhile: the time begins anew.
    assert!(free.take_free_region(2));
    free.give_region(2, 1);
    assert_eq!(free.uncommit_idle(1050, 50, 0), 0);
    assert_eq!(free.uncommit_idle(1100, 50, 3 * 1024), 0, "three regions are to stay committed");
    assert_eq!(free.uncommit_idle(1100, 50, 2 * 1024 + 1), 0);
    assert_eq!(free.uncommit_idle(1100, 50, 2 * 1024), 1024);
    free.verify().unwrap();
    assert_eq!(free.table().get(2).state(), State::Uncommitted);
}
