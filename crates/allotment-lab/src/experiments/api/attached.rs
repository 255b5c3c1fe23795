//! Workers made of functions: attached to a heap, or not attached.

use crate::harness::{SecondaryValue, Share, Worker};
use allotment::{Heap, Mutator};
use std::time::Duration;

/// A worker on an attached thread. Collections do not wait for the thread while it is idle.
pub(super) struct Attached<'m, 't, F> {
    mutator: &'m mut Mutator<'t>,
    body: F,
    collections: Option<Collections<'m>>,
}

impl<'m, 't, F: FnMut(&mut Mutator<'t>) -> u64> Attached<'m, 't, F> {
    /// A worker that calls `body` as its batch.
    pub(super) fn new(mutator: &'m mut Mutator<'t>, body: F) -> Self {
        Attached { mutator, body, collections: None }
    }

    /// Also reports the collections of `heap`. One of the heap's threads should do so.
    pub(super) fn counting(self, heap: &'m Heap) -> Self {
        Attached { collections: Some(Collections::new(heap)), ..self }
    }
}

impl<'t, F: FnMut(&mut Mutator<'t>) -> u64> Worker for Attached<'_, 't, F> {
    #[inline]
    fn batch(&mut self) -> u64 {
        (self.body)(self.mutator)
    }

    fn prepare(&mut self) -> anyhow::Result<()> {
        self.collections.iter_mut().for_each(Collections::begin);
        Ok(())
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.mutator.blocking(wait);
    }

    fn metrics(&mut self, _share: &Share) -> Vec<SecondaryValue> {
        self.collections.as_ref().map(Collections::metrics).unwrap_or_default()
    }
}

/// The collections of an iteration, under JMH's names.
struct Collections<'h> {
    heap: &'h Heap,
    before: (u64, Duration),
}

impl<'h> Collections<'h> {
    fn new(heap: &'h Heap) -> Self {
        Collections { heap, before: (0, Duration::ZERO) }
    }

    fn now(&self) -> (u64, Duration) {
        let collections = self.heap.collections();
        (collections.count, collections.pauses.total())
    }

    fn begin(&mut self) {
        self.before = self.now();
    }

    fn metrics(&self) -> Vec<SecondaryValue> {
        let (count, time) = self.now();
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
