//! Measures regions for the choice of the set: bytes in use and live, by workers.

use super::super::account::Account;
use super::super::engine::Engine;
use super::super::place::Work;
use super::super::select::Measured;
use crate::collector::concurrent::passage;
use crate::collector::work::Claimer;
use crate::region::State;
use crate::sync::{Mutex, POISONED};

/// Measures the regions that the cycle has marked and in which no thread allocates. The list is in
/// the order of their numbers. A region for which the list has no memory stays as it is.
pub(super) fn measure(engine: &Engine, account: &Account, work: Work<'_>) -> Vec<Measured> {
    let (free, table) = (&work.shared.space.free, work.shared.space.free.table());
    let (ends_old, tables) = (account.scope.ends_old(), &engine.tables);
    let (measured, claimer) = (Mutex::new(Vec::new()), Claimer::new(table.len()));
    work.workers.run(&|_| {
        while let Some(index) = claimer.claim() {
            let region = table.get(index);
            if !ends_old && region.is_tenured() {
                continue;
            }
            let (bottom, top) = (table.bottom(index), region.top());
            // The sizes of a region are taken once: mutators allocate there, and give back.
            let (used_bytes, live_bytes) = match region.state() {
                State::Shared | State::Old if top > bottom && top <= table.mark_start(index) => {
                    passage();
                    (top - bottom, tables.live_bytes(free, index, top))
                }
                State::HumongousStart if !tables.is_run_live(free, index) => {
                    (free.object_end(index) - bottom, 0)
                }
                State::HumongousStart if table.mark_start(index) > bottom => {
                    let bytes = free.object_end(index) - bottom;
                    (bytes, bytes)
                }
                _ => continue,
            };
            let found = Measured {
                region: index,
                used_bytes,
                live_bytes,
                young_age: (!region.is_tenured()).then(|| region.age()),
                may_move: !tables.has_large(index) && region.run() == 0,
            };
            let mut measured = measured.lock().expect(POISONED);
            if measured.try_reserve(1).is_ok() {
                measured.push(found);
            }
        }
    });
    let mut measured = measured.into_inner().expect(POISONED);
    measured.sort_unstable();
    measured
}
