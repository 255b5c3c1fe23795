//! Makes a row of the report from the records of a case's forks.

use super::axis::label;
use super::protocol::{IterationRecord, Measured};
use super::runner::Calls;
use super::{Axis, Case, JmhMode, Plan};
use crate::format::{Combine, Metric, Parameter, Samples, ScoreRow};

/// The records of one case.
#[derive(Clone, Debug)]
pub(super) struct Gathered {
    pub(super) case: Case,
    pub(super) plan: Plan,
    /// Measured iterations only, per fork.
    pub(super) forks: Vec<Vec<IterationRecord>>,
}

impl Gathered {
    /// The row; `None` if nothing was measured and no fork failed. `axes` are those of the case's
    /// experiment; `failure` is the reason why a fork failed.
    pub(super) fn row(&self, axes: &[Axis], forks: u32, failure: Option<String>) -> Option<ScoreRow> {
        let found = self.forks.iter().map(Vec::len).sum::<usize>() as u32;
        if found == 0 && failure.is_none() {
            return None;
        }
        let parameter = |(name, value): &(String, String)| Parameter {
            name: name.clone(),
            value: value.clone(),
            label: label(axes, name, value),
        };
        Some(ScoreRow {
            benchmark: self.case.benchmark(),
            jmh_mode: self.case.jmh_mode.to_string(),
            threads: self.case.threads,
            parameters: self.case.params.iter().map(parameter).collect(),
            forks,
            warmup_iterations: self.plan.warmup_iterations,
            warmup_time: self.plan.warmup_time,
            iterations: self.plan.iterations,
            time: self.plan.time,
            primary: self.primary(),
            secondary: self.secondary(),
            missing: (self.plan.iterations * forks).saturating_sub(found),
            machine: None,
            failure,
        })
    }

    /// The calls of all forks.
    pub(super) fn calls(&self) -> Calls {
        let all: Vec<&IterationRecord> = self.forks.iter().flatten().collect();
        let mean = |of: fn(&IterationRecord) -> f64| {
            all.iter().map(|record| of(record)).sum::<f64>() / all.len() as f64
        };
        Calls {
            per_iteration: mean(|record| record.calls as f64),
            nanoseconds: mean(|record| record.nanoseconds_per_call),
        }
    }

    fn primary(&self) -> Metric {
        let unit = self.case.unit.nanoseconds();
        let samples = if self.case.jmh_mode == JmhMode::SampleTime {
            let scaled = |record: &IterationRecord| match &record.measured {
                Measured::Histogram(counts) => {
                    counts.iter().map(|&(value, times)| (value as f64 / unit, times)).collect()
                }
                Measured::Value(value) => vec![(*value, 1)],
            };
            Samples::Histograms(self.forks.iter().map(|fork| fork.iter().map(scaled).collect()).collect())
        } else {
            let value = |record: &IterationRecord| match record.measured {
                Measured::Value(value) => value,
                Measured::Histogram(_) => f64::NAN,
            };
            Samples::Values(self.forks.iter().map(|fork| fork.iter().map(value).collect()).collect())
        };
        let unit = self.case.unit.of_score(self.case.jmh_mode);
        Metric { label: String::new(), unit, combine: Combine::Average, samples }
    }

    fn secondary(&self) -> Vec<Metric> {
        let mut metrics: Vec<Metric> = Vec::new();
        for value in self.forks.iter().flatten().flat_map(|record| &record.secondary) {
            if metrics.iter().any(|known| known.label == value.label) {
                continue;
            }
            let of = |record: &IterationRecord| {
                record.secondary.iter().find(|other| other.label == value.label).cloned()
            };
            let forks = self.forks.iter().map(|fork| fork.iter().filter_map(of));
            let samples = if value.times.is_empty() {
                Samples::Values(forks.map(|fork| fork.map(|found| found.value).collect()).collect())
            } else {
                Samples::Histograms(forks.map(|fork| fork.map(|found| found.times).collect()).collect())
            };
            metrics.push(Metric {
                label: value.label.clone(),
                unit: value.unit.clone(),
                combine: value.combine,
                samples,
            });
        }
        metrics
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::examples::case;
    use super::super::{Kind, SecondaryValue, Settings};
    use super::*;

    fn record(measured: Measured, secondary: Vec<SecondaryValue>) -> IterationRecord {
        IterationRecord { warmup: false, measured, calls: 100, nanoseconds_per_call: 4.0, secondary }
    }

    fn gathered(jmh_mode: JmhMode, forks: Vec<Vec<IterationRecord>>) -> Gathered {
        Gathered { case: case(jmh_mode, 2), plan: Settings::default().plan(jmh_mode), forks }
    }

    #[test]
    fn a_row_has_what_was_measured_and_says_what_is_missing() {
        let gc = SecondaryValue::sum("gc.count", "counts", 2.0);
        let first = record(Measured::Value(3.0), vec![]);
        let second = record(Measured::Value(5.0), vec![gc]);
        let gathered = gathered(JmhMode::AverageTime, vec![vec![first, second.clone()], vec![second]]);
        let axes = [Axis::new("size", "", Kind::Size, &["16"])];
        let row = gathered.row(&axes, 3, None).unwrap();
        assert_eq!((row.benchmark.as_str(), row.primary.unit.as_str()), ("example.plain", "ns/op"));
        assert_eq!((row.parameters[0].value.as_str(), row.parameters[0].label.as_str()), ("65536", "64k"));
        assert_eq!(row.primary.samples, Samples::Values(vec![vec![3.0, 5.0], vec![5.0]]));
        assert_eq!(row.secondary[0].score(), 4.0);
        assert_eq!(row.missing, 3 * 5 - 3);
        assert_eq!(gathered.calls(), Calls { per_iteration: 100.0, nanoseconds: 4.0 });
    }

    #[test]
    fn samples_are_scaled_to_the_unit() {
        let histogram = record(Measured::Histogram(vec![(500, 2), (1500, 1)]), vec![]);
        let mut gathered = gathered(JmhMode::SampleTime, vec![vec![histogram]]);
        gathered.case.unit = super::super::TimeUnit::Microseconds;
        let row = gathered.row(&[], 1, None).unwrap();
        assert_eq!(row.primary.samples, Samples::Histograms(vec![vec![vec![(0.5, 2), (1.5, 1)]]]));
        assert_eq!(row.primary.unit, "us/op");
    }

    #[test]
    fn the_times_of_a_distribution_are_kept() {
        let of = |times: &[(f64, u64)]| {
            record(Measured::Value(1.0), vec![SecondaryValue::distribution("op", "us", times.to_vec())])
        };
        let (first, second) = (of(&[(1.0, 3), (5.0, 1)]), of(&[(9.0, 1)]));
        let gathered = gathered(JmhMode::SingleShot, vec![vec![first], vec![second]]);
        let row = gathered.row(&[], 2, None).unwrap();
        let expected = Samples::Histograms(vec![vec![vec![(1.0, 3), (5.0, 1)]], vec![vec![(9.0, 1)]]]);
        assert_eq!(row.secondary[0].samples, expected);
        assert_eq!((row.secondary[0].label.as_str(), row.secondary[0].score()), ("op", 3.4));
    }

    #[test]
    fn a_case_without_iterations_has_a_row_only_where_it_failed() {
        let empty = gathered(JmhMode::Throughput, vec![vec![], vec![]]);
        assert_eq!(empty.row(&[], 2, None), None);
        let failed = empty.row(&[], 2, Some("fork 1 of 2: killed".into())).unwrap();
        assert!(!failed.is_measured() && failed.missing == 2 * 5, "{failed:?}");
    }
}
