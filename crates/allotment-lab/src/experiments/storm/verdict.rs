//! The verdict on a storm: how many threads waited for their first operation, and why.

use crate::experiments::saying::{after, metric, ours, place, threads, time_of, values};
use crate::format::coordinates::value;
use crate::format::phrase::range;
use crate::format::{Metric, ScoreRow};

/// How long the first operation took, for each number of threads. Of several kinds of storms with
/// as many threads the first is told, which is the paced one.
pub(super) fn answers(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let told = |(mutators, _): &(String, String)| {
        let has = |row: &&ScoreRow| value(row, "mutators").is_some_and(|(value, _)| value == *mutators);
        let row = rows.iter().find(|row| has(row))?;
        let (half, most) = (time_of(row, "first.p50")?, time_of(row, "first.p99")?);
        let longest = time_of(row, "op.max")?;
        let (threads, place) = (threads(mutators), after(", ", &place(row, &rows, &["mutators"])));
        Some(format!(
            "Of {threads} that begin together (start{place}) half have done their first operation within {half}, 99 % within \
             {most}; the longest of all operations took {longest}."
        ))
    };
    values(&rows, "mutators").iter().filter_map(told).collect()
}

/// A line for each storm.
pub(super) fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    rows.iter().filter_map(|row| said(row, &rows)).collect()
}

fn said(row: &ScoreRow, rows: &[ScoreRow]) -> Option<String> {
    let waited = waiting(row)?;
    let (_, mutators) = value(row, "mutators")?;
    let mut text = format!("{waited} of {} waited over 1 ms in the first operation", threads(&mutators));
    if let Some(waste) = metric(row, "first-gc.waste").map(Metric::score).filter(|waste| waste.is_finite()) {
        text += &format!("; {waste:.1} % of what was handed out was unused at the first collection");
    }
    if let Some((longest, storm)) = longest(row) {
        text += &format!("; the longest operation took {:.1} ms", longest / 1e3);
        let of_storm = |label| of_storm(row, label, storm);
        if let Some((queued, ran)) = of_storm("op.max.queued").zip(of_storm("op.max.ran")) {
            text += &format!(
                ", {:.1} ms of them in the queue for a CPU and {:.1} ms on one",
                queued / 1e3,
                ran / 1e3
            );
        }
        if let Some(pause) = of_storm("pause.max") {
            text += &format!(", in a storm whose longest pause took {pause:.1} ms");
        }
        if let Some(stolen) = of_storm("stolen").filter(|&stolen| stolen > 0.0) {
            text += &format!("; the hypervisor took {stolen:.0} ms of that storm's CPU time");
        }
    }
    Some(format!("start{}: {text}.", after(", ", &place(row, rows, &["mutators"]))))
}

/// The number of threads that waited: whole threads, from the storm with the fewest to that with
/// the most.
fn waiting(row: &ScoreRow) -> Option<String> {
    const LABEL: &str = "first.over-1ms";
    let score = metric(row, LABEL)?.score();
    let (fewest, most) = range(storms(row, LABEL)?.into_iter());
    // A file may have only the mean.
    let (fewest, most) = if fewest.is_finite() { (fewest, most) } else { (score.floor(), score.ceil()) };
    Some(match (fewest.round(), most.round()) {
        (_, most) if !most.is_finite() => return None,
        (_, 0.0) => "none".into(),
        (fewest, most) if fewest == most => format!("{most}"),
        (fewest, most) => format!("{fewest} to {most}"),
    })
}

/// The longest operation of all storms, in us, and the number of its storm.
fn longest(row: &ScoreRow) -> Option<(f64, usize)> {
    let (storm, longest) =
        storms(row, "op.max")?.into_iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    Some((longest, storm))
}

/// The value of a metric in one storm, where every storm has a value.
fn of_storm(row: &ScoreRow, label: &str, storm: usize) -> Option<f64> {
    let values = storms(row, label)?;
    (values.len() == storms(row, "op.max")?.len()).then(|| values[storm])
}

/// A metric, storm by storm.
fn storms(row: &ScoreRow, label: &str) -> Option<Vec<f64>> {
    metric(row, label).map(Metric::pooled_values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::saying::tests::row;
    use crate::format::{Combine, examples};

    #[test]
    fn who_waited_is_said() {
        let mut storm = row("storm.start", 1, &[("mutators", "500"), ("paced", "20")], "ms/op", 10.0);
        assert_eq!(verdicts(&[storm.clone()]), [""; 0], "without its metrics");
        storm.secondary = vec![
            examples::metric("first.over-1ms", "threads", Combine::Average, &[&[2.0, 4.0]]),
            examples::metric("first-gc.waste", "%", Combine::Average, &[&[12.0]]),
            examples::metric("op.max", "us", Combine::Maximum, &[&[9_000.0], &[15_000.0]]),
            examples::metric("op.max.queued", "us", Combine::Maximum, &[&[8_000.0], &[6_000.0]]),
            examples::metric("op.max.ran", "us", Combine::Maximum, &[&[800.0], &[400.0]]),
            examples::metric("pause.max", "ms", Combine::Maximum, &[&[8.0], &[7.0]]),
        ];
        storm.secondary.extend([
            examples::metric("first.p50", "us", Combine::Average, &[&[5.12]]),
            examples::metric("first.p99", "us", Combine::Average, &[&[21.0]]),
        ]);
        assert_eq!(
            answers(&[storm.clone()]),
            [
                "Of 500 threads that begin together (start) half have done their first operation within 5.12 us, 99 % within \
              21 us; the longest of all operations took 15 ms."
            ]
        );
        let expected = "2 to 4 of 500 threads waited over 1 ms in the first operation; 12.0 % of what was handed \
                        out was unused at the first collection; the longest operation took 15.0 ms, 6.0 ms of \
                        them in the queue for a CPU and 0.4 ms on one, in a storm whose longest pause took 7.0 ms";
        assert_eq!(verdicts(&[storm.clone()]), [format!("start: {expected}.")]);
        storm.secondary.push(examples::metric("stolen", "ms", Combine::Average, &[&[0.0], &[20.0]]));
        let taken = format!("start: {expected}; the hypervisor took 20 ms of that storm's CPU time.");
        assert_eq!(verdicts(&[storm.clone()]), [taken]);
        for (values, expected) in
            [([0.0, 0.0], "none of 500"), ([1.0, 1.0], "1 of 500"), ([0.0, 1.0], "0 to 1 of 500")]
        {
            let mut other = storm.clone();
            other.secondary[0] = examples::metric("first.over-1ms", "threads", Combine::Average, &[&values]);
            assert!(
                verdicts(&[other])[0].starts_with(&format!("start: {expected} threads waited")),
                "{values:?}"
            );
        }
        // A storm without a collection has no pause, so the other pauses cannot be assigned to
        // storms.
        storm.secondary[5] = examples::metric("pause.max", "ms", Combine::Maximum, &[&[], &[7.0]]);
        storm.secondary.truncate(6);
        assert!(verdicts(&[storm])[0].ends_with("0.4 ms on one."));
    }
}
