//! Files with numbers that no measurement gives. They are read or refused, and a file that is read
//! becomes a page.

use super::{Source, changes, changes_json, document};
use crate::experiments;
use crate::format::{Entry, Report, read_json, text_table};
use allotment_report::chart::standalone;
use allotment_report::page::{html, markdown};
use proptest::prelude::*;

/// Numbers as files may have them, mainly extreme ones.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (1.0f64..1e3).prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_filter("JSON has no others", |number| number.is_finite()).prop_map(|number| format!("{number:e}")),
        2 => prop::sample::select(vec!["0", "-0.0", "1e308", "-1e308", "5e-324", "1e-300", "\"NaN\"", "\"+INF\"", "\"-INF\""])
            .prop_map(String::from),
    ]
}

fn count() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (0u32..5).prop_map(|count| count.to_string()),
        1 => prop::sample::select(vec!["4294967295", "18446744073709551615"]).prop_map(String::from),
    ]
}

fn metric() -> impl Strategy<Value = String> {
    let values = prop::collection::vec(prop::collection::vec(number(), 0..4), 0..3);
    let counts = prop::collection::vec((number(), count()), 0..4);
    (number(), number(), values, prop::option::of(counts)).prop_map(|(score, error, values, counts)| {
        let forks: Vec<String> = values.iter().map(|fork| format!("[{}]", fork.join(","))).collect();
        let counts = counts.map(|counts| {
            let pairs: Vec<String> = counts.iter().map(|(value, times)| format!("[{value},{times}]")).collect();
            format!(", \"rawDataHistogram\": [[[{}]]]", pairs.join(","))
        });
        format!(
            "{{ \"score\": {score}, \"scoreError\": {error}, \"scoreUnit\": \"ns/op\", \"rawData\": [{}]{} }}",
            forks.join(","),
            counts.unwrap_or_default()
        )
    })
}

fn row() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec![
        "tlab.tlab",
        "tlab.cas",
        "cache.gather",
        "storm.start",
        "clock.tsc",
        "org.A.b",
        "",
        ".",
    ]);
    let params = prop::collection::btree_map(
        prop::sample::select(vec!["size", "set", "mutators", "jvm", "neighbours"]),
        number(),
        0..4,
    );
    (names, params, count(), count(), metric(), prop::option::of(metric())).prop_map(
        |(name, params, threads, forks, primary, other)| {
            let params: Vec<String> =
                params.iter().map(|(name, value)| format!("\"{name}\": \"{}\"", value.trim_matches('"'))).collect();
            let forks = if forks.len() > 10 { "1" } else { &forks };
            let other = other.map_or(String::new(), |other| format!("\"first.over-1ms\": {other}"));
            format!(
                "{{ \"benchmark\": \"{name}\", \"mode\": \"avgt\", \"threads\": {threads}, \"forks\": {forks}, \
                 \"measurementIterations\": {forks}, \"params\": {{ {} }}, \"primaryMetric\": {primary}, \
                 \"secondaryMetrics\": {{ {other} }} }}",
                params.join(", ")
            )
        },
    )
}

fn shown(entries: &[Entry]) {
    let source = Source { name: "wild".into(), entries: entries.to_vec() };
    let document = document(vec![source], experiments::all());
    html(&document, "wild").unwrap();
    markdown(&document, "wild");
    for chart in document.sections.iter().flat_map(|section| &section.groups).flat_map(|group| &group.charts)
    {
        standalone(chart);
    }
    let found = changes(entries, entries);
    changes_json(&found).unwrap();
    for one in &found.both {
        let ratio = one.ratio;
        assert!(ratio.low.is_nan() || (0.0 < ratio.low && ratio.low <= ratio.high), "{ratio:?}");
    }
    let rows = entries.iter().map(|entry| entry.row.clone()).collect();
    let report = Report {
        rows,
        program: String::new(),
        version: String::new(),
        circumstances: vec![],
        incomplete: None,
        warnings: vec![],
    };
    text_table(&report, None, Some(60));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn wild_numbers_are_read_and_shown(rows in prop::collection::vec(row(), 0..6)) {
        let text = format!("[{}]", rows.join(",\n"));
        if let Ok(entries) = read_json(&text) {
            shown(&entries);
        }
    }

    #[test]
    fn damaged_bytes_are_read_or_refused(rows in prop::collection::vec(row(), 1..3), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = format!("[{}]", rows.join(",\n")).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(entries) = read_json(&String::from_utf8_lossy(&bytes)) {
            shown(&entries);
        }
    }
}
