//! The attached threads of a heap, one by one.

use super::Heap;
use crate::mutator::AttachedThread;

impl Heap {
    /// What each attached thread does, and what it allocated. Any thread may ask at any time,
    /// attached or not. A reading stops no thread and waits for no stop. Numbers of threads that run
    /// need not be of the same instant.
    ///
    /// # Aborts
    /// In a child of `fork()` in which this heap [cannot be used](crate::ForkError).
    ///
    /// ```
    /// use allotment::stats::ThreadActivity;
    /// use allotment::{Heap, NewStr, OutOfMemory, alloc};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.attach(|mu| {
    ///     alloc!(mu, NewStr::from("in the heap"))?;
    ///     let threads = heap.threads();
    ///     assert_eq!((threads.len(), threads[0].activity), (1, ThreadActivity::Running));
    ///     assert_eq!(threads[0].allocated_bytes(), 32);
    ///     Ok::<(), OutOfMemory>(())
    /// })??;
    /// assert!(heap.threads().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn threads(&self) -> Vec<AttachedThread> {
        self.shared.after_fork_or_abort();
        self.shared.threads.registry.attached_threads()
    }
}
