//! The result of a run: rows of scores, with the values they come from.
//!
//! The values are kept, and every statistic is computed on request, so that no two formats can
//! disagree about a number.

use super::Origin;
use super::phrase::count;
use crate::statistics::{JMH_PERCENTILES, Summary, Weighted, percentile, percentiles};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How the values of a metric become one score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Combine {
    /// Arithmetic mean, with an error.
    Average,
    /// Sum, without an error: events that happened.
    Sum,
    /// Largest value, without an error: peaks.
    Maximum,
}

/// The values behind a score: per fork, per iteration.
#[derive(Clone, Debug, PartialEq)]
pub enum Samples {
    /// One value per iteration.
    Values(Vec<Vec<f64>>),
    /// One histogram per iteration, each sorted by value.
    Histograms(Vec<Vec<Vec<Weighted>>>),
    /// The statistics of a file that does not hold the values.
    Stated(Summary),
}

/// A named series of values with its unit, e.g. `gc.alloc.rate.norm` in `B/op`.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// JMH's label where JMH has one, without the middle dot of releases before 1.37. Empty for the
    /// score of a benchmark itself.
    pub label: String,
    /// Unit as JMH spells it: `ops/us`, `ns/op`, `MB/sec` (which means MiB/s), `B/op`, `counts`.
    pub unit: String,
    /// How the values become the score.
    pub combine: Combine,
    /// The values.
    pub samples: Samples,
}

impl Metric {
    /// Count, mean, deviation and error over all forks and iterations pooled.
    pub fn summary(&self) -> Summary {
        match &self.samples {
            Samples::Values(_) => Summary::of(&self.pooled_values()),
            Samples::Histograms(_) => Summary::of_weighted(&self.pooled_histogram()),
            Samples::Stated(summary) => *summary,
        }
    }

    /// The score; NaN without values.
    pub fn score(&self) -> f64 {
        let summary = self.summary();
        match self.combine {
            Combine::Average => summary.mean,
            Combine::Sum => summary.mean * summary.count as f64,
            Combine::Maximum => summary.max,
        }
    }

    /// The error of the score; NaN for sums, maxima and two values or fewer.
    pub fn error(&self) -> f64 {
        if self.combine == Combine::Average { self.summary().error } else { f64::NAN }
    }

    /// Both ends of the interval; for sums and maxima the score itself, as in JMH.
    pub fn interval(&self) -> [f64; 2] {
        match self.combine {
            Combine::Average => self.summary().interval(),
            Combine::Sum | Combine::Maximum => [self.score(); 2],
        }
    }

    /// The percentiles of [`JMH_PERCENTILES`]: of the iterations' values, or of the single timings.
    pub fn percentiles(&self) -> [f64; 10] {
        match &self.samples {
            Samples::Values(_) => percentiles(&self.pooled_values()),
            Samples::Histograms(_) => {
                let pooled = self.pooled_histogram();
                JMH_PERCENTILES.map(|(_, p)| percentile(&pooled, p))
            }
            Samples::Stated(_) => [f64::NAN; 10],
        }
    }

    /// The means of the single forks that have values, in the order of the forks.
    pub fn fork_means(&self) -> Vec<f64> {
        let means: Vec<Summary> = match &self.samples {
            Samples::Values(forks) => forks.iter().map(|fork| Summary::of(fork)).collect(),
            Samples::Histograms(forks) => {
                forks.iter().map(|fork| Summary::of_weighted(&pool(fork.iter()))).collect()
            }
            Samples::Stated(_) => Vec::new(),
        };
        means.iter().filter(|fork| fork.count > 0).map(|fork| fork.mean).collect()
    }

    /// The single values of all forks; empty for histograms, and for statistics from a file.
    pub fn pooled_values(&self) -> Vec<f64> {
        match &self.samples {
            Samples::Values(forks) => forks.concat(),
            Samples::Histograms(_) | Samples::Stated(_) => Vec::new(),
        }
    }

    /// The histogram of all forks and iterations, sorted by value; empty for single values, and for
    /// statistics from a file.
    pub fn pooled_histogram(&self) -> Vec<Weighted> {
        match &self.samples {
            Samples::Values(_) | Samples::Stated(_) => Vec::new(),
            Samples::Histograms(forks) => pool(forks.iter().flatten()),
        }
    }
}

/// Joins histograms into one, sorted by value.
fn pool<'a>(histograms: impl Iterator<Item = &'a Vec<Weighted>>) -> Vec<Weighted> {
    let mut all: Vec<Weighted> = histograms.flatten().copied().collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.dedup_by(|next, kept| {
        let equal = next.0 == kept.0;
        if equal {
            kept.1 = kept.1.saturating_add(next.1);
        }
        equal
    });
    all
}

