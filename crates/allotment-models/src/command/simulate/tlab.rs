//! `allotment simulate tlab`: threads that wait for memory.
//!
//! A scenario is like an experiment (`--like`), and each of its numbers can be another one. An
//! option that was not given has no value here, so that the scenario's own stays.

use super::tlab_figures::{answers, to_csv, to_json, to_text};
use super::{print_speed, replace_given};
use crate::tlab_simulation::{
    Arrival, CollectorModel, Like, Outcome, Rebuild, Scenario, Shop, concurrent_workers, simulate as run,
};
use allotment::options::TlabPolicy;
use allotment_report::command::{Failure, print, print_answers};
use allotment_report::format::{OutputFile, check_files, named_files, number, time};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The arguments of `allotment simulate tlab`.
#[derive(Clone, Debug, clap::Args)]
pub struct TlabArguments {
    /// The experiment that gives the defaults of threads, machine, heap and costs.
    #[arg(long, value_name = "EXPERIMENT", default_value = "storm")]
    like: Like,

    /// The configuration of `extremem` [default: loaded].
    #[arg(long, value_name = "NAME")]
    config: Option<Shop>,

    /// Simulate these policies of buffer sizes [default: all six].
    #[arg(long, value_delimiter = ',', value_name = "NAME,..", value_parser = policy)]
    policy: Vec<TlabPolicy>,

    /// The seed of random sizes and gaps.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Write the figures to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the figures to this file as CSV.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    machine: Machine,

    #[command(flatten)]
    heap: Heap,

