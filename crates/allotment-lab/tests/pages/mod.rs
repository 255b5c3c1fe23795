//! Results that were never measured: of several experiments, a JVM and a foreign benchmark, with
//! what makes pages difficult: long names, errors longer than the scores, no errors, many series,
//! histograms.

use allotment_lab::format::json::to_json;
use allotment_lab::format::{Combine, Metric, Parameter, Report, Samples, ScoreRow};
use std::time::Duration;

/// A row whose values spread by `spread` of the score.
pub(crate) fn row(
    benchmark: &str,
    threads: usize,
    params: &[(&str, &str)],
    unit: &str,
    score: f64,
    spread: f64,
) -> ScoreRow {
    let parameter = |&(name, value): &(&str, &str)| Parameter {
        name: name.into(),
        value: value.into(),
        label: value.into(),
    };
    let values = [0.0, 1.0, -1.0, 0.5, -0.5, 0.0].map(|step: f64| score * (1.0 + spread * step));
    ScoreRow {
        benchmark: benchmark.into(),
        jmh_mode: if unit.starts_with("ops/") { "thrpt" } else { "avgt" }.into(),
        threads,
        parameters: params.iter().map(parameter).collect(),
        forks: 2,
        warmup_iterations: 1,
        warmup_time: Duration::from_millis(100),
        iterations: 3,
        time: Duration::from_millis(100),
        primary: Metric {
            label: String::new(),
            unit: unit.into(),
            combine: Combine::Average,
            samples: Samples::Values(values.chunks(3).map(<[f64]>::to_vec).collect()),
        },
        secondary: vec![],
        missing: 0,
        machine: None,
        failure: None,
    }
}

/// All of them.
pub(crate) fn rows() -> Vec<ScoreRow> {
    let mut rows = Vec::new();
    let modes = ["tlab", "burst", "emitted", "stub", "called", "bare", "memset", "shared", "cas", "no-tlab"];
    for (place, mode) in modes.iter().enumerate() {
        for size in ["16", "48", "144"] {
            for threads in [1, 2, 4] {
                let score = 400.0 / (place + 1) as f64 * threads as f64;
                let spread = if *mode == "no-tlab" { 1.5 } else { 0.01 };
                rows.push(row(&format!("tlab.{mode}"), threads, &[("size", size)], "ops/us", score, spread));
            }
        }
    }
    for threads in [1, 2, 4] {
        for jvm in ["25-parallel", "17-g1"] {
            let params = [("size", "16"), ("jvm", jvm)];
            rows.push(row("tlab.tlab", threads, &params, "ops/us", 250.0 * threads as f64, 0.05));
        }
    }
    for (mode, score) in [("attach", 900.0), ("poll", 0.4), ("root", 2.5)] {
        for (way, factor) in [("safe", 1.0), ("raw", 0.7)] {
            let params = [("way", way)];
            rows.push(row(&format!("api.{mode}"), 1, &params, "ns/op", score * factor, 0.02));
        }
    }
    for set in
        ["defaults", "TLABSize=64k", "TLABPolicy=shenandoah-8359947,RegionSize=4m,-UseTransparentHugePages"]
    {
        let mut row = row("options.mixed", 2, &[("set", set)], "ops/us", 7.0, 0.2);
        row.missing = 1;
        rows.push(row);
    }
    for method in
        ["<b>escape</b>&amp;", "aVeryLongNameOfAMethodWithoutAnyBlankThatHasToBeBrokenSomewhereOnAPhone"]
    {
        let name = format!("org.foreign.Bench.{method}");
        let mut row = row(&name, 1, &[("\"quoted\"", "<script>alert(1)</script>")], "us/op", 3.0, 0.1);
        row.jmh_mode = "sample".into();
        row.primary.samples = Samples::Histograms(vec![vec![vec![(2.5, 10), (3.0, 80), (90.0, 1)]]]);
        rows.push(row);
    }
    for (mutators, slow) in [("100", 1.0), ("500", 40.0)] {
        let mut row = row("storm.start", 1, &[("mutators", mutators)], "ms/op", 812.0, 0.1);
        row.jmh_mode = "ss".into();
        // 100,000 times from 5 us on, of which a thousandth is up to a thousand times as long.
        let times = (0..1000).map(|step: u32| {
            let tail = f64::from(step.saturating_sub(900)) / 100.0;
            (5.0 + f64::from(step) / 100.0 + 5000.0 * slow * tail.powi(8), 100)
        });
        let samples = Samples::Histograms(vec![vec![times.collect()]]);
        let metric = Metric { label: "op".into(), unit: "us".into(), combine: Combine::Average, samples };
        row.secondary = vec![Metric { label: "first".into(), ..metric.clone() }, metric];
        rows.push(row);
    }
    rows
}

/// The rows as a result file.
pub(crate) fn json(rows: &[ScoreRow]) -> String {
    let circumstances = ["processor=A processor", "CPUs=2 allowed (0-1) on 2 cores", "L2=512k, 64 B lines"];
    let report = Report {
        rows: rows.to_vec(),
        program: "/usr/bin/allotment".into(),
        version: "0.1.0".into(),
        circumstances: circumstances.map(String::from).to_vec(),
        incomplete: None,
        warnings: vec![],
    };
    String::from_utf8(to_json(&report).unwrap()).unwrap()
}
