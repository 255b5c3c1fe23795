//! Single cases, each named after the guarantee of the free set that it checks.

use super::*;
use crate::region::MAX_REGION_BYTES;

const REGION: usize = 256;

fn small(regions: usize, homes: usize) -> (FreeSet<Arc<Memory>>, Arc<Memory>) {
    heap(REGION, regions, homes, RefillStrategy::Cas)
}

/// The region of the piece.
fn region_of(free: &FreeSet<Arc<Memory>>, piece: Carve) -> usize {
    free.table().index_of(piece.start)
}

#[test]
fn a_core_gets_the_region_it_wrote_then_another_core_s_then_an_untouched_one() {
    let (free, memory) = small(3, 2);
    assert!(free.commit_ahead(2 * REGION));
    // The lower one is core 0's and the upper one core 1's.
    let order: Vec<_> =
        (0..3).map(|_| region_of(&free, allocate(&free, 1, REGION, REGION).unwrap())).collect();
    assert_eq!(order, [1, 0, 2]);
    assert!(memory.committed.iter().all(|committed| committed.load(Ordering::Relaxed)));
}

#[test]
fn untouched_regions_side_by_side_are_one_core_s() {
    let (free, _) = small(24, 2);
    let take = |home| free.take_region(home).unwrap();
    let taken: Vec<_> = (0..9).map(|_| [take(0), take(1)]).collect();
    for (turn, &regions) in taken.iter().enumerate().take(8) {
        assert_eq!(regions, [turn, 8 + turn]);
    }
    // One core begins the next run. There is no other run, so the second core takes any region.
    assert_eq!(taken[8], [16, 17]);
    assert_eq!([take(0), take(1), take(1)], [18, 19, 20]);
}

#[test]
fn after_a_reset_a_core_gets_its_regions_back() {
    let (free, _) = small(4, 2);
    let mine =
        [0, 1].map(|home| [0; 2].map(|_| region_of(&free, allocate(&free, home, REGION, REGION).unwrap())));
    free.reset();
    for home in [1, 0] {
        let again = [0; 2].map(|_| region_of(&free, allocate(&free, home, REGION, REGION).unwrap()));
        assert_eq!(again, mine[home]);
    }
}

#[test]
fn at_the_capacity_no_thread_waits_for_one_that_moves_a_region() {
    let (free, _) = small(4, 1);
    free.set_capacity(2);
    // A thread that lost its CPU within a move.
    let moving = free.transit.begin();
    let taken = [(); 3].map(|()| allocate(&free, 0, REGION, REGION).is_some());
    assert_eq!(taken, [true, true, false]);
    // Nor does any thread get a region that the lower capacity withheld.
    free.raise_capacity(3);
    assert!(allocate(&free, 0, REGION, REGION).is_some());
    drop(moving);
    free.verify().unwrap();
}

#[test]
fn a_rest_too_small_for_an_object_goes_to_the_buffer() {
    let (free, _) = small(1, 1);
    assert_eq!(allocate(&free, 0, 16, REGION - 8).unwrap().end, BASE + REGION);
    assert!(allocate(&free, 0, 8, 8).is_none());
}

#[test]
fn an_object_gets_what_it_asked_for_whatever_rest_it_leaves() {
    let (free, _) = small(1, 1);
    assert_eq!(allocate(&free, 0, REGION - 8, REGION - 8).unwrap().end, BASE + REGION - 8);
    free.verify().unwrap();
}

#[test]
fn a_region_that_left_its_slot_full_is_found_again_when_its_tail_is_undone() {
    let (free, _) = small(2, 1);
    let buffer = allocate(&free, 0, REGION, REGION).unwrap();
    allocate(&free, 0, REGION, REGION).unwrap();
    assert!(free.undo(buffer.start + 64, buffer.end));
    free.verify().unwrap();
    assert_eq!(
        allocate(&free, 0, 64, REGION).unwrap(),
        Carve { start: buffer.start + 64, end: buffer.end, dirty: buffer.start + 64 }
    );
}

#[test]
fn what_is_not_shared_is_not_undone() {
    let (free, _) = small(3, 1);
    let index = free.take_region(0).unwrap();
    free.table().get(index).set_top(BASE + 64);
    assert!(!free.undo(BASE + 32, BASE + 64), "its owner moves the top");
    let run = free.allocate_humongous(0, REGION + 64).unwrap();
    assert!(!free.undo(run.end - 32, run.end), "an object has no tail to give back");
    assert!(!free.undo(BASE, BASE), "an empty tail does not count");
    free.verify().unwrap();
}

#[test]
fn a_humongous_object_takes_committed_regions_when_the_system_has_no_more() {
    let (free, memory) = small(4, 1);
    assert!(free.commit_ahead(2 * REGION));
    memory.allowance.store(1, Ordering::Relaxed);
    let run = free.allocate_humongous(0, 2 * REGION).expect("committed regions are free");
    assert_eq!(region_of(&free, run), 1, "the highest run there is");
    assert_eq!(free.commit_failures(), 1, "the two highest were tried first");
    free.verify().unwrap();
    assert_eq!(free.committed_regions(), 3, "the second attempt uses the regions that the first committed");
}

