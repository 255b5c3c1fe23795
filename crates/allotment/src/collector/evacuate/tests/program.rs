//! Random programs, collected young and whole.

use super::*;
use crate::collector::full::Compaction;
use crate::collector::full::tests::program::{Step, perform, step};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Turn {
    Step(Step),
    Young,
    Threshold(u8),
    Survivors(usize),
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        40 => step().prop_map(Turn::Step),
        5 => Just(Turn::Young),
        1 => prop::sample::select(vec![0_u8, 1, 2, 15]).prop_map(Turn::Threshold),
        1 => prop::sample::select(vec![0_usize, 3000, usize::MAX]).prop_map(Turn::Survivors),
    ]
}

fn options() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "",
        "+ZealPoison",
        "+ZealPoison,ZealQuarantine=1",
        "+ZealProtect,ZealQuarantine=2",
    ])
}

fn stack() -> impl Strategy<Value = StackLimits> {
    prop_oneof![
        Just(TINY),
        Just(DEEP),
        (2_usize..20, 1_usize..4).prop_map(|(piece, pieces)| StackLimits { piece, pieces })
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn reachable_and_old_objects_stay_as_they_were(
        workers in 1_usize..5,
        geometry in prop::sample::select(vec![(4096_usize, 6_usize), (4096, 24), (8192, 16), (32768, 12)]),
        options in options(),
        stack in stack(),
        plabs in (32..=REGION / 8, 32..=REGION / 8),
        turns in prop::collection::vec(turn(), 1..150),
    ) {
        let plabs = (plabs.0 * 8, plabs.1 * 8);
        let limits = Limits { stack, young_plab_bytes: plabs.0, old_plab_bytes: plabs.1, ..limits() };
        let mut young = Young::new(geometry, options, workers, limits);
        for turn in turns {
            match turn {
                Turn::Step(Step::Collect(Compaction::Garbage { percent })) if percent < 80 => drop(young.collect()),
                Turn::Step(Step::Collect(compaction)) => young.collect_full(compaction),
                Turn::Step(step) => perform(&mut young.graph, step),
                Turn::Young => drop(young.collect()),
                Turn::Threshold(threshold) => young.limits.tenuring_threshold = threshold,
                Turn::Survivors(bytes) => young.limits.survivor_bytes = bytes,
            }
        }
        young.collect();
        young.collect_full(Compaction::Maximum);
    }
}
