//! Objects outside buffers: too large for one, or arriving when theirs is worth keeping.
//!
//! Without buffers at all (`UseTLAB=false`) every object comes this way: one compare-and-swap on a
//! pointer that all threads share, which is what buffers are measured against.

use super::refill::Block;
use super::state::State;
use crate::region::{Attempts, Carve};

impl State {
    /// Memory of exactly `bytes` from a shared region, from the thread's own, or a run of regions.
    pub(super) fn allocate_outside(&self, bytes: usize) -> Option<Block> {
        let shared = &*self.shared;
        shared.after_fork_or_abort();
        let mut owned = self.owned.borrow_mut();
        let carve = if bytes > shared.region_bytes() {
            let carve = shared.free.allocate_humongous(shared.home(), bytes)?;
            if let Some(private) = &mut owned.private {
                private.log_humongous(shared, carve.start);
            }
            carve
        } else if let Some(private) = &mut owned.private {
            private.carve(shared, bytes)?
        } else {
            let mut attempts = Attempts::default();
            let carve = shared.free.allocate(shared.home(), bytes, bytes, &mut attempts);
            self.counters.compare_exchange(attempts.tried, attempts.won > 0);
            carve?
        };
        drop(owned);
        self.counters.outside(bytes);
        if self.sampling.count_outside(&self.hot, bytes) {
            self.arm();
        }
        let Carve { start, dirty, .. } = carve;
        // A spare may be larger than what was asked for.
        self.shared.cover_rest(start + bytes, carve.end);
        Some(Block { start, end: start + bytes, clean: dirty.clamp(start, start + bytes) })
    }
}
