//! The examples that export a heap's metrics: what they export is what the heap says.
//!
//! Their files are compiled into this test.
#![allow(dead_code)]

#[path = "../examples/metrics_facade.rs"]
mod facade;
#[path = "../examples/metrics_opentelemetry.rs"]
mod opentelemetry_sdk_example;
#[path = "../examples/metrics_prometheus.rs"]
mod prometheus;

use allotment::stats::{MetricValue, Metrics};
use allotment::{Heap, NewStr, OutOfMemory, alloc};
use opentelemetry::metrics::MeterProvider;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Allocates what needs some collections.
fn work(heap: &Heap) {
    let run = heap.attach(|mu| {
        for _ in 0..200_000 {
            alloc!(
                mu,
                NewStr::from("garbage that is longer than a line of the cache, so that it is soon used up")
            )?;
        }
        mu.collect();
        Ok::<(), OutOfMemory>(())
    });
    run.unwrap().unwrap();
}

/// Counts and levels by name and attribute.
fn numbers(metrics: &Metrics) -> BTreeMap<(&'static str, Option<(&'static str, &'static str)>), f64> {
    let number = |value| match value {
        MetricValue::Counter(number) | MetricValue::Level(number) => Some(number as f64),
        MetricValue::TimeCounter(time) => Some(time.as_secs_f64()),
        _ => None,
    };
    let metrics = metrics.named().into_iter();
    metrics.filter_map(|metric| Some(((metric.name, metric.attribute), number(metric.value)?))).collect()
}

#[test]
fn a_page_for_prometheus_has_each_number_under_its_name() {
    let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
    work(&heap);
    let page = prometheus::scrape(&heap).unwrap();
    let metrics = heap.metrics();
    assert!(metrics.collections.full > 0 && metrics.collections.young > 0, "{metrics:?}");
    let lines: BTreeMap<&str, f64> = page
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.rsplit_once(' ').expect(line))
        .map(|(name, number)| (name, number.parse().expect(number)))
        .collect();
    let units: BTreeMap<_, _> = metrics.named().iter().map(|metric| (metric.name, metric.unit)).collect();
    let of = |name: &str, suffix: &str, label: &str| {
        let unit = match units[name] {
            "By" => "_bytes",
            "s" => "_seconds",
            _ => "",
        };
        let line = format!("{}{unit}{suffix}{label}", name.replace('.', "_"));
        *lines.get(&*line).unwrap_or_else(|| panic!("no {line} in\n{page}"))
    };
    let mut expected = 0;
    for metric in metrics.named() {
        let label = |(key, value): (&str, &str)| format!("{{{}=\"{value}\"}}", key.replace('.', "_"));
        let label = metric.attribute.map(label).unwrap_or_default();
        match metric.value {
            MetricValue::Level(number) => assert_eq!(of(metric.name, "", &label), number as f64),
            MetricValue::Counter(count) => assert_eq!(of(metric.name, "_total", &label), count as f64),
            MetricValue::TimeCounter(time) => {
                assert_eq!(of(metric.name, "_total", &label), time.as_secs_f64())
            }
            MetricValue::Histogram(times) => {
                assert_eq!(of(metric.name, "_count", ""), times.count() as f64);
                assert_eq!(of(metric.name, "_sum", ""), times.sum().as_secs_f64());
                assert_eq!(of(metric.name, "_bucket", "{le=\"+Inf\"}"), times.count() as f64);
                // Those of Prometheus are cumulative.
                for (bound, place) in [("0.00001", 0), ("1.31072", 17), ("10.48576", 20)] {
                    let up_to_bound: u64 = times.counts()[..=place].iter().sum();
                    let label = format!("{{le=\"{bound}\"}}");
                    assert_eq!(of(metric.name, "_bucket", &label), up_to_bound as f64);
                }
                expected += 23;
            }
            _ => panic!("{metric:?}"),
        }
        expected += 1;
    }
    assert_eq!(lines.len(), expected, "{page}");
    assert!(
        page.contains("# TYPE allotment_memory_used_bytes gauge\n# UNIT allotment_memory_used_bytes bytes\n")
    );
    assert!(page.contains("# TYPE allotment_gc_collections counter\n"));
    assert!(page.contains("# TYPE allotment_gc_pause_duration_seconds histogram\n"));
    assert!(page.ends_with("# EOF\n"));
}

#[test]
fn the_facade_is_told_each_number_and_each_pause() {
    let recorder = Arc::new(facade::Numbers::default());
    metrics::set_global_recorder(recorder.clone()).map_err(|_| "there is a recorder").unwrap();
    let heap = facade::heap().unwrap();
    work(&heap);
    facade::publish(&heap);
    let metrics = heap.metrics();
    let told = recorder.0.lock().unwrap();
    let of = |key: metrics::Key| *told[&key.to_string()].0.lock().unwrap();
    let expected = numbers(&metrics);
    for ((name, attribute), number) in &expected {
        let labels =
            attribute.map(|(key, value)| metrics::Label::new(key, value)).into_iter().collect::<Vec<_>>();
        assert_eq!(of(metrics::Key::from_parts(*name, labels)), *number, "{name} {attribute:?}");
    }
    let pauses = of(metrics::Key::from_name("allotment.gc.pause.duration"));
    assert_eq!(pauses, metrics.pauses.count() as f64);
    assert!(pauses > 1.0);
    assert_eq!(told.len(), expected.len() + 1);
}

#[test]
fn opentelemetry_observes_each_number_and_has_each_pause() {
    let lines = opentelemetry_sdk_example::Lines::default();
    let reader = PeriodicReader::builder(lines.clone()).build();
    let provider = SdkMeterProvider::builder().with_reader(reader).build();
    let heap = opentelemetry_sdk_example::heap(&provider.meter("allotment")).unwrap();
    work(&heap);
    provider.force_flush().unwrap();
    let metrics = heap.metrics();
    let units: BTreeMap<_, _> = metrics.named().iter().map(|metric| (metric.name, metric.unit)).collect();
    let mut expected: Vec<String> = numbers(&metrics)
        .iter()
        .map(|((name, attribute), number)| {
            let attribute = attribute.map(|(key, value)| format!(" {key}={value}")).unwrap_or_default();
            format!("{name}{attribute} {number} {}", units[name])
        })
        .collect();
    expected.push(format!("allotment.gc.pause.duration {} s", metrics.pauses.count()));
    expected.sort();
    let mut lines = lines.0.lock().unwrap().clone();
    lines.sort();
    assert_eq!(lines, expected);
}
