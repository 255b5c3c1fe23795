//! Memory in which no object is: as it was left.
//!
//! What was never written reads zero, and allocation relies on that. What was freed is the pattern, if the
//! heap fills it: a word that is neither tells of a write through a stale reference. Above the top of a region
//! that threads share there may be zeroes as well, of buffers that were zeroed ahead and given up.

use super::Fault;
use crate::object::{POISON, first_word_not};
use crate::region::{Backing, FreeSet, State};

/// Checks what region `index` has above its top.
///
/// # Safety
/// - No mutator is between two safepoints.
pub(super) unsafe fn verify_room<B: Backing>(free: &FreeSet<B>, index: usize) -> Result<(), Fault> {
    let (table, region) = (free.table(), free.table().get(index));
    let state = region.state();
    let dirty = region.dirty().max(region.top());
    let fault =
        |expected| move |(address, found)| Fault::Freed { address, region: index, state, found, expected };
    let check = |start, end, allowed: fn(u64) -> bool, expected| {
        // SAFETY: the callers below see to it that the memory is readable; nobody runs who could write.
        unsafe { first_word_not(start, end, allowed) }.map_or(Ok(()), |found| Err(fault(expected)(found)))
    };
    match state {
        // No memory; or perhaps none.
        State::Uncommitted => return Ok(()),
        // Its owner's.
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
