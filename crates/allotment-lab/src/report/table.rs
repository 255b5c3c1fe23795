//! Rows as cells: scores with their errors and ratios, and all other counts in a separate table.

use super::choose::Scored;
use crate::format::coordinates::{Coordinate, MODE, mode, value, varying};
use crate::format::phrase::{Effect, ratio_within};
use crate::format::{ScoreRow, number};
use allotment_report::page::{Table, Title};

/// The coordinates of rows: those that vary are columns, the others a line.
struct Places {
    names: Vec<String>,
    /// The columns' heads: numbers at their right, words at their left.
    titles: Vec<Title>,
    constant: String,
}

impl Places {
    fn of(rows: &[&ScoreRow]) -> Places {
        let varying: Vec<Coordinate> = varying(rows).into_iter().filter(|one| one.name != MODE).collect();
        let title = |one: &Coordinate| Title { text: one.name.clone(), number: one.numbers().is_some() };
        let titles = varying.iter().map(title).collect();
        let names: Vec<String> = varying.into_iter().map(|one| one.name).collect();
        let mut constants: Vec<String> = Vec::new();
        for parameter in rows.iter().flat_map(|row| &row.parameters) {
            let text = format!("{} = {}", parameter.name, parameter.label);
            if !names.contains(&parameter.name) && !constants.contains(&text) {
                constants.push(text);
            }
        }
        if let Some(first) = rows.first()
            && !names.iter().any(|name| name == crate::format::coordinates::THREADS)
        {
            constants.push(format!("threads = {}", first.threads));
        }
        Places { names, titles, constant: constants.join(", ") }
    }

    fn header(&self) -> Vec<Title> {
        [Title::text("mode")].into_iter().chain(self.titles.iter().cloned()).collect()
    }

    fn cells(&self, row: &ScoreRow) -> Vec<String> {
        let cells = self.names.iter().map(|name| value(row, name).map_or("-".into(), |(_, label)| label));
        [mode(row).to_string()].into_iter().chain(cells).collect()
    }
}

/// The scores. The column of ratios exists if any row has a ratio; a ratio beyond its error is
/// marked ▲ or ▼.
pub(super) fn scores(rows: &[Scored<'_>], baseline: Option<&str>) -> Table {
    let plain: Vec<&ScoreRow> = rows.iter().map(|scored| scored.row).collect();
    let places = Places::of(&plain);
    let mut header = places.header();
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
        let mut cells = places.cells(row);
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
    let mut columns: Vec<(String, String)> = Vec::new();
    let plain: Vec<&ScoreRow> = rows.iter().map(|scored| scored.row).collect();
    for row in &plain {
        let labels = row.secondary.iter().map(|metric| (metric.label.clone(), metric.unit.clone()));
        let percentiles = row.percentile_rows();
        let percentiles =
            percentiles.iter().map(|(label, _)| ((*label).to_string(), row.primary.unit.clone()));
        for column in percentiles.chain(labels) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
    }
    if columns.is_empty() {
        return None;
    }
    let places = Places::of(&plain);
    let mut header = places.header();
    header.extend(columns.iter().map(|(label, unit)| Title::number(&format!("{label}, {unit}"))));
    let cells = |row: &&ScoreRow| {
        let percentiles = row.percentile_rows();
        let mut cells = places.cells(row);
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
