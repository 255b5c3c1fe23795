//! JMH's JSON result format (`JSONResultFormat` of JMH 1.37): its fields, in its order. The lab's
//! writer and reader share these structures.
//!
//! Information without a JMH field goes where there is room. The machine goes into `jvmArgs`, with
//! the missing parts of the whole run, its warnings, and why a process of the row's case failed. A
//! row's missing iterations go into a secondary metric `incomplete`.
//!
//! JMH releases differ in their fields. A field without which a row is worthless must be there.
//! Each other field has a default. The reader ignores the fields that follow from others.

mod values;

use super::{Combine, Metric, Origin, Report, Samples, ScoreRow};
use crate::statistics::JMH_PERCENTILES;
use serde::{Deserialize, Serialize};
use serde_json::ser::PrettyFormatter;
pub(super) use values::{Histogram, Number, Ordered, Time};

/// The JMH release of the format. Viewers infer the spelling of labels from it.
const JMH_VERSION: &str = "1.37";

/// The `vmName` of the lab's rows, which distinguishes them from those of a JVM.
pub(super) const VM_NAME: &str = "allotment";

/// Label of the secondary metric that marks a row with missing iterations; its score is their
/// number. Also the circumstance that marks each row of a run with missing parts.
pub const INCOMPLETE: &str = "incomplete";

/// The circumstance that is a reason for doubt about the figures; a run may have several.
pub const WARNING: &str = "warning";

/// The circumstance that says how the heaps of JVMs differ from ours.
pub const JVM_HEAPS: &str = "JVM heaps";

/// The last of `jvmArgs` of a row whose case failed: why it did.
pub(super) const FAILED: &str = "failed";

/// The report as a JSON array, one object per row, indented by four blanks, ending with a newline.
///
/// # Errors
/// None in practice: serde_json fails only on map keys that are not strings, and there are none.
pub fn to_json(report: &Report) -> serde_json::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut circumstances = report.circumstances.clone();
    circumstances.extend(report.warnings.iter().map(|warning| format!("{WARNING}={warning}")));
    circumstances.extend(report.incomplete.iter().map(|what| format!("{INCOMPLETE}={what}")));
    let results: Vec<JmhResult> = report.rows.iter().map(|row| result(report, &circumstances, row)).collect();
    let formatter = PrettyFormatter::with_indent(b"    ");
    results.serialize(&mut serde_json::Serializer::with_formatter(&mut text, formatter))?;
    text.push(b'\n');
    Ok(text)
}

/// An object of a file: a benchmark, its settings and its metrics. The order of the fields is the
/// order in the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a result, which is an object")]
pub(super) struct JmhResult {
    #[serde(skip_deserializing)]
    jmh_version: &'static str,
    pub(super) benchmark: String,
    pub(super) mode: String,
    #[serde(default = "one")]
    pub(super) threads: usize,
    #[serde(default = "one")]
    pub(super) forks: u32,
    #[serde(default)]
    pub(super) jvm: String,
    #[serde(default)]
    pub(super) jvm_args: Vec<String>,
    #[serde(default)]
    pub(super) jdk_version: String,
    #[serde(default)]
    pub(super) vm_name: String,
    #[serde(default)]
    pub(super) vm_version: String,
    #[serde(default)]
    pub(super) warmup_iterations: u32,
    #[serde(default)]
    pub(super) warmup_time: Time,
    #[serde(skip_deserializing)]
    warmup_batch_size: u32,
    #[serde(default)]
    pub(super) measurement_iterations: u32,
    #[serde(default)]
    pub(super) measurement_time: Time,
    #[serde(skip_deserializing)]
    measurement_batch_size: u32,
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub(super) params: Ordered<String>,
    pub(super) primary_metric: JmhMetric,
    #[serde(default)]
    pub(super) secondary_metrics: Ordered<JmhMetric>,
}

fn one<N: From<u8>>() -> N {
    1.into()
}

/// A metric of a result.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a metric, which is an object with score and scoreUnit")]
pub(super) struct JmhMetric {
    pub(super) score: Number,
    #[serde(default)]
    pub(super) score_error: Number,
    #[serde(default)]
    pub(super) score_confidence: [Number; 2],
    #[serde(skip_deserializing)]
    score_percentiles: Ordered<Number>,
    pub(super) score_unit: String,
    /// A value for each iteration of each fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) raw_data: Option<Vec<Vec<Number>>>,
    /// A histogram for each iteration of each fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) raw_data_histogram: Option<Vec<Vec<Histogram>>>,
}

