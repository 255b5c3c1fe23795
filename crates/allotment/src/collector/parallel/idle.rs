//! Collections while no mutator runs.
//!
//! Threads that wait for the same event (a frame, a tick, a burst of requests) allocate at the same
//! time. So eden fills during a burst, when a pause delays every thread and every thread delays the
//! pause. Of 500 threads that allocate every 20 ms, 200 to 400 woke during a pause and wanted the
//! collectors' CPUs for 8 us each: pauses of 3 ms took 6. Between two bursts no thread ran for 14
//! ms. So a last part of eden is kept back ([`EdenReserve`](super::EdenReserve)). A mutator that
//! opens it has the control thread look from time to time whether all threads are in
//! [`blocking`](crate::Mutator::blocking). If two looks in a row find all threads there, the
//! control thread collects. Otherwise eden fills as usual. V8 collects in idle times that a browser
//! announces (Degenbaev and others, PLDI 2016); here `blocking` announces them.
//!
//! If eden is full again soon, no look is made: there a look costs more than it gains.
//!
//! Refused: a collection by the last thread that begins `blocking`. A thread that the kernel has
//! woken but given no CPU yet is in `blocking`. So in a burst some thread is the last one at each
//! moment, and its event would wait for the collection. Refused: a priority for collecting threads.
//! Few processes may have one, and with a niceness of -10 pauses were as long: a thread that has
//! run a while waits for all threads that have not.

use super::Parallel;
use crate::collector::control::Watch;
use crate::collector::record::IdleLook;
use crate::mutator::{Cause, Mutator, Shared};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// The control thread looks for no idle time in an eden that is full sooner.
const LEAST: Duration = Duration::from_millis(20);

/// Time from one look to the next, at first: all threads have to be in `blocking` for this long.
const NEXT_LOOK: Duration = Duration::from_millis(1);

/// Later the wait is one part in this many of the time since the first look. So a heap whose
/// threads always run is looked at a few times.
const LATER_LOOK: u32 = 16;

/// The search for an idle time. The search keeps the heap alive only during a look.
struct IdleWatch {
    looks: Looks,
    parallel: Weak<Parallel>,
    shared: Weak<Shared>,
}

impl Watch for IdleWatch {
    fn look(&mut self, begins: bool) -> Option<Duration> {
        let (shared, parallel) = (self.shared.upgrade()?, self.parallel.upgrade()?);
        if begins {
            // Findings from before the request do not count.
            self.looks = Looks::begin();
        }
        if self.looks.add(shared.threads.registry.is_idle()) {
            parallel.collect_while_idle(&shared);
        }
        Some(self.looks.next())
    }
}

/// The findings of the looks since the last request.
struct Looks {
    since: Instant,
    idle: bool,
}

impl Looks {
    fn begin() -> Looks {
        Looks { since: Instant::now(), idle: false }
    }

    /// Adds a look. Returns whether this look is the second in a row that found no mutator running.
    fn add(&mut self, idle: bool) -> bool {
        std::mem::replace(&mut self.idle, idle) && idle
    }

    /// Time until the next look.
    fn next(&self) -> Duration {
        if self.idle { NEXT_LOOK } else { NEXT_LOOK.max(self.since.elapsed() / LATER_LOOK) }
    }
}

impl Parallel {
    /// Opens the last part of eden, and has the control thread look for an idle time; returns
    /// `false` if nothing is kept back.
    pub(super) fn open_reserve(self: &Arc<Self>, mutator: &Mutator<'_>) -> bool {
        let after = || self.history.clock.since(self.resumed());
        self.reserve.open(&mutator.shared().space.free, after, |after| {
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

    /// Runs a young collection, unless there was one since the request.
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
            // Even if the system had no memory for the collection.
            self.control.rest();
            Some((record, self.next_demand(world)))
        });
        if let Ok(Some(Some((record, next)))) = stopped {
            self.workers(next);
            self.timer.regions_were_freed(&shared.space.free);
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
