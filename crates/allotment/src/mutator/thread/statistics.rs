//! Statistics of one thread's buffers, as its own thread reads them. For all threads together there
//! is [`Heap::tlab_totals`](crate::Heap::tlab_totals).

use super::state::State;
use crate::mutator::Mutator;
use crate::tlab::statistics::TlabStatistics;

impl Mutator<'_> {
    /// Statistics of this thread's buffers since it attached: buffers taken, bytes wasted, bytes
    /// allocated outside buffers.
    ///
    /// The buffer in use counts as taken. Its waste is not counted yet, because its remainder is
    /// not known. For one part of the program, take the [difference](TlabStatistics::since) of two
    /// readings. A stop may come at any safepoint between the two readings. The remainder of the
    /// buffer at that stop is counted in `gc_waste`.
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
    ///         unsafe { mutator.raw_mut().alloc_raw(bytes, 100)? };
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
    /// Statistics of this thread's buffers, and of its allocations without one.
    pub(in crate::mutator) fn statistics(&self) -> TlabStatistics {
        let mut statistics = self.counters.read();
        self.hot.pointer.add_to(&mut statistics);
        statistics
    }
}
