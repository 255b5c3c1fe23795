//! Random sequences of calls, judged by the oracle after each.

use super::operations::{Operation, operation};
use super::oracle::Oracle;
use super::*;
use proptest::prelude::*;

fn apply(oracle: &mut Oracle, operation: Operation, region_bytes: usize) {
    match operation {
        Operation::Allocate { home, min, more } => {
            oracle.allocate(home, min * WORD, ((min + more) * WORD).min(region_bytes));
        }
        Operation::Extend { piece, min, more } => oracle.extend(piece, min * WORD, (min + more) * WORD),
        Operation::Undo { piece, used } => oracle.undo(piece, used),
        Operation::GiveSpare { piece, used, home } => oracle.give_spare(piece, used, home),
        Operation::TakeSpare { home, min } => oracle.take_spare(home, min * WORD),
        Operation::TakeRegion { home } => oracle.take_region(home),
        Operation::Share { region, words } => oracle.share(region, words),
        Operation::Give { region, words, home } => oracle.give(region, words, home),
        Operation::Humongous { home, words } => oracle.humongous(home, words * WORD),
        Operation::GiveHumongous { run } => oracle.give_humongous(run),
        Operation::CommitAhead { words } => oracle.commit_ahead(words * WORD),
        Operation::Uncommit => oracle.uncommit(),
        Operation::Reset => oracle.reset(),
        Operation::Allowance(regions) => oracle.memory.allowance.store(regions, Ordering::Relaxed),
        Operation::Stubborn(stubborn) => oracle.memory.stubborn.store(stubborn, Ordering::Relaxed),
    }
}

prop_compose! {
    fn sequence()(shift in 8..=9_u32, regions in 1..8_usize, homes in 1..4_usize)(
        operations in prop::collection::vec(operation((1 << shift) / WORD, regions, homes), 1..150),
        shift in Just(shift), regions in Just(regions), homes in Just(homes),
    ) -> (usize, usize, usize, Vec<Operation>) {
        (1 << shift, regions, homes, operations)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(768))]

    #[test]
    fn the_oracle_agrees(
        (region_bytes, regions, homes, operations) in sequence(),
        mode in prop_oneof![Just(RefillStrategy::Cas), Just(RefillStrategy::Lock)],
    ) {
        let mut oracle = Oracle::new(region_bytes, regions, homes, mode);
        for operation in operations {
            apply(&mut oracle, operation, region_bytes);
            oracle.agree();
        }
        // Down to the last object, after any sequence.
        while oracle.allocate(0, MIN_OBJECT_BYTES, MIN_OBJECT_BYTES) {}
        oracle.agree();
    }
}