fn result(report: &Report, circumstances: &[String], row: &ScoreRow) -> JmhResult {
    let mut secondary: Vec<(String, JmhMetric)> =
        row.secondary.iter().map(|one| (one.label.clone(), metric(one))).collect();
    for (label, value) in row.percentile_rows() {
        secondary.push((label.into(), single(value, &row.primary.unit)));
    }
    if row.missing > 0 {
        secondary.push((INCOMPLETE.into(), single(f64::from(row.missing), "iterations")));
    }
    let origin = row.machine.clone().unwrap_or_else(|| Origin {
        program: report.program.clone(),
        arguments: circumstances.to_vec(),
        jdk_version: "n/a".into(),
        vm_name: VM_NAME.into(),
        vm_version: report.version.clone(),
    });
    let failure = row.failure.iter().map(|why| format!("{FAILED}={why}"));
    JmhResult {
        jmh_version: JMH_VERSION,
        benchmark: row.benchmark.clone(),
        mode: row.jmh_mode.clone(),
        threads: row.threads,
        forks: row.forks,
        jvm: origin.program,
        jvm_args: origin.arguments.into_iter().chain(failure).collect(),
        jdk_version: origin.jdk_version,
        vm_name: origin.vm_name,
        vm_version: origin.vm_version,
        warmup_iterations: row.warmup_iterations,
        warmup_time: Time(row.warmup_time),
        warmup_batch_size: 1,
        measurement_iterations: row.iterations,
        measurement_time: Time(row.time),
        measurement_batch_size: 1,
        params: Ordered(row.parameters.iter().map(|one| (one.name.clone(), one.value.clone())).collect()),
        primary_metric: metric(&row.primary),
        secondary_metrics: Ordered(secondary),
    }
}

fn metric(metric: &Metric) -> JmhMetric {
    let keys = JMH_PERCENTILES.iter().map(|&(key, _)| key.to_string());
    let numbers = |fork: &Vec<f64>| fork.iter().copied().map(Number).collect();
    let histograms = |fork: &Vec<_>| fork.iter().map(|one: &Vec<_>| Histogram::of(one)).collect();
    let (raw_data, raw_data_histogram) = match &metric.samples {
        Samples::Values(forks) => (Some(forks.iter().map(numbers).collect()), None),
        Samples::Histograms(forks) => (None, Some(forks.iter().map(histograms).collect())),
        Samples::Stated(_) => (Some(Vec::new()), None),
    };
    JmhMetric {
        score: Number(metric.score()),
        score_error: Number(metric.error()),
        score_confidence: metric.interval().map(Number),
        score_percentiles: Ordered(keys.zip(metric.percentiles().map(Number)).collect()),
        score_unit: metric.unit.clone(),
        raw_data,
        raw_data_histogram,
    }
}

/// A metric that was not measured per iteration but follows from the others.
fn single(value: f64, unit: &str) -> JmhMetric {
    let samples = Samples::Values(vec![vec![value]]);
    let one = Metric { label: String::new(), unit: unit.into(), combine: Combine::Maximum, samples };
    JmhMetric { raw_data: Some(Vec::new()), ..metric(&one) }
}

#[cfg(test)]
mod tests {
    use super::super::result::examples;
    use super::*;
    use serde_json::{Value, json};

    fn written(report: &Report) -> Value {
        serde_json::from_slice(&to_json(report).unwrap()).unwrap()
    }

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn the_fields_and_their_order_are_jmhs() {
        let value = written(&examples::report());
        let entry = &value[0];
        let all = "jmhVersion benchmark mode threads forks jvm jvmArgs jdkVersion vmName vmVersion \
                   warmupIterations warmupTime warmupBatchSize measurementIterations measurementTime \
                   measurementBatchSize params primaryMetric secondaryMetrics";
        assert_eq!(keys(entry), all.split_whitespace().collect::<Vec<_>>());
        let metric = "score scoreError scoreConfidence scorePercentiles scoreUnit rawData";
        assert_eq!(keys(&entry["primaryMetric"]), metric.split(' ').collect::<Vec<_>>());
        assert_eq!(keys(&entry["primaryMetric"]["scorePercentiles"]).len(), 10);
        assert_eq!(entry["params"], json!({ "size": "65536" }));
        assert_eq!((&entry["warmupTime"], &entry["measurementTime"]), (&json!("1 s"), &json!("300 ms")));
        assert_eq!(entry["primaryMetric"]["score"], json!(250.0));
        assert_eq!(entry["primaryMetric"]["rawData"], json!([[244.0, 248.0], [252.0, 256.0]]));
        assert_eq!(keys(&entry["secondaryMetrics"]), ["gc.alloc.rate", "gc.count"]);
    }

