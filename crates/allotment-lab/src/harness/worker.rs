//! The parts that an experiment gives the harness: a worker per thread, and perhaps a probe.

use crate::format::Combine;
use crate::statistics::{Summary, Weighted};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The work of one thread. Made on its thread and never leaves it, so it need not be `Send`.
pub trait Worker {
    /// Does some operations and returns their number. This is the measured code. Its loop adds a
    /// load, a compare and two additions (about a nanosecond), so it should be `#[inline]`, and do
    /// several operations if one takes only some nanoseconds. Results go to [`super::keep`].
    fn batch(&mut self) -> u64;

    /// Called before each iteration, on the worker's thread, unmeasured. No worker begins before all
    /// have prepared, so one may prepare shared state.
    ///
    /// # Errors
    /// The iteration cannot be measured. The error ends the fork.
    fn prepare(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    /// Called after each iteration, on the worker's thread, unmeasured: the place to check the results
    /// of the measured calls.
    ///
    /// # Errors
    /// The results are wrong. The error ends the fork.
    fn finish(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    /// Called when the thread has to wait for others, twice per iteration. Must call `wait` exactly
    /// once. A worker that takes part in safepoints calls `wait` within a blocking region, so that no
    /// safepoint waits for it.
    fn idle(&mut self, wait: &mut dyn FnMut()) {
        wait();
    }

    /// Further values of this thread for the iteration that just ended, such as attempts per success.
    /// Values of equal label are combined over threads and then over iterations, in the same way.
    fn metrics(&mut self, _share: &Share) -> Vec<SecondaryValue> {
        Vec::new()
    }
}

/// A measuring thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// From zero.
    pub index: usize,
    /// The number of measuring threads.
    pub count: usize,
    /// The CPU that the thread is bound to, if there is one.
    pub cpu: Option<usize>,
}

/// One thread's part of an iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Operations within the measured window.
    pub measured_operations: u64,
    /// Operations before, within and after the window.
    pub all_operations: u64,
    /// Calls of [`Worker::batch`] within the window.
    pub calls: u64,
    /// The thread's own time from its first to its last measured call.
    pub time: Duration,
    /// The beginning of the first measured call.
    pub began: Option<Instant>,
}

impl Share {
    /// The part of a thread that began its measured window at `began` and ends it now.
    #[inline]
    pub(super) fn since(began: Instant, operations: u64, calls: u64) -> Share {
        let time = began.elapsed();
        Share { measured_operations: operations, all_operations: operations, calls, time, began: Some(began) }
    }
}

/// All threads' part of an iteration, as a [`Probe`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// Operations within the measured window, of all threads.
    pub measured_operations: u64,
    /// Operations between the two calls of the probe, of all threads: the divisor of values per
    /// operation.
    pub all_operations: u64,
    /// Wall time between the two calls of the probe, including the workers' preparation.
    pub time: Duration,
    /// The longest of the threads' own times ([`Share::time`]). With `measured_operations` it gives a
    /// rate.
    pub window: Duration,
}

/// Reads shared state directly before and after each iteration, while no worker works: the place for
/// allocation rates, collections and their times.
pub trait Probe {
    /// Called before an iteration's threads start.
    fn before(&mut self);

    /// Called after they have stopped. Returns values of the iteration; those that are not finite are
    /// left out.
    fn after(&mut self, iteration: &Iteration) -> Vec<SecondaryValue>;
}

/// A probe that reads nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    fn before(&mut self) {}

    fn after(&mut self, _iteration: &Iteration) -> Vec<SecondaryValue> {
        Vec::new()
    }
}

/// A secondary metric's value in one iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecondaryValue {
    /// JMH's label where it has one: `gc.alloc.rate.norm`.
    pub label: String,
    /// Its unit as JMH spells it: `B/op`.
    pub unit: String,
    /// How values are combined.
    pub combine: Combine,
    /// The value.
    pub value: f64,
    /// The times whose mean is `value`, in `unit`, ascending, with the number of each. Only a [`Probe`]
    /// gives them. Empty for plain values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<Weighted>,
}

impl SecondaryValue {
    /// A value that is averaged.
    pub fn average(label: &str, unit: &str, value: f64) -> SecondaryValue {
        let times = Vec::new();
        SecondaryValue { label: label.into(), unit: unit.into(), combine: Combine::Average, value, times }
    }

    /// A distribution of times, whose percentiles are drawn as a curve. Files hold all of it.
    pub fn distribution(label: &str, unit: &str, times: Vec<Weighted>) -> SecondaryValue {
        let mean = Summary::of_weighted(&times).mean;
        SecondaryValue { times, ..Self::average(label, unit, mean) }
    }

    /// A value that is summed.
    pub fn sum(label: &str, unit: &str, value: f64) -> SecondaryValue {
        SecondaryValue { combine: Combine::Sum, ..Self::average(label, unit, value) }
    }

    /// A value whose maximum counts.
    pub fn maximum(label: &str, unit: &str, value: f64) -> SecondaryValue {
        SecondaryValue { combine: Combine::Maximum, ..Self::average(label, unit, value) }
    }
}
