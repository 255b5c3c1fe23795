//! The figures of a storm: percentiles of its operations, of the first operations separately, and
//! the number of threads that waited.

use crate::experiments::heap_use::milliseconds;
use crate::harness::SecondaryValue;
use crate::machine::CpuTime;
use crate::statistics::{Weighted, distribution, percentile};
use std::time::Duration;

/// Times of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    /// Times of its operations, in their order.
    pub(super) operations: Vec<Duration>,
    /// CPU time that the thread had and wanted in its longest operation, if the kernel reports it
    /// and it was requested.
    pub(super) of_longest: Option<CpuTime>,
    /// How much longer than intended each sleep was.
    pub(super) overslept: Vec<Duration>,
    /// The time from the beginning of the storm until the thread was done.
    pub(super) total: Duration,
}

/// The distribution of all operations' times.
pub(super) const OPERATION: &str = "op";

/// The distribution of the times of first operations, one for each thread.
pub(super) const FIRST: &str = "first";

/// An operation that takes longer has waited.
const LONG: Duration = Duration::from_millis(1);

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The rows of these names, each with the percentile at its end. No rows without times.
fn rows(times: impl Iterator<Item = f64>, unit: &str, names: &[&str]) -> Vec<SecondaryValue> {
    let mut sorted: Vec<Weighted> = times.map(|time| (time, 1)).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let row = |name: &&str| match name.split_once('.')?.1 {
        "min" => Some(SecondaryValue::average(name, unit, sorted.first()?.0)),
        "max" => Some(SecondaryValue::maximum(name, unit, sorted.last()?.0)),
        part => Some(SecondaryValue::average(
            name,
            unit,
            percentile(&sorted, part.strip_prefix('p')?.parse().ok()?),
        )),
    };
    names.iter().filter(|_| !sorted.is_empty()).filter_map(row).collect()
}

/// The figures of all threads' times.
pub(super) fn figures(threads: &[Times]) -> Vec<SecondaryValue> {
    let operations = || threads.iter().flat_map(|times| times.operations.iter().copied());
    let firsts = || threads.iter().filter_map(|times| times.operations.first().copied());
    let overslept = || threads.iter().flat_map(|times| times.overslept.iter().copied());
    let totals = threads.iter().map(|times| milliseconds(times.total));
    let late = firsts().filter(|&time| time > LONG).count();
    let long: Duration = operations().filter(|&time| time > LONG).sum();
    let mut values = vec![
        SecondaryValue::distribution(OPERATION, "us", distribution(operations())),
        SecondaryValue::distribution(FIRST, "us", distribution(firsts())),
    ];
    values.extend(rows(
        operations().map(microseconds),
        "us",
        &["op.p50", "op.p99", "op.p99.9", "op.p99.99", "op.max"],
    ));
    values.push(SecondaryValue::average("op.over-1ms", "ms", milliseconds(long)));
    values.extend(rows(firsts().map(microseconds), "us", &["first.p50", "first.p99"]));
    values.push(SecondaryValue::average("first.over-1ms", "threads", late as f64));
    values.extend(rows(totals, "ms", &["thread.min", "thread.p50", "thread.max"]));
    let longest = |times: &&Times| times.operations.iter().copied().max();
    if let Some(CpuTime { ran, queued }) =
        threads.iter().max_by_key(longest).and_then(|times| times.of_longest)
    {
        values.extend([
            SecondaryValue::maximum("op.max.ran", "us", microseconds(ran)),
            SecondaryValue::maximum("op.max.queued", "us", microseconds(queued)),
        ]);
    }
    let sleeps = ["overslept.p50", "overslept.p99", "overslept.p99.9", "overslept.max"];
    values.extend(rows(overslept().map(microseconds), "us", &sleeps));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_those_of_the_times() {
        let ms = Duration::from_millis;
        let times = |first: u64, total: u64| Times {
            operations: [first, 1, 1, 1].map(ms).to_vec(),
            of_longest: Some(CpuTime { ran: ms(first / 5), queued: ms(first / 2) }),
            overslept: [total, 0, 0].map(ms).to_vec(),
            total: ms(total),
        };
        let found = figures(&[times(2, 9), times(1, 5), times(10, 20)]);
        let of = |label: &str| found.iter().find(|value| value.label == label).unwrap().value;
        for (label, value) in [
            ("op.p50", 1000.0),
            ("op.max", 10_000.0),
            ("op.max.ran", 2000.0),
            ("op.max.queued", 5000.0),
            ("op.over-1ms", 12.0),
            ("first.p50", 2000.0),
            ("first.p99", 10_000.0),
            ("first.over-1ms", 2.0),
            ("thread.min", 5.0),
            ("thread.p50", 9.0),
            ("thread.max", 20.0),
            ("overslept.p50", 0.0),
            ("overslept.max", 20_000.0),
        ] {
            assert!((of(label) - value).abs() < 1e-6, "{label}: {}", of(label));
        }
        let kept = |label: &str| &found.iter().find(|value| value.label == label).unwrap().times;
        assert_eq!(kept(OPERATION).iter().map(|(_, count)| count).sum::<u64>(), 12);
        assert_eq!((kept(FIRST).len(), kept(FIRST).last()), (3, Some(&(10_000.0, 1))));
        let unpaced = Times { overslept: Vec::new(), of_longest: None, ..times(2, 9) };
        let of_pace = |label: &str| label.starts_with("overslept") || label.starts_with("op.max.");
        assert!(!figures(&[unpaced]).iter().any(|value| of_pace(&value.label)));
    }
}
