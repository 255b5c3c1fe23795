//! Epsilon's elastic buffers: they grow by a tenth per refill, and start over after idling.
//!
//! A heap that never collects has no cycles to learn from, so HotSpot's sizing would always give
//! every thread its initial size. In Epsilon that size is only a target that a thread grows
//! towards.

use super::{Config, align_down};
use crate::object::WORD;

/// The largest buffer if the user gives none, in bytes (`EpsilonMaxTLABSize`).
pub(super) const MAX_TLAB_SIZE: usize = 4 << 20;

/// Bytes to ask for, when HotSpot's sizing would ask for `requested` and the thread has grown to
/// `ergo` bytes.
///
/// Asks for `requested` if the thread has grown that far, for floor(`ergo` * elasticity) otherwise,
/// and in both cases for `min` to [`Config::max_tlab_size`] bytes. The product is floored in words
/// of 8 bytes, as in HotSpot: with the default of 1.1 growth stalls below 10 words, which is below
/// every `min`.
///
/// `min` must not exceed the largest buffer.
pub(super) fn elastic_size(config: &Config, ergo: usize, requested: usize, min: usize) -> usize {
    let size = if requested <= ergo {
        requested
    } else {
        // The cast saturates at the nearest integer value, so nothing here can overflow.
        (((ergo / WORD) as f64 * config.elasticity) as usize).saturating_mul(WORD)
    };
    align_down(size.max(min).min(config.max_tlab_size))
}

/// The size that a thread has grown to when it asks again `elapsed_ms` after its last refill. It is
/// 0 if that time is longer than [`Config::decay_ms`].
pub(super) const fn decayed(config: &Config, ergo: usize, elapsed_ms: u64) -> usize {
    if elapsed_ms > config.decay_ms { 0 } else { ergo }
}
