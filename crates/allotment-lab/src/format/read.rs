//! Reads JMH's JSON result files: those of [`super::json`], and JMH's own of any release.
//!
//! A file that the lab wrote gives the same rows when it is read here. Three things are not in a
//! file and are derived:
//!
//! - Whether a metric is a mean, a sum or a maximum: the one of the raw values that equals the
//!   score.
//! - The rows of percentiles: they are dropped, since they follow from the histogram.
//! - The display of a parameter: code that knows the parameter's axis decides it.
//!
//! Fields that a release lacks get a default; only fields that a row cannot do without are
//! required.
//!
//! Refused: reading into `serde_json::Value`. Its errors could not name the line.

use super::json::{FAILED, Histogram, INCOMPLETE, JmhMetric, JmhResult, Number};
use super::{Combine, Metric, Origin, Parameter, Samples, ScoreRow};
use crate::statistics::{CONFIDENCE, Summary, Weighted, t_quantile};

/// A row of a file, and the program that measured it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The row. Labels of parameters equal their values.
    pub row: ScoreRow,
    /// The program that measured the row.
    pub origin: Origin,
}

/// Why a text cannot be read, with the place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The text is empty.
    #[error("it is empty; a JMH result file is an array of objects, such as `allotment run --json` writes")]
    Empty,
    /// The text ends too early.
    #[error(
        "it ends at line {line}, column {column} in the middle of a result; it was cut off, write it again"
    )]
    Truncated {
        /// Counted from one.
        line: usize,
        /// Counted from one.
        column: usize,
    },
    /// The text is something else.
    #[error("{}: {what}; a JMH result file was expected, as -rf json writes it", place(*line, *column))]
    Foreign {
        /// Counted from one.
        line: usize,
        /// Counted from one, or 0 for the line as a whole.
        column: usize,
        /// The fault at that place.
        what: String,
    },
}

/// Reads all rows of a file.
///
/// # Errors
/// The text is empty, ends too early, is no JSON, or is not JMH's.
pub fn read_json(text: &str) -> Result<Vec<Entry>, ReadError> {
    if text.trim().is_empty() {
        return Err(ReadError::Empty);
    }
    let results: Vec<JmhResult> = serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        // A truncated number is reported as an invalid number, so only its place shows the
        // truncation.
        let last = text.trim_end().lines().last().unwrap_or_default();
        if error.is_eof() || (line == text.trim_end().lines().count() && column >= last.len() && line > 1) {
            return ReadError::Truncated { line, column };
        }
        let what = error.to_string();
        // The place is at the end of the message; the file's own words may stand before it.
        let what = what.rsplit_once(" at line ").map_or(what.as_str(), |(what, _)| what);
        ReadError::Foreign { line, column, what: in_words(what) }
    })?;
    Ok(results.into_iter().map(entry).collect())
}

/// `line 3, column 7`, as far as the place is known.
fn place(line: usize, column: usize) -> String {
    match (line, column) {
        (0, _) => "somewhere in it".into(),
        (line, 0) => format!("line {line}"),
        (line, column) => format!("line {line}, column {column}"),
    }
}

/// An error of serde in the words of JSON. serde's own words name the types of this program.
fn in_words(what: &str) -> String {
    let Some((found, expected)) = what.rsplit_once(", expected ") else { return what.into() };
    let expected = match expected {
        "usize" | "u32" | "u64" => "a whole number from 0 on",
        "a sequence" => "an array",
        "a map" => "an object",
        "an array of length 2" | "a tuple of size 2" => "an array of two",
        other => other,
    };
    let found = match found {
        "invalid type: map" => "an object is here",
        "invalid type: sequence" => "an array is here",
        "invalid type: null" => "null is here",
        other => return format!("{other}, expected {expected}"),
    };
    format!("{found}, expected {expected}")
}

