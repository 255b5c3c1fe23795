//! The time that a heap decides by.
//!
//! How long mutators ran and the world stood still sets eden's size and what is collected next; how long a thread did not
//! refill, the size of its buffer; how long a region was free, whether the system gets it back. A program whose heap reads a clock
//! that the program moves has the same collections each time it runs: what a test compares with a model, and what a
//! simulation replays. So all of it is read here. What waits (for a thread that is late, for one that idles) waits for real.
//!
//! Refused: a build for tests in which decisions do not look at times, for then nobody tests those that do.

use rustix::time::{ClockId, clock_gettime};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The embedder's clock: time since some moment, that never runs backwards.
pub(crate) type ClockHook = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Tells a heap the time.
#[derive(Clone)]
pub(crate) struct Clock {
    /// When the heap was made, by the system.
    born: Instant,
    hook: Option<ClockHook>,
}

impl Clock {
    /// The clock of a heap that begins now.
    pub(crate) fn new(hook: Option<ClockHook>) -> Clock {
        Clock { born: Instant::now(), hook }
    }

    /// Time since the heap was made, or what the embedder's clock shows.
    pub(crate) fn age(&self) -> Duration {
        self.hook.as_ref().map_or_else(|| self.born.elapsed(), |hook| hook())
    }

    /// Time since [`age`](Self::age) was `start`.
    pub(crate) fn since(&self, start: Duration) -> Duration {
        self.age().saturating_sub(start)
    }

    /// Milliseconds since some moment. The system's are those of its last tick: all that a buffer's size needs.
    pub(crate) fn coarse_ms(&self) -> u64 {
        match &self.hook {
            Some(hook) => hook().as_millis() as u64,
            None => {
                let now = clock_gettime(ClockId::MonotonicCoarse);
                now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
            }
        }
    }
}
