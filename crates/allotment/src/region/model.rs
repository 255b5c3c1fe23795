//! Every interleaving of two mutators, and some of three, at the free set:
//! `RUSTFLAGS="--cfg loom" cargo test -p allotment --lib --release model::`.
//!
//! Regions of 256 bytes, at addresses that are never touched. Models end with [`FreeSet::verify`]
//! and count regions and bytes: nothing is owned twice, nothing is lost. Those of two threads are
//! explored whole, without a bound on preemptions; the longest with four, as it takes minutes else.

use super::Geometry;
use super::carve::{Attempts, Carve};
use super::committer::Backing;
use super::free_set::FreeSet;
use super::spares::MIN_SPARE_BYTES;
use super::table::{RegionTable, State};
use crate::options::RefillStrategy;
use loom::sync::Arc;
use loom::thread;

const REGION: usize = 256;
const BASE: usize = 1 << 40;

/// Unlimited memory.
struct Plenty;

impl Backing for Plenty {
    fn commit(&self, _index: usize) -> bool {
        true
    }
    fn uncommit(&self, _index: usize) -> bool {
        true
    }
}

type Heap = Arc<FreeSet<Plenty>>;

fn heap(regions: usize, homes: usize) -> Heap {
    let geometry = Geometry { region_shift: REGION.trailing_zeros(), regions };
    Arc::new(FreeSet::new(RegionTable::new(BASE, geometry), Plenty, RefillStrategy::Cas, homes))
}

fn allocate(heap: &Heap, home: usize, bytes: usize) -> Option<Carve> {
    heap.allocate(home, bytes, bytes, &mut Attempts::default())
}

fn spawn<R: 'static>(heap: &Heap, body: impl FnOnce(Heap) -> R + 'static) -> thread::JoinHandle<R> {
    let heap = heap.clone();
    thread::spawn(move || body(heap))
}

fn assert_disjoint(one: Carve, other: Carve) {
    assert!(one.end <= other.start || other.end <= one.start, "{one:x?} and {other:x?} overlap");
}

/// Checks that the invariants hold, and that `used` bytes are in use.
fn assert_sound(heap: &Heap, used: usize) {
    heap.verify().unwrap();
    assert_eq!(heap.occupancy().used_bytes, used);
}

fn count(heap: &Heap, state: State) -> usize {
    (0..heap.table().len()).filter(|&index| heap.table().get(index).state() == state).count()
}

/// Fills the rest in pieces of 16 bytes and counts it: nothing is missing.
fn assert_usable_to_the_end(heap: &Heap) {
    while allocate(heap, 0, 16).is_some() {}
    assert_eq!(heap.occupancy().used_bytes, heap.table().geometry().heap_bytes());
}

#[test]
fn two_threads_on_one_slot_share_the_region_that_replaces_a_full_one() {
    let mut four_preemptions = loom::model::Builder::new();
    four_preemptions.preemption_bound = Some(4);
    four_preemptions.check(|| {
        let heap = heap(3, 1);
        allocate(&heap, 0, REGION).unwrap();
        let other = spawn(&heap, |heap| allocate(&heap, 0, 128).unwrap());
        let mine = allocate(&heap, 0, 128).unwrap();
        assert_disjoint(mine, other.join().unwrap());
        assert_sound(&heap, REGION + 256);
        assert_eq!(count(&heap, State::Shared), 2, "one region served both");
        assert_usable_to_the_end(&heap);
    });
}

#[test]
fn the_last_region_on_its_way_to_a_slot_is_waited_for() {
    for homes in [1, 2] {
        loom::model(move || {
            let heap = heap(homes + 1, homes);
            (0..homes).for_each(|home| assert!(allocate(&heap, home, REGION).is_some()));
            let other = spawn(&heap, move |heap| allocate(&heap, homes - 1, 64).unwrap());
            let mine = allocate(&heap, 0, 64).unwrap();
            assert_disjoint(mine, other.join().unwrap());
            assert_sound(&heap, homes * REGION + 128);
            assert_usable_to_the_end(&heap);
        });
    }
}

#[test]
fn a_lost_humongous_claim_gives_everything_back_before_others_give_up() {
    loom::model(|| {
        let heap = heap(2, 1);
        let other = spawn(&heap, |heap| heap.take_region(0));
        let run = heap.allocate_humongous(0, 2 * REGION);
        match (run, other.join().unwrap()) {
            (Some(run), None) => {
                assert_sound(&heap, 2 * REGION);
                heap.give_humongous(heap.table().index_of(run.start));
            }
            (None, Some(index)) => heap.give_region(index, 0),
            (run, region) => panic!("{run:?} and {region:?}"),
        }
        assert_sound(&heap, 0);
        assert_eq!(count(&heap, State::Free) + count(&heap, State::Uncommitted), 2);
        assert_usable_to_the_end(&heap);
    });
}

