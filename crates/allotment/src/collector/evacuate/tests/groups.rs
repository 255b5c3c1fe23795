//! Slots in groups: whatever their referents are, each is copied once, and each slot is right.

use super::*;
use crate::collector::full::tests::model::Number;
use std::num::NonZeroU32;

/// An array, which is a root, of references to `objects`.
fn refer_to(young: &mut Young, objects: &[Number]) {
    let [array] = young.allocate([(ARRAY, objects.len())]);
    young.root(array);
    objects.iter().enumerate().for_each(|(slot, &object)| young.refer(array, slot, object));
}

#[test]
fn an_object_to_which_several_slots_of_a_group_refer_is_copied_once() {
    for workers in WORKERS {
        for threshold in [0, 15] {
            let mut young = young(workers, 16, Limits { tenuring_threshold: threshold, ..limits() });
            // A group has two objects, in two slots each, or one in all.
            let nodes = young.graph.allocate(&[(NODE, 0); 32]);
            let slots: Vec<_> =
                (0..64).map(|slot| nodes[if slot < 32 { slot / 2 } else { slot / 4 + 8 }]).collect();
            refer_to(&mut young, &slots);
            let reached: std::collections::BTreeSet<_> = slots.iter().collect();
            assert_eq!(young.collect().sum.objects, reached.len() as u64 + 1);
        }
    }
}

#[test]
fn a_tree_of_objects_that_are_alike_is_copied_whatever_their_hashes() {
    for workers in WORKERS {
        let mut young = young(workers, 64, limits());
        let nodes = young.graph.allocate(&[(NODE, 0); 1023]);
        for (number, &node) in nodes.iter().enumerate() {
            for side in 0..2 {
                if let Some(&child) = nodes.get(number * 2 + 1 + side) {
                    young.refer(node, side, child);
                }
            }
            if number % 3 == 0 {
                young.graph.dress(node, NonZeroU32::new(number as u32 + 1).expect("not 0"), 0);
            }
        }
        young.root(nodes[0]);
        for age in 1..4 {
            let statistics = young.collect();
            assert_eq!((statistics.sum.objects, statistics.sum.survived[age]), (1023, 1023 * 32));
        }
    }
}

#[test]
fn one_group_may_have_several_ages_and_sizes_and_objects_that_stay() {
    for workers in WORKERS {
        let mut young = young(workers, 64, Limits { tenuring_threshold: 2, ..limits() });
        let mut all = Vec::new();
        for _ in 0..4 {
            let born =
                young.graph.allocate(&[(NODE, 0), (LEAF, 0), (NODE, 0), (BYTES, 9), (PAIR, 0), (NODE, 0)]);
            let stays = young.graph.allocate(&[(NODE, 0); 200]);
            young.graph.model.pins.clear();
            young.graph.model.pins.insert(stays[190]);
            young.refer(born[0], 1, born[1]);
            young.refer(born[2], 0, born[5]);
            young.refer(born[5], 0, stays[3]);
            all.extend(born);
            all.extend(&stays[..9]);
            all.extend(&stays[185..195]);
            let mixed: Vec<_> = all.iter().rev().step_by(3).chain(&all).copied().collect();
            refer_to(&mut young, &mixed);
            // The harness compares it with the model.
            young.collect();
        }
        assert!(
            all.iter().any(|&object| young.is_old(object)) && all.iter().any(|&object| !young.is_old(object))
        );
    }
}

#[test]
fn when_survivors_are_at_their_limit_all_that_follows_is_old() {
    for workers in WORKERS {
        let mut young = young(workers, 64, Limits { survivor_bytes: 3000, ..limits() });
        let nodes = young.graph.allocate(&[(NODE, 0); 400]);
        refer_to(&mut young, &nodes);
        let statistics = young.collect();
        let survived = statistics.sum.survived[1];
        assert!(survived > 0 && survived <= 3000 + workers as u64 * 1024, "{survived} bytes");
        assert_eq!(survived + statistics.sum.promoted_bytes, 400 * 32 + 400 * 8 + 24);
    }
}
