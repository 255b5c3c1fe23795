//! Allocation profiles of a heap that are asked for. The end of a heap writes one, too.
//!
//! Refused: a profile at a signal. A handler may do next to nothing, so a thread would have to wait
//! for it, and signals are the program's. A program that wants it calls
//! [`Heap::allocation_profile`] where it handles its signals.

use super::AllocationProfile;
use crate::Heap;

impl Heap {
    /// A copy of all allocation samples so far. `docs/observe.md` says how to read it.
    ///
    /// Samples that a thread took since its last safepoint are missing, except for those of the
    /// calling thread. Objects count as *in use* if the last collection that looked at them found
    /// them alive: a young collection does not look at old objects, so dead old ones count until a
    /// full collection.
    /// Objects of a thread that took a [`Mark`](crate::raw::Mark) count as in use from the next
    /// stop of the world on.
    ///
    /// ```
    /// use allotment::{Heap, NewStr, OutOfMemory, alloc};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let heap = Heap::builder().max_heap_size(64 << 20).build()?;
    /// heap.set_allocation_sample_interval(64);
    /// heap.attach(|mu| {
    ///     for _ in 0..10_000 {
    ///         alloc!(mu, NewStr::from("in the heap"))?;
    ///     }
    ///     Ok::<(), OutOfMemory>(())
    /// })??;
    /// let profile = heap.allocation_profile();
    /// let objects: f64 = profile.sites().iter().map(|site| site.allocated_objects()).sum();
    /// assert!((8_000.0..12_000.0).contains(&objects), "an estimate of 10,000: {objects}");
    /// println!("{profile}");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn allocation_profile(&self) -> AllocationProfile {
        self.shared.after_fork_or_abort();
        AllocationProfile::take(&self.shared, self.shared.watch.clock.age())
    }
}
