//! A part of a collection: its name, its start and its duration.
//!
//! Every part of every collection is measured here, so records and timelines cannot disagree, and
//! [probes](crate::probes) are in one place. Refused: durations alone. A timeline needs the start
//! of each part, and sums do not show gaps.

use crate::probes::probe;
use std::time::{Duration, Instant};

/// A part of a collection and the time it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Phase {
    /// The name of the part.
    pub name: &'static str,
    /// When the part began, by the system's clock.
    pub start: Instant,
    /// How long the part took.
    pub time: Duration,
}

/// A part of a collection that is under way.
#[must_use = "a part that ends is in a record"]
pub(in crate::collector) struct Begun {
    name: &'static str,
    start: Instant,
}

impl Phase {
    /// Begins a part.
    pub(in crate::collector) fn begin(name: &'static str) -> Begun {
        probe!(phase_begin, name.as_ptr(), name.len());
        Begun { name, start: Instant::now() }
    }

    /// This part, extended by the time `before` it.
    pub(in crate::collector) fn began_earlier(self, before: Duration) -> Phase {
        // A clock that began with the machine may have no such moment.
        let start = self.start.checked_sub(before).unwrap_or(self.start);
        Phase { start, time: self.time + before, ..self }
    }

    /// When the part ended.
    pub(in crate::collector) fn end(&self) -> Instant {
        self.start + self.time
    }
}

impl Begun {
    /// The part up to now; the part goes on.
    pub(in crate::collector) fn so_far(&self) -> Phase {
        Phase { name: self.name, start: self.start, time: self.start.elapsed() }
    }

    /// Ends the part.
    pub(in crate::collector) fn end(self) -> Phase {
        let time = self.start.elapsed();
        probe!(phase_end, self.name.as_ptr(), self.name.len(), time.as_nanos());
        Phase { name: self.name, start: self.start, time }
    }

    /// Ends the part, into `phases`, which have room for it. The next one begins.
    pub(in crate::collector) fn then(self, name: &'static str, phases: &mut Vec<Phase>) -> Begun {
        phases.push(self.end());
        Phase::begin(name)
    }
}
