//! Whether another cycle is worth it so soon after the last one.
//!
//! A cycle costs time for all that lives, and yields what died since the last cycle. If hardly
//! anything was allocated since then, hardly anything has died. So a sixteenth of the memory that
//! the last cycle left free has to be allocated first. Otherwise a heap that is full of live
//! objects would be collected without end.
//!
//! Cycles in a row that gain nothing double this part, up to a half: where nothing dies, the next
//! cycle gains nothing either. The first of them changes nothing, because the cycle after it may
//! look at old objects ([`plan`](super::plan)). A cycle that left its set where it was has found
//! garbage, which adds up until a move pays. So that cycle does not count as one that gained
//! nothing. Neither a request nor a failed allocation asks this file.
//!
//! Numbers only.

/// One part in this many of the memory that a cycle left free has to be allocated.
const PART: u64 = 16;

/// A cycle gains nothing if it frees less than one part in this many of what was allocated since
/// the last one.
const GAINS: u64 = 16;

/// The most doublings of the part: to a half.
const MOST_DOUBLINGS: u32 = 3;

/// The state after the last cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worth {
    /// Bytes that the last cycle left free.
    pub(super) left_bytes: usize,
    /// Cycles in a row that gained nothing.
    pub(super) fruitless: u32,
}

impl Worth {
    /// Notes that a cycle has ended. It freed `freed_bytes` of the `allocated_bytes` since the end
    /// of the last one, and left `left_bytes` free. `skipped`: it left garbage, because a move did
    /// not pay.
    pub(super) fn cycle_ended(
        &mut self,
        skipped: bool,
        freed_bytes: usize,
        allocated_bytes: u64,
        left_bytes: usize,
    ) {
        let gains = freed_bytes as u64 >= allocated_bytes / GAINS;
        if gains {
            self.fruitless = 0;
        } else if !skipped {
            self.fruitless = self.fruitless.saturating_add(1);
        }
        self.left_bytes = left_bytes;
    }

    /// Whether another cycle is worth it after `allocated_bytes` since the last one.
    pub(super) fn is_enough(&self, allocated_bytes: u64) -> bool {
        let doublings = self.fruitless.saturating_sub(1).min(MOST_DOUBLINGS);
        allocated_bytes >= self.left_bytes as u64 / (PART >> doublings)
    }
}
