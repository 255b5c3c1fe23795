//! The customers, their rings of saved products, and the data base of customers.
//!
//! A ring is an array of references in each customer, which grows and never shrinks. A customer is
//! old and what it saves is new, so each ring is a place where an old object refers to a young one.

use super::locks::{DataBaseLocks, Locks};
use super::queue::{Change, Queue};
use super::sales::Saved;
use super::shop::{DataBase, Shop};
use super::table::Table;
use super::text::{Draws, Made, Text};
use crate::hold::hold;
use allotment::{
    Array, Field, Gc, Local, Mutator, NewArray, Object, OutOfMemory, Plain, alloc, rebind, root,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Places of a new ring.
const PLACES: usize = 8;

/// A customer.
#[derive(Object)]
pub(super) struct Customer {
    /// Which lock the ring has.
    pub(super) id: u64,
    name: Field<Text>,
    ring: Field<Ring>,
    /// The place of the ring's first element, and the number of its elements.
    first: Plain<u32>,
    len: Plain<u32>,
    /// A hash of all that the customer bought.
    purchases: Plain<u64>,
}

/// Products that a customer saved for later.
type Ring = Array<Option<Saved>>;

impl Customer {
    /// Records the sale of a product.
    pub(super) fn buys(&self, product: u64, release: i64) {
        let sale = product.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ release as u64;
        self.purchases.set(self.purchases.get().rotate_left(5) ^ sale);
    }

    /// The saved products, the oldest first. The caller holds the ring's lock.
    pub(super) fn saved<'g>(
        &self,
        mutator: &'g Mutator<'_>,
    ) -> impl ExactSizeIterator<Item = Option<Gc<'g, Saved>>> {
        let ring = self.ring.load(mutator);
        let (first, len) = (self.first.get() as usize, self.len.get() as usize);
        (0..len).map(move |at| ring.at((first + at) % ring.len()).load(mutator))
    }

    /// Appends a product to the ring. If the ring is full, it is replaced by one of twice its size.
    ///
    /// # Errors
    /// The heap is full.
    pub(super) fn save(
        mutator: &mut Mutator<'_>,
        lock: &Mutex<()>,
        customer: Local<'_, Customer>,
        saved: Local<'_, Saved>,
    ) -> Result<(), OutOfMemory> {
        loop {
            let places = {
                let _held = hold(lock);
                let one = customer.get(mutator);
                let (ring, len) = (one.ring.load(mutator), one.len.get() as usize);
                if len < ring.len() {
                    let place = (one.first.get() as usize + len) % ring.len();
                    ring.at(place).store(mutator, Some(saved.get(mutator)));
                    one.len.set(len as u32 + 1);
                    return Ok(());
                }
                ring.len()
            };
            let larger = alloc!(mutator, NewArray::<Option<Saved>>::new(2 * places, None))?;
            let _held = hold(lock);
            let one = customer.get(mutator);
            // Another thread may have been here first.
            if one.ring.load(mutator).len() < larger.len() {
                for (place, saved) in one.saved(mutator).enumerate() {
                    larger.at(place).store(mutator, saved);
                }
                one.ring.store(mutator, larger);
                one.first.set(0);
            }
        }
    }

    /// Removes a product from the ring: those before it move on by one place. The caller holds the
    /// ring's lock.
    pub(super) fn forget(&self, mutator: &Mutator<'_>, saved: Gc<'_, Saved>) {
        let is = |one: Option<Gc<'_, Saved>>| one.is_some_and(|one| one.is_same(saved));
        let Some(found) = self.saved(mutator).position(is) else { return };
        let ring = self.ring.load(mutator);
        let first = self.first.get() as usize;
        let place = |at: usize| ring.at((first + at) % ring.len());
        for at in (0..found).rev() {
            place(at + 1).store(mutator, place(at).load(mutator));
        }
        place(0).store(mutator, None);
        self.first.set(((first + 1) % ring.len()) as u32);
        self.len.set(self.len.get() - 1);
    }
}

/// Customers by name. The key is the same string as the customer's name.
pub(super) type ByName = Table<Text, Customer>;

/// Names by place.
type Names = Array<Option<Text>>;

/// The data base of customers, published like that of the [products](super::goods).
#[derive(Object)]
pub(super) struct Customers {
    names: Field<Names>,
    pub(super) by_name: Field<ByName>,
}

