//! How fast mutators allocate: the mean of the last moments, its deviation, and the latest sample.
//!
//! HotSpot samples ten times a second, for heaps of gigabytes. A heap of 64 MiB may be full within
//! 30 ms, so a sample here covers 1 to 10 ms. A sample ends early when enough memory was allocated:
//! regions and buffers are taken whole, and two of them tell no rate. Refused: a sample at each
//! region that is taken. Its length would be the noise of one thread.

use super::decayed::Decayed;
use std::time::Duration;

/// The shortest time that a sample covers.
const SHORTEST: Duration = Duration::from_millis(1);
/// The time after which a sample ends in any case. Otherwise the rate of an idle heap would stay.
const LONGEST: Duration = Duration::from_millis(10);
/// Between these times a sample ends when one part in this many of the capacity was allocated.
const PART: usize = 64;
/// Seconds after which a sample counts half in the mean.
const HALF_LIFE: f64 = 0.05;
/// Seconds after which a sample counts half in the usual rate.
const USUAL_HALF_LIFE: f64 = 1.0;

/// The allocation rate of a heap, in bytes a second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    /// When the current sample began, and the bytes that were allocated before it.
    begin: Option<(Duration, u64)>,
    mean: Decayed,
    /// The means so far. They differ if the rate changes, not if samples scatter.
    means: Decayed,
    /// The samples of a longer time.
    usual: Decayed,
    /// The rate of the latest sample.
    pub(super) latest: f64,
    /// How many deviations the latest sample was above the usual rate before it.
    pub(super) score: f64,
}

impl Rate {
    /// Tells the bytes that were ever allocated up to `now`.
    pub(super) fn look(&mut self, now: Duration, allocated: u64, capacity: usize) {
        let Some((begin, before)) = self.begin else {
            self.begin = Some((now, allocated));
            return;
        };
        let (time, bytes) = (now.saturating_sub(begin), allocated.saturating_sub(before));
        if time < SHORTEST || (time < LONGEST && bytes < (capacity / PART) as u64) {
            return;
        }
        self.begin = Some((now, allocated));
        let seconds = time.as_secs_f64();
        self.latest = bytes as f64 / seconds;
        self.score = self.usual.score(self.latest);
        let weight = |half_life: f64| 1.0 - (-seconds / half_life).exp2();
        self.usual.add(self.latest, weight(USUAL_HALF_LIFE));
        self.mean.add(self.latest, weight(HALF_LIFE));
        self.means.add(self.mean.mean, weight(HALF_LIFE));
    }

    /// Leaves out `time`, for which threads stood still in a stop: a thread that cannot run has no
    /// rate. A heap whose cycles all end in stops would seem to allocate little otherwise.
    pub(super) fn leave_out(&mut self, time: Duration) {
        if let Some((begin, _)) = &mut self.begin {
            *begin += time;
        }
    }

    /// A rate that will hardly be exceeded: the mean, and this number of deviations of the means.
    pub(super) fn padded(&self, deviations: f64) -> f64 {
        self.mean.mean + deviations * self.means.deviation()
    }
}
