//! The table on standard output: JMH's columns, then the spread over forks and the ratio to a baseline.
//!
//! Threads are a coordinate here, since they are an axis of every experiment; JMH has them once per run.
//! Coordinates that do not vary are named above the table. Unlike JMH the names stay whole: they are short
//! already.

use super::columns::Columns;
use super::{Metric, Report, ScoreRow, number};
use crate::statistics::Ratio;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// The last column: each row's score against that of its baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What the baseline is, e.g. `mode=monotonic`.
    pub baseline: String,
    /// One per row of the report; none for rows that have no baseline or are one.
    pub ratios: Vec<Option<Ratio>>,
}

/// The report as aligned text, every line ended by a newline and without blanks at its end: a line of what is
/// constant and an empty one, if anything is, then the table.
pub fn text_table(report: &Report, comparison: Option<&Comparison>) -> String {
    let columns = Columns::of(report);
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    let mut header = vec!["Benchmark".to_string()];
    header.extend(columns.varying.iter().map(|name| format!("({name})")));
    header.extend(["Mode", "Cnt", "Score", "Error", "Units", "Forks"].map(String::from));
    header.extend(comparison.map(|comparison| format!("vs {}", comparison.baseline)));
    let width = header.len();
    table.set_header(header);
    for (index, row) in report.rows.iter().enumerate() {
        let ratio = comparison.and_then(|comparison| comparison.ratios.get(index).copied().flatten());
        let marked = if row.missing > 0 { format!("{}*", row.benchmark) } else { row.benchmark.clone() };
        let mut lines = vec![metric_line(row, &marked, &row.primary, &columns)];
        if let (Some(ratio), Some(line)) = (ratio, lines.last_mut()) {
            line.push(ratio_text(&ratio));
        }
        for (label, value) in row.percentile_rows() {
            let mut line = coordinates(row, &format!("{}:{label}", row.benchmark), &columns);
            line.extend([String::new(), number::score(value), String::new(), row.primary.unit.clone()]);
            lines.push(line);
        }
        for metric in &row.secondary {
            lines.push(metric_line(row, &format!("{}:{}", row.benchmark, metric.label), metric, &columns));
        }
        for mut line in lines {
            line.resize(width, String::new());
            table.add_row(line);
        }
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        let left = index == 0 || index == columns.varying.len() + UNITS;
        column.set_cell_alignment(if left { CellAlignment::Left } else { CellAlignment::Right });
    }
    let above = if columns.constant.is_empty() { String::new() } else { format!("{}\n\n", columns.constant) };
    above + &table.lines().map(|line| line.trim_end().to_string() + "\n").collect::<String>()
}

/// Where the units are, counted from the last of the coordinates: after mode, count, score and error.
const UNITS: usize = 5;

fn coordinates(row: &ScoreRow, name: &str, columns: &Columns) -> Vec<String> {
    let mut line = vec![name.to_string()];
    line.extend(columns.cells(row));
    line.push(row.jmh_mode.clone());
    line
}

fn metric_line(row: &ScoreRow, name: &str, metric: &Metric, columns: &Columns) -> Vec<String> {
    let (score, count) = (metric.score(), metric.summary().count);
    let mut line = coordinates(row, name, columns);
    line.push(if count == 1 { String::new() } else { count.to_string() });
    line.extend([number::score(score), number::error(score, metric.error()), metric.unit.clone()]);
    let forks = metric.fork_means();
    let low = forks.iter().copied().fold(f64::NAN, f64::min);
    let high = forks.iter().copied().fold(f64::NAN, f64::max);
    let spread = forks.len() > 1 && metric.combine == super::Combine::Average;
    line.push(if spread {
        format!("{}..{}", number::score(low), number::score(high))
    } else {
        String::new()
    });
    line
}

fn ratio_text(ratio: &Ratio) -> String {
    let error = ratio.error();
    if error.is_nan() { format!("{:.3}x", ratio.value) } else { format!("{:.3}x ± {error:.3}", ratio.value) }
}

#[cfg(test)]
mod tests {
    use super::super::result::examples;
    use super::*;
    use crate::statistics::Summary;

    #[test]
    fn the_columns_are_jmhs_and_then_ours() {
        let mut report = examples::report();
        report.rows[0].missing = 1;
        report.rows[1].threads = 8;
        let ratio = Ratio::of(&Summary::of(&[2.0; 3]), &Summary::of(&[1.0; 3]));
        let comparison = Comparison { baseline: "mode=shared".into(), ratios: vec![Some(ratio), None] };
        let text = text_table(&report, Some(&comparison));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["size = 64k (tlab)", ""]);
        let cells = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let titles = "Benchmark (threads) Mode Cnt Score Error Units Forks vs mode=shared";
        assert_eq!(cells(lines[2]), titles);
        assert_eq!(
            cells(lines[3]),
            "alloc.tlab* 4 thrpt 4 250.000 ± 33.370 ops/us 246.000..254.000 2.000x ± 0.000"
        );
        assert_eq!(cells(lines[4]), "alloc.tlab:gc.alloc.rate 4 thrpt 3814.700 MB/sec");
        assert!(text.contains("alloc.tlab:p0.99 ") && !text.contains("N/A"), "{text}");
        assert!(lines.iter().all(|line| !line.ends_with(' ')));
    }

    #[test]
    fn numbers_are_aligned_at_their_right() {
        let text = text_table(&examples::report(), None);
        let ends: Vec<usize> = text
            .lines()
            .filter_map(|line| line.find("ops/us").or(line.find("ns/op")).or(line.find("Units")))
            .collect();
        assert!(ends.len() > 5 && ends.windows(2).all(|pair| pair[0].abs_diff(pair[1]) <= 3), "{text}");
    }
}
