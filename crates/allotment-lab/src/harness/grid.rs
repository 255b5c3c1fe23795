//! Makes the list of cases from experiments and the user's choices.

use super::left_out::{LeftOut, Reason};
use super::{Axis, Case, Experiment, JmhMode, Mode};
use crate::format::distinct;
use crate::format::phrase::count;
use crate::format::suggest::did_you_mean;
use allotment::raw::Processor;
use anyhow::ensure;

/// The most threads of a process: each has a stack.
const MAX_THREADS: usize = 4096;

/// The most cases of a run. A full grid of all experiments has hundreds of thousands.
const MAX_CASES: usize = 1_000_000;

/// Checks that a process can start `count` threads, which messages call `what`.
///
/// # Errors
/// There are too many; the error names the most.
pub fn check_threads(count: usize, what: &str) -> anyhow::Result<()> {
    ensure!(count <= MAX_THREADS, "{count} {what} are too many; a process starts at most {MAX_THREADS}");
    Ok(())
}

/// The choice of the user. An empty list means the experiment's own choice.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Modes of the experiments, by name.
    pub modes: Vec<String>,
    /// JMH modes.
    pub jmh_modes: Vec<JmhMode>,
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// Values for axes, as typed by the user.
    pub values: Vec<(String, Vec<String>)>,
    /// Whether to take the axes' quick values.
    pub quick: bool,
    /// Whether to take the axes' values for a full grid.
    pub full: bool,
}

impl Selection {
    /// Whether a mode was chosen.
    fn takes(&self, mode: &Mode) -> bool {
        self.modes.is_empty() || self.modes.iter().any(|name| name == mode.name)
    }
}

/// A choice that cannot be followed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GridError(String);

/// The cases of all `experiments` on this machine, of which `cpus` CPUs can be used, and the points
/// of the grid that were left out.
///
/// A choice may concern only some of the experiments and modes, but must concern one of those
/// chosen.
///
/// # Errors
/// There is no such mode; no chosen mode has such an axis; an axis does not take a value; there are
/// zero threads or too many; nothing is left to measure, or nothing with one of the choices.
pub fn expand(
    experiments: &[&Experiment],
    selection: &Selection,
    cpus: usize,
) -> Result<(Vec<Case>, Vec<LeftOut>), GridError> {
    expand_on(experiments, selection, cpus, Processor::detect())
}

/// [`expand`] for a machine with that processor.
pub(crate) fn expand_on(
    experiments: &[&Experiment],
    selection: &Selection,
    cpus: usize,
    processor: Processor,
) -> Result<(Vec<Case>, Vec<LeftOut>), GridError> {
    check_names(experiments, selection)?;
    let (mut cases, mut dropped) = (Vec::new(), Vec::new());
    for &experiment in experiments {
        let threads = match selection.threads.as_slice() {
            [] => (experiment.threads)(cpus, selection.quick),
            chosen => distinct(chosen.iter().copied()),
        };
        for mode in experiment.modes {
            let first_look = selection.quick && selection.modes.is_empty();
            if !selection.takes(mode) || first_look && experiment.slow.contains(&mode.name) {
                continue;
            }
            let jmh_modes = match selection.jmh_modes.as_slice() {
                [] => mode.jmh_modes.to_vec(),
                chosen => distinct(chosen.iter().copied()),
            };
            // Cases that are left out are made too.
            let room = MAX_CASES.saturating_sub(cases.len() + dropped.len());
            let room = room / (threads.len() * jmh_modes.len()).max(1);
            if room == 0 {
                return Err(GridError(format!(
                    "more than {MAX_CASES} cases; give fewer numbers of --threads"
                )));
            }
            let points = points(experiment, mode, selection, room)?;
            let machine = experiment.check_processor(mode.name, processor).err();
            for &jmh_mode in &jmh_modes {
                for params in &points {
                    for &threads in &threads {
                        let case = Case {
                            experiment: experiment.name.into(),
                            mode: mode.name.into(),
                            jmh_mode,
                            unit: (experiment.unit)(jmh_mode),
                            threads,
                            params: params.clone(),
                        };
                        let reason = machine
                            .map(Reason::Machine)
                            .or_else(|| experiment.nonsense(&case).map(Reason::Senseless));
                        match reason {
                            Some(reason) => dropped.push((case, reason)),
                            None => cases.push(case),
                        }
                    }
                }
            }
        }
    }
    if !cases.is_empty() {
        check_choices(experiments, selection, &cases, &dropped)?;
    }
    let left_out = dropped.into_iter().map(|(case, reason)| LeftOut::new(&case, reason));
    let mut left_out: Vec<LeftOut> = left_out.collect();
    left_out.dedup();
    match (cases.is_empty(), left_out.first()) {
        (false, _) => Ok((cases, left_out)),
        (true, Some(first)) => Err(GridError(format!("nothing is left to measure: {first}"))),
        (true, None) => Err(GridError("nothing is left to measure".into())),
    }
}

