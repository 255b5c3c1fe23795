//! The `adaptive` policy: a thread's size follows its allocation in the last moments.
//!
//! HotSpot gives an unknown thread a buffer as if the thread were one of the hungriest, and needs a
//! collection to correct that. When hundreds of threads start together, the unused parts of their
//! buffers make up the heap. Here a thread starts with the floor and earns the rest:
//!
//! - **growth**: if a buffer lasted at most decay time / 32, a buffer of twice the size follows,
//!   once the thread has emptied as many bytes as that: 16, 16, 32, 64 ... KiB. So a growing thread
//!   holds no more than it has used.
//! - **decay**: a thread that comes back after more than the decay time finds its size halved once
//!   per decay time.
//! - **cycle**: a cycle's end takes all buffers back anyway. A thread keeps the size that would
//!   have held its allocation in the cycle, rounded up to a power of two. A thread that allocated
//!   nothing is back at the floor.
//!
//! Between decay / 32 and decay a size stays the same, so that a steady thread has a steady size.
//! Sizes double because the way from 16 KiB to 32 MiB is then 12 refills; steps of a tenth, as in
//! Epsilon, take 80.
//!
//! Refused: growth by a count of refills, without a clock. It cannot distinguish a thread that
//! needs a megabyte a minute from one that needs it in a millisecond, and gives both a megabyte to
//! hold.
//!
//! [`Budget`](crate::tlab::budget::Budget) sets the bound over all threads.

use super::{Config, align_down};

/// A thread's first buffer, and the size that its buffers shrink to, in bytes. The refills of
/// smaller buffers would cost too much (2 KiB, HotSpot's smallest: two to three times on two
/// cores). Hundreds of threads can each hold this size.
pub(super) const FLOOR: usize = 16 << 10;

/// A buffer that lasted at most the decay time divided by this was used up quickly: 31 ms by
/// default. A thread then refills at most 32 times in a second, or has the largest buffer.
const QUICK: u64 = 32;

/// The size a thread would choose for its next buffer, in bytes, if it were alone: from the floor
/// to the largest buffer.
///
/// `size`: its size so far; `emptied`: bytes of the buffers it used up since it started, idled or
/// was interrupted by a cycle; `elapsed_ms`: time since its last refill.
#[inline]
pub(super) fn wish(config: &Config, size: usize, emptied: usize, elapsed_ms: u64) -> usize {
    if !config.resize {
        size
    } else if elapsed_ms > config.decay_ms {
        decayed(config, size, elapsed_ms / config.decay_ms)
    } else if emptied / 2 >= size && elapsed_ms.saturating_mul(QUICK) <= config.decay_ms {
        size.saturating_mul(2).min(config.max_tlab_size)
    } else {
        size
    }
}

/// `size` halved `times` times, at least the floor.
#[cold]
fn decayed(config: &Config, size: usize, times: u64) -> usize {
    let times = u32::try_from(times).unwrap_or(u32::MAX);
    align_down(size.checked_shr(times).unwrap_or(0)).max(config.floor())
}

/// The size a thread keeps after a cycle in which it allocated `allocated` bytes: the power of two
/// that holds them, at least the floor, at most its size so far.
pub(super) fn cycle_size(config: &Config, size: usize, allocated: usize) -> usize {
    let holds = allocated.checked_next_power_of_two().unwrap_or(usize::MAX);
    if config.resize { size.min(holds.max(config.floor())) } else { size }
}
