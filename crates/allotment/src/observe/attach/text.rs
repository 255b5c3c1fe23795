//! Numbers of a heap as tables, for people and for scripts: one thing a line, no units but bytes
//! and seconds, names last.

use crate::Heap;
use crate::mutator::AttachedThread;
use crate::observe::MetricValue;
use crate::options::OptionRow;
use crate::time_histogram::TimeHistogram;
use std::fmt::Write as _;
use std::time::Duration;

/// The collector, sizes, regions and counts of a heap.
pub(super) fn heap(heap: &Heap) -> String {
    let (metrics, geometry) = (heap.metrics(), heap.geometry());
    let (memory, regions, sums) = (metrics.memory, metrics.regions, metrics.collections);
    let states = regions.by_name().into_iter().filter(|(_, count)| *count > 0);
    let states: Vec<String> = states.map(|(name, count)| format!("{count} {name}")).collect();
    let sampling = match heap.shared.watch.sampler.interval() {
        0 => "off".to_owned(),
        interval => format!("one in {interval} bytes on average"),
    };
    let mut text = String::new();
    let mut line = |name: &str, value: String| _ = writeln!(text, "{name:<13} {value}");
    line("version", format!("allotment {}", env!("CARGO_PKG_VERSION")));
    line("collector", metrics.collector.to_owned());
    line("address", format!("{:#x}", heap.base()));
    line("reserved", format!("{} bytes", memory.reserved_bytes));
    line("capacity", format!("{} bytes", memory.capacity_bytes));
    line("committed", format!("{} bytes", memory.committed_bytes));
    line(
        "used",
        format!("{} bytes: {} young, {} old", memory.used_bytes, metrics.young_bytes, metrics.old_bytes),
    );
    line(
        "regions",
        format!("{} of {} bytes: {}", geometry.regions, geometry.region_bytes(), states.join(", ")),
    );
    line("threads", format!("{} attached, {} so far", metrics.threads.now, metrics.threads.ever));
    line(
        "collections",
        format!(
            "{} young, {} full, {} concurrent, {} degenerated",
            sums.young, sums.full, sums.concurrent, sums.degenerated
        ),
    );
    line("pauses", format!("{}, {} s", metrics.pauses.count(), seconds(metrics.pauses.sum())));
    line("sampling", sampling);
    text
}

/// The attached threads, a line each: what each does.
pub(super) fn threads(heap: &Heap) -> String {
    let mut threads = heap.threads();
    threads.sort_by_key(|thread| std::cmp::Reverse(thread.allocated_bytes()));
    let row = |cells: [&str; 7], name: &str| {
        let [activity, allocated, used, buffer, refills, outside, id] = cells;
        format!(
            "{activity:<9} {allocated:>16} {used:>12} {buffer:>12} {refills:>9} {outside:>9} {id:>10}  {name}\n"
        )
    };
    let heads = ["activity", "allocated", "in buffer", "next buffer", "refills", "outside", "thread id"];
    let mut text = row(heads, "name");
    for thread in &threads {
        let AttachedThread { identity, activity, statistics, .. } = thread;
        let numbers = [
            thread.allocated_bytes(),
            thread.buffer_used_bytes as u64,
            thread.buffer_bytes as u64,
            statistics.refills,
            statistics.outside_allocations,
        ];
        let [allocated, used, buffer, refills, outside] = numbers.map(|number| number.to_string());
        let id = identity.system_id().to_string();
        let cells = [activity.name(), &allocated, &used, &buffer, &refills, &outside, &id];
        text += &row(cells, &on_one_line(identity.name().unwrap_or("-")));
    }
    let ever = heap.metrics().threads.ever;
    let _ = writeln!(text, "{} attached, {ever} so far", threads.len());
    text
}

/// The options in force, as HotSpot's `-XX:+PrintFlagsFinal` has them.
pub(super) fn options(heap: &Heap) -> String {
    let row = |row: OptionRow| format!("{:<34} = {:<20} {{{}}}\n", row.info.name, row.value, row.origin);
    heap.options().rows().map(row).collect()
}

/// All metrics, with their names for exporters.
pub(super) fn metrics(heap: &Heap) -> String {
    let metrics = heap.metrics();
    let mut text = format!("{:>20} {:<14} name\n", "value", "unit");
    for metric in metrics.named() {
        let attribute = metric.attribute.map(|(key, value)| format!("{{{key}={value:?}}}"));
        let attribute = attribute.unwrap_or_default();
        let mut line =
            |value: String, unit: &str, name: String| _ = writeln!(text, "{value:>20} {unit:<14} {name}");
        let name = format!("{}{attribute}", metric.name);
        match metric.value {
            MetricValue::Counter(number) | MetricValue::Level(number) => {
                line(number.to_string(), metric.unit, name);
            }
            MetricValue::TimeCounter(time) => line(seconds(time), metric.unit, name),
            MetricValue::Histogram(times) => {
                line(seconds(times.sum()), metric.unit, format!("{name} sum"));
                line(times.count().to_string(), "{time}", format!("{name} count"));
                let bounds = TimeHistogram::bounds_in_seconds().map(|bound| format!("up to {bound}"));
                let bounds = bounds.into_iter().chain(["above".to_owned()]);
                for (bound, count) in bounds.zip(times.counts()).filter(|(_, count)| **count > 0) {
                    line(count.to_string(), "{time}", format!("{name} {bound}"));
                }
            }
        }
    }
    text
}

fn seconds(time: Duration) -> String {
    format!("{:.6}", time.as_secs_f64())
}

/// A name with escapes for control characters, so that it stays on its line.
fn on_one_line(name: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    name.chars().map(escaped).collect()
}
