//! A run: a shop in a heap, the threads of the shop, and their work until the last has ended.
//!
//! The controller builds the shop and starts the threads before the shot, as a probe. Its thread is
//! not bound to a CPU, and neither are the threads it starts; they wait for the start in a blocking
//! region. The worker starts the run and waits for its end.

use super::configuration::STACK;
use super::figures::{Figures, figures};
use super::latency::{Arrays, arrays};
use super::plan::Plan;
use super::server::{self, Service};
use super::shop::{Common, OpenShop, Shop};
use super::update::{self, Updates};
use super::visit::{self, Seat, Visits};
use crate::experiments::first_collection::FirstCollection;
use crate::experiments::heap_use::HeapUse;
use crate::experiments::memory::Advice;
use crate::experiments::prepared::{self, Prepared};
use crate::experiments::start::Start;
use crate::harness::{Bench, Iteration, Probe, SecondaryValue};
use crate::machine::process_cpu_time;
use crate::walk::Random;
use allotment::heap::HeapBuilder;
use allotment::{Heap, Mutator, OutOfMemory, Root, root};
use anyhow::{Context, anyhow, bail};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often the controller looks whether a thread has failed.
const LOOK: Duration = Duration::from_millis(100);

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

/// A thread's result; `None` if the run was called off.
type Told = anyhow::Result<Option<Done>>;

/// A run whose threads are ready.
pub(super) struct Run {
    heap: Heap,
    heap_use: HeapUse,
    common: Arc<Common>,
    start: Arc<Start>,
    threads: Vec<JoinHandle<Told>>,
    /// The end of the window right after the start.
    settled: Duration,
    advice: Advice,
    figures: Figures,
}

impl Run {
    /// Makes a heap, builds the shop, and starts the threads.
    fn prepare(plan: &Plan, builder: HeapBuilder) -> anyhow::Result<Run> {
        let first = FirstCollection::default();
        let (heap, heap_use) = HeapUse::listening(builder, first.hook())?;
        let advice = Advice::of(&heap, "a larger --heap, or fewer customers, products or threads fit");
        let workload = plan.configuration.workload.clone();
        let settled = if workload.warmup.is_zero() { workload.customer_period } else { workload.warmup };
        let common = Arc::new(Common::new(workload, first));
        let built = heap.attach(|mutator| build(mutator, &common))?;
        let (shop, logs) = advice.on(built).context("while the shop was built")?;
        let (start, threads) = (Arc::default(), Vec::new());
        let figures = Figures::default();
        let mut run = Run { heap, heap_use, common, start, threads, settled, advice, figures };
        run.start_threads(&shop, logs)?;
        Ok(run)
    }

    fn start_threads(&mut self, shop: &Root<Shop>, logs: Vec<Root<Arrays>>) -> anyhow::Result<()> {
        let workload = &self.common.workload;
        let (customers, all) = (workload.customer_threads, workload.threads());
        let mut seeds = Random::new(u64::from(workload.random_seed));
        let mut logs = logs.into_iter();
        for number in 0..all {
            // There are logs for each customer and each server.
            let (seed, arrays) = (seeds.draw(), logs.next());
            let role = match (arrays, number.checked_sub(customers)) {
                (Some(arrays), None) => Role::Customer(Seat { index: number, seed, arrays }),
                (Some(arrays), Some(index)) => Role::Server(Seat { index, seed, arrays }),
                (None, _) => Role::Update,
            };
            let leaves = Leaves { start: Arc::clone(&self.start), common: Arc::clone(&self.common) };
            let (heap, shop, advice) = (self.heap.clone(), shop.clone(), self.advice);
            let body = move || {
                let told = heap.attach(|mutator| play(mutator, &leaves, shop, role));
                // The heap is dropped first. The thread that waits for all others may then make the
                // next heap.
                drop(heap);
                let told = told.map_err(anyhow::Error::from).and_then(|done| advice.on(done));
                if told.is_err() {
                    leaves.common.schedule.give_up();
                }
                told
            };
            let thread = thread::Builder::new().name(format!("shop {number}")).stack_size(STACK);
            let started = thread.spawn(body);
            self.threads
                .push(started.with_context(|| format!("cannot start thread {} of {all}", number + 1))?);
        }
        self.start.wait_until_ready(all);
        Ok(())
    }

