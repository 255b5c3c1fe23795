//! Mark and FinalMark: finds all that was reachable at InitMark.
//!
//! Workers trace beside mutators. A stop then takes what mutators recorded last. If that is much,
//! it is traced beside mutators, and another stop follows.

use super::super::account::Account;
use super::super::engine::Engine;
use super::super::place::{Stop, Work};
use crate::collector::concurrent::{Found, Marker, Sought};
use crate::mutator::{Hot, Shared, World};
use crate::object::{SlotKind, SlotVisitor};
use crate::sync::yield_now;
use std::time::{Duration, Instant};

/// Time for which a pause marks what mutators recorded last. Words that are left then are marked
/// beside mutators.
const MOST_MARKING: Duration = Duration::from_micros(200);

/// Marking under way.
#[derive(Default)]
pub(super) struct Marking {
    found: Found,
}

impl Marking {
    /// Marks from roots, until nothing is left; `false`: it was interrupted.
    pub(super) fn mark(&mut self, engine: &Engine, account: &Account, work: Work<'_>) -> bool {
        let shared = work.shared;
        match work.world {
            Some(world) => note_all_roots(engine, world),
            None if !work.await_duties() => return false,
            None => note_handles_and_pins(engine, shared),
        }
        loop {
            self.trace(engine, account, work);
            if work.interrupt.is_set() {
                return false;
            }
            // Mutators that help leave what they have not done, here or for the pause. With many
            // threads there is always one that helps, so nobody waits for the last.
            if engine.has_lost(shared) || engine.leftover.is_empty() {
                return true;
            }
            yield_now();
        }
    }

    /// Traces with all workers, until nothing is left or they are interrupted. A young cycle looks
    /// at dirty cards first.
    fn trace(&mut self, engine: &Engine, account: &Account, work: Work<'_>) {
        let Work { shared, workers, interrupt, .. } = work;
        let marking = engine.marking(shared, interrupt, account.scope.sought(engine.marks_old()));
        self.found.add(engine.run_markers(shared, workers, marking, |marker| {
            while !interrupt.is_set()
                && let Some(old) = &engine.old
                && let Some(region) = old.to_scan.take()
            {
                // SAFETY: the list has old regions only, and nothing has moved.
                let done = unsafe { marker.remembered(region) };
                old.to_scan.end((!done).then_some(region));
            }
        }));
    }

    /// Marks what is left and recorded. A pause gives up after a while, a stopped world does not.
    /// Returns whether marking has ended. It has lost something if the account says so
    /// ([`lost`](Account::lost)).
    pub(super) fn finish(&mut self, engine: &Engine, account: &mut Account, stop: Stop<'_>) -> bool {
        let shared = stop.shared();
        let sought = account.scope.sought(engine.marks_old());
        // First: threads that are not attached record under the locks of handles, and nothing of
        // theirs must be left in the queue.
        engine.tables.set_sought(sought.after_young());
        stop.set_barriers(engine.resting_barriers());
        let begun = Instant::now();
        let is_late = || matches!(stop, Stop::Pause(_)) && begun.elapsed() > MOST_MARKING;
        let marked = self.mark_stopped(engine, shared, sought, is_late);
        if engine.has_lost(shared) {
            engine.forget_old(shared);
            stop.set_barriers(0);
            account.lost = true;
        } else if !marked {
            engine.tables.set_sought(sought);
            stop.set_barriers(Hot::MARKING);
            return false;
        } else if let Stop::Pause(pause) = stop {
            pause.set_barriers(Hot::WEAK | engine.resting_barriers());
        }
        account.found = self.found;
        account.found.add(engine.assisted.take_found());
        true
    }

    /// Marks what is left and recorded, on this thread, until nothing is or until `enough`. Returns
    /// whether nothing is left.
    fn mark_stopped(
        &mut self,
        engine: &Engine,
        shared: &Shared,
        sought: Sought,
        enough: impl FnMut() -> bool,
    ) -> bool {
        let Ok(queues) = engine.queue_pool.take(1, engine.stack) else {
            engine.leftover.lose();
            return true;
        };
        let marking = engine.marking(shared, &engine.interrupt, sought);
        let mut marker = Marker::new(&shared.space, marking, queues.worker(0));
        let done = marker.drain_stopped(enough);
        self.found.add(marker.finish());
        engine.queue_pool.keep(queues);
        done
    }
}

/// Lets marking find what handles and pins refer to. Threads have visited their frames.
fn note_handles_and_pins(engine: &Engine, shared: &Shared) {
    let roots = &shared.threads.roots;
    engine.note_roots(shared, |note| {
        roots.visit_handles(false, |slot| note(slot.load(std::sync::atomic::Ordering::Acquire)));
        roots.pins.visit(&mut |address| note(address as u64));
    });
}

/// Lets marking find what all roots of a stopped world refer to.
fn note_all_roots(engine: &Engine, world: &World<'_>) {
    engine.note_roots(world.shared(), |note| {
        world.visit_roots(&mut SlotVisitor::new(&mut |slot, kind| {
            if kind == SlotKind::Strong {
                // SAFETY: a root slot of a stopped world.
                note(unsafe { slot.read() });
            }
        }));
        world.visit_pinned(&mut |address| note(address as u64));
    });
}
