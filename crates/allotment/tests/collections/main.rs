//! The collections against those of the standard library, under a collector that moves all objects
//! at any allocation, and at the end of memory.
#![forbid(unsafe_code)]

mod endless;
mod interner;
mod list;
mod maps;
mod memory;
mod misuse;

use allotment::{Heap, Mutator};
use proptest::test_runner::{Config, TestRunner};

/// Ways to be cruel, each with the verifier.
const MODES: &[&str] = &[
    "",
    "ZealInterval=1",
    "ZealInterval=1,+ZealMove",
    "ZealInterval=3,+ZealMove,+ZealPoison",
    "ZealInterval=4,ZealSeed=5,+ZealPoison",
    "ZealInterval=2,+ZealMove,+ZealProtect,ZealQuarantine=1",
    "-UseTLAB,ZealInterval=2,+ZealMove,+ZealPoison",
    "Collector=shenandoah,ZealInterval=3,+ZealMove,+ZealPoison",
    "Collector=shenandoah,ZealInterval=2,ZealEvacuationFailure=3",
];

fn heap(options: &str) -> Heap {
    let builder = Heap::builder().max_heap_size(4 << 20).region_size(256 << 10);
    let options = format!("+VerifyAfterGC,{options}");
    builder.options(options.trim_end_matches(',')).expect("options").build().expect("4 MiB")
}

/// Runs the property in each mode, `cases` times.
fn in_each_mode<S: proptest::strategy::Strategy>(
    cases: u32,
    strategy: &S,
    property: impl Fn(&mut Mutator<'_>, S::Value),
) where
    S::Value: Clone,
{
    for mode in MODES {
        let heap = heap(mode);
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let outcome = TestRunner::new(config).run(strategy, |value| {
            heap.attach(|mu| property(mu, value)).expect("this thread is attached to no other heap");
            Ok(())
        });
        outcome.unwrap_or_else(|failure| panic!("{mode}: {failure}"));
    }
}
