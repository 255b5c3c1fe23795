//! Statistics of the time that stops had to wait.

use crate::time_histogram::TimeHistogram;
use std::time::Duration;

/// The cost of stopping the world so far. Time to safepoint is the time from the request until the
/// last thread had arrived. It does not include the work in the stopped world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SafepointStatistics {
    /// Number of times that the world was stopped.
    pub stops: u64,
    /// Time to safepoint of the latest stop.
    pub last: Duration,
    /// The longest time to safepoint.
    pub max: Duration,
    /// The sum of all times to safepoint.
    pub total: Duration,
    /// All times to safepoint: `times.count() = stops`, `times.sum() = total`.
    pub times: TimeHistogram,
}

impl SafepointStatistics {
    pub(super) fn record(&mut self, time: Duration) {
        self.stops += 1;
        self.last = time;
        self.max = self.max.max(time);
        self.total += time;
        self.times.record(time);
    }
}
