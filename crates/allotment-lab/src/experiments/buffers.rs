//! Buffers of one size: the possible sizes, and the regions that hold such buffers.
//!
//! A refill requests TLABSize plus the waiting object, as in HotSpot. Buffers of `tlab` bytes
//! therefore come from a TLABSize that is smaller by an object. With TLABSize itself at a power of
//! two, a region would hold one buffer less. The end of every region would stay empty: half of the
//! region in the worst case.

use crate::format::number::size;
use allotment::heap::{Geometry, MAX_REGION_BYTES, MIN_REGION_BYTES, MIN_REGIONS};
use anyhow::ensure;

/// The smallest TLABSize, in bytes.
const MIN_TLAB_BYTES: usize = 64;

/// The TLABSize of buffers of `tlab` bytes for objects of `object` bytes.
///
/// # Errors
/// There are no such buffers.
pub(super) fn tlab_size(tlab: usize, object: usize) -> anyhow::Result<usize> {
    let least = MIN_TLAB_BYTES + object;
    let largest = size(MAX_REGION_BYTES as u64);
    ensure!(
        (least..=MAX_REGION_BYTES).contains(&tlab) && tlab.is_multiple_of(8),
        "buffers of {tlab} bytes: multiples of 8 from {least} (an object and {MIN_TLAB_BYTES}) to {largest} work"
    );
    Ok(tlab - object)
}

/// Bytes of the region that a heap of `heap` bytes would choose, or of the smallest region that
/// holds a buffer if that is larger. A buffer is at most [`MAX_REGION_BYTES`].
///
/// # Errors
/// The heap is too large.
pub(super) fn region_bytes(heap: usize, tlab: usize) -> anyhow::Result<usize> {
    let least = MIN_REGIONS * MIN_REGION_BYTES;
    let chosen = Geometry::new(heap.max(least), 0)?;
    Ok(chosen.region_bytes().max(tlab.next_power_of_two()))
}
