//! The shop: the one object that leads to all others, and what its threads share outside the heap.

use super::customers::{self, Customer, Customers};
use super::goods::{self, Catalogue, Goods, Product};
use super::locks::Locks;
use super::queue::{Change, Queue};
use super::sales::{Sale, Saved};
use super::schedule::Schedule;
use super::text::{Dictionary, Work};
use super::words::{dictionary, fill, words};
use super::workload::Workload;
use crate::experiments::first_collection::FirstCollection;
use crate::experiments::hold::hold;
use allotment::{Array, Field, Gc, Local, Mutator, NewArray, Object, OutOfMemory, alloc, rebind, root};
use std::sync::atomic::AtomicU64;

/// The shop.
#[derive(Object)]
pub(super) struct Shop {
    pub(super) dictionary: Field<Dictionary>,
    goods: Field<Goods>,
    customers: Field<Customers>,
    sales: Field<Array<Option<Queue<Sale>>>>,
    saved: Field<Array<Option<Queue<Saved>>>>,
    product_changes: Field<Queue<Change<Product>>>,
    customer_changes: Field<Queue<Change<Customer>>>,
}

/// What the threads share outside the heap.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) workload: Workload,
    pub(super) schedule: Schedule,
    pub(super) locks: Locks,
    pub(super) catalogue: Catalogue,
    pub(super) next_customer: AtomicU64,
    pub(super) first: FirstCollection,
}

impl Common {
    /// For a workload.
    pub(super) fn new(workload: Workload, first: FirstCollection) -> Common {
        Common {
            schedule: Schedule::new(&workload),
            locks: Locks::new(workload.sales_queues, workload.browsing_queues),
            catalogue: Catalogue::new(workload.product_name_length, workload.product_description_length),
            next_customer: AtomicU64::new(0),
            first,
            workload,
        }
    }

