//! Reasons to doubt the numbers, printed after the table.
//!
//! The idea is hyperfine's: a tool that prints an error also knows what the error does not show.
//! Each kind of warning is one line, with the number of rows, the worst of them and the remedy.
//! Refused: a line per row. On a noisy machine each row would have one.

use super::host;
use super::neighbours::NEIGHBOURS;
use super::{Neighbours, Outcome};
use crate::format::phrase::count;
use crate::format::{Combine, ScoreRow};
use crate::machine::Noise;

/// An error above this share of the score is worth a warning.
const LARGE_ERROR: f64 = 0.10;
/// With fewer calls than this in an iteration, the ends of the window change the score by a
/// hundredth or more.
const FEW_CALLS: f64 = 100.0;
/// A call shorter than this is about as long as the loop around it, in nanoseconds.
const SHORT_CALL: f64 = 2.0;
/// A larger share of stolen time is worth a warning.
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
    /// CPUs that the run could use.
    pub cpus: usize,
}

/// All warnings of a run, the gravest kind first.
pub fn warnings(outcome: &Outcome, circumstances: &Circumstances) -> Vec<String> {
    let mut warnings = around(outcome, circumstances);
    let all = count(outcome.rows.len(), "row");
    let rows = || outcome.rows.iter().zip(outcome.calls.iter().copied());
    let errors = rows().filter_map(|(row, _)| Some((row, relative_error(row)?)));
    warnings.extend(worst(errors.filter(|&(_, error)| error > LARGE_ERROR)).map(|found| {
        let Worst { name, value, count } = found;
        format!(
            "the error is over {:.0} % of the score in {count} of {all}, worst {name}: {:.0} %; more forks or \
             longer iterations narrow it",
            LARGE_ERROR * 100.0,
            value * 100.0
        )
    }));
    let timed = || rows().filter(|(row, _)| row.jmh_mode != "ss");
    // The least is the worst, so values are compared as negatives.
    let few =
        timed().map(|(row, calls)| (row, -calls.per_iteration)).filter(|&(_, calls)| -calls < FEW_CALLS);
    warnings.extend(worst(few).map(|Worst { name, value, count }| {
        format!(
            "fewer than {FEW_CALLS:.0} calls in an iteration in {count} of {all}, fewest {name}: {:.0}; a longer \
             --time makes the window's ends matter less",
            -value
        )
    }));
    let short = timed().map(|(row, calls)| (row, -calls.nanoseconds)).filter(|&(_, time)| -time < SHORT_CALL);
    warnings.extend(worst(short).map(|Worst { name, value, count }| {
        format!(
            "a call takes less than {SHORT_CALL:.0} ns in {count} of {all}, shortest {name}: {:.1} ns; the \
             measuring loop is a good part of that, and more operations per call make it vanish",
            -value
        )
    }));
    warnings
}

/// The row with the largest value of a kind, and how many rows are of that kind.
struct Worst {
    name: String,
    value: f64,
    count: usize,
}

fn worst<'a>(rows: impl Iterator<Item = (&'a ScoreRow, f64)>) -> Option<Worst> {
    let rows: Vec<(&ScoreRow, f64)> = rows.collect();
    let &(row, value) = rows.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(Worst { name: row.full_name(), value, count: rows.len() })
}

/// The error as a share of the score, where there is an error.
fn relative_error(row: &ScoreRow) -> Option<f64> {
    let share = row.primary.error() / row.primary.score().abs();
    (row.primary.combine == Combine::Average && !share.is_nan()).then_some(share)
}

/// The number of neighbours of a row.
fn neighbours(row: &ScoreRow) -> usize {
    let value = row.parameters.iter().find(|parameter| parameter.name == NEIGHBOURS);
    value.and_then(|parameter| parameter.value.parse().ok()).map_or(0, |found: Neighbours| found.threads)
}

