//! The objects that customers leave in the queues: sold products, and products saved for later.

use super::customers::Customer;
use super::goods::Product;
use super::queue::Linked;
use super::text::Text;
use allotment::{Field, Gc, Object};

/// A candidate of a customer, with a review; if the customer buys it, it goes to a queue of sales.
#[derive(Object)]
pub(super) struct Sale {
    pub(super) customer: Field<Customer>,
    pub(super) product: Field<Product>,
    pub(super) review: Field<Text>,
    next: Field<Option<Sale>>,
}

impl<'g> NewSale<'g> {
    /// A sale that stands in no queue.
    pub(super) fn of(customer: Gc<'g, Customer>, product: Gc<'g, Product>, review: Gc<'g, Text>) -> Self {
        NewSale { customer, product, review, next: None }
    }
}

impl Linked for Sale {
    fn next(&self) -> &Field<Option<Self>> {
        &self.next
    }
}

/// A time since the start, in an object as in Java.
#[derive(Object)]
pub(super) struct Time {
    pub(super) seconds: u64,
    pub(super) nanoseconds: u64,
}

impl Time {
    /// In nanoseconds.
    pub(super) fn nanoseconds(&self) -> i64 {
        (self.seconds * 1_000_000_000 + self.nanoseconds) as i64
    }
}

/// A product that a customer has saved until a time. It stands in a queue, and in the customer's
/// ring.
#[derive(Object)]
pub(super) struct Saved {
    pub(super) customer: Field<Customer>,
    pub(super) product: Field<Product>,
    pub(super) expiry: Field<Time>,
    next: Field<Option<Saved>>,
    previous: Field<Option<Saved>>,
}

impl<'g> NewSaved<'g> {
    /// A saved product that stands in no queue.
    pub(super) fn of(customer: Gc<'g, Customer>, product: Gc<'g, Product>, expiry: Gc<'g, Time>) -> Self {
        NewSaved { customer, product, expiry, next: None, previous: None }
    }
}

impl Linked for Saved {
    fn next(&self) -> &Field<Option<Self>> {
        &self.next
    }

    fn previous(&self) -> Option<&Field<Option<Self>>> {
        Some(&self.previous)
    }
}
