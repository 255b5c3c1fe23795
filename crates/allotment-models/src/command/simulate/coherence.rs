//! `allotment simulate coherence`: caches under contention.

use super::{SaysTime, name};
use crate::coherence::{Arbitration, Geometry, Latencies, Model, Outcome, Pattern, Protocol, Scenario};
use allotment_report::command::wrapped;
use allotment_report::command::{Failure, print};
use allotment_report::format::{Layout, number, width};
use clap::ValueEnum;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Instant;

/// The arguments of `allotment simulate coherence`.
#[derive(Clone, Debug, clap::Args)]
pub struct CoherenceArguments {
    /// Numbers of cores, 1 to 256.
    #[arg(long, value_delimiter = ',', value_name = "N,..", default_value = "1,2,4,8,16",
          value_parser = clap::value_parser!(u16).range(1..=256))]
    cores: Vec<u16>,

    /// How caches talk [default: all].
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    protocol: Vec<Protocol>,

    /// How cores get memory [default: all].
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pattern: Vec<Pattern>,

    /// Objects that each core allocates.
    #[arg(long, value_name = "N", default_value_t = 4000)]
    operations: u64,

    /// Bytes of an object: a multiple of 8.
    #[arg(long, value_name = "BYTES", default_value = "16", value_parser = number::parse_size)]
    size: u64,

    /// Bytes of a core's buffer: a multiple of 8.
    #[arg(long, value_name = "BYTES", default_value = "16k", value_parser = number::parse_size)]
    buffer: u64,

    /// When cores begin, and who wins at random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Who of those that queue for a line gets it.
    #[arg(long, value_name = "WHO", default_value = "random")]
    arbitration: Arbitration,

    /// Whose latencies and sizes the defaults are.
    #[arg(long, value_name = "MACHINE", default_value = "client")]
    model: Model,

    /// Measure what handing over a line costs here, and scale forward, hitm and upgrade to it.
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

impl LatencyArguments {
    fn over(&self, model: Latencies) -> Latencies {
        Latencies {
            l1: self.l1.unwrap_or(model.l1),
            l2: self.l2.unwrap_or(model.l2),
            l3: self.l3.unwrap_or(model.l3),
            forward: self.forward.unwrap_or(model.forward),
            hitm: self.hitm.unwrap_or(model.hitm),
            upgrade: self.upgrade.unwrap_or(model.upgrade),
            memory: self.memory.unwrap_or(model.memory),
            lock: self.lock.unwrap_or(model.lock),
            keep: self.keep.unwrap_or(model.keep),
        }
    }
}

/// What handing over a cache line costs on the machine at hand.
#[derive(Clone, Debug)]
pub struct HandOver {
    /// Cycles of the time stamp counter; `None` where it cannot be measured.
    pub cycles: Option<f64>,
    /// What was measured, or why nothing was: words that follow the name of the default latencies.
    pub told: String,
}

/// A scenario, and its outcome.
type Run = (Scenario, Outcome);

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
    let latencies = arguments.latencies.over(latencies);
    let start = Instant::now();
    let runs: Vec<Run> = arguments
        .scenarios(latencies)
        .into_iter()
        .map(|scenario| Ok((scenario, scenario.run()?)))
        .collect::<Result<_, crate::coherence::ScenarioError>>()
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let time = start.elapsed();
    print(&text(&runs, arguments, &latencies, &source))?;
    let operations: u64 = runs.iter().map(|(_, outcome)| outcome.counters.memory_operations).sum();
    SaysTime { count: operations, what: "memory operations", time }.say();
    Ok(())
}

/// The named values, or all values if none was named.
fn chosen<T: ValueEnum>(named: &[T]) -> Vec<T> {
    if named.is_empty() { T::value_variants().to_vec() } else { named.to_vec() }
}

impl CoherenceArguments {
    /// The scenarios by cores, protocol and pattern, `tlab` first.
    fn scenarios(&self, latencies: Latencies) -> Vec<Scenario> {
        let mut patterns = chosen(&self.pattern);
        if !patterns.contains(&Pattern::Tlab) {
            // All other patterns are compared with `Tlab`.
            patterns.insert(0, Pattern::Tlab);
        }
        let (protocols, geometry) = (chosen(&self.protocol), Geometry::of(self.model));
        let mut scenarios = Vec::new();
        for &cores in &self.cores {
            for &protocol in &protocols {
                scenarios.extend(patterns.iter().map(|&pattern| Scenario {
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

fn table(runs: &[Run]) -> String {
    let header = [
        "Pattern",
        "Protocol",
        "Cores",
        "cycles/op",
        "vs tlab",
        "stalls/op",
        "vs tlab",
        "attempts",
        "HITM/op",
        "inval./op",
        "upgr./op",
        "trans./op",
        "writeb./op",
    ];
    let mut rows = Vec::new();
    let mut tlab: HashMap<(usize, String), (f64, f64)> = HashMap::new();
    for (scenario, outcome) in runs {
        let counters = &outcome.counters;
        let per = |sum: u64| outcome.per_operation(sum);
        let (cycles, stalls) = (outcome.cycles_per_operation(), per(counters.stall_cycles));
        let machine = (scenario.cores, scenario.protocol.to_string());
        if scenario.pattern == Pattern::Tlab {
            tlab.insert(machine.clone(), (cycles, stalls));
        }
        let base = tlab.get(&machine).copied().unwrap_or((f64::NAN, f64::NAN));
        rows.push(vec![
            scenario.pattern.to_string(),
            scenario.protocol.to_string(),
            scenario.cores.to_string(),
            format!("{cycles:.1}"),
            format!("{:.2}x", cycles / base.0),
            format!("{stalls:.1}"),
            format!("{:.2}x", stalls / base.1),
            format!("{:.2}", outcome.attempts_per_success()),
            format!("{:.3}", per(counters.hitm())),
            format!("{:.3}", per(counters.invalidations)),
            format!("{:.3}", per(counters.upgrades)),
            format!("{:.3}", per(counters.all_transitions())),
            format!("{:.3}", per(counters.write_backs)),
        ]);
    }
    Layout { header: header.map(String::from).to_vec(), rows, words: vec![0, 1] }.text(width::of_output())
}