/// One coordinate of a row, e.g. size = 65536, shown as 64k.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name of the axis.
    pub name: String,
    /// The value as files hold it: sizes in bytes.
    pub value: String,
    /// The value as the table shows it.
    pub label: String,
}

/// The scores of one case.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreRow {
    /// `<experiment>.<mode>`.
    pub benchmark: String,
    /// JMH's mode: `thrpt`, `avgt`, `sample` or `ss`.
    pub jmh_mode: String,
    /// Measuring threads.
    pub threads: usize,
    /// All other coordinates, in the order of the experiment's axes.
    pub parameters: Vec<Parameter>,
    /// Processes that were requested.
    pub forks: u32,
    /// Warm-up iterations per fork.
    pub warmup_iterations: u32,
    /// Time of each warm-up iteration; zero for a single shot.
    pub warmup_time: Duration,
    /// Measured iterations per fork.
    pub iterations: u32,
    /// Time of each measured iteration; zero for a single shot.
    pub time: Duration,
    /// The score.
    pub primary: Metric,
    /// All other metrics, in order of first appearance.
    pub secondary: Vec<Metric>,
    /// Measured iterations that were requested and are missing (interrupted, or a fork failed).
    pub missing: u32,
    /// The Java virtual machine that measured the row; `None` if this program measured it.
    pub machine: Option<Origin>,
    /// Why a process of the case failed, on one line; `None` if none did. The values are those of
    /// the processes before it. There may be none.
    pub failure: Option<String>,
}

impl ScoreRow {
    /// Name with every coordinate, for messages: `clock.tsc (batch = 64, threads = 2, avgt)`.
    pub fn full_name(&self) -> String {
        let mut name = format!("{} (", self.benchmark);
        for Parameter { name: axis, label, .. } in &self.parameters {
            name += &format!("{axis} = {label}, ");
        }
        name + &format!("threads = {}, {})", self.threads, self.jmh_mode)
    }

    /// Whether there is a score. A case whose first process failed has none.
    pub fn is_measured(&self) -> bool {
        self.failure.is_none() || self.primary.summary().count > 0
    }

    /// `clock.tsc (threads = 2, avgt), fork 1 of 3: was killed by signal 9`; `None` if no process
    /// failed.
    pub fn failure_text(&self) -> Option<String> {
        self.failure.as_ref().map(|why| format!("{}, {why}", self.full_name()))
    }

    /// `clock.tsc (threads = 2, avgt): 1 of 15 iterations is missing`.
    pub fn missing_text(&self) -> String {
        let all = u64::from(self.iterations) * u64::from(self.forks);
        let (all, verb) = (count(all as usize, "iteration"), if self.missing == 1 { "is" } else { "are" });
        format!("{}: {} of {all} {verb} missing", self.full_name(), self.missing)
    }

    /// The rows that JMH adds to a row in sample mode: label and value of some percentiles of the
    /// timings. Empty in all other modes, where percentiles of iterations would be mistaken for
    /// latencies.
    pub fn percentile_rows(&self) -> Vec<(&'static str, f64)> {
        const ROWS: [(&str, f64); 8] = [
            ("p0.00", 0.0),
            ("p0.50", 50.0),
            ("p0.90", 90.0),
            ("p0.95", 95.0),
            ("p0.99", 99.0),
            ("p0.999", 99.9),
            ("p0.9999", 99.99),
            ("p1.00", 100.0),
        ];
        if !matches!(self.primary.samples, Samples::Histograms(_)) {
            return Vec::new();
        }
        let pooled = self.primary.pooled_histogram();
        ROWS.iter().map(|&(label, p)| (label, percentile(&pooled, p))).collect()
    }
}

/// All rows of a run and where they were measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The rows, in the order of the grid.
    pub rows: Vec<ScoreRow>,
    /// Path of the program that measured.
    pub program: String,
    /// The version of the program.
    pub version: String,
    /// The machine and the settings, one `key=value` each. JMH's files have room for them in
    /// `jvmArgs`.
    pub circumstances: Vec<String>,
    /// The missing parts of the whole run, e.g. `interrupted, 2 of 3 cases not measured`; `None` if
    /// the run completed.
    pub incomplete: Option<String>,
    /// Reasons for doubt about the figures, a sentence each.
    pub warnings: Vec<String>,
}

#[cfg(test)]
pub(crate) mod examples {
    use super::*;

