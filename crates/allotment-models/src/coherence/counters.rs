//! Event counts, summed over all cores.

use super::protocol::State;

/// Sums since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Changes of a core's copy, by the state before and the state after.
    pub transitions: [[u64; State::COUNT]; State::COUNT],
    /// Loads, stores and locked instructions. A store that passes through the store buffer counts
    /// once.
    pub memory_operations: u64,
    /// Hits in a first cache.
    pub l1_hits: u64,
    /// Hits in a second cache.
    pub l2_hits: u64,
    /// Loads from the core's own store buffer.
    pub forwarded_loads: u64,
    /// Lines read from memory.
    pub memory_reads: u64,
    /// Modified lines that left the shared cache for memory.
    pub memory_writes: u64,
    /// Lines that the shared cache supplied.
    pub l3_hits: u64,
    /// Clean lines that another core supplied.
    pub forwards: u64,
    /// Reads that found another core's modified copy.
    pub read_hitm: u64,
    /// Requests to write that found another core's modified copy.
    pub write_hitm: u64,
    /// Requests to write when the core had the data.
    pub upgrades: u64,
    /// Messages that invalidated a core's copy.
    pub invalidations: u64,
    /// Such messages to cores that had evicted their copy silently.
    pub useless_invalidations: u64,
    /// Modified lines written to the shared cache.
    pub write_backs: u64,
    /// Locked instructions.
    pub lock_loads: u64,
    /// Compare-and-swaps that found another value.
    pub failures: u64,
    /// Cycles in which a core waited for data, for its store buffer to drain, or for a place in it.
    pub stall_cycles: u64,
    /// Cycles in which a core waited for a place in the store buffer.
    pub buffer_full_cycles: u64,
}

impl Counters {
    /// All changes of state.
    pub fn all_transitions(&self) -> u64 {
        self.transitions.iter().flatten().sum()
    }

    /// Reads and requests to write that found another core's modified copy.
    pub fn hitm(&self) -> u64 {
        self.read_hitm + self.write_hitm
    }
}
