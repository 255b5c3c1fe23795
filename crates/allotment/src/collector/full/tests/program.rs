//! Random programs.

use super::graph::{ARRAY, BYTES, Graph, KINDS};
use super::model::Value;
use super::*;
use proptest::prelude::*;
use proptest::sample::Index;
use std::num::NonZeroU32;

/// A step of a program.
#[derive(Clone, Debug)]
pub(in crate::collector) enum Step {
    Allocate(Vec<(usize, usize)>),
    /// Of the chosen objects the first refers to the second.
    Store(Index, Index, Index, u64),
    /// All slots of the first, a root, refer to the second and those born after it, two to each.
    Fill(Index, Index),
    Forget(Index, Index, u64),
    Root(Index, SlotKind, u64),
    Unroot(Index),
    Pin(Index),
    Unpin(Index),
    Dress(Index, NonZeroU32, u8),
    Collect(Compaction),
}

fn tag() -> impl Strategy<Value = u64> {
    (0u64..4, any::<u16>()).prop_map(|(low, high)| low << 1 | u64::from(high) << 48)
}

fn slot_kind() -> impl Strategy<Value = SlotKind> {
    prop_oneof![3 => Just(SlotKind::Strong), 1 => Just(SlotKind::Weak)]
}

fn compaction() -> impl Strategy<Value = Compaction> {
    prop_oneof![
        (0usize..=100).prop_map(|percent| Compaction::Garbage { percent }),
        Just(Compaction::Maximum),
        Just(Compaction::Together),
        Just(Compaction::MoveAll),
    ]
}

/// A kind, and a length: mostly small, seldom a large part of a region or more than one.
fn what() -> impl Strategy<Value = (usize, usize)> {
    (0..KINDS, prop_oneof![40 => 0usize..12, 20 => 12usize..40, 6 => 40usize..500, 1 => 500usize..1200])
        .prop_map(|(kind, length)| (kind, if kind == BYTES { length * 7 } else { length }))
}

/// Any step.
pub(in crate::collector) fn step() -> impl Strategy<Value = Step> {
    let index = any::<Index>;
    prop_oneof![
        6 => prop::collection::vec(what(), 1..60).prop_map(Step::Allocate),
        3 => (what(), 1usize..60).prop_map(|(what, count)| Step::Allocate(vec![what; count])),
        20 => (index(), index(), index(), tag()).prop_map(|(a, b, c, tag)| Step::Store(a, b, c, tag)),
        3 => (index(), index()).prop_map(|(a, b)| Step::Fill(a, b)),
        4 => (index(), index(), any::<u64>()).prop_map(|(a, b, bits)| Step::Forget(a, b, bits | 1)),
        8 => (index(), slot_kind(), tag()).prop_map(|(a, kind, tag)| Step::Root(a, kind, tag)),
        4 => index().prop_map(Step::Unroot),
        2 => index().prop_map(Step::Pin),
        2 => index().prop_map(Step::Unpin),
        2 => (index(), any::<NonZeroU32>(), 0u8..16).prop_map(|(a, hash, age)| Step::Dress(a, hash, age)),
        3 => compaction().prop_map(Step::Collect),
    ]
}

/// Performs a step on the heap and the model.
pub(in crate::collector) fn perform(graph: &mut Graph, step: Step) {
    let numbers: Vec<u64> = graph.model.nodes.keys().copied().collect();
    if let Step::Allocate(wanted) = &step {
        graph.allocate(wanted);
    }
    if let Step::Collect(compaction) = step {
        graph.collect(compaction);
    }
    if numbers.is_empty() {
        return;
    }
    let choose = |index: Index| numbers[index.index(numbers.len())];
    let slot_of = |graph: &Graph, object: u64, slot: Index| {
        let slots = graph.model.nodes[&object].slots.len();
        (slots > 0).then(|| slot.index(slots))
    };
    match step {
        Step::Allocate(_) | Step::Collect(_) => {}
        Step::Store(from, slot, to, tag) => {
            if let Some(slot) = slot_of(graph, choose(from), slot) {
                graph.store(choose(from), slot, Value::Object(choose(to), tag));
            }
        }
        Step::Fill(from, first) => {
            for slot in 0..graph.model.nodes[&choose(from)].slots.len() {
                let to = numbers[(first.index(numbers.len()) + slot / 2) % numbers.len()];
                graph.store(choose(from), slot, Value::Object(to, 0));
            }
            graph.root(Value::Object(choose(from), 0), SlotKind::Strong);
        }
        Step::Forget(from, slot, bits) => {
            if let Some(slot) = slot_of(graph, choose(from), slot) {
                graph.store(choose(from), slot, Value::Plain(bits));
            }
        }
        Step::Root(object, kind, tag) => graph.root(Value::Object(choose(object), tag), kind),
        Step::Unroot(index) => {
            if !graph.roots.is_empty() {
                let place = index.index(graph.roots.len());
                graph.roots.swap_remove(place);
                graph.model.roots.swap_remove(place);
            }
        }
        Step::Pin(object) => {
            graph.model.pins.insert(choose(object));
        }
        Step::Unpin(object) => {
            graph.model.pins.remove(&choose(object));
        }
        Step::Dress(object, hash, age) => graph.dress(choose(object), hash, age),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn reachable_objects_stay_as_they_were(
        workers in 1usize..5,
        regions in 2usize..24,
        piece in prop_oneof![Just(2usize), 2usize..64],
        pieces in 1usize..4,
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut graph = Graph::new(workers, regions, piece, pieces);
        for step in steps {
            perform(&mut graph, step);
        }
        graph.collect(Compaction::Maximum);
    }

    /// Many small objects of which some live, so that gaps end in the middle of a block.
    #[test]
    fn dense_heaps_slide(
        workers in 1usize..5,
        lengths in prop::collection::vec(0usize..40, 100..900),
        live in prop::collection::vec(any::<bool>(), 900),
        pinned in prop::collection::vec(any::<Index>(), 0..8),
        compactions in prop::collection::vec(compaction(), 1..4),
    ) {
        let mut graph = Graph::new(workers, 16, 64, 4);
        let wanted: Vec<_> = lengths
            .iter()
            .map(|&length| (if length % 3 == 0 { ARRAY } else { BYTES }, length))
            .collect();
        let objects = graph.allocate(&wanted);
        for (&object, _) in objects.iter().zip(&live).filter(|(_, live)| **live) {
            graph.root(Value::Object(object, 0), SlotKind::Strong);
        }
        graph.model.pins = pinned.iter().map(|index| objects[index.index(objects.len())]).collect();
        for compaction in compactions {
            graph.collect(compaction);
            // Every other root goes.
            let mut turn = 0;
            graph.roots.retain(|_| { turn += 1; turn % 2 == 0 });
            turn = 0;
            graph.model.roots.retain(|_| { turn += 1; turn % 2 == 0 });
        }
    }
}
