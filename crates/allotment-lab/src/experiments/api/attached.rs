//! Workers made of functions: attached to a heap, or not attached.

use crate::harness::{SecondaryValue, Share, Worker};
use allotment::{Heap, Mutator};
use std::time::Duration;

/// A worker on an attached thread. Collections do not wait for the thread while it is idle.
pub(super) struct Attached<'m, 't, F> {
    mutator: &'m mut Mutator<'t>,
    body: F,
    /// The heap whose collections are reported.
    counted: Option<&'m Heap>,
    /// Collections before the iteration, and the time of their pauses.
    before: (u64, Duration),
}

impl<'m, 't, F: FnMut(&mut Mutator<'t>) -> u64> Attached<'m, 't, F> {
    /// A worker that calls `body` as its batch.
    pub(super) fn new(mutator: &'m mut Mutator<'t>, body: F) -> Self {
        Attached { mutator, body, counted: None, before: (0, Duration::ZERO) }
    }

    /// Reports the collections of `heap` too. One of the heap's threads should do so.
    pub(super) fn counting(self, heap: &'m Heap) -> Self {
        Attached { counted: Some(heap), ..self }
    }
}

/// The collections of a heap so far, and the time of their pauses.
fn collections(heap: &Heap) -> (u64, Duration) {
    let collections = heap.collections();
    (collections.count, collections.pauses.total())
}

impl<'t, F: FnMut(&mut Mutator<'t>) -> u64> Worker for Attached<'_, 't, F> {
    #[inline]
    fn batch(&mut self) -> u64 {
        (self.body)(self.mutator)
    }

    fn prepare(&mut self) -> anyhow::Result<()> {
        self.before = self.counted.map_or(self.before, collections);
        Ok(())
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.mutator.blocking(wait);
    }

    /// The collections of the iteration, under JMH's names.
    fn metrics(&mut self, _share: &Share) -> Vec<SecondaryValue> {
        let Some((count, time)) = self.counted.map(collections) else { return Vec::new() };
        let milliseconds = (time - self.before.1).as_secs_f64() * 1e3;
        vec![
            SecondaryValue::sum("gc.count", "counts", (count - self.before.0) as f64),
            SecondaryValue::sum("gc.time", "ms", milliseconds),
        ]
    }
}

/// A worker that needs no heap, or attaches itself.
pub(super) struct Alone<F>(pub(super) F);

impl<F: FnMut() -> u64> Worker for Alone<F> {
    #[inline]
    fn batch(&mut self) -> u64 {
        (self.0)()
    }
}
