//! Buffers of one size: which sizes there can be, and the regions that hold them.
//!
//! A refill asks for TLABSize and the object that is waiting, as in HotSpot. Buffers that are to have `tlab` bytes
//! therefore come from a TLABSize that is less by an object. With TLABSize itself at a power of two, one buffer
//! less than that fits into a region, and the end of every region would stay empty: half of it in the worst case.

use crate::format::number::size;
use allotment::heap::{Geometry, MAX_REGION_BYTES, MIN_REGION_BYTES, MIN_REGIONS};

/// The least that TLABSize takes, in bytes.
const MIN_TLAB_BYTES: usize = 64;

/// The TLABSize of buffers of `tlab` bytes for objects of `object` bytes.
///
/// # Errors
/// There are no such buffers.
pub(super) fn tlab_size(tlab: usize, object: usize) -> Result<usize, String> {
    let least = MIN_TLAB_BYTES + object;
    if (least..=MAX_REGION_BYTES).contains(&tlab) && tlab.is_multiple_of(8) {
        return Ok(tlab - object);
    }
    let largest = size(MAX_REGION_BYTES as u64);
    Err(format!(
        "buffers of {tlab} bytes: multiples of 8 from {least} (an object and {MIN_TLAB_BYTES}) to {largest} work"
    ))
}

/// Bytes of the region that a heap of `heap` bytes would choose, or of the smallest that holds a buffer if that is
/// larger. A buffer is at most [`MAX_REGION_BYTES`].
///
/// # Errors
/// The heap is too large.
pub(super) fn region_bytes(heap: usize, tlab: usize) -> Result<usize, String> {
    let least = MIN_REGIONS * MIN_REGION_BYTES;
    let chosen = Geometry::new(heap.max(least), 0).map_err(|error| error.to_string())?;
    Ok(chosen.region_bytes().max(tlab.next_power_of_two()))
}
