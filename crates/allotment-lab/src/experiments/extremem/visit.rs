//! A customer thread: an engagement in each period. It searches, reviews the candidates, thinks,
//! ranks them, and decides.

use super::customers::{Customer, Customers};
use super::goods::{Goods, Product};
use super::latency::{Arrays, KINDS, Latencies, Logs, Visit};
use super::sales::{NewSale, NewSaved, NewTime, Sale, Saved};
use super::schedule::nanoseconds;
use super::search::{self, Found, Query, Search, Words};
use super::shop::OpenShop;
use super::text::{Draws, Made, score};
use crate::hold::hold;
use allotment::{Array, Local, Mutator, NewArray, NewSlots, OutOfMemory, Root, alloc, rebind, root};

/// The candidates of a customer with their reviews.
type Offers = Array<Option<Sale>>;

/// The place of a thread among those of its kind.
pub(super) struct Seat {
    pub(super) index: usize,
    pub(super) seed: u64,
    pub(super) arrays: Root<Arrays>,
}

/// The visits of a customer thread while latencies were logged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Visits {
    pub(super) latencies: [Latencies; KINDS],
    /// Latencies of preparations before that.
    pub(super) before: Latencies,
    pub(super) engagements: u64,
    /// Products that matched, over all engagements.
    pub(super) matches: u64,
    /// Products that the customers had saved before, over all engagements.
    pub(super) saved: u64,
}

impl Visits {
    /// Adds those of another thread.
    pub(super) fn merge(&mut self, other: &Visits) {
        self.latencies.iter_mut().zip(&other.latencies).for_each(|(to, from)| to.merge(from));
        self.before.merge(&other.before);
        self.engagements += other.engagements;
        self.matches += other.matches;
        self.saved += other.saved;
    }
}

/// Plays a customer thread to the end of the run.
pub(super) fn play(mutator: &mut Mutator<'_>, open: OpenShop<'_>, seat: Seat) -> Result<Visits, OutOfMemory> {
    let (common, workload) = (open.common, &open.common.workload);
    root!(mutator, arrays = seat.arrays.get(mutator));
    root!(mutator, dictionary = open.shop.get(mutator).dictionary.load(mutator));
    let mut thread = CustomerThread {
        open,
        draws: Draws::new(seat.seed, dictionary),
        search: Search::new(mutator, workload.allow_any_match),
        logs: Logs::new(arrays),
        visits: Visits::default(),
        sales: (workload.sales_queues - 1) - seat.index % workload.sales_queues,
        saved: (workload.browsing_queues - 1) - seat.index % workload.browsing_queues,
    };
    let period = nanoseconds(workload.customer_period);
    let mut release = period * seat.index as i64 / workload.customer_threads as i64;
    while let Some(now) = common.schedule.release(mutator, release) {
        thread.engage(mutator, release, now >= common.schedule.log_start)?;
        release += period;
    }
    thread.visits.latencies = thread.logs.latencies(mutator);
    Ok(thread.visits)
}

struct CustomerThread<'a, 't> {
    open: OpenShop<'a>,
    draws: Draws<'a>,
    search: Search<'t>,
    logs: Logs<'a>,
    visits: Visits,
    /// The queues that this thread uses.
    sales: usize,
    saved: usize,
}

