//! The effect of neighbours on the scores, in words.

use super::{NEIGHBOURS, NONE};
use crate::format::phrase::{Effect, NO_RATIO, count, ratio_within};
use crate::format::{Comparison, ScoreRow, grouped};
use crate::statistics::Ratio;

/// A line for each kind of neighbours: the number of rows that become slower or faster by more than
/// the error, and the worst of them. Rows of unknown error are counted separately. `comparison` is
/// with the rows without neighbours.
pub fn verdicts(rows: &[ScoreRow], comparison: &Comparison) -> Vec<String> {
    let kinds = grouped(rows.iter().zip(&comparison.ratios).filter_map(|(row, ratio)| {
        let mut parameters = row.parameters.iter();
        let kind = parameters.find(|parameter| parameter.name == NEIGHBOURS && parameter.value != NONE)?;
        Some((&kind.label, (row, slowdown(row, ratio.as_ref()?))))
    }));
    kinds.iter().map(|(kind, rows)| format!("beside neighbours {kind}: {}", verdict(rows))).collect()
}

/// The ratio of times. Scores of throughput are inverted.
fn slowdown(row: &ScoreRow, ratio: &Ratio) -> Ratio {
    if row.jmh_mode == "thrpt" { ratio.inverse() } else { *ratio }
}

fn verdict(rows: &[(&ScoreRow, Ratio)]) -> String {
    let slower = rows.iter().filter(|(_, ratio)| Effect::of(ratio) == Effect::Above);
    let of = |effect| rows.iter().filter(|(_, ratio)| Effect::of(ratio) == effect).count();
    let (faster, unknown, none) = (of(Effect::Below), of(Effect::Unknown), of(Effect::NoRatio));
    let worst = slower.clone().max_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let all = rows.len();
    let mut text = match worst {
        None if unknown == all => return format!("{} of unknown error", count(all, "row")),
        None if none == all => return format!("{}, {NO_RATIO}", count(all, "row")),
        None => format!("no row of {all} is slower beyond the error"),
        Some((row, ratio)) => format!(
            "{} of {} slower beyond the error, at worst {} times: {}",
            slower.count(),
            count(all, "row"),
            ratio_within(ratio, ""),
            row.full_name()
        ),
    };
    if faster > 0 {
        text += &format!("; {faster} faster");
    }
    if unknown > 0 {
        text += &format!("; {unknown} of unknown error");
    }
    if none > 0 {
        text += &format!("; {none} with {NO_RATIO}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Parameter, examples};

    fn row(threads: usize, value: &str, label: &str, jmh_mode: &str) -> ScoreRow {
        let parameter = Parameter { name: NEIGHBOURS.into(), value: value.into(), label: label.into() };
        ScoreRow { threads, parameters: vec![parameter], jmh_mode: jmh_mode.into(), ..examples::row() }
    }

    #[test]
    fn slower_is_told_from_noise() {
        let two = |threads, mode| row(threads, "2:67108864:random", "2:64m:random", mode);
        let rows = [
            row(1, NONE, NONE, "avgt"),
            two(1, "avgt"),
            two(2, "avgt"),
            two(3, "avgt"),
            two(4, "thrpt"),
            row(1, "1:128:random", "1:128:random", "avgt"),
        ];
        let ratio = |low, value, high| Some(Ratio { value, low, high });
        let ratios = vec![
            None,
            ratio(0.9, 1.1, 1.3),
            ratio(1.4, 1.5, 1.6),
            ratio(0.7, 0.8, 0.9),
            ratio(0.45, 0.5, 0.55),
            ratio(f64::NAN, 1.0, f64::NAN),
        ];
        let comparison = Comparison { baseline: "neighbours=none".into(), ratios };
        assert_eq!(
            verdicts(&rows, &comparison),
            [
                "beside neighbours 2:64m:random: 2 of 4 rows slower beyond the error, at worst 2.00 (1.82 to 2.22) times: \
                 alloc.tlab (neighbours = 2:64m:random, threads = 4, thrpt); 1 faster",
                "beside neighbours 1:128:random: 1 row of unknown error",
            ]
        );
    }

    #[test]
    fn what_is_not_known_is_no_sign_of_no_effect() {
        let beside = || row(1, "1:128:random", "1:128:random", "avgt");
        let unknown = Some(Ratio { low: f64::NAN, value: 1.5, high: f64::NAN });
        let none = Some(Ratio { low: f64::NAN, value: f64::NAN, high: f64::NAN });
        let same = Some(Ratio { low: 0.9, value: 1.0, high: 1.1 });
        for (ratios, expected) in [
            (vec![unknown; 2], "2 rows of unknown error".to_string()),
            (vec![same, unknown], "no row of 2 is slower beyond the error; 1 of unknown error".into()),
            (vec![same, none], format!("no row of 2 is slower beyond the error; 1 with {NO_RATIO}")),
            (vec![none], format!("1 row, {NO_RATIO}")),
        ] {
            let rows: Vec<ScoreRow> = ratios.iter().map(|_| beside()).collect();
            let comparison = Comparison { baseline: "neighbours=none".into(), ratios };
            let said = verdicts(&rows, &comparison);
            assert_eq!(said, [format!("beside neighbours 1:128:random: {expected}")]);
        }
    }
}
