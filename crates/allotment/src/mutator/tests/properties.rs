//! Random scripts under many sets of options: objects keep their contents, never overlap, are zero
//! where they must be, and are all found at the end.

use super::kit::{ARRAYS, By, Kind, SIZES, What};
use super::script::{Between, Exit, Run, Step};
use super::{OPTION_SETS, heap};
use proptest::collection::vec;
use proptest::prelude::*;
use std::fmt;

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        // Mostly small; the large ones, and those beyond a region, now and then.
        8 => (0..5_usize).prop_map(Kind::Fixed),
        1 => (0..SIZES.len()).prop_map(Kind::Fixed),
        2 => (0..SIZES.len()).prop_map(Kind::Unknown),
        4 => (0..ARRAYS.len(), 0..200_usize).prop_map(|(index, length)| Kind::Array(index, length)),
        1 => (0..ARRAYS.len(), 0..2500_usize).prop_map(|(index, length)| Kind::Array(index, length)),
    ]
}

fn what() -> impl Strategy<Value = What> {
    let by = prop_oneof![Just(By::Caller), Just(By::Object), Just(By::Window)];
    (kind(), by).prop_map(|(kind, by)| What { kind, by })
}

fn between() -> impl Strategy<Value = Between> {
    prop_oneof![
        4 => Just(Between::Nothing),
        2 => what().prop_map(Between::Object),
        1 => Just(Between::Request),
        1 => Just(Between::Safepoint),
    ]
}

fn room() -> impl Strategy<Value = Step> {
    let bytes = prop_oneof![6 => 0..600_usize, 1 => 0..20_000_usize];
    (bytes, vec((what(), between()), 0..5)).prop_map(|(bytes, pieces)| Step::Room(bytes, pieces))
}

fn burst() -> impl Strategy<Value = Step> {
    let exit = prop_oneof![Just(Exit::Done), Just(Exit::Early), Just(Exit::Panic), Just(Exit::Stopped)];
    (vec(what(), 0..30), exit).prop_map(|(objects, exit)| Step::Burst(objects, exit))
}

/// A step that needs no mark.
fn plain() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => what().prop_map(Step::Try),
        2 => what().prop_map(|what| Step::Alloc(What { by: By::Window, ..what })),
        3 => room(),
        3 => burst(),
        1 => prop_oneof![Just(0_usize), 1..50_usize, 100..20_000_usize].prop_map(Step::Interval),
        1 => Just(Step::Request),
        1 => Just(Step::Safepoint),
        1 => Just(Step::Uncommit),
        1 => Just(Step::Reattach),
        1 => Just(Step::Reset),
    ]
}

fn marked() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => plain().prop_filter("marks end with the attachment", |step| {
            !matches!(step, Step::Reattach | Step::Reset)
        }),
        1 => Just(Step::Mark),
        1 => (0..3_usize, any::<bool>()).prop_map(|(levels, again)| Step::Recycle(levels, again)),
    ]
}

/// Prints one step a line.
#[derive(Clone)]
pub(super) struct Script(pub(super) Vec<Step>);

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| write!(f, "\n    {step:?}"))
    }
}

pub(super) fn script() -> impl Strategy<Value = Script> {
    let parts = prop_oneof![vec(plain(), 1..60), vec(marked(), 1..100)];
    vec(parts, 1..4).prop_map(|parts| {
        Script(parts.into_iter().flat_map(|part| [part, vec![Step::Reattach]].concat()).collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn a_script_under_any_options(
        options in prop::sample::select(OPTION_SETS), regions in 10..64_usize, script in script(),
    ) {
        Run::new(heap(4096, regions, options)).script(&script.0);
    }
}
