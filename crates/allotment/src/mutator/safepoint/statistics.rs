//! Statistics of the time that stops had to wait.

use crate::time_histogram::TimeHistogram;
use std::time::Duration;

/// The cost of stopping the world so far: [`Metrics::stops`](crate::stats::Metrics::stops). Time to
/// safepoint is the time from the request until the last thread had arrived. It does not include
/// the work in the stopped world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SafepointStatistics {
    /// Number of times that the world was stopped: `times.count()`, which a stop need not compute.
    pub(crate) stops: u64,
    /// Time to safepoint of the latest stop.
    pub last: Duration,
    /// The longest time to safepoint.
    pub max: Duration,
    /// All times to safepoint: their number is that of the stops.
    pub times: TimeHistogram,
}

impl SafepointStatistics {
    pub(super) fn record(&mut self, time: Duration) {
        self.stops += 1;
        self.last = time;
        self.max = self.max.max(time);
        self.times.record(time);
    }
}