    #[test]
    fn what_is_not_finite_is_a_string() {
        let value = written(&examples::report());
        assert_eq!(value[0]["secondaryMetrics"]["gc.alloc.rate"]["scoreError"], json!("NaN"));
        assert_eq!(value[0]["secondaryMetrics"]["gc.count"]["scoreConfidence"], json!([6.0, 6.0]));
        assert_eq!(serde_json::to_value(Number(f64::INFINITY)).unwrap(), json!("+INF"));
        assert_eq!(serde_json::to_value(Number(f64::NEG_INFINITY)).unwrap(), json!("-INF"));
    }

    #[test]
    fn sample_mode_has_histograms_and_percentiles_and_no_params_when_there_are_none() {
        let entry = &written(&examples::report())[1];
        assert!(entry.get("params").is_none());
        assert!(entry["primaryMetric"].get("rawData").is_none());
        let histogram = &entry["primaryMetric"]["rawDataHistogram"];
        assert_eq!(*histogram, json!([[[[10.0, 3], [20.0, 1]]], [[[10.0, 1]]]]));
        let text = String::from_utf8(to_json(&examples::report()).unwrap()).unwrap();
        assert!(text.lines().any(|line| line.trim() == "[[10.0,3],[20.0,1]]"), "{text}");
        assert_eq!(entry["secondaryMetrics"]["p1.00"]["score"], json!(20.0));
        assert_eq!(entry["secondaryMetrics"]["p1.00"]["rawData"], json!([]));
    }

    #[test]
    fn a_row_of_a_virtual_machine_names_it() {
        let mut report = examples::report();
        report.rows[0].machine = Some(crate::format::Origin {
            program: "/jdk/bin/java".into(),
            arguments: vec!["-Xmx64m".into()],
            jdk_version: "25.0.3".into(),
            vm_name: "OpenJDK 64-Bit Server VM".into(),
            vm_version: "25.0.3+9".into(),
        });
        let value = written(&report);
        let of =
            |index: usize| ["jvm", "jdkVersion", "vmName", "vmVersion"].map(|key| value[index][key].clone());
        assert_eq!(
            of(0),
            ["/jdk/bin/java", "25.0.3", "OpenJDK 64-Bit Server VM", "25.0.3+9"].map(Value::from)
        );
        assert_eq!(value[0]["jvmArgs"], json!(["-Xmx64m"]));
        assert_eq!(of(1), ["/bin/allotment", "n/a", "allotment", "0.1.0"].map(Value::from));
    }

    #[test]
    fn missing_iterations_are_marked() {
        let mut report = examples::report();
        report.rows[0].missing = 3;
        assert_eq!(written(&report)[0]["secondaryMetrics"][INCOMPLETE]["score"], json!(3.0));
        assert!(written(&report)[1]["secondaryMetrics"].get(INCOMPLETE).is_none());
    }

    #[test]
    fn a_case_that_failed_is_a_row_that_says_why() {
        let mut report = examples::report();
        report.rows[0] = examples::failed_row();
        let value = written(&report);
        assert_eq!(
            (&value[0]["primaryMetric"]["score"], &value[0]["params"]["size"]),
            (&json!("NaN"), &json!("65536"))
        );
        assert_eq!(value[0]["secondaryMetrics"][INCOMPLETE]["score"], json!(4.0));
        let why = "failed=fork 1 of 2: was killed by signal 9; it said: a, \"b\"";
        assert_eq!(value[0]["jvmArgs"], json!(["cpu=A \"fast\" one", why]));
        assert_eq!(value[1]["jvmArgs"], json!(["cpu=A \"fast\" one"]));
    }

    #[test]
    fn each_row_has_the_warnings_of_its_run() {
        let report = Report { warnings: vec!["busy".into(), "short".into()], ..examples::report() };
        let value = written(&report);
        let expected = json!(["cpu=A \"fast\" one", "warning=busy", "warning=short"]);
        assert_eq!((&value[0]["jvmArgs"], &value[1]["jvmArgs"]), (&expected, &expected));
    }

    #[test]
    fn each_row_of_a_run_that_ended_early_is_marked() {
        let mut report = examples::report();
        report.incomplete = Some("interrupted, 1 of 3 cases not measured".into());
        let expected = json!(["cpu=A \"fast\" one", "incomplete=interrupted, 1 of 3 cases not measured"]);
        let value = written(&report);
        assert_eq!((&value[0]["jvmArgs"], &value[1]["jvmArgs"]), (&expected, &expected));
    }
}
