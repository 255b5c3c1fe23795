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
        state.enter_blocking();
        let _leave = Leave(state);
        f()
    }
}

impl State {
    pub(in crate::mutator) fn enter_blocking(&self) {
        // This comes before a stop may see the thread as safe. From here on every unlinking takes
        // the slow path.
        self.parked.set(self.hot.links.replace(OUTSIDE));
        self.satb.give(&self.shared.threads.satb);
        self.hand_over_before_blocking();
        self.shared.threads.registry.threads.enter_blocking(&self.into());
    }

    pub(in crate::mutator) fn leave_blocking(&self) {
        self.shared.threads.registry.threads.leave_blocking(&self.into());
        self.hot.links.set(self.parked.replace(ptr::null_mut()));
    }
}

/// Leaves the blocking region when dropped, so that a panic in the closure finds a thread that may
/// detach.
struct Leave<'a>(&'a State);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.leave_blocking();
    }
}