impl<'t> CustomerThread<'_, 't> {
    fn engage(&mut self, mutator: &mut Mutator<'t>, release: i64, logs: bool) -> Result<(), OutOfMemory> {
        let (open, common, workload) = (self.open, self.open.common, &self.open.common.workload);
        root!(mutator, customers = open.snapshot::<Customers>(mutator)?);
        let place = self.draws.random.below(customers.get(mutator).len(mutator));
        let Some(customer) = customers.get(mutator).at(mutator, place) else { return Ok(()) };
        root!(mutator, customer = customer);
        root!(mutator, goods = open.snapshot::<Goods>(mutator)?);
        root!(mutator, words = search::words(mutator, &mut self.draws, workload.keyword_search_count)?);
        root!(mutator, found = self.search.candidates(mutator, Query { goods, words })?);
        let matches = found.get(mutator).len();
        root!(mutator, candidates = self.with_saved(mutator, customer, found)?);
        let count = candidates.get(mutator).len();
        if logs {
            self.visits.engagements += 1;
            self.visits.matches += matches as u64;
            self.visits.saved += (count - matches) as u64;
        }
        let decision = release + nanoseconds(workload.customer_think_time);
        if count == 0 {
            self.log(mutator, logs, Visit::Nothing, release);
            self.log(mutator, logs, Visit::Preparation, release);
            common.schedule.sleep(mutator, decision);
            return Ok(());
        }
        root!(mutator, offers = self.offers(mutator, customer, candidates)?);
        let criteria = workload.selection_criteria_count;
        root!(mutator, criteria = search::words(mutator, &mut self.draws, criteria)?);
        self.log(mutator, logs, Visit::Preparation, release);
        common.schedule.sleep(mutator, decision);
        let best = self.best(mutator, offers, criteria)?;
        let Some(chosen) = offers.get(mutator).at(best).load(mutator) else { return Ok(()) };
        root!(mutator, chosen = chosen);
        let drawn = self.draws.fraction();
        let outcome = if drawn < workload.buy_threshold {
            open.sell(mutator, self.sales, chosen.get(mutator));
            Visit::Purchase
        } else if drawn < workload.buy_threshold + workload.save_for_later_threshold {
            self.save(mutator, customer, chosen)?;
            Visit::Save
        } else {
            Visit::Abandon
        };
        self.log(mutator, logs, outcome, decision);
        Ok(())
    }

    /// Logs how late this moment is.
    fn log(&mut self, mutator: &Mutator<'_>, logs: bool, visit: Visit, planned: i64) {
        let late = self.open.common.schedule.late(planned);
        if logs {
            self.logs.add(mutator, visit as usize, late);
        } else if visit == Visit::Preparation {
            self.visits.before.add(late);
        }
    }

    /// The products that were found, followed by those that the customer saved before.
    fn with_saved<'m>(
        &mut self,
        mutator: &'m mut Mutator<'t>,
        customer: Local<'_, Customer>,
        found: Local<'_, Found>,
    ) -> Made<'m, Found> {
        let id = customer.get(mutator).id;
        let lock = self.open.common.locks.ring(id);
        let saved = {
            let _held = hold(lock);
            customer.get(mutator).saved(mutator).len()
        };
        let copies = alloc!(mutator, NewArray::<Option<Saved>>::new(saved, None))?;
        let saved = {
            let _held = hold(lock);
            // The ring may have changed.
            let customer = customer.get(mutator);
            let there = customer.saved(mutator).take(saved).enumerate();
            there.map(|(at, one)| copies.at(at).store(mutator, one)).count()
        };
        if saved == 0 {
            return Ok(found.get(mutator));
        }
        root!(mutator, copies = copies);
        let len = found.get(mutator).len();
        let both = alloc!(mutator, NewArray::<Option<Product>>::new(len + saved, None))?;
        both.copy_from(mutator, 0, found.get(mutator), 0..len);
        for (at, one) in copies.get(mutator).iter(mutator).take(saved).enumerate() {
            both.at(len + at).store(mutator, one.map(|one| one.product.load(mutator)));
        }
        Ok(rebind!(mutator, both))
    }

    /// A sale with a random review for each candidate.
    fn offers<'m>(
        &mut self,
        mutator: &'m mut Mutator<'t>,
        customer: Local<'_, Customer>,
        candidates: Local<'_, Found>,
    ) -> Made<'m, Offers> {
        let count = candidates.get(mutator).len();
        let words = self.open.common.workload.product_review_length;
        root!(mutator, offers = alloc!(mutator, NewArray::<Option<Sale>>::new(count, None))?);
        for at in 0..count {
            let review = rebind!(self.draws.concatenation(mutator, words)?);
            let Some(product) = candidates.get(mutator).at(at).load(mutator) else { continue };
            let sale = alloc!(mutator, NewSale::of(customer.get(mutator), product, review))?;
            offers.get(mutator).at(at).store(mutator, Some(sale));
        }
        Ok(offers.get(mutator))
    }

    /// The place of the offer whose review matches the selection words best; the first of several.
    fn best(
        &mut self,
        mutator: &mut Mutator<'t>,
        offers: Local<'_, Offers>,
        criteria: Local<'_, Words>,
    ) -> Result<usize, OutOfMemory> {
        let count = offers.get(mutator).len();
        root!(mutator, ranks = alloc!(mutator, NewSlots::new(count, 0.0_f32))?);
        for at in 0..count {
            let Some(offer) = offers.get(mutator).at(at).load(mutator) else { continue };
            root!(mutator, review = offer.review.load(mutator));
            let mut rank = 1.0;
            for word in 0..criteria.get(mutator).len() {
                let Some(word) = criteria.get(mutator).at(word).load(mutator) else { continue };
                root!(mutator, word = word);
                rank *= score(mutator, word, review)?;
            }
            ranks.get(mutator).at(at).set(rank);
        }
        let ranks = ranks.get(mutator).iter().enumerate();
        Ok(ranks.reduce(|best, next| if next.1 > best.1 { next } else { best }).map_or(0, |(at, _)| at))
    }

    /// Saves a product for later: in the queue of this thread, then in the ring of the customer.
    fn save(
        &mut self,
        mutator: &mut Mutator<'t>,
        customer: Local<'_, Customer>,
        chosen: Local<'_, Sale>,
    ) -> Result<(), OutOfMemory> {
        let common = self.open.common;
        let expiry = common.schedule.now() + nanoseconds(common.workload.browsing_expiration);
        let expiry = NewTime {
            seconds: (expiry / 1_000_000_000) as u64,
            nanoseconds: (expiry % 1_000_000_000) as u64,
        };
        let expiry = alloc!(mutator, expiry)?;
        let product = chosen.get(mutator).product.load(mutator);
        root!(mutator, saved = alloc!(mutator, NewSaved::of(customer.get(mutator), product, expiry))?);
        self.open.keep(mutator, self.saved, saved.get(mutator));
        let id = customer.get(mutator).id;
        Customer::save(mutator, common.locks.ring(id), customer, saved)
    }
}
