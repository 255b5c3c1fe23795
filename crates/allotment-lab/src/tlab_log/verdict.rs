//! Which threads starve and which hoard.
//!
//! Both are errors of the sizing. A starving thread allocates more than its buffers are made for, and pays
//! with refills or with the slow path; a hoarding one allocates less, and its collections throw away what
//! it held. The limits are coarse on purpose: twice the refills that the JVM aims at, a quarter of the
//! memory.

use super::account::Account;

/// Slow allocations below which nobody starves of them.
const FEW: u64 = 100;

/// Bytes of waste below which nobody hoards.
const LITTLE: u64 = 64 << 10;

/// What is wrong with a thread's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// More than twice as many refills between two collections as the JVM aims at.
    ManyRefills,
    /// More objects outside than buffers, and at least 100.
    ManySlowAllocations,
    /// At least a quarter of what its buffers had was left in them at collections, and at least 64 KiB.
    Hoards,
}

impl Verdict {
    /// The column's word.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::ManyRefills => "starves: refills",
            Verdict::ManySlowAllocations => "starves: slow path",
            Verdict::Hoards => "hoards",
        }
    }
}

/// What is wrong with a thread's buffers, if `target` refills between two collections are aimed at.
pub fn verdicts(account: &Account, target: u64) -> Vec<Verdict> {
    let slow = account.slow_allocations;
    let gc = account.waste.gc;
    [
        (account.most_refills > target.saturating_mul(2), Verdict::ManyRefills),
        (slow >= FEW && slow > account.refills, Verdict::ManySlowAllocations),
        (gc >= LITTLE && gc >= account.buffers / 4, Verdict::Hoards),
    ]
    .into_iter()
    .filter_map(|(is, verdict)| is.then_some(verdict))
    .collect()
}
