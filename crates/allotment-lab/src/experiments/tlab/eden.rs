//! The memory of a thread's eden, and how much of it one call of a worker uses.

use allotment::Heap;
use allotment::options::CollectorKind;
use allotment::platform::Reservation;

/// Bytes that one call of a worker allocates, at most: small enough that the end of an iteration is seen
/// soon, large enough that the call itself does not show.
const CALL_BYTES: usize = 16 << 10;

/// Bytes of any heap, at least.
pub(super) const MIN_HEAP: usize = 16 << 20;

/// What a header holds in modes without a heap: what the heap's first shape would.
pub(super) const HEADER: u64 = 1 << 8;

/// How many pairs of objects of `bytes` one call allocates, and how many calls fill an eden of `eden`.
pub(in super::super) fn calls(bytes: usize, eden: usize) -> (usize, usize) {
    let pairs = (CALL_BYTES.min(eden) / (2 * bytes)).max(1);
    (pairs, (eden / (pairs * 2 * bytes)).max(1))
}

/// Bytes of a heap in which `threads` edens of `eden` bytes fit, with room for what rounding costs.
pub(in super::super) fn bytes_of_edens(eden: usize, threads: usize) -> usize {
    eden.saturating_add((eden / 4).max(1 << 20)).saturating_mul(threads).max(MIN_HEAP)
}

/// That heap.
pub(in super::super) fn heap_of_edens(eden: usize, threads: usize) -> anyhow::Result<Heap> {
    let bytes = bytes_of_edens(eden, threads);
    Ok(Heap::builder().max_heap_size(bytes).collector(CollectorKind::Epsilon).name("lab").build()?)
}

/// Memory from the same place as the heap's, for modes without one.
pub(super) struct Eden {
    memory: Reservation,
}

impl Eden {
    /// `bytes` of committed memory, in huge pages where a heap's would be. The pages are there: faults are no part of what is
    /// measured, however few iterations warm up.
    pub(super) fn new(bytes: usize) -> anyhow::Result<Eden> {
        let memory = Reservation::reserve(bytes, 2 << 20, "bare-eden")?;
        memory.advise_huge_pages()?;
        memory.commit(0, memory.bytes())?;
        // SAFETY: so many bytes are committed, and nobody else knows of them yet.
        unsafe { memory.base().write_bytes(0, memory.bytes()) };
        Ok(Eden { memory })
    }

    pub(super) fn base(&self) -> usize {
        self.memory.base() as usize
    }
}