    #[command(flatten)]
    costs: Costs,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Threads")]
struct Threads {
    /// Number of threads.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// When threads begin their operations.
    #[arg(long, value_name = "HOW")]
    arrival: Option<Arrival>,
    /// The sleep between two operations, the period of a schedule, or the mean gap.
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pace: Option<Duration>,
    /// The sleep within an operation; 0: no sleep. The time of an operation is that of the part before
    /// the sleep.
    #[arg(long, value_name = "TIME", value_parser = time::parse_or_zero)]
    think: Option<Duration>,
    /// Percentage of an operation that comes before that sleep.
    #[arg(long, value_name = "PERCENT")]
    split: Option<u32>,
    /// Operations of each thread.
    #[arg(long, value_name = "N")]
    operations: Option<u64>,
    /// The time after which no operation is planned; a late thread still does its own.
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    duration: Option<Duration>,
    /// Operations that begin earlier are not counted; 0: all count.
    #[arg(long, value_name = "TIME", value_parser = time::parse_or_zero)]
    warm_up: Option<Duration>,
    /// Operations of one thread alone, before all begin.
    #[arg(long, value_name = "N")]
    before: Option<u64>,
    /// Bytes that an operation allocates.
    #[arg(long, value_name = "BYTES", value_parser = number::parse_size)]
    bytes: Option<u64>,
    /// Bytes of an object: one size, or all from the smallest to the largest.
    #[arg(long, value_name = "BYTES[..BYTES]", value_parser = sizes)]
    objects: Option<(u64, u64)>,
    /// CPU time of an operation.
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    cpu: Option<Duration>,
    /// Extra CPU time of a thread's first operation.
    #[arg(long, value_name = "TIME", value_parser = time::parse_or_zero)]
    first: Option<Duration>,
    /// Percentage of what an operation allocates that stays alive for a while.
    #[arg(long, value_name = "PERCENT")]
    survives: Option<f64>,
    /// The most bytes that one thread keeps alive of that percentage.
    #[arg(long, value_name = "BYTES", value_parser = number::parse_size)]
    keeps: Option<u64>,
    /// Bytes that one more thread allocates to replace old objects; 0: there is no such thread.
    #[arg(long, value_name = "BYTES", value_parser = number::parse_size)]
    rebuild: Option<u64>,
    /// Bytes of a rebuild that stay alive, in the place of others.
    #[arg(long, value_name = "BYTES", value_parser = number::parse_size)]
    rebuild_keeps: Option<u64>,
    /// The time between two rebuilds.
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    rebuild_every: Option<Duration>,
    /// CPU time of a rebuild.
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    rebuild_cpu: Option<Duration>,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Machine")]
struct Machine {
    /// Number of CPUs.
    #[arg(long, value_name = "N")]
    cpus: Option<usize>,
    /// How long a thread has a CPU while others want it.
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    time_slice: Option<Duration>,
    /// The time from the end of a sleep until a thread wants a CPU.
    #[arg(long, value_name = "TIME", value_parser = time::parse_or_zero)]
    wake_up: Option<Duration>,
    /// CPU time from one thread to the next on a CPU.
    #[arg(long, value_name = "TIME", value_parser = time::parse_or_zero)]
    switch: Option<Duration>,
    /// CPU time of a refill.
    #[arg(long, value_name = "TIME", value_parser = time::parse_or_zero)]
    refill: Option<Duration>,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Heap and collector")]
struct Heap {
    /// Bytes of the heap.
    #[arg(long, value_name = "BYTES", value_parser = number::parse_size)]
    heap: Option<u64>,
    /// Bytes of a region; 0: the heap chooses.
    #[arg(long = "region-size", value_name = "BYTES", value_parser = number::parse_size)]
    region: Option<u64>,
    /// Bytes that stay alive.
    #[arg(long, value_name = "BYTES", value_parser = number::parse_size)]
    live: Option<u64>,
    /// The collector.
    #[arg(long, value_name = "MODEL")]
    collector: Option<CollectorModel>,
    /// Workers in a stop [default: as many as CPUs].
    #[arg(long = "parallel-gc-threads", value_name = "N")]
    workers: Option<usize>,
    /// Workers beside threads [default: a quarter of the CPUs].
    #[arg(long = "conc-gc-threads", value_name = "N")]
    concurrent_workers: Option<usize>,
    /// Percentage of the memory without live objects that is eden, with --collector parallel.
    #[arg(long, value_name = "PERCENT")]
    eden: Option<u32>,
    /// Bytes of a first buffer; 0: the policy chooses.
    #[arg(long, value_name = "BYTES", value_parser = number::parse_size)]
    tlab_size: Option<u64>,
    /// Bytes of the largest buffer; 0: the policy chooses.
    #[arg(long, value_name = "BYTES", value_parser = number::parse_size)]
    max_tlab_size: Option<u64>,
    /// Percentage of the heap that idle buffers may hold, with --policy adaptive.
    #[arg(long = "tlab-idle-percent", value_name = "PERCENT")]
    idle_percent: Option<f64>,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Costs of one worker, instead of the experiment's")]
struct Costs {
    /// The time of a pause.
    #[arg(long, value_name = "TIME", value_parser = time::parse_or_zero)]
    pause: Option<Duration>,
    /// The time of a stop, for each thread.
    #[arg(long = "stop-thread", value_name = "TIME", value_parser = time::parse_or_zero)]
    thread: Option<Duration>,
    /// The time of a visit of the roots of a thread.
    #[arg(long, value_name = "TIME", value_parser = time::parse_or_zero)]
    visit: Option<Duration>,
    /// Marking a KiB, in ns.
    #[arg(long, value_name = "NS")]
    mark: Option<f64>,
    /// Copying a KiB, in ns.
    #[arg(long, value_name = "NS")]
    copy: Option<f64>,
    /// Updating the references in a KiB, in ns.
    #[arg(long, value_name = "NS")]
    update: Option<f64>,
    /// A full collection of a KiB, in ns.
    #[arg(long, value_name = "NS")]
    full: Option<f64>,
}

/// Reads a policy.
fn policy(text: &str) -> Result<TlabPolicy, String> {
    let named = TlabPolicy::ALL.iter().copied().find(|policy| policy.name() == text);
    named.ok_or_else(|| {
        let names: Vec<&str> = TlabPolicy::ALL.iter().map(|policy| policy.name()).collect();
        format!("`{text}` is not a policy; the policies are {}", names.join(", "))
    })
}

/// Reads `48` or `16..144`.
fn sizes(text: &str) -> Result<(u64, u64), String> {
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    Ok((number::parse_size(least)?, number::parse_size(most)?))
}

impl TlabArguments {
    /// The scenario, with the first policy.
    ///
    /// # Errors
    /// Options that contradict each other.
    fn scenario(&self) -> Result<Scenario, Failure> {
        let mut scenario = match (self.like, self.config) {
            (Like::Storm, None) => Scenario::storm(),
            (Like::Extremem, shop) => Scenario::extremem(shop.unwrap_or(Shop::Loaded)),
            (Like::Storm, Some(_)) => {
                return Err(Failure::Usage("--config is of --like extremem; a storm has none".into()));
            }
        };
        if let Some(cpus) = self.machine.cpus {
            (scenario.workers, scenario.concurrent_workers) = (cpus, concurrent_workers(cpus));
        }
        self.threads.apply(&mut scenario)?;
        replace_given!(scenario, self.machine, [cpus, time_slice, wake_up, switch, refill]);
        replace_given!(scenario, self.heap, [heap, region, live, collector, workers, concurrent_workers]);
        replace_given!(scenario, self.heap, [eden, tlab_size, max_tlab_size, idle_percent]);
        replace_given!(scenario.costs, self.costs, [pause, thread, visit, mark, copy, update, full]);
        scenario.seed = self.seed;
        Ok(scenario)
    }
}

impl Threads {
    fn apply(&self, scenario: &mut Scenario) -> Result<(), Failure> {
        replace_given!(
            scenario,
            self,
            [threads, arrival, think, split, operations, duration, warm_up, before]
        );
        replace_given!(scenario, self, [bytes, objects, cpu, first, survives, keeps]);
        if scenario.arrival == Arrival::Steady {
            scenario.pace = Duration::ZERO;
        }
        replace_given!(scenario, self, [pace]);
        if self.rebuild == Some(0) {
            scenario.rebuild = None;
        } else if let Some(bytes) = self.rebuild {
            let every = scenario.rebuild.map_or(Duration::from_secs(30), |rebuild| rebuild.every);
            let cpu = Duration::from_nanos(bytes.saturating_mul(9));
            scenario.rebuild = Some(Rebuild { bytes, keeps: bytes / 10 * 7, every, cpu });
        }
        let parts =
            self.rebuild_keeps.is_some() || self.rebuild_every.is_some() || self.rebuild_cpu.is_some();
        match &mut scenario.rebuild {
            Some(rebuild) => {
                rebuild.keeps = self.rebuild_keeps.unwrap_or(rebuild.keeps);
                rebuild.every = self.rebuild_every.unwrap_or(rebuild.every);
                rebuild.cpu = self.rebuild_cpu.unwrap_or(rebuild.cpu);
                Ok(())
            }
            None if parts => Err(Failure::Usage(
                "--rebuild-keeps, --rebuild-every and --rebuild-cpu are of a rebuild: write --rebuild BYTES"
                    .into(),
            )),
            None => Ok(()),
        }
    }
}

/// Simulates each policy, and prints a table.
pub(super) fn simulate(arguments: &TlabArguments) -> Result<(), Failure> {
    let scenario = arguments.scenario()?;
    scenario.check().map_err(|error| Failure::Usage(error.to_string()))?;
    let outputs = [("--json", &arguments.json), ("--csv", &arguments.csv)];
    check_files(&[], &named_files(&outputs))?;
    let json = arguments.json.as_deref().map(OutputFile::open).transpose()?;
    let csv = arguments.csv.as_deref().map(OutputFile::open).transpose()?;
    let policies = if arguments.policy.is_empty() { TlabPolicy::ALL } else { &arguments.policy };
    let start = Instant::now();
    let outcomes: Vec<Outcome> = policies
        .iter()
        .map(|policy| run(&Scenario { policy: *policy, ..scenario }))
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let time = start.elapsed();
    let json = json.map(|file| -> anyhow::Result<()> { Ok(file.write(&to_json(&outcomes)?)?) }).transpose();
    let csv = csv.map(|file| file.write(to_csv(&outcomes).as_bytes())).transpose();
    // All outputs are tried before the error of one is returned.
    print(&to_text(&scenario, &outcomes))?;
    json?;
    csv?;
    let count = outcomes.iter().map(|outcome| outcome.operations).sum();
    print_speed(count, "operations", time);
    print_answers(&answers(&scenario, &outcomes))
}
