//! The table on standard output: JMH's columns, then the spread over forks and the ratio to a baseline.
//!
//! Threads are a column here, since they are an axis of every experiment; JMH has them once per run. Unlike
//! JMH the names stay whole: they are short already.

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

/// The report as aligned text, every line ended by a newline and without blanks at its end.
pub fn text_table(report: &Report, comparison: Option<&Comparison>) -> String {
    let axes = axes(report);
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    let mut header = vec!["Benchmark".to_string()];
    header.extend(axes.iter().map(|axis| format!("({axis})")));
    header.extend(["(threads)", "Mode", "Cnt", "Score", "Error", "Units", "Forks"].map(String::from));
    header.extend(comparison.map(|comparison| format!("vs {}", comparison.baseline)));
    let columns = header.len();
    table.set_header(header);
    for (index, row) in report.rows.iter().enumerate() {
        let ratio = comparison.and_then(|comparison| comparison.ratios.get(index).copied().flatten());
        let marked = if row.missing > 0 { format!("{}*", row.benchmark) } else { row.benchmark.clone() };
        let mut lines = vec![metric_line(row, &marked, &row.primary, &axes)];
        if let (Some(ratio), Some(line)) = (ratio, lines.last_mut()) {
            line.push(ratio_text(&ratio));
        }
        for (label, value) in row.percentile_rows() {
            let mut line = coordinates(row, &format!("{}:{label}", row.benchmark), &axes);
            line.extend([String::new(), number::score(value), String::new(), row.primary.unit.clone()]);
            lines.push(line);
        }
        for metric in &row.secondary {
            lines.push(metric_line(row, &format!("{}:{}", row.benchmark, metric.label), metric, &axes));
        }
        for mut line in lines {
            line.resize(columns, String::new());
            table.add_row(line);
        }
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        let left = index == 0 || index == axes.len() + 6;
        column.set_cell_alignment(if left { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

/// The names of all axes of the run, in order of first appearance.
fn axes(report: &Report) -> Vec<String> {
    let mut axes: Vec<String> = Vec::new();
    for parameter in report.rows.iter().flat_map(|row| &row.parameters) {
        if !axes.contains(&parameter.name) {
            axes.push(parameter.name.clone());
        }
    }
    axes
}

fn coordinates(row: &ScoreRow, name: &str, axes: &[String]) -> Vec<String> {
    let mut line = vec![name.to_string()];
    for axis in axes {
        let found = row.parameters.iter().find(|parameter| parameter.name == *axis);
        line.push(found.map_or("N/A".into(), |parameter| parameter.label.clone()));
    }
    line.extend([row.threads.to_string(), row.jmh_mode.clone()]);
    line
}

fn metric_line(row: &ScoreRow, name: &str, metric: &Metric, axes: &[String]) -> Vec<String> {
    let (score, count) = (metric.score(), metric.summary().count);
    let mut line = coordinates(row, name, axes);
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
        let ratio = Ratio::of(&Summary::of(&[2.0; 3]), &Summary::of(&[1.0; 3]));
        let comparison = Comparison { baseline: "mode=shared".into(), ratios: vec![Some(ratio), None] };
        let text = text_table(&report, Some(&comparison));
        let lines: Vec<&str> = text.lines().collect();
        let titles = "Benchmark (size) (threads) Mode Cnt Score Error Units Forks vs mode=shared";
        assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>().join(" "), titles);
        let cells = lines[1].split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            cells,
            "alloc.tlab* 64k 4 thrpt 4 250.000 ± 33.370 ops/us 246.000..254.000 2.000x ± 0.000"
        );
        let gc = lines[2].split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(gc, "alloc.tlab:gc.alloc.rate 64k 4 thrpt 3814.700 MB/sec");
        assert!(text.contains("N/A") && text.contains("alloc.tlab:p0.99 "), "{text}");
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
