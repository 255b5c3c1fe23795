//! Random programs.

use super::graph::{KINDS, Kind};
use proptest::prelude::*;

/// An object to be made, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) kind: Kind,
    /// Elements, where it has a tail.
    pub(super) length: usize,
    pub(super) way: u8,
}

/// A way to an object: a place, and slots from there on.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) place: usize,
    pub(super) hops: Vec<usize>,
}

/// An operation of a thread. Numbers are taken modulo the number of existing items.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Allocate(Wanted, usize),
    Reserve(Vec<Wanted>, usize),
    /// Holder, slot, what; the tag of the reference.
    Store(Path, usize, Path, u64),
    Clear(Path, usize),
    /// Holder, slot; holder, slot: a word goes from the first slot to the second, and the first one
    /// is cleared.
    Move(Path, usize, Path, usize),
    /// Holder, first slot; holder, first slot; how many: words are copied from the first vector to
    /// the second, and the others of the first are cleared if the last number is odd.
    Copy(Path, usize, Path, usize, usize),
    Root(Path, usize),
    Drop(usize),
    Hash(Path),
    Collect,
    Safepoint,
    Block,
    Check,
}

fn tag() -> impl Strategy<Value = u64> {
    (0u64..4, any::<u16>()).prop_map(|(low, high)| low << 1 | u64::from(high) << 48)
}

fn wanted(longest: usize) -> impl Strategy<Value = Wanted> {
    let length = prop_oneof![30 => 0..12_usize, 6 => 0..longest / 4, 3 => longest / 4..longest];
    (prop::sample::select(&KINDS), length, any::<u8>()).prop_map(|(kind, length, way)| {
        let length = match kind {
            Kind::Pair | Kind::Traced => 0,
            Kind::Bytes => length * 8,
            Kind::Vector | Kind::Ephemerons => length,
        };
        Wanted { kind, length, way }
    })
}

fn path() -> impl Strategy<Value = Path> {
    (0..64_usize, prop::collection::vec(0..64_usize, 0..4)).prop_map(|(place, hops)| Path { place, hops })
}

/// A step; no object has more than `longest` elements, or eight times as many bytes.
pub(super) fn step(longest: usize) -> impl Strategy<Value = Step> {
    let number = || 0..64_usize;
    prop_oneof![
        24 => (wanted(longest), number()).prop_map(|(wanted, place)| Step::Allocate(wanted, place)),
        3 => (prop::collection::vec(wanted(longest), 1..6), number())
            .prop_map(|(wanted, place)| Step::Reserve(wanted, place)),
        20 => (path(), number(), path(), tag())
            .prop_map(|(holder, slot, from, tag)| Step::Store(holder, slot, from, tag)),
        4 => (path(), number()).prop_map(|(holder, slot)| Step::Clear(holder, slot)),
        8 => (path(), number(), path(), number())
            .prop_map(|(from, slot, to, other)| Step::Move(from, slot, to, other)),
        4 => (path(), any::<u16>(), path(), any::<u16>(), any::<u16>()).prop_map(|(from, slot, to, other, count)| {
            Step::Copy(from, slot.into(), to, other.into(), count.into())
        }),
        10 => (path(), number()).prop_map(|(from, place)| Step::Root(from, place)),
        4 => number().prop_map(Step::Drop),
        2 => path().prop_map(Step::Hash),
        2 => Just(Step::Collect),
        1 => Just(Step::Safepoint),
        1 => Just(Step::Block),
        2 => Just(Step::Check),
    ]
}

pub(super) fn program(longest: usize, steps: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(longest), 1..steps)
}
