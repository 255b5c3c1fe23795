//! Reading the command line.

use super::failure::EXIT_CODES;
use super::{
    AskArguments, AsmArguments, CompareArguments, Failure, HeapArguments, LayoutArguments, ProfileArguments,
    ReportArguments, RunArguments, Simulation, TlabLogArguments, TruthArguments,
};
use crate::harness::{Experiment, Kind};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::error::Error;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::path::PathBuf;

/// The user's command.
#[derive(Debug)]
pub enum Command {
    /// List the experiments.
    List,
    /// Measure.
    Run(Box<RunArguments>),
    /// Make a page of results.
    Report(ReportArguments),
    /// Compare results.
    Compare(CompareArguments),
    /// Recommend options for this machine.
    Tune(TuneArguments),
    /// Check rows against programs in C.
    Truth(TruthArguments),
    /// Describe this machine.
    Machine,
    /// List the counters of this machine.
    Counters,
    /// Print the options of the heap.
    Options,
    /// Print the machine code of an allocation.
    Asm(Box<AsmArguments>),
    /// Read a JVM's log of its buffers.
    TlabLog(Box<TlabLogArguments>),
    /// Ask the heaps of a program that runs.
    Ask(AskArguments),
    /// Tell of heap snapshots.
    Heap(HeapArguments),
    /// Tell of allocation profiles.
    Profile(ProfileArguments),
    /// Print the layouts of objects.
    Layout(LayoutArguments),
    /// Simulate another machine.
    Simulate(Simulation),
    /// Run as a fork of a run.
    Fork,
    /// Run as the neighbours of a fork.
    Neighbour,
    /// Help or version, ready to print.
    Told(String),
}

#[derive(Debug, Parser)]
#[command(name = "allotment", version, about = "Measures what each part of the heap buys on this machine.", after_help = EXIT_CODES)]
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
    /// Check the rows that others are divided by against programs in C.
    Truth(TruthArguments),
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
    /// Ask the heaps of a program that runs: a snapshot, a profile, a census, its threads, its numbers.
    #[command(
        override_usage = "allotment ask [PID QUESTION [OPTIONS]]",
        subcommand_help_heading = "Questions",
        disable_help_subcommand = true
    )]
    Ask(AskArguments),
    /// Tell what is in heap snapshots, who holds it, and what has grown.
    #[command(subcommand)]
    Heap(HeapArguments),
    /// Tell where a program allocates and what has come between two profiles; name code; draw flame graphs.
    #[command(subcommand)]
    Profile(ProfileArguments),
    /// Print how the objects of experiments lie in memory, beside Java's.
    Layout(LayoutArguments),
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

    /// Measure even if another allotment measures on this machine.
    #[arg(long)]
    pub ignore_lock: bool,

    /// No progress and no estimate on standard error.
    #[arg(long)]
    pub quiet: bool,
}

/// Reads a command line, program name included.
///
/// # Errors
/// [`Failure::Usage`] in one line.
pub fn parse(
    arguments: impl IntoIterator<Item = OsString>,
    experiments: &[&Experiment],
) -> Result<Command, Failure> {
    let parsed = command_line(experiments).try_get_matches_from(joined(arguments)).and_then(|matches| {
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
        Verb::Truth(arguments) => Ok(Command::Truth(arguments)),
        Verb::Machine => Ok(Command::Machine),
        Verb::Counters => Ok(Command::Counters),
        Verb::Options => Ok(Command::Options),
        Verb::Asm(arguments) => Ok(Command::Asm(arguments)),
        Verb::TlabLog(arguments) => Ok(Command::TlabLog(arguments)),
        Verb::Ask(arguments) => Ok(Command::Ask(arguments)),
        Verb::Heap(arguments) => Ok(Command::Heap(arguments)),
        Verb::Profile(arguments) => Ok(Command::Profile(arguments)),
        Verb::Layout(arguments) => Ok(Command::Layout(arguments)),
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

/// Joins a value that begins like a negative number to its flag: `--time -5ms` becomes
/// `--time=-5ms`. clap takes such a value for a flag and advises `-- -5ms`, which would make the
/// value an experiment. After the join, the flag's own parser reports what is wrong with the value.
/// No flag of this command begins with a digit.
fn joined(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    for argument in arguments {
        let is_negative = match argument.as_encoded_bytes() {
            [b'-', first, ..] => first.is_ascii_digit() || *first == b'.',
            _ => false,
        };
        match all.last_mut() {
            Some(flag) if is_negative && takes_joined(flag.as_encoded_bytes()) => {
                if flag.as_encoded_bytes().starts_with(b"--") {
                    flag.push("=");
                }
                flag.push(argument);
            }
            _ => all.push(argument),
        }
    }
    all
}

/// Whether an argument is a flag without its value, `--time` or `-f`.
fn takes_joined(flag: &[u8]) -> bool {
    match flag {
        [b'-', b'-', name @ ..] => !name.is_empty() && !name.contains(&b'='),
        [b'-', letter] => letter.is_ascii_alphabetic(),
        _ => false,
    }
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

/// Turns help and version into output, and errors into one line of cause and hint.
fn told(error: &clap::Error) -> Result<Command, Failure> {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Command::Told(text)),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if text.contains("allotment simulate") => {
            Err(Failure::Usage("no simulation given; write allotment simulate coherence or allotment simulate tlab".into()))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if text.contains("allotment heap") => Err(
            Failure::Usage("nothing to do was given; write allotment heap summary, dominators, path, diff or layout".into()),
        ),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if text.contains("allotment profile") => {
            Err(Failure::Usage("nothing to do was given; write allotment profile top, diff, symbolize or html".into()))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Err(Failure::Usage(
            "no command given; write allotment list, run, report, compare, tune, truth, machine, counters, options, asm, tlab-log, ask, heap, profile, layout or simulate"
                .into(),
        )),
        _ => {
            let before_usage = text.split("\nUsage:").next().unwrap_or_default();
            let line = before_usage.trim().trim_start_matches("error: ").replace("\n\n", "; ");
            Err(Failure::Usage(match plain_cause(error) {
                Some((cause, plain)) => line.replace(&cause, plain),
                None => line,
            }))
        }
    }
}

/// The text of a number's reader in `std` that is the cause of an error, and words that say what to
/// write instead.
fn plain_cause(error: &clap::Error) -> Option<(String, &'static str)> {
    let cause = error.source()?;
    let plain = match cause.downcast_ref::<ParseIntError>().map(ParseIntError::kind) {
        Some(IntErrorKind::PosOverflow | IntErrorKind::NegOverflow) => "the number is too large",
        Some(_) => "write a whole number",
        None => cause.downcast_ref::<ParseFloatError>().map(|_| "write a number")?,
    };
    Some((cause.to_string(), plain))
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
