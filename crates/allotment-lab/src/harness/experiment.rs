//! The description of an experiment, and the function that measures.

use super::{Axis, Bench, Case, JmhMode, ParameterError, TimeUnit};
use crate::format::{ScoreRow, told};
use crate::jvm::Workload;
use crate::machine::{NeedsX86_64, require_x86_64};
use allotment::Downcast;
use allotment::raw::{Processor, Shape};
use std::time::Duration;

/// A question that cases can answer. See [`crate::experiments`] for how to add one.
///
/// It is a structure of values and functions. An experiment names only its differences from
/// [`Experiment::NEW`]. Refused: a trait. Most of its items would be constants, and a method for
/// each constant is three lines.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name on the command line and in results: one lower-case word, hyphens allowed.
    pub name: &'static str,
    /// The question that it answers, in one line.
    pub question: &'static str,
    /// The ways of doing the work that are compared.
    pub modes: &'static [Mode],
    /// Its parameters besides the number of threads, the slowest-changing first.
    pub axes: &'static [Axis],
    /// The modes that a quick run leaves out, unless the user names them.
    pub slow: &'static [&'static str],
    /// The modes that run a loop of machine code, which is made for x86-64 alone. On another machine
    /// they are left out.
    pub x86_64: &'static [&'static str],
    /// The numbers of measuring threads, from the number of CPUs and from whether the run is quick.
    pub threads: fn(usize, bool) -> Vec<usize>,
    /// The unit of time for scores in a JMH mode.
    pub unit: fn(JmhMode) -> TimeUnit,
    /// Coordinate and value of the default baseline: the rows that the last column of the table
    /// compares with.
    pub baseline: Option<(&'static str, &'static str)>,
    /// The answer to the question, as far as the errors allow: a sentence for each part of the
    /// question, with the name of its mode. Printed at the end of a run and at the top of a page.
    /// Empty if the rows do not answer the question.
    pub answers: fn(&[ScoreRow]) -> Vec<String>,
    /// The rows without which there is no answer, as the end of `no answer without`.
    pub needs: &'static str,
    /// Further findings, a sentence each, as far as the errors allow. Printed below the table.
    pub verdicts: fn(&[ScoreRow]) -> Vec<String>,
    /// The choice of charts, where the default choice by numbers of values is a bad one.
    pub charts: Charts,
    /// The latencies that answer the question, where the score says little since threads mostly
    /// sleep. The page then has curves of percentiles instead of charts of scores.
    pub latencies: &'static [Latency],
    /// Fails with the reason if a point of the grid makes no sense (a buffer larger than the heap).
    /// Such points are left out. A missing parameter is not such a reason: it is reported when the
    /// case runs.
    pub check: fn(&Case) -> anyhow::Result<()>,
    /// The time for which a case may report nothing, beyond the time of an iteration: the time of a
    /// single shot that is known to be long.
    pub silence: fn(&Case) -> Duration,
    /// The time of a single shot with its preparation, for estimates. `None` unless the parameters
    /// determine it.
    pub shot_time: fn(&Case) -> Option<Duration>,
    /// The counterpart of a case on Java virtual machines; `None` if there is none, or if a
    /// parameter is missing.
    pub on_jvm: fn(&Case) -> Result<Option<Workload>, ParameterError>,
    /// The shapes of its objects, and the Java classes that stand beside them.
    pub objects: fn() -> Vec<ObjectShape>,
    /// Measures one case, in a process of its own: sets up the state that threads share, then calls
    /// [`Bench::measure`] or a similar method once. Must not print on standard output. An error ends
    /// the fork: its results are dropped, and the message is shown.
    pub run: fn(&Case, &mut Bench<'_>) -> anyhow::Result<()>,
}

impl Experiment {
    /// The defaults of all experiments.
    pub const NEW: Experiment = Experiment {
        name: "",
        question: "?",
        modes: &[],
        axes: &[],
        slow: &[],
        x86_64: &[],
        threads: up_to_all,
        unit: |mode| match mode {
            JmhMode::Throughput => TimeUnit::Microseconds,
            JmhMode::AverageTime | JmhMode::SampleTime => TimeUnit::Nanoseconds,
            JmhMode::SingleShot => TimeUnit::Milliseconds,
        },
        baseline: None,
        answers: |_| Vec::new(),
        needs: "rows to compare",
        verdicts: |_| Vec::new(),
        charts: Charts { along: None, by_mode: false },
        latencies: &[],
        check: |_| Ok(()),
        silence: |_| Duration::ZERO,
        shot_time: |_| None,
        on_jvm: |_| Ok(None),
        objects: Vec::new,
        run: |_, _| Ok(()),
    };

