//! The fixed inputs of sizes for the life of a heap: options, regions, caches, cores.
//!
//! Plain numbers, so that a test or a simulator can describe a machine that does not exist.

use crate::options::Options;
use crate::platform::topology::Topology;
use crate::region::Geometry;

/// The size of a second-level cache if the system does not tell it.
const USUAL_L2_BYTES: usize = 1 << 20;

/// Bytes of copying and scanning that take some 0.3 ms; waking a thread and waiting for it takes
/// some 0.05 ms. Heaps under test are small, and one worker would collect them all.
const WORK_BYTES: usize = if cfg!(test) { 128 } else { 512 << 10 };

/// The options that concern sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SizingSettings {
    /// `InitialHeapSize` in bytes; 0 where it was not given.
    pub initial_heap_bytes: usize,
    /// `MinHeapFreeRatio`: percentage of the heap that is free after a full collection, below 100.
    pub min_free_percent: usize,
    /// `NewSize`: fewest bytes of eden and survivors; 0 if the sizing chooses.
    pub new_bytes: usize,
    /// `MaxNewSize`: most bytes of eden and survivors; 0 if the sizing chooses.
    pub max_new_bytes: usize,
    /// `InitialTenuringThreshold`, at most `max_tenuring_threshold`.
    pub initial_tenuring_threshold: u8,
    /// `MaxTenuringThreshold`, at most 15.
    pub max_tenuring_threshold: u8,
    /// `MaxGCPauseMillis` in nanoseconds; 0 without a goal.
    pub pause_goal_ns: u64,
    /// `GCTimeRatio`: time of the program for each unit of time in young collections.
    pub time_ratio: usize,
}

impl From<&Options> for SizingSettings {
    fn from(options: &Options) -> SizingSettings {
        let max_tenuring_threshold = options.max_tenuring_threshold.min(15) as u8;
        let initial = options.initial_tenuring_threshold.min(15) as u8;
        SizingSettings {
            initial_heap_bytes: options.initial_heap_size,
            min_free_percent: options.min_heap_free_ratio,
            new_bytes: options.new_size,
            max_new_bytes: options.max_new_size,
            initial_tenuring_threshold: initial.min(max_tenuring_threshold),
            max_tenuring_threshold,
            pause_goal_ns: options.max_gc_pause_millis.saturating_mul(1_000_000),
            time_ratio: options.gc_time_ratio,
        }
    }
}

/// The heap's division, and the part of the machine that this process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// Size and number of regions: MaxHeapSize.
    pub geometry: Geometry,
    /// Cores of this process; at least 1.
    pub cores: usize,
    /// Bytes of one second-level cache.
    pub l2_bytes: usize,
    /// Bytes of the third-level caches that this process's cores use, together; 0 if there are
    /// none.
    pub l3_bytes: usize,
    /// The most threads that collect (`ParallelGCThreads`); at least 1.
    pub workers: usize,
    /// Bytes of copying and scanning that are worth waking another of them; at least 1.
    pub work_bytes: usize,
}

impl Machine {
    /// The machine as `topology` describes it. If that knows no L2, 1 MiB stands for it.
    pub(crate) fn new(geometry: Geometry, topology: &Topology, workers: usize) -> Machine {
        Machine {
            geometry,
            cores: topology.cores().max(1),
            l2_bytes: topology.l2_bytes().unwrap_or(USUAL_L2_BYTES),
            l3_bytes: topology.data_caches(3).map_or(0, |level| level.bytes * level.instances),
            workers: workers.max(1),
            work_bytes: WORK_BYTES,
        }
    }

    /// Regions that hold `bytes`.
    pub(super) fn regions_of(&self, bytes: usize) -> usize {
        bytes.div_ceil(self.geometry.region_bytes())
    }
}
