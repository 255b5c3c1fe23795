//! The clock that a heap decides by.
//!
//! A heap decides four things by time:
//!
//! - The run times of mutators and the lengths of pauses set the size of eden and the next
//!   collection.
//! - The time since a thread's last refill sets the size of its TLAB.
//! - The time that a region has been free decides whether the system gets its memory back.
//! - The time since the last collection decides whether an idle heap collects (`GCInterval`).
//!
//! The heap reads all these times here. An embedder may supply the clock. If the program moves that
//! clock, each run sees the same times: a test can compare two runs, and a simulation can replay
//! one. Waiting is not affected: a thread that waits for a late or an idle thread waits in real
//! time.
//!
//! Refused: a test build whose decisions ignore time. No test would then cover the decisions that
//! use time.

use super::linux::coarse_ms;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The embedder's clock: the time since some fixed moment. It never runs backwards.
pub(crate) type ClockHook = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Tells a heap the time.
#[derive(Clone)]
pub(crate) struct Clock {
    /// When the heap was made, by the system.
    born: Instant,
    /// The embedder's clock, and its reading when the heap was made.
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

    /// A clock for tests, a thousand times as fast as the system's. A heap then does at once what
    /// it otherwise does after some time.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn fast() -> impl Fn() -> Duration + Send + Sync + 'static {
        let began = Instant::now();
        move || began.elapsed() * 1000
    }

    /// When the heap was made, by the system's clock.
    pub(crate) fn born(&self) -> Instant {
        self.born
    }

    /// Whether the embedder supplied the clock.
    pub(crate) fn is_of_the_program(&self) -> bool {
        self.hook.is_some()
    }

    /// Time since [`age`](Self::age) was `start`.
    pub(crate) fn since(&self, start: Duration) -> Duration {
        self.age().saturating_sub(start)
    }

    /// Milliseconds since some fixed moment, by the system's last tick. Decay and delays need no
    /// more.
    pub(crate) fn coarse_ms(&self) -> u64 {
        match &self.hook {
            Some((hook, _)) => hook().as_millis() as u64,
            None => coarse_ms(),
        }
    }
}
