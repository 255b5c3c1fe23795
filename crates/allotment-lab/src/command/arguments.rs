//! Reading the command line.

use super::{
    AsmArguments, CompareArguments, Failure, JvmArguments, ReportArguments, Simulation, TlabLogArguments,
};
use crate::format::time;
use crate::harness::neighbours::{NEIGHBOURS, NONE};
use crate::harness::{Baseline, Experiment, JVM, JmhMode, Kind, Neighbours, Pin, Selection, Settings, Watch};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What the user asks for.
#[derive(Debug)]
pub enum Command {
    /// Which experiments there are.
    List,
    /// Measure.
    Run(Box<RunArguments>),
    /// Make a page of results.
    Report(ReportArguments),
    /// Compare results.
    Compare(CompareArguments),
    /// Recommend options for this machine.
    Tune(TuneArguments),
    /// What machine this is.
    Machine,
    /// What can be counted on it.
    Counters,
    /// Which options the heap has.
    Options,
    /// What an allocation becomes.
    Asm(Box<AsmArguments>),
    /// What a JVM's log of its buffers says.
    TlabLog(Box<TlabLogArguments>),
    /// What another machine would do.
    Simulate(Simulation),
    /// Be a fork of a run.
    Fork,
    /// Be the neighbours of a fork.
    Neighbour,
    /// Help or version, ready to print.
    Told(String),
}

#[derive(Debug, Parser)]
#[command(name = "allotment", version, about = "Measures what each part of the heap buys on this machine.")]
struct CommandLine {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the experiments with their modes and parameters.
    List,
    /// Run experiments and print their scores.
    Run(Box<RunArguments>),
    /// Make a page with charts and verdicts of result files.
    Report(ReportArguments),
    /// Compare two result files row by row.
    Compare(CompareArguments),
    /// Measure for a minute, and recommend options for this machine.
    Tune(TuneArguments),
    /// Describe this machine: caches, pages, clock, counters, limits.
    Machine,
    /// List what can be counted here: events by name and code, and why others cannot.
    Counters,
    /// Print the heap's options, their values and where these come from.
    Options,
    /// Print the machine code of an allocation, next to HotSpot's.
    Asm(Box<AsmArguments>),
    /// Read a JVM's log of its TLABs (-Xlog:gc+tlab), and try other sizings on it.
    TlabLog(Box<TlabLogArguments>),
    /// Simulate machines that are not at hand.
    #[command(subcommand)]
    Simulate(Simulation),
    /// Measure one case, read from standard input.
    #[command(hide = true)]
    Fork,
    /// Walk memory beside a case, as told on standard input.
    #[command(hide = true)]
    Neighbour,
}

/// The arguments of `allotment tune`.
#[derive(Clone, Debug, clap::Args)]
pub struct TuneArguments {
    /// Processes per case: more narrow the errors [default: 4].
    #[arg(long, short = 'f', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub forks: Option<u32>,

    /// Write what was measured as JMH writes its JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// No progress and no estimate on standard error.
    #[arg(long)]
    pub quiet: bool,
}

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
    #[arg(long, value_delimiter = ',', value_name = "N,..")]
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

    /// What the last column compares with: mode=NAME, threads=N, PARAMETER=VALUE or none.
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

    /// Measure each case alone and beside N threads that walk SIZE bytes each, in any order or one line after the other.
    #[arg(long, value_name = "N:SIZE[:random|sequential]")]
    pub neighbours: Option<Neighbours>,

    /// Bind threads to CPUs.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub pin: Pin,

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

/// Reads a command line, program name included.
///
/// # Errors
/// [`Failure::Usage`] in one line.
pub fn parse(
    arguments: impl IntoIterator<Item = OsString>,
    experiments: &[&dyn Experiment],
) -> Result<Command, Failure> {
    let parsed = command_line(experiments).try_get_matches_from(arguments).and_then(|matches| {
        let line = CommandLine::from_arg_matches(&matches)?;
        Ok((line, matches))
    });
    let (line, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return told(&error),
    };
    match line.verb {
        Verb::List => Ok(Command::List),
        Verb::Report(arguments) => Ok(Command::Report(arguments)),
        Verb::Compare(arguments) => Ok(Command::Compare(arguments)),
        Verb::Tune(arguments) => Ok(Command::Tune(arguments)),
        Verb::Machine => Ok(Command::Machine),
        Verb::Counters => Ok(Command::Counters),
        Verb::Options => Ok(Command::Options),
        Verb::Asm(arguments) => Ok(Command::Asm(arguments)),
        Verb::TlabLog(arguments) => Ok(Command::TlabLog(arguments)),
        Verb::Simulate(simulation) => Ok(Command::Simulate(simulation)),
        Verb::Fork => Ok(Command::Fork),
        Verb::Neighbour => Ok(Command::Neighbour),
        Verb::Run(mut arguments) => {
            let run = matches.subcommand_matches("run");
            arguments.values = run.map(|run| axis_values(run, experiments)).unwrap_or_default();
            arguments.values.extend(parameters(&arguments.params)?);
            Ok(Command::Run(arguments))
        }
    }
}

