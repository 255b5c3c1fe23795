//! The pointer: the region that a thread without buffers takes its objects from.
//!
//! With `UseTLAB=false` each allocation is a compare-and-swap on the top of a region that all
//! threads share. The thread's hot part holds the address of that region, whose first two words are
//! its top and its end. An allocation is a load of the region, a test of the stop request, a load
//! of the top, an add, a compare with the end, a compare-and-swap, and the header. Generated code
//! has the same sequence inline. Everything else takes the slow path, which opens the pointer anew:
//! no region yet, a full region, a stop, or a size that no region holds.
//!
//! A region that other threads have replaced meanwhile is harmless. The region stays `Shared` until
//! all mutators have come to a safepoint. So a thread that still has its address finds room in it,
//! or finds it full. Each safepoint closes the pointer. The top may move on and back between the
//! load and the swap ([`FreeSet::undo`](crate::region::FreeSet)). That is as good as a top that
//! never moved: the swap only needs the memory above the top to be free.
//!
//! Refused: the address of the top of the heap's one current region (as HotSpot's eden). Other
//! threads would replace it while a thread bumps it.

use crate::region::{Carve, Region};
use crate::sync::{AtomicU64, Ordering};
use crate::tlab::statistics::{TlabStatistics, add};
use std::cell::Cell;
use std::ptr;

/// The region that a thread without buffers takes objects from, and counts of what it took.
///
/// ```text
/// open  =>  the region is Shared, and no safepoint was reached since it was opened
/// open  =>  the heap has no buffers, and swaps without a lock
/// open  =>  no regions of the thread's own, no sampling, no zeal
/// ```
///
/// Owner only. The stopper may use it while the owner is held. Other threads read the counts.
/// Generated code adds to them.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(in crate::mutator) struct Pointer {
    /// The region. Null if the pointer is closed.
    region: Cell<*const Region>,
    /// Number of objects. Several objects that were allocated together count as one.
    objects: AtomicU64,
    /// Number of their bytes.
    bytes: AtomicU64,
    /// Failed swaps: another thread was quicker.
    failures: AtomicU64,
}

impl Pointer {
    pub(in crate::mutator) const OBJECTS_OFFSET: usize = std::mem::offset_of!(Pointer, objects);
    pub(in crate::mutator) const BYTES_OFFSET: usize = std::mem::offset_of!(Pointer, bytes);
    pub(in crate::mutator) const FAILURES_OFFSET: usize = std::mem::offset_of!(Pointer, failures);

    /// Closes the pointer: the next object takes the slow path.
    pub(in crate::mutator) fn close(&self) {
        self.region.set(ptr::null());
    }

    /// Opens the pointer: the next object comes from `region`, which is `Shared` and lives as long
    /// as the heap.
    pub(in crate::mutator) fn open(&self, region: &Region) {
        self.region.set(region);
    }

    #[cfg(test)]
    pub(in crate::mutator) fn is_open(&self) -> bool {
        !self.region.get().is_null()
    }

    /// Takes `bytes` of the region. `None` if the pointer is closed or the region has less room.
    #[inline(always)]
    pub(in crate::mutator) fn bump(&self, bytes: usize) -> Option<Carve> {
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
                    // Not `clamp`, which checks the order of its bounds.
                    return Some(Carve { start: top, end, dirty: region.dirty().max(top).min(end) });
                }
                Err(now) => {
                    add(&self.failures, 1);
                    top = now;
                }
            }
        }
    }

    /// Adds the counts of this path to those of the slow path.
    pub(in crate::mutator) fn add_to(&self, statistics: &mut TlabStatistics) {
        let [objects, bytes, failures] =
            [&self.objects, &self.bytes, &self.failures].map(|count| count.load(Ordering::Relaxed));
        statistics.outside_allocations += objects;
        statistics.outside_bytes += bytes;
        statistics.compare_exchange_attempts += objects + failures;
        statistics.compare_exchange_successes += objects;
    }
}
