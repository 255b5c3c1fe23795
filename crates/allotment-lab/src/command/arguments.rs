//! Reading the command line.

use super::measuring::MeasuringArguments;
use super::{AsmArguments, CompareArguments, LayoutArguments, ReportArguments, RunArguments, TruthArguments};
use crate::harness::{Experiment, Kind};
use allotment_models::command::Simulation;
use allotment_report::command::{Failure, failure_of, joined};
use allotment_tools::command::{HeapArguments, ProfileArguments, Tools};
use clap::{Arg, ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// The exit codes, as the help lists them.
const EXIT_CODES: &str = "\
Exit codes:
  0    everything was done; or the reader of the output has closed it
  1    a part could not be done: a case failed, here or on a JVM; another allotment measures on
       this machine; a profile or a counter is not available; a file cannot be read or written;
       a row is slower than --fail-on-slower allows. Everything else was done, and the last
       lines say what is missing.
  2    the command line was wrong, or asked for more than this machine holds; nothing was done
  130  the command was interrupted; the results until then are written";

#[derive(Debug, Parser)]
#[command(name = "allotment", version, about = "Measures the gain from each part of the heap on this machine.", after_help = EXIT_CODES)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// The user's command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the experiments with their modes and parameters.
    List,
    /// Run experiments and print their scores.
    Run(Box<RunArguments>),
    /// Make a page with charts and verdicts from result files.
    Report(ReportArguments),
    /// Compare two result files row by row.
    Compare(CompareArguments),
    /// Measure for a minute, and recommend options for this machine.
    Tune(TuneArguments),
    /// Check the rows that ratios are based on against programs in C.
    Truth(TruthArguments),
    /// Describe this machine: caches, pages, clock, counters, limits.
    Machine,
    /// List the events that can be counted here, by name and code, and why others cannot.
    Counters,
    /// Print the heap's options, their values and the origins of the values.
    Options,
    /// Print the machine code of an allocation, next to HotSpot's.
    Asm(Box<AsmArguments>),
    /// A command of the tools: `tlab-log`, `ask`, `heap` or `profile`.
    #[command(flatten)]
    Tools(Tools),
    /// Print the memory layouts of the experiments' objects, beside those of Java's.
    Layout(LayoutArguments),
    /// Simulate machines that are not available.
    #[command(subcommand)]
    Simulate(Simulation),
    /// Measure one case, read from standard input.
    #[command(hide = true)]
    Fork,
    /// Walk memory beside a case, by an order on standard input.
    #[command(hide = true)]
    Neighbour,
}

/// The arguments of `allotment tune`.
#[derive(Clone, Debug, clap::Args)]
pub struct TuneArguments {
    /// Processes per case; more processes give smaller errors [default: 4].
    #[arg(long, short = 'f', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub forks: Option<u32>,

    /// Write the results to this file, in JMH's JSON format.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// The lock, and the progress on standard error.
    #[command(flatten)]
    pub measuring: MeasuringArguments,
}

/// Reads a command line, program name included.
///
/// # Errors
/// [`Failure::Usage`] in one line; [`Failure::Told`] if the user asked for help or the version.
pub fn parse(
    arguments: impl IntoIterator<Item = OsString>,
    experiments: &[&Experiment],
) -> Result<Command, Failure> {
    let parsed = command_line(experiments).try_get_matches_from(joined(arguments)).and_then(|matches| {
        let line = CommandLine::from_arg_matches(&matches)?;
        Ok((line.command, matches))
    });
    let (mut command, matches) = parsed.map_err(|error| failure_of(&error, nothing_given))?;
    if let Command::Run(arguments) = &mut command {
        let run = matches.subcommand_matches("run");
        arguments.values = run.map(|run| axis_values(run, experiments)).unwrap_or_default();
        arguments.values.extend(parameters(&arguments.params)?);
    }
    Ok(command)
}

