//! JMH's JSON result format (`JSONResultFormat` of JMH 1.37): its fields, in its order.
//!
//! Information without a JMH field goes where there is room. The machine goes into `jvmArgs`, with
//! the missing parts of the whole run, its warnings, and why a process of the row's case failed. A
//! row's missing iterations go into a secondary metric `incomplete`. Numbers that are not finite are the strings `NaN`, `+INF` and `-INF`.

use super::json_lines::Lines;
use super::time::iteration_time;
use super::{Combine, Metric, Report, Samples, ScoreRow};
use crate::statistics::{JMH_PERCENTILES, Weighted};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;

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
    let entries: Vec<Entry<'_>> = report.rows.iter().map(|row| entry(report, &circumstances, row)).collect();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Lines::new());
    entries.serialize(&mut serializer)?;
    text.push(b'\n');
    Ok(text)
}

/// The order of the fields is the order in the file.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    jmh_version: &'static str,
    benchmark: &'a str,
    mode: &'a str,
    threads: usize,
    forks: u32,
    jvm: &'a str,
    jvm_args: Vec<Cow<'a, str>>,
    jdk_version: &'a str,
    vm_name: &'a str,
    vm_version: &'a str,
    warmup_iterations: u32,
    warmup_time: String,
    warmup_batch_size: u32,
    measurement_iterations: u32,
    measurement_time: String,
    measurement_batch_size: u32,
    #[serde(skip_serializing_if = "Pairs::is_empty")]
    params: Pairs<&'a str>,
    primary_metric: Fields,
    secondary_metrics: Pairs<Fields>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    score: Number,
    score_error: Number,
    score_confidence: [Number; 2],
    score_percentiles: Pairs<Number>,
    score_unit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_data: Option<Vec<Vec<Number>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_data_histogram: Option<Vec<Vec<Counts>>>,
}

/// The histogram of one iteration.
type Counts = Vec<(Number, u64)>;

fn entry<'a>(report: &'a Report, circumstances: &'a [String], row: &'a ScoreRow) -> Entry<'a> {
    let mut secondary: Vec<(String, Fields)> =
        row.secondary.iter().map(|metric| (metric.label.clone(), fields(metric))).collect();
    for (label, value) in row.percentile_rows() {
        secondary.push((label.into(), single(value, &row.primary.unit)));
    }
    if row.missing > 0 {
        secondary.push((INCOMPLETE.into(), single(f64::from(row.missing), "iterations")));
    }
    let arguments = row.machine.as_ref().map_or(circumstances, |machine| &machine.arguments);
    let failure = row.failure.iter().map(|why| Cow::Owned(format!("{FAILED}={why}")));
    let params = row.parameters.iter().map(|p| (p.name.clone(), p.value.as_str())).collect();
    Entry {
        jmh_version: JMH_VERSION,
        benchmark: &row.benchmark,
        mode: &row.jmh_mode,
        threads: row.threads,
        forks: row.forks,
        jvm: row.machine.as_ref().map_or(&report.program, |machine| &machine.program),
        jvm_args: arguments.iter().map(|one| Cow::Borrowed(one.as_str())).chain(failure).collect(),
        jdk_version: row.machine.as_ref().map_or("n/a", |machine| &machine.jdk_version),
        vm_name: row.machine.as_ref().map_or(VM_NAME, |machine| &machine.vm_name),
        vm_version: row.machine.as_ref().map_or(&report.version, |machine| &machine.vm_version),
        warmup_iterations: row.warmup_iterations,
        warmup_time: iteration_time(row.warmup_time),
        warmup_batch_size: 1,
        measurement_iterations: row.iterations,
        measurement_time: iteration_time(row.time),
        measurement_batch_size: 1,
        params: Pairs(params),
        primary_metric: fields(&row.primary),
        secondary_metrics: Pairs(secondary),
    }
}

fn fields(metric: &Metric) -> Fields {
    let percentiles = metric.percentiles();
    let keys = JMH_PERCENTILES.iter().map(|&(key, _)| key.to_string());
    let (mut raw_data, mut raw_data_histogram) = (None, None);
    match &metric.samples {
        Samples::Values(forks) => {
            raw_data = Some(forks.iter().map(|fork| fork.iter().copied().map(Number).collect()).collect());
        }
        Samples::Histograms(forks) => {
            let pairs = |one: &Vec<Weighted>| one.iter().map(|&(value, n)| (Number(value), n)).collect();
            raw_data_histogram = Some(forks.iter().map(|fork| fork.iter().map(pairs).collect()).collect());
        }
        Samples::Stated(_) => raw_data = Some(Vec::new()),
    }
    Fields {
        score: Number(metric.score()),
        score_error: Number(metric.error()),
        score_confidence: metric.interval().map(Number),
        score_percentiles: Pairs(keys.zip(percentiles.map(Number)).collect()),
        score_unit: metric.unit.clone(),
        raw_data,
        raw_data_histogram,
    }
}

/// A metric that was not measured per iteration but follows from the others.
fn single(value: f64, unit: &str) -> Fields {
    let mut fields = fields(&Metric {
        label: String::new(),
        unit: unit.into(),
        combine: Combine::Maximum,
        samples: Samples::Values(vec![vec![value]]),
    });
    fields.raw_data = Some(Vec::new());
    fields
}

/// A number that may be NaN or infinite.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            value if value.is_finite() => serializer.serialize_f64(value),
            value if value.is_nan() => serializer.serialize_str("NaN"),
            value if value > 0.0 => serializer.serialize_str("+INF"),
            _ => serializer.serialize_str("-INF"),
        }
    }
}

/// A JSON object whose fields keep the order in which they were put in.
struct Pairs<V>(Vec<(String, V)>);

impl<V> Pairs<V> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<V: Serialize> Serialize for Pairs<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
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
