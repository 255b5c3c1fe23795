//! Objects outside buffers: too large for a buffer, or allocated while the buffer is worth keeping.
//!
//! Without buffers at all (`UseTLAB=false`), the first object after a safepoint or in a region is
//! allocated here. It opens the [pointer](crate::mutator::thread::pointer) for the following
//! objects, each of which is a compare-and-swap.

use super::initialise::zero;
use super::refill::Content;
use crate::mutator::Mutator;
use crate::mutator::thread::state::State;
use crate::mutator::thread::stopping::is_stopping_that;
use crate::region::Carve;
use std::ptr::NonNull;

impl State {
    /// Memory of exactly `bytes` from a shared region, from the thread's own regions, or from a run
    /// of regions.
    pub(in crate::mutator) fn allocate_outside(&self, bytes: usize, content: Content) -> Option<Carve> {
        let shared = &*self.shared;
        shared.after_fork_or_abort();
        let mut owned = self.owned.borrow_mut();
        let carve = if bytes > shared.space.region_bytes() {
            let carve = shared.space.free.allocate_humongous(shared.space.home(), bytes)?;
            if let Some(collector) = shared.collector.concurrent() {
                collector.refilled(&Mutator::new(self), bytes.next_multiple_of(shared.space.region_bytes()));
            }
            if let Some(private) = &mut owned.private {
                private.log_humongous(&shared.space, carve.start);
            }
            carve
        } else if let Some(private) = &mut owned.private {
            private.carve(&shared.space, bytes)?
        } else {
            let home = shared.space.home();
            let carve = self.counted(|attempts| shared.space.free.allocate(home, bytes, bytes, attempts))?;
            self.open_pointer(carve.start);
            carve
        };
        let is_shared = owned.private.is_none() && bytes <= shared.space.region_bytes();
        drop(owned);
        self.counters.outside(bytes);
        if is_shared {
            self.charge_for_outside();
        }
        let Carve { start, dirty, .. } = carve;
        if self.sampling.is_on() {
            let passed = self.sampling.pass_outside(&self.hot, bytes);
            self.arm();
            if let Some(offset) = passed {
                self.sample(start, bytes, offset, content == Content::Objects);
            }
        }
        // SAFETY: the rest of this piece, which is the thread's. A spare may be larger than the
        // requested size.
        unsafe { self.shared.space.cover_rest(start + bytes, carve.end) };
        let end = start + bytes;
        Some(Carve { start, end, dirty: dirty.min(end) })
    }

    /// Memory of `bytes` for one object of a thread without buffers, taken from the region that the
    /// pointer names. `zeroed` as for [`memory_past_limit`](Self::memory_past_limit). `None`: the
    /// slow path has to decide.
    #[inline(always)]
    pub(in crate::mutator) fn bump_pointer(&self, bytes: usize, zeroed: bool) -> Option<NonNull<u8>> {
        // Without a buffer the limit is 0, so a request has to be checked explicitly.
        if self.hot.limit.pending() {
            return None;
        }
        let Carve { start, dirty, .. } = self.hot.pointer.bump(bytes)?;
        if zeroed {
            // SAFETY: the memory is this thread's.
            unsafe { zero(start, dirty) };
        }
        NonNull::new(start as *mut u8)
    }

    /// Opens the pointer to the region of `start`, if the thread takes all its objects that way.
    fn open_pointer(&self, start: usize) {
        let shared = &*self.shared;
        if shared.policy.use_tlab || self.zeal.is_on() || self.sampling.is_on() {
            return;
        }
        // In the stopped world, regions may still be given up after an allocation of the stopper.
        if !is_stopping_that(&shared.threads.registry)
            && let Some(region) = shared.space.free.swapped(start)
        {
            self.hot.pointer.open(region);
        }
    }
}