/// Every combination of the values of the axes that `mode` has. The last axis changes fastest. An
/// error if there are more than `most`.
fn points(
    experiment: &Experiment,
    mode: &Mode,
    selection: &Selection,
    most: usize,
) -> Result<Vec<Vec<(String, String)>>, GridError> {
    let mut points = vec![Vec::new()];
    for axis in experiment.axes.iter().filter(|axis| axis.applies_to(mode.name)) {
        let values = values(axis, selection)?;
        if points.len().saturating_mul(values.len()) > most {
            return Err(GridError(format!(
                "more than {MAX_CASES} cases; give fewer values of --{}",
                axis.name
            )));
        }
        points = points
            .into_iter()
            .flat_map(|point| {
                values.iter().map(move |value| {
                    let mut longer: Vec<(String, String)> = point.clone();
                    longer.push((axis.name.into(), value.clone()));
                    longer
                })
            })
            .collect();
    }
    Ok(points)
}

fn values(axis: &Axis, selection: &Selection) -> Result<Vec<String>, GridError> {
    let chosen: Vec<&str> = selection
        .values
        .iter()
        .filter(|(name, _)| name == axis.name)
        .flat_map(|(_, values)| values.iter().map(String::as_str))
        .collect();
    let texts = match (selection.quick, selection.full) {
        _ if !chosen.is_empty() => &chosen[..],
        (true, _) => axis.quick,
        (false, true) => axis.full,
        (false, false) => axis.default,
    };
    let values: Result<Vec<String>, String> = texts.iter().map(|text| axis.canonical(text)).collect();
    Ok(distinct(values.map_err(GridError)?))
}

/// Checks that each choice occurs in one of the `cases`. A choice that was left out of all cases is
/// an error, with the reason.
fn check_choices(
    experiments: &[&Experiment],
    selection: &Selection,
    cases: &[Case],
    dropped: &[(Case, Reason)],
) -> Result<(), GridError> {
    let check = |chosen: String, has: &dyn Fn(&Case) -> bool| {
        let why = dropped.iter().find(|(case, _)| has(case)).map(|(_, reason)| reason);
        match why {
            Some(why) if !cases.iter().any(has) => {
                Err(GridError(format!("nothing is left to measure with {chosen}: {why}")))
            }
            _ => Ok(()),
        }
    };
    for mode in &selection.modes {
        check(format!("mode {mode}"), &|case| case.mode == *mode)?;
    }
    for jmh_mode in &selection.jmh_modes {
        check(format!("JMH mode {jmh_mode}"), &|case| case.jmh_mode == *jmh_mode)?;
    }
    for &threads in &selection.threads {
        check(count(threads, "thread"), &|case| case.threads == threads)?;
    }
    let axes = || experiments.iter().flat_map(|experiment| experiment.axes);
    for (name, values) in &selection.values {
        for value in values {
            let alike: Vec<String> = axes()
                .filter(|axis| axis.name == name)
                .filter_map(|axis| axis.canonical(value).ok())
                .collect();
            let has =
                |case: &Case| case.params.iter().any(|(own, value)| own == name && alike.contains(value));
            check(format!("{name} {value}"), &has)?;
        }
    }
    Ok(())
}

