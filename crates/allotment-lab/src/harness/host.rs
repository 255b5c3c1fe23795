//! The host of a virtual machine, as a run sees it: a probe after each shot of several threads, a
//! warning, and the flag `--await-cpus`.
//!
//! A host may run two CPUs of a virtual machine on one core, for seconds or minutes. Figures of
//! several threads are meaningless at such times.

use super::{Case, Interrupt, Outcome, SecondaryValue};
use crate::format::Metric;
use crate::format::phrase::count;
use crate::format::time::iteration_time;
use crate::machine::{HostSample, TWO_CPUS, await_two_cpus};
use std::time::Duration;

/// The label of the work of two CPUs at once, right after a shot, in units of the work of one.
pub(super) const CPUS: &str = "cpus";

/// Measures two CPUs right after a single shot of several threads, workers of a collector included.
pub(super) fn rows(case: &Case, threads: usize) -> Vec<SecondaryValue> {
    let is_shared = threads > 1 || case.count("workers").is_ok_and(|workers| workers != 1);
    let sample = if is_shared { HostSample::take() } else { None };
    sample.map_or_else(Vec::new, |HostSample { line, cpus }| {
        let line = line.map(|ns| SecondaryValue::average("line", "ns", ns));
        let cpus = cpus.map(|found| SecondaryValue::average(CPUS, "CPUs", found));
        line.into_iter().chain(cpus).collect()
    })
}

/// A warning if two CPUs shared a core during some shots.
pub(super) fn warning(outcome: &Outcome) -> Option<String> {
    let of_shots = outcome.rows.iter().flat_map(|row| &row.secondary).filter(|metric| metric.label == CPUS);
    let cpus_of_shots: Vec<f64> = of_shots.flat_map(Metric::pooled_values).collect();
    let shared = cpus_of_shots.iter().filter(|&&cpus| cpus < TWO_CPUS).count();
    (shared > 0).then(|| {
        format!(
            "right after {shared} of {} two CPUs did less than {TWO_CPUS} times the work of one, {:.1} at the least, as \
             two threads of a core do; --await-cpus 30s waits for two cores",
            count(cpus_of_shots.len(), "single shot"),
            cpus_of_shots.iter().copied().fold(f64::INFINITY, f64::min)
        )
    })
}

/// Waits until the first two of `cpus` do the work of two cores, but no longer than `at_most`.
/// Returns a complaint if they never did.
pub(super) fn await_cpus(at_most: Duration, cpus: &[usize], interrupt: &Interrupt) -> Option<String> {
    let &[first, second, ..] = cpus else { return None };
    let found = await_two_cpus([first, second], at_most, &|| interrupt.requested())?;
    (found < TWO_CPUS && !interrupt.requested()).then(|| {
        format!(
            "two CPUs did {found:.1} times the work of one, and no more within {}: the process began nevertheless",
            iteration_time(at_most)
        )
    })
}
