//! Regions of code in which no stop waits for a thread.
//!
//! A thread that waits for a lock, a file or another process comes to no safepoint, and all other
//! threads would wait with it. In `blocking` the thread promises to touch nothing of the heap. The
//! exclusive borrow of the mutator enforces that: no function that allocates, loads or stores can
//! be called meanwhile. So a stop need not wait for the thread. In exchange the thread cannot come
//! back before the stop is over.

use super::state::State;
use crate::mutator::Mutator;
use crate::mutator::roots::OUTSIDE;
use std::ptr;

impl Mutator<'_> {
    /// Runs `f`, which may wait for anything: the world can be stopped meanwhile. This is a
    /// safepoint. It costs two compare-and-swaps. It returns, or unwinds, when `f` has done so and
    /// any stop under way is over.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let heap = allotment::Heap::builder().max_heap_size(16 << 20).build()?;
    /// let line = heap
    ///     .attach(|mutator| mutator.blocking(|| std::fs::read_to_string("/proc/self/comm")))??;
    /// assert!(!line.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn blocking<R>(&mut self, f: impl FnOnce() -> R) -> R {
        let state = self.state();
        // This comes before a stop may see the thread as safe. From here on every unlinking takes
        // the slow path.
        state.parked.set(state.hot.links.replace(OUTSIDE));
        state.satb.give(&state.shared.threads.satb);
        state.hand_over_before_blocking();
        state.shared.threads.registry.threads.enter_blocking(&state.into());
        let _leave = Leave(state);
        f()
    }
}

/// Leaves the blocking region when dropped, so that a panic in the closure finds a thread that may
/// detach.
struct Leave<'a>(&'a State);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.shared.threads.registry.threads.leave_blocking(&self.0.into());
        self.0.hot.links.set(self.0.parked.replace(ptr::null_mut()));
    }
}