/// The flag for a name that is not a parameter.
fn own_flag(name: &str) -> Option<&'static str> {
    Some(match name {
        "mode" => "--mode",
        "threads" => "--threads",
        "jmh-mode" => "--jmh-mode",
        "jvm" => "--jvm",
        "neighbours" => "--neighbours",
        "baseline" => "--baseline",
        _ => return None,
    })
}

fn check_names(experiments: &[&Experiment], selection: &Selection) -> Result<(), GridError> {
    if selection.threads.contains(&0) {
        return Err(GridError("0 threads measure nothing; write 1 or more".into()));
    }
    let started = selection.threads.iter().try_for_each(|&count| check_threads(count, "threads"));
    started.map_err(|why| GridError(why.to_string()))?;
    let axes: Vec<&str> = distinct(experiments.iter().flat_map(|e| e.axes).map(|axis| axis.name));
    let modes: Vec<&str> = distinct(experiments.iter().flat_map(|e| e.modes).map(|mode| mode.name));
    for (name, _) in &selection.values {
        if !axes.contains(&name.as_str()) {
            let hint = own_flag(name)
                .map_or_else(|| did_you_mean(name, axes.iter().copied()), |flag| format!("write {flag}; "));
            let known = known(&axes, "parameters");
            return Err(GridError(format!("there is no parameter `{name}`; {hint}{known}")));
        }
    }
    for name in &selection.modes {
        if !modes.contains(&name.as_str()) {
            let (meant, known) = (did_you_mean(name, modes.iter().copied()), known(&modes, "modes"));
            return Err(GridError(format!("there is no mode `{name}`; {meant}{known}")));
        }
    }
    for axis in experiments.iter().flat_map(|experiment| experiment.axes) {
        values(axis, selection)?;
    }
    for (name, _) in &selection.values {
        let having = modes_with(experiments, name);
        if !having.iter().any(|mode| selection.takes(mode)) {
            let names: Vec<&str> = distinct(having.iter().map(|mode| mode.name));
            return Err(GridError(format!(
                "no chosen mode has the parameter `{name}`; {}",
                known(&names, "modes that have it")
            )));
        }
    }
    Ok(())
}

/// The modes whose cases have a parameter.
fn modes_with(experiments: &[&Experiment], parameter: &str) -> Vec<&'static Mode> {
    let mut found = Vec::new();
    for experiment in experiments {
        let has_it = |axis: &Axis, mode: &Mode| axis.name == parameter && axis.applies_to(mode.name);
        let having = |mode: &&Mode| experiment.axes.iter().any(|axis| has_it(axis, mode));
        found.extend(experiment.modes.iter().filter(having));
    }
    found
}

