//! The place where a run fits, and the room that is worth clearing: numbers only.
//!
//! Regions that nothing can leave or enter (with a pin, in quarantine) cut the heap into *rooms*.
//! Within a room all moving objects go down, so its free memory is side by side at its top. Objects
//! that go down from one room to another make the upper room emptier and the lower one fuller. So
//! one room is chosen, and nothing enters it from above. It is the room that will have the most
//! free regions, among those that have enough to begin with. So no run makes the longest free
//! stretch shorter.

use std::ops::Range;

/// The use of a region in the choice of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegionUse {
    /// Nothing leaves the region, and nothing enters it.
    Wall,
    /// The region is empty.
    Free,
    /// All contents of the region may leave it.
    Moves,
}

/// The lowest region from `from` on at which `regions` regions side by side begin. They are for a
/// run that begins at `own`: those below `own` are `usable`. The result is `own` at the latest.
pub(super) fn lowest_stretch(
    from: usize,
    own: usize,
    regions: usize,
    usable: impl Fn(usize) -> bool,
) -> usize {
    let first = from.min(own);
    let mut start = first;
    for index in first..own {
        if index - start == regions {
            return start;
        }
        if !usable(index) {
            start = index + 1;
        }
    }
    start
}

/// The room to clear of a heap of `regions` regions.
pub(super) fn room_to_clear(regions: usize, kind: impl Fn(usize) -> RegionUse) -> Range<usize> {
    let (mut longest, mut stretch) = (0, 0);
    for index in 0..regions {
        stretch = if kind(index) == RegionUse::Free { stretch + 1 } else { 0 };
        longest = longest.max(stretch);
    }
    let (mut best, mut most) = (0..0, 0);
    // Free regions in the rooms below.
    let mut below = 0;
    let mut start = 0;
    while start < regions {
        let end = (start..regions).find(|&index| kind(index) == RegionUse::Wall).unwrap_or(regions);
        let free = (start..end).filter(|&index| kind(index) == RegionUse::Free).count();
        let expected = free + (end - start - free).min(below);
        if start < end && free >= longest && expected >= most {
            (best, most) = (start..end, expected);
        }
        below += free;
        start = end + 1;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `.` is free, `#` a wall, anything else moves.
    fn kinds(heap: &str) -> Vec<RegionUse> {
        let kind = |sign| match sign {
            '.' => RegionUse::Free,
            '#' => RegionUse::Wall,
            _ => RegionUse::Moves,
        };
        heap.chars().map(kind).collect()
    }

    #[test]
    fn a_run_goes_to_the_lowest_regions_that_it_fits_in() {
        // Below the run, from where on, regions of the run, where it goes.
        for (below, from, regions, place) in [
            ("", 0, 3, 0),
            ("...", 0, 3, 0),
            (".....", 0, 3, 0),
            (".....", 1, 3, 1),
            ("#..", 0, 3, 1),
            ("..#", 0, 3, 3),
            ("..#", 0, 2, 0),
            (".#..#...", 0, 2, 2),
            (".#..#...", 0, 3, 5),
            (".#..#..", 0, 3, 5),
            (".#..#.", 0, 3, 5),
            (".#..#", 0, 3, 5),
            (".#..#...", 3, 2, 5),
            ("....", 4, 9, 4),
            ("....", 9, 2, 4),
        ] {
            let kinds = kinds(below);
            let found = lowest_stretch(from, kinds.len(), regions, |index| kinds[index] == RegionUse::Free);
            assert_eq!(found, place, "{below:?} from {from}, a run of {regions}");
        }
    }

    #[test]
    fn the_room_that_will_have_the_most_free_is_cleared() {
        for (heap, room) in [
            ("", 0..0),
            ("....", 0..4),
            ("oo.o.", 0..5),
            ("###", 0..0),
            // Objects above fill the room below.
            ("..o#oo..", 4..8),
            ("...#oo", 0..3),
            ("...#oooooo..", 0..3),
            ("...#oooooo...", 4..13),
            // Objects below would have to go up.
            ("....o#o..", 0..5),
            ("o#.#o.o#oo", 4..7),
            // Of two equal rooms the upper one, whose objects can still go to the room below.
            (".o#.o", 3..5),
            ("#..o#", 1..4),
        ] {
            let kinds = kinds(heap);
            assert_eq!(room_to_clear(kinds.len(), |index| kinds[index]), room, "{heap:?}");
        }
    }

    proptest! {
        #[test]
        fn the_room_has_no_wall_and_is_as_free_as_the_longest_stretch(
            kinds in prop::collection::vec(prop::sample::select(&[RegionUse::Free, RegionUse::Moves, RegionUse::Wall]), 0..40),
        ) {
            let room = room_to_clear(kinds.len(), |index| kinds[index]);
            let longest = kinds.split(|kind| *kind != RegionUse::Free).map(<[RegionUse]>::len).max().unwrap_or(0);
            let free = kinds[room.clone()].iter().filter(|kind| **kind == RegionUse::Free).count();
            prop_assert!(!kinds[room].contains(&RegionUse::Wall));
            prop_assert!(free >= longest);
        }
    }
}
