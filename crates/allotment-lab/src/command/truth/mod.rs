//! `allotment truth`: checks the rows that other figures are divided by.
//!
//! A ratio is as good as its divisor. If a loop that stands for "one compare-and-swap" does more
//! than that, every figure beside it looks too good. So each such row has a program in C of some 40
//! lines (`truth/*.c`) that shares no code with the lab, and both run by turns. If they differ by
//! more than a fifth, one of them does not measure what it claims, and the command fails.
//!
//! Refused: figures of an earlier run for comparison. They depend more on the machine and the hour
//! than on the code.

mod program;
mod rows;
mod verdict;

use super::measuring::{MeasuringArguments, UsableCpus, lock, open_json, say, this_program, warn_of_build};
use super::{Failure, print};
use crate::format::suggest::nearest;
use crate::format::{Layout, number, width};
use crate::harness::{Case, Experiment, Interrupt, JmhMode, OnJvms, Run, Settings, run};
use crate::machine::Machine;
use allotment::internals::platform::Topology;
use program::Builder;
use rows::{ROWS, Row};
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;
use verdict::Ratios;

/// The arguments of `allotment truth`.
#[derive(Clone, Debug, clap::Args)]
pub struct TruthArguments {
    /// Rows to check, such as `tlab.cas` [default: all].
    #[arg(value_name = "ROW")]
    pub rows: Vec<String>,

    /// Fewer rounds and shorter times, for a first look.
    #[arg(long)]
    pub quick: bool,

    /// Rounds in which each row is measured both ways [default: 7; with --quick 3]. Rows that
    /// differ get as many rounds again.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,

    /// The C compiler: a program on the PATH, or its path.
    #[arg(long, value_name = "PATH", default_value = "cc")]
    pub cc: PathBuf,

    /// Write the scores and verdicts to this file as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// The lock, and the progress on standard error.
    #[command(flatten)]
    pub measuring: MeasuringArguments,
}

/// The settings of a round.
#[derive(Clone, Copy)]
struct Turn {
    warmup: Duration,
    /// With one thread the best window counts; with several threads the median window counts.
    windows: u32,
    time: Duration,
}

impl Turn {
    fn of(quick: bool) -> Turn {
        let milliseconds = Duration::from_millis;
        if quick {
            Turn { warmup: milliseconds(30), windows: 20, time: milliseconds(3) }
        } else {
            Turn { warmup: milliseconds(100), windows: 50, time: milliseconds(5) }
        }
    }

    fn settings(self) -> Settings {
        Settings {
            forks: Some(1),
            warmup_iterations: Some(1),
            warmup_time: Some(self.warmup),
            iterations: Some(self.windows),
            time: Some(self.time),
            ..Settings::default()
        }
    }
}

/// A row on this machine, with its results.
struct Checked {
    row: &'static Row,
    case: Case,
    program: PathBuf,
    numbers: Vec<usize>,
    ratios: Ratios,
    /// Scores of the rounds: the lab's and the C program's.
    lab: Vec<f64>,
    c: Vec<f64>,
}

/// Measures all rows both ways, and names the rows that differ.
///
/// # Errors
/// [`Failure::Usage`] for an unknown row. [`Failure::Failed`] if there is no C compiler, if
/// something could not be measured, and if rows differ by more than a fifth.
/// [`Failure::Interrupted`].
pub fn truth(arguments: &TruthArguments, experiments: &[&Experiment]) -> Result<(), Failure> {
    let chosen = chosen(&arguments.rows)?;
    let topology = Topology::detect();
    let cpus = UsableCpus::of(&topology);
    let file = open_json(arguments.json.as_deref())?;
    let builder = Builder::new(&arguments.cc)?;
    let _lock = lock(arguments.measuring.ignore_lock)?;
    let interrupt = Interrupt::install()?;
    let mut checked = Vec::new();
    for row in chosen {
        if row.threads > cpus.at_once {
            say(arguments.measuring.quiet, &format!("{} left out: there is one CPU", row.label()));
            continue;
        }
        match row.case(experiments, cpus.at_once) {
            Err(why) => say(arguments.measuring.quiet, &format!("{} left out: {why}", row.label())),
            Ok(case) => checked.push(Checked {
                row,
                program: builder.build(row.source, row.object_bytes())?,
                numbers: row.numbers(&case)?,
                case,
                ratios: Ratios::default(),
                lab: vec![],
                c: vec![],
            }),
        }
    }
    if checked.is_empty() {
        return Err(Failure::Failed("no row can be checked on this machine".into()));
    }
    let rounds = arguments.rounds.unwrap_or(if arguments.quick { 3 } else { 7 });
    let measuring =
        Measuring { experiments, turn: Turn::of(arguments.quick), cpus: &cpus.order, interrupt: &interrupt };
    for round in 1..=rounds {
        say(arguments.measuring.quiet, &format!("round {round} of {rounds}, {} rows", checked.len()));
        checked.iter_mut().try_for_each(|one| measuring.round(one))?;
    }
    let doubtful = checked.iter().filter(|one| one.ratios.differ()).count();
    if doubtful > 0 {
        say(arguments.measuring.quiet, &format!("{doubtful} rows differ; {rounds} more rounds of these"));
    }
    // Rows that differ get as many rounds again, so that a disturbance that came and went does not
    // decide.
    for one in checked.iter_mut().filter(|one| one.ratios.differ()) {
        (0..rounds).try_for_each(|_| measuring.round(one))?;
    }
    let written = file.map(|file| -> anyhow::Result<()> {
        let machine = Machine::detect(&topology).pairs();
        Ok(file.write(&serde_json::to_vec_pretty(&found(&checked, &builder.version, &machine))?)?)
    });
    warn_of_build();
    print(&text(&checked, &builder.version))?;
    written.transpose()?;
    told(&checked).map_or(Ok(()), |text| Err(Failure::Failed(text)))
}

