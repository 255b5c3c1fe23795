//! What a run of one benchmark has written: JMH's JSON, read for its values alone.
//!
//! Scores and errors in the file are left unread: they are computed from the values as ours are, so that
//! no two rows of a table are computed in two ways.

use crate::format::VirtualMachine;
use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The values of one fork.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// Who measured.
    pub machine: VirtualMachine,
    /// The score's values.
    pub primary: Series,
    /// Everything else, by label.
    pub secondary: Vec<(String, Series)>,
}

/// Values with their unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// As JMH spells it.
    pub unit: String,
    /// One for each iteration.
    pub values: Vec<f64>,
    /// In sample mode instead: for each iteration the timings and how often each occurred.
    pub histograms: Vec<Vec<(f64, u64)>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    jvm: String,
    #[serde(default)]
    jvm_args: Vec<String>,
    jdk_version: String,
    vm_name: String,
    vm_version: String,
    primary_metric: Fields,
    #[serde(default)]
    secondary_metrics: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    score: Value,
    score_unit: String,
    #[serde(default)]
    raw_data: Vec<Vec<Value>>,
    #[serde(default)]
    raw_data_histogram: Vec<Vec<Vec<(f64, u64)>>>,
}

/// Reads the result of one benchmark in one fork.
///
/// # Errors
/// It is none, or has no values.
pub fn read_scores(text: &str) -> anyhow::Result<Scores> {
    let mut entries: Vec<Entry> = serde_json::from_str(text).context("JMH's result cannot be read")?;
    let Some(entry) = entries.pop() else { bail!("JMH's result is empty") };
    if !entries.is_empty() {
        bail!("JMH's result has {} benchmarks instead of one", entries.len() + 1);
    }
    let primary = series(entry.primary_metric)?;
    if primary.values.is_empty() && primary.histograms.is_empty() {
        bail!("JMH's result has no values");
    }
    let mut secondary = Vec::new();
    for (label, fields) in entry.secondary_metrics {
        // The percentiles of sample mode follow from the histograms.
        if !primary.histograms.is_empty() && is_percentile(&label) {
            continue;
        }
        let fields: Fields =
            serde_json::from_value(fields).with_context(|| format!("JMH's `{label}` cannot be read"))?;
        secondary.push((label.trim_start_matches('·').to_string(), series(fields)?));
    }
    let machine = VirtualMachine {
        jvm: entry.jvm,
        jvm_args: entry.jvm_args,
        jdk_version: entry.jdk_version,
        name: entry.vm_name,
        version: entry.vm_version,
    };
    Ok(Scores { machine, primary, secondary })
}

fn is_percentile(label: &str) -> bool {
    let digits = label.trim_start_matches('·').strip_prefix('p');
    digits.is_some_and(|digits| digits.starts_with(['0', '1']) && digits.contains('.'))
}

fn series(fields: Fields) -> anyhow::Result<Series> {
    let mut values = Vec::new();
    for value in fields.raw_data.iter().flatten() {
        values.push(number(value)?);
    }
    let histograms: Vec<Vec<(f64, u64)>> = fields.raw_data_histogram.into_iter().flatten().collect();
    if values.is_empty() && histograms.is_empty() {
        // What is known once in a fork has no values of iterations.
        values.extend(Some(number(&fields.score)?).filter(|score| !score.is_nan()));
    }
    Ok(Series { unit: fields.score_unit, values, histograms })
}

/// A number, or the word that JMH writes where there is none.
fn number(value: &Value) -> anyhow::Result<f64> {
    match (value.as_f64(), value.as_str()) {
        (Some(number), _) => Ok(number),
        (None, Some("NaN")) => Ok(f64::NAN),
        (None, Some("+INF")) => Ok(f64::INFINITY),
        (None, Some("-INF")) => Ok(f64::NEG_INFINITY),
        _ => bail!("JMH's result has `{value}` where a number belongs"),
    }
}