fn known(names: &[&str], what: &str) -> String {
    if names.is_empty() {
        format!("there are no {what}")
    } else {
        format!("the {what} are {}", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;
    use crate::machine::processors::{NEOVERSE, ZEN};

    static GRID: Experiment = Experiment {
        name: "grid",
        modes: &[Mode::rate("tlab", ""), Mode::rate("shared", "")],
        axes: &[
            Axis::new("size", "", Kind::Size, &["16", "1k"]),
            Axis::new("tlab-size", "", Kind::Size, &["4k", "64k"]).quick(&["64k"]).only_in(&["tlab"]),
        ],
        check: |case| {
            let most = if case.mode == "tlab" { 2 << 20 } else { 1 << 20 };
            ensure!(case.size("size")? <= most, "objects larger than the heap");
            Ok(())
        },
        ..Experiment::NEW
    };

    fn expanded(selection: &Selection) -> Result<Vec<String>, String> {
        let print = |case: &Case| {
            let params: Vec<String> = case.params.iter().map(|(k, v)| format!("{k}={v}")).collect();
            format!("{}:{} {}", case.mode, case.threads, params.join(","))
        };
        let cases = expand(&[&GRID], selection, 2).map_err(|error| error.to_string())?.0;
        Ok(cases.iter().map(print).collect())
    }

    fn choose(axis: &str, values: &[&str]) -> Selection {
        let values = values.iter().map(|value| value.to_string()).collect();
        Selection { values: vec![(axis.into(), values)], threads: vec![1], ..Selection::default() }
    }

    #[test]
    fn a_quick_grid_is_small() {
        let cases = expanded(&Selection { quick: true, ..Selection::default() }).unwrap();
        let expected = [
            "tlab:1 size=16,tlab-size=65536",
            "tlab:2 size=16,tlab-size=65536",
            "shared:1 size=16",
            "shared:2 size=16",
        ];
        assert_eq!(cases, expected);
    }

    #[test]
    fn a_full_grid_has_every_combination_once() {
        let cases = expanded(&Selection::default()).unwrap();
        assert_eq!(cases.len(), (2 * 2 + 2) * 2);
        assert_eq!(distinct(cases.clone()), cases);
    }

    #[test]
    fn choices_replace_the_defaults() {
        let cases = expanded(&choose("size", &["64K", "65536", "32"])).unwrap();
        assert_eq!(cases.len(), 2 * 2 + 2, "equal values count once: {cases:?}");
        assert!(cases[0].starts_with("tlab:1 size=65536,"));
        let selection = Selection { modes: vec!["shared".into()], ..choose("size", &["8"]) };
        assert_eq!(expanded(&selection).unwrap(), ["shared:1 size=8"]);
    }

    #[test]
    fn a_parameter_need_not_be_that_of_every_chosen_mode() {
        let selection =
            Selection { modes: vec!["shared".into(), "tlab".into()], ..choose("tlab-size", &["4k"]) };
        let cases = expanded(&selection).unwrap();
        assert_eq!(cases[0], "tlab:1 size=16,tlab-size=4096");
        assert_eq!(cases.len(), 4);
    }

    #[test]
    fn senseless_points_are_left_out_with_the_reason() {
        let (cases, left_out) = expand(&[&GRID], &choose("size", &["2m", "16"]), 2).unwrap();
        assert_eq!((cases.len(), left_out.len()), (5, 1));
        assert!(left_out[0].to_string().contains("larger than the heap"));
        assert!(!left_out[0].is_for_another_machine());
        let error = expanded(&choose("size", &["4m"])).unwrap_err();
        assert!(error.contains("nothing is left") && error.contains("larger than the heap"), "{error}");
    }

    #[test]
    fn modes_of_another_machine_are_left_out_with_a_sentence() {
        let grid = Experiment { x86_64: &["tlab"], ..GRID };
        let on = |selection: &Selection, processor| {
            let found = expand_on(&[&grid], selection, 2, processor);
            found.map(|(cases, left_out)| (cases.len(), left_out)).map_err(|error| error.to_string())
        };
        let small = choose("size", &["16"]);
        let (cases, left_out) = on(&small, NEOVERSE).unwrap();
        let told = "grid.tlab left out: its loop of machine code needs x86-64, and this machine is AArch64";
        assert_eq!((cases, left_out.len(), left_out[0].to_string().as_str()), (1, 1, told));
        assert!(left_out[0].is_for_another_machine());
        assert_eq!(on(&small, ZEN), Ok((3, vec![])));
        // A mode that the user names, and that is the only one, is an error.
        let named = |modes: &[&str]| Selection {
            modes: modes.iter().map(|mode| mode.to_string()).collect(),
            ..choose("size", &["16"])
        };
        assert_eq!(
            on(&named(&["tlab"]), NEOVERSE).unwrap_err(),
            format!("nothing is left to measure: {told}")
        );
        let expected = "nothing is left to measure with mode tlab: its loop of machine code needs x86-64, and this \
                        machine is AArch64";
        assert_eq!(on(&named(&["tlab", "shared"]), NEOVERSE).unwrap_err(), expected);
    }

    #[test]
    fn a_grid_that_no_memory_holds_is_refused() {
        let many: Vec<String> = (1..=1100).map(|number| (number * 8).to_string()).collect();
        let selection = Selection {
            values: vec![("size".into(), many.clone()), ("tlab-size".into(), many)],
            ..Selection::default()
        };
        let expected = "more than 1000000 cases; give fewer values of --tlab-size";
        assert_eq!(expanded(&selection).unwrap_err(), expected);
        // Each point of the grid is one case per number of threads and JMH mode.
        let sizes = (1..=300).map(|number| (number * 8).to_string()).collect();
        let selection =
            Selection { values: vec![("size".into(), sizes)], threads: (1..=4000).collect(), ..selection };
        assert_eq!(expanded(&selection).unwrap_err(), "more than 1000000 cases; give fewer values of --size");
        // So is what is left out.
        let sizes: Vec<String> = (1..=600).map(|number| format!("{}m", number + 2)).collect();
        let selection = Selection {
            values: vec![("size".into(), sizes)],
            modes: vec!["shared".into()],
            threads: (1..=1700).collect(),
            ..selection
        };
        assert_eq!(expanded(&selection).unwrap_err(), "more than 1000000 cases; give fewer values of --size");
    }

    #[test]
    fn what_is_chosen_and_left_out_everywhere_is_refused() {
        let expected = "nothing is left to measure with size 4m: objects larger than the heap";
        assert_eq!(expanded(&choose("size", &["16", "4m"])).unwrap_err(), expected);
        let both = |modes: &[&str]| Selection {
            modes: modes.iter().map(|mode| mode.to_string()).collect(),
            ..choose("size", &["2m"])
        };
        assert!(expanded(&both(&[])).is_ok(), "left out of a mode that was not asked for");
        let error = expanded(&both(&["tlab", "shared"])).unwrap_err();
        assert_eq!(error, "nothing is left to measure with mode shared: objects larger than the heap");
    }

    #[test]
    fn names_that_nobody_has_are_answered_with_a_suggestion() {
        let error = |name: &str| expanded(&choose(name, &["1"])).unwrap_err();
        assert!(error("siez").starts_with("there is no parameter `siez`; did you mean `size`? the param"));
        assert!(error("mode").starts_with("there is no parameter `mode`; write --mode; "));
        let mode = Selection { modes: vec!["shraed".into()], ..Selection::default() };
        let expected = "there is no mode `shraed`; did you mean `shared`? the modes are tlab, shared";
        assert_eq!(expanded(&mode).unwrap_err(), expected);
    }

    #[test]
    fn impossible_choices_are_errors() {
        let zero = Selection { threads: vec![1, 0], ..Selection::default() };
        assert!(expanded(&zero).unwrap_err().contains("0 threads measure nothing"));
        let many = |threads| expanded(&Selection { threads: vec![1, threads], ..Selection::default() });
        assert!(many(4096).is_ok());
        for threads in [4097, usize::MAX] {
            let expected = format!("{threads} threads are too many; a process starts at most 4096");
            assert_eq!(many(threads).unwrap_err(), expected);
        }
        let error = expanded(&choose("eden", &["1m"])).unwrap_err();
        assert_eq!(error, "there is no parameter `eden`; the parameters are size, tlab-size");
        assert!(expanded(&choose("size", &["big"])).unwrap_err().starts_with("size: `big` is not a size"));
        let shared = Selection { modes: vec!["shared".into()], ..choose("tlab-size", &["4k"]) };
        let expected = "no chosen mode has the parameter `tlab-size`; the modes that have it are tlab";
        assert_eq!(expanded(&shared).unwrap_err(), expected);
        let mode = Selection { modes: vec!["heap".into()], ..Selection::default() };
        assert_eq!(expanded(&mode).unwrap_err(), "there is no mode `heap`; the modes are tlab, shared");
    }
}
