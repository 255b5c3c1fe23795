//! The bitmap against a set.

use crate::region::bitmap::Bitmap;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Step {
    Put(usize),
    Note(usize),
    Take(usize),
    TakeLowest,
    Clear,
}

fn step(regions: usize) -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..regions).prop_map(Step::Put),
        2 => (0..regions).prop_map(Step::Note),
        3 => (0..regions).prop_map(Step::Take),
        3 => Just(Step::TakeLowest),
        1 => Just(Step::Clear),
    ]
}

/// Sizes at and around the edges of words, with steps for
/// them.
fn sequence() -> impl Strategy<Value = (usize, Vec<Step>)> {
    prop_oneof![Just(1_usize), Just(63), Just(64), Just(65), 1..300_usize]
        .prop_flat_map(|regions| (Just(regions), prop::collection::vec(step(regions), 0..200)))
}

proptest! {
    #[test]
    fn it_is_a_set((regions, steps) in sequence()) {
        let (bitmap, mut set) = (Bitmap::new(regions), BTreeSet::new());
        for step in steps {
            match step {
                // Only its owner puts a region.
                Step::Put(index) if set.contains(&index) => {}
                Step::Put(index) => {
                    bitmap.put(index);
                    set.insert(index);
                }
                Step::Note(index) => {
                    bitmap.note(index);
                    set.insert(index);
                }
                Step::Take(index) => prop_assert_eq!(bitmap.take(index), set.remove(&index)),
                Step::TakeLowest => prop_assert_eq!(bitmap.take_lowest(), set.pop_first()),
                Step::Clear => {
                    bitmap.clear();
                    set.clear();
                }
            }
            prop_assert!(bitmap.iter().eq(set.iter().copied()));
            prop_assert_eq!(bitmap.count(), set.len());
            prop_assert_eq!(bitmap.is_empty(), set.is_empty());
            prop_assert!((0..regions).all(|index| bitmap.contains(index) == set.contains(&index)));
        }
    }
}
