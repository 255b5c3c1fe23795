//! References from old objects to young ones: only dirty cards lead to them.

use super::*;
use crate::collector::full::Compaction;
use crate::collector::full::tests::model::Number;
use crate::region::CARD_BYTES;

/// An old array of `length` slots; all other objects are young.
fn old_array(workers: usize, length: usize) -> (Young, Number) {
    let mut young = young(workers, 48, Limits { tenuring_threshold: 0, ..limits() });
    let [array] = young.allocate([(ARRAY, length)]);
    young.root(array);
    young.collect();
    assert!(young.is_old(array));
    young.forget_roots();
    young.limits.tenuring_threshold = 15;
    (young, array)
}

#[test]
fn a_card_is_dirty_as_long_as_a_slot_in_it_refers_to_something_young() {
    for workers in WORKERS {
        let (mut young, array) = old_array(workers, 300);
        assert_eq!(young.collect().sum.cards_dirty, 0, "new objects and their referents became old at once");
        let [leaf] = young.allocate([(LEAF, 0)]);
        young.refer(array, 200, leaf);
        let slot = young.graph.slot_address(array, 200);
        for _ in 0..3 {
            let statistics = young.collect();
            assert_eq!((statistics.sum.cards_dirty, statistics.sum.objects), (1, 1));
            assert!(young.cards().is_dirty(slot), "it still refers to something young");
        }
        young.limits.tenuring_threshold = 0;
        assert_eq!(young.collect().sum.cards_dirty, 1);
        assert!(!young.cards().is_dirty(slot), "all is old");
        assert_eq!(young.collect().sum.cards_dirty, 0);
    }
}

#[test]
fn slots_in_clean_cards_are_not_looked_at() {
    for workers in WORKERS {
        let (mut young, array) = old_array(workers, 300);
        let [found, lost] = young.allocate([(LEAF, 0), (LEAF, 0)]);
        young.refer(array, 10, found);
        young.refer(array, 250, lost);
        let card = young.graph.slot_address(array, 250) & !(CARD_BYTES - 1);
        assert_ne!(young.graph.slot_address(array, 10) & !(CARD_BYTES - 1), card);
        young.cards().clean_range(card, card + CARD_BYTES);
        // The heap is broken now, so nothing is compared.
        assert_eq!(young.evacuate().sum.objects, 1);
    }
}

#[test]
fn every_slot_of_an_array_in_many_pieces_is_looked_at_once() {
    // In a region, and in a run of regions.
    for length in [400, 2000] {
        for workers in WORKERS {
            let (mut young, array) = old_array(workers, length);
            let leaves = young.graph.allocate(&vec![(LEAF, 0); length]);
            for (slot, &leaf) in leaves.iter().enumerate() {
                young.refer(array, slot, leaf);
            }
            for _ in 0..3 {
                let statistics = young.collect();
                assert_eq!(statistics.sum.objects, length as u64);
                assert!(statistics.sum.cards_dirty as usize >= length * 8 / CARD_BYTES);
            }
        }
    }
}

#[test]
fn unreachable_old_objects_keep_their_referents() {
    for workers in WORKERS {
        let (mut young, array) = old_array(workers, 10);
        let [leaf] = young.allocate([(LEAF, 0)]);
        young.refer(array, 0, leaf);
        assert_eq!(young.collect().sum.objects, 1);
        young.collect_full(Compaction::Garbage { percent: 5 });
        assert!(young.graph.model.nodes.is_empty());
    }
}

#[test]
fn a_promoted_object_with_a_young_referent_dirties_its_card() {
    for workers in WORKERS {
        let mut young = young(workers, 24, Limits { tenuring_threshold: 2, ..limits() });
        let parents = young.graph.allocate(&[(PAIR, 0); 40]);
        parents.iter().for_each(|&parent| young.root(parent));
        young.collect();
        young.collect();
        for &parent in &parents {
            let [child] = young.allocate([(PAIR, 0)]);
            young.refer(parent, 1, child);
        }
        // Parents become old, children do not.
        let statistics = young.collect();
        assert_eq!(statistics.sum.promoted_bytes, 40 * 40);
        young.forget_roots();
        let statistics = young.collect();
        assert!(statistics.sum.cards_dirty >= 40 * 40 / CARD_BYTES as u64);
        assert_eq!(statistics.sum.objects, 40);
    }
}
