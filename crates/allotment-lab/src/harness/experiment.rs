//! What an experiment has to say about itself, and the one thing it has to do.

use super::{Axis, Bench, Case, JmhMode, TimeUnit};
use crate::format::{Comparison, ScoreRow};
use crate::jvm::Workload;
use allotment::Downcast;
use allotment::raw::Shape;
use std::time::Duration;

/// A question that cases can answer. See [`crate::experiments`] for how to add one.
pub trait Experiment: Sync {
    /// Its name on the command line and in results: one lower-case word, hyphens allowed.
    fn name(&self) -> &'static str;

    /// What it answers, in one line.
    fn question(&self) -> &'static str;

    /// The ways of doing the thing that are compared.
    fn modes(&self) -> &'static [Mode];

    /// Its parameters besides the number of threads, the slowest-changing first.
    fn axes(&self) -> &'static [Axis] {
        &[]
    }

    /// Whether a quick run that names no modes measures this one. Such a run is a first look, for
    /// which somebody waits.
    fn is_quick(&self, _mode: &Mode) -> bool {
        true
    }

    /// The numbers of threads to measure with on a machine of `cpus` CPUs: 1 and all of them in a
    /// quick run, else the powers of two up to all of them.
    fn threads(&self, cpus: usize, quick: bool) -> Vec<usize> {
        let mut threads: Vec<usize> =
            if quick { vec![1] } else { (0..).map(|power| 1 << power).take_while(|&n| n < cpus).collect() };
        if !threads.contains(&cpus) {
            threads.push(cpus);
        }
        threads
    }

    /// The unit of time for scores in a JMH mode.
    fn unit(&self, mode: JmhMode) -> TimeUnit {
        match mode {
            JmhMode::Throughput => TimeUnit::Microseconds,
            JmhMode::AverageTime | JmhMode::SampleTime => TimeUnit::Nanoseconds,
            JmhMode::SingleShot => TimeUnit::Milliseconds,
        }
    }

    /// What the ratios in the last column of the table are against, unless the user asks for
    /// another.
    fn baseline(&self) -> Option<Baseline> {
        None
    }

    /// The answer to the question, as the numbers and their errors allow: a sentence for each part
    /// of the question. A sentence names the mode it speaks of. Printed at the end of a run and at
    /// the top of a page. Empty where the rows do not answer the question.
    fn answers(&self, _rows: &[ScoreRow]) -> Vec<String> {
        Vec::new()
    }

    /// The rows without which there is no answer, as the end of `no answer without`.
    fn needs(&self) -> &'static str {
        "rows to compare"
    }

    /// What the rows say besides, a sentence each, as the numbers and their errors allow; printed
    /// below the table.
    fn verdicts(&self, _rows: &[ScoreRow], _comparison: &Comparison) -> Vec<String> {
        Vec::new()
    }

    /// What its charts should show, where the choice by the numbers of values is a bad one.
    fn charts(&self) -> Charts {
        Charts::default()
    }

    /// What its threads wait for, where the score says little because they sleep for most of it. The
    /// page then has curves of percentiles instead of charts of scores.
    fn latencies(&self) -> &'static [Latency] {
        &[]
    }

    /// Why a point of the grid makes no sense (a buffer larger than the heap), or none if it does.
    /// Such points are left out.
    fn nonsense(&self, _case: &Case) -> Option<String> {
        None
    }

    /// How long a case may say nothing within one call, beyond the time of an iteration: what a
    /// single shot takes that is known to take long.
    fn silence(&self, _case: &Case) -> Duration {
        Duration::ZERO
    }

    /// How long a single shot of a case takes with what is prepared for it, where its parameters
    /// determine that; none where only a measurement tells. For estimates.
    fn shot_time(&self, _case: &Case) -> Option<Duration> {
        None
    }

    /// What stands beside a case where Java virtual machines measure too; none if nothing does.
    fn on_jvm(&self, _case: &Case) -> Option<Workload> {
        None
    }

    /// The shapes of its objects, and the Java classes that stand beside them.
    fn objects(&self) -> Vec<ObjectShape> {
        Vec::new()
    }

    /// Measures one case, in a process of its own: sets up what the threads share, then calls
    /// [`Bench::measure`] or [`Bench::measure_with`] once. Must not print on standard output.
    ///
    /// # Errors
    /// Whatever keeps it from measuring; the fork's results are then dropped and the message is
    /// shown.
    fn run(&self, case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()>;
}

/// A way of doing what an experiment is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Its name: the part of the benchmark's name after the dot.
    pub name: &'static str,
    /// What it does, in a few words.
    pub what: &'static str,
    /// What is computed unless the user asks for something else.
    pub jmh_modes: &'static [JmhMode],
}

/// The shape of objects that an experiment makes.
#[derive(Clone, Copy, Debug)]
pub struct ObjectShape {
    /// The shape.
    pub shape: &'static Shape,
    /// The Java class that stands beside it, without its package; or two, as `Wide:Narrow`: the
    /// second has the same size where references have 4 bytes.
    pub java: Option<&'static str>,
}

impl ObjectShape {
    /// The shape of a type.
    pub fn of<T: Downcast>(java: Option<&'static str>) -> ObjectShape {
        ObjectShape { shape: T::type_shape().shape(), java }
    }
}

/// Times whose percentiles are the answer of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Label of the metric that holds their distribution. Files from before there were
    /// distributions have some percentiles alone: `<label>.p99`, and `<label>.max` or
    /// `<label>.p100`.
    pub label: &'static str,
    /// What takes that time, in a few words.
    pub what: &'static str,
}

/// How the rows of an experiment become charts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charts {
    /// `threads` or the axis that runs along x; none for the one with the most values.
    pub along: Option<&'static str>,
    /// Whether each mode has charts of its own, because its scores mean something else.
    pub by_mode: bool,
}

/// Which rows are the baselines: those with this value in this coordinate. Another row is compared
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

    struct Silent;

    impl Experiment for Silent {
        fn name(&self) -> &'static str {
            "silent"
        }
        fn question(&self) -> &'static str {
            "?"
        }
        fn modes(&self) -> &'static [Mode] {
            &[]
        }
        fn run(&self, _: &Case, _: &mut Bench<'_>) -> anyhow::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn threads_reach_from_one_to_all() {
        assert_eq!(Silent.threads(6, false), [1, 2, 4, 6]);
        assert_eq!(Silent.threads(8, false), [1, 2, 4, 8]);
        assert_eq!(Silent.threads(8, true), [1, 8]);
        assert_eq!((Silent.threads(1, false), Silent.threads(1, true)), (vec![1], vec![1]));
    }
}
