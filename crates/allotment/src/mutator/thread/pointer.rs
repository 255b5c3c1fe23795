//! The pointer: the region that a thread without buffers takes its objects from.
//!
//! With `UseTLAB=false` each object is a compare-and-swap on the top of a region that all threads share. What that needs is
//! here, in the thread's hot part: the address of the region, whose first two words are its top and its end. So an object is
//! a load of the region, a look at the stop request, a load of the top, an add, a compare with the end, a compare-and-swap,
//! and the header; generated code has the same sequence in line. All else (no region yet, a full one, a stop, a size that no
//! region holds) is the slow path, which opens the pointer anew.
//!
//! A region that others have replaced meanwhile is harmless. It stays `Shared` until all mutators have come to a safepoint,
//! so a thread that still has its address finds room in it, or finds it full; and each safepoint closes the pointer. A top
//! that was moved on and back between the load and the swap ([`FreeSet::undo`](crate::region::FreeSet)) is as good as one that
//! was never moved: what counts is that the memory behind it is nobody's.
//!
//! Refused: the top's address of the heap's one current region (HotSpot's eden). It would be replaced while others bump it.

use crate::region::Region;
use crate::tlab::statistics::TlabStatistics;
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where a thread without buffers takes objects from, and how many it took.
///
/// ```text
/// open  =>  the region is Shared, and no safepoint was reached since it was opened
/// open  =>  the heap has no buffers, swaps without a lock; no regions of the thread's own, no sampling, no zeal
/// ```
///
/// Owner only; the stopper's while the owner is held. The counts are read by others. Generated code adds to them.
#[derive(Debug)]
#[repr(C, align(64))]
pub(in crate::mutator) struct Pointer {
    /// The region, or null: closed.
    region: Cell<*const Region>,
    /// Objects, or what several were allocated as together.
    objects: AtomicU64,
    /// Their bytes.
    bytes: AtomicU64,
    /// Swaps that failed, since another thread was quicker.
    failures: AtomicU64,
}

/// Adds without a locked instruction: the owner alone writes.
#[inline(always)]
fn add(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

impl Pointer {
    pub(in crate::mutator) const OBJECTS_OFFSET: usize = std::mem::offset_of!(Pointer, objects);
    pub(in crate::mutator) const BYTES_OFFSET: usize = std::mem::offset_of!(Pointer, bytes);
    pub(in crate::mutator) const FAILURES_OFFSET: usize = std::mem::offset_of!(Pointer, failures);

    pub(in crate::mutator) fn new() -> Pointer {
        let zero = || AtomicU64::new(0);
        Pointer { region: Cell::new(ptr::null()), objects: zero(), bytes: zero(), failures: zero() }
    }

    /// The next object takes the slow path.
    pub(in crate::mutator) fn close(&self) {
        self.region.set(ptr::null());
    }

    /// The next object comes from `region`, which is `Shared` and lives as long as the heap.
    pub(in crate::mutator) fn open(&self, region: &Region) {
        self.region.set(region);
    }

    #[cfg(test)]
    pub(in crate::mutator) fn is_open(&self) -> bool {
        !self.region.get().is_null()
    }

    /// `bytes` of the region, and from where on they are zero. `None`: it is closed, or the region has not as many.
    #[inline(always)]
    pub(in crate::mutator) fn bump(&self, bytes: usize) -> Option<(usize, usize)> {
        // SAFETY: null, or an entry of the heap's table, which outlives the thread's state.
        let region = unsafe { self.region.get().as_ref() }?;
        let mut top = region.top();
        loop {
            // Addresses lie below 2^47 and sizes below 2^46: the sum fits.
            let end = top + bytes;
            if end > region.end() {
                return None;
            }
            match region.move_top(top, end) {
                Ok(()) => {
                    add(&self.objects, 1);
                    add(&self.bytes, bytes as u64);
                    // Not `clamp`, which looks whether its bounds are in order.
                    return Some((top, region.dirty().max(top).min(end)));
                }
                Err(now) => {
                    add(&self.failures, 1);
                    top = now;
                }
            }
        }
    }

    /// Adds what was taken to the counts of the slow path.
    pub(in crate::mutator) fn add_to(&self, statistics: &mut TlabStatistics) {
        let [objects, bytes, failures] =
            [&self.objects, &self.bytes, &self.failures].map(|count| count.load(Ordering::Relaxed));
        statistics.outside_allocations += objects;
        statistics.outside_bytes += bytes;
        statistics.compare_exchange_attempts += objects + failures;
        statistics.compare_exchange_successes += objects;
    }
}