    /// The experiment of a case, if it is among `all`.
    pub fn of<'e>(case: &Case, all: &[&'e Experiment]) -> Option<&'e Experiment> {
        all.iter().find(|experiment| experiment.name == case.experiment).copied()
    }

    /// The default baseline.
    pub fn baseline(&self) -> Option<Baseline> {
        self.baseline.map(|(coordinate, value)| Baseline::axis(coordinate, value))
    }

    /// Checks that a mode can be measured on a processor.
    ///
    /// # Errors
    /// The mode needs a processor of x86-64, and this one is another.
    pub fn check_processor(&self, mode: &str, processor: Processor) -> Result<(), NeedsX86_64> {
        let needs_it = self.x86_64.contains(&mode);
        if needs_it { require_x86_64(processor, "its loop of machine code").map(drop) } else { Ok(()) }
    }

    /// Why a point of the grid makes no sense. `None` if it makes sense, or if a parameter is missing
    /// and the check cannot tell.
    pub fn nonsense(&self, case: &Case) -> Option<String> {
        let why = (self.check)(case).err()?;
        (!why.is::<ParameterError>()).then(|| told(&why))
    }

    /// The counterpart of a case on Java virtual machines.
    pub fn on_jvm(&self, case: &Case) -> Option<Workload> {
        (self.on_jvm)(case).unwrap_or(None)
    }
}

/// The default numbers of threads: 1 and the number of CPUs in a quick run, otherwise the powers of
/// two up to the number of CPUs.
fn up_to_all(cpus: usize, quick: bool) -> Vec<usize> {
    let mut threads: Vec<usize> =
        if quick { vec![1] } else { (0..).map(|power| 1 << power).take_while(|&n| n < cpus).collect() };
    if !threads.contains(&cpus) {
        threads.push(cpus);
    }
    threads
}

/// A way of doing the work of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Its name: the part of the benchmark's name after the dot.
    pub name: &'static str,
    /// A description in a few words.
    pub what: &'static str,
    /// The scores that are computed unless the user asks for others.
    pub jmh_modes: &'static [JmhMode],
}

impl Mode {
    /// A mode whose score is a throughput.
    pub const fn rate(name: &'static str, what: &'static str) -> Mode {
        Mode { name, what, jmh_modes: &[JmhMode::Throughput] }
    }

    /// A mode whose score is the mean time of an operation.
    pub const fn timed(name: &'static str, what: &'static str) -> Mode {
        Mode { name, what, jmh_modes: &[JmhMode::AverageTime] }
    }

    /// A mode whose score is the time of a single shot.
    pub const fn shot(name: &'static str, what: &'static str) -> Mode {
        Mode { name, what, jmh_modes: &[JmhMode::SingleShot] }
    }
}

/// The shape of objects that an experiment makes.
#[derive(Clone, Copy, Debug)]
pub struct ObjectShape {
    /// The shape.
    pub shape: &'static Shape,
    /// Its Java counterpart, without the package: a class, or two as `Wide:Narrow`. The second has
    /// the same size where references have 4 bytes.
    pub java: Option<&'static str>,
}

impl ObjectShape {
    /// The shape of a type.
    pub fn of<T: Downcast>(java: Option<&'static str>) -> ObjectShape {
        ObjectShape { shape: T::type_shape().shape(), java }
    }
}

/// A latency whose percentiles answer the question of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Label of the metric that holds the distribution of the times. Older files have only some
    /// percentiles: `<label>.p99`, and `<label>.max` or `<label>.p100`.
    pub label: &'static str,
    /// The action that takes that time, in a few words.
    pub what: &'static str,
}

/// How the rows of an experiment become charts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charts {
    /// `threads` or the axis that runs along x. `None`: the one with the most values.
    pub along: Option<&'static str>,
    /// Whether each mode has charts of its own, because its scores mean something different.
    pub by_mode: bool,
}

/// The choice of baselines: the rows with this value in this coordinate. Another row is compared
/// with the baseline that agrees with it in all other coordinates that the baseline has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    /// `mode`, `threads` or the name of an axis.
    pub coordinate: String,
    /// The canonical value.
    pub value: String,
}

impl Baseline {
    /// The rows of one mode.
    pub fn mode(name: &str) -> Baseline {
        Baseline { coordinate: "mode".into(), value: name.into() }
    }

    /// The rows with one value of an axis.
    pub fn axis(name: &str, value: &str) -> Baseline {
        Baseline { coordinate: name.into(), value: value.into() }
    }

    /// Whether the row of a case is one of the baselines.
    pub fn is_of(&self, case: &Case) -> bool {
        match self.coordinate.as_str() {
            "mode" => self.value == case.mode || self.value == case.benchmark(),
            "threads" => self.value == case.threads.to_string(),
            axis => case.params.iter().any(|(name, value)| name == axis && *value == self.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_reach_from_one_to_all() {
        assert_eq!(up_to_all(6, false), [1, 2, 4, 6]);
        assert_eq!(up_to_all(8, false), [1, 2, 4, 8]);
        assert_eq!(up_to_all(8, true), [1, 8]);
        assert_eq!((up_to_all(1, false), up_to_all(1, true)), (vec![1], vec![1]));
    }
}
