//! `allotment simulate coherence`: caches under contention.

use super::{name, print_speed, replace_given};
use crate::coherence::{
    Arbitration, CoherenceOutcome, CoherenceScenario, Counters, Geometry, Latencies, Model, Pattern, Protocol,
};
use allotment_report::command::{Failure, print, wrapped};
use allotment_report::format::{Layout, number, width};
use clap::ValueEnum;
use std::fmt::Write as _;
use std::time::Instant;

/// The arguments of `allotment simulate coherence`.
#[derive(Clone, Debug, clap::Args)]
pub struct CoherenceArguments {
    /// Simulate each of these numbers of cores, 1 to 256.
    #[arg(long, value_delimiter = ',', value_name = "N,..", default_value = "1,2,4,8,16",
          value_parser = clap::value_parser!(u16).range(1..=256))]
    cores: Vec<u16>,

    /// Simulate these coherence protocols [default: all].
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    protocol: Vec<Protocol>,

    /// Simulate these ways to allocate [default: all].
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pattern: Vec<Pattern>,

    /// Number of objects that each core allocates.
    #[arg(long, value_name = "N", default_value_t = 4000)]
    operations: u64,

    /// Bytes of an object: a multiple of 8 from 16 to 64k.
    #[arg(long, value_name = "BYTES", default_value = "16", value_parser = number::parse_size)]
    size: u64,

    /// Bytes of a core's buffer: a multiple of 8, at most 16m.
    #[arg(long, value_name = "BYTES", default_value = "16k", value_parser = number::parse_size)]
    buffer: u64,

    /// The seed of the cores' beginnings and of random arbitration.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Which of the cores that queue for a line gets it.
    #[arg(long, value_name = "WHO", default_value = "random")]
    arbitration: Arbitration,

    /// The machine that gives the defaults of latencies and cache sizes.
    #[arg(long, value_name = "MACHINE", default_value = "client")]
    model: Model,

    /// Measure the cost of handing over a line on this machine, and scale forward, hitm and upgrade to
    /// it.
    #[arg(long)]
    calibrate: bool,

    #[command(flatten)]
    latencies: LatencyArguments,
}

/// Latencies that are not the model's.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Latencies in cycles, instead of the model's")]
struct LatencyArguments {
    /// A hit in the first cache.
    #[arg(long, value_name = "CYCLES")]
    l1: Option<u64>,
    /// A hit in the second.
    #[arg(long, value_name = "CYCLES")]
    l2: Option<u64>,
    /// A clean line from the shared cache.
    #[arg(long, value_name = "CYCLES")]
    l3: Option<u64>,
    /// A clean line from another core.
    #[arg(long, value_name = "CYCLES")]
    forward: Option<u64>,
    /// A modified line from another core.
    #[arg(long, value_name = "CYCLES")]
    hitm: Option<u64>,
    /// To invalidate others' copies.
    #[arg(long, value_name = "CYCLES")]
    upgrade: Option<u64>,
    /// A line from memory.
    #[arg(long, value_name = "CYCLES")]
    memory: Option<u64>,
    /// A locked instruction on a line at hand.
    #[arg(long, value_name = "CYCLES")]
    lock: Option<u64>,
    /// How long a core keeps a line that it has just received.
    #[arg(long, value_name = "CYCLES")]
    keep: Option<u64>,
}

/// The cost of handing over a cache line on the machine at hand.
#[derive(Clone, Debug)]
pub struct HandOver {
    /// Cycles of the time stamp counter; `None` where it cannot be measured.
    pub cycles: Option<f64>,
    /// The measurement, or why there is none: words that follow the name of the default latencies.
    pub told: String,
}

/// A scenario that was simulated.
struct Run {
    scenario: CoherenceScenario,
    outcome: CoherenceOutcome,
}

/// Simulates and prints a table.
///
/// # Errors
/// [`Failure::Usage`] for numbers that cannot be simulated; [`Failure::Failed`] if threads cannot
/// be bound for calibration; standard output is closed or full.
pub(super) fn simulate(
    arguments: &CoherenceArguments,
    measure: impl FnOnce() -> Result<HandOver, Failure>,
) -> Result<(), Failure> {
    let mut latencies = Latencies::of(arguments.model);
    let mut source = format!("the defaults of `{}`", name(&arguments.model));
    if arguments.calibrate {
        let HandOver { cycles, told } = measure()?;
        latencies = cycles.map_or(latencies, |cycles| latencies.calibrated(cycles));
        source = format!("{source}{told}");
    }
    replace_given!(latencies, arguments.latencies, [l1, l2, l3, forward, hitm, upgrade, memory, lock, keep]);
    let start = Instant::now();
    let runs: Vec<Run> = arguments
        .scenarios(latencies)
        .into_iter()
        .map(|scenario| Ok(Run { scenario, outcome: scenario.run()? }))
        .collect::<Result<_, crate::ScenarioError>>()
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let time = start.elapsed();
    print(&text(&runs, arguments, &latencies, &source))?;
    let operations: u64 = runs.iter().map(|run| run.outcome.counters.memory_operations).sum();
    print_speed(operations, "memory operations", time);
    Ok(())
}