#[test]
fn a_region_that_a_lost_humongous_claim_holds_is_waited_for() {
    let mut two_preemptions = loom::model::Builder::new();
    two_preemptions.preemption_bound = Some(2);
    two_preemptions.check(|| {
        let heap = heap(2, 1);
        // The upper region is gone before the claim reaches it. (Taken by hand: loom lets two
        // waiting threads keep a third one from running.)
        let rival = spawn(&heap, |heap| {
            if heap.untouched.take(1) {
                heap.table().get(1).set_state(State::Exclusive);
            }
        });
        let other = spawn(&heap, |heap| heap.take_region(0));
        let run = heap.allocate_humongous(0, 2 * REGION);
        rival.join().unwrap();
        assert_eq!(other.join().unwrap().is_none(), run.is_some(), "one of two regions is left, or none is");
        heap.verify().unwrap();
    });
}

#[test]
fn a_mutator_and_a_humongous_claim_never_own_one_region() {
    loom::model(|| {
        let heap = heap(3, 1);
        let other = spawn(&heap, |heap| allocate(&heap, 0, 64).unwrap());
        let run = heap.allocate_humongous(0, 2 * REGION).expect("two of three regions in a row are left");
        assert_disjoint(run, other.join().unwrap());
        assert_sound(&heap, 2 * REGION + 64);
        assert_usable_to_the_end(&heap);
    });
}

#[test]
fn a_region_on_its_way_back_to_the_system_is_waited_for() {
    loom::model(|| {
        let heap = heap(1, 1);
        assert!(heap.commit_ahead(REGION));
        let other = spawn(&heap, |heap| heap.uncommit_free());
        allocate(&heap, 0, 64).expect("the region is free, in one set or the other");
        assert!(matches!(other.join().unwrap(), 0 | REGION));
        assert_sound(&heap, 64);
        assert_usable_to_the_end(&heap);
    });
}

#[test]
fn a_spare_has_one_taker() {
    loom::model(|| {
        let heap = heap(1, 1);
        let piece = allocate(&heap, 0, REGION).unwrap();
        let spare = piece.end - MIN_SPARE_BYTES;
        let takers: Vec<_> = (0..2).map(|_| spawn(&heap, |heap| heap.take_spare(0, 16))).collect();
        assert!(heap.give_spare(0, spare, piece.end));
        let taken: Vec<_> = takers.into_iter().filter_map(|taker| taker.join().unwrap()).collect();
        let left = heap.take_spare(0, 16);
        let all: Vec<_> = taken.into_iter().chain(left).collect();
        assert_eq!(all, [Carve { start: spare, end: piece.end, dirty: piece.end }]);
        assert_sound(&heap, REGION);
    });
}

#[test]
fn two_spares_given_up_at_once_are_both_remembered() {
    loom::model(|| {
        let heap = heap(1, 1);
        let (low, high) = (allocate(&heap, 0, 128).unwrap(), allocate(&heap, 0, 128).unwrap());
        let other = spawn(&heap, move |heap| assert!(heap.give_spare(0, low.start, low.end)));
        assert!(heap.give_spare(0, high.start, high.end));
        other.join().unwrap();
        let taken = [heap.take_spare(0, 128).unwrap(), heap.take_spare(0, 128).unwrap()];
        assert_disjoint(taken[0], taken[1]);
        assert_sound(&heap, REGION);
    });
}

#[test]
fn a_spare_given_up_again_is_the_same_spare() {
    loom::model(|| {
        let heap = heap(1, 1);
        let piece = allocate(&heap, 0, REGION).unwrap();
        assert!(heap.give_spare(0, piece.start, piece.end));
        let other = spawn(&heap, |heap| {
            let taken = heap.take_spare(0, 16)?;
            assert!(heap.give_spare(0, taken.start + 64, taken.end));
            Some(taken.start)
        });
        let mine = heap.take_spare(0, 16);
        let other = other.join().unwrap();
        let left = heap.take_spare(0, 16);
        // The part that the other kept is never part of another thread's piece.
        let first = other.map_or(piece.start, |start| start + 64);
        for taken in mine.into_iter().chain(left) {
            let expected =
                if mine.is_some_and(|mine| mine.start == piece.start) { piece.start } else { first };
            assert_eq!((taken.start, taken.end), (expected, piece.end));
        }
        assert!(!(mine.is_some() && left.is_some()), "{mine:?} and {left:?}");
    });
}

#[test]
fn undone_bytes_have_one_next_owner() {
    loom::model(|| {
        let heap = heap(1, 1);
        let piece = allocate(&heap, 0, 128).unwrap();
        let other = spawn(&heap, |heap| allocate(&heap, 0, 64).unwrap());
        let undone = heap.undo(piece.start + 64, piece.end);
        let kept = Carve { end: if undone { piece.start + 64 } else { piece.end }, ..piece };
        let theirs = other.join().unwrap();
        assert_disjoint(kept, theirs);
        let mine = allocate(&heap, 0, 64).unwrap();
        assert_disjoint(mine, theirs);
        assert_disjoint(mine, kept);
        assert_sound(&heap, if undone { 192 } else { 256 });
    });
}

