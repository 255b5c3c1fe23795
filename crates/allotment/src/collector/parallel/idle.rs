//! Collections while no mutator runs.
//!
//! Threads that wait for the same (a frame, a tick, requests that come in bursts) allocate at the same
//! time. So eden gets full in a burst, when a pause delays every thread, and every thread delays the
//! pause. Of 500 threads that allocate every 20 ms, 200 to 400 came back from sleep during a pause and
//! wanted the CPUs of those that collect, for 8 us each: pauses of 3 ms took 6. Between two bursts no
//! thread ran for 14 ms. So a last part of eden is kept back ([`EdenReserve`](super::EdenReserve)).
//! A mutator that opens it has the control thread look from time to time whether all threads are in
//! [`blocking`](crate::Mutator::blocking). If two looks in a row find them there, the control thread
//! collects; if none do, eden gets full as ever. V8 collects in the idle times that a browser tells it
//! of (Degenbaev and others, PLDI 2016); here `blocking` tells.
//!
//! No look is made where eden is full again soon: it costs more there than it gains.
//!
//! Refused: that the last thread to begin `blocking` collects. A thread that the kernel has woken and
//! given no CPU yet is in `blocking`, so in the midst of a burst some thread is the last at each
//! moment; and what it waits for would wait for the collection. A priority for collecting threads:
//! few processes may have one, and with a niceness of -10 pauses were as long, for a thread that has
//! run a while waits for all that have not.

use super::Parallel;
use crate::collector::control::Watch;
use crate::collector::record::IdleLook;
use crate::mutator::{Cause, Mutator, Shared};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// No idle time is looked for in an eden that is full sooner.
const LEAST: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 20 });

/// From one look to the next, at first: as long as all threads have to be in `blocking`.
const NEXT_LOOK: Duration = Duration::from_millis(1);

/// Later a look comes after so many-th of the time since the first: a heap whose threads always run is
/// looked at a few times.
const LATER_LOOK: u32 = 16;

/// What looks for an idle time: nothing that keeps a heap, but while it looks.
struct IdleWatch {
    looks: Looks,
    parallel: Weak<Parallel>,
    shared: Weak<Shared>,
}

impl Watch for IdleWatch {
    fn look(&mut self, begins: bool) -> Option<Duration> {
        let (shared, parallel) = (self.shared.upgrade()?, self.parallel.upgrade()?);
        if begins {
            // What was seen before the request does not count.
            self.looks = Looks::begin();
        }
        if self.looks.add(shared.registry.is_idle()) {
            parallel.collect_while_idle(&shared);
        }
        Some(self.looks.next())
    }
}

/// What the looks since the last request have found.
struct Looks {
    since: Instant,
    idle: bool,
}

impl Looks {
    fn begin() -> Looks {
        Looks { since: Instant::now(), idle: false }
    }

    /// Adds one; whether it is the second in a row that found nobody running.
    fn add(&mut self, idle: bool) -> bool {
        std::mem::replace(&mut self.idle, idle) && idle
    }

    /// Until the next.
    fn next(&self) -> Duration {
        if self.idle { NEXT_LOOK } else { NEXT_LOOK.max(self.since.elapsed() / LATER_LOOK) }
    }
}

impl Parallel {
    /// Opens the last part of eden, and has the control thread look for an idle time; `false`: nothing
    /// is kept back.
    pub(super) fn open_reserve(self: &Arc<Self>, mutator: &Mutator<'_>) -> bool {
        let after = || self.history.clock.since(self.resumed());
        self.reserve.open(&mutator.shared().free, after, |after| {
            if after < LEAST {
                return IdleLook::TooSoon;
            }
            let watch = || IdleWatch {
                looks: Looks::begin(),
                parallel: Arc::downgrade(self),
                shared: mutator.downgrade(),
            };
            let began = self.control.ask(&self.gang.cpus(), watch);
            if began { IdleLook::Began } else { IdleLook::NoThread }
        })
    }

    /// A young collection, unless there was one since it was asked for.
    fn collect_while_idle(&self, shared: &Shared) {
        let stopped = shared.stop_the_world(|world| {
            if !self.control.is_asked() {
                return None;
            }
            let record = {
                let inner = &mut *self.inner.lock().expect("a collection that panics ends the process");
                inner.decision.eden_regions = self.growth.eden_regions();
                self.young(inner, world, Cause::Idle)
            };
            // Also where the system had no memory for it.
            self.control.rest();
            Some((record, self.next_demand(world)))
        });
        if let Ok(Some(Some((record, next)))) = stopped {
            self.team(next);
            self.history.add_stop(record);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_takes_two_looks_in_a_row() {
        let mut looks = Looks::begin();
        let found = [false, true, false, true, true, true, false, true];
        assert_eq!(found.map(|idle| looks.add(idle)), [false, false, false, false, true, true, false, false]);
        assert_eq!(looks.next(), NEXT_LOOK, "the second look is soon, however late the first");
        looks = Looks { since: Instant::now() - 160 * NEXT_LOOK, idle: false };
        assert!(looks.next() >= 10 * NEXT_LOOK);
    }
}
