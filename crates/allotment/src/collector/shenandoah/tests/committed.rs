//! The memory that stays committed between cycles.

use crate::{Heap, NewSlots, alloc};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const REGION: usize = 256 << 10;
const REGIONS: usize = 64;
/// Words of an array that the program allocates in a millisecond of the heap's clock.
const LENGTH: usize = 8192;

/// A program whose time passes with what it allocates: the machine's speed does not matter.
struct Program {
    heap: Heap,
    now_ms: Arc<AtomicU64>,
}

impl Program {
    fn new(mode: &str) -> Program {
        let now_ms = Arc::<AtomicU64>::default();
        let clock = now_ms.clone();
        let builder = Heap::builder().clock(move || Duration::from_millis(clock.load(Ordering::Relaxed)));
        let builder = builder.max_heap_size(REGIONS * REGION).region_size(REGION);
        let options =
            format!("Collector=shenandoah,ShenandoahGCMode={mode},UncommitDelay=0,InitialHeapSize=0");
        let builder = builder.options(&options).expect(&options).use_transparent_huge_pages(false);
        Program { heap: builder.build().expect(&options), now_ms }
    }

    /// Allocates garbage for this number of milliseconds.
    fn run(&self, ms: u64) {
        self.heap
            .attach(|mu| {
                for _ in 0..ms {
                    alloc!(mu, NewSlots::<u64>::new(LENGTH, 0)).expect("garbage is collected");
                    self.now_ms.fetch_add(1, Ordering::Relaxed);
                }
            })
            .unwrap();
    }

    fn collect(&self) {
        self.heap.attach(|mu| assert!(mu.collect())).unwrap();
    }

    fn given_back(&self) -> usize {
        self.heap.shared.space.free.given_back_regions()
    }
}

#[test]
fn a_steady_program_gives_hardly_any_memory_back() {
    for mode in ["satb", "generational"] {
        let program = Program::new(mode);
        program.run(2000);
        let (cycles, given_back) = (program.heap.collections().count, program.given_back());
        program.run(10_000);
        let later = program.heap.collections().count - cycles;
        assert!(later > 20, "{mode}: {later} cycles");
        // A few, since the goal follows the time of cycles. Without the rule it is some each cycle.
        let regions = program.given_back() - given_back;
        assert!(2 * regions < later as usize, "{mode}: {regions} regions in {later} cycles");
    }
}

/// A second after the last cycle nothing is wanted.
#[test]
fn a_program_that_rests_gives_its_memory_back() {
    for mode in ["satb", "generational"] {
        let program = Program::new(mode);
        program.run(2000);
        program.collect();
        let before = program.heap.memory().committed_bytes;
        assert!(before >= 8 * REGION, "{mode}: {before}");
        for _ in 0..2 {
            program.now_ms.fetch_add(5000, Ordering::Relaxed);
            program.collect();
        }
        let after = program.heap.memory().committed_bytes;
        assert!(after < before && program.given_back() > 0, "{mode}: {before}, {after}");
    }
}