fn around(outcome: &Outcome, Circumstances { before, after, cpus }: &Circumstances) -> Vec<String> {
    let mut warnings = Vec::new();
    let threads = outcome.rows.iter().map(|row| row.threads + neighbours(row)).max().unwrap_or(0);
    if threads > *cpus {
        warnings.push(format!(
            "up to {}, neighbours included, ran on {}: the scores depend on the scheduler too",
            count(threads, "thread"),
            count(*cpus, "CPU")
        ));
    }
    if let Some(load) = before.load
        && load + threads.min(*cpus) as f64 > *cpus as f64 + 0.5
    {
        warnings.push(format!(
            "the machine was busy before the start (load average {load:.2} on {}): measure when it is idle",
            count(*cpus, "CPU")
        ));
    }
    if let Some(share) = after.stolen_since(before)
        && share > MUCH_STOLEN
    {
        warnings.push(format!(
            "the hypervisor took {:.1} % of the CPU time: scores are worse by about that much",
            share * 100.0
        ));
    }
    warnings.extend(host::warning(outcome));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Parameter, examples};
    use crate::harness::Calls;

    fn outcome(values: &[f64], threads: usize, (per_iteration, nanoseconds): (f64, f64)) -> Outcome {
        let row = ScoreRow {
            benchmark: "a.b".into(),
            jmh_mode: "avgt".into(),
            threads,
            parameters: vec![],
            primary: examples::metric("", "ns/op", Combine::Average, &[values]),
            ..examples::row()
        };
        Outcome { rows: vec![row], calls: vec![Calls { per_iteration, nanoseconds }], ..Outcome::default() }
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
        one(&outcome(&[1.0, 2.0, 3.0], 1, GOOD), &quiet(), "over 10 % of the score in 1 of 1 row, ");
        one(
            &outcome(&steady, 3, GOOD),
            &Circumstances { before: Noise::default(), ..quiet() },
            "3 threads, neighbours included, ran on 2 CPUs",
        );
        one(
            &outcome(&steady, 1, (12.0, 1e6)),
            &quiet(),
            "fewer than 100 calls in an iteration in 1 of 1 row, fewest a.b (threads = 1, avgt): 12;",
        );
        one(&outcome(&steady, 1, (1e9, 0.6)), &quiet(), "shortest a.b (threads = 1, avgt): 0.6 ns");
        let mut beside = outcome(&steady, 1, GOOD);
        let value = "2:67108864:random".to_string();
        let neighbours = Parameter { name: NEIGHBOURS.into(), value: value.clone(), label: value };
        beside.rows[0].parameters.push(neighbours);
        one(
            &beside,
            &Circumstances { before: Noise::default(), ..quiet() },
            "3 threads, neighbours included, ran on 2 CPUs",
        );
        let mut busy = quiet();
        busy.before.load = Some(1.8);
        one(&outcome(&steady, 1, GOOD), &busy, "load average 1.80 on 2 CPUs");
        let mut stolen = quiet();
        stolen.after.stolen = Some(50);
        one(&outcome(&steady, 1, GOOD), &stolen, "took 5.0 %");
        let mut shared = outcome(&steady, 1, GOOD);
        let samples: &[&[f64]] = &[&[2.0, 1.4], &[1.9, 1.13]];
        shared.rows[0].secondary = vec![examples::metric(host::CPUS, "CPUs", Combine::Average, samples)];
        one(
            &shared,
            &quiet(),
            "right after 2 of 4 single shots two CPUs did less than 1.7 times the work of one, 1.1",
        );
        let mut changing = quiet();
        changing.before.frequency = Some((2_000_000, 2_000_000));
        changing.after.frequency = Some((2_000_000, 3_000_000));
        one(&outcome(&steady, 1, GOOD), &changing, "2.00 to 3.00 GHz");
    }

    #[test]
    fn a_kind_is_one_line_that_names_the_worst() {
        let mut all = outcome(&[1.0, 2.0, 3.0], 1, (50.0, 1.5));
        for (threads, values, calls) in [
            (2, [1.0, 2.0, 30.0], (20.0, 0.5)),
            (1, [1.0, 1.0, 1.0], GOOD),
            (1, [2.0, 3.0, 4.0], (60.0, 1.0)),
        ] {
            let more = outcome(&values, threads, calls);
            all.rows.extend(more.rows);
            all.calls.extend(more.calls);
        }
        let warnings = warnings(&all, &quiet());
        assert_eq!(warnings.len(), 3, "{warnings:?}");
        assert!(warnings[0].contains("in 3 of 4 rows, worst a.b (threads = 2, avgt): "), "{warnings:?}");
        assert!(warnings[1].contains("in 3 of 4 rows, fewest a.b (threads = 2, avgt): 20;"), "{warnings:?}");
        assert!(
            warnings[2].contains("in 3 of 4 rows, shortest a.b (threads = 2, avgt): 0.5 ns;"),
            "{warnings:?}"
        );
    }

    #[test]
    fn a_single_shot_is_neither_short_nor_few() {
        let mut outcome = outcome(&[3.0, 3.0, 3.0], 1, (1.0, 1.0));
        outcome.rows[0].jmh_mode = "ss".into();
        assert_eq!(warnings(&outcome, &quiet()), [""; 0]);
    }
}