#[test]
fn a_humongous_object_the_system_refuses_counts_as_refused() {
    let (free, memory) = small(2, 1);
    memory.allowance.store(0, Ordering::Relaxed);
    assert!(free.allocate_humongous(0, 2 * REGION).is_none());
    assert_eq!(free.commit_failures(), 1);
    free.verify().unwrap();
}

#[test]
fn no_humongous_object_is_larger_than_the_heap() {
    let (free, _) = small(2, 1);
    assert!(free.allocate_humongous(0, 2 * REGION + 8).is_none());
    assert!(free.allocate_humongous(0, usize::MAX).is_none());
    assert_eq!(free.committed_regions(), 0, "nobody was asked for memory");
}

#[test]
fn the_largest_spare_that_can_be_packed_comes_back_whole_and_a_larger_one_is_refused() {
    let geometry = Geometry { region_shift: MAX_REGION_BYTES.trailing_zeros(), regions: 2 };
    let (_, memory) = small(2, 1);
    let free = FreeSet::new(RegionTable::new(BASE, geometry), memory, RefillStrategy::Cas, 1);
    let buffer = allocate(&free, 0, MAX_REGION_BYTES, MAX_REGION_BYTES).unwrap();
    assert!(!free.give_spare(0, buffer.start, buffer.end));
    assert!(free.give_spare(0, buffer.start + 8, buffer.end));
    let spare = free.take_spare(0, 16).unwrap();
    assert_eq!(spare, Carve { start: buffer.start + 8, end: buffer.end, dirty: buffer.end });
}

#[test]
fn memory_given_back_to_the_system_is_clean_and_other_memory_is_not() {
    let (free, memory) = small(2, 1);
    let run = free.allocate_humongous(0, REGION + 64).unwrap();
    assert_eq!(run.dirty, run.start);
    free.give_humongous(0);
    let again = free.allocate_humongous(0, 2 * REGION).unwrap();
    assert_eq!(again.dirty, BASE + REGION + 64);
    free.give_humongous(0);
    memory.stubborn.store(true, Ordering::Relaxed);
    assert_eq!(free.uncommit_free(), 0);
    assert_eq!(allocate(&free, 0, 64, 64).unwrap().dirty, BASE + 64);
    free.reset();
    memory.stubborn.store(false, Ordering::Relaxed);
    assert_eq!(free.uncommit_free(), 2 * REGION);
    assert_eq!(allocate(&free, 0, 64, 64).unwrap().dirty, BASE);
}

#[test]
fn the_checker_finds_what_was_broken() {
    let broken = |break_it: &dyn Fn(&FreeSet<Arc<Memory>>)| {
        let (free, _) = small(4, 2);
        allocate(&free, 0, 64, 64).unwrap();
        free.verify().unwrap();
        break_it(&free);
        free.verify().unwrap_err()
    };
    assert!(broken(&|free| free.table().get(0).set_top(BASE + REGION + 8)).contains("top"));
    assert!(broken(&|free| free.table().get(1).raise_dirty(BASE + 2 * REGION + 8)).contains("dirty"));
    assert!(broken(&|free| free.table().get(1).set_state(State::Free)).contains("untouched"));
    assert!(broken(&|free| assert!(free.untouched.take(1))).contains("untouched"));
    assert!(broken(&|free| free.free[1].put(0)).contains("1 sets"));
    assert!(broken(&|free| free.table().get(2).set_top(BASE + 2 * REGION + 8)).contains("empty"));
    assert!(broken(&|free| free.table().get(0).set_run(1)).contains("not humongous"));
    assert!(broken(&|free| free.partial.put(3)).contains("forbids that"));
    assert!(broken(&|free| free.table().get(0).set_home(1)).contains("no thread would find it"));
    assert!(
        broken(&|free| {
            free.allocate_humongous(0, 2 * REGION).unwrap();
            free.table().get(3).set_run(2);
        })
        .contains("does not continue")
    );
    assert!(
        broken(&|free| {
            free.allocate_humongous(0, 2 * REGION).unwrap();
            free.table().get(2).set_run(3);
        })
        .contains("leaves the heap")
    );
    assert!(
        broken(&|free| {
            free.allocate_humongous(0, 2 * REGION).unwrap();
            free.table().get(2).set_state(State::Exclusive);
            free.table().get(2).set_run(0);
        })
        .contains("continues nothing")
    );
    assert!(
        broken(&|free| {
            let index = free.take_region(0).unwrap();
            free.give_region(index, 0);
            free.table().get(index).set_home(1);
        })
        .contains("another core")
    );
    assert!(broken(&|free| assert!(free.give_spare(0, BASE, BASE + 128))).contains("spare"));
}
