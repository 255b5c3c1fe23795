//! Free: the end of a cycle, beside mutators. Memory without references to it is given back, and
//! old regions are put in order.

use super::super::account::Account;
use super::super::engine::Engine;
use super::super::place::Work;
use super::generations::settle;
use crate::mutator::Shared;
use crate::region::State;

/// The step.
pub(super) struct Freeing {
    /// Regions, and first regions of runs, without a live object, until they are free. A cycle that
    /// moves objects frees them before it copies.
    pub(super) immediate: Vec<usize>,
    /// Regions of the set without a reference to them.
    pub(super) emptied: Vec<usize>,
    /// Young regions that became old as they were.
    pub(super) promoted: Vec<usize>,
}

impl Freeing {
    /// Gives back the memory of the set and the rest of the memory for copies. Puts regions in
    /// order whose objects are old. Returns `false` if the step was interrupted there.
    pub(super) fn run(&mut self, engine: &Engine, account: &mut Account, work: Work<'_>) -> bool {
        let shared = work.shared;
        self.free_immediate(engine, account, shared);
        account.record.moved_by_mutators += engine.copies.take_count() as usize;
        let free = &shared.space.free;
        for index in self.emptied.drain(..) {
            free.retire_region(index, free.table().get(index).home());
        }
        account.old.copied_bytes += engine.copies.close(shared);
        engine.freed.freed(true);
        if engine.old.is_some() {
            let table = free.table();
            shared.threads.roots.end_young_visit(&|address| !table.is_old(table.index_of(address)));
        }
        settle(engine, account, &mut self.promoted, work)
    }

    /// Frees the regions without live objects. No thread allocates in them.
    pub(super) fn free_immediate(&mut self, engine: &Engine, account: &mut Account, shared: &Shared) {
        let (free, table) = (&shared.space.free, shared.space.free.table());
        if self.immediate.is_empty() {
            return;
        }
        for index in self.immediate.drain(..) {
            if table.get(index).state() == State::HumongousStart {
                account.record.immediate_regions += table.get(index).run();
                account.record.humongous_freed += 1;
                free.give_humongous(index);
            } else {
                account.record.immediate_regions += 1;
                free.retire_region(index, table.get(index).home());
            }
        }
        engine.freed.freed(false);
    }
}
