//! Shenandoah's limits on buffers, before and after JDK-8359947.
//!
//! Before, a buffer could be a whole region. (The source's other bound, the humongous threshold, is
//! a whole region by default.) A few hundred threads that start together take one
//! each and hardly use it. The other regions run out before the next collection, and the other
//! threads wait for that collection. The change bounds the largest and the first buffer. The sizing
//! is HotSpot's in both.

use super::align_down;

/// The largest buffer since JDK-8359947, in bytes: min(region, max(region / 32, 256 KiB)).
#[must_use]
pub(crate) fn max_tlab_size_8359947(region_size: usize) -> usize {
    align_down((region_size / 32).max(256 << 10).min(region_size))
}

/// `TLABSize` since JDK-8359947 if the user gives none, in bytes: max(region / 256, 32 KiB).
///
/// It may exceed a tiny region. A caller that sizes a buffer with it must apply the largest buffer
/// as a bound.
#[must_use]
pub(crate) fn tlab_size_8359947(region_size: usize) -> usize {
    align_down((region_size / 256).max(32 << 10))
}
