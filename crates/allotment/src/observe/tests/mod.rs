//! Programs that do everything a runtime may do to a heap, compared with a naive model of the
//! object graph, under every zeal mode and several geometries. Each rooted object must be there
//! unchanged, and no other object may be.
//!
//! The tests are short by default. `ALLOTMENT_STRESS_SECONDS=600` makes each of the random tests
//! last that long. [`stress_seed`](crate::stress_seed) has their seeds.

mod graph;
mod interpreter;
mod large_arrays;
mod moves;
mod out_of_memory;
mod places;
mod programs;
mod ranges;
mod regressions;
mod stress;
mod timeline;
mod web;
mod workers;
mod zeal;

use crate::Heap;
use crate::platform::Clock;

/// A heap of `regions` regions of `region_bytes`, with these options.
fn heap(region_bytes: usize, regions: usize, options: &str) -> Heap {
    let builder = Heap::builder().test_geometry(region_bytes, regions).use_transparent_huge_pages(false);
    // So that an eden of a few regions is looked at for idle times.
    let is_parallel = options.contains("Collector=parallel");
    let builder = if is_parallel { builder.clock(Clock::fast()) } else { builder };
    builder.options(options).expect(options).build().expect(options)
}

/// The collectors whose collections are done when the call that wanted them returns.
const STOPPING: [&str; 2] = ["mark-compact", "parallel"];

/// The collectors that collect.
const COLLECTORS: [&str; 3] = ["mark-compact", "parallel", "shenandoah"];

