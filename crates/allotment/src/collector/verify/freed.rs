//! The check of memory without objects.
//!
//! Memory that was never written reads zero, and allocation relies on that. Freed memory has the
//! pattern, if the heap fills it. A word with neither value shows a write through a stale
//! reference. Above the top of a region that threads share, zeroes may also come from buffers that
//! were zeroed ahead and given up.

use super::Fault;
use crate::object::{POISON, first_word_not};
use crate::region::{FreeSet, State};

/// Checks the memory of region `index` above its top.
///
/// # Safety
/// - No mutator is between two safepoints.
pub(super) unsafe fn verify_room(free: &FreeSet, index: usize) -> Result<(), Fault> {
    let (table, region) = (free.table(), free.table().get(index));
    let state = region.state();
    let dirty = region.dirty().max(region.top());
    let check = |start, end, allowed: fn(u64) -> bool, expected| {
        // SAFETY: the callers below ensure that the memory is readable; no thread that could write
        // runs.
        unsafe { first_word_not(start, end, allowed) }.map_or(Ok(()), |(address, found)| {
            Err(Fault::Freed { address, region: index, state, found, expected })
        })
    };
    // A region without memory, or one whose memory is the owner thread's.
    if matches!(state, State::Uncommitted | State::Exclusive) {
        return Ok(());
    }
    if region.is_poisoned() {
        let (allowed, expected): (fn(u64) -> bool, _) = match state {
            State::Free | State::Quarantined => (|word| word == POISON, "the pattern of freed memory"),
            _ => (|word| word == POISON || word == 0, "the pattern of freed memory or 0"),
        };
        check(region.top(), dirty, allowed, expected)?;
    }
    // A region in quarantine may be inaccessible there.
    if state == State::Quarantined {
        return Ok(());
    }
    check(dirty, table.end(index), |word| word == 0, "0")
}
