//! The locks of the shop: one for each data base, each log of changes and each queue, and some for
//! the rings of the customers.
//!
//! A lock is held for a few loads and stores, with no safepoint in between. So its holder always
//! goes on, and a thread may wait for it without being in a blocking region.

use std::sync::Mutex;

/// Locks that the rings share, by the customer's number.
const RINGS: usize = 64;

/// The locks.
#[derive(Debug, Default)]
pub(super) struct Locks {
    pub(super) goods: DataBaseLocks,
    pub(super) customers: DataBaseLocks,
    pub(super) sales: Vec<Mutex<()>>,
    pub(super) saved: Vec<Mutex<()>>,
    rings: Vec<Mutex<()>>,
}

/// The locks of a data base, and of the log of its changes.
#[derive(Debug, Default)]
pub(super) struct DataBaseLocks {
    pub(super) published: Mutex<()>,
    pub(super) changes: Mutex<()>,
}

impl Locks {
    /// Locks for `sales` queues of sold products and `saved` queues of saved ones.
    pub(super) fn new(sales: usize, saved: usize) -> Locks {
        let some = |count| (0..count).map(|_| Mutex::new(())).collect();
        Locks { sales: some(sales), saved: some(saved), rings: some(RINGS), ..Locks::default() }
    }

    /// The lock of a customer's ring.
    pub(super) fn ring(&self, customer: u64) -> &Mutex<()> {
        &self.rings[customer as usize % RINGS]
    }
}
