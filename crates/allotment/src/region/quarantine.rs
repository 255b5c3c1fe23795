//! Which of the ways to dispose of freed memory a heap has, and the regions that are kept from use for some collections.
//!
//! The regions are a list of their own, not one of the sets of the free set: nobody looks there for memory but who found none elsewhere, so
//! a quarantine never turns into out of memory.

use crate::sync::Mutex;
use std::collections::BTreeSet;

const POISONED: &str = "a thread panicked in the list of regions in quarantine";

/// What is done with freed memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Disposal {
    /// Fill it with the pattern.
    pub(crate) poison: bool,
    /// Make whole regions inaccessible until they are used again.
    pub(crate) protect: bool,
    /// Collections that pass before a region is used again.
    pub(crate) quarantine: usize,
}

/// A region that is kept from use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quarantined {
    pub(super) index: usize,
    /// Collections that it will have to wait for.
    pub(super) left: usize,
    /// It has no memory.
    pub(super) uncommitted: bool,
}

/// All of them. **Invariant:** state = Quarantined <=> in the list, or whoever holds the lock is at work.
#[derive(Default)]
pub(super) struct Quarantine(Mutex<Vec<Quarantined>>);

impl Quarantine {
    pub(super) fn is_at_rest(&self) -> bool {
        self.0.try_lock().is_ok()
    }

    pub(super) fn put(&self, region: Quarantined) {
        self.0.lock().expect(POISONED).push(region);
    }

    /// The regions as they are now.
    pub(super) fn indices(&self) -> BTreeSet<usize> {
        self.0.lock().expect(POISONED).iter().map(|region| region.index).collect()
    }

    /// Hands all that are `due` to `release`; whether there were any.
    pub(super) fn release_if(
        &self,
        mut due: impl FnMut(&mut Quarantined) -> bool,
        mut release: impl FnMut(&Quarantined),
    ) -> bool {
        let mut regions = self.0.lock().expect(POISONED);
        let before = regions.len();
        regions.retain_mut(|region| {
            let due = due(region);
            if due {
                release(region);
            }
            !due
        });
        regions.len() < before
    }
}