    /// Waits until `time`; returns whether all threads are done before.
    fn wait(&self, time: Instant) -> bool {
        let mut over = false;
        while !over && Instant::now() < time {
            let left = time.saturating_duration_since(Instant::now());
            over = self.start.wait_until_over_for(self.threads.len(), left.min(LOOK));
            self.look();
        }
        over
    }

    /// Wakes the sleeping threads if the run is given up.
    fn look(&self) {
        if self.common.schedule.is_given_up() {
            self.threads.iter().for_each(|thread| thread.thread().unpark());
        }
    }
}

impl Prepared for Run {
    // Lets all threads begin, and waits for the last. In between, at the end of the window right
    // after the start, the figures of that window are taken.
    fn release(&mut self) {
        let threads = self.threads.len();
        self.common.first.begin(&self.heap);
        self.heap_use.before();
        let (began, cpu) = (Instant::now(), process_cpu_time());
        self.common.schedule.start(began);
        self.start.begin();
        let mut over = self.wait(began + self.settled);
        let window = Window { began, cpu };
        self.figures.start = window.values(&mut self.heap_use);
        self.heap_use.before();
        let window = Window { began: Instant::now(), cpu: process_cpu_time() };
        while !over {
            over = self.start.wait_until_over_for(threads, LOOK);
            self.look();
        }
        self.figures.measured = window.values(&mut self.heap_use);
        self.figures.first_waste = self.common.first.end();
    }

    fn gather(&mut self) -> anyhow::Result<()> {
        let count = self.threads.len();
        let (mut joined, mut failed) = (0, None);
        for thread in self.threads.drain(..) {
            match thread.join().unwrap_or_else(|_| Err(anyhow!("panicked"))) {
                Ok(Some(Done::Visits(visits))) => self.figures.visits.merge(&visits),
                Ok(Some(Done::Service(service))) => self.figures.service.merge(&service),
                Ok(Some(Done::Updates(updates))) => self.figures.updates = updates,
                Ok(None) => continue,
                Err(error) => failed = failed.or(Some(error)),
            }
            joined += 1;
        }
        match failed {
            Some(error) => Err(error.context("while the shop was open")),
            None if joined < count => bail!("of {count} threads {} never began", count - joined),
            None => Ok(()),
        }
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

/// Waits for the start, and plays a role.
fn play(
    mutator: &mut Mutator<'_>,
    leaves: &Leaves,
    shop: Root<Shop>,
    role: Role,
) -> Result<Option<Done>, OutOfMemory> {
    root!(mutator, here = shop.get(mutator));
    drop(shop);
    if mutator.blocking(|| leaves.start.wait()).is_none() {
        return Ok(None);
    }
    let open = OpenShop { common: &leaves.common, shop: here };
    Ok(Some(match role {
        Role::Customer(seat) => Done::Visits(visit::play(mutator, open, seat)?.into()),
        Role::Server(seat) => Done::Service(server::play(mutator, open, seat)?.into()),
        Role::Update => Done::Updates(update::play(mutator, open)?),
    }))
}

/// Reports that a thread is done, even if the thread unwinds.
struct Leaves {
    start: Arc<Start>,
    common: Arc<Common>,
}

impl Drop for Leaves {
    fn drop(&mut self) {
        if thread::panicking() {
            self.common.schedule.give_up();
        }
        self.start.leave();
    }
}

impl Drop for Run {
    /// No thread may be left in a heap that is no longer used.
    fn drop(&mut self) {
        self.common.schedule.give_up();
        self.start.call_off();
        self.common.first.end();
        self.look();
        for thread in self.threads.drain(..) {
            // The thread's result is not needed any more.
            drop(thread.join());
        }
    }
}

/// Measures runs of a plan.
///
/// # Errors
/// There is no memory for a heap or a thread, or a thread has failed.
pub(super) fn measure(plan: &Plan, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    prepared::measure(bench, || Run::prepare(plan, plan.builder()?))
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
        // Six deviations of what so many draws have.
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
            run.heap.verify().unwrap();
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
        let heap = run.heap.clone();
        assert_eq!(heap.metrics().threads.now, 20 + 4 + 1);
        drop(run);
        assert_eq!(heap.metrics().threads.now, 0);
    }
}
