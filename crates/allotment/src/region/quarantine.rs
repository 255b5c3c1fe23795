//! A heap's way to dispose of freed memory, and the regions that are kept from use for some
//! collections.
//!
//! These regions have their own list, which is not one of the sets of the free set. A thread
//! takes memory from there only if it found none elsewhere, so a quarantine never causes out of
//! memory.

use crate::options::Options;
use crate::sync::{Mutex, POISONED};
use std::collections::BTreeSet;

/// The treatment of freed memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Disposal {
    /// Fill the memory with the pattern.
    pub(crate) poison: bool,
    /// Make whole regions inaccessible until they are used again.
    pub(crate) protect: bool,
    /// Collections that pass before a region is used again.
    pub(crate) quarantine: usize,
}

impl From<&Options> for Disposal {
    fn from(options: &Options) -> Disposal {
        Disposal {
            poison: options.zeal_poison,
            protect: options.zeal_protect,
            quarantine: options.zeal_quarantine,
        }
    }
}

/// A region that is kept from use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quarantined {
    pub(super) index: usize,
    /// Number of collections that the region still waits for.
    pub(super) left: usize,
    /// The region has no memory.
    pub(super) uncommitted: bool,
}

/// The regions in quarantine. **Invariant:** state = Quarantined <=> in the list, or the holder of
/// the lock is changing it.
#[derive(Default)]
pub(super) struct Quarantine(Mutex<Vec<Quarantined>>);

impl Quarantine {
    pub(super) fn is_at_rest(&self) -> bool {
        self.0.try_lock().is_ok()
    }

    pub(super) fn put(&self, region: Quarantined) {
        self.0.lock().expect(POISONED).push(region);
    }

    /// The regions in quarantine at this moment.
    pub(super) fn indices(&self) -> BTreeSet<usize> {
        self.0.lock().expect(POISONED).iter().map(|region| region.index).collect()
    }

    /// Hands all regions that are `due` to `release`. Returns whether there were any.
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
