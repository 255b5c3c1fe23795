//! What one thread's buffers did, as its own thread reads it; of all threads it is [`Heap::tlab_totals`](crate::Heap::tlab_totals).

use super::state::State;
use crate::mutator::Mutator;
use crate::tlab::statistics::TlabStatistics;

impl Mutator<'_> {
    /// What this thread's buffers did since it attached: how many it took, what they wasted, what went outside.
    ///
    /// The buffer in use counts as taken, and as wasted not yet: what will be left of it nobody knows. What a part of the
    /// program did is the [difference](TlabStatistics::since) of two readings. A stop may come at any safepoint between
    /// them, and what a buffer had left then is in `gc_waste`.
    ///
    /// ```
    /// use allotment::{Heap, OutOfMemory, raw::{Element, Shape}};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let heap = Heap::builder().max_heap_size(64 << 20).build()?;
    /// let bytes = heap.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 }))?;
    /// let of = heap.attach(|mutator| {
    ///     let before = mutator.tlab_statistics();
    ///     for _ in 0..10_000 {
    ///         // SAFETY: the shape is this heap's, and the object is not used.
    ///         unsafe { mutator.alloc_raw(bytes, 100)? };
    ///     }
    ///     Ok::<_, OutOfMemory>(mutator.tlab_statistics().since(&before))
    /// })??;
    /// assert!(of.refills > 1 && of.allocated_in_all() >= 10_000 * 120);
    /// println!("{} buffers, of which {:.1} % were wasted", of.refills, of.waste_percent());
    /// # Ok(())
    /// # }
    /// ```
    pub fn tlab_statistics(&self) -> TlabStatistics {
        self.state().statistics()
    }
}

impl State {
    /// What this thread's buffers did, and what it took without one.
    pub(in crate::mutator) fn statistics(&self) -> TlabStatistics {
        let mut statistics = self.counters.read();
        self.hot.pointer.add_to(&mut statistics);
        statistics
    }
}