/// The advice for a command line that ends too early. `text` is clap's, and names the command.
fn nothing_given(text: &str) -> String {
    match text {
        _ if text.contains("allotment simulate") => Simulation::NOTHING_GIVEN,
        _ if text.contains("allotment heap") => HeapArguments::NOTHING_GIVEN,
        _ if text.contains("allotment profile") => ProfileArguments::NOTHING_GIVEN,
        _ => {
            "no command given; write allotment list, run, report, compare, tune, truth, machine, counters, options, asm, tlab-log, ask, heap, profile, layout or simulate"
        }
    }
    .into()
}

/// clap's command line with a flag for every axis of every experiment.
fn command_line(experiments: &[&Experiment]) -> clap::Command {
    let mut line = CommandLine::command();
    for name in axis_names(experiments) {
        let axes = experiments.iter().flat_map(|e| e.axes.iter().map(move |axis| (e.name, axis)));
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

fn axis_names(experiments: &[&Experiment]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> =
        experiments.iter().flat_map(|experiment| experiment.axes).map(|axis| axis.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn axis_values(run: &ArgMatches, experiments: &[&Experiment]) -> Vec<(String, Vec<String>)> {
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
                    // A word is the name of a parameter; a number is a value.
                    let wrong = match item.trim() {
                        name if name.starts_with(char::is_alphabetic) => {
                            format!("`{name}` has no value; write {name}=VALUE")
                        }
                        _ => format!("`{item}` has no name; write name=value,name=value"),
                    };
                    return Err(Failure::Usage(format!("--param `{text}`: {wrong}")));
                }
            };
            if let Some(index) = current {
                found[index].1.push(value.to_string());
            }
        }
    }
    Ok(found)
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
        let error = run(&["clock", "-p", "eden"]).unwrap_err();
        assert!(error.contains("`eden` has no value; write eden=VALUE"), "{error}");
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

    /// Each flag of each command, at any depth, with its path of commands.
    fn flags(command: &clap::Command, path: &[String]) -> Vec<Vec<String>> {
        let of_this = command.get_arguments().filter(|flag| flag.get_action().takes_values());
        let of_this = of_this.filter_map(|flag| flag.get_long().map(|long| format!("--{long}")));
        let mut found: Vec<_> = of_this.map(|flag| [path, &[flag]].concat()).collect();
        for below in command.get_subcommands() {
            found.extend(flags(below, &[path, &[below.get_name().to_string()]].concat()));
        }
        found
    }

    #[test]
    fn no_flag_tells_an_error_in_the_words_of_a_programmer() {
        let all = flags(&command_line(experiments::all()), &["allotment".to_string()]);
        assert!(all.len() > 100, "{all:?}");
        let (mut whole, mut large, mut real) = (0, 0, 0);
        for flag in all {
            for wrong in ["x", "", "99999999999999999999999", "1.5.5"] {
                let line = flag.iter().map(String::as_str).chain([wrong]).map(OsString::from);
                let Err(Failure::Usage(said)) = parse(line, experiments::all()) else { continue };
                for word in ["digit found", "empty string", "fit in target", "float literal"] {
                    assert!(!said.contains(word), "{flag:?} {wrong}: {said}");
                }
                whole += usize::from(said.contains("write a whole number"));
                large += usize::from(said.contains("too large"));
                real += usize::from(said.contains("write a number"));
            }
        }
        assert!(whole > 10 && large > 10 && real > 3, "{whole} {large} {real}");
    }

    #[test]
    fn a_negative_number_is_a_wrong_value_and_no_flag() {
        for (flag, hint) in [
            ("--time", "`-5` is not a time"),
            ("--forks", "-5 is not in"),
            ("--threads", "`-5` is not a number of threads"),
        ] {
            for arguments in [
                vec!["clock".into(), flag.to_string(), "-5".into()],
                vec!["clock".into(), format!("{flag}=-5")],
            ] {
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let error = run(&arguments).unwrap_err();
                assert!(error.contains(hint) && !error.contains("-- -5"), "{error}");
            }
        }
        let error = run(&["clock", "--time", "-5ms"]).unwrap_err();
        assert!(!error.contains("-- -5ms"), "{error}");
    }
}
