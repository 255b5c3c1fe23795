//! A heap's metrics for Prometheus, with the crate `prometheus-client`.
//!
//! The registry asks the heap at each scrape, so nothing runs in between. A program with several
//! heaps registers each with a label of its own (`Registry::sub_registry_with_label`).
//!
//! `cargo run --example metrics_prometheus`

use allotment::stats::{Metric, MetricValue, TimeHistogram};
use allotment::{Heap, NewStr, OutOfMemory, alloc};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use std::error::Error;
use std::fmt;

/// Tells a registry the numbers of a heap.
#[derive(Debug)]
struct HeapCollector(Heap);

impl Collector for HeapCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let metrics = self.0.metrics();
        for family in metrics.named().chunk_by(|one, next| one.name == next.name) {
            let Metric { name, unit, description, value, .. } = family[0];
            let kind = match value {
                MetricValue::Counter(_) | MetricValue::TimeCounter(_) => MetricType::Counter,
                MetricValue::Level(_) => MetricType::Gauge,
                MetricValue::Histogram(_) => MetricType::Histogram,
                _ => continue,
            };
            let unit = match unit {
                "By" => Some(Unit::Bytes),
                "s" => Some(Unit::Seconds),
                _ => None,
            };
            let name = name.replace('.', "_");
            let mut encoder = encoder.encode_descriptor(&name, description, unit.as_ref(), kind)?;
            for metric in family {
                let label = |(key, value): (&str, _)| (key.replace('.', "_"), value);
                let labels: Vec<(String, &str)> = metric.attribute.map(label).into_iter().collect();
                encode(&mut encoder.encode_family(&labels)?, metric.value)?;
            }
        }
        Ok(())
    }
}

fn encode(encoder: &mut MetricEncoder<'_>, value: MetricValue<'_>) -> Result<(), fmt::Error> {
    match value {
        MetricValue::Counter(count) => encoder.encode_counter::<NoLabelSet, u64, f64>(&count, None),
        MetricValue::TimeCounter(time) => {
            encoder.encode_counter::<NoLabelSet, f64, f64>(&time.as_secs_f64(), None)
        }
        MetricValue::Level(number) => encoder.encode_gauge(&number),
        MetricValue::Histogram(times) => {
            let bounds = TimeHistogram::bounds_in_seconds().into_iter().chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = bounds.zip(times.counts().iter().copied()).collect();
            encoder.encode_histogram::<NoLabelSet>(times.sum().as_secs_f64(), times.count(), &buckets, None)
        }
        _ => Ok(()),
    }
}

/// The answer to a scrape.
pub(crate) fn scrape(heap: &Heap) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(HeapCollector(heap.clone())));
    let mut page = String::new();
    text::encode(&mut page, &registry)?;
    Ok(page)
}

fn main() -> Result<(), Box<dyn Error>> {
    let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    heap.attach(|mu| {
        for _ in 0..2_000_000 {
            alloc!(mu, NewStr::from("garbage, most of it"))?;
        }
        Ok::<(), OutOfMemory>(())
    })??;
    print!("{}", scrape(&heap)?);
    Ok(())
}
