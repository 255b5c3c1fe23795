//! This machine's CPUs and caches, looked at once.

use allotment::internals::platform::Topology;
use std::sync::LazyLock;

/// What CPUs and caches there are. Asked once: a full grid has hundreds of thousands of cases, each
/// of which may want to know, and the answer is in dozens of files.
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
