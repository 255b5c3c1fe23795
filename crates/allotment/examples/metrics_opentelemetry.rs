//! A heap's metrics for OpenTelemetry.
//!
//! Counts and levels are observed when the SDK collects. The SDK has no histogram that is observed,
//! so a listener records each pause.
//!
//! The SDK calls back once for each instrument. All of these share one reading for each export: see
//! [`Readings`]. The callbacks keep a clone of the heap, and the provider of meters keeps the
//! callbacks. So the heap lives until the provider is dropped, even if the program drops it
//! earlier.
//!
//! `cargo run --example metrics_opentelemetry`. A program that sends its metrics somewhere has an
//! exporter of `opentelemetry-otlp` in the place of [`Lines`].

use allotment::heap::BuildError;
use allotment::stats::{Metric, MetricValue, Metrics, TimeHistogram};
use allotment::{Heap, NewStr, OutOfMemory, alloc};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, Meter, MeterProvider};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, HistogramDataPoint, MetricData, ResourceMetrics};
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider, Temporality};
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A heap that records its pauses, and whose other numbers are observed.
pub(crate) fn heap(meter: &Meter) -> Result<Heap, BuildError> {
    let pauses = meter
        .f64_histogram("allotment.gc.pause.duration")
        .with_unit("s")
        .with_boundaries(TimeHistogram::bounds_in_seconds().to_vec())
        .build();
    let record = move |pause: Duration| pauses.record(pause.as_secs_f64(), &[]);
    let builder = Heap::builder().max_heap_size(16 << 20);
    let heap = builder.on_collection(move |collection| collection.pauses().for_each(&record)).build()?;
    observe(meter, &heap);
    Ok(heap)
}

/// The latest reading of a heap, and the names that have not been observed from it yet.
///
/// The SDK calls each callback once for each export, one after the other. So a name that comes
/// again begins another export, which has a reading of its own.
struct Readings {
    heap: Heap,
    latest: Mutex<(Metrics, Vec<&'static str>)>,
}

impl Readings {
    fn new(heap: Heap) -> Readings {
        let latest = Mutex::new((heap.metrics(), Vec::new()));
        Readings { heap, latest }
    }

    /// Observes the numbers of a name.
    fn observe(&self, name: &'static str, instrument: &dyn AsyncInstrument<f64>) {
        let mut latest = self.latest.lock().expect("nothing panics under the lock");
        let (metrics, left) = &mut *latest;
        if !left.contains(&name) {
            *metrics = self.heap.metrics();
            *left = metrics.named().iter().map(|metric| metric.name).collect();
        }
        left.retain(|other| *other != name);
        for metric in metrics.named().iter().filter(|metric| metric.name == name) {
            let attribute = metric.attribute.map(|(key, value)| KeyValue::new(key, value));
            let number = match metric.value {
                MetricValue::Counter(number) | MetricValue::Level(number) => number as f64,
                MetricValue::TimeCounter(time) => time.as_secs_f64(),
                _ => continue,
            };
            instrument.observe(number, attribute.as_slice());
        }
    }
}

/// Makes an instrument for each name. All have 64-bit floats, which are exact up to 2^53.
fn observe(meter: &Meter, heap: &Heap) {
    let readings = Arc::new(Readings::new(heap.clone()));
    for family in heap.metrics().named().chunk_by(|one, next| one.name == next.name) {
        let Metric { name, unit, description, value, .. } = family[0];
        let readings = readings.clone();
        let each = move |instrument: &dyn AsyncInstrument<f64>| readings.observe(name, instrument);
        match value {
            MetricValue::Counter(_) | MetricValue::TimeCounter(_) => {
                let counter = meter.f64_observable_counter(name).with_unit(unit);
                counter.with_description(description).with_callback(each).build();
            }
            MetricValue::Level(_) => {
                let level = meter.f64_observable_up_down_counter(name).with_unit(unit);
                level.with_description(description).with_callback(each).build();
            }
            _ => {}
        }
    }
}

/// An exporter that keeps a line for each number.
#[derive(Clone, Default)]
pub(crate) struct Lines(pub(crate) Arc<Mutex<Vec<String>>>);

impl PushMetricExporter for Lines {
    fn export(&self, metrics: &ResourceMetrics) -> impl Future<Output = OTelSdkResult> + Send {
        let mut lines = self.0.lock().expect("nothing panics under the lock");
        for metric in metrics.scope_metrics().flat_map(|scope| scope.metrics()) {
            let (name, unit) = (metric.name(), metric.unit());
            match metric.data() {
                AggregatedMetrics::F64(MetricData::Sum(sum)) => {
                    lines.extend(sum.data_points().map(|point| {
                        let attributes = point.attributes().map(|of| format!(" {}={}", of.key, of.value));
                        format!("{name}{} {} {unit}", attributes.collect::<String>(), point.value())
                    }))
                }
                AggregatedMetrics::F64(MetricData::Histogram(times)) => {
                    let line = |point: &HistogramDataPoint<f64>| format!("{name} {} {unit}", point.count());
                    lines.extend(times.data_points().map(line));
                }
                _ => {}
            }
        }
        std::future::ready(Ok(()))
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }

    fn temporality(&self) -> Temporality {
        Temporality::Cumulative
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let lines = Lines::default();
    let reader = PeriodicReader::builder(lines.clone()).build();
    let provider = SdkMeterProvider::builder().with_reader(reader).build();
    let heap = heap(&provider.meter("allotment"))?;
    heap.attach(|mu| {
        for _ in 0..2_000_000 {
            alloc!(mu, NewStr::from("garbage, most of it"))?;
        }
        Ok::<(), OutOfMemory>(())
    })??;
    provider.force_flush()?;
    lines.0.lock().expect("nothing panics under the lock").iter().for_each(|line| println!("{line}"));
    Ok(())
}
