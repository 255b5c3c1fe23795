//! The figures of a shot beside those of its heap.

use super::watch::Done;
use crate::experiments::heap_use::milliseconds;
use crate::harness::SecondaryValue;
use crate::statistics::{distribution, percentile};
use std::time::Duration;

/// The distribution of the times of operations.
pub(super) const OPERATION: &str = "op";

/// The figures of all threads' results, of the times to the safepoint of all stops, and of the CPU
/// time of the process in percent.
pub(super) fn figures(done: &Done, stops: &[Duration], cpu: f64) -> Vec<SecondaryValue> {
    let times = distribution(done.times.iter().copied());
    let of = |percent| percentile(&times, percent);
    let longest = done.times.iter().max().map_or(f64::NAN, |time| time.as_secs_f64() * 1e6);
    let stop = stops.iter().max().map_or(f64::NAN, |time| milliseconds(*time));
    let first = done.first_failure.map_or(f64::NAN, milliseconds);
    let (half, most, all) = (of(50.0), of(99.0), of(99.9));
    let mut values = Vec::new();
    if !times.is_empty() {
        values.push(SecondaryValue::distribution(OPERATION, "us", times));
    }
    values.extend([
        SecondaryValue::average("op.p50", "us", half),
        SecondaryValue::average("op.p99", "us", most),
        SecondaryValue::average("op.p99.9", "us", all),
        SecondaryValue::maximum("op.max", "us", longest),
        SecondaryValue::average("work", "ops", done.work as f64),
        SecondaryValue::average("failed", "counts", done.failed as f64),
        SecondaryValue::average("failed.first", "ms", first),
        SecondaryValue::maximum("ttsp.max", "ms", stop),
        SecondaryValue::average("cpu", "%", cpu),
    ]);
    for &(name, bytes) in &done.resident {
        values.push(SecondaryValue::average(name, "MiB", bytes as f64 / f64::from(1 << 20)));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::heap_use::tests::value;

    #[test]
    fn the_figures_are_those_of_the_results() {
        let ms = Duration::from_millis;
        let done = Done {
            times: vec![ms(1), ms(1), ms(1), ms(9)],
            work: 7,
            failed: 2,
            first_failure: Some(ms(30)),
            resident: vec![("rss.quiet", 8 << 20)],
        };
        let values = figures(&done, &[ms(2), ms(5)], 40.0);
        for (label, expected) in [
            ("op.p50", 1000.0),
            ("op.max", 9000.0),
            ("work", 7.0),
            ("failed", 2.0),
            ("failed.first", 30.0),
            ("ttsp.max", 5.0),
            ("cpu", 40.0),
            ("rss.quiet", 8.0),
        ] {
            let found = value(&values, label);
            assert!((found / expected - 1.0).abs() < 0.011, "{label}: {found}, not {expected}");
        }
        let times = &values.iter().find(|value| value.label == OPERATION).unwrap().times;
        assert_eq!(times.iter().map(|(_, count)| count).sum::<u64>(), 4);
        // The harness leaves out what is not finite.
        let none = figures(&Done::default(), &[], 1.0);
        let unknown = ["op.p50", "op.p99", "op.max", "failed.first", "ttsp.max"];
        assert!(unknown.iter().all(|label| !value(&none, label).is_finite()), "{none:?}");
        assert!(!none.iter().any(|value| value.label == OPERATION), "{none:?}");
    }
}
