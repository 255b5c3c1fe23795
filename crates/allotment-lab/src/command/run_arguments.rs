//! The arguments of `allotment run`, except the flags of the experiments' axes.

use super::JvmArguments;
use super::measuring::MeasuringArguments;
use crate::format::time;
use crate::harness::{JmhMode, Neighbours, Pin, Selection, Settings, Watch};
use std::path::PathBuf;
use std::time::Duration;

/// The arguments of `allotment run`.
#[derive(Clone, Debug, clap::Args)]
pub struct RunArguments {
    /// Names of experiments, or `all` of them; `allotment list` shows them.
    #[arg(required = true, value_name = "EXPERIMENT")]
    pub experiments: Vec<String>,

    /// Measure a smaller grid with shorter times, for a first look.
    #[arg(long)]
    pub quick: bool,

    /// Measure every value of every parameter instead of a coarse choice; may take hours.
    #[arg(long, conflicts_with = "quick")]
    pub full: bool,

    /// Numbers of measuring threads [default: powers of two up to the number of CPUs; with --quick 1
    /// and the number of CPUs; some experiments have their own].
    #[arg(long, value_delimiter = ',', value_name = "N,..", value_parser = threads)]
    pub threads: Vec<usize>,

    /// Modes of the experiments [default: all; with --quick without the slow ones].
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pub mode: Vec<String>,

    /// JMH modes: thrpt, avgt, sample or ss [default: each experiment's own].
    #[arg(long, value_delimiter = ',', value_name = "MODE,..")]
    pub jmh_mode: Vec<JmhMode>,

    /// Values for parameters: name=value,value,name=value.
    #[arg(long = "param", short = 'p', value_name = "NAME=VALUE,..")]
    pub params: Vec<String>,

    /// The rows that the last column compares with: mode=NAME, threads=N, jvm=NAME, PARAMETER=VALUE
    /// or none [default: each experiment's own].
    #[arg(long, value_name = "WHAT=VALUE")]
    pub baseline: Option<String>,

    /// Processes per case [default: 3; with --quick 2].
    #[arg(long, short = 'f', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub forks: Option<u32>,

    /// Warm-up iterations per process [default: 2, single shots 1; with --quick 1 and 0].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub warmup_iterations: Option<u32>,

    /// Time of a warm-up iteration [default: 300ms; with --quick 100ms].
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub warmup_time: Option<Duration>,

    /// Measured iterations per process [default: 5, single shots 3; with --quick 3 and 2].
    #[arg(long, short = 'i', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub iterations: Option<u32>,

    /// Time of a measured iteration [default: 300ms; with --quick 100ms].
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub time: Option<Duration>,

    /// Kill a process that reports nothing for the time of an iteration and this time.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time::parse)]
    pub timeout: Duration,

    /// Measure each case alone and beside N threads that read SIZE bytes of memory each, in random
    /// order or line by line [order: random].
    #[arg(long, value_name = "N:SIZE[:random|sequential]")]
    pub neighbours: Option<Neighbours>,

    /// When to bind each measuring thread to a CPU of its own.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub pin: Pin,

    /// Before each process, wait until two CPUs do the work of two cores, but at most TIME [default:
    /// do not wait].
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub await_cpus: Option<Duration>,

    /// Count events per operation: auto, or names and codes that `allotment counters` lists.
    #[arg(long, value_name = "LIST", value_delimiter = ',', num_args = 0..=1, require_equals = true, default_missing_value = "auto")]
    pub counters: Option<Vec<String>>,

    /// Run one more process per case, sample it, and print the hottest instructions.
    #[arg(long)]
    pub profile: bool,

    /// Write the results to this file, in JMH's JSON format.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write the results to this file, in JMH's CSV format.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Write a page with charts and verdicts to this file, as `allotment report` does.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Print the cases and the estimated time of each, and measure nothing.
    #[arg(long)]
    pub plan: bool,

    /// The lock, and the progress on standard error.
    #[command(flatten)]
    pub measuring: MeasuringArguments,

    /// Java virtual machines beside the heap.
    #[command(flatten)]
    pub jvm: JvmArguments,

    /// Values from the flags that the experiments' axes bring.
    #[arg(skip)]
    pub values: Vec<(String, Vec<String>)>,
}

/// Reads a number of threads. The grid checks whether it is too large.
fn threads(text: &str) -> Result<usize, String> {
    let number = text.trim().parse();
    number.map_err(|_| format!("`{text}` is not a number of threads; write a whole number from 1 on"))
}

impl RunArguments {
    /// The grid that the user chose.
    pub fn selection(&self) -> Selection {
        Selection {
            modes: self.mode.clone(),
            jmh_modes: self.jmh_mode.clone(),
            threads: self.threads.clone(),
            values: self.values.clone(),
            quick: self.quick,
            full: self.full,
        }
    }

    /// The times that the user chose.
    pub fn settings(&self) -> Settings {
        Settings {
            quick: self.quick,
            forks: self.forks,
            warmup_iterations: self.warmup_iterations,
            warmup_time: self.warmup_time,
            iterations: self.iterations,
            time: self.time,
            pin: self.pin,
            await_cpus: self.await_cpus,
            watch: Watch::default(),
        }
    }
}
