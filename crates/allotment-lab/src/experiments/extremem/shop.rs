//! The shop: the one object that leads to all others, and what its threads share outside the heap.

use super::customers::{self, Customer, Customers};
use super::goods::{Catalogue, Goods, Product};
use super::locks::{DataBaseLocks, Locks};
use super::queue::{Change, Linked, NewChange, Queue};
use super::sales::{Sale, Saved};
use super::schedule::Schedule;
use super::text::{Dictionary, Draws, Made, Text};
use super::words::{fill, words};
use super::workload::Workload;
use crate::hold::hold;
use allotment::{Array, Field, Gc, Local, Mutator, NewArray, Object, OutOfMemory, alloc, rebind, root};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// Queues of one kind; each has a lock.
type Queues<T> = Array<Option<Queue<T>>>;

/// The shop.
#[derive(Object)]
pub(super) struct Shop {
    pub(super) dictionary: Field<Dictionary>,
    pub(super) goods: Field<Goods>,
    pub(super) customers: Field<Customers>,
    sales: Field<Queues<Sale>>,
    saved: Field<Queues<Saved>>,
    pub(super) product_changes: Field<Queue<Change<Product>>>,
    pub(super) customer_changes: Field<Queue<Change<Customer>>>,
}

/// A data base: which rows there are, with indexes over them. A snapshot of it is an object of the
/// same type.
pub(super) trait DataBase: Object<View = Self> + Sized {
    /// An object that it leads to: a product, or a customer.
    type Row: Object;

    /// The data base of a shop.
    fn published(shop: &Shop) -> &Field<Self>;

    /// The log of changes that are not published yet.
    fn changes(shop: &Shop) -> &Field<Queue<Change<Self::Row>>>;

    /// The locks of both.
    fn locks(locks: &Locks) -> &DataBaseLocks;

    /// A snapshot of the shop's data base, which `lock` protects.
    fn snapshot<'m>(mutator: &'m mut Mutator<'_>, shop: Local<'_, Shop>, lock: &Mutex<()>) -> Made<'m, Self>;

    /// Takes over what another data base has. The caller holds the lock of this one.
    fn publish(&self, mutator: &Mutator<'_>, new: Gc<'_, Self>);

    /// The data base with the changes applied, built anew, and the number of changes.
    fn rebuild<'m>(
        mutator: &'m mut Mutator<'_>,
        old: Local<'_, Self>,
        changes: Local<'_, Option<Change<Self::Row>>>,
    ) -> Result<(Gc<'m, Self>, usize), OutOfMemory>;
}

/// The state that the threads share outside the heap.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) workload: Workload,
    pub(super) schedule: Schedule,
    pub(super) locks: Locks,
    pub(super) catalogue: Catalogue,
    pub(super) next_customer: AtomicU64,
}

impl Common {
    /// For a workload.
    pub(super) fn new(workload: Workload) -> Common {
        Common {
            schedule: Schedule::new(&workload),
            locks: Locks::new(workload.sales_queues, workload.browsing_queues),
            catalogue: Catalogue::new(workload.product_name_length, workload.product_description_length),
            next_customer: AtomicU64::new(0),
            workload,
        }
    }

    /// Builds the shop: dictionary, products, customers, empty queues.
    pub(super) fn build<'m>(&self, mutator: &'m mut Mutator<'_>) -> Made<'m, Shop> {
        let Workload { dictionary_size, distinct_words, products, customers, .. } = self.workload;
        root!(mutator, dictionary = alloc!(mutator, NewArray::<Option<Text>>::new(dictionary_size, None))?);
        let seed = u64::from(self.workload.random_seed);
        let draws = &mut Draws::new(seed, dictionary);
        fill(mutator, dictionary, &words(distinct_words))?;
        root!(mutator, goods = self.catalogue.build(mutator, draws, products)?);
        root!(mutator, customers = customers::build(mutator, draws, &self.next_customer, customers)?);
        root!(mutator, sales = queues::<Sale>(mutator, self.workload.sales_queues)?);
        root!(mutator, saved = queues::<Saved>(mutator, self.workload.browsing_queues)?);
        root!(mutator, product_changes = Queue::<Change<Product>>::make(mutator)?);
        root!(mutator, customer_changes = Queue::<Change<Customer>>::make(mutator)?);
        let new = NewShop {
            dictionary: dictionary.get(mutator),
            goods: goods.get(mutator),
            customers: customers.get(mutator),
            sales: sales.get(mutator),
            saved: saved.get(mutator),
            product_changes: product_changes.get(mutator),
            customer_changes: customer_changes.get(mutator),
        };
        alloc!(mutator, new)
    }
}

