//! `--baseline`: the row that each experiment's rows are compared with, and whether the run has
//! such a row.
//!
//! A baseline may concern only some of the experiments, as every choice of the grid may; the other
//! experiments keep their own baseline. But it must concern one of the cases. Rows would be
//! compared with nothing if no row had the baseline, and the requested column would silently be
//! missing.

use super::{Failure, RunArguments};
use crate::format::distinct;
use crate::format::suggest::did_you_mean;
use crate::harness::neighbours::{NEIGHBOURS, NONE};
use crate::harness::{Baseline, Case, Experiment, JVM, label};

/// The word for no comparison.
const NOTHING: &str = "none";

/// For each experiment its baseline.
///
/// # Errors
/// [`Failure::Usage`] for a baseline that is not of the form WHAT=VALUE, that names nothing a
/// chosen experiment has, that is not a value of its axis, or that no case has. The set of JVMs is
/// not known yet at this point.
pub(super) fn baselines(
    arguments: &RunArguments,
    chosen: &[&Experiment],
    cases: &[Case],
) -> Result<Vec<Option<Baseline>>, Failure> {
    let own = |experiment: &&Experiment| {
        let alone = arguments.neighbours.map(|_| Baseline::axis(NEIGHBOURS, NONE));
        alone.or_else(|| experiment.baseline())
    };
    let Some(text) = arguments.baseline.as_deref() else { return Ok(chosen.iter().map(own).collect()) };
    if text == NOTHING {
        return Ok(vec![None; chosen.len()]);
    }
    let asked: Vec<Result<Baseline, String>> =
        chosen.iter().map(|experiment| asked_of(arguments, text, experiment)).collect();
    let is_held =
        |baseline: &Baseline| baseline.coordinate == JVM || cases.iter().any(|case| baseline.is_of(case));
    if !asked.iter().flatten().any(is_held) {
        let wrong = match asked.iter().flatten().next() {
            Some(baseline) => Err(nobody_has(baseline, text, chosen, cases)),
            None => {
                asked.into_iter().next().unwrap_or_else(|| Err("no experiment is chosen".into())).map(|_| ())
            }
        };
        return wrong.map(|()| Vec::new()).map_err(Failure::Usage);
    }
    let of = |(experiment, asked): (&&Experiment, Result<Baseline, String>)| {
        let held = |baseline: &Baseline| {
            let is_own = |case: &&Case| case.experiment == experiment.name;
            baseline.coordinate == JVM || cases.iter().filter(is_own).any(|case| baseline.is_of(case))
        };
        asked.ok().filter(held).or_else(|| own(experiment))
    };
    Ok(chosen.iter().zip(asked).map(of).collect())
}

/// The baseline of an experiment that a text asks for.
fn asked_of(arguments: &RunArguments, text: &str, experiment: &Experiment) -> Result<Baseline, String> {
    let wrong = |what: String| format!("--baseline `{text}`: {what}");
    let Some((coordinate, value)) = text.split_once('=') else {
        return Err(wrong("write mode=NAME, threads=N, PARAMETER=VALUE or none".into()));
    };
    let (coordinate, value) = (coordinate.trim(), value.trim());
    if let Some(axis) = experiment.axes.iter().find(|axis| axis.name == coordinate) {
        return Ok(Baseline::axis(coordinate, &axis.canonical(value).map_err(wrong)?));
    }
    match coordinate {
        "mode" => Ok(Baseline::mode(value)),
        "threads" => match value.parse::<usize>() {
            Ok(threads) => Ok(Baseline::axis(coordinate, &threads.to_string())),
            Err(_) => Err(wrong(format!("`{value}` is not a number of threads"))),
        },
        JVM if arguments.jvm.jvm != ["none"] => Ok(Baseline::axis(JVM, value)),
        JVM => Err(wrong("no JVM measures in this run; --jvm asks for them".into())),
        NEIGHBOURS if value == NONE => Ok(Baseline::axis(NEIGHBOURS, NONE)),
        NEIGHBOURS => {
            let neighbours: crate::harness::Neighbours = value.parse().map_err(wrong)?;
            Ok(Baseline::axis(NEIGHBOURS, &neighbours.to_string()))
        }
        other => {
            let mut names = vec!["mode", "threads"];
            names.extend(experiment.axes.iter().map(|axis| axis.name));
            let meant = did_you_mean(other, names.iter().copied());
            Err(wrong(format!("{meant}{} can be compared by {}", experiment.name, names.join(", "))))
        }
    }
}

/// The error that no case has a baseline, with the values that the cases do have.
fn nobody_has(baseline: &Baseline, text: &str, chosen: &[&Experiment], cases: &[Case]) -> String {
    let coordinate = baseline.coordinate.as_str();
    let value = |case: &Case| match coordinate {
        "mode" => Some(case.mode.clone()),
        "threads" => Some(case.threads.to_string()),
        name => case.params.iter().find(|(known, _)| known == name).map(|(_, value)| {
            let axes = Experiment::of(case, chosen).map_or(&[][..], |experiment| experiment.axes);
            label(axes, name, value)
        }),
    };
    match distinct(cases.iter().filter_map(value)).as_slice() {
        [] => format!("--baseline `{text}`: no case of this run has {coordinate}"),
        there => {
            let written = text.split_once('=').map_or(text, |(_, value)| value);
            let meant = did_you_mean(written, there.iter().map(String::as_str));
            format!(
                "--baseline `{text}`: no case of this run has that; {meant}{coordinate} is {}",
                there.join(", ")
            )
        }
    }
}
