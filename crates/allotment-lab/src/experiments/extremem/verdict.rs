//! The verdict on runs: the lateness of preparations, and the time right after the start.
//!
//! Runs are noisy where a machine is shared, so the worst third of at least three runs is left out,
//! as in the mail about JDK-8359947: of six runs the two with the largest P100 are dropped, and the
//! others averaged.

use super::latency::{PERCENTILES, Percentile};
use crate::experiments::saying::{after, metric, ours, place, time_of};
use crate::format::coordinates::value;
use crate::format::phrase::count;
use crate::format::{Metric, ScoreRow};
use crate::harness::JVM;

/// How late preparations are, for each of our rows. Those of JVMs are compared with ours elsewhere.
pub(super) fn answers(rows: &[ScoreRow]) -> Vec<String> {
    let ours = ours(rows);
    let told = |row: &ScoreRow| {
        let (half, latest) = (time_of(row, "preparation.p50")?, time_of(row, "preparation.p100")?);
        let most = time_of(row, "preparation.p99");
        let most = most.map_or(String::new(), |most| format!(", 99 % at most {most}"));
        let place = after(" with ", &place(row, &ours, &[]));
        Some(format!(
            "shop{place}: half of the preparations are at most {half} late{most}; the latest was {latest} late."
        ))
    };
    ours.iter().filter_map(told).collect()
}

/// A line for each row, those of JVMs after ours.
pub(super) fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let ours = ours(rows);
    let theirs: Vec<ScoreRow> = rows.iter().filter(|row| value(row, JVM).is_some()).cloned().collect();
    let of = |rows: &[ScoreRow]| rows.iter().filter_map(|row| said(row, rows)).collect::<Vec<_>>();
    [of(&ours), of(&theirs)].concat()
}

/// The coordinates in which a row differs from the others. A JVM has a name, and its row the
/// collector of the case that it stands beside, which says nothing.
fn whose(row: &ScoreRow, rows: &[ScoreRow]) -> String {
    let Some((name, _)) = value(row, JVM) else { return place(row, rows, &[]) };
    format!("JVM {name}{}", after(", ", &place(row, rows, &[JVM, "collector"])))
}

fn said(row: &ScoreRow, rows: &[ScoreRow]) -> Option<String> {
    let worst = runs(row, "preparation.p100")?;
    let best = best(&worst);
    let mean = |label: &str| -> Option<f64> {
        let values = runs(row, label)?;
        // A run with too few samples for a percentile has no value of it.
        (values.len() == worst.len())
            .then(|| best.iter().map(|run| values[*run]).sum::<f64>() / best.len() as f64)
    };
    let of_percentile = |percentile: &Percentile| {
        let mean = mean(&format!("preparation.{}", percentile.label))?;
        Some(format!("{} {}", percentile.label.to_uppercase(), milliseconds(mean / 1e3)))
    };
    let late: Vec<String> = PERCENTILES.iter().filter_map(of_percentile).collect();
    let mut text = format!("preparation {}", late.join(", "));
    if best.len() < worst.len() {
        text += &format!(", means of the best {} of {}", best.len(), count(worst.len(), "run"));
    }
    let mut start = Vec::new();
    let degenerated = mean("start.gc.degenerated").filter(|count| *count > 0.0);
    start.extend(degenerated.map(|mean| format!("{mean:.1} degenerated")));
    start.extend(mean("start.pause.max").map(|pause| format!("a longest pause of {}", milliseconds(pause))));
    if !start.is_empty() {
        text += &format!("; right after the start {}", start.join(", "));
    }
    text += &mean("pause.max")
        .map_or(String::new(), |pause| format!("; then pauses of {} at most", milliseconds(pause)));
    let waste = mean("first-gc.waste");
    text += &waste.map_or(String::new(), |waste| format!("; {waste:.1} % waste at the first collection"));
    text += &mean("cpu").map_or(String::new(), |cpu| format!("; {cpu:.0} % of the CPUs"));
    Some(format!("shop{}: {text}.", after(", ", &whose(row, rows))))
}

