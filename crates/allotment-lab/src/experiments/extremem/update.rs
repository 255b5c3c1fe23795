//! The update thread: it rebuilds the data base of customers and that of products in turn, each a
//! while after the rebuild before it.
//!
//! This is the only heavy work on old objects: a complete new index is made by one thread,
//! survives, and the one before it dies at once.

use super::customers::Customers;
use super::goods::Goods;
use super::schedule::nanoseconds;
use super::shop::{Common, Shop};
use super::text::Work;
use allotment::{Local, Mutator, OutOfMemory, root};

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

/// Those of both data bases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Updates {
    pub(super) customers: Rebuilds,
    pub(super) products: Rebuilds,
}

/// Plays the update thread to the end of the run.
///
/// # Errors
/// The heap is full.
pub(super) fn play(
    mutator: &mut Mutator<'_>,
    common: &Common,
    shop: Local<'_, Shop>,
) -> Result<Updates, OutOfMemory> {
    let schedule = &common.schedule;
    let interval = nanoseconds(common.workload.phased_update_interval);
    let mut updates = Updates::default();
    // This thread draws nothing.
    let mut work = Work::new(0, common.first.clone());
    let mut release = interval;
    let mut is_customers = true;
    while schedule.release(mutator, release).is_some() {
        let begun = schedule.now();
        let (replaced, of) = if is_customers {
            (customers(mutator, common, shop, &mut work)?, &mut updates.customers)
        } else {
            (goods(mutator, common, shop, &mut work)?, &mut updates.products)
        };
        work.tell();
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

fn customers(
    mutator: &mut Mutator<'_>,
    common: &Common,
    shop: Local<'_, Shop>,
    work: &mut Work,
) -> Result<usize, OutOfMemory> {
    root!(mutator, old = common.customers(mutator, work, shop)?);
    let changes = common.customer_changes(mutator, shop.get(mutator));
    root!(mutator, changes = changes);
    let (new, changed) = allotment::rebind!(Customers::rebuild(mutator, work, old, changes)?);
    common.publish_customers(mutator, shop.get(mutator), new);
    Ok(changed)
}

fn goods(
    mutator: &mut Mutator<'_>,
    common: &Common,
    shop: Local<'_, Shop>,
    work: &mut Work,
) -> Result<usize, OutOfMemory> {
    root!(mutator, old = common.goods(mutator, work, shop)?);
    let changes = common.product_changes(mutator, shop.get(mutator));
    root!(mutator, changes = changes);
    let (new, changed) = allotment::rebind!(Goods::rebuild(mutator, work, old, changes)?);
    common.publish_goods(mutator, shop.get(mutator), new);
    Ok(changed)
}
