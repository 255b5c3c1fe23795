//! How long stops had to wait.

use std::time::Duration;

/// What stopping the world has cost so far. Time to safepoint is the time from the request until the
/// last thread had arrived; what was then done in the stopped world is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SafepointStatistics {
    /// Times that the world was stopped.
    pub stops: u64,
    /// Time to safepoint of the latest stop.
    pub last: Duration,
    /// The longest time to safepoint.
    pub max: Duration,
    /// All of them together.
    pub total: Duration,
}

impl SafepointStatistics {
    pub(super) fn record(&mut self, time: Duration) {
        self.stops += 1;
        self.last = time;
        self.max = self.max.max(time);
        self.total += time;
    }
}