/// The runs that are averaged: all but the worst third.
fn best(worst: &[f64]) -> Vec<usize> {
    let mut runs: Vec<usize> = (0..worst.len()).collect();
    runs.sort_by(|one, other| worst[*one].total_cmp(&worst[*other]));
    runs.truncate(worst.len() - worst.len() / 3);
    runs
}

/// A metric, run by run.
fn runs(row: &ScoreRow, label: &str) -> Option<Vec<f64>> {
    metric(row, label).map(Metric::pooled_values).filter(|values| !values.is_empty())
}

/// A time for reading, given in ms.
fn milliseconds(time: f64) -> String {
    if time < 1e4 { format!("{time:.2} ms") } else { format!("{:.1} s", time / 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::saying::tests::row;
    use crate::format::{Combine, Parameter, examples};

    #[test]
    fn the_worst_third_of_the_runs_is_left_out() {
        let mut shop = row("extremem.shop", 1, &[("collector", "genshen")], "ms/op", 10.0);
        assert_eq!(verdicts(&[shop.clone()]), [""; 0], "without its metrics");
        let metric = |label: &str, unit: &str, values: [f64; 6]| {
            let forks: Vec<[f64; 1]> = values.map(|value| [value]).to_vec();
            let forks: Vec<&[f64]> = forks.iter().map(|fork| &fork[..]).collect();
            examples::metric(label, unit, Combine::Average, &forks)
        };
        shop.secondary = vec![
            metric("preparation.p50", "us", [100.0, 900.0, 100.0, 300.0, 300.0, 900.0]),
            metric("preparation.p100", "us", [1e3, 9e7, 2e3, 3e3, 4e3, 8e7]),
            metric("start.gc.degenerated", "counts", [1.0, 9.0, 0.0, 0.0, 1.0, 9.0]),
            metric("first-gc.waste", "%", [10.0, 90.0, 10.0, 20.0, 20.0, 90.0]),
            metric("cpu", "%", [40.0, 99.0, 40.0, 50.0, 50.0, 99.0]),
        ];
        let expected = "shop: preparation P50 0.20 ms, P100 2.50 ms, means of the best 4 of 6 runs; right after the \
                        start 0.5 degenerated; 15.0 % waste at the first collection; 45 % of the CPUs.";
        assert_eq!(verdicts(&[shop.clone()]), [expected]);
        // A run without the percentile makes it unknown which runs the others are of.
        shop.secondary[0] = examples::metric("preparation.p50", "us", Combine::Average, &[&[1.0]]);
        assert!(verdicts(&[shop.clone()])[0].starts_with("shop: preparation P100 2.50 ms,"));
        shop.secondary =
            vec![examples::metric("preparation.p100", "us", Combine::Maximum, &[&[4.2e7], &[2e7]])];
        assert_eq!(
            verdicts(&[shop.clone()]),
            ["shop: preparation P100 31.0 s."],
            "of two runs none is dropped"
        );
        let on_jvm = |name: &str, policy: &str| {
            let mut row = shop.clone();
            let parameter = |name: &str, value: &str| Parameter {
                name: name.into(),
                value: value.into(),
                label: value.into(),
            };
            row.parameters.extend([parameter("policy", policy), parameter(JVM, name)]);
            row
        };
        let one = on_jvm("25-g1", "own");
        let both = verdicts(&[shop.clone(), one.clone()]);
        assert_eq!(both, ["shop: preparation P100 31.0 s.", "shop, JVM 25-g1: preparation P100 31.0 s."]);
        let several = verdicts(&[one, on_jvm("25-z", "own"), on_jvm("25-z", "shenandoah")]);
        assert!(several[0].starts_with("shop, JVM 25-g1, policy own: preparation"), "{several:?}");
    }
}