/// A new customer, whose name no customer of `by_name` has.
pub(super) fn customer<'m>(
    mutator: &'m mut Mutator<'_>,
    draws: &mut Draws<'_>,
    by_name: Local<'_, ByName>,
    next_id: &AtomicU64,
) -> Made<'m, Customer> {
    root!(mutator, mut chosen = draws.name(mutator)?);
    while by_name.get(mutator).get(mutator, chosen.get(mutator)).is_some() {
        let other = rebind!(draws.name(mutator)?);
        chosen.set(mutator, other);
    }
    let ring = alloc!(mutator, NewArray::<Option<Saved>>::new(PLACES, None))?;
    let (id, name) = (next_id.fetch_add(1, Relaxed), chosen.get(mutator));
    let (first, len, purchases) = (Plain::new(0), Plain::new(0), Plain::new(0));
    alloc!(mutator, NewCustomer { id, name, ring, first, len, purchases })
}

/// A data base of `count` new customers.
pub(super) fn build<'m>(
    mutator: &'m mut Mutator<'_>,
    draws: &mut Draws<'_>,
    next_id: &AtomicU64,
    count: usize,
) -> Made<'m, Customers> {
    root!(mutator, names = alloc!(mutator, NewArray::<Option<Text>>::new(count, None))?);
    root!(mutator, by_name = ByName::make(mutator, count)?);
    for place in 0..count {
        root!(mutator, customer = customer(mutator, draws, by_name, next_id)?);
        put(mutator, names, by_name, place, customer)?;
    }
    let (names, by_name) = (names.get(mutator), by_name.get(mutator));
    alloc!(mutator, NewCustomers { names, by_name })
}

/// Enters a customer whose name is not in the table yet.
fn put(
    mutator: &mut Mutator<'_>,
    names: Local<'_, Names>,
    by_name: Local<'_, ByName>,
    place: usize,
    customer: Local<'_, Customer>,
) -> Result<bool, OutOfMemory> {
    root!(mutator, name = customer.get(mutator).name.load(mutator));
    let added = Table::insert(mutator, by_name, name, customer)?;
    if added {
        names.get(mutator).at(place).store(mutator, Some(name.get(mutator)));
    }
    Ok(added)
}

impl Customers {
    /// The number of customers.
    pub(super) fn len(&self, mutator: &Mutator<'_>) -> usize {
        self.names.load(mutator).len()
    }

    /// The customer at a place.
    pub(super) fn at<'g>(&self, mutator: &'g Mutator<'_>, place: usize) -> Option<Gc<'g, Customer>> {
        let name = self.names.load(mutator).at(place).load(mutator)?;
        self.by_name.load(mutator).get(mutator, name)
    }
}

impl DataBase for Customers {
    type Row = Customer;

    fn published(shop: &Shop) -> &Field<Customers> {
        &shop.customers
    }

    fn changes(shop: &Shop) -> &Field<Queue<Change<Customer>>> {
        &shop.customer_changes
    }

    fn locks(locks: &Locks) -> &DataBaseLocks {
        &locks.customers
    }

