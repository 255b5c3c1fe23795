//! Mark and FinalMark: the objects that were reachable at InitMark are marked.
//!
//! Workers trace beside mutators. A stop then takes the words that mutators recorded last. If these
//! lead to many objects, workers trace them beside mutators, and another stop follows.

use super::super::account::Account;
use super::super::engine::Engine;
use super::super::levy::PacedStep;
use super::super::place::{Stop, Work};
use super::super::scope::Scope;
use crate::collector::concurrent::{Found, MarkShared, Marker, Sought};
use crate::mutator::{HandleExtent, Hot, Shared, World};
use crate::object::{SlotKind, SlotVisitor};
use crate::sync::{Ordering, yield_now};
use std::time::{Duration, Instant};

/// The time for which a pause marks. The entries that are left then are marked beside mutators.
const MOST_MARKING: Duration = Duration::from_micros(if cfg!(test) { 20 } else { 200 });

/// Marking under way.
#[derive(Default)]
pub(super) struct Marking {
    found: Found,
}

impl Marking {
    /// Marks from roots until nothing is left. Returns `false` if it was interrupted.
    pub(super) fn mark(&mut self, engine: &Engine, account: &Account, work: Work<'_>) -> bool {
        let shared = work.shared;
        match work.world {
            Some(world) => note_all_roots(engine, world),
            None if !work.await_duties() => return false,
            None => note_handles_and_pins(engine, account.scope, shared),
        }
        loop {
            self.trace(engine, account, work);
            if work.interrupt.is_set() {
                return false;
            }
            // Mutators that help leave their rest, for this loop or for the pause. Among many
            // threads one always helps, so the workers do not wait for the last.
            if engine.has_lost(shared) || engine.left.found.is_empty() {
                return true;
            }
            yield_now();
        }
    }

    /// Traces with all workers, until nothing is left or they are interrupted. A young cycle looks
    /// at dirty cards first.
    fn trace(&mut self, engine: &Engine, account: &Account, work: Work<'_>) {
        let Work { shared, workers, interrupt, .. } = work;
        let did = |bytes| engine.worker_did(shared, bytes);
        let sought = account.scope.sought(engine.marks_old());
        let marking = MarkShared { marked: Some(&did), ..engine.marking(shared, interrupt, sought) };
        self.found.add(engine.run_markers(shared, workers, marking, |marker| {
            let Some(old) = &engine.old else { return };
            // SAFETY: the list has old regions only, and nothing has moved.
            let mut scan = |region| ((!unsafe { marker.remembered(region) }).then_some(region), ());
            while !interrupt.is_set() && old.to_scan.do_next(&mut scan).is_some() {}
        }));
    }

    /// Marks from the entries that are left and from recorded words. A pause marks for a short
    /// time, a stopped world until the end. Returns whether marking has ended. The account tells
    /// whether it has lost entries ([`lost`](Account::lost)).
    pub(super) fn finish(&mut self, engine: &Engine, account: &mut Account, stop: Stop<'_>) -> bool {
        let shared = stop.shared();
        let sought = account.scope.sought(engine.marks_old());
        // First: threads that are not attached record words under the locks of handles, and the
        // queue must not keep any of these.
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
        engine.begin_paced_alone(shared, PacedStep::Choose);
        engine.last_marked(account.scope).store(account.found.bytes, Ordering::Relaxed);
        true
    }

    /// Marks on this thread until nothing is left or until `enough`. Returns whether nothing is
    /// left.
    fn mark_stopped(
        &mut self,
        engine: &Engine,
        shared: &Shared,
        sought: Sought,
        enough: impl FnMut() -> bool,
    ) -> bool {
        let Ok(queues) = engine.queue_pool.take(1, engine.stack) else {
            engine.left.found.lose();
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

/// Lets marking find the referents of handles and pins. Threads have visited their frames.
fn note_handles_and_pins(engine: &Engine, scope: Scope, shared: &Shared) {
    let roots = &shared.threads.roots;
    // The marking of old objects noted their handles when it began.
    let extent = if scope.begins_old() { HandleExtent::All } else { HandleExtent::Young };
    engine.note_roots(shared, |note| {
        roots.visit_handles(false, extent, |slot| note(slot.load(std::sync::atomic::Ordering::Acquire)));
        roots.pins.visit(&mut |address| note(address as u64));
    });
}

/// Lets marking find the referents of all roots of a stopped world.
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
