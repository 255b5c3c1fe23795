//! The arguments of `allotment run`, except the flags of the experiments' axes.

use super::JvmArguments;
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

    /// A smaller grid and shorter times, for a first look.
    #[arg(long)]
    pub quick: bool,

    /// Every value of every parameter instead of a coarse choice; may take hours.
    #[arg(long, conflicts_with = "quick")]
    pub full: bool,

    /// Numbers of threads.
    #[arg(long, value_delimiter = ',', value_name = "N,..", value_parser = threads)]
    pub threads: Vec<usize>,

    /// Only these modes of the experiments.
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pub mode: Vec<String>,

    /// JMH modes instead of the experiments' own choice.
    #[arg(long, value_delimiter = ',', value_name = "MODE,..")]
    pub jmh_mode: Vec<JmhMode>,

    /// Values for parameters: name=value,value,name=value.
    #[arg(long = "param", short = 'p', value_name = "NAME=VALUE,..")]
    pub params: Vec<String>,

    /// What the last column compares with: mode=NAME, threads=N, jvm=NAME, PARAMETER=VALUE or none.
    #[arg(long, value_name = "WHAT=VALUE")]
    pub baseline: Option<String>,

    /// Processes per case [default: 3, quick 2].
    #[arg(long, short = 'f', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub forks: Option<u32>,

    /// Warm-up iterations per process [default: 2, quick 1; single shots 1, quick 0].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub warmup_iterations: Option<u32>,

    /// Time of a warm-up iteration [default: 300ms, quick 100ms].
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub warmup_time: Option<Duration>,

    /// Measured iterations per process [default: 5, quick 3; single shots 3, quick 2].
    #[arg(long, short = 'i', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub iterations: Option<u32>,

    /// Time of a measured iteration [default: 300ms, quick 100ms].
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub time: Option<Duration>,

    /// How long a process may say nothing, besides the time of an iteration.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time::parse)]
    pub timeout: Duration,

    /// Measure each case alone and beside N threads that walk SIZE bytes each, in any order or one
    /// line after the other.
    #[arg(long, value_name = "N:SIZE[:random|sequential]")]
    pub neighbours: Option<Neighbours>,

    /// Bind threads to CPUs.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub pin: Pin,

    /// Begin each process, JVMs too, when two CPUs do what two do, and after TIME at the latest.
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    pub await_cpus: Option<Duration>,

    /// Count events per operation: auto, names or codes, as `allotment counters` lists them.
    #[arg(long, value_name = "LIST", value_delimiter = ',', num_args = 0..=1, require_equals = true, default_missing_value = "auto")]
    pub counters: Option<Vec<String>>,

    /// Sample one more process per case, and print the hottest instructions.
    #[arg(long)]
    pub profile: bool,

    /// Write the results as JMH writes its JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write the results as JMH writes its CSV.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Write a page with charts and verdicts, as `allotment report` makes it.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Print the cases and about how long each takes, and measure nothing.
    #[arg(long)]
    pub plan: bool,

    /// Measure even if another allotment measures on this machine.
    #[arg(long)]
    pub ignore_lock: bool,

    /// No progress and no estimate on standard error.
    #[arg(long)]
    pub quiet: bool,

    /// Java virtual machines beside the heap.
    #[command(flatten)]
    pub jvm: JvmArguments,

    /// Values from the flags that the experiments' axes bring.
    #[arg(skip)]
    pub values: Vec<(String, Vec<String>)>,
}

/// Reads a number of threads. The grid decides whether so many can be measured.
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
