//! A mutator that finds no run of regions for a large object waits for a cycle.
//!
//! Large arrays that die at once can use up the free memory while a cycle marks. If the thread
//! stopped the world, the rest of the cycle would be done in the stop, and would free little:
//! objects that were born since marking began are live for this cycle. So the thread sleeps until
//! the cycle has freed memory. If that is not enough, the thread has the next cycle begin at once,
//! and waits for it, too. This cycle frees all large objects that were dead before the wait. Other
//! threads run meanwhile.
//!
//! The thread stops the world only after all that, or if the wait takes too long
//! ([`Freed::begin_wait`](super::freed::Freed::begin_wait)). The wait counts for
//! `UseGCOverheadLimit`, as the help of threads does.
//!
//! Refused: that a cycle frees large objects that were born since it began. A marker does not look
//! at the other objects that were born since, and these may hold a large one: no barrier sees the
//! first words of an object.

use super::Shenandoah;
use crate::mutator::{Cause, Mutator};
use crate::sync::Ordering;
use std::time::{Duration, Instant};

/// The time after which a waiting thread looks whether a cycle is under way: a stop may have given
/// it up, and a full collection may have freed memory.
const LOOK: Duration = Duration::from_millis(10);

/// Why a cycle begins for a waiting thread.
pub(super) const REASON: &str = "Trigger: No free regions in a row for a large object";

impl Shenandoah {
    /// As [`Collector::await_run`](crate::mutator::Collector::await_run).
    pub(super) fn await_run(
        &self,
        mutator: &mut Mutator<'_>,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> bool {
        // A child of `fork()` may have no control thread to wait for.
        mutator.shared().after_fork_or_abort();
        let alone = self.passive.load(Ordering::Relaxed) || self.progress.has_no_other_driver();
        if alone || self.overhead.is_near(Cause::AllocationFailure) {
            return false;
        }
        let Some(most) = self.engine.freed.begin_wait() else { return false };
        let begun = Instant::now();
        let found = self.await_cycles(mutator, begun + most, satisfied);
        self.engine.freed.end_wait(found);
        let threads = mutator.shared().threads.registry.count().max(1) as u32;
        self.overhead.helped(begun.elapsed() / threads);
        found
    }

    /// Waits, in `blocking`, until `satisfied`. Returns `false` if a cycle that began after the
    /// call has ended in vain, or at `deadline`.
    fn await_cycles(
        &self,
        mutator: &mut Mutator<'_>,
        deadline: Instant,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> bool {
        let freed = &self.engine.freed;
        let first = freed.counts();
        loop {
            // Before the attempt: memory that is freed after it ends the wait.
            let seen = freed.counts();
            if satisfied(mutator) {
                return true;
            }
            if seen.swept > first.snapshots || Instant::now() >= deadline {
                return false;
            }
            // A cycle that has freed all it could has not always ended yet.
            if seen.swept != first.swept || !self.engine.assisted.has_cycle() {
                self.progress.fire(REASON);
                if !self.wake(|| mutator.downgrade()) {
                    return false;
                }
            }
            // While a cycle is under way, only that cycle frees memory.
            let goes_on = || self.engine.assisted.has_cycle() && Instant::now() < deadline;
            mutator.blocking(|| while !freed.wait(seen, LOOK) && goes_on() {});
        }
    }
}
