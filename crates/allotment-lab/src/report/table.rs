//! Rows as cells: scores with their errors and ratios, and all other counts in a separate table.

use super::choose::Scored;
use crate::format::coordinates::{Coordinate, mode};
use crate::format::phrase::{Effect, ratio_within};
use crate::format::{Columns, ScoreRow, distinct, number};
use allotment_report::page::{Table, Title};

/// The heads of the first columns: the mode, and coordinates, whose numbers are at their right.
fn header(columns: &Columns) -> Vec<Title> {
    let title = |one: &Coordinate| Title { text: one.name.clone(), number: one.numbers().is_some() };
    [Title::text("mode")].into_iter().chain(columns.varying.iter().map(title)).collect()
}

fn coordinates(columns: &Columns, row: &ScoreRow) -> Vec<String> {
    [mode(row).to_string()].into_iter().chain(columns.cells(row)).collect()
}

/// The scores. The column of ratios exists if any row has a ratio; a ratio beyond its error is
/// marked ▲ or ▼.
pub(super) fn scores(rows: &[Scored<'_>], baseline: Option<&str>) -> Table {
    let plain: Vec<&ScoreRow> = rows.iter().map(|scored| scored.row).collect();
    let places = Columns::of(&plain);
    let mut header = header(&places);
    header.extend([
        Title::text("measured"),
        Title::number("values"),
        Title::number("score"),
        Title::number("error"),
        Title::text("unit"),
    ]);
    let ratios = rows.iter().any(|scored| scored.ratio.is_some());
    if let (true, Some(baseline)) = (ratios, baseline) {
        header.push(Title::number(&format!("against {baseline}")));
    }
    let cells = |scored: &Scored<'_>| {
        let row = scored.row;
        let mut cells = coordinates(&places, row);
        let missing = if row.missing > 0 { "*" } else { "" };
        cells.push(row.jmh_mode.clone());
        cells.push(format!("{}{missing}", row.primary.summary().count));
        cells.push(if row.is_measured() { number::score(scored.score) } else { "failed".into() });
        cells.push(number::error(scored.score, scored.error));
        cells.push(row.primary.unit.clone());
        if ratios {
            cells.push(scored.ratio.map_or(String::new(), |ratio| {
                let mark = match Effect::of(&ratio) {
                    Effect::Above => " ▲",
                    Effect::Below => " ▼",
                    Effect::None | Effect::Unknown | Effect::NoRatio => "",
                };
                format!("{}{mark}", ratio_within(&ratio, "×"))
            }));
        }
        cells
    };
    Table { constant: places.constant.clone(), header, rows: rows.iter().map(cells).collect() }
}

/// The secondary metrics, a column for each; `None` without metrics.
pub(super) fn metrics(rows: &[Scored<'_>]) -> Option<Table> {
    let plain: Vec<&ScoreRow> = rows.iter().map(|scored| scored.row).collect();
    let of_row = |row: &&ScoreRow| {
        let unit = || row.primary.unit.clone();
        let percentiles: Vec<_> =
            row.percentile_rows().iter().map(|(label, _)| (label.to_string(), unit())).collect();
        let labels = row.secondary.iter().map(|metric| (metric.label.clone(), metric.unit.clone()));
        percentiles.into_iter().chain(labels).collect::<Vec<_>>()
    };
    let columns = distinct(plain.iter().flat_map(of_row));
    if columns.is_empty() {
        return None;
    }
    let places = Columns::of(&plain);
    let mut header = header(&places);
    header.extend(columns.iter().map(|(label, unit)| Title::number(&format!("{label}, {unit}"))));
    let cells = |row: &&ScoreRow| {
        let percentiles = row.percentile_rows();
        let mut cells = coordinates(&places, row);
        cells.extend(columns.iter().map(|(label, unit)| {
            let percentile = percentiles.iter().find(|(known, _)| known == label).map(|&(_, value)| value);
            let metric = row.secondary.iter().find(|metric| metric.label == *label && metric.unit == *unit);
            let found = metric.map(crate::format::Metric::score).or(percentile);
            found.map_or(String::new(), number::score)
        }));
        cells
    };
    Some(Table { constant: String::new(), header, rows: plain.iter().map(cells).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::examples;
    use crate::statistics::Ratio;

    #[test]
    fn scores_have_ratios_with_their_marks() {
        let (mut first, mut second) = (examples::row(), examples::row());
        (first.threads, second.missing) = (1, 2);
        let scored = |row, ratio| Scored { row, score: 2.0, error: 0.5, ratio };
        let ratio = Ratio { low: 1.1, value: 1.25, high: 1.4 };
        let table = scores(&[scored(&first, None), scored(&second, Some(ratio))], Some("mode=bare"));
        let titles: Vec<&str> = table.header.iter().map(|title| title.text.as_str()).collect();
        let expected =
            ["mode", "threads", "measured", "values", "score", "error", "unit", "against mode=bare"];
        assert_eq!(titles, expected);
        assert_eq!(table.constant, "size = 64k");
        assert_eq!(
            table.rows[1],
            ["tlab", "4", "thrpt", "4*", "2.000", "± 0.500", "ops/us", "1.25× (1.10 to 1.40) ▲"]
        );
        assert_eq!(table.rows[0][7], "");
    }

    #[test]
    fn a_case_that_failed_says_so_where_its_score_would_be() {
        let failed = examples::failed_row();
        let table = scores(&[Scored { row: &failed, score: f64::NAN, error: f64::NAN, ratio: None }], None);
        assert_eq!(table.rows[0], ["tlab", "thrpt", "0*", "failed", "", "ops/us"]);
    }

    #[test]
    fn what_else_was_counted_has_columns() {
        let (plain, sampled) = (examples::row(), examples::sample_row());
        let scored = |row| Scored { row, score: 2.0, error: 0.5, ratio: None };
        let table = metrics(&[scored(&plain), scored(&sampled)]).unwrap();
        let titles: Vec<&str> = table.header.iter().map(|title| title.text.as_str()).collect();
        assert_eq!(titles[..3], ["mode", "gc.alloc.rate, MB/sec", "gc.count, counts"]);
        assert!(titles.contains(&"p0.99, ns/op"));
        assert_eq!((table.rows[0][1].as_str(), table.rows[1][1].as_str()), ("3814.700", ""));
        let bare = ScoreRow { secondary: vec![], ..plain.clone() };
        assert_eq!(metrics(&[scored(&bare)]), None);
    }
}
