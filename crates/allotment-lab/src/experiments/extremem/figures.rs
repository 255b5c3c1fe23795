//! The figures of a run: latencies by kind, the decisions of customers, and the heap right after
//! the start and afterwards.

use super::latency::{Latencies, PERCENTILES, Percentile, Visit};
use super::server::Service;
use super::update::{Rebuilds, Updates};
use super::visit::Visits;
use super::workload::Workload;
use crate::harness::SecondaryValue;
use crate::statistics::distribution;

/// The findings of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) visits: Visits,
    pub(super) service: Service,
    pub(super) updates: Updates,
    /// Figures of the heap right after the start, and after that.
    pub(super) start: Vec<SecondaryValue>,
    pub(super) measured: Vec<SecondaryValue>,
    /// The waste of the first collection after the start, in percent, if there was one.
    pub(super) first_waste: Option<f64>,
}

/// The lateness of the candidates against the schedule, and the label of its distribution.
pub(super) const PREPARATION: &str = "preparation";

/// The rows of the kinds of [`Visit`].
const VISITS: [&str; 5] = [PREPARATION, "purchase", "save", "abandon", "nothing"];

/// The rows of the kinds of [`Duty`](super::latency::Duty).
const DUTIES: [&str; 5] =
    ["server.sales", "server.browsing", "server.customers", "server.products", "server.idle"];

/// Figures of the heap that are reported for the window right after the start too.
const OF_START: [&str; 7] =
    ["gc.young", "gc.full", "gc.concurrent", "gc.degenerated", "pause.max", "tlab.waste", "cpu"];

/// The figures as rows.
pub(super) fn figures(run: &Figures, workload: &Workload) -> Vec<SecondaryValue> {
    let mut values = Vec::new();
    let preparations = run.visits.latencies[Visit::Preparation as usize].times();
    values.push(SecondaryValue::distribution(PREPARATION, "us", distribution(preparations)));
    for (name, latencies) in VISITS.iter().zip(&run.visits.latencies) {
        values.extend(of_kind(name, latencies));
    }
    for (name, latencies) in DUTIES.iter().zip(&run.service.latencies) {
        values.extend(of_kind(name, latencies));
    }
    values.extend(of_visits(&run.visits, workload));
    values.push(SecondaryValue::average("sold", "counts", run.service.sold as f64));
    values.push(SecondaryValue::average("expired", "counts", run.service.expired as f64));
    values.extend(of_rebuilds("rebuild.customers", &run.updates.customers));
    values.extend(of_rebuilds("rebuild.products", &run.updates.products));
    let [p50, _, p99, .., p100] = run.visits.before.percentiles();
    for (name, value) in [("p50", p50), ("p99", p99), ("p100", p100)] {
        let label = format!("start.preparation.{name}");
        values.extend(value.map(|value| SecondaryValue::average(&label, "us", value as f64)));
    }
    values.extend(run.first_waste.map(|waste| SecondaryValue::average("first-gc.waste", "%", waste)));
    let of_start = run.start.iter().filter(|value| OF_START.contains(&value.label.as_str()));
    values.extend(
        of_start.map(|value| SecondaryValue { label: format!("start.{}", value.label), ..value.clone() }),
    );
    values.extend(run.measured.iter().cloned());
    values
}

/// The number of events of a kind, and their percentiles.
fn of_kind(name: &str, latencies: &Latencies) -> Vec<SecondaryValue> {
    let mut values = vec![SecondaryValue::average(&format!("{name}.n"), "counts", latencies.count as f64)];
    for (Percentile { label, .. }, value) in PERCENTILES.iter().zip(latencies.percentiles()) {
        let Some(value) = value else { continue };
        let row = if *label == "p100" { SecondaryValue::maximum } else { SecondaryValue::average };
        values.push(row(&format!("{name}.{label}"), "us", value as f64));
    }
    values
}

/// The decisions of customers: shares of all engagements with a candidate, but `nothing` of all.
fn of_visits(visits: &Visits, workload: &Workload) -> Vec<SecondaryValue> {
    let count = |visit: Visit| visits.latencies[visit as usize].count as f64;
    let (all, nothing) = (visits.engagements as f64, count(Visit::Nothing));
    let decided = count(Visit::Purchase) + count(Visit::Save) + count(Visit::Abandon);
    let share = |visit| 100.0 * count(visit) / decided;
    vec![
        SecondaryValue::average("engagements", "counts", all),
        SecondaryValue::average("engagements.rate", "1/s", all / workload.simulation.as_secs_f64()),
        SecondaryValue::average("candidates", "products", visits.matches as f64 / all),
        SecondaryValue::average("saved", "products", visits.saved as f64 / all),
        SecondaryValue::average("share.purchase", "%", share(Visit::Purchase)),
        SecondaryValue::average("share.save", "%", share(Visit::Save)),
        SecondaryValue::average("share.abandon", "%", share(Visit::Abandon)),
        SecondaryValue::average("share.nothing", "%", 100.0 * nothing / all),
    ]
}

fn of_rebuilds(name: &str, rebuilds: &Rebuilds) -> Vec<SecondaryValue> {
    let count = rebuilds.count as f64;
    let milliseconds = |nanoseconds: i64| nanoseconds as f64 / 1e6;
    let mut values = vec![SecondaryValue::average(name, "counts", count)];
    if rebuilds.count > 0 {
        let replaced = rebuilds.replaced as f64 / count;
        values.push(SecondaryValue::average(&format!("{name}.replaced"), "counts", replaced));
        values.push(SecondaryValue::average(
            &format!("{name}.mean"),
            "ms",
            milliseconds(rebuilds.total) / count,
        ));
        values.push(SecondaryValue::maximum(&format!("{name}.max"), "ms", milliseconds(rebuilds.longest)));
    }
    values
}
