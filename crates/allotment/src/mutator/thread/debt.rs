//! The work that a thread owes a concurrent collector for the memory that it takes.
//!
//! The collector does the arithmetic (`collector/shenandoah/levy.rs`). The debt lies here because
//! each thread has its own: a thread that takes little never pays for others.
//!
//! A thread that owes much has to wait, and may do so at safepoints only. An allocation without a
//! safepoint therefore requests a stop of its own thread ([`Mutator::wait_at_safepoint`]). The next
//! allocation that may reach a safepoint comes to one, and the thread waits there. Refused: to wait
//! where the memory is taken. The thread has references there, so a stop would wait with it.

use super::state::State;
use crate::mutator::{Mutator, Wish};

/// Bytes outside buffers after which the collector hears of them.
const MUCH_OUTSIDE: u64 = 64 << 10;

/// The debt of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Debt {
    /// The number of the levy that the debt is for.
    pub(crate) levy: u32,
    /// Bytes that the thread had ever taken when it was last charged.
    pub(crate) charged_bytes: u64,
    /// Bytes that the thread may yet take without paying.
    pub(crate) exempt_bytes: u64,
    /// Bytes of work that it owes.
    pub(crate) owed_bytes: u64,
}

impl Mutator<'_> {
    /// The thread's debt.
    pub(crate) fn debt(&self) -> Debt {
        self.state().debt.get()
    }

    pub(crate) fn set_debt(&self, debt: Debt) {
        self.state().debt.set(debt);
    }

    /// Bytes that the thread has ever taken, whole buffers included.
    pub(crate) fn taken_bytes(&self) -> u64 {
        self.state().taken_bytes()
    }

    /// Lets the thread come to its next safepoint soon, and settle its debt there.
    pub(crate) fn wait_at_safepoint(&self) {
        self.state().settles.set(true);
        // An own request is like that of a stopper, except that no stop waits for the thread.
        self.state().hot.limit.request(Wish::Halt);
    }
}

impl State {
    fn taken_bytes(&self) -> u64 {
        self.statistics().allocated_in_all()
    }

    /// Tells a concurrent collector of objects outside buffers, as soon as they are many. The
    /// collector hears of buffers when the thread takes them.
    pub(in crate::mutator) fn charge_for_outside(&self) {
        if let Some(collector) = self.shared.collector.concurrent()
            && self.taken_bytes().saturating_sub(self.debt.get().charged_bytes) >= MUCH_OUTSIDE
        {
            collector.refilled(&Mutator::new(self), 0);
        }
    }

    /// Settles the thread's debt, if the thread has to. At a safepoint.
    pub(in crate::mutator) fn settle_if_due(&self) {
        // First: settling reaches safepoints.
        if self.settles.replace(false)
            && let Some(collector) = self.shared.collector.concurrent()
        {
            collector.settle(&mut Mutator::new(self));
        }
    }
}
