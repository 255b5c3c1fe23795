//! The work of a thread: it allocates 20 KiB in about 250 small arrays, stores each, and keeps
//! every tenth for a while.

use crate::walk::Random;
use allotment::{Array, Gc, Local, Mutator, NewArray, NewSlots, OutOfMemory, Slots, alloc};

/// Bytes that an operation allocates, headers included, plus at most one array.
pub(super) const OPERATION_BYTES: usize = 20 << 10;

/// Arrays that a ring keeps.
const KEPT: usize = 250;

/// One array in this many is kept.
const KEPT_OF: usize = 10;

/// Bytes before an array's elements: header and length.
const ARRAY_HEADER: usize = 16;

/// Arrays have 16 to 144 bytes in steps of 8: this many sizes.
const SIZES: usize = 17;

/// The arrays that a thread keeps: the latest in the first slot, the ring after it.
pub(super) type Ring = Array<Option<Slots<u8>>>;

/// An empty ring.
///
/// # Errors
/// The heap is full.
pub(super) fn ring<'m>(mutator: &'m mut Mutator<'_>) -> Result<Gc<'m, Ring>, OutOfMemory> {
    alloc!(mutator, NewArray::new(1 + KEPT, None))
}

/// A thread's position in the sizes and the ring. The sequence is the same in every run.
pub(super) struct Operations {
    random: Random,
    /// Arrays so far.
    arrays: usize,
}

impl Operations {
    /// The operations of thread `index`.
    pub(super) fn new(index: usize) -> Operations {
        Operations { random: Random::new(index as u64), arrays: 0 }
    }

    /// Performs one operation.
    ///
    /// # Errors
    /// The heap is full.
    pub(super) fn perform(
        &mut self,
        mutator: &mut Mutator<'_>,
        ring: Local<'_, Ring>,
    ) -> Result<(), OutOfMemory> {
        let mut bytes = 0;
        while bytes < OPERATION_BYTES {
            let length = self.random.below(SIZES) * 8;
            let array = alloc!(mutator, NewSlots::new(length, 0_u8))?;
            let ring = ring.get(mutator);
            ring.at(0).store(mutator, Some(array));
            if self.arrays.is_multiple_of(KEPT_OF) {
                ring.at(1 + self.arrays / KEPT_OF % KEPT).store(mutator, Some(array));
            }
            self.arrays += 1;
            bytes += ARRAY_HEADER + length;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use allotment::{Heap, root};

    #[test]
    fn an_operation_allocates_about_250_arrays_of_all_sizes_and_keeps_a_tenth() {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        heap.attach(|mutator| {
            root!(mutator, kept = ring(mutator)?);
            let mut operations = Operations::new(7);
            let before = heap.threads()[0].allocated_bytes();
            operations.perform(mutator, kept)?;
            let bytes = heap.threads()[0].allocated_bytes() - before;
            let most = OPERATION_BYTES as u64 + 144;
            assert!((OPERATION_BYTES as u64..most).contains(&bytes), "{bytes}");
            assert!((230..280).contains(&operations.arrays), "{}", operations.arrays);
            let of_ring = |mutator: &Mutator<'_>| kept.get(mutator).iter(mutator).skip(1).flatten().count();
            assert_eq!(of_ring(mutator), operations.arrays.div_ceil(KEPT_OF));
            for _ in 0..20 {
                operations.perform(mutator, kept)?;
            }
            assert_eq!(of_ring(mutator), KEPT);
            let lengths: Vec<usize> =
                kept.get(mutator).iter(mutator).flatten().map(|array| array.len()).collect();
            assert!(lengths.contains(&0) && lengths.contains(&128));
            assert!(lengths.iter().all(|length| length.is_multiple_of(8) && *length <= 128));
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
    }
}
