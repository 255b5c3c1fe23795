//! A run: a shop in a heap, the threads of the shop, and their work until the last has ended.
//!
//! The controller builds the shop and starts the threads before the shot, as a probe. Its thread is
//! not bound to a CPU, and neither are the threads it starts; they wait for the start in a blocking
//! region. The worker starts the run and waits for its end.

use super::figures::{Figures, figures};
use super::latency::{Arrays, arrays};
use super::plan::ShopPlan;
use super::server::{self, Service};
use super::shop::{Common, OpenShop, Shop};
use super::update::{self, Updates};
use super::visit::{self, Seat, Visits};
use crate::experiments::crew::{Crew, Start};
use crate::experiments::first_collection::FirstCollection;
use crate::experiments::heap_use::HeapUse;
use crate::experiments::memory::advised;
use crate::experiments::prepared::Prepared;
use crate::harness::{Iteration, Probe, SecondaryValue};
use crate::machine::process_cpu_time;
use crate::walk::Random;
use allotment::heap::HeapBuilder;
use allotment::{Mutator, OutOfMemory, Root, root};
use anyhow::Context;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How often the controller looks whether a thread has failed.
const LOOK: Duration = Duration::from_millis(100);

/// What fits a heap that is full.
const FITS: &str = "a larger --heap, or fewer customers, products or threads fit";

/// The work of a thread.
enum Done {
    Visits(Box<Visits>),
    Service(Box<Service>),
    Updates(Updates),
}

/// The role of a thread in the shop.
enum Role {
    Customer(Seat),
    Server(Seat),
    Update,
}

/// A run whose threads are ready.
pub(super) struct Run {
    heap_use: HeapUse,
    first: FirstCollection,
    common: Arc<Common>,
    crew: Crew<Done>,
    /// The end of the window right after the start.
    settled: Duration,
    figures: Figures,
}

impl Run {
    /// Makes a heap, builds the shop, and starts the threads.
    pub(super) fn prepare(plan: &ShopPlan, builder: HeapBuilder) -> anyhow::Result<Run> {
        let first = FirstCollection::default();
        let (heap, heap_use) = HeapUse::listening(builder, first.hook())?;
        let workload = plan.configuration.workload.clone();
        let settled = if workload.warmup.is_zero() { workload.customer_period } else { workload.warmup };
        let common = Arc::new(Common::new(workload));
        let built = heap.attach(|mutator| build(mutator, &common))?;
        let (shop, logs) = advised(built, FITS).context("while the shop was built")?;
        let workload = &common.workload;
        let mut seeds = Random::new(u64::from(workload.random_seed));
        let mut logs = logs.into_iter();
        let parts = (0..workload.threads()).map(|number| {
            // There are logs for each customer and each server.
            let (seed, arrays) = (seeds.draw(), logs.next());
            let role = match (arrays, number.checked_sub(workload.customer_threads)) {
                (Some(arrays), None) => Role::Customer(Seat { index: number, seed, arrays }),
                (Some(arrays), Some(index)) => Role::Server(Seat { index, seed, arrays }),
                (None, _) => Role::Update,
            };
            let (common, shop) = (Arc::clone(&common), shop.clone());
            move |mutator: &mut Mutator<'_>, start: &Start| {
                advised(play(mutator, start, &common, shop, role), FITS)
            }
        });
        let crew = Crew::ready("shop thread", &heap, parts)?;
        Ok(Run { heap_use, first, common, crew, settled, figures: Figures::default() })
    }

    /// Waits for `most` at most; returns whether all threads are done. If a thread has failed, the
    /// run is given up, and the sleeping threads are woken.
    fn wait(&self, most: Duration) -> bool {
        let over = self.crew.wait_for(most.min(LOOK));
        if self.crew.has_failed() {
            self.common.schedule.give_up();
            self.crew.unpark();
        }
        over
    }
}

impl Prepared for Run {
    // Lets all threads begin, and waits for the last. In between, at the end of the window right
    // after the start, the figures of that window are taken.
    fn release(&mut self) {
        self.first.begin(&self.heap_use.heap);
        self.heap_use.before();
        let window = Window::begin();
        self.common.schedule.start(window.began);
        self.crew.begin();
        let mut over = false;
        while !over && window.began.elapsed() < self.settled {
            over = self.wait(self.settled.saturating_sub(window.began.elapsed()));
        }
        self.figures.start = window.values(&mut self.heap_use);
        self.heap_use.before();
        let window = Window::begin();
        while !over {
            over = self.wait(LOOK);
        }
        self.figures.measured = window.values(&mut self.heap_use);
        self.figures.first_waste = self.first.end();
    }

