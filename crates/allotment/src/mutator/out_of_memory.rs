//! The error of an allocation.
//!
//! One word, so that a `Result` of a pointer and this is a pair that functions return in registers. It is what every
//! function that allocates returns: with an error of three words each wrote its result to memory, and each caller read
//! it back. Refused: two words of which one is never 0, which is as small and still goes by memory, since it is no pair
//! to the compiler; and both numbers in one word, which is not exact. The box is no loss where memory is short: it is
//! not the heap's memory, and who passes an error on as a `Box<dyn Error>` makes one anyway.

/// The heap has no room for an allocation.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "out of memory: no room for {} bytes in a heap of {} bytes{}",
    .0.bytes,
    .0.heap_bytes,
    if .0.refused_by_system { " (the system refused to commit more memory for it)" } else { "; a larger MaxHeapSize would help" }
)]
pub struct OutOfMemory(Box<Details>);
crate::debug::debug_is_display!(OutOfMemory);

const _: () = assert!(size_of::<Result<(), OutOfMemory>>() == size_of::<usize>());

#[derive(Clone, PartialEq, Eq)]
struct Details {
    bytes: usize,
    heap_bytes: usize,
    refused_by_system: bool,
}

impl OutOfMemory {
    #[cold]
    pub(super) fn new(bytes: usize, heap_bytes: usize, refused_by_system: bool) -> OutOfMemory {
        OutOfMemory(Box::new(Details { bytes, heap_bytes, refused_by_system }))
    }

    /// Bytes asked for; `usize::MAX` where the size does not fit a number.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// MaxHeapSize in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.0.heap_bytes
    }

    /// Whether the system, not the limit, ended the heap's growth.
    pub fn refused_by_system(&self) -> bool {
        self.0.refused_by_system
    }

    pub(super) fn set_refused_by_system(&mut self) {
        self.0.refused_by_system = true;
    }
}
