//! The memory of regions: pages of the heap's reservation that become writable and are given back.
//!
//! The free set knows the trait [`Backing`] only, so tests and models use it without memory.

use crate::platform::Reservation;

/// Gives memory to regions.
pub(crate) trait Backing: Send + Sync {
    /// Makes a region readable and writable. Returns whether the system had the memory.
    fn commit(&self, index: usize) -> bool;
    /// Gives a region's memory back. Returns whether the system took it. After another commit the
    /// memory reads zero.
    fn uncommit(&self, index: usize) -> bool;
}

/// Commits regions in the heap's reservation.
pub(crate) struct Committer {
    pub(crate) reservation: Reservation,
    pub(crate) region_bytes: usize,
    /// Bytes made writable at a time, a power of two. This is a region, or a huge page if that is
    /// larger and huge pages are asked for. The kernel gives no huge page to a mapping that is
    /// smaller than one.
    pub(crate) granule: usize,
    /// `AlwaysPreTouch`.
    pub(crate) pre_touch: bool,
}

impl Backing for Committer {
    fn commit(&self, index: usize) -> bool {
        let offset = index * self.region_bytes;
        let start = offset & !(self.granule - 1);
        let bytes = self.granule.min(self.reservation.bytes() - start);
        if self.reservation.commit(start, bytes).is_err() {
            return false;
        }
        let touched = !self.pre_touch || self.reservation.pretouch(offset, self.region_bytes, 1).is_ok();
        if !touched {
            // The system has fewer pages than it promised. Nothing is lost by giving the promise
            // back.
            let _ = self.reservation.uncommit(offset, self.region_bytes);
        }
        touched
    }

    fn uncommit(&self, index: usize) -> bool {
        self.reservation.uncommit(index * self.region_bytes, self.region_bytes).is_ok()
    }
}
