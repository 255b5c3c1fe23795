//! A server thread: one duty in each period. It serves sold products, forgets saved ones that have
//! expired, and replaces customers and products.

use super::customers::{ByName, Customer, customer};
use super::latency::{Duty, KINDS, Latencies, Logs};
use super::queue::NewChange;
use super::schedule::nanoseconds;
use super::shop::{Common, Shop};
use super::text::Work;
use super::visit::Seat;
use crate::experiments::hold::hold;
use allotment::{Local, Mutator, OutOfMemory, alloc, root};

/// What a server thread has done while latencies were logged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Service {
    pub(super) latencies: [Latencies; KINDS],
    /// Products sold, and products whose time was over.
    pub(super) sold: u64,
    pub(super) expired: u64,
}

impl Service {
    /// Adds that of another thread.
    pub(super) fn merge(&mut self, other: &Service) {
        self.latencies.iter_mut().zip(&other.latencies).for_each(|(to, from)| to.merge(from));
        self.sold += other.sold;
        self.expired += other.expired;
    }
}

/// Plays a server thread to the end of the run.
///
/// # Errors
/// The heap is full.
pub(super) fn play(
    mutator: &mut Mutator<'_>,
    common: &Common,
    shop: Local<'_, Shop>,
    seat: Seat,
) -> Result<Service, OutOfMemory> {
    let workload = &common.workload;
    let (index, threads) = (seat.index as i64, workload.server_threads as i64);
    let period = nanoseconds(workload.server_period);
    let staggered = |period: i64| period * index / threads;
    root!(mutator, arrays = seat.arrays.get(mutator));
    let mut thread = ServerThread {
        common,
        shop,
        work: Work::new(seat.seed, common.first.clone()),
        sales: (workload.sales_queues - 1) - seat.index % workload.sales_queues,
        saved: (workload.browsing_queues - 1) - seat.index % workload.browsing_queues,
        next_customers: staggered(nanoseconds(workload.customer_replacement_period)),
        next_products: staggered(nanoseconds(workload.product_replacement_period)),
        service: Service::default(),
    };
    let mut logs = Logs::new(arrays);
    let (mut release, mut duty) = (staggered(period), seat.index % 4);
    while let Some(now) = common.schedule.release(mutator, release) {
        let is_logged = now >= common.schedule.log_start;
        let done = match duty {
            0 => thread.serve(mutator, release, is_logged),
            1 => thread.expire(mutator, release, is_logged),
            2 => thread.replace_customers(mutator, release)?,
            _ => thread.replace_products(mutator, release)?,
        };
        if is_logged {
            logs.add(mutator, done as usize, common.schedule.late(release));
        }
        thread.work.tell();
        duty = (duty + 3) % 4;
        release += period;
    }
    thread.service.latencies = logs.latencies(mutator);
    Ok(thread.service)
}

struct ServerThread<'a> {
    common: &'a Common,
    shop: Local<'a, Shop>,
    work: Work,
    /// The queues of this thread.
    sales: usize,
    saved: usize,
    /// When customers and products are replaced next.
    next_customers: i64,
    next_products: i64,
    service: Service,
}

impl ServerThread<'_> {
    /// Serves all sold products of a queue.
    fn serve(&mut self, mutator: &mut Mutator<'_>, release: i64, is_logged: bool) -> Duty {
        while let Some(sale) = self.common.next_sale(mutator, self.shop.get(mutator), self.sales) {
            let product = sale.product.load(mutator).id;
            sale.customer.load(mutator).buys(product, release);
            self.service.sold += u64::from(is_logged);
            mutator.safepoint();
        }
        Duty::Sales
    }

    /// Forgets the saved products whose time is over.
    fn expire(&mut self, mutator: &mut Mutator<'_>, release: i64, is_logged: bool) -> Duty {
        loop {
            let shop = self.shop.get(mutator);
            let Some(saved) = self.common.next_expired(mutator, shop, self.saved, release) else { break };
            let customer = saved.customer.load(mutator);
            {
                let _held = hold(self.common.locks.ring(customer.id));
                customer.forget(mutator, saved);
            }
            self.service.expired += u64::from(is_logged);
            mutator.safepoint();
        }
        Duty::Browsing
    }

    /// Puts new customers in the place of random ones, if it is time.
    fn replace_customers(&mut self, mutator: &mut Mutator<'_>, release: i64) -> Result<Duty, OutOfMemory> {
        if release < self.next_customers {
            return Ok(Duty::Idle);
        }
        let common = self.common;
        for _ in 0..common.workload.customer_replacement_count {
            root!(mutator, customers = common.customers(mutator, &mut self.work, self.shop)?);
            root!(mutator, by_name = customers.get(mutator).by_name.load(mutator));
            let place = self.work.random.below(customers.get(mutator).len(mutator));
            let change = self.new_customer(mutator, by_name)?;
            root!(mutator, new = change);
            let change = alloc!(mutator, NewChange::of(place, new.get(mutator)))?;
            common.change_customer(mutator, self.shop.get(mutator), change);
        }
        self.next_customers += nanoseconds(common.workload.customer_replacement_period);
        Ok(Duty::Customers)
    }

    fn new_customer<'m>(
        &mut self,
        mutator: &'m mut Mutator<'_>,
        by_name: Local<'_, ByName>,
    ) -> Result<allotment::Gc<'m, Customer>, OutOfMemory> {
        root!(mutator, dictionary = self.shop.get(mutator).dictionary.load(mutator));
        customer(mutator, &mut self.work, dictionary, by_name, &self.common.next_customer)
    }

    /// Puts new products in the place of random ones, if it is time.
    fn replace_products(&mut self, mutator: &mut Mutator<'_>, release: i64) -> Result<Duty, OutOfMemory> {
        if release < self.next_products {
            return Ok(Duty::Idle);
        }
        let common = self.common;
        root!(mutator, dictionary = self.shop.get(mutator).dictionary.load(mutator));
        for _ in 0..common.workload.product_replacement_count {
            let place = self.work.random.below(common.workload.products);
            root!(mutator, new = common.catalogue.product(mutator, &mut self.work, dictionary)?);
            let change = alloc!(mutator, NewChange::of(place, new.get(mutator)))?;
            common.change_product(mutator, self.shop.get(mutator), change);
        }
        self.next_products += nanoseconds(common.workload.product_replacement_period);
        Ok(Duty::Products)
    }
}
