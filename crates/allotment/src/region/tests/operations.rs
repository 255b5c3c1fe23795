//! The calls that the layers above may make on the free set, as data.

use proptest::prelude::*;
use proptest::sample::Index;

/// One call. An [`Index`] chooses among the existing objects of its kind at that moment.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    Allocate {
        home: usize,
        min: usize,
        more: usize,
    },
    /// Lengthens a piece in place.
    Extend {
        piece: Index,
        min: usize,
        more: usize,
    },
    /// Writes `used` words of a piece and undoes the rest.
    Undo {
        piece: Index,
        used: usize,
    },
    /// Writes `used` words of a piece and gives the rest up as a spare.
    GiveSpare {
        piece: Index,
        used: usize,
        home: usize,
    },
    TakeSpare {
        home: usize,
        min: usize,
    },
    TakeRegion {
        home: usize,
    },
    /// Fills a number of words of a region with one owner, and lets all threads use the rest.
    Share {
        region: Index,
        words: usize,
    },
    /// Fills a number of words of such a region, and gives it to the free set.
    Give {
        region: Index,
        words: usize,
        home: usize,
    },
    Humongous {
        home: usize,
        words: usize,
    },
    GiveHumongous {
        run: Index,
    },
    CommitAhead {
        words: usize,
    },
    Uncommit,
    Reset,
    /// From now on the system has memory for this number of regions.
    Allowance(usize),
    /// From now on the system takes memory back, or does not.
    Stubborn(bool),
}

/// Regions of `region` words, `regions` of them, `homes` cores.
pub(super) fn operation(region: usize, regions: usize, homes: usize) -> impl Strategy<Value = Operation> {
    use Operation::*;
    // Mostly small sizes; sometimes up to the whole region.
    let words = prop_oneof![3 => 2..9_usize, 2 => 2..=region];
    let filled = prop_oneof![1 => Just(0), 1 => Just(region), 1 => Just(region - 1), 3 => 0..=region];
    prop_oneof![
        12 => (0..homes, words, prop_oneof![Just(0), 0..region])
            .prop_map(|(home, min, more)| Allocate { home, min, more }),
        4 => (any::<Index>(), 2..9_usize, prop_oneof![Just(0), 0..region])
            .prop_map(|(piece, min, more)| Extend { piece, min, more }),
        5 => (any::<Index>(), 0..region).prop_map(|(piece, used)| Undo { piece, used }),
        5 => (any::<Index>(), 0..region / 2, 0..homes)
            .prop_map(|(piece, used, home)| GiveSpare { piece, used, home }),
        2 => (0..homes, 2..region).prop_map(|(home, min)| TakeSpare { home, min }),
        2 => (0..homes).prop_map(|home| TakeRegion { home }),
        2 => (any::<Index>(), filled.clone()).prop_map(|(region, words)| Share { region, words }),
        2 => (any::<Index>(), filled, 0..homes).prop_map(|(region, words, home)| Give { region, words, home }),
        2 => (0..homes, region + 1..region * (regions + 1))
            .prop_map(|(home, words)| Humongous { home, words }),
        2 => any::<Index>().prop_map(|run| GiveHumongous { run }),
        1 => (0..region * regions + 10).prop_map(|words| CommitAhead { words }),
        1 => Just(Uncommit),
        1 => Just(Reset),
        1 => (0..=regions).prop_map(Allowance),
        1 => any::<bool>().prop_map(Stubborn),
    ]
}