/// Every zeal mode, alone and with others, under both collectors, with few and with many workers.
/// Each is run with the verifier before and after every collection. Some are not: their stopped
/// threads must have spun in vain for so long that they can no longer be called.
const MODES: &[&str] = &[
    "Collector=mark-compact",
    "Collector=mark-compact,ZealInterval=1,ParallelGCThreads=1",
    "Collector=mark-compact,ZealInterval=3,+ZealMove",
    "Collector=mark-compact,ZealInterval=4,ZealSeed=11,ParallelGCThreads=3",
    "Collector=mark-compact,+ZealMove,ZealInterval=1,ParallelGCThreads=4",
    "Collector=mark-compact,+ZealPoison,ZealInterval=2,ParallelGCThreads=4",
    "Collector=mark-compact,+ZealPoison,ZealInterval=5,ZealSeed=3,+ZealMove,ZealQuarantine=1",
    "Collector=mark-compact,+ZealProtect,ZealInterval=2,+ZealMove",
    "Collector=mark-compact,+ZealProtect,ZealQuarantine=3,ZealInterval=3,+ZealMove,ParallelGCThreads=4",
    "Collector=mark-compact,+ZealPoison,+ZealProtect,ZealQuarantine=2,+ZealMove,ZealInterval=1,UncommitDelay=0",
    "Collector=mark-compact,UncommitDelay=0,+ZealPoison",
    "Collector=mark-compact,UncommitDelay=0,+ZealPoison,ParallelGCThreads=3",
    "Collector=parallel",
    "Collector=parallel,ParallelGCThreads=1,ZealInterval=1",
    "Collector=parallel,ParallelGCThreads=2,ZealInterval=2,+ZealPoison",
    "Collector=parallel,ParallelGCThreads=3,ZealInterval=5,ZealSeed=3,MaxTenuringThreshold=1",
    "Collector=parallel,ParallelGCThreads=4,ZealInterval=3,MaxTenuringThreshold=0,InitialTenuringThreshold=0",
    "Collector=parallel,ParallelGCThreads=2,ZealInterval=3,+ZealProtect,ZealQuarantine=2,+ZealPoison,+ZealMove",
    "Collector=parallel,ParallelGCThreads=4,YoungPLABSize=1k,OldPLABSize=1k,ZealInterval=2,ZealSeed=5,+ZealPoison",
    "Collector=parallel,ParallelGCThreads=3,MaxNewSize=256k,OldPLABSize=1k,MaxTenuringThreshold=2,+ZealPoison",
    "Collector=parallel,ParallelGCThreads=4,+ZealProtect,ZealQuarantine=3,ZealInterval=1,UncommitDelay=0,+ZealPoison",
    "Collector=parallel,ParallelGCThreads=3,UncommitDelay=0,+ZealPoison,-CollectWhenIdle",
    "Collector=parallel,ParallelGCThreads=2,-VerifyBeforeGC,ZealInterval=2,YoungPLABSize=1k,OldPLABSize=1k,+ZealPoison",
    "Collector=parallel,ParallelGCThreads=4,-VerifyBeforeGC,ZealInterval=3,ZealSeed=7,MaxTenuringThreshold=3",
    "Collector=shenandoah",
    "Collector=shenandoah,+ZealCycles",
    "Collector=shenandoah,ShenandoahGCMode=passive,ZealInterval=3",
    "Collector=shenandoah,+ZealCycles,ZealInterval=1,ParallelGCThreads=1",
    "Collector=shenandoah,+ZealCycles,ZealInterval=2,ParallelGCThreads=2,ConcGCThreads=1,+ZealPoison",
    "Collector=shenandoah,+ZealCycles,ZealInterval=5,ZealSeed=9,ParallelGCThreads=3,ConcGCThreads=3,+ZealPoison",
    "Collector=shenandoah,+ZealCycles,ZealInterval=3,+ZealProtect,ZealQuarantine=2,ParallelGCThreads=2,ConcGCThreads=2",
    "Collector=shenandoah,+ZealCycles,ShenandoahGarbageThreshold=0,ShenandoahIgnoreGarbageThreshold=0,ZealInterval=4,\
     ShenandoahEvacReserve=30,ShenandoahImmediateThreshold=100,+ZealPoison,ParallelGCThreads=4,ConcGCThreads=2",
    "Collector=shenandoah,+ZealCycles,+ZealMove,ZealInterval=6,+ZealPoison,ParallelGCThreads=2,ConcGCThreads=2",
    "Collector=shenandoah,+ZealCycles,+ZealMove,ZealInterval=9,ZealSeed=4,+ZealPoison,+ZealProtect,ParallelGCThreads=3,ConcGCThreads=1",
    "Collector=shenandoah,+ZealCycles,+ZealMove,ZealInterval=5,ZealEvacuationFailure=7,+ZealPoison,ParallelGCThreads=2,ConcGCThreads=2",
    "Collector=shenandoah,+ZealCycles,+ZealMove,ZealInterval=7,ZealEvacuationFailure=1,ParallelGCThreads=2,ConcGCThreads=1",
    "Collector=shenandoah,ShenandoahGCMode=generational",
    "Collector=shenandoah,+ZealCycles,ShenandoahGCMode=generational",
    "Collector=shenandoah,+ZealCycles,ShenandoahGCMode=generational,ZealInterval=1,ParallelGCThreads=1",
    "Collector=shenandoah,+ZealCycles,ShenandoahGCMode=generational,ZealInterval=2,ParallelGCThreads=2,ConcGCThreads=1,+ZealPoison",
    "Collector=shenandoah,+ZealCycles,ShenandoahGCMode=generational,ZealInterval=5,ZealSeed=9,ConcGCThreads=3,+ZealPoison",
    "Collector=shenandoah,+ZealCycles,ShenandoahGCMode=generational,ShenandoahGarbageThreshold=0,ShenandoahIgnoreGarbageThreshold=0,\
     ZealInterval=4,ShenandoahEvacReserve=30,ShenandoahImmediateThreshold=100,+ZealPoison,ConcGCThreads=2",
    "Collector=shenandoah,+ZealCycles,ShenandoahGCMode=generational,ZealInterval=3,+ZealProtect,ZealQuarantine=2,ConcGCThreads=2",
    "Collector=shenandoah,+ZealCycles,ShenandoahGCMode=generational,+ZealMove,ZealInterval=6,+ZealPoison,ConcGCThreads=2",
    "Collector=shenandoah,+ZealCycles,ShenandoahGCMode=generational,+ZealMove,ZealInterval=5,ZealEvacuationFailure=7,+ZealPoison",
    "Collector=shenandoah,+ZealCycles,ShenandoahGCMode=generational,+ZealMove,ZealInterval=7,ZealEvacuationFailure=1,ConcGCThreads=1",
];

/// The modes of the collector that `ALLOTMENT_STRESS_COLLECTOR` names, or all.
fn modes() -> Vec<&'static str> {
    let wanted = std::env::var("ALLOTMENT_STRESS_COLLECTOR").map(|name| format!("Collector={name}"));
    let is_wanted = |mode: &&str| wanted.as_ref().is_ok_and(|wanted| mode.starts_with(wanted));
    MODES.iter().copied().filter(|mode| wanted.is_err() || is_wanted(mode)).collect()
}

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
