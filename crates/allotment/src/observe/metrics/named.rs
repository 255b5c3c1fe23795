//! The numbers of a heap with names, units and descriptions, for exporters.
//!
//! Names, units and attributes have the form of OpenTelemetry's semantic conventions: those of
//! `jvm.memory.used` or `go.memory.allocated`. These conventions have none for a heap in a program,
//! which may have several. So the names begin with `allotment`. `docs/observe.md` has a table of
//! them, which a test compares.

use super::Metrics;
use crate::time_histogram::TimeHistogram;
use std::time::Duration;

/// A number of a heap, as an exporter wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric<'m> {
    /// Its name in OpenTelemetry's form: `allotment.memory.used`. In Prometheus' form it has
    /// underscores, and the unit after them.
    pub name: &'static str,
    /// Its description, a sentence without the full stop.
    pub description: &'static str,
    /// Its unit in the code of UCUM, as OpenTelemetry has it: `By`, `s`, or what is counted, in
    /// braces.
    pub unit: &'static str,
    /// The attribute, key and value, that distinguishes it from other metrics of its name.
    pub attribute: Option<(&'static str, &'static str)>,
    /// The number.
    pub value: MetricValue<'m>,
}

/// The value of a [`Metric`]. Values of the same name have the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricValue<'m> {
    /// A count that only grows.
    Counter(u64),
    /// A time that only grows. Exporters have it in seconds.
    TimeCounter(Duration),
    /// A level: it rises and falls.
    Level(u64),
    /// A distribution of times. Exporters have them in seconds.
    Histogram(&'m TimeHistogram),
}

/// The metrics that were added so far.
struct List<'m>(Vec<Metric<'m>>);

