//! Keeps the workers of a concurrent collector from the heap, as long as the value lives.
//!
//! A stop halts workers, and so does a caller that works on a heap to which no thread is attached.
//! The registry must not be locked then: a worker may need it to finish its piece.

use crate::mutator::Collector;

/// No worker of a concurrent collector touches the heap.
pub(crate) struct Halted<'h>(&'h dyn Collector);

impl<'h> Halted<'h> {
    /// Waits until no worker is at work.
    pub(crate) fn begin(collector: &'h dyn Collector) -> Halted<'h> {
        if let Some(concurrent) = collector.concurrent() {
            concurrent.halt();
        }
        Halted(collector)
    }
}

impl Drop for Halted<'_> {
    fn drop(&mut self) {
        if let Some(collector) = self.0.concurrent() {
            collector.go_on();
        }
    }
}