fn queues<'m, T: Linked>(mutator: &'m mut Mutator<'_>, count: usize) -> Made<'m, Queues<T>> {
    root!(mutator, queues = alloc!(mutator, NewArray::<Option<Queue<T>>>::new(count, None))?);
    for at in 0..count {
        let queue = rebind!(Queue::make(mutator)?);
        queues.get(mutator).at(at).store(mutator, Some(queue));
    }
    Ok(queues.get(mutator))
}

/// The shop, as a thread has it.
#[derive(Clone, Copy)]
pub(super) struct OpenShop<'a> {
    pub(super) common: &'a Common,
    pub(super) shop: Local<'a, Shop>,
}

impl<'a> OpenShop<'a> {
    /// A snapshot of a data base.
    pub(super) fn snapshot<'m, D: DataBase>(self, mutator: &'m mut Mutator<'_>) -> Made<'m, D> {
        D::snapshot(mutator, self.shop, &D::locks(&self.common.locks).published)
    }

    /// Appends to the log of changes: `new` is to take a place.
    pub(super) fn change<D: DataBase>(
        self,
        mutator: &mut Mutator<'_>,
        place: usize,
        new: Local<'_, D::Row>,
    ) -> Result<(), OutOfMemory> {
        let change = alloc!(mutator, NewChange::of(place, new.get(mutator)))?;
        let _held = hold(&D::locks(&self.common.locks).changes);
        D::changes(self.shop.get(mutator).as_ref()).load(mutator).push(mutator, change);
        Ok(())
    }

    /// Publishes a data base with the changes so far, and returns their number.
    pub(super) fn rebuild<D: DataBase>(self, mutator: &mut Mutator<'_>) -> Result<usize, OutOfMemory> {
        let locks = D::locks(&self.common.locks);
        root!(mutator, old = self.snapshot::<D>(mutator)?);
        let changes = {
            let _held = hold(&locks.changes);
            D::changes(self.shop.get(mutator).as_ref()).load(mutator).take(mutator)
        };
        root!(mutator, changes = changes);
        let (new, changed) = rebind!(D::rebuild(mutator, old, changes)?);
        let _held = hold(&locks.published);
        D::published(self.shop.get(mutator).as_ref()).load(mutator).publish(mutator, new);
        Ok(changed)
    }

    /// Appends a sale to a queue.
    pub(super) fn sell(self, mutator: &Mutator<'_>, queue: usize, sale: Gc<'_, Sale>) {
        let _held = hold(&self.common.locks.sales[queue]);
        if let Some(queue) = self.shop.get(mutator).sales.load(mutator).at(queue).load(mutator) {
            queue.push(mutator, sale);
        }
    }

    /// Takes the first sale out of a queue.
    pub(super) fn next_sale<'g>(self, mutator: &'g Mutator<'_>, queue: usize) -> Option<Gc<'g, Sale>> {
        let _held = hold(&self.common.locks.sales[queue]);
        self.shop.get(mutator).sales.load(mutator).at(queue).load(mutator)?.pop(mutator)
    }

    /// Appends a saved product to a queue.
    pub(super) fn keep(self, mutator: &Mutator<'_>, queue: usize, saved: Gc<'_, Saved>) {
        let _held = hold(&self.common.locks.saved[queue]);
        if let Some(queue) = self.shop.get(mutator).saved.load(mutator).at(queue).load(mutator) {
            queue.push(mutator, saved);
        }
    }

    /// Takes the first saved product out of a queue, if it has expired at `now`.
    pub(super) fn next_expired<'g>(
        self,
        mutator: &'g Mutator<'_>,
        queue: usize,
        now: i64,
    ) -> Option<Gc<'g, Saved>> {
        let _held = hold(&self.common.locks.saved[queue]);
        let queue = self.shop.get(mutator).saved.load(mutator).at(queue).load(mutator)?;
        let first = queue.first(mutator)?;
        if first.expiry.load(mutator).nanoseconds() > now { None } else { queue.pop(mutator) }
    }
}
