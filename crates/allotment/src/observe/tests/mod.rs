//! Programs that do everything a runtime may do to a heap, held against a naive model of the object graph,
//! under every zeal mode and several geometries: what was rooted must be there as it was left, and nothing else
//! may be.
//!
//! Short by default. `ALLOTMENT_STRESS_SECONDS=600` makes each of the random tests last that long; a failure prints the
//! seed that `ALLOTMENT_STRESS_SEED` repeats it with, as far as threads let it.

mod graph;
mod interpreter;
mod out_of_memory;
mod places;
mod programs;
mod regressions;
mod stress;
mod workers;
mod zeal;

use crate::Heap;

/// A heap of `regions` regions of `region_bytes`, with these options.
fn heap(region_bytes: usize, regions: usize, options: &str) -> Heap {
    let builder = Heap::builder().test_geometry(region_bytes, regions).use_transparent_huge_pages(false);
    builder.options(options).expect(options).build().expect(options)
}

/// Every zeal mode, alone and with others, collected by few and by many. Each is run with the verifier before and after every collection.
const MODES: &[&str] = &[
    "",
    "ZealInterval=1,ParallelGCThreads=1",
    "ZealInterval=3,+ZealMove",
    "ZealInterval=4,ZealSeed=11,ParallelGCThreads=3",
    "+ZealMove,ZealInterval=1,ParallelGCThreads=4",
    "+ZealPoison,ZealInterval=2,ParallelGCThreads=4",
    "+ZealPoison,ZealInterval=5,ZealSeed=3,+ZealMove,ZealQuarantine=1",
    "+ZealProtect,ZealInterval=2,+ZealMove",
    "+ZealProtect,ZealQuarantine=3,ZealInterval=3,+ZealMove,ParallelGCThreads=4",
    "+ZealPoison,+ZealProtect,ZealQuarantine=2,+ZealMove,ZealInterval=1,UncommitDelay=0",
    "UncommitDelay=0,+ZealPoison",
    "Collector=parallel",
    "Collector=parallel,ParallelGCThreads=1,ZealInterval=1",
    "Collector=parallel,ParallelGCThreads=2,ZealInterval=2,+ZealPoison",
    "Collector=parallel,ParallelGCThreads=3,ZealInterval=5,ZealSeed=3,MaxTenuringThreshold=1",
    "Collector=parallel,ParallelGCThreads=4,ZealInterval=3,MaxTenuringThreshold=0,InitialTenuringThreshold=0",
    "Collector=parallel,ParallelGCThreads=2,ZealInterval=3,+ZealProtect,ZealQuarantine=2,+ZealPoison,+ZealMove",
    "Collector=parallel,ParallelGCThreads=4,YoungPLABSize=1k,OldPLABSize=1k,ZealInterval=2,ZealSeed=5,+ZealPoison",
    "Collector=parallel,ParallelGCThreads=3,MaxNewSize=256k,OldPLABSize=2k,MaxTenuringThreshold=2,+ZealPoison",
    "UncommitDelay=0,+ZealPoison,ParallelGCThreads=3",
];

/// Ways to allocate.
const BUFFERS: &[&str] = &[
    "",
    "-UseTLAB",
    "MinTLABSize=64,TLABSize=64,MaxTLABSize=512",
    "TLABPolicy=hotspot,MinTLABSize=256,TLABSize=512,MaxTLABSize=1112,TLABRefillWasteFraction=1",
    "MinTLABSize=128,TLABSize=512,ZeroWindowSize=64",
    "RefillStrategy=lock,MinTLABSize=256,TLABSize=512",
];

/// Bytes of a region, and how many.
const GEOMETRIES: &[(usize, usize)] = &[(4096, 16), (4096, 60), (8192, 10), (32768, 24), (262_144, 10)];

/// The options of a mode, with the verifier.
fn verified(mode: &str) -> String {
    format!("+VerifyBeforeGC,+VerifyAfterGC,{mode}").trim_end_matches(',').to_owned()
}
