//! What should make a reader doubt the numbers, said after the table.
//!
//! hyperfine's idea: a tool that prints an error bar also knows what the error bar does not show. Each
//! warning names its cause and what to do.

use super::Outcome;
use crate::format::{Combine, ScoreRow};
use crate::machine::Noise;

/// An error above this share of the score is worth a warning.
const LARGE_ERROR: f64 = 0.10;
/// Fewer calls than this in an iteration, and the ends of the window matter.
const FEW_CALLS: f64 = 1000.0;
/// A call shorter than this is about as long as the loop around it, in nanoseconds.
const SHORT_CALL: f64 = 2.0;
/// A larger share of time taken by the hypervisor is worth a warning.
const MUCH_STOLEN: f64 = 0.01;
/// A larger change of the clock rate is worth a warning.
const FREQUENCY_CHANGE: f64 = 0.05;

/// The machine around a run.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// Before it.
    pub before: Noise,
    /// After it.
    pub after: Noise,
    /// CPUs it could use.
    pub cpus: usize,
}

/// All warnings of a run, the gravest kind first.
pub fn warnings(outcome: &Outcome, circumstances: &Circumstances) -> Vec<String> {
    let mut warnings = around(outcome, circumstances);
    for (row, &(calls, nanoseconds)) in outcome.rows.iter().zip(&outcome.calls) {
        warnings.extend(of_row(row, calls, nanoseconds));
    }
    warnings
}

fn around(outcome: &Outcome, Circumstances { before, after, cpus }: &Circumstances) -> Vec<String> {
    let mut warnings = Vec::new();
    let threads = outcome.rows.iter().map(|row| row.threads).max().unwrap_or(0);
    if threads > *cpus {
        warnings.push(format!(
            "up to {threads} threads ran on {cpus} CPUs: their scores are the scheduler's too"
        ));
    }
    if let Some(load) = before.load
        && load + threads.min(*cpus) as f64 > *cpus as f64 + 0.5
    {
        warnings.push(format!(
            "the machine was busy before the start (load average {load:.2} on {cpus} CPUs): measure when it is idle"
        ));
    }
    if let Some(share) = after.stolen_since(before)
        && share > MUCH_STOLEN
    {
        warnings.push(format!(
            "the hypervisor took {:.1} % of the CPU time for others: scores are worse by about that",
            share * 100.0
        ));
    }
    if let (Some((low, high)), Some((low_after, high_after))) = (before.frequency, after.frequency) {
        let (low, high) = (low.min(low_after), high.max(high_after));
        if high as f64 > low as f64 * (1.0 + FREQUENCY_CHANGE) {
            warnings.push(format!(
                "CPUs ran at {:.2} to {:.2} GHz: fix the clock rate (cpufreq governor, boost) to compare scores",
                low as f64 / 1e6,
                high as f64 / 1e6
            ));
        }
    }
    warnings
}

fn of_row(row: &ScoreRow, calls: f64, nanoseconds: f64) -> Vec<String> {
    let mut warnings = Vec::new();
    let (score, error) = (row.primary.score(), row.primary.error());
    let name = row.full_name();
    if row.primary.combine == Combine::Average && error > LARGE_ERROR * score.abs() {
        let share = error / score.abs() * 100.0;
        warnings.push(format!(
            "{name}: the error is {share:.0} % of the score; more forks or longer iterations narrow it"
        ));
    }
    if row.jmh_mode == "ss" {
        return warnings;
    }
    if calls < FEW_CALLS {
        warnings.push(format!(
            "{name}: only {calls:.0} calls in an iteration; a longer --time makes the window's ends matter less"
        ));
    }
    if nanoseconds < SHORT_CALL {
        warnings.push(format!(
            "{name}: a call takes {nanoseconds:.1} ns, of which the measuring loop is a good part; more \
             operations per call make it vanish"
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Metric, Samples};
    use std::time::Duration;

    fn outcome(values: &[f64], threads: usize, calls: (f64, f64)) -> Outcome {
        let samples = Samples::Values(vec![values.to_vec()]);
        let primary =
            Metric { label: String::new(), unit: "ns/op".into(), combine: Combine::Average, samples };
        let row = ScoreRow {
            benchmark: "a.b".into(),
            jmh_mode: "avgt".into(),
            threads,
            parameters: vec![],
            forks: 1,
            warmup_iterations: 0,
            warmup_time: Duration::ZERO,
            iterations: 3,
            time: Duration::ZERO,
            primary,
            secondary: vec![],
            missing: 0,
        };
        Outcome { rows: vec![row], calls: vec![calls], ..Outcome::default() }
    }

    fn quiet() -> Circumstances {
        let noise = Noise { load: Some(0.1), stolen: Some(0), total: Some(100), frequency: None };
        let after = Noise { total: Some(1100), ..noise.clone() };
        Circumstances { before: noise, after, cpus: 2 }
    }

    const GOOD: (f64, f64) = (1e6, 30.0);

    #[test]
    fn a_good_run_has_none() {
        assert_eq!(warnings(&outcome(&[3.0, 3.0, 3.01], 2, GOOD), &quiet()), [""; 0]);
    }

    #[test]
    fn each_cause_has_its_warning() {
        let one = |outcome: &Outcome, circumstances: &Circumstances, text: &str| {
            let all = warnings(outcome, circumstances);
            assert!(all.len() == 1 && all[0].contains(text), "{text}: {all:?}");
        };
        let steady = [3.0, 3.0, 3.0];
        one(&outcome(&[1.0, 2.0, 3.0], 1, GOOD), &quiet(), "% of the score");
        one(
            &outcome(&steady, 3, GOOD),
            &Circumstances { before: Noise::default(), ..quiet() },
            "3 threads ran on 2 CPUs",
        );
        one(&outcome(&steady, 1, (12.0, 1e6)), &quiet(), "only 12 calls");
        one(&outcome(&steady, 1, (1e9, 0.6)), &quiet(), "a call takes 0.6 ns");
        let mut busy = quiet();
        busy.before.load = Some(1.8);
        one(&outcome(&steady, 1, GOOD), &busy, "load average 1.80 on 2 CPUs");
        let mut stolen = quiet();
        stolen.after.stolen = Some(50);
        one(&outcome(&steady, 1, GOOD), &stolen, "took 5.0 %");
        let mut changing = quiet();
        changing.before.frequency = Some((2_000_000, 2_000_000));
        changing.after.frequency = Some((2_000_000, 3_000_000));
        one(&outcome(&steady, 1, GOOD), &changing, "2.00 to 3.00 GHz");
    }
}
