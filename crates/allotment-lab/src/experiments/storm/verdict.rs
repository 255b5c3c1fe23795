//! What the rows say of a storm: how many threads waited for their first operation, and why.

use crate::experiments::saying::{ours, place};
use crate::format::ScoreRow;
use crate::format::coordinates::value;

/// A line for each storm.
pub(super) fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    rows.iter().filter_map(|row| said(row, &rows)).collect()
}

fn said(row: &ScoreRow, rows: &[ScoreRow]) -> Option<String> {
    let metric = |label: &str| {
        let found = row.secondary.iter().find(|metric| metric.label == label)?;
        Some(found.score()).filter(|score| score.is_finite())
    };
    let waited = metric("first.over-1ms")?;
    let (_, mutators) = value(row, "mutators")?;
    let mut text = format!("{waited:.1} of {mutators} threads waited over 1 ms in their first operation");
    if let Some(waste) = metric("first-gc.waste") {
        text += &format!("; {waste:.1} % of what was handed out was unused at the first collection");
    }
    if let (Some(longest), Some(pause)) = (metric("op.max"), metric("pause.max")) {
        text +=
            &format!("; the longest operation took {:.1} ms, the longest pause {pause:.1} ms", longest / 1e3);
    }
    let place = place(row, rows, &["mutators"]);
    Some(if place.is_empty() { format!("{text}.") } else { format!("{place}: {text}.") })
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
            examples::metric("op.max", "us", Combine::Maximum, &[&[15_000.0]]),
            examples::metric("pause.max", "ms", Combine::Maximum, &[&[7.0]]),
        ];
        let expected = "3.0 of 500 threads waited over 1 ms in their first operation; 12.0 % of what was handed \
                        out was unused at the first collection; the longest operation took 15.0 ms, the longest \
                        pause 7.0 ms.";
        assert_eq!(verdicts(&[storm]), [expected]);
    }
}