/// clap's command line with a flag for every axis of every experiment.
fn command_line(experiments: &[&dyn Experiment]) -> clap::Command {
    let mut line = CommandLine::command();
    for name in axis_names(experiments) {
        let axes = experiments.iter().flat_map(|e| e.axes().iter().map(move |axis| (e.name(), axis)));
        let of: Vec<_> = axes.filter(|(_, axis)| axis.name == name).collect();
        let users: Vec<&str> = of.iter().map(|&(user, _)| user).collect();
        let help =
            of.first().map_or(String::new(), |(_, axis)| format!("{} ({})", axis.what, users.join(", ")));
        let value = match of.first().map(|(_, axis)| axis.kind) {
            Some(Kind::Size | Kind::Eden) => "SIZE,..",
            Some(Kind::Count) => "N,..",
            Some(Kind::Switch) => "on,off",
            Some(Kind::Factor) => "FACTOR,..",
            Some(Kind::Text) => "TEXT,..",
            Some(Kind::Choice(_)) | None => "WORD,..",
        };
        let flag = Arg::new(name)
            .long(name)
            .help(help)
            .help_heading("Parameters of experiments")
            .value_name(value)
            .value_delimiter(',')
            .action(ArgAction::Append);
        line = line.mut_subcommand("run", |run| run.arg(flag));
    }
    line
}

fn axis_names(experiments: &[&dyn Experiment]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> =
        experiments.iter().flat_map(|experiment| experiment.axes()).map(|axis| axis.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn axis_values(run: &ArgMatches, experiments: &[&dyn Experiment]) -> Vec<(String, Vec<String>)> {
    let given = |name: &'static str| {
        let values = run.get_many::<String>(name)?;
        Some((name.to_string(), values.cloned().collect()))
    };
    axis_names(experiments).into_iter().filter_map(given).collect()
}

/// Reads `size=16,64,policy=cas`: an item without a name is one more value for the name before it.
fn parameters(texts: &[String]) -> Result<Vec<(String, Vec<String>)>, Failure> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for text in texts {
        let mut current: Option<usize> = None;
        for item in text.split(',') {
            let value = match (item.split_once('='), current) {
                (Some((name, value)), _) if !name.trim().is_empty() => {
                    let name = name.trim();
                    let known = found.iter().position(|(known, _)| known == name);
                    current = Some(known.unwrap_or(found.len()));
                    if known.is_none() {
                        found.push((name.into(), Vec::new()));
                    }
                    value
                }
                (None, Some(_)) => item,
                _ => {
                    let wrong =
                        format!("--param `{text}`: `{item}` has no name; write name=value,name=value");
                    return Err(Failure::Usage(wrong));
                }
            };
            if let Some(index) = current {
                found[index].1.push(value.to_string());
            }
        }
    }
    Ok(found)
}

/// Help and version are no errors; errors become one line of cause and hint.
fn told(error: &clap::Error) -> Result<Command, Failure> {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Command::Told(text)),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if text.contains("allotment simulate") => {
            Err(Failure::Usage("no simulation given; write allotment simulate coherence".into()))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Err(Failure::Usage(
            "no command given; write allotment list, run, report, compare, tune, machine, counters, options, asm, tlab-log or simulate"
                .into(),
        )),
        _ => {
            let before_usage = text.split("\nUsage:").next().unwrap_or_default();
            let line = before_usage.trim().trim_start_matches("error: ").replace("\n\n", "; ");
            Err(Failure::Usage(line))
        }
    }
}

impl RunArguments {
    /// The grid that was chosen.
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

    /// The times that were chosen.
    pub fn settings(&self) -> Settings {
        Settings {
            quick: self.quick,
            forks: self.forks,
            warmup_iterations: self.warmup_iterations,
            warmup_time: self.warmup_time,
            iterations: self.iterations,
            time: self.time,
            pin: self.pin,
            watch: Watch::default(),
        }
    }

