//! Regions in which a thread is not waited for.
//!
//! A thread that waits for a lock, a file or another process comes to no safepoint, and everybody would wait
//! with it. In `blocking` it promises to touch nothing of the heap, which the exclusive borrow of the mutator
//! enforces: nothing that allocates, loads or stores can be called meanwhile, so a stop need not wait. In exchange
//! it cannot come back before the stop is over.

use super::state::State;
use crate::mutator::Mutator;
use crate::mutator::roots::OUTSIDE;
use std::ptr;

impl Mutator<'_> {
    /// Runs `f`, which may wait for whatever it likes: the world can be stopped meanwhile. A safepoint. Costs two
    /// compare-and-swaps; returns when `f` has, or unwinds when it does, and a stop under way is over.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let heap = allotment::Heap::builder().max_heap_size(16 << 20).build()?;
    /// let line = heap.attach(|mutator| mutator.blocking(|| std::fs::read_to_string("/proc/self/comm")))??;
    /// assert!(!line.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn blocking<R>(&mut self, f: impl FnOnce() -> R) -> R {
        let state = self.state();
        // Before others may look: from here on every unlinking takes the slow path.
        state.parked.set(state.links.replace(OUTSIDE));
        state.shared.registry.enter_blocking(state);
        let _leave = Leave(state);
        f()
    }
}

/// Leaves when dropped, so that a panic in the closure finds a thread that may detach.
struct Leave<'a>(&'a State);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.shared.registry.leave_blocking(self.0);
        self.0.links.set(self.0.parked.replace(ptr::null_mut()));
    }
}
