//! The state that all mutators of a heap share, in four rooms: the space, the threads, the policy,
//! and what watches.
//!
//! No part of it is written by every thread at a refill. The free set is written per core, the
//! registry at attach and detach, the budget when a thread's size changes. A function takes the
//! room that it touches; `Shared` itself is for functions that need several.

use super::stopping::is_stopping_that;
use super::{EndSignal, Policy, Threads, Watch};
use crate::mutator::{Collector, GcOverhead, OutOfMemory};
use crate::platform::ProcessMark;
use crate::region::Space;
use crate::sync::MutexGuard;
use crate::tlab::budget::Settlement;
use crate::tlab::sizing::Sizing;

/// The part of a heap that its threads work with: four rooms, and the collector.
pub(crate) struct Shared {
    /// Whether this process is the one that the heap knows: [`after_fork`](Self::after_fork).
    pub(crate) process: ProcessMark,
    pub(crate) space: Space,
    pub(crate) threads: Threads,
    pub(crate) policy: Policy,
    pub(crate) watch: Watch,
    pub(crate) collector: Box<dyn Collector>,
    /// The last field: all others are gone when it is dropped.
    pub(crate) end: EndSignal,
}

impl Shared {
    /// Keeps collections away from the regions, or waits for the end of one. `None` if this thread
    /// has stopped the world itself.
    pub(crate) fn keep_regions(&self) -> Option<MutexGuard<'_, ()>> {
        (!is_stopping_that(&self.threads.registry)).then(|| self.space.lock_regions())
    }

    /// Lets the budget decide on a thread's size before the thread refills. Returns the time of the
    /// decision in ms.
    pub(in crate::mutator) fn settle(&self, sizing: &mut Sizing) -> u64 {
        let now_ms = self.watch.clock.coarse_ms();
        if self.policy.budget.settle(&self.policy.sizing, sizing, now_ms) == Settlement::RunCensus {
            self.run_census(now_ms);
        }
        now_ms
    }

    #[cold]
    fn run_census(&self, now_ms: u64) {
        self.after_fork_or_abort();
        let inner = self.threads.registry.threads.lock();
        self.policy.budget.census(inner.threads.iter().map(|thread| thread.state().published.read()), now_ms);
    }

    /// Whether the embedder released something, so that another attempt may succeed.
    pub(in crate::mutator) fn at_heap_limit(&self, error: &OutOfMemory) -> bool {
        let released = self.watch.on_heap_limit.as_ref().is_some_and(|hook| hook(error));
        if released {
            self.collector.embedder_let_go();
        }
        released
    }

    /// Whether a collection of another thread exceeded the limit on overhead since `before` was
    /// read, and its numbers. That result holds for all threads that stood still. `None` if there
    /// is a heap-limit hook: one of those threads may be asking it to release something.
    pub(in crate::mutator) fn over_limit_since(
        &self,
        before: Option<(u64, GcOverhead)>,
    ) -> Option<GcOverhead> {
        let now = self.collector.over_limit();
        if now == before || self.watch.on_heap_limit.is_some() {
            None
        } else {
            now.map(|(_, overhead)| overhead)
        }
    }
}
