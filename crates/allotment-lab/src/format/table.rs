//! The table on standard output: JMH's columns, then the spread over forks and the ratio to a
//! baseline.
//!
//! Threads are a coordinate here, since they are an axis of every experiment; JMH has one number of
//! threads per run. Coordinates that do not vary are named above the table. Names are not shortened
//! as in JMH, since they are short already. A case that failed has the word instead of a score.

use super::columns::Columns;
use super::phrase::ratio_within;
use super::{Layout, Metric, Report, ScoreRow, number, width};
use crate::statistics::Ratio;

/// The last column: each row's score against that of its baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The name of the baseline, e.g. `mode=monotonic`.
    pub baseline: String,
    /// One ratio per row of the report; `None` for rows that have no baseline or are one.
    pub ratios: Vec<Option<Ratio>>,
}

/// The report as aligned text. Every line ends with a newline and has no trailing blanks. A line of
/// constant coordinates and an empty line come first, if there are any; then the table. At most
/// `wide` columns, where that is known.
pub fn text_table(report: &Report, comparison: Option<&Comparison>, wide: Option<usize>) -> String {
    let columns = Columns::of(&report.rows.iter().collect::<Vec<_>>());
    let mut header = vec!["Benchmark".to_string()];
    header.extend(columns.varying.iter().map(|one| format!("({})", one.name)));
    header.extend(["Mode", "Cnt", "Score", "Error", "Units", "Forks"].map(String::from));
    header.extend(comparison.map(|comparison| format!("vs {}", comparison.baseline)));
    let mut rows = Vec::new();
    for (index, row) in report.rows.iter().enumerate() {
        let ratio = comparison.and_then(|comparison| comparison.ratios.get(index).copied().flatten());
        let marked = if row.missing > 0 { format!("{}*", row.benchmark) } else { row.benchmark.clone() };
        let mut lines = vec![metric_line(row, &marked, &row.primary, &columns)];
        if let (Some(ratio), Some(line)) = (ratio, lines.last_mut()) {
            line.push(ratio_within(&ratio, "x"));
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
            line.resize(header.len(), String::new());
            rows.push(line);
        }
    }
    let constant = width::lines(&columns.constant, wide);
    let above = if constant.is_empty() { String::new() } else { format!("{constant}\n\n") };
    above + &Layout { header, rows, words: vec![0, columns.varying.len() + UNITS] }.text(wide)
}

/// The position of the units, counted from the last of the coordinates: after mode, count, score
/// and error.
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
    let told = if row.is_measured() { number::score(score) } else { "failed".into() };
    line.extend([told, number::error(score, metric.error()), metric.unit.clone()]);
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
        let text = text_table(&report, Some(&comparison), None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["size = 64k (tlab)", ""]);
        let cells = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let titles = "Benchmark (threads) Mode Cnt Score Error Units Forks vs mode=shared";
        assert_eq!(cells(lines[2]), titles);
        assert_eq!(
            cells(lines[3]),
            "alloc.tlab* 4 thrpt 4 250.000 ± 33.370 ops/us 246.000..254.000 2.00x (2.00 to 2.00)"
        );
        assert_eq!(cells(lines[4]), "alloc.tlab:gc.alloc.rate 4 thrpt 3814.700 MB/sec");
        assert!(text.contains("alloc.tlab:p0.99 ") && !text.contains("N/A"), "{text}");
        assert!(lines.iter().all(|line| !line.ends_with(' ')));
    }

    #[test]
    fn a_case_that_failed_says_so_where_its_score_would_be() {
        let report = Report { rows: vec![examples::failed_row(), examples::row()], ..examples::report() };
        let text = text_table(&report, None, None);
        let line = text.lines().find(|line| line.starts_with("alloc.tlab*")).unwrap();
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells, ["alloc.tlab*", "thrpt", "0", "failed", "ops/us"], "{text}");
        assert!(!text.contains("NaN"), "{text}");
    }

    #[test]
    fn a_narrow_table_has_no_line_that_is_wider() {
        let text = text_table(&examples::report(), None, Some(60));
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        assert!(text.contains("Score 250.000,\n    Error ± 33.370"), "{text}");
    }

    #[test]
    fn numbers_are_aligned_at_their_right() {
        let text = text_table(&examples::report(), None, None);
        let ends: Vec<usize> = text
            .lines()
            .filter_map(|line| line.find("ops/us").or(line.find("ns/op")).or(line.find("Units")))
            .collect();
        assert!(ends.len() > 5 && ends.windows(2).all(|pair| pair[0].abs_diff(pair[1]) <= 3), "{text}");
    }
}
