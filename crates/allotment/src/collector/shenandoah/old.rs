//! The parts of the collector that only a heap with generations has
//! (`ShenandoahGCMode=generational`): starts of old objects, lists of old regions that a cycle has
//! to look at, and the age from which objects are old.
//!
//! ```text
//! init mark    a young cycle lists old regions; workers look at their dirty cards first
//! weak         the age from which objects are old; regions that become old as they are
//! begin move   these are old, all others older; old regions to put in order are listed
//! free         dead objects of the listed regions are covered, starts recorded
//! full         no object is old
//! ```

use super::account::Account;
use super::plan::Plan;
use super::scope::Scope;
use super::tenuring::Tenuring;
use super::work_list::WorkList;
use crate::collector::concurrent::{Found, MarkLeftover};
use crate::collector::kernel::OldTables;
use crate::collector::record::{CycleScope, GenerationsDetails};
use crate::platform::MemoryError;
use crate::region::{FreeSet, Space, StartTable};
use crate::sync::{AtomicU8, Mutex, MutexGuard, Ordering, POISONED};

/// The part of the collector that is for old objects.
pub(super) struct Old {
    /// Starts of old objects.
    starts: StartTable,
    /// Old regions whose dirty cards a young cycle has yet to look at.
    pub(super) to_scan: WorkList<usize>,
    /// Old regions to put in order.
    pub(super) to_settle: WorkList<usize>,
    tenuring: Mutex<Tenuring>,
    /// Cycles after which an object becomes old. Written between marking and evacuation. Relaxed:
    /// between the two is a stop.
    tenuring_threshold: AtomicU8,
    /// The work that markers of old objects have left.
    pub(super) left: MarkLeftover,
    plan: Mutex<Plan>,
}

impl Old {
    /// Without old objects, for the heap that begins at `base`. `eager`: they are marked whenever
    /// there are any.
    ///
    /// # Errors
    /// [`MemoryError`] if the system has no memory for its tables.
    pub(super) fn new(
        base: usize,
        heap_bytes: usize,
        tenuring: Tenuring,
        eager: bool,
    ) -> Result<Old, MemoryError> {
        Ok(Old {
            starts: StartTable::new(base, heap_bytes)?,
            to_scan: WorkList::default(),
            to_settle: WorkList::default(),
            tenuring_threshold: AtomicU8::new(tenuring.threshold()),
            tenuring: Mutex::new(tenuring),
            left: MarkLeftover::default(),
            plan: Mutex::new(Plan::new(heap_bytes, eager)),
        })
    }

    /// In a child of `fork()`: whether no thread holds a lock.
    pub(super) fn is_at_rest(&self) -> bool {
        self.to_scan.is_at_rest()
            && self.to_settle.is_at_rest()
            && self.tenuring.try_lock().is_ok()
            && self.plan.try_lock().is_ok()
    }

    /// The plan of the marking of old objects.
    pub(super) fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().expect(POISONED)
    }

    /// The tables of old regions.
    pub(super) fn tables<'h>(&'h self, space: &'h Space) -> OldTables<'h> {
        OldTables { cards: &space.cards, starts: &self.starts }
    }

    /// Cycles after which an object becomes old.
    pub(super) fn tenuring_threshold(&self) -> u8 {
        self.tenuring_threshold.load(Ordering::Relaxed)
    }

    /// Decides from which age on objects become old, by what marking has counted.
    pub(super) fn decide_tenuring(&self, found: &Found) -> u8 {
        let threshold = self.tenuring.lock().expect(POISONED).observe(&found.ages);
        self.tenuring_threshold.store(threshold, Ordering::Relaxed);
        threshold
    }

    /// The counts of a cycle that ends.
    pub(super) fn record_of(
        &self,
        account: &Account,
        free: &FreeSet,
        is_marking: bool,
    ) -> GenerationsDetails {
        let mut plan = self.plan();
        let (old_marking_time, old_marked_bytes) = plan.take_marked(account.scope);
        GenerationsDetails {
            scope: if account.scope == Scope::Global { CycleScope::Global } else { CycleScope::Young },
            old_marking: plan.marking_of(account.scope, is_marking),
            old_marking_time,
            old_marked_bytes,
            old_set_regions: account.old.set_regions,
            old_candidates: plan.candidates.len(),
            old_copied_bytes: account.old.copied_bytes,
            promoted_regions: account.old.promoted_regions,
            tenuring_threshold: self.tenuring_threshold(),
            ages: account.found.ages,
            dirty_cards: account.found.cards,
            old_regions: free.old_regions(),
        }
    }
}