    /// What an experiment's rows are compared with.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a baseline that is not of the form WHAT=VALUE, names nothing that the
    /// experiment has, or is not a value of its axis.
    pub fn baseline(&self, experiment: &dyn Experiment) -> Result<Option<Baseline>, Failure> {
        let Some(text) = &self.baseline else {
            let alone = self.neighbours.map(|_| Baseline::axis(NEIGHBOURS, NONE));
            return Ok(alone.or_else(|| experiment.baseline()));
        };
        if text == "none" {
            return Ok(None);
        }
        let Some((coordinate, value)) = text.split_once('=') else {
            return Err(Failure::Usage(format!(
                "--baseline `{text}`: write mode=NAME, threads=N, PARAMETER=VALUE or none"
            )));
        };
        let axis = experiment.axes().iter().find(|axis| axis.name == coordinate);
        match (coordinate, axis) {
            (_, Some(axis)) => {
                let value = axis.canonical(value).map_err(Failure::Usage)?;
                Ok(Some(Baseline::axis(coordinate, &value)))
            }
            (NEIGHBOURS, None) if self.neighbours.is_some() && value == NONE => {
                Ok(Some(Baseline::axis(NEIGHBOURS, NONE)))
            }
            ("mode" | "threads" | JVM, None) => Ok(Some(Baseline::axis(coordinate, value))),
            (_, None) => {
                let axes: String = experiment.axes().iter().map(|axis| format!(", {}", axis.name)).collect();
                let name = experiment.name();
                Err(Failure::Usage(format!(
                    "--baseline `{text}`: {name} can be compared by mode, threads{axes}"
                )))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;

    fn run(arguments: &[&str]) -> Result<RunArguments, String> {
        let line = ["allotment", "run"].iter().chain(arguments).map(OsString::from);
        match parse(line, experiments::all()) {
            Ok(Command::Run(arguments)) => Ok(*arguments),
            Err(Failure::Usage(text)) => Err(text),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_flags_do_not_collide() {
        command_line(experiments::all()).debug_assert();
    }

    #[test]
    fn axes_are_flags() {
        let arguments = run(&["clock", "--reads", "1,2", "--reads", "3", "--threads", "1,4"]).unwrap();
        let reads = ["1", "2", "3"].map(String::from).to_vec();
        assert_eq!(arguments.values, [("reads".to_string(), reads)]);
        assert_eq!(arguments.selection().threads, [1, 4]);
    }

    #[test]
    fn parameters_may_be_given_jmhs_way() {
        let arguments = run(&["clock", "-p", "a=1,2,b=x", "--param", "a=3"]).unwrap();
        let strings = |values: &[&str]| values.iter().map(|value| value.to_string()).collect::<Vec<_>>();
        assert_eq!(
            arguments.values,
            [("a".to_string(), strings(&["1", "2", "3"])), ("b".to_string(), strings(&["x"]))]
        );
        assert!(run(&["clock", "-p", "1,a=2"]).unwrap_err().contains("`1` has no name"));
        assert!(run(&["clock", "-p", "=2"]).unwrap_err().contains("has no name"));
    }

    #[test]
    fn errors_are_one_line_with_a_hint() {
        let error = run(&["clock", "--itterations", "3"]).unwrap_err();
        assert!(error.contains("--itterations") && error.contains("--iterations"), "{error}");
        assert!(run(&["clock", "--time", "soon"]).unwrap_err().contains("`soon` is not a time"));
        assert!(run(&["clock", "--forks", "0"]).unwrap_err().contains("1..=1000"));
        assert!(run(&[]).unwrap_err().contains("EXPERIMENT"));
    }

    #[test]
    fn baselines() {
        let clock = *experiments::all().iter().find(|experiment| experiment.name() == "clock").unwrap();
        let of = |text: &str| run(&["clock", "--baseline", text]).unwrap().baseline(clock);
        assert_eq!(of("none").unwrap(), None);
        assert_eq!(of("mode=tsc").unwrap(), Some(Baseline::mode("tsc")));
        assert_eq!(of("reads=064").unwrap(), Some(Baseline::axis("reads", "64")));
        for (wrong, hint) in
            [("tsc", "mode=NAME"), ("size=1", "mode, threads, reads"), ("reads=x", "whole number")]
        {
            let Err(Failure::Usage(text)) = of(wrong) else { panic!("{wrong}") };
            assert!(text.contains(hint), "{text}");
        }
        assert_eq!(run(&["clock"]).unwrap().baseline(clock).unwrap(), clock.baseline());
        let alone = Some(Baseline::axis("neighbours", "none"));
        assert_eq!(run(&["clock", "--neighbours=1:1m"]).unwrap().baseline(clock).unwrap(), alone);
        let given = ["clock", "--neighbours=1:1m", "--baseline"];
        let of = |text| run(&[&given[..], &[text]].concat()).unwrap().baseline(clock);
        assert_eq!(of("neighbours=none").unwrap(), alone);
        assert_eq!(of("mode=tsc").unwrap(), Some(Baseline::mode("tsc")));
        assert!(run(&["clock", "--baseline=neighbours=none"]).unwrap().baseline(clock).is_err());
    }
}
