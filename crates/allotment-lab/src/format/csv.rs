//! JMH's CSV result format (`XSVResultFormat`): its columns, its quotes, its line ends.
//!
//! If a part of the run is missing, each line has one column more, the last, which says what is
//! missing. A line copied from such a file is therefore still marked. So are the lines of a case
//! that failed, where there is one. Refused: comments, which CSV
//! does not have.
//!
//! Refused: the csv crate for writing. Its quoting is one style per file. Here titles, names, modes
//! and units are always quoted, numbers never, and parameters only when they must be. The tests
//! read the text back with that crate.

use super::{Report, ScoreRow, distinct};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The report as CSV, with one line per score and one column per axis that any row has.
pub fn to_csv(report: &Report) -> String {
    let parameters_of_all = report.rows.iter().flat_map(|row| &row.parameters);
    let axes: Vec<&str> = distinct(parameters_of_all.map(|parameter| parameter.name.as_str()));
    let titles = ["Benchmark", "Mode", "Threads", "Samples", "Score", "Score Error (99.9%)", "Unit"];
    let mut header: Vec<String> = titles.map(quoted).to_vec();
    header.extend(axes.iter().map(|axis| quoted(&format!("Param: {axis}"))));
    let failed = report.rows.iter().any(|row| row.failure.is_some());
    header.extend(failed.then(|| quoted("Failed")));
    header.extend(report.incomplete.iter().map(|_| quoted("Incomplete")));
    let incomplete: String = report.incomplete.iter().map(|what| format!(",{}", quoted(what))).collect();
    let mut text = header.join(",") + "\r\n";
    for row in &report.rows {
        let primary = &row.primary;
        let why = row.failure.as_deref().map_or(String::new(), quoted);
        let why = if failed { format!(",{why}") } else { String::new() };
        let mut line = |label: &str, samples: u64, score: f64, error: f64, unit: &str| {
            let name =
                if label.is_empty() { row.benchmark.clone() } else { format!("{}:{label}", row.benchmark) };
            let (name, mode, unit) = (quoted(&name), quoted(&row.jmh_mode), quoted(unit));
            let _ = write!(text, "{name},{mode},{},{samples},{score:.6},{error:.6},{unit}", row.threads);
            text += &parameters(row, &axes);
            text += &why;
            text += &incomplete;
            text += "\r\n";
        };
        line("", primary.summary().count, primary.score(), primary.error(), &primary.unit);
        for (label, value) in row.percentile_rows() {
            line(label, 1, value, f64::NAN, &primary.unit);
        }
        for metric in &row.secondary {
            line(&metric.label, metric.summary().count, metric.score(), metric.error(), &metric.unit);
        }
        if row.missing > 0 {
            line(super::json::INCOMPLETE, 1, f64::from(row.missing), f64::NAN, "iterations");
        }
    }
    text
}

/// The values of a row for the columns of `axes`, each with its comma; empty where the row has no
/// value.
fn parameters(row: &ScoreRow, axes: &[&str]) -> String {
    let values: BTreeMap<&str, &str> =
        row.parameters.iter().map(|p| (p.name.as_str(), p.value.as_str())).collect();
    let field = |axis: &&str| {
        let value = values.get(axis).copied().unwrap_or_default();
        let plain = !value.contains([',', ' ', '"', '\t', '\r', '\n']);
        if plain { format!(",{value}") } else { format!(",{}", quoted(value)) }
    };
    axes.iter().map(field).collect()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::super::result::examples;
    use super::*;

    #[test]
    fn the_text_is_jmhs() {
        let text = to_csv(&examples::report());
        let mut lines = text.split("\r\n");
        let header =
            r#""Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit","Param: size""#;
        assert_eq!(lines.next(), Some(header));
        assert_eq!(lines.next(), Some(r#""alloc.tlab","thrpt",4,4,250.000000,33.369569,"ops/us",65536"#));
        assert_eq!(
            lines.next(),
            Some(r#""alloc.tlab:gc.alloc.rate","thrpt",4,1,3814.700000,NaN,"MB/sec",65536"#)
        );
        assert!(text.ends_with("\r\n"));
    }

    #[test]
    fn a_csv_reader_reads_it() {
        let mut report = examples::report();
        report.rows[0].parameters[0].value = "a \"b\", c".into();
        report.rows[1].missing = 2;
        let text = to_csv(&report);
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let records: Vec<::csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
        assert_eq!(&records[0][7], "a \"b\", c");
        let names: Vec<&str> = records.iter().map(|record| &record[0]).collect();
        assert!(names.contains(&"alloc.tlab:p0.999") && names.contains(&"alloc.tlab:incomplete"));
        assert!(records.iter().all(|record| record.len() == 8 && record[4].parse::<f64>().is_ok()));
        assert_eq!(&records.last().unwrap()[7], "", "a missing parameter is empty");
    }

    #[test]
    fn a_case_that_failed_has_a_line_that_says_why() {
        let mut report = examples::report();
        report.rows[0] = examples::failed_row();
        report.incomplete = Some("1 of 2 cases failed".into());
        let text = to_csv(&report);
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let titles: Vec<String> = reader.headers().unwrap().iter().skip(8).map(String::from).collect();
        assert_eq!(titles, ["Failed", "Incomplete"]);
        let records: Vec<::csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
        let cells = |index: usize, cell: usize| records[index].get(cell).unwrap().to_string();
        assert_eq!((cells(0, 3), cells(0, 4)), ("0".to_string(), "NaN".to_string()));
        assert_eq!(cells(0, 8), "fork 1 of 2: was killed by signal 9; it said: a, \"b\"");
        assert_eq!((cells(2, 8), cells(2, 9)), (String::new(), "1 of 2 cases failed".to_string()));
    }

    #[test]
    fn the_lines_of_a_run_that_ended_early_are_marked() {
        let mut report = examples::report();
        report.incomplete = Some("interrupted, 1 of 3 cases not measured".into());
        let text = to_csv(&report);
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        assert_eq!(reader.headers().unwrap().iter().next_back(), Some("Incomplete"));
        for record in reader.records() {
            assert_eq!(&record.unwrap()[8], "interrupted, 1 of 3 cases not measured");
        }
    }
}
