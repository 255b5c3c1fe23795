//! Reset: the marks of the last cycle are cleared, beside mutators.

use super::super::account::Account;
use super::super::engine::Engine;
use super::super::place::Work;

/// The step.
#[derive(Default)]
pub(super) struct Reset {
    /// The first region that is left.
    from: usize,
}

impl Reset {
    /// Clears the marks of the regions that are left. Returns `false` if it was interrupted.
    pub(super) fn run(&mut self, engine: &Engine, account: &Account, work: Work<'_>) -> bool {
        let table = work.shared.space.free.table();
        for index in self.from..table.len() {
            if work.interrupt.is_set() {
                self.from = index;
                return false;
            }
            if account.scope.begins_old() || !table.get(index).is_tenured() {
                engine.tables.clear_region(table, index);
            }
        }
        true
    }
}