    fn gather(&mut self) -> anyhow::Result<()> {
        for done in self.crew.join().context("while the shop was open")? {
            match done {
                Done::Visits(visits) => self.figures.visits.merge(&visits),
                Done::Service(service) => self.figures.service.merge(&service),
                Done::Updates(updates) => self.figures.updates = updates,
            }
        }
        Ok(())
    }

    fn figures(&mut self, _iteration: &Iteration) -> Vec<SecondaryValue> {
        figures(&self.figures, &self.common.workload)
    }
}

/// A window of the run.
struct Window {
    began: Instant,
    cpu: Duration,
}

impl Window {
    fn begin() -> Window {
        Window { began: Instant::now(), cpu: process_cpu_time() }
    }

    /// The figures of the heap, and the CPU time that the process had, in percent of all CPUs.
    fn values(self, heap_use: &mut HeapUse) -> Vec<SecondaryValue> {
        let time = self.began.elapsed();
        let cpu = process_cpu_time().saturating_sub(self.cpu);
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        let percent = 100.0 * cpu.as_secs_f64() / (time.as_secs_f64() * cpus as f64);
        let iteration = Iteration { measured_operations: 1, all_operations: 1, time, window: time };
        let mut values = heap_use.after(&iteration);
        values.push(SecondaryValue::average("cpu", "%", percent));
        values
    }
}

/// Builds the shop, and makes the logs of all threads.
fn build(mutator: &mut Mutator<'_>, common: &Common) -> Result<(Root<Shop>, Vec<Root<Arrays>>), OutOfMemory> {
    let workload = &common.workload;
    root!(mutator, shop = common.build(mutator)?);
    let mut logs = Vec::new();
    for _ in 0..workload.customer_threads + workload.server_threads {
        let arrays = allotment::rebind!(arrays(mutator, workload.response_time_measurements)?);
        logs.push(Root::new(mutator, arrays));
    }
    Ok((Root::new(mutator, shop.get(mutator)), logs))
}

/// Waits for the start, and plays a role. `None` if the run is called off.
fn play(
    mutator: &mut Mutator<'_>,
    start: &Start,
    common: &Common,
    shop: Root<Shop>,
    role: Role,
) -> Result<Option<Done>, OutOfMemory> {
    root!(mutator, here = shop.get(mutator));
    drop(shop);
    if mutator.blocking(|| start.wait()).is_none() {
        return Ok(None);
    }
    let open = OpenShop { common, shop: here };
    Ok(Some(match role {
        Role::Customer(seat) => Done::Visits(visit::play(mutator, open, seat)?.into()),
        Role::Server(seat) => Done::Service(server::play(mutator, open, seat)?.into()),
        Role::Update => Done::Updates(update::play(mutator, open)?),
    }))
}

