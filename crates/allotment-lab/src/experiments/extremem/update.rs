//! The update thread: it rebuilds the data base of customers and that of products in turn, each a
//! while after the rebuild before it.
//!
//! This is the only heavy work on old objects: a complete new index is made by one thread,
//! survives, and the one before it dies at once.

use super::customers::Customers;
use super::goods::Goods;
use super::schedule::nanoseconds;
use super::shop::OpenShop;
use allotment::{Mutator, OutOfMemory};

/// The rebuilds of one data base in a whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rebuilds {
    pub(super) count: u64,
    /// Customers or products that were replaced, over all rebuilds.
    pub(super) replaced: u64,
    /// Times in nanoseconds.
    pub(super) total: i64,
    pub(super) longest: i64,
}

/// The rebuilds of both data bases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Updates {
    pub(super) customers: Rebuilds,
    pub(super) products: Rebuilds,
}

/// Plays the update thread to the end of the run.
pub(super) fn play(mutator: &mut Mutator<'_>, open: OpenShop<'_>) -> Result<Updates, OutOfMemory> {
    let (common, schedule) = (open.common, &open.common.schedule);
    let interval = nanoseconds(common.workload.phased_update_interval);
    let mut updates = Updates::default();
    let mut release = interval;
    let mut is_customers = true;
    while schedule.release(mutator, release).is_some() {
        let begun = schedule.now();
        let (replaced, of) = if is_customers {
            (open.rebuild::<Customers>(mutator)?, &mut updates.customers)
        } else {
            (open.rebuild::<Goods>(mutator)?, &mut updates.products)
        };
        let now = schedule.now();
        of.count += 1;
        of.replaced += replaced as u64;
        of.total += now - begun;
        of.longest = of.longest.max(now - begun);
        is_customers = !is_customers;
        release = now + interval;
    }
    Ok(updates)
}
