//! The trait that gives memory to regions. It lets tests and models use the free set without
//! memory.

/// Gives memory to regions.
pub(crate) trait Backing: Send + Sync {
    /// Makes a region readable and writable. Returns whether the system had the memory.
    fn commit(&self, index: usize) -> bool;
    /// Gives a region's memory back. Returns whether the system took it. After another commit the
    /// memory reads zero.
    fn uncommit(&self, index: usize) -> bool;
}