fn entry(result: JmhResult) -> Entry {
    let values = u64::from(result.forks) * u64::from(result.measurement_iterations);
    let mut primary = metric(String::new(), result.primary_metric, values);
    let sampled = matches!(primary.samples, Samples::Histograms(_));
    let (mut secondary, mut missing) = (Vec::new(), 0);
    for (label, fields) in result.secondary_metrics.0 {
        let label = plain_label(&label, &result.benchmark);
        if label == INCOMPLETE {
            missing = fields.score.0 as u32;
        } else if !(sampled && is_percentile(&label)) {
            secondary.push(metric(label, fields, values));
        }
    }
    let parameter = |(name, value): (String, String)| Parameter { name, label: value.clone(), value };
    let (mut arguments, mut failure) = (result.jvm_args, None);
    // No flag of a JVM begins like this.
    if let Some(why) = arguments.last().and_then(|last| last.strip_prefix(FAILED)?.strip_prefix('=')) {
        failure = Some(why.to_string());
        arguments.pop();
    }
    // A missing score has no values.
    if failure.is_some() && primary.score().is_nan() {
        primary.samples = Samples::Values(Vec::new());
    }
    let origin = Origin {
        program: result.jvm,
        arguments,
        jdk_version: result.jdk_version,
        vm_name: result.vm_name,
        vm_version: result.vm_version,
    };
    let row = ScoreRow {
        benchmark: result.benchmark,
        jmh_mode: result.mode,
        threads: result.threads,
        parameters: result.params.0.into_iter().map(parameter).collect(),
        forks: result.forks,
        warmup_iterations: result.warmup_iterations,
        warmup_time: result.warmup_time.0,
        iterations: result.measurement_iterations,
        time: result.measurement_time.0,
        primary,
        secondary,
        missing,
        machine: (!origin.is_ours()).then(|| origin.clone()),
        failure,
    };
    Entry { row, origin }
}

/// The label without the middle dot of releases before 1.37 and without the benchmark's name before
/// it.
fn plain_label(label: &str, benchmark: &str) -> String {
    let method = benchmark.rsplit('.').next().unwrap_or_default();
    let label = label.strip_prefix(method).filter(|rest| rest.starts_with([':', '·'])).unwrap_or(label);
    label.trim_start_matches([':', '·']).replace('·', "")
}

/// `p0.50`, `p1.00`: labels that JMH adds to a row in sample mode.
fn is_percentile(label: &str) -> bool {
    label.strip_prefix('p').is_some_and(|rest| rest.parse::<f64>().is_ok())
}

fn metric(label: String, fields: JmhMetric, count: u64) -> Metric {
    let made =
        |combine, samples| Metric { label: label.clone(), unit: fields.score_unit.clone(), combine, samples };
    let close =
        |a: f64, b: f64| a == b || (a - b).abs() <= 1e-6 * a.abs().max(b.abs()) || (a.is_nan() && b.is_nan());
    let histograms = fields.raw_data_histogram.unwrap_or_default();
    let forks: Vec<Vec<Vec<Weighted>>> =
        histograms.iter().map(|fork| fork.iter().map(Histogram::sorted).collect()).collect();
    if forks.iter().flatten().any(|counts| !counts.is_empty()) {
        return made(Combine::Average, Samples::Histograms(forks));
    }
    let values = |fork: &Vec<Number>| fork.iter().map(|value| value.0).collect();
    let forks: Vec<Vec<f64>> = fields.raw_data.iter().flatten().map(values).collect();
    let score = fields.score.0;
    // Sums and maxima have the score as both ends of the interval, and no error.
    let exact =
        fields.score_error.0.is_nan() && fields.score_confidence.iter().all(|end| close(end.0, score));
    let candidates: &[Combine] =
        if exact { &[Combine::Sum, Combine::Maximum, Combine::Average] } else { &[Combine::Average] };
    for &combine in candidates.iter().filter(|_| forks.iter().any(|fork| !fork.is_empty())) {
        let found = made(combine, Samples::Values(forks.clone()));
        if close(found.score(), score) {
            return found;
        }
    }
    made(Combine::Average, Samples::Stated(stated(score, fields.score_error.0, count)))
}

