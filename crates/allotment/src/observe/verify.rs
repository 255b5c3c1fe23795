//! The checker as an embedder calls it, between whatever its threads do.
//!
//! It runs with no thread attached, so that no buffer has an uncovered tail, and no frame holds a root. What it
//! finds is counted, because a test that knows what it allocated can then check that nothing was lost.

use crate::Heap;
use crate::collector::verify::{Fault, HeapCensus, Level, verify};
use crate::heap::StillAttached;
use crate::mutator::ForkError;
use crate::object::SlotVisitor;

/// Why a heap was not found to be in order.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// It cannot be checked now.
    #[error(transparent)]
    Attached(#[from] StillAttached),
    /// The process is a child of `fork()` in which the heap cannot be used.
    #[error(transparent)]
    Forked(#[from] ForkError),
    /// It is broken.
    #[error(transparent)]
    Broken(#[from] Fault),
    /// The buffers' budget contradicts itself.
    #[error("{0}")]
    Budget(String),
}
crate::debug::debug_is_display!(VerifyError);

impl Heap {
    /// Walks every region from bottom to top; checks the equations of the free set and the budget, and, as
    /// `VerifyGCLevel` says, references, roots and memory that nobody uses. Not while another thread calls
    /// [`uncommit`](Heap::uncommit): a region on its way is in no set.
    ///
    /// # Errors
    /// [`VerifyError::Attached`] while a thread is attached, [`VerifyError::Forked`] in a child of `fork()` in
    /// which the heap cannot be used; else the first thing found wrong.
    pub fn verify(&self) -> Result<HeapCensus, VerifyError> {
        self.shared.after_fork()?;
        let level = Level::from_number(self.options().values().verify_gc_level);
        let outcome = self.shared.registry.while_detached(|| self.verify_detached(level));
        outcome.map_err(|threads| StillAttached { threads })?
    }

    fn verify_detached(&self, level: Level) -> Result<HeapCensus, VerifyError> {
        let shared = &self.shared;
        // SAFETY: no thread is attached.
        unsafe { shared.settle_early_headers() };
        shared.budget.verify([]).map_err(|error| VerifyError::Budget(error.to_string()))?;
        // SAFETY: no thread is attached, so none has a frame.
        let mut roots = |slots: &mut SlotVisitor<'_>| unsafe { shared.roots.visit(slots, &[]) };
        // SAFETY: as above.
        let mut pins = |pinned: &mut dyn FnMut(usize)| unsafe { shared.roots.visit_pinned(pinned, &[]) };
        // SAFETY: no thread is attached; handles are readable, and so is what providers visit.
        Ok(unsafe { verify(&shared.free, &shared.shapes, &shared.cards, &mut roots, &mut pins, level) }?)
    }
}
