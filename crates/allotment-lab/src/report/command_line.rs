//! The command that repeats a measurement, derived from rows alone. Files need not come from the
//! command line at hand, and a page about one experiment should repeat only that experiment.

use crate::format::coordinates::{mode, value};
use crate::format::time::iteration_time;
use crate::format::{Entry, ScoreRow, distinct, grouped};
use crate::harness::{Experiment, JVM, Plan, Settings};
use std::fmt::Write;

/// The number of forks, and the iterations of each.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Effort {
    forks: u32,
    plan: Plan,
}

impl Effort {
    /// The effort of a row.
    fn of(row: &ScoreRow) -> Effort {
        let &ScoreRow { warmup_iterations, warmup_time, iterations, time, .. } = row;
        Effort { forks: row.forks, plan: Plan { warmup_iterations, warmup_time, iterations, time } }
    }

    /// The effort of a run with these settings in a row's mode; `None` for a mode that is not JMH's.
    fn planned(settings: &Settings, row: &ScoreRow) -> Option<Effort> {
        let mode = clap::ValueEnum::from_str(&row.jmh_mode, false).ok()?;
        Some(Effort { forks: settings.forks(), plan: settings.plan(mode) })
    }

    fn flags(&self) -> String {
        let Effort { forks, plan: Plan { warmup_iterations, warmup_time, iterations, time } } = *self;
        let mut text =
            format!(" --forks {forks} --warmup-iterations {warmup_iterations} --iterations {iterations}");
        for (flag, time) in [("--warmup-time", warmup_time), ("--time", time)] {
            if !time.is_zero() {
                let _ = write!(text, " {flag} {}", iteration_time(time).replace(' ', ""));
            }
        }
        text
    }
}

/// The commands: one if some settings explain all rows, otherwise one for each way in which rows
/// were measured.
///
/// Grids are whole, so a command may measure points between those that rows of several runs have. A
/// command takes one kind of neighbours, and also measures without them. So there are commands for
/// each kind.
pub(super) fn commands(experiment: &Experiment, entries: &[&Entry]) -> Vec<String> {
    let kinds = distinct(entries.iter().filter_map(|entry| neighbours(&entry.row)));
    if kinds.len() < 2 {
        return commands_beside(experiment, entries);
    }
    let of = |kind: &String| {
        let own = |entry: &&&Entry| neighbours(&entry.row).is_none_or(|found| found == *kind);
        commands_beside(experiment, &entries.iter().filter(own).copied().collect::<Vec<_>>())
    };
    kinds.iter().flat_map(of).collect()
}

/// The neighbours of a row that has some.
fn neighbours(row: &ScoreRow) -> Option<String> {
    value(row, "neighbours").map(|(found, _)| found).filter(|kind| kind != "none")
}

/// The commands for rows with one kind of neighbours or none.
fn commands_beside(experiment: &Experiment, entries: &[&Entry]) -> Vec<String> {
    // The command itself determines the times of JVMs.
    let ours: Vec<&Entry> =
        entries.iter().filter(|entry| value(&entry.row, JVM).is_none()).copied().collect();
    let explain = |settings: &Settings| {
        ours.iter().all(|entry| Effort::planned(settings, &entry.row) == Some(Effort::of(&entry.row)))
    };
    if ours.is_empty() {
        return Vec::new();
    }
    if explain(&Settings::default()) {
        return vec![command(experiment, entries, "")];
    }
    if explain(&Settings { quick: true, ..Settings::default() }) {
        return vec![command(experiment, entries, " --quick")];
    }
    let mut plans = grouped(ours.into_iter().map(|entry| (Effort::of(&entry.row), entry)));
    let jvms = entries.iter().filter(|entry| value(&entry.row, JVM).is_some()).copied();
    if let Some((_, first)) = plans.first_mut() {
        first.extend(jvms);
    }
    plans.iter().map(|(plan, own)| command(experiment, own, &plan.flags())).collect()
}