#[cfg(test)]
pub(super) mod examples {
    /// What JMH writes of a fork with two iterations.
    pub(crate) const RESULT: &str = r#"[{"jmhVersion": "1.37", "benchmark": "allotment.Allocation.allocate",
        "mode": "thrpt", "threads": 1, "forks": 1, "jvm": "/jdk/bin/java", "jvmArgs": ["-Xmx64m"],
        "jdkVersion": "25.0.3", "vmName": "OpenJDK 64-Bit Server VM", "vmVersion": "25.0.3+9-LTS",
        "warmupIterations": 5, "warmupTime": "200 ms", "warmupBatchSize": 1, "measurementIterations": 2,
        "measurementTime": "100 ms", "measurementBatchSize": 1, "params": {"size": "16"},
        "primaryMetric": {"score": 250.0, "scoreError": "NaN", "scoreConfidence": ["NaN", "NaN"],
            "scorePercentiles": {"0.0": 240.0}, "scoreUnit": "ops/us", "rawData": [[240.0, 2.6E2]]},
        "secondaryMetrics": {
            "gc.alloc.rate": {"score": 3814.7, "scoreError": "NaN", "scoreConfidence": ["NaN", "NaN"],
                "scorePercentiles": {}, "scoreUnit": "MB/sec", "rawData": [[3800.0, 3829.4]]},
            "·gc.count": {"score": 3.0, "scoreError": "NaN", "scoreConfidence": [3.0, 3.0],
                "scorePercentiles": {}, "scoreUnit": "counts", "rawData": [[1.0, 2.0]]},
            "once": {"score": 7.0, "scoreUnit": "ms", "rawData": [[]]}}}]"#;
}

#[cfg(test)]
mod tests {
    use super::examples::RESULT;
    use super::*;

    #[test]
    fn values_and_the_machine_are_read() {
        let scores = read_scores(RESULT).unwrap();
        let machine = &scores.machine;
        assert_eq!(
            (machine.jdk_version.as_str(), machine.jvm_args.as_slice()),
            ("25.0.3", &["-Xmx64m".into()][..])
        );
        assert_eq!(
            (scores.primary.unit.as_str(), scores.primary.values.as_slice()),
            ("ops/us", &[240.0, 260.0][..])
        );
        let secondary: Vec<(&str, &[f64])> = scores
            .secondary
            .iter()
            .map(|(label, series)| (label.as_str(), series.values.as_slice()))
            .collect();
        let expected: [(&str, &[f64]); 3] =
            [("gc.alloc.rate", &[3800.0, 3829.4]), ("gc.count", &[1.0, 2.0]), ("once", &[7.0])];
        assert_eq!(secondary, expected);
    }

    #[test]
    fn histograms_are_read_and_percentiles_left_out() {
        let text = RESULT
            .replace(
                "\"rawData\": [[240.0, 2.6E2]]",
                "\"rawDataHistogram\": [[[[10.0, 3], [20.0, 1]], [[9.5, 2]]]]",
            )
            .replace("\"once\"", "\"p0.50\"");
        let scores = read_scores(&text).unwrap();
        assert_eq!(scores.primary.histograms, [vec![(10.0, 3), (20.0, 1)], vec![(9.5, 2)]]);
        assert_eq!(scores.secondary.len(), 2);
    }

    #[test]
    fn what_is_no_result_is_told() {
        for (text, expected) in [
            ("", "cannot be read"),
            ("[]", "is empty"),
            ("{}", "cannot be read"),
            (&RESULT[..400], "cannot be read"),
            (&RESULT.replace("[240.0, 2.6E2]", "[\"many\"]"), "where a number belongs"),
            (&RESULT.replace("[[240.0, 2.6E2]]", "[]").replace("250.0", "\"NaN\""), "no values"),
        ] {
            let error = format!("{:#}", read_scores(text).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
    }
}
