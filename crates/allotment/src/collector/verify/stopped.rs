//! The check of a stopped world, before and after a collection.

use super::{CheckedObjects, Fault, Level, VerifySummary, verify, verify_handles};
use crate::collector::kernel::Roots;
use crate::mutator::World;
use crate::platform::abort_because;

/// The times at which the heap is checked, and the level of the check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checks {
    /// `VerifyBeforeGC`.
    pub(crate) before: bool,
    /// `VerifyAfterGC`.
    pub(crate) after: bool,
    /// `VerifyGCLevel`.
    pub(crate) level: Level,
}

impl Checks {
    /// Checks the heap before a collection, if that is wanted.
    pub(crate) fn before(self, world: &World<'_>) {
        if self.before {
            check(world, self.level, "before");
        }
    }

    /// Checks the heap after a collection, if that is wanted.
    pub(crate) fn after(self, world: &World<'_>) {
        if self.after {
            check(world, self.level, "after");
        }
    }
}

/// Checks the heap. Prints a fault and ends the process: a fault cannot be repaired, and would
/// spread far from its cause.
fn check(world: &World<'_>, level: Level, when: &str) {
    if let Err(fault) = verify_world(world, level) {
        abort_because(format_args!("the heap is broken {when} a collection: {fault}; aborting"));
    }
}

pub(super) fn verify_world(world: &World<'_>, level: Level) -> Result<VerifySummary, Fault> {
    world.verify_threads().map_err(Fault::Threads)?;
    let shared = world.shared();
    let objects = CheckedObjects::of(&*shared.collector);
    let mut roots = Roots {
        slots: &mut |slots| world.visit_roots(slots),
        pinned: &mut |pinned| world.visit_pinned(pinned),
    };
    // SAFETY: a `World` is the proof that no mutator runs and that every buffer was given up.
    let summary = unsafe { verify(&shared.space, &mut roots, level, objects) }?;
    verify_handles(shared, level)?;
    Ok(summary)
}