    /// Builds the shop: dictionary, products, customers, empty queues.
    ///
    /// # Errors
    /// The heap is full.
    pub(super) fn build<'m>(
        &self,
        mutator: &'m mut Mutator<'_>,
        work: &mut Work,
    ) -> Result<Gc<'m, Shop>, OutOfMemory> {
        let Workload { dictionary_size, distinct_words, products, customers, .. } = self.workload;
        root!(mutator, words_here = dictionary(mutator, dictionary_size)?);
        fill(mutator, work, words_here, &words(distinct_words))?;
        root!(mutator, goods = self.catalogue.build(mutator, work, words_here, products)?);
        root!(
            mutator,
            customers = customers::build(mutator, work, words_here, &self.next_customer, customers)?
        );
        let Workload { sales_queues, browsing_queues, .. } = self.workload;
        root!(mutator, sales = alloc!(mutator, NewArray::<Option<Queue<Sale>>>::new(sales_queues, None))?);
        for at in 0..sales_queues {
            let queue = rebind!(Queue::make(mutator)?);
            sales.get(mutator).at(at).store(mutator, Some(queue));
        }
        root!(
            mutator,
            saved = alloc!(mutator, NewArray::<Option<Queue<Saved>>>::new(browsing_queues, None))?
        );
        for at in 0..browsing_queues {
            let queue = rebind!(Queue::make(mutator)?);
            saved.get(mutator).at(at).store(mutator, Some(queue));
        }
        root!(mutator, product_changes = Queue::<Change<Product>>::make(mutator)?);
        root!(mutator, customer_changes = Queue::<Change<Customer>>::make(mutator)?);
        let new = NewShop {
            dictionary: words_here.get(mutator),
            goods: goods.get(mutator),
            customers: customers.get(mutator),
            sales: sales.get(mutator),
            saved: saved.get(mutator),
            product_changes: product_changes.get(mutator),
            customer_changes: customer_changes.get(mutator),
        };
        alloc!(mutator, new)
    }

    /// A snapshot of the products.
    ///
    /// # Errors
    /// The heap is full.
    pub(super) fn goods<'m>(
        &self,
        mutator: &'m mut Mutator<'_>,
        work: &mut Work,
        shop: Local<'_, Shop>,
    ) -> Result<Gc<'m, Goods>, OutOfMemory> {
        work.count(goods::SNAPSHOT);
        let goods = shop.get(mutator).goods.load(mutator);
        let new = {
            let _held = hold(&self.locks.goods);
            goods.snapshot(mutator)
        };
        alloc!(mutator, new)
    }

    /// A snapshot of the customers.
    ///
    /// # Errors
    /// The heap is full.
    pub(super) fn customers<'m>(
        &self,
        mutator: &'m mut Mutator<'_>,
        work: &mut Work,
        shop: Local<'_, Shop>,
    ) -> Result<Gc<'m, Customers>, OutOfMemory> {
        work.count(customers::SNAPSHOT);
        let customers = shop.get(mutator).customers.load(mutator);
        let new = {
            let _held = hold(&self.locks.customers);
            customers.snapshot(mutator)
        };
        alloc!(mutator, new)
    }

    /// Publishes products.
    pub(super) fn publish_goods(&self, mutator: &Mutator<'_>, shop: Gc<'_, Shop>, new: Gc<'_, Goods>) {
        let _held = hold(&self.locks.goods);
        shop.goods.load(mutator).publish(mutator, new);
    }

    /// Publishes customers.
    pub(super) fn publish_customers(
        &self,
        mutator: &Mutator<'_>,
        shop: Gc<'_, Shop>,
        new: Gc<'_, Customers>,
    ) {
        let _held = hold(&self.locks.customers);
        shop.customers.load(mutator).publish(mutator, new);
    }

    /// Appends to the log of changed products.
    pub(super) fn change_product(
        &self,
        mutator: &Mutator<'_>,
        shop: Gc<'_, Shop>,
        change: Gc<'_, Change<Product>>,
    ) {
        let _held = hold(&self.locks.product_changes);
        shop.product_changes.load(mutator).push(mutator, change);
    }

    /// Appends to the log of changed customers.
    pub(super) fn change_customer(
        &self,
        mutator: &Mutator<'_>,
        shop: Gc<'_, Shop>,
        change: Gc<'_, Change<Customer>>,
    ) {
        let _held = hold(&self.locks.customer_changes);
        shop.customer_changes.load(mutator).push(mutator, change);
    }

    /// Takes the log of changed products.
    pub(super) fn product_changes<'g>(
        &self,
        mutator: &'g Mutator<'_>,
        shop: Gc<'g, Shop>,
    ) -> Option<Gc<'g, Change<Product>>> {
        let _held = hold(&self.locks.product_changes);
        shop.product_changes.load(mutator).take(mutator)
    }

    /// Takes the log of changed customers.
    pub(super) fn customer_changes<'g>(
        &self,
        mutator: &'g Mutator<'_>,
        shop: Gc<'g, Shop>,
    ) -> Option<Gc<'g, Change<Customer>>> {
        let _held = hold(&self.locks.customer_changes);
        shop.customer_changes.load(mutator).take(mutator)
    }

    /// Appends a sale to a queue.
    pub(super) fn sell(&self, mutator: &Mutator<'_>, shop: Gc<'_, Shop>, queue: usize, sale: Gc<'_, Sale>) {
        let _held = hold(&self.locks.sales[queue]);
        if let Some(queue) = shop.sales.load(mutator).at(queue).load(mutator) {
            queue.push(mutator, sale);
        }
    }

    /// Takes the first sale out of a queue.
    pub(super) fn next_sale<'g>(
        &self,
        mutator: &'g Mutator<'_>,
        shop: Gc<'g, Shop>,
        queue: usize,
    ) -> Option<Gc<'g, Sale>> {
        let _held = hold(&self.locks.sales[queue]);
        shop.sales.load(mutator).at(queue).load(mutator)?.pop(mutator)
    }

    /// Appends a saved product to a queue.
    pub(super) fn keep(&self, mutator: &Mutator<'_>, shop: Gc<'_, Shop>, queue: usize, saved: Gc<'_, Saved>) {
        let _held = hold(&self.locks.saved[queue]);
        if let Some(queue) = shop.saved.load(mutator).at(queue).load(mutator) {
            queue.push(mutator, saved);
        }
    }

    /// Takes the first saved product out of a queue, if it has expired at `now`.
    pub(super) fn next_expired<'g>(
        &self,
        mutator: &'g Mutator<'_>,
        shop: Gc<'g, Shop>,
        queue: usize,
        now: i64,
    ) -> Option<Gc<'g, Saved>> {
        let _held = hold(&self.locks.saved[queue]);
        let queue = shop.saved.load(mutator).at(queue).load(mutator)?;
        let first = queue.first(mutator)?;
        if first.expiry.load(mutator).nanoseconds() > now { None } else { queue.pop(mutator) }
    }
}
