//! The tables of a concurrent collector that the entries of barriers read without a call.
//!
//! While a collector works beside the threads, most loads and stores need nothing from the
//! collector: the object stays where it is, or is marked already. Two look-ups say so. The entries
//! make these look-ups in machine code (`platform/`), before they save a register. So the addresses
//! of the tables are in each hot part.
//!
//! ```text
//! offset = address - heap                    heap, heap_bytes: offset < heap_bytes
//! byte [moving + (offset >> region_shift)]           not 0: live objects of the region move
//! word [borders + 16 * (offset >> region_shift)]     the region's top when marking began
//! word [marks + 16 * (offset >> 9)]                  bit (offset >> 3) % 64: the object is marked
//! ```
//!
//! Refused: a pointer to one copy of these numbers. It saves no cache line that counts, and each
//! look-up would need another load and another register.

/// The addresses and sizes. They never change. A heap without a concurrent collector has zeroes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct BarrierTables {
    /// Address of the heap's first byte.
    pub(crate) heap: usize,
    /// Bytes of the heap. With 0 every reference goes to the slow path.
    pub(crate) heap_bytes: usize,
    /// An offset in the heap shifted right by this is the number of a region.
    pub(crate) region_shift: usize,
    /// Address of a byte for each region.
    pub(crate) moving: usize,
    /// Address of [`ENTRY_BYTES`](Self::ENTRY_BYTES) for each region. The first word counts.
    pub(crate) borders: usize,
    /// Address of [`ENTRY_BYTES`](Self::ENTRY_BYTES) for each [`MARK_BYTES`](Self::MARK_BYTES) of
    /// the heap. The first word has a bit for each word of the heap.
    pub(crate) marks: usize,
}

impl BarrierTables {
    /// Bytes of an entry of `borders` and of `marks`. The machine code has this number built in.
    pub(crate) const ENTRY_BYTES: usize = 16;
    /// Bytes of the heap that an entry of `marks` describes. The machine code has this number built
    /// in.
    pub(crate) const MARK_BYTES: usize = 512;
}