#[test]
fn what_follows_a_buffer_lengthens_it_or_is_somebody_elses() {
    loom::model(|| {
        let heap = heap(1, 1);
        let piece = allocate(&heap, 0, 64).unwrap();
        let other = spawn(&heap, |heap| allocate(&heap, 0, 64).unwrap());
        let longer = heap.extend(piece.end, 64, 64, &mut Attempts::default());
        let theirs = other.join().unwrap();
        assert_disjoint(piece, theirs);
        if let Some(longer) = longer {
            assert_eq!(longer.start, piece.end);
            assert_disjoint(longer, theirs);
        }
        assert_sound(&heap, if longer.is_some() { 192 } else { 128 });
        assert_usable_to_the_end(&heap);
    });
}

#[test]
fn two_undo_at_once_and_no_byte_is_given_back_twice() {
    loom::model(|| {
        let heap = heap(1, 1);
        let (low, high) = (allocate(&heap, 0, 128).unwrap(), allocate(&heap, 0, 128).unwrap());
        let other = spawn(&heap, move |heap| heap.undo(high.start + 32, high.end));
        let low_undone = heap.undo(low.start + 32, low.end);
        assert!(other.join().unwrap(), "no memory after the upper one is taken");
        assert!(!low_undone, "the upper one still holds 32 bytes");
        assert_sound(&heap, 128 + 32);
        assert_usable_to_the_end(&heap);
    });
}

#[test]
fn room_that_an_undo_makes_in_a_region_leaving_its_slot_is_found() {
    loom::model(|| {
        let heap = heap(2, 1);
        allocate(&heap, 0, 128).unwrap();
        let tail = allocate(&heap, 0, 128).unwrap();
        // Too large for the undone tail: this one replaces the region.
        let other = spawn(&heap, |heap| allocate(&heap, 0, 192).unwrap());
        assert!(heap.undo(tail.start + 64, tail.end));
        other.join().unwrap();
        assert_sound(&heap, 192 + 192);
        assert_usable_to_the_end(&heap);
    });
}

/// Two full regions, one of them outside its slot and still marked as partial. Returns the tail of
/// that region.
fn full_heap() -> (Heap, Carve) {
    let heap = heap(2, 1);
    allocate(&heap, 0, 192).unwrap();
    allocate(&heap, 0, 192).unwrap();
    let tail = allocate(&heap, 0, 64).unwrap();
    let aside = allocate(&heap, 0, 64).unwrap();
    assert_eq!(heap.table().index_of(tail.start), 1, "the slot's region first");
    assert!(heap.partial.contains(0) && !heap.has_room(0));
    (heap, aside)
}

#[test]
fn room_that_an_undo_makes_while_the_last_resort_gives_up_is_kept() {
    loom::model(|| {
        let (heap, tail) = full_heap();
        let other = spawn(&heap, |heap| allocate(&heap, 0, 32));
        assert!(heap.undo(tail.start, tail.end));
        let taken = other.join().unwrap().map_or(0, |piece| piece.end - piece.start);
        assert_sound(&heap, 2 * REGION - 64 + taken);
        assert_usable_to_the_end(&heap);
    });
}

#[test]
fn forgetting_a_full_region_hides_no_room_from_a_third_thread() {
    loom::model(|| {
        let (heap, tail) = full_heap();
        let gives_up = spawn(&heap, |heap| allocate(&heap, 0, 128).is_none());
        assert!(heap.undo(tail.start, tail.end));
        allocate(&heap, 0, 64).expect("64 bytes were given back");
        assert!(gives_up.join().unwrap());
        assert_sound(&heap, 2 * REGION);
    });
}

#[test]
fn two_threads_at_the_end_find_both_holes() {
    loom::model(|| {
        let heap = heap(2, 1);
        // Holes of 32 bytes: one in a region set aside, one in the region of the slot.
        allocate(&heap, 0, 224).unwrap();
        allocate(&heap, 0, 224).unwrap();
        let other = spawn(&heap, |heap| allocate(&heap, 0, 32).unwrap());
        let mine = allocate(&heap, 0, 32).unwrap();
        assert_disjoint(mine, other.join().unwrap());
        assert_sound(&heap, 2 * REGION);
        assert!(allocate(&heap, 0, 16).is_none());
    });
}

#[test]
fn the_last_resort_sees_how_far_a_region_is_dirty() {
    loom::model(|| {
        let heap = heap(1, 1);
        let index = heap.take_region(0).unwrap();
        let other = spawn(&heap, move |heap| {
            // Filled to 192 once, and then again to 64.
            heap.table().get(index).set_top(BASE + 192);
            heap.table().empty(index);
            heap.table().get(index).set_top(BASE + 64);
            heap.share_region(index);
        });
        if let Some(piece) = heap.allocate(0, 64, REGION, &mut Attempts::default()) {
            assert_eq!(piece, Carve { start: BASE + 64, end: BASE + 256, dirty: BASE + 192 });
        }
        other.join().unwrap();
        heap.verify().unwrap();
    });
}