    fn snapshot<'m>(
        mutator: &'m mut Mutator<'_>,
        shop: Local<'_, Shop>,
        lock: &Mutex<()>,
    ) -> Made<'m, Customers> {
        let customers = shop.get(mutator).customers.load(mutator);
        let new = {
            let _held = hold(lock);
            NewCustomers { names: customers.names.load(mutator), by_name: customers.by_name.load(mutator) }
        };
        alloc!(mutator, new)
    }

    fn publish(&self, mutator: &Mutator<'_>, new: Gc<'_, Customers>) {
        self.names.store(mutator, new.names.load(mutator));
        self.by_name.store(mutator, new.by_name.load(mutator));
    }

    /// The array and the table are new, and have the same customers. A change is skipped if another
    /// customer has its name by now.
    fn rebuild<'m>(
        mutator: &'m mut Mutator<'_>,
        old: Local<'_, Customers>,
        changes: Local<'_, Option<Change<Customer>>>,
    ) -> Result<(Gc<'m, Customers>, usize), OutOfMemory> {
        let count = old.get(mutator).len(mutator);
        root!(mutator, names = alloc!(mutator, NewArray::<Option<Text>>::new(count, None))?);
        root!(mutator, by_name = ByName::make(mutator, count)?);
        for place in 0..count {
            let Some(customer) = old.get(mutator).at(mutator, place) else { continue };
            root!(mutator, customer = customer);
            put(mutator, names, by_name, place, customer)?;
        }
        let mut changed = 0;
        root!(mutator, mut next = changes.get(mutator));
        while let Some(change) = next.get(mutator) {
            let index = change.index;
            root!(mutator, new = change.replacement.load(mutator), change = change);
            let replaced = names.get(mutator).at(index).load(mutator);
            root!(mutator, replaced = replaced);
            if put(mutator, names, by_name, index, new)? {
                if let Some(replaced) = replaced.get(mutator) {
                    by_name.get(mutator).remove(mutator, replaced);
                }
                changed += 1;
            }
            let after = Queue::after(mutator, change.get(mutator));
            next.set(mutator, after);
        }
        let (names, by_name) = (names.get(mutator), by_name.get(mutator));
        Ok((alloc!(mutator, NewCustomers { names, by_name })?, changed))
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::NewChange;
    use super::super::sales::{NewSaved, NewTime};
    use super::super::text::Dictionary;
    use super::super::words::tests::with_dictionary;
    use super::*;
    use allotment::Stack;

    impl Customer {
        /// The name.
        pub(in super::super) fn name<'g>(&self, mutator: &'g Mutator<'_>) -> &'g str {
            self.name.load(mutator).chars(mutator)
        }
    }

    fn draws(dictionary: Local<'_, Dictionary>) -> Draws<'_> {
        Draws::new(3, dictionary)
    }

    #[test]
    fn a_ring_grows_and_closes_its_gaps() {
        with_dictionary(&["ann", "bob", "cy"], |mutator, dictionary| {
            let (draws, lock) = (&mut draws(dictionary), Mutex::new(()));
            let catalogue = super::super::goods::Catalogue::new(1, 1);
            root!(mutator, product = catalogue.product(mutator, draws)?);
            root!(mutator, by_name = ByName::make(mutator, 0)?);
            root!(mutator, one = customer(mutator, draws, by_name, &AtomicU64::new(7))?);
            let mut model: Vec<i64> = Vec::new();
            let mut kept: Stack<'_, Saved> = Stack::new(mutator);
            for number in 0..40_u64 {
                let expiry = alloc!(mutator, NewTime { seconds: 0, nanoseconds: number })?;
                let new = NewSaved::of(one.get(mutator), product.get(mutator), expiry);
                root!(mutator, saved = alloc!(mutator, new)?);
                Customer::save(mutator, &lock, one, saved)?;
                kept.push(mutator, saved.get(mutator));
                model.push(number as i64);
                // Two of three leave again, from anywhere.
                if number % 3 != 0 {
                    let at = (number * 7) as usize % model.len();
                    let gone = kept.get(mutator, model[at] as usize).unwrap();
                    one.get(mutator).forget(mutator, gone);
                    model.remove(at);
                    one.get(mutator).forget(mutator, gone);
                }
                if number % 16 == 15 {
                    mutator.collect();
                }
                let found: Vec<i64> = one
                    .get(mutator)
                    .saved(mutator)
                    .map(|saved| saved.unwrap().expiry.load(mutator).nanoseconds())
                    .collect();
                assert_eq!(found, model, "{number}");
            }
            assert_eq!(one.get(mutator).ring.load(mutator).len(), 16);
            Ok(())
        });
    }

    #[test]
    fn a_rebuild_replaces_customers_in_the_order_of_the_changes() {
        let words: Vec<String> = (0..20).map(|word| format!("w{word}")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        with_dictionary(&words, |mutator, dictionary| {
            let (draws, next_id) = (&mut draws(dictionary), AtomicU64::new(0));
            root!(mutator, old = build(mutator, draws, &next_id, 20)?);
            root!(mutator, by_name = old.get(mutator).by_name.load(mutator));
            root!(mutator, queue = Queue::<Change<Customer>>::make(mutator)?);
            for place in [4, 9, 4] {
                root!(mutator, new = customer(mutator, draws, by_name, &next_id)?);
                let change = alloc!(mutator, NewChange::of(place, new.get(mutator)))?;
                queue.get(mutator).push(mutator, change);
            }
            // A customer whose name is taken is skipped.
            let taken = old.get(mutator).at(mutator, 0).unwrap();
            let change = alloc!(mutator, NewChange::of(11, taken))?;
            queue.get(mutator).push(mutator, change);
            root!(mutator, changes = queue.get(mutator).take(mutator));
            let (new, changed) = rebind!(Customers::rebuild(mutator, old, changes)?);
            root!(mutator, new = new);
            mutator.collect();
            assert_eq!(changed, 3);
            let at = |place| new.get(mutator).at(mutator, place).map(|customer| customer.id);
            let expected = |place: usize| {
                Some([(4, 22), (9, 21)].iter().find(|one| one.0 == place).map_or(place as u64, |one| one.1))
            };
            for place in 0..20 {
                assert_eq!(at(place), expected(place), "{place}");
                assert_eq!(
                    old.get(mutator).at(mutator, place).map(|customer| customer.id),
                    Some(place as u64)
                );
            }
            assert_eq!(
                new.get(mutator).by_name.load(mutator).len(),
                20,
                "names of replaced customers are gone"
            );
            Ok(())
        });
    }
}
