//! Tests of the mutator layer, by topic.
//!
//! All of them use the same two types. A [`Kit`] allocates by run-time numbers what the API wants
//! to know at compile time. A [`Model`] is the naive list of the objects that must lie in the heap.
//! Regions are as small as a page unless a test says otherwise, so rare events of a large heap
//! happen all the time.

mod barrier;
mod burst;
mod epsilon;
mod generated;
mod kit;
mod make_room;
mod model;
mod pointer;
mod properties;
mod recycle;
mod roots;
mod sampling;
mod script;
mod statistics;
mod stop;
mod threads;
mod world;
mod world_stress;
mod zeroes;

use crate::Heap;
use crate::options::{CollectorKind, TlabPolicy};

/// A heap of `regions` regions of `region_bytes`, with these options, that keeps objects without
/// roots.
fn heap(region_bytes: usize, regions: usize, options: &str) -> Heap {
    let builder = Heap::builder().test_geometry(region_bytes, regions).use_transparent_huge_pages(false);
    builder.collector(CollectorKind::Epsilon).options(options).expect(options).build().expect(options)
}

/// Sets of options that take different ways through the slow path, for regions of a page.
const OPTION_SETS: &[&str] = &[
    "",
    "-UseTLAB",
    "RefillStrategy=lock,MinTLABSize=256,TLABSize=512",
    "MinTLABSize=256,TLABSize=512",
    "MinTLABSize=64,TLABSize=64,MaxTLABSize=512",
    "MinTLABSize=128,TLABSize=512,ZeroWindowSize=64",
    "MinTLABSize=256,TLABSize=512,+ZeroTLAB",
    "-ResizeTLAB,MinTLABSize=256,TLABSize=1k,TLABRefillWasteFraction=1",
    "TLABPolicy=hotspot,MinTLABSize=256,TLABSize=512,MaxTLABSize=1112,TLABRefillWasteFraction=1",
    "TLABPolicy=hotspot-8381834,MinTLABSize=256,TLABWasteIncrement=0",
    "TLABPolicy=shenandoah,MinTLABSize=64,ZeroWindowSize=128",
    "TLABPolicy=shenandoah-8359947,MinTLABSize=64",
    "TLABPolicy=epsilon,MinTLABSize=64,TLABSize=2k,TLABElasticity=1.5",
    "TLABPolicy=epsilon,MinTLABSize=2k,AllocationRegions=1,ZeroWindowSize=64",
];

#[test]
fn the_option_sets_name_every_policy() {
    for policy in TlabPolicy::ALL.iter().filter(|policy| **policy != TlabPolicy::Adaptive) {
        let text = format!("TLABPolicy={}", policy.name());
        assert!(OPTION_SETS.iter().any(|set| set.split(',').any(|item| item == text)), "{text}");
    }
}
