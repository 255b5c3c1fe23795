//! The check of memory without objects.
//!
//! Memory that was never written reads zero, and allocation relies on that. Freed memory has the
//! pattern, if the heap fills it. A word with neither value shows a write through a stale
//! reference. Above the top of a region that threads share there may also be zeroes, from buffers
//! that were zeroed ahead and given up.

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
    let fault =
        |expected| move |(address, found)| Fault::Freed { address, region: index, state, found, expected };
    let check = |start, end, allowed: fn(u64) -> bool, expected| {
        // SAFETY: the callers below ensure that the memory is readable; no thread that could
        // write runs.
        unsafe { first_word_not(start, end, allowed) }.map_or(Ok(()), |found| Err(fault(expected)(found)))
    };
    match state {
        // The region has no memory, or may have none.
        State::Uncommitted => return Ok(()),
        // The memory is the owner thread's.
        State::Exclusive => return Ok(()),
        State::Free | State::Quarantined if region.is_poisoned() => {
            check(region.top(), dirty, |word| word == POISON, "the pattern of freed memory")?;
        }
        _ if region.is_poisoned() => {
            check(
                region.top(),
                dirty,
                |word| word == POISON || word == 0,
                "the pattern of freed memory or 0",
            )?;
        }
        _ => {}
    }
    // A region in quarantine may be inaccessible there.
    match state {
        State::Quarantined => Ok(()),
        _ => check(dirty, table.end(index), |word| word == 0, "0"),
    }
}