    /// A metric with one value per iteration.
    pub(crate) fn metric(label: &str, unit: &str, combine: Combine, forks: &[&[f64]]) -> Metric {
        let samples = Samples::Values(forks.iter().map(|fork| fork.to_vec()).collect());
        Metric { label: label.into(), unit: unit.into(), combine, samples }
    }

    /// A complete row of two forks with two iterations each.
    pub(crate) fn row() -> ScoreRow {
        ScoreRow {
            benchmark: "alloc.tlab".into(),
            jmh_mode: "thrpt".into(),
            threads: 4,
            parameters: vec![Parameter { name: "size".into(), value: "65536".into(), label: "64k".into() }],
            forks: 2,
            warmup_iterations: 3,
            warmup_time: Duration::from_secs(1),
            iterations: 2,
            time: Duration::from_millis(300),
            primary: metric("", "ops/us", Combine::Average, &[&[244.0, 248.0], &[252.0, 256.0]]),
            secondary: vec![
                metric("gc.alloc.rate", "MB/sec", Combine::Average, &[&[3814.7]]),
                metric("gc.count", "counts", Combine::Sum, &[&[2.0, 3.0], &[1.0]]),
            ],
            missing: 0,
            machine: None,
            failure: None,
        }
    }

    /// A row in sample mode.
    pub(crate) fn sample_row() -> ScoreRow {
        let samples = Samples::Histograms(vec![vec![vec![(10.0, 3), (20.0, 1)]], vec![vec![(10.0, 1)]]]);
        let primary =
            Metric { label: String::new(), unit: "ns/op".into(), combine: Combine::Average, samples };
        ScoreRow { jmh_mode: "sample".into(), primary, secondary: vec![], parameters: vec![], ..row() }
    }

    /// A row of a case whose first process failed.
    pub(crate) fn failed_row() -> ScoreRow {
        let primary = metric("", "ops/us", Combine::Average, &[]);
        let failure = Some("fork 1 of 2: was killed by signal 9; it said: a, \"b\"".to_string());
        ScoreRow { primary, secondary: vec![], missing: 4, failure, ..row() }
    }

    /// A report of both rows.
    pub(crate) fn report() -> Report {
        Report {
            rows: vec![row(), sample_row()],
            program: "/bin/allotment".into(),
            version: "0.1.0".into(),
            circumstances: vec!["cpu=A \"fast\" one".into()],
            incomplete: None,
            warnings: vec![],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::examples::*;
    use super::*;

    #[test]
    fn scores_follow_the_way_of_combining() {
        let forks: [&[f64]; 2] = [&[1.0, 2.0], &[6.0]];
        let of = |combine| metric("m", "u", combine, &forks);
        assert_eq!(of(Combine::Average).score(), 3.0);
        assert!(of(Combine::Average).error() > 0.0);
        assert_eq!((of(Combine::Sum).score(), of(Combine::Sum).interval()), (9.0, [9.0, 9.0]));
        assert!(of(Combine::Sum).error().is_nan() && of(Combine::Maximum).error().is_nan());
        assert_eq!(of(Combine::Maximum).score(), 6.0);
        assert_eq!(of(Combine::Average).fork_means(), [1.5, 6.0]);
    }

    #[test]
    fn histograms_of_all_forks_are_pooled() {
        let row = sample_row();
        let summary = row.primary.summary();
        assert_eq!((summary.count, summary.mean), (5, 12.0));
        assert_eq!(row.primary.fork_means(), [12.5, 10.0]);
        assert_eq!(row.primary.percentiles()[1], 10.0);
        assert_eq!(row.percentile_rows().first(), Some(&("p0.00", 10.0)));
        assert_eq!(row.percentile_rows().last(), Some(&("p1.00", 20.0)));
        assert!(super::examples::row().percentile_rows().is_empty());
    }

    #[test]
    fn a_row_without_a_score_says_why() {
        let failed = failed_row();
        let expected = "alloc.tlab (size = 64k, threads = 4, thrpt), fork 1 of 2: was killed by signal 9; it said: a, \"b\"";
        assert_eq!((failed.is_measured(), failed.failure_text().as_deref()), (false, Some(expected)));
        let later = ScoreRow { failure: failed.failure, missing: 2, ..row() };
        assert!(later.is_measured() && later.failure_text().is_some());
        assert!(row().is_measured() && row().failure_text().is_none());
    }

    #[test]
    fn the_full_name_has_every_coordinate() {
        assert_eq!(row().full_name(), "alloc.tlab (size = 64k, threads = 4, thrpt)");
    }
}