fn command(experiment: &Experiment, entries: &[&Entry], flags: &str) -> String {
    let rows = || entries.iter().map(|entry| &entry.row);
    let ours = || rows().filter(|row| value(row, JVM).is_none());
    let fact = |name: &str| entries.iter().find_map(|entry| entry.origin.fact(name));
    let mut text = String::new();
    if let Some(options) = fact("ALLOTMENT_OPTIONS") {
        let _ = write!(text, "ALLOTMENT_OPTIONS={} ", quoted(options));
    }
    let _ = write!(text, "allotment run {}", experiment.name);
    let modes = distinct(ours().map(|row| mode(row).to_string()));
    if experiment.modes.len() != modes.len() {
        let _ = write!(text, " --mode {}", quoted(&modes.join(",")));
    }
    let jmh_modes = distinct(ours().map(|row| row.jmh_mode.clone()));
    let usual = |row: &ScoreRow| {
        let known = experiment.modes.iter().find(|known| known.name == mode(row));
        known.is_some_and(|known| {
            let own = distinct(ours().filter(|r| mode(r) == mode(row)).map(|r| r.jmh_mode.clone()));
            own == distinct(known.jmh_modes.iter().map(ToString::to_string))
        })
    };
    if !ours().all(usual) {
        let _ = write!(text, " --jmh-mode {}", quoted(&jmh_modes.join(",")));
    }
    for axis in experiment.axes {
        let values = distinct(rows().filter_map(|row| Some(value(row, axis.name)?.1)));
        if !values.is_empty() {
            let _ = write!(text, " --{} {}", axis.name, quoted(&values.join(",")));
        }
    }
    let _ = write!(text, " --threads {}", distinct(rows().map(|row| row.threads.to_string())).join(","));
    text += flags;
    if let Some(pin) = fact("pin").filter(|pin| *pin != "auto") {
        let _ = write!(text, " --pin {}", quoted(pin));
    }
    // Neighbours are not an axis of the experiment.
    if let Some(kind) = rows().find_map(neighbours) {
        let _ = write!(text, " --neighbours {}", quoted(&kind));
    }
    let on_jvm = || entries.iter().filter(|entry| value(&entry.row, JVM).is_some());
    let programs = distinct(on_jvm().map(|entry| entry.origin.program.clone()));
    let collectors = distinct(on_jvm().filter_map(|entry| {
        let (jvm, _) = value(&entry.row, JVM)?;
        Some(jvm.split_once('-').map_or(jvm.clone(), |(_, collector)| collector.to_string()))
    }));
    if !programs.is_empty() {
        let _ = write!(
            text,
            " --jvm {} --jvm-collector {}",
            quoted(&programs.join(",")),
            quoted(&collectors.join(","))
        );
    }
    text
}

/// The text quoted as one word of a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=,.:/+%@".contains(c);
    if text.chars().all(plain) && !text.is_empty() {
        text.into()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;
    use crate::format::{Origin, Parameter, examples};

    fn entry(benchmark: &str, jmh_mode: &str, parameters: &[(&str, &str)], arguments: &[&str]) -> Entry {
        let parameter = |&(name, value): &(&str, &str)| Parameter {
            name: name.into(),
            value: value.into(),
            label: value.into(),
        };
        let row = ScoreRow {
            benchmark: benchmark.into(),
            jmh_mode: jmh_mode.into(),
            parameters: parameters.iter().map(parameter).collect(),
            ..examples::row()
        };
        let arguments = arguments.iter().map(ToString::to_string).collect();
        let origin = Origin { vm_name: "allotment".into(), arguments, ..Origin::default() };
        Entry { row, origin }
    }

    fn of(name: &str, entries: &[Entry]) -> Vec<String> {
        let experiment = experiments::all().iter().find(|one| one.name == name).unwrap();
        commands(experiment, &entries.iter().collect::<Vec<_>>())
    }

    #[test]
    fn what_differs_from_the_defaults_is_said() {
        let entries = [
            entry("clock.tsc", "avgt", &[("reads", "1")], &["pin=always", "ALLOTMENT_OPTIONS=A=1 B=2"]),
            entry("clock.tsc", "avgt", &[("reads", "64")], &[]),
        ];
        let expected = "ALLOTMENT_OPTIONS='A=1 B=2' allotment run clock --mode tsc --reads 1,64 --threads 4 \
                        --forks 2 --warmup-iterations 3 --iterations 2 --warmup-time 1s --time 300ms \
                        --pin always";
        assert_eq!(of("clock", &entries), [expected]);
    }

    #[test]
    fn usual_settings_need_no_flags() {
        let mut first = entry("clock.tsc", "avgt", &[("reads", "1")], &[]);
        let plan = Settings::default().plan(crate::harness::JmhMode::AverageTime);
        first.row.forks = 3;
        (first.row.warmup_iterations, first.row.iterations) = (plan.warmup_iterations, plan.iterations);
        (first.row.warmup_time, first.row.time) = (plan.warmup_time, plan.time);
        let expected = "allotment run clock --mode tsc --reads 1 --threads 4";
        assert_eq!(of("clock", &[first.clone()]), [expected]);
        let mut second = first.clone();
        second.row.iterations = 50;
        assert_eq!(of("clock", &[first, second]).len(), 2, "a command for each way");
    }
}