/// The named values, or all values if none was named.
fn chosen<T: ValueEnum>(named: &[T]) -> Vec<T> {
    if named.is_empty() { T::value_variants().to_vec() } else { named.to_vec() }
}

impl CoherenceArguments {
    /// The scenarios by cores, protocol and pattern, `tlab` first.
    fn scenarios(&self, latencies: Latencies) -> Vec<CoherenceScenario> {
        let mut patterns = chosen(&self.pattern);
        if !patterns.contains(&Pattern::Tlab) {
            // All other patterns are compared with `Tlab`.
            patterns.insert(0, Pattern::Tlab);
        }
        let (protocols, geometry) = (chosen(&self.protocol), Geometry::of(self.model));
        let mut scenarios = Vec::new();
        for &cores in &self.cores {
            for &protocol in &protocols {
                scenarios.extend(patterns.iter().map(|&pattern| CoherenceScenario {
                    pattern,
                    protocol,
                    cores: cores.into(),
                    operations: self.operations,
                    size: self.size,
                    buffer: self.buffer,
                    latencies,
                    geometry,
                    arbitration: self.arbitration,
                    seed: self.seed,
                }));
            }
        }
        scenarios
    }
}

/// The description of the simulation, and the table.
fn text(runs: &[Run], arguments: &CoherenceArguments, latencies: &Latencies, source: &str) -> String {
    let Latencies { l1, l2, l3, forward, hitm, upgrade, memory, lock, keep } = latencies;
    let mut text = String::from(
        "A model, not a measurement: read the order of the rows and the ratios, not the cycles.\n\n",
    );
    let _ = writeln!(
        text,
        "{} objects of {} bytes per core, buffers of {}, {} arbitration, seed {}",
        arguments.operations,
        arguments.size,
        number::size(arguments.buffer),
        name(&arguments.arbitration),
        arguments.seed
    );
    let _ = writeln!(text, "latencies: {source}");
    let _ = writeln!(
        text,
        "  l1 {l1}, l2 {l2}, l3 {l3}, forward {forward}, hitm {hitm}, upgrade {upgrade}, memory {memory}, \
         lock {lock}, keep {keep} cycles\n"
    );
    wrapped(&text) + &table(runs)
}

/// A row for each run. Its ratios are to the run of `tlab` on the same machine.
fn table(runs: &[Run]) -> String {
    /// A column: its head, and its cell for a run and the run of `tlab`.
    type Column = (&'static str, fn(&Run, Option<&CoherenceOutcome>) -> String);
    fn ratio(run: &Run, tlab: Option<&CoherenceOutcome>, of: fn(&CoherenceOutcome) -> f64) -> String {
        format!("{:.2}x", of(&run.outcome) / tlab.map_or(f64::NAN, of))
    }
    fn rate(run: &Run, of: fn(&Counters) -> u64) -> String {
        format!("{:.3}", run.outcome.per_operation(of(&run.outcome.counters)))
    }
    let columns: [Column; 13] = [
        ("Pattern", |run, _| name(&run.scenario.pattern)),
        ("Protocol", |run, _| name(&run.scenario.protocol)),
        ("Cores", |run, _| run.scenario.cores.to_string()),
        ("cycles/op", |run, _| format!("{:.1}", run.outcome.cycles_per_operation())),
        ("vs tlab", |run, tlab| ratio(run, tlab, CoherenceOutcome::cycles_per_operation)),
        ("stalls/op", |run, _| format!("{:.1}", run.outcome.stalls_per_operation())),
        ("vs tlab", |run, tlab| ratio(run, tlab, CoherenceOutcome::stalls_per_operation)),
        ("attempts", |run, _| format!("{:.2}", run.outcome.attempts_per_success())),
        ("HITM/op", |run, _| rate(run, |counters| counters.hitm)),
        ("inval./op", |run, _| rate(run, |counters| counters.invalidations)),
        ("upgr./op", |run, _| rate(run, |counters| counters.upgrades)),
        ("trans./op", |run, _| rate(run, |counters| counters.transitions)),
        ("writeb./op", |run, _| rate(run, |counters| counters.write_backs)),
    ];
    let row = |run: &Run| {
        let CoherenceScenario { cores, protocol, .. } = run.scenario;
        let is_tlab = |other: &&Run| {
            let CoherenceScenario { pattern, .. } = other.scenario;
            pattern == Pattern::Tlab && (other.scenario.cores, other.scenario.protocol) == (cores, protocol)
        };
        let tlab = runs.iter().find(is_tlab).map(|tlab| &tlab.outcome);
        columns.iter().map(|(_, cell)| cell(run, tlab)).collect()
    };
    let rows = runs.iter().map(row).collect();
    let header = columns.map(|(head, _)| head.to_string()).to_vec();
    Layout { header, rows, words: vec![0, 1] }.text(width::of_output())
}
