//! The checker that an embedder calls between the operations of its threads.
//!
//! The checker runs with no thread attached, so that no buffer has an uncovered tail and no frame
//! holds a root. It counts the objects that it finds. So a test that knows its allocations can
//! check that nothing was lost.

use crate::Heap;
use crate::collector::kernel::Roots;
use crate::collector::verify::{CheckedObjects, Fault, Level, VerifySummary, verify, verify_handles};
use crate::heap::StillAttached;
use crate::mutator::{ForkError, Halted, HandleExtent, World};

/// The reason why a heap failed the check.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The heap cannot be checked now.
    #[error(transparent)]
    Attached(#[from] StillAttached),
    /// The process is a child of `fork()` in which the heap cannot be used.
    #[error(transparent)]
    Forked(#[from] ForkError),
    /// The heap is broken.
    #[error(transparent)]
    Broken(#[from] Fault),
    /// The buffers' budget contradicts itself.
    #[error("{0}")]
    Budget(String),
}
crate::debug::debug_is_display!(VerifyError);

impl Heap {
    /// Walks every region from bottom to top. It checks the equations of the free set and the
    /// budget. `VerifyGCLevel` adds references, roots and unused memory. Where the heap's collector
    /// leaves stale references in dead objects, only live objects have their references checked.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.attach(|mu| alloc!(mu, NewStr::from("text")).map(drop))??;
    /// let sound = heap.verify()?;
    /// assert_eq!(sound.all_objects(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`VerifyError::Attached`] while a thread is attached, [`VerifyError::Forked`] in a child of
    /// `fork()` in which the heap cannot be used; else the first fault found.
    pub fn verify(&self) -> Result<VerifySummary, VerifyError> {
        self.shared.after_fork()?;
        let level = Level::from_number(self.options().values().verify_gc_level);
        let _halted = Halted::begin(&*self.shared.collector);
        let shared = &self.shared;
        let _detached = shared.threads.registry.detached().map_err(|threads| StillAttached { threads })?;
        // A world gives objects their real headers, and ends a cycle that is under way.
        World::without_threads(shared);
        // A region whose memory goes back is in no set meanwhile.
        let _regions = shared.keep_regions();
        shared.policy.budget.verify([]).map_err(VerifyError::Budget)?;
        let objects = CheckedObjects::of(&*shared.collector);
        let mut roots = Roots {
            // SAFETY: no thread is attached, so none has a frame.
            slots: &mut |slots| unsafe { shared.threads.roots.visit(HandleExtent::All, slots, &[]) },
            // SAFETY: as above.
            pinned: &mut |pinned| unsafe { shared.threads.roots.visit_pinned(pinned, &[]) },
        };
        // SAFETY: no thread is attached. Handles are readable, and so are the slots that providers
        // visit.
        let summary = unsafe { verify(&shared.space, &mut roots, level, objects) }?;
        verify_handles(shared, level)?;
        Ok(summary)
    }
}