impl Drop for Run {
    fn drop(&mut self) {
        self.common.schedule.give_up();
        self.first.end();
        // The crew waits for the threads, which may sleep.
        self.crew.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::super::latency::Visit;
    use super::super::plan::tests::plan;
    use super::*;
    use crate::experiments::heap_use::tests::value;

    /// A shop that a debug build can serve: 400 engagements in a second, of which a word has 6.2
    /// candidates.
    const SMALL: &str = "DictionarySize=5000 DistinctWords=2500 NumProducts=500 NumCustomers=500 \
        CustomerThreads=20 CustomerPeriod=50ms CustomerThinkTime=10ms ServerPeriod=20ms \
        CustomerReplacementPeriod=100ms ProductReplacementPeriod=100ms CustomerReplacementCount=10 \
        ProductReplacementCount=2 BrowsingExpiration=100ms PhasedUpdateInterval=50ms WarmupDuration=100ms";

    fn run(collector: &str, heap: usize, workload: &str, options: &str) -> anyhow::Result<Run> {
        let plan = plan(collector, heap, workload);
        let mut run = Run::prepare(&plan, plan.builder()?.always_pre_touch(false).options(options)?)?;
        run.release();
        run.gather()?;
        Ok(run)
    }

    /// A run in which enough has happened to judge it: on a slow machine a longer one.
    fn long_run(collector: &str, heap: usize, workload: &str, options: &str) -> Run {
        for seconds in [1, 5, 25] {
            let workload = format!("{workload} SimulationDuration={seconds}s");
            let run = run(collector, heap, &workload, options).unwrap();
            let Figures { visits, service, updates, .. } = &run.figures;
            let rebuilt =
                [&updates.customers, &updates.products].iter().all(|rebuilds| rebuilds.replaced > 0);
            if visits.engagements > 150 && service.sold > 0 && service.expired > 0 && rebuilt {
                return run;
            }
        }
        panic!("{collector} {options}: not enough has happened in 25 s");
    }

    /// What holds of a run however slow the machine is.
    fn check(run: &Run, what: &str) {
        let visits = &run.figures.visits;
        let count = |visit: Visit| visits.latencies[visit as usize].count;
        let decided = count(Visit::Purchase) + count(Visit::Save) + count(Visit::Abandon);
        assert_eq!(count(Visit::Preparation), visits.engagements, "{what}");
        assert_eq!(decided + count(Visit::Nothing), visits.engagements, "{what}");
        // Six standard deviations of the mean of that number of draws.
        let near = |found: f64, expected: f64, deviation: f64| {
            let most = 6.0 * deviation / (visits.engagements as f64).sqrt();
            assert!((found - expected).abs() < most, "{what}: {found} is not {expected}, within {most}");
        };
        let share = |visit| count(visit) as f64 / decided as f64;
        near(share(Visit::Purchase), 0.4, 0.49);
        near(share(Visit::Save), 0.4, 0.49);
        near(share(Visit::Abandon), 0.2, 0.4);
        // 500 products of 31 words, of which 2500 are different: about Poisson.
        near(visits.matches as f64 / visits.engagements as f64, 6.2, 2.5);
        near(count(Visit::Nothing) as f64 / visits.engagements as f64, (-6.2_f64).exp(), 0.1);
    }

    #[test]
    fn the_shop_is_in_its_steady_state_with_every_collector() {
        for (collector, options) in [
            ("parallel", "VerifyBeforeGC=true"),
            ("mark-compact", "VerifyBeforeGC=true"),
            ("shenandoah", "VerifyBeforeGC=true"),
            ("genshen", "VerifyBeforeGC=true"),
            ("genshen", "ZealMove=true,ZealPoison=true"),
        ] {
            let what = format!("{collector} {options}");
            let run = long_run(collector, 24 << 20, SMALL, options);
            check(&run, &what);
            run.heap_use.heap.verify().unwrap();
            let values = figures(&run.figures, &run.common.workload);
            let collections: f64 = ["gc.young", "gc.full", "gc.concurrent", "gc.degenerated"]
                .into_iter()
                .flat_map(|label| [label.to_string(), format!("start.{label}")])
                .filter_map(|label| values.iter().find(|value| value.label == label))
                .map(|value| value.value)
                .sum();
            assert!(collections >= 1.0, "{what}: {values:?}");
            assert!(value(&values, "preparation.p50") <= value(&values, "preparation.p100"), "{what}");
            assert!(value(&values, "cpu") > 0.0, "{what}");
        }
    }

    #[test]
    fn a_search_for_all_words_finds_fewer_products_than_one_for_any() {
        let mean = |options: &str| {
            let workload = format!("{SMALL} KeywordSearchCount=2 DistinctWords=100 {options}");
            let run = long_run("parallel", 64 << 20, &workload, "");
            let visits = run.figures.visits.clone();
            visits.matches as f64 / visits.engagements as f64
        };
        // A product has a word with 1 - 0.99^31 = 0.268, and two with 0.067: 34 of 500.
        let all = mean("AllowAnyMatch=false");
        assert!((28.0..40.0).contains(&all), "{all}");
        let preferred = mean("AllowAnyMatch=true");
        assert!((28.0..40.0).contains(&preferred), "all words before any: {preferred}");
    }

    #[test]
    fn a_heap_that_is_too_small_is_an_error_and_leaves_nobody_behind() {
        let error = run("parallel", 4 << 20, &format!("{SMALL} NumProducts=5000"), "").err().unwrap();
        let text = format!("{error:#}");
        assert!(text.starts_with("while the shop was built") && text.contains("larger --heap"), "{text}");
        let endless = format!("{SMALL} SimulationDuration=1h");
        let error = run("epsilon", 16 << 20, &endless, "").err().unwrap();
        let text = format!("{error:#}");
        assert!(text.starts_with("while the shop was open") && text.contains("larger --heap"), "{text}");
    }

    #[test]
    fn a_run_that_is_called_off_ends_its_threads() {
        let plan = plan("mark-compact", 64 << 20, SMALL);
        let run = Run::prepare(&plan, plan.builder().unwrap()).unwrap();
        let heap = run.heap_use.heap.clone();
        assert_eq!(heap.metrics().threads.now, 20 + 4 + 1);
        drop(run);
        assert_eq!(heap.metrics().threads.now, 0);
    }
}
