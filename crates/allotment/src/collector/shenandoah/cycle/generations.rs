//! The work of a cycle for generations. In the stop in which moves begin, objects become older, and
//! some regions become old as they are. At the end, old regions are put in order.

use super::super::account::Account;
use super::super::engine::Engine;
use super::super::place::Work;
use super::weak::Chosen;
use crate::collector::concurrent::settle_old;
use crate::mutator::Shared;
use crate::object::MAX_AGE;
use crate::region::State;

/// Makes the regions old that are to be promoted as they are, and all others older. Lists the old
/// regions that have to be put in order. In a stop, after the set is withdrawn.
pub(super) fn grow_older(engine: &Engine, account: &Account, chosen: &Chosen, shared: &Shared) {
    let Some(old) = &engine.old else { return };
    let (free, table) = (&shared.space.free, shared.space.free.table());
    // No copy comes to a region that is to be emptied, now or later.
    let mut leave: Vec<usize> = old.plan().candidates.iter().map(|candidate| candidate.region).collect();
    leave.sort_unstable();
    engine
        .copies
        .forget_rests(|index| table.get(index).state() != State::Old || leave.binary_search(&index).is_ok());
    free.withdraw(chosen.promoted.iter().copied().filter(|&index| table.get(index).run() == 0));
    for &index in &chosen.promoted {
        let region = table.get(index);
        if region.run() == 0 {
            region.set_state(State::Old);
        }
        (index..index + region.run().max(1)).for_each(|part| table.get(part).set_tenured(true));
    }
    let mut to_settle = Vec::new();
    for index in free.in_use() {
        let region = table.get(index);
        if !region.state().begins_objects() {
            continue;
        }
        let is_new = region.run() == 0
            && (region.top() > table.mark_start(index) || region.top() == table.bottom(index));
        region.set_age(if is_new { 0 } else { region.age().saturating_add(1).min(MAX_AGE) });
        let leaves = chosen.immediate.binary_search(&index).is_ok() || region.state() == State::CollectionSet;
        // The dead old objects are known where the marking of old objects ends.
        let is_known = account.scope.ends_old() || chosen.promoted.binary_search(&index).is_ok();
        let was_marked = table.mark_start(index) > table.bottom(index);
        if region.is_tenured() && is_known && !leaves && was_marked {
            to_settle.push(index);
        }
    }
    old.to_settle.fill(to_settle);
}

/// Puts regions in order whose objects are old, before a young cycle looks at their cards. Drains
/// the regions that became old as they were from `promoted`. Returns `false` if it was interrupted.
pub(super) fn settle(
    engine: &Engine,
    account: &mut Account,
    promoted: &mut Vec<usize>,
    work: Work<'_>,
) -> bool {
    let Some(old) = &engine.old else { return true };
    let (shared, interrupt) = (work.shared, work.interrupt);
    let (table, tables) = (shared.space.free.table(), old.tables(&shared.space));
    for index in promoted.drain(..) {
        account.old.promoted_regions += table.get(index).run().max(1);
        // The slots of the region that refer to young objects are not known.
        tables.cards.dirty_range(table.bottom(index), shared.space.free.object_end(index));
    }
    work.workers.run(&|_| {
        let settle_next = |region| {
            // SAFETY: no thread allocates in an old region, and the cycle has ended its moves.
            unsafe { settle_old(&shared.space, &engine.tables, &tables, region) };
            (None, ())
        };
        while !interrupt.is_set() && old.to_settle.do_next(settle_next).is_some() {}
    });
    old.to_settle.is_done() == Some(true)
}
