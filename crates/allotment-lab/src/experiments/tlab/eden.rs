//! The memory of a thread's eden, and the part of it that one call of a worker uses.

use allotment::Heap;
use allotment::internals::platform::Reservation;
use allotment::options::CollectorKind;

/// The largest number of bytes that one call of a worker allocates. It is small enough that the end
/// of an iteration is noticed soon, and large enough that the call itself has no visible cost.
const CALL_BYTES: usize = 16 << 10;

/// The smallest heap, in bytes.
pub(super) const MIN_HEAP: usize = 16 << 20;

/// The header in modes without a heap: the value that the heap's first shape would have.
pub(super) const HEADER: u64 = 1 << 8;

/// The number of pairs of objects of `bytes` bytes that one call allocates, and the number of calls
/// that fill an eden of `eden` bytes.
pub(super) fn calls(bytes: usize, eden: usize) -> (usize, usize) {
    let pairs = (CALL_BYTES.min(eden) / (2 * bytes)).max(1);
    (pairs, (eden / (pairs * 2 * bytes)).max(1))
}

/// Bytes of a heap in which `threads` edens of `eden` bytes fit, with room for rounding.
pub(in super::super) fn bytes_of_edens(eden: usize, threads: usize) -> usize {
    eden.saturating_add((eden / 4).max(1 << 20)).saturating_mul(threads).max(MIN_HEAP)
}

/// A heap of [`bytes_of_edens`] bytes.
pub(in super::super) fn heap_of_edens(eden: usize, threads: usize) -> anyhow::Result<Heap> {
    let bytes = bytes_of_edens(eden, threads);
    Ok(Heap::builder().max_heap_size(bytes).collector(CollectorKind::Epsilon).name("lab").build()?)
}

/// Memory from the same place as the heap's, for modes without one.
pub(super) struct Eden {
    memory: Reservation,
}

impl Eden {
    /// `bytes` of committed memory, in huge pages where a heap's would be. The pages are touched in
    /// advance, so page faults are not measured, however few iterations warm up.
    pub(super) fn new(bytes: usize) -> anyhow::Result<Eden> {
        let memory = Reservation::reserve(bytes, 2 << 20, "bare-eden")?;
        memory.advise_huge_pages()?;
        memory.commit(0, memory.bytes())?;
        // SAFETY: that many bytes are committed, and no other code knows of them yet.
        unsafe { memory.base().write_bytes(0, memory.bytes()) };
        Ok(Eden { memory })
    }

    pub(super) fn base(&self) -> usize {
        self.memory.base() as usize
    }
}