impl<'m> List<'m> {
    fn add(&mut self, [name, unit, description]: [&'static str; 3], value: MetricValue<'m>) {
        self.0.push(Metric { name, description, unit, attribute: None, value });
    }

    /// Adds one metric for each value of the attribute `key`.
    fn add_by<const N: usize>(
        &mut self,
        [name, unit, description]: [&'static str; 3],
        key: &'static str,
        values: [(&'static str, MetricValue<'m>); N],
    ) {
        self.0.extend(values.map(|(attribute, value)| {
            let attribute = Some((key, attribute));
            Metric { name, description, unit, attribute, value }
        }));
    }
}

fn level<'m>(number: usize) -> MetricValue<'m> {
    MetricValue::Level(number as u64)
}

impl Metrics {
    /// All numbers with names, units and descriptions. Those of one name follow each other, and
    /// differ in their attribute.
    ///
    /// ```
    /// use allotment::{Heap, stats::MetricValue};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// for metric in heap.metrics().named() {
    ///     if let MetricValue::Level(number) = metric.value {
    ///         println!("{} {:?} {number} {}", metric.name, metric.attribute, metric.unit);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn named(&self) -> Vec<Metric<'_>> {
        let mut list = List(Vec::with_capacity(64));
        self.add_memory(&mut list);
        self.add_allocations(&mut list);
        self.add_collections(&mut list);
        self.add_threads(&mut list);
        list.0
    }

    fn add_memory(&self, list: &mut List<'_>) {
        let Metrics { memory, regions, .. } = self;
        list.add_by(
            ["allotment.memory.used", "By", "Bytes handed out as buffers and objects"],
            "allotment.generation",
            [("young", level(self.young_bytes)), ("old", level(self.old_bytes))],
        );
        let used_after =
            ["allotment.memory.used_after_last_gc", "By", "Bytes in use after the last collection"];
        list.add(used_after, level(self.used_bytes_after_collection.unwrap_or(0)));
        let committed = ["allotment.memory.committed", "By", "Bytes that are backed by memory of the system"];
        list.add(committed, level(memory.committed_bytes));
        let capacity = ["allotment.memory.capacity", "By", "Bytes that may be in use before a collection"];
        list.add(capacity, level(memory.capacity_bytes));
        let limit = ["allotment.memory.limit", "By", "Bytes that may ever be in use"];
        list.add(limit, level(memory.reserved_bytes));
        list.add_by(
            ["allotment.regions", "{region}", "Regions by what they are in use for"],
            "allotment.region.state",
            regions.by_name().map(|(name, count)| (name, level(count))),
        );
    }

    fn add_allocations(&self, list: &mut List<'_>) {
        use MetricValue::{Counter, TimeCounter};
        let Metrics { buffers, stalls, .. } = self;
        list.add_by(
            ["allotment.memory.allocated", "By", "Bytes of objects that were allocated"],
            "allotment.allocation.place",
            [("buffer", Counter(buffers.inside_bytes)), ("outside", Counter(buffers.outside_bytes))],
        );
        let outside = ["allotment.allocations.outside", "{allocation}", "Objects allocated outside buffers"];
        list.add(outside, Counter(buffers.outside_allocations));
        let refills = ["allotment.buffer.refills", "{refill}", "Buffers that threads took, or made longer"];
        list.add(refills, Counter(buffers.refills));
        let taken = ["allotment.buffer.taken", "By", "Bytes of these buffers"];
        list.add(taken, Counter(buffers.allocated));
        list.add_by(
            ["allotment.buffer.waste", "By", "Bytes at the ends of buffers that hold no object"],
            "allotment.buffer.waste.cause",
            [("refill", Counter(buffers.refill_waste)), ("gc", Counter(buffers.gc_waste))],
        );
        let count = ["allotment.allocation.stalls", "{stall}", "Allocations that waited for a collection"];
        list.add(count, Counter(stalls.count));
        let time = ["allotment.allocation.stall.time", "s", "Time for which allocations waited"];
        list.add(time, TimeCounter(stalls.time));
        let dropped = ["allotment.samples.dropped", "{sample}", "Allocation samples without memory for them"];
        list.add(dropped, Counter(self.dropped_samples));
    }

    fn add_collections<'m>(&'m self, list: &mut List<'m>) {
        use MetricValue::{Counter, Histogram, TimeCounter};
        let sums = &self.collections;
        list.add_by(
            ["allotment.gc.collections", "{collection}", "Collections that ended"],
            "allotment.gc.kind",
            [
                ("young", Counter(sums.young)),
                ("full", Counter(sums.full)),
                ("concurrent", Counter(sums.concurrent)),
                ("degenerated", Counter(sums.degenerated)),
            ],
        );
        let old = ["allotment.gc.old_markings", "{marking}", "Markings of old objects that ended"];
        list.add(old, Counter(sums.old_markings));
        let limits = [
            "allotment.gc.overhead_limits",
            "{collection}",
            "Collections that took too much time for what they freed",
        ];
        list.add(limits, Counter(self.overhead_limits));
        let pauses = ["allotment.gc.pause.duration", "s", "Times for which a collection stopped all threads"];
        list.add(pauses, Histogram(&self.pauses));
        let beside =
            ["allotment.gc.concurrent.time", "s", "Time for which collections worked while threads ran"];
        list.add(beside, TimeCounter(sums.concurrent_time));
        let moved = ["allotment.gc.moved", "By", "Bytes of objects that collections moved"];
        list.add(moved, Counter(sums.moved_bytes));
        let assists =
            ["allotment.gc.assists", "{assist}", "Slices of collections that allocating threads did"];
        list.add(assists, Counter(sums.assists));
        let time = ["allotment.gc.assist.time", "s", "Time of these slices"];
        list.add(time, TimeCounter(sums.assist_time));
        let waits = [
            "allotment.gc.pacing.waits",
            "{wait}",
            "Times that an allocating thread waited for the work of a cycle",
        ];
        list.add(waits, Counter(sums.pacing_waits));
        let time = ["allotment.gc.pacing.time", "s", "Time of these waits"];
        list.add(time, TimeCounter(sums.pacing_time));
        let arrival = [
            "allotment.safepoint.arrival.duration",
            "s",
            "Times from a request to stop until the last thread had stopped",
        ];
        list.add(arrival, Histogram(&self.stops.times));
    }

    fn add_threads(&self, list: &mut List<'_>) {
        let Metrics { threads, roots, .. } = self;
        let now = ["allotment.threads", "{thread}", "Threads that are attached"];
        list.add(now, level(threads.now));
        let ever = ["allotment.thread.attachments", "{attachment}", "Times that a thread attached"];
        list.add(ever, MetricValue::Counter(threads.ever));
        list.add_by(
            ["allotment.roots", "{root}", "Roots outside of frames"],
            "allotment.root.kind",
            [
                ("handle", level(roots.handles)),
                ("weak_handle", level(roots.weak_handles)),
                ("provider", level(roots.providers)),
                ("pinned_object", level(roots.pinned_objects)),
            ],
        );
    }
}