/// The rows with these names, or all rows.
fn chosen(names: &[String]) -> Result<Vec<&'static Row>, Failure> {
    let known = |name: &str| ROWS.iter().any(|row| row.benchmark() == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let mut all: Vec<String> = ROWS.iter().map(Row::benchmark).collect();
        all.dedup();
        let hint = match nearest(unknown, all.iter().map(String::as_str)) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("the rows are {}", all.join(", ")),
        };
        return Err(Failure::Usage(format!("no program in C stands beside a row `{unknown}`; {hint}")));
    }
    Ok(ROWS.iter().filter(|row| names.is_empty() || names.contains(&row.benchmark())).collect())
}

/// The resources of every round.
struct Measuring<'a> {
    experiments: &'a [&'a Experiment],
    turn: Turn,
    cpus: &'a [usize],
    interrupt: &'a Interrupt,
}

impl Measuring<'_> {
    /// Measures a row both ways. The order alternates from round to round.
    fn round(&self, one: &mut Checked) -> Result<(), Failure> {
        let (lab, c) = if one.ratios.rounds().is_multiple_of(2) {
            let lab = self.lab(one)?;
            (lab, self.c(one)?)
        } else {
            let c = self.c(one)?;
            (self.lab(one)?, c)
        };
        one.lab.push(lab);
        one.c.push(c);
        one.ratios.push(lab / c);
        Ok(())
    }

    /// The score of one process of the lab, measured as `allotment run` does.
    fn lab(&self, one: &Checked) -> Result<f64, Failure> {
        let outcome = run(&Run {
            program: this_program()?,
            experiments: self.experiments,
            cases: std::slice::from_ref(&one.case),
            on_jvms: &OnJvms::default(),
            settings: &self.turn.settings(),
            timeout: Duration::from_secs(60),
            cpus: self.cpus,
            quiet: true,
            interrupt: self.interrupt,
        });
        if outcome.interrupted || self.interrupt.requested() {
            return Err(Failure::Interrupted);
        }
        if let Some(failure) = outcome.failures().next() {
            return Err(Failure::Failed(failure));
        }
        let windows = outcome.rows.first().map(|row| row.primary.pooled_values());
        let score = windows.and_then(|windows| chosen_window(&one.case, windows));
        score.ok_or_else(|| Failure::Failed(format!("{} has no score", one.row.label())))
    }

    /// The score of the C program, in the unit of the lab's.
    fn c(&self, one: &Checked) -> Result<f64, Failure> {
        let Turn { time, windows, .. } = self.turn;
        let threads = one.row.threads;
        let said = program::run(&one.program, threads, time, windows, &one.numbers, self.interrupt);
        match said {
            Err(_) if self.interrupt.requested() => Err(Failure::Interrupted),
            Err(error) => Err(error.into()),
            Ok(said) if one.case.jmh_mode == JmhMode::Throughput => Ok(said.rate),
            Ok(said) => Ok(said.nanoseconds),
        }
    }
}

/// The window that counts. With one thread it is the best, since any disturbance makes a thread
/// slower. With several threads it is the median, since a thread is faster while another is
/// descheduled.
fn chosen_window(case: &Case, mut windows: Vec<f64>) -> Option<f64> {
    windows.sort_by(f64::total_cmp);
    let index = match (case.threads, case.jmh_mode) {
        (1, JmhMode::Throughput) => windows.len().checked_sub(1)?,
        (1, _) => 0,
        _ => windows.len() / 2,
    };
    windows.get(index).copied()
}

/// The unit of a row's scores.
fn unit(case: &Case) -> &'static str {
    if case.jmh_mode == JmhMode::Throughput { "ops/us" } else { "ns/op" }
}

/// The median of some scores.
fn median(scores: &[f64]) -> f64 {
    let mut all = Ratios::default();
    scores.iter().for_each(|&score| all.push(score));
    all.median().unwrap_or(f64::NAN)
}

