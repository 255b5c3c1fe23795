//! Event counts, summed over all cores.

/// Sums since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Changes of the state of a core's copy.
    pub transitions: u64,
    /// Loads, stores and locked instructions. A store that passes through the store buffer counts
    /// once.
    pub memory_operations: u64,
    /// Lines read from memory.
    pub memory_reads: u64,
    /// Clean lines that another core supplied.
    pub forwards: u64,
    /// Reads and requests to write that found another core's modified copy (HITM).
    pub hitm: u64,
    /// Requests to write when the core had the data.
    pub upgrades: u64,
    /// Messages that invalidated a core's copy.
    pub invalidations: u64,
    /// Modified lines written to the shared cache.
    pub write_backs: u64,
    /// Cycles in which a core waited for data, for its store buffer to drain, or for a place in it.
    pub stall_cycles: u64,
}
