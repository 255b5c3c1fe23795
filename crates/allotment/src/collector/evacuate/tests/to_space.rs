//! The regions from which workers take pieces.

use super::*;
use crate::region::State;

const PIECE: usize = 1 << 10;

#[test]
fn each_core_fills_a_region_of_its_own_while_there_are_many() {
    for kind in [SpaceKind::Survivors, SpaceKind::Old] {
        let mut young = Young::new((8 << 10, 6), "AllocationRegions=2", 1, limits());
        let state = if kind == SpaceKind::Old { State::Old } else { State::Survivor };
        young.evacuate_with(|evacuation, _, _| {
            let space = if kind == SpaceKind::Old { evacuation.old } else { evacuation.survivors };
            let free = &evacuation.space.free;
            let mut of_core = |home| {
                let piece = space.carve(evacuation, home, PIECE, PIECE)?;
                Some(free.table().index_of(piece.start))
            };
            let [first, second] = [0, 1].map(|home| of_core(home).expect("a free region"));
            assert_ne!(first, second);
            assert_eq!([0, 1].map(&mut of_core), [Some(first), Some(second)], "they go on with it");
            // Core 0 takes one more region, then the rest of the region of core 1, then the last
            // regions.
            let rest: Vec<usize> = std::iter::from_fn(|| of_core(0)).collect();
            let rows: Vec<_> = rest.chunk_by(|one, other| one == other).collect();
            assert_eq!(rows.iter().map(|row| row.len()).collect::<Vec<_>>(), [6, 8, 6, 8, 8, 8]);
            assert_eq!((rows[0][0], rows[2][0]), (first, second));
            assert!(of_core(1).is_none(), "nothing is left");
            for index in 0..6 {
                assert_eq!(
                    (free.table().get(index).state(), evacuation.set.role(index)),
                    match kind {
                        SpaceKind::Survivors => (state, Role::SURVIVORS),
                        SpaceKind::Old => (state, Role::OUTSIDE),
                    }
                );
            }
        });
    }
}

#[test]
fn old_regions_that_are_not_full_are_filled_by_later_collections_a_core_s_own_first() {
    let mut young = Young::new((8 << 10, 8), "AllocationRegions=2", 1, limits());
    young.evacuate_with(|evacuation, _, _| {
        let (space, free) = (evacuation.old, &evacuation.space.free);
        let carve = |home| {
            let piece = space.carve(evacuation, home, PIECE, PIECE)?;
            Some(free.table().index_of(piece.start))
        };
        let begun = [0, 1].map(carve);
        for _ in 0..3 {
            space.begin(free);
            // In the other order.
            let again = [1, 0].map(carve);
            assert_eq!(again, [begun[1], begun[0]]);
        }
        // One core alone fills both before it takes another.
        space.begin(free);
        let filled: Vec<_> = (0..8).map(|_| carve(1)).collect();
        let expected = [[begun[1]; 4], [begun[0]; 4]].concat();
        assert_eq!(filled, expected);
        space.verify(free, &begun.map(|index| index.expect("a region")));
    });
}
