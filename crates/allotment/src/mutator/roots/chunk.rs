//! Slots of handles that were made together, and whether a young collection looks at them.
//!
//! A chunk begins at a multiple of its size. So the address of a slot leads to the chunk's epoch,
//! and a thread that stores to a handle finds out with two loads whether the chunk is on the list
//! of those that young collections visit ([`young`](super::young)).

use crate::sync::{AtomicU64 as EpochWord, Ordering};
use std::mem::offset_of;
use std::ptr::{NonNull, slice_from_raw_parts_mut};
use std::sync::atomic::AtomicU64;

/// Number of slots made at a time: with the epoch they fill the chunk. In tests, few handles take
/// many chunks.
pub(crate) const CHUNK: usize = if cfg!(any(test, loom)) { 3 } else { 63 };

/// The size of a chunk in bytes.
const BYTES: usize = 512;

/// The value of a free slot: no reference.
pub(super) const FREE: u64 = 1;

/// The memory of a chunk.
#[repr(C, align(512))]
struct Memory {
    /// The epoch of the table in which the chunk was put on the list of young chunks; 0: never.
    /// Written under the table's lock. Relaxed: a thread that stores to a handle compares the epoch
    /// with the table's, which changes in stops only.
    epoch: EpochWord,
    slots: [AtomicU64; CHUNK],
}

const _: () = assert!(size_of::<Memory>() == BYTES && align_of::<Memory>() == BYTES);

/// A chunk of a table, valid as long as the table, which frees it. It is a pointer and no `Box`. A
/// box is the only way to its contents, so moving a box (into a vector, or with it) would
/// invalidate the pointer of every slot.
#[derive(Clone, Copy)]
pub(super) struct Chunk(NonNull<Memory>);

// SAFETY: it leads to atomics, in a table that every holder keeps alive.
unsafe impl Send for Chunk {}
// SAFETY: as above.
unsafe impl Sync for Chunk {}

impl Chunk {
    /// A chunk of free slots; `None`: the system has no memory.
    pub(super) fn new() -> Option<Chunk> {
        let mut memory = Vec::new();
        memory.try_reserve_exact(1).ok()?;
        let slots = [const { AtomicU64::new(FREE) }; CHUNK];
        memory.push(Memory { epoch: EpochWord::new(0), slots });
        Some(Chunk(NonNull::from(Box::leak(memory.into_boxed_slice())).cast()))
    }

    /// Frees the chunk.
    ///
    /// # Safety
    /// - Neither the chunk nor one of its slots is used afterwards.
    pub(super) unsafe fn free(self) {
        // SAFETY: `new` made it from a box of one element, and the caller says that it goes.
        drop(unsafe { Box::from_raw(slice_from_raw_parts_mut(self.0.as_ptr(), 1)) });
    }

    /// The chunk's slots.
    pub(super) fn slots(self) -> impl DoubleEndedIterator<Item = RootSlot> + use<> {
        // SAFETY: the field lies in the memory.
        let first = unsafe { self.0.byte_add(offset_of!(Memory, slots)) }.cast::<AtomicU64>();
        // SAFETY: the elements of the array.
        (0..CHUNK).map(move |index| RootSlot(unsafe { first.add(index) }))
    }

    /// The words of the chunk's slots.
    pub(super) fn words(&self) -> &[AtomicU64; CHUNK] {
        // SAFETY: the table outlives the chunk's holders, and there are only shared references.
        unsafe { &self.0.as_ref().slots }
    }

    /// Whether the chunk was put on the list of young chunks in this epoch.
    #[inline]
    pub(super) fn is_of(&self, epoch: u64) -> bool {
        // SAFETY: as for `words`.
        unsafe { self.0.as_ref() }.epoch.load(Ordering::Relaxed) == epoch
    }

    /// Notes that the chunk is put on the list of young chunks. Under the table's lock.
    pub(super) fn set_epoch(&self, epoch: u64) {
        // SAFETY: as for `words`.
        unsafe { self.0.as_ref() }.epoch.store(epoch, Ordering::Relaxed);
    }
}

/// A slot of a table, valid as long as the table.
#[derive(Clone, Copy)]
pub(in crate::mutator) struct RootSlot(NonNull<AtomicU64>);

// SAFETY: an atomic in a table that every holder keeps alive.
unsafe impl Send for RootSlot {}
// SAFETY: as above.
unsafe impl Sync for RootSlot {}

impl RootSlot {
    pub(in crate::mutator) fn word(&self) -> &AtomicU64 {
        // SAFETY: the table outlives its slots' holders, and frees its chunks at its own end. The
        // pointer came from the chunk's own pointer, which nothing has invalidated: only shared
        // references to the words exist.
        unsafe { self.0.as_ref() }
    }

    /// The chunk of the slot.
    #[inline]
    pub(super) fn chunk(self) -> Chunk {
        let memory = self.0.as_ptr().map_addr(|address| address & !(BYTES - 1)).cast::<Memory>();
        // SAFETY: the slot's pointer came from that of its chunk, which begins at a multiple of
        // its size.
        Chunk(unsafe { NonNull::new_unchecked(memory) })
    }
}
