//! Snapshots of heaps whose objects are known.

mod failures;
mod heapsnapshot;
mod hprof;
mod model;
mod readers;

use crate::Heap;

/// Options of all collectors, with a check of the heap around each collection.
const COLLECTORS: [&str; 6] = [
    "Collector=epsilon",
    "Collector=mark-compact,+VerifyAfterGC",
    "Collector=parallel,+VerifyAfterGC",
    "Collector=shenandoah,+ZealCycles,+VerifyAfterGC",
    "Collector=shenandoah,+ZealCycles,ShenandoahGCMode=generational,+VerifyAfterGC",
    "Collector=shenandoah,ShenandoahGCMode=passive,+VerifyAfterGC",
];

/// A heap of `regions` regions of `region_bytes`, with these options.
fn heap(region_bytes: usize, regions: usize, options: &str) -> Heap {
    let builder = Heap::builder().test_geometry(region_bytes, regions).use_transparent_huge_pages(false);
    builder.options(options).expect(options).build().expect(options)
}
