//! The time that a heap decides by.
//!
//! How long mutators ran and the world stood still sets eden's size and what is collected next; how long a thread did not
//! refill, the size of its buffer; how long a region was free, whether the system gets it back. A program whose heap reads a clock
//! that the program moves has the same times in each run: what a test compares with another run, and what a
//! simulation replays. So all of it is read here. What waits (for a thread that is late, for one that idles) waits for real.
//!
//! Refused: a build for tests in which decisions do not look at times, for then nobody tests those that do.

use super::linux::coarse_ms;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The embedder's clock: time since some moment, that never runs backwards.
pub(crate) type ClockHook = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Tells a heap the time.
#[derive(Clone)]
pub(crate) struct Clock {
    /// When the heap was made, by the system.
    born: Instant,
    /// The embedder's, and what it showed then.
    hook: Option<(ClockHook, Duration)>,
}

impl Clock {
    /// The clock of a heap that begins now.
    pub(crate) fn new(hook: Option<ClockHook>) -> Clock {
        Clock { born: Instant::now(), hook: hook.map(|hook| (hook.clone(), hook())) }
    }

    /// Time since the heap was made.
    pub(crate) fn age(&self) -> Duration {
        match &self.hook {
            Some((hook, born)) => hook().saturating_sub(*born),
            None => self.born.elapsed(),
        }
    }

    /// Time since [`age`](Self::age) was `start`.
    pub(crate) fn since(&self, start: Duration) -> Duration {
        self.age().saturating_sub(start)
    }

    /// Milliseconds since some moment, by the system's last tick: decay and delays need no more.
    pub(crate) fn coarse_ms(&self) -> u64 {
        match &self.hook {
            Some((hook, _)) => hook().as_millis() as u64,
            None => coarse_ms(),
        }
    }
}
