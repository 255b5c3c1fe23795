//! The verdict on a heap under pressure: the longest pause of each case, and why it was long.

use crate::experiments::saying::{metric, of_mode, ours, place, time_of, values, whose};
use crate::format::coordinates::MODE;
use crate::format::{Metric, ScoreRow};

/// A sentence for each case: the longest pause of each row.
pub(super) fn answers(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let told = |(mode, _): &(String, String)| {
        let own = of_mode(&rows, mode);
        let of = |row: &ScoreRow| {
            let pause = time_of(row, "pause.max")?;
            let place = place(row, &own, &[MODE]);
            Some(if place.is_empty() { pause } else { format!("{pause} with {place}") })
        };
        let pauses: Vec<String> = own.iter().filter_map(of).collect();
        (!pauses.is_empty()).then(|| format!("{mode}: the longest pause took {}.", pauses.join("; ")))
    };
    values(&rows, MODE).iter().filter_map(told).collect()
}

/// A line for each row.
pub(super) fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    rows.iter().filter_map(|row| said(row, &rows)).collect()
}

fn said(row: &ScoreRow, rows: &[ScoreRow]) -> Option<String> {
    let of = |label: &str| metric(row, label).map(Metric::score);
    let mut parts = vec![format!("{:.0} operations", of("work")?)];
    if let Some((most, longest)) = time_of(row, "op.p99").zip(time_of(row, "op.max")) {
        parts.push(format!("{most} at P99 and {longest} at most for an operation"));
    }
    let failed = of("failed").filter(|failed| *failed > 0.0);
    parts.push(failed.map_or("none failed".into(), |failed| format!("{failed:.0} failed")));
    if let Some((concurrent, degenerated)) = of("gc.concurrent").zip(of("gc.degenerated")) {
        parts.push(format!("{concurrent:.1} cycles ended beside the threads and {degenerated:.1} in a stop"));
    }
    if let Some(full) = of("gc.full").filter(|full| *full > 0.0) {
        parts.push(format!("{full:.1} full collections"));
    }
    if let Some((half, longest)) = time_of(row, "pause.p50").zip(time_of(row, "pause.max")) {
        parts.push(format!("pauses of {half} at the median and {longest} at most"));
    }
    Some(format!("{}: {}.", whose(row, rows), parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::saying::tests::row;
    use crate::format::{Combine, examples};

    #[test]
    fn a_case_is_told_with_its_pauses_and_its_cycles() {
        let of = |collector: &str, pause: f64, degenerated: f64| {
            let mut row = row("pressure.humongous", 1, &[("collector", collector)], "ms/op", 6000.0);
            let metric = |label: &str, unit: &str, value: f64| {
                examples::metric(label, unit, Combine::Average, &[&[value]])
            };
            row.secondary = vec![
                metric("op.p99", "us", 500.0),
                metric("op.max", "us", 163_000.0),
                metric("work", "ops", 7445.0),
                metric("failed", "counts", 0.0),
                metric("gc.full", "counts", 0.0),
                metric("pause.p50", "ms", 2.0),
                metric("pause.max", "ms", pause),
            ];
            if collector != "parallel" {
                row.secondary.push(metric("gc.concurrent", "counts", 1.0));
                row.secondary.push(metric("gc.degenerated", "counts", degenerated));
            }
            row
        };
        let rows = [of("parallel", 272.0, 0.0), of("shenandoah", 163.0, 43.0)];
        assert_eq!(
            answers(&rows),
            ["humongous: the longest pause took 272 ms with parallel; 163 ms with shenandoah."]
        );
        let said = verdicts(&rows);
        assert_eq!(
            said[1],
            "humongous, shenandoah: 7445 operations; 500 us at P99 and 163 ms at most for an operation; none failed; 1.0 \
             cycles ended beside the threads and 43.0 in a stop; pauses of 2 ms at the median and 163 ms at most."
        );
        assert!(!said[0].contains("cycles"), "{said:?}");
        let mut fails = rows[0].clone();
        fails.secondary[3] = examples::metric("failed", "counts", Combine::Average, &[&[33.0]]);
        assert!(verdicts(&[fails])[0].contains("; 33 failed;"));
        let bare = [row("pressure.humongous", 1, &[], "ms/op", 1.0)];
        assert_eq!((answers(&bare), verdicts(&bare)), (vec![], vec![]));
    }
}
