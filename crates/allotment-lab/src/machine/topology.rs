//! This machine's CPUs and caches, read once.

use allotment::internals::platform::Topology;
use std::sync::LazyLock;

/// The CPUs and caches of this machine. They are read once: the facts are in dozens of files, and
/// each of the hundreds of thousands of cases of a full grid may need them.
pub fn topology() -> &'static Topology {
    static HERE: LazyLock<Topology> = LazyLock::new(Topology::detect);
    &HERE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_the_same_however_often_it_is_asked_for() {
        assert!(std::ptr::eq(topology(), topology()));
        assert_eq!(topology().caches().len(), Topology::detect().caches().len());
    }
}