/// A line for each row, and the conclusion.
fn text(checked: &[Checked], compiler: &str) -> String {
    let header = ["Row", "Lab", "C", "Units", "Lab/C", "Rounds from", "to", "of", "Verdict"];
    let mut rows = Vec::new();
    for one in checked {
        let ratio = |found: Option<f64>| found.map_or(String::new(), |ratio| format!("{ratio:.2}"));
        let range = one.ratios.range();
        rows.push(vec![
            one.row.label(),
            number::score(median(&one.lab)),
            number::score(median(&one.c)),
            unit(&one.case).into(),
            ratio(one.ratios.median()),
            ratio(range.map(|(least, _)| least)),
            ratio(range.map(|(_, most)| most)),
            one.ratios.rounds().to_string(),
            if one.ratios.differ() { "DIFFERS".into() } else { "agrees".to_string() },
        ]);
    }
    let table = Layout { header: header.map(String::from).to_vec(), rows, words: vec![0, 3, 8] };
    let wide = width::of_output();
    let compiler = width::lines(&format!("programs in C built by {compiler}"), wide);
    format!("{compiler}\n\n{}", table.text(wide))
}

/// The failures, if there are any.
fn told(checked: &[Checked]) -> Option<String> {
    let differ: Vec<String> = checked
        .iter()
        .filter(|one| one.ratios.differ())
        .map(|one| format!("{} ({:.2})", one.row.label(), one.ratios.median().unwrap_or(f64::NAN)))
        .collect();
    (!differ.is_empty()).then(|| {
        format!(
            "{} of {} rows differ from their program in C by more than a fifth: {}; measure again on a quiet machine, and do \
             not quote what is divided by them",
            differ.len(),
            checked.len(),
            differ.join("; ")
        )
    })
}

/// The results as JSON.
fn found(checked: &[Checked], compiler: &str, machine: &[String]) -> serde_json::Value {
    let row = |one: &Checked| {
        json!({
            "benchmark": one.row.benchmark(),
            "label": one.row.label(),
            "threads": one.row.threads,
            "params": one.case.params,
            "unit": unit(&one.case),
            "lab": one.lab,
            "c": one.c,
            "ratio": one.ratios.median(),
            "differs": one.ratios.differ(),
        })
    };
    let rows: Vec<serde_json::Value> = checked.iter().map(row).collect();
    json!({ "compiler": compiler, "machine": machine, "rows": rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;

    fn checked(row: &'static Row, rounds: &[(f64, f64)]) -> Checked {
        let case = row.case(experiments::all(), 2).unwrap();
        let mut ratios = Ratios::default();
        rounds.iter().for_each(|(lab, c)| ratios.push(lab / c));
        let (lab, c) = rounds.iter().copied().unzip();
        Checked { row, case, program: PathBuf::new(), numbers: vec![], ratios, lab, c }
    }

    fn named(benchmark: &str) -> &'static Row {
        ROWS.iter().find(|row| row.benchmark() == benchmark).unwrap()
    }

    #[test]
    fn a_row_that_measures_more_than_it_says_is_told_of() {
        // The first row is the library's path without buffers, as it was once mistaken for the
        // inline sequence.
        let found = [
            checked(named("tlab.cas"), &[(60.0, 289.0), (55.0, 285.0), (67.0, 280.0)]),
            checked(named("clock.monotonic"), &[(25.0, 24.0)]),
        ];
        let table = text(&found, "cc 1");
        assert!(table.starts_with("programs in C built by cc 1\n\nRow "), "{table}");
        let lines: Vec<&str> = table.lines().skip(3).collect();
        assert!(lines[0].contains("ops/us") && lines[0].ends_with("DIFFERS"), "{table}");
        assert!(lines[1].contains("ns/op") && lines[1].ends_with("agrees"), "{table}");
        let told = told(&found).unwrap();
        assert!(
            told.starts_with("1 of 2 rows differ") && told.contains("tlab.cas, 16 bytes, 1 thread (0.21)"),
            "{told}"
        );
        assert_eq!(super::told(&found[1..]), None);
        let json = super::found(&found, "cc 1", &[]);
        assert_eq!(json["rows"][0]["differs"], true);
        assert_eq!(json["rows"][1]["unit"], "ns/op");
    }

    #[test]
    fn of_one_thread_the_best_window_counts_and_of_several_the_middle_one() {
        for (benchmark, threads, expected) in
            [("tlab.cas", 1, 9.0), ("tlab.cas", 2, 5.0), ("clock.tsc", 1, 1.0)]
        {
            let row = ROWS.iter().find(|row| row.benchmark() == benchmark && row.threads == threads);
            let case = row.unwrap().case(experiments::all(), 2).unwrap();
            assert_eq!(chosen_window(&case, vec![5.0, 9.0, 1.0]), Some(expected), "{benchmark} {threads}");
            assert_eq!(chosen_window(&case, vec![]), None);
        }
    }

    #[test]
    fn rows_are_chosen_by_name() {
        let of = |names: &[&str]| chosen(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>());
        assert_eq!(of(&[]).unwrap().len(), ROWS.len());
        assert_eq!(of(&["tlab.bare"]).unwrap().len(), 2);
        for (wrong, hint) in
            [("tlab.csa", "did you mean `tlab.cas`?"), ("everything", "the rows are tlab.bare, ")]
        {
            let Err(Failure::Usage(text)) = of(&[wrong]) else { panic!("{wrong}") };
            assert!(text.contains(hint), "{text}");
        }
    }
}
