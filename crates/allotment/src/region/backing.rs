//! What puts memory behind regions: a trait, so that the free set is tested and modelled without any.

/// Puts memory behind regions.
pub(crate) trait Backing: Send + Sync {
    /// Makes a region readable and writable; whether the system had the memory.
    fn commit(&self, index: usize) -> bool;
    /// Gives a region's memory back; whether the system took it. Committed again it reads zero.
    fn uncommit(&self, index: usize) -> bool;
}
