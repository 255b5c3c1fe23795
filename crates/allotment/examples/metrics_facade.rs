//! A heap's metrics for the facade `metrics`, whichever exporter the program installs.
//!
//! The facade's histograms take times one by one, so a listener records each pause. Its counters
//! are whole numbers, so sums of times are gauges. All else is published now and then: here once,
//! in a program by a thread that sleeps in between, or before each scrape.
//!
//! `cargo run --example metrics_facade`

use allotment::heap::BuildError;
use allotment::stats::MetricValue;
use allotment::{Heap, NewStr, OutOfMemory, alloc};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Label, Metadata, Recorder,
    SharedString, Unit, counter, gauge, histogram,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex};

/// A heap that records its pauses.
pub(crate) fn heap() -> Result<Heap, BuildError> {
    let pause =
        |time: std::time::Duration| histogram!("allotment.gc.pause.duration").record(time.as_secs_f64());
    let builder = Heap::builder().max_heap_size(16 << 20);
    builder.on_collection(move |collection| collection.pauses().for_each(pause)).build()
}

/// Publishes all other numbers.
pub(crate) fn publish(heap: &Heap) {
    for metric in heap.metrics().named() {
        let attribute = metric.attribute.map(|(key, value)| Label::new(key, value));
        let labels: Vec<Label> = attribute.into_iter().collect();
        match metric.value {
            MetricValue::Counter(count) => counter!(metric.name, labels).absolute(count),
            MetricValue::TimeCounter(time) => gauge!(metric.name, labels).set(time.as_secs_f64()),
            MetricValue::Level(number) => gauge!(metric.name, labels).set(number as f64),
            _ => {}
        }
    }
}

/// A recorder that keeps the numbers, of a histogram how many there were.
#[derive(Default)]
pub(crate) struct Numbers(pub(crate) Mutex<BTreeMap<String, Arc<Number>>>);

#[derive(Default)]
pub(crate) struct Number(pub(crate) Mutex<f64>);

impl Number {
    fn change(&self, change: impl FnOnce(f64) -> f64) {
        let mut number = self.0.lock().expect("nothing panics under the lock");
        *number = change(*number);
    }
}

impl CounterFn for Number {
    fn increment(&self, more: u64) {
        self.change(|number| number + more as f64);
    }
    fn absolute(&self, count: u64) {
        self.change(|number| number.max(count as f64));
    }
}

impl GaugeFn for Number {
    fn increment(&self, more: f64) {
        self.change(|number| number + more);
    }
    fn decrement(&self, less: f64) {
        self.change(|number| number - less);
    }
    fn set(&self, new: f64) {
        self.change(|_| new);
    }
}

impl HistogramFn for Number {
    fn record(&self, _: f64) {
        self.change(|count| count + 1.0);
    }
}

impl Numbers {
    fn number(&self, key: &Key) -> Arc<Number> {
        self.0.lock().expect("nothing panics under the lock").entry(key.to_string()).or_default().clone()
    }
}

impl Recorder for Numbers {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        self.number(key).into()
    }
    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        self.number(key).into()
    }
    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        self.number(key).into()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers = Arc::new(Numbers::default());
    metrics::set_global_recorder(numbers.clone()).map_err(|_| "there is a recorder")?;
    let heap = heap()?;
    heap.attach(|mu| {
        for _ in 0..2_000_000 {
            alloc!(mu, NewStr::from("garbage, most of it"))?;
        }
        Ok::<(), OutOfMemory>(())
    })??;
    publish(&heap);
    for (name, number) in &*numbers.0.lock().expect("nothing panics under the lock") {
        println!("{name} {}", number.0.lock().expect("nothing panics under the lock"));
    }
    Ok(())
}
