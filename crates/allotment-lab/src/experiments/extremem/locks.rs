//! The locks of the shop: one for each data base, each log of changes and each queue, and some for
//! the rings of the customers.
//!
//! A lock is held for a few loads and stores, with no safepoint in between. So its holder always
//! goes on, and a thread may wait for it without being in a blocking region.

use std::sync::Mutex;

/// Locks that the rings share, by the customer's number.
const RINGS: usize = 64;

/// The locks.
#[derive(Debug)]
pub(super) struct Locks {
    pub(super) goods: Mutex<()>,
    pub(super) customers: Mutex<()>,
    pub(super) product_changes: Mutex<()>,
    pub(super) customer_changes: Mutex<()>,
    pub(super) sales: Vec<Mutex<()>>,
    pub(super) saved: Vec<Mutex<()>>,
    rings: Vec<Mutex<()>>,
}

impl Locks {
    /// Locks for so many queues.
    pub(super) fn new(sales: usize, saved: usize) -> Locks {
        let some = |count| (0..count).map(|_| Mutex::new(())).collect();
        Locks {
            goods: Mutex::new(()),
            customers: Mutex::new(()),
            product_changes: Mutex::new(()),
            customer_changes: Mutex::new(()),
            sales: some(sales),
            saved: some(saved),
            rings: some(RINGS),
        }
    }

    /// The lock of a customer's ring.
    pub(super) fn ring(&self, customer: u64) -> &Mutex<()> {
        &self.rings[customer as usize % RINGS]
    }
}