/// The summary of values that a file does not hold: the stated count, with the deviation that gives
/// the stated error.
fn stated(mean: f64, error: f64, count: u64) -> Summary {
    let freedom = count.saturating_sub(1) as f64;
    let deviation = error * (count as f64).sqrt() / t_quantile(1.0 - (1.0 - CONFIDENCE) / 2.0, freedom);
    Summary { count, mean, deviation, error, min: f64::NAN, max: f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::super::Report;
    use super::super::json::to_json;
    use super::super::result::examples;
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn read(text: &str) -> Result<Vec<Entry>, ReadError> {
        read_json(text)
    }

    fn written(report: &Report) -> String {
        String::from_utf8(to_json(report).unwrap()).unwrap()
    }

    /// The row as a file holds it: labels are values.
    fn plain(mut row: ScoreRow) -> ScoreRow {
        row.parameters.iter_mut().for_each(|parameter| parameter.label = parameter.value.clone());
        row
    }

    #[test]
    fn a_wrong_shape_is_told_in_words_of_json() {
        let metric = "\"primaryMetric\":{\"score\":1,\"scoreUnit\":\"ns/op\"}";
        let with = |more: &str| format!("[{{\"benchmark\":\"b\",\"mode\":\"avgt\",{more},{metric}}}]");
        for (text, expected) in [
            ("{}".to_string(), "expected an array"),
            ("7".into(), "expected an array"),
            ("[1]".into(), "expected a result, which is an object"),
            ("[\"struct JmhResult\"]".into(), "expected a result"),
            ("[{\"benchmark\":{}}]".into(), "an object is here, expected a string"),
            (with("\"threads\":-1"), "integer `-1`, expected a whole number from 0 on"),
            (with("\"threads\":\"many\""), "expected a whole number from 0 on"),
            (with("\"forks\":1e99"), "expected a whole number from 0 on"),
            (with("\"measurementIterations\":5000000000"), "expected a whole number from 0 on"),
            (with("\"jvmArgs\":7"), "expected an array"),
            (with("\"params\":[]"), "expected an object"),
            (with("\"secondaryMetrics\":{\"a\":1}"), "expected a metric, which is an object"),
            ("[{\"primaryMetric\":{\"scoreConfidence\":[1]}}]".into(), "expected an array of two"),
            ("[{\"primaryMetric\":{\"rawDataHistogram\":[[[[1]]]]}}]".into(), "expected an array of two"),
            ("[{\"primaryMetric\":{\"rawDataHistogram\":[[[[1,-1]]]]}}]".into(), "expected a whole number"),
        ] {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
            let foreign = error.replace("\"struct JmhResult\"", "");
            for leak in ["struct ", "usize", "u32", "u64", "column 0", "tuple", "sequence", " map"] {
                assert!(!foreign.contains(leak), "{text}: {error}");
            }
        }
        assert_eq!((place(2, 0), place(0, 0)), ("line 2".into(), "somewhere in it".into()));
    }

    #[test]
    fn what_was_written_is_read() {
        let mut report = examples::report();
        report.rows[0].missing = 2;
        report.rows.push(ScoreRow { primary: report.rows[0].primary.clone(), ..examples::failed_row() });
        let entries = read(&written(&report)).unwrap();
        let rows: Vec<ScoreRow> = entries.iter().map(|entry| entry.row.clone()).collect();
        assert_eq!(rows, report.rows.iter().cloned().map(plain).collect::<Vec<_>>());
        let origin = &entries[0].origin;
        assert!(origin.is_ours());
        assert_eq!((origin.program.as_str(), origin.vm_version.as_str()), ("/bin/allotment", "0.1.0"));
        assert_eq!(origin.fact("cpu"), Some("A \"fast\" one"));
        assert_eq!(origin.fact("cp"), None);
    }

    const OLD: &str = r#"[ { "benchmark" : "org.A.b", "mode" : "avgt", "threads" : 1, "forks" : 1,
        "warmupTime" : "1 day", "measurementIterations" : 3, "measurementTime" : "single-shot",
        "primaryMetric" : { "score" : 2.0E0, "scoreError" : "NaN", "scoreConfidence" : ["NaN", "+INF"],
            "scoreUnit" : "ns/op", "rawData" : [ [1.0, 3.0], [] ] },
        "secondaryMetrics" : {
            "·gc.count" : { "score" : 5.0, "scoreError" : "NaN", "scoreConfidence" : [5.0, 5.0],
                "scoreUnit" : "counts", "rawData" : [ [2.0, 3.0] ] },
            "b:·gc.max" : { "score" : 3.0, "scoreError" : "NaN", "scoreConfidence" : [3.0, 3.0],
                "scoreUnit" : "counts", "rawData" : [ [2.0, 3.0] ] },
            "odd" : { "score" : 7.0, "scoreError" : 1.5, "scoreUnit" : "x", "rawData" : [ [1.0, 2.0] ] },
            "bare" : { "score" : 9.0, "scoreError" : 12.924, "scoreUnit" : "x", "rawData" : [] } } } ]"#;

    #[test]
    fn an_old_releases_file_is_read() {
        let entry = read(OLD).unwrap().remove(0);
        assert!(!entry.origin.is_ours() && entry.origin.fact("cpu").is_none());
        assert_eq!(entry.row.warmup_time, Duration::from_secs(86_400));
        assert_eq!(entry.row.time, Duration::ZERO);
        assert_eq!(entry.row.primary.samples, Samples::Values(vec![vec![1.0, 3.0], vec![]]));
        let found: Vec<_> =
            entry.row.secondary.iter().map(|m| (m.label.as_str(), m.combine, m.score())).collect();
        let expected = [
            ("gc.count", Combine::Sum, 5.0),
            ("gc.max", Combine::Maximum, 3.0),
            ("odd", Combine::Average, 7.0),
            ("bare", Combine::Average, 9.0),
        ];
        assert_eq!(found, expected);
        assert_eq!(entry.row.secondary[2].error(), 1.5, "what the file says, where its values do not");
        let bare = entry.row.secondary[3].summary();
        assert!((bare.deviation - 12.924 * 3f64.sqrt() / 31.599).abs() < 1e-3, "{bare:?}");
    }

    #[test]
    fn a_row_of_iterations_of_days_is_written_and_read() {
        let row = read(&OLD.replace("1 day", "2 day")).unwrap().remove(0).row;
        assert_eq!(row.warmup_time, Duration::from_secs(2 * 86_400));
        let report = Report { rows: vec![row.clone()], ..examples::report() };
        assert_eq!(read(&written(&report)).unwrap()[0].row.warmup_time, row.warmup_time);
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_place() {
        assert_eq!(read(" \n"), Err(ReadError::Empty));
        let whole = written(&examples::report());
        for length in 1..whole.trim_end().len() {
            if let Some(cut) = whole.get(..length) {
                let error = read(cut).unwrap_err();
                assert!(matches!(error, ReadError::Truncated { line: 1.., .. }), "{length}: {error}");
            }
        }
        for (text, hint) in [
            ("{}", "an object is here, expected an array"),
            ("[\n{}]", "line 2, column 2: missing field `benchmark`"),
            ("benchmark,mode\n", "line 1"),
            ("[1]", "line 1, column 2"),
            (r#"[{"benchmark": "a", "mode": "b", "warmupTime": "soon"}]"#, "`soon` is not a time"),
            (
                r#"[{"benchmark": "a", "mode": "b", "primaryMetric": {"score": "x"}}]"#,
                "one of the strings NaN",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(
                error.contains(hint) && error.contains("JMH result file was expected"),
                "{text}: {error}"
            );
        }
        assert_eq!(read("[]"), Ok(vec![]));
    }

    fn metrics() -> impl Strategy<Value = Metric> {
        let values = prop::collection::vec(prop::collection::vec(1.0f64..1e3, 0..4), 1..4);
        let combine = prop_oneof![Just(Combine::Average), Just(Combine::Sum), Just(Combine::Maximum)];
        ("[a-z.]{1,8}", combine, values).prop_filter_map("without values", |(label, combine, values)| {
            let count = values.iter().map(Vec::len).sum::<usize>();
            // The sum and the maximum of one value are the same.
            let combine = if count == 1 && combine == Combine::Maximum { Combine::Sum } else { combine };
            let samples = Samples::Values(values);
            (count > 0).then_some(Metric { label, unit: "u".into(), combine, samples })
        })
    }

    proptest! {
        #[test]
        fn any_row_survives_the_file(
            primary in metrics(), secondary in prop::collection::vec(metrics(), 0..3),
            params in prop::collection::btree_map("[a-z]{1,5}", ".*", 0..3),
            threads in 1usize..1000, missing in 0u32..9, time in 0u64..100_000_000_000,
        ) {
            let mut row = examples::row();
            row.primary = Metric { label: String::new(), combine: Combine::Average, ..primary };
            row.secondary = secondary;
            row.secondary.iter_mut().enumerate().for_each(|(index, metric)| metric.label += &format!("{index}"));
            let parameter = |(name, value): (String, String)| Parameter { name, label: value.clone(), value };
            row.parameters = params.into_iter().map(parameter).collect();
            (row.threads, row.missing, row.time) = (threads, missing, Duration::from_nanos(time));
            let report = Report { rows: vec![row.clone()], ..examples::report() };
            let entries = read(&written(&report)).unwrap();
            prop_assert_eq!(&entries[0].row, &row);
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = read(&text);
        }
    }
}
