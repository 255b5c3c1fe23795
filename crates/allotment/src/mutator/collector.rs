//! What this layer asks of a collector.

/// Makes room when the free set has none. One per heap, chosen when the heap is built.
pub trait Collector: Send + Sync {
    /// Its name, as options and logs say it.
    fn name(&self) -> &'static str;

    /// Called by a mutator at a safepoint when `bytes` could not be allocated. `true`: try again.
    fn make_room(&self, bytes: usize) -> bool;
}

/// The heap has no room for an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "out of memory: no room for {bytes} bytes in a heap of {heap_bytes} bytes{}",
    if *.refused_by_system { " (the system refused to commit more memory for it)" } else { "; a larger MaxHeapSize would help" }
)]
pub struct OutOfMemory {
    /// Bytes asked for; `usize::MAX` where the size does not fit a number.
    pub bytes: usize,
    /// MaxHeapSize in bytes.
    pub heap_bytes: usize,
    /// Whether the system, not the limit, ended the heap's growth.
    pub refused_by_system: bool,
}
