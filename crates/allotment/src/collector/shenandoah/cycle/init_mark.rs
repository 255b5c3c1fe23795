//! InitMark: the stop whose moment is the snapshot. All objects that are reachable then will be
//! marked. Objects that are born later lie above the borders that are drawn here, and are live.

use super::super::account::Account;
use super::super::engine::Engine;
use super::super::levy::PacedStep;
use super::super::place::Stop;
use super::super::scope::Scope;
use crate::mutator::{Hot, Pause, Shared};
use crate::object::SlotVisitor;
use crate::sync::Ordering;

/// Does the step.
pub(super) fn run(engine: &Engine, account: &mut Account, stop: Stop<'_>) {
    begin_marking(engine, account, stop.shared());
    engine.freed.took_snapshot();
    // Before the first marking all objects may be live.
    let expected = match engine.last_marked(account.scope).load(Ordering::Relaxed) {
        0 => account.used_before,
        bytes => bytes as usize,
    };
    engine.begin_paced(stop.shared(), PacedStep::Mark, expected);
    // In the stopped world no thread overwrites a word that marking has yet to find.
    if let Stop::Pause(pause) = stop {
        pause.set_barriers(Hot::MARKING);
        pause.begin_root_visit();
        note_roots_of_providers(engine, pause);
    }
}

/// Sets the borders of regions, and forgets the rest of earlier markings.
fn begin_marking(engine: &Engine, account: &mut Account, shared: &Shared) {
    let (free, table) = (&shared.space.free, shared.space.free.table());
    if engine.old.is_some() {
        shared.threads.roots.begin_young_visit();
    }
    engine.left.forget();
    engine.take_over_old(account, shared);
    free.forget_spares();
    let mut to_scan = Vec::new();
    for index in free.in_use() {
        let is_old = table.get(index).is_tenured();
        if account.scope.begins_old() || !is_old {
            table.set_mark_start(index);
            engine.tables.open_region(index);
        }
        if is_old && account.scope != Scope::Global && table.get(index).state().begins_objects() {
            to_scan.push(index);
        }
    }
    if let Some(old) = &engine.old {
        old.to_scan.fill(to_scan);
    }
    engine.tables.set_sought(account.scope.sought(engine.marks_old()));
}

/// Lets marking find the referents of providers.
fn note_roots_of_providers(engine: &Engine, pause: &Pause<'_>) {
    engine.note_roots(pause.shared(), |note| {
        // A weak word of a provider counts as a strong one: the provider has no barrier.
        // SAFETY: a provider's slot, which may be read until the visit ends.
        let mut slot = |slot: *mut u64, _| note(unsafe { slot.read() });
        pause.visit_providers(&mut SlotVisitor::new(&mut slot), &mut |address| note(address as u64));
    });
}
