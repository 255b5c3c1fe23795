//! A server thread: one duty in each period. It serves sold products, forgets saved ones that have
//! expired, and replaces customers and products.

use super::customers::{Customers, customer};
use super::goods::Goods;
use super::latency::{Duty, KINDS, Latencies, Logs};
use super::schedule::nanoseconds;
use super::shop::OpenShop;
use super::text::Draws;
use super::visit::Seat;
use crate::hold::hold;
use allotment::{Mutator, OutOfMemory, root};

/// The work of a server thread while latencies were logged.
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
pub(super) fn play(
    mutator: &mut Mutator<'_>,
    open: OpenShop<'_>,
    seat: Seat,
) -> Result<Service, OutOfMemory> {
    let (common, workload) = (open.common, &open.common.workload);
    let (index, threads) = (seat.index as i64, workload.server_threads as i64);
    let period = nanoseconds(workload.server_period);
    let staggered = |period: i64| period * index / threads;
    root!(mutator, arrays = seat.arrays.get(mutator));
    root!(mutator, dictionary = open.shop.get(mutator).dictionary.load(mutator));
    let mut thread = ServerThread {
        open,
        draws: Draws::new(seat.seed, dictionary),
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
        duty = (duty + 3) % 4;
        release += period;
    }
    thread.service.latencies = logs.latencies(mutator);
    Ok(thread.service)
}

struct ServerThread<'a> {
    open: OpenShop<'a>,
    draws: Draws<'a>,
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
        while let Some(sale) = self.open.next_sale(mutator, self.sales) {
            let product = sale.product.load(mutator).id;
            sale.customer.load(mutator).buys(product, release);
            self.service.sold += u64::from(is_logged);
            mutator.safepoint();
        }
        Duty::Sales
    }

    /// Forgets the saved products whose time is over.
    fn expire(&mut self, mutator: &mut Mutator<'_>, release: i64, is_logged: bool) -> Duty {
        while let Some(saved) = self.open.next_expired(mutator, self.saved, release) {
            let customer = saved.customer.load(mutator);
            {
                let _held = hold(self.open.common.locks.ring(customer.id));
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
        let (open, workload) = (self.open, &self.open.common.workload);
        for _ in 0..workload.customer_replacement_count {
            root!(mutator, customers = open.snapshot::<Customers>(mutator)?);
            root!(mutator, by_name = customers.get(mutator).by_name.load(mutator));
            let place = self.draws.random.below(workload.customers);
            let next_id = &open.common.next_customer;
            root!(mutator, new = customer(mutator, &mut self.draws, by_name, next_id)?);
            open.change::<Customers>(mutator, place, new)?;
        }
        self.next_customers += nanoseconds(workload.customer_replacement_period);
        Ok(Duty::Customers)
    }

    /// Puts new products in the place of random ones, if it is time.
    fn replace_products(&mut self, mutator: &mut Mutator<'_>, release: i64) -> Result<Duty, OutOfMemory> {
        if release < self.next_products {
            return Ok(Duty::Idle);
        }
        let (open, workload) = (self.open, &self.open.common.workload);
        for _ in 0..workload.product_replacement_count {
            let place = self.draws.random.below(workload.products);
            root!(mutator, new = open.common.catalogue.product(mutator, &mut self.draws)?);
            open.change::<Goods>(mutator, place, new)?;
        }
        self.next_products += nanoseconds(workload.product_replacement_period);
        Ok(Duty::Products)
    }
}
