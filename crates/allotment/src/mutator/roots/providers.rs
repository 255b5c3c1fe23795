//! Roots that a runtime keeps in its own way. Each collection asks the runtime for them.

use super::GeneratedFrame;
use crate::object::{SlotVisitor, reference};
use crate::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A runtime's own roots.
///
/// # Safety
/// Implementations keep to this:
/// - Every slot that may hold a reference into the heap is visited; each visited slot holds a word
///   as a heap's slot does, and may be written until `visit_roots` returns.
/// - When the heap was reset, no visited slot refers to an object from before.
/// - A collection asks several times, on any collecting thread. Between two safepoints of a thread,
///   and while it is in `blocking`, the answer is the same. A heap may also collect while all of
///   its threads are in `blocking` (`CollectWhenIdle`).
/// - The provider does not touch the heap otherwise, takes no lock that a stopped thread may hold,
///   and does not unwind.
pub unsafe trait RootProvider: Send + Sync {
    /// Visits every root.
    fn visit_roots(&self, roots: &mut RootVisitor<'_, '_>);
}

/// The receiver of a [`RootProvider`]'s roots.
pub struct RootVisitor<'v, 's> {
    slots: &'v mut SlotVisitor<'s>,
    pinned: &'v mut dyn FnMut(usize),
    frames: &'v [*const GeneratedFrame],
}

impl<'v> RootVisitor<'v, '_> {
    /// The calling frame of each thread that is in a call from generated code.
    pub fn generated_frames(&self) -> impl Iterator<Item = &'v GeneratedFrame> + use<'v> {
        // SAFETY: the threads are in their calls, stopped or in a blocking region that they cannot
        // leave while this visitor exists: none returns from the frame.
        self.frames.iter().map(|frame| unsafe { &**frame })
    }

    /// A slot that keeps its referent alive. A collector that moves the referent updates the slot.
    pub fn slot(&mut self, slot: *mut u64) {
        self.slots.strong(slot);
    }

    /// A slot that is cleared when its referent dies.
    pub fn weak_slot(&mut self, slot: *mut u64) {
        self.slots.weak(slot);
    }

    /// A word whose referent stays alive and in place, because the word cannot be updated (it is in
    /// a machine register, or in foreign memory).
    pub fn pinned(&mut self, bits: u64) {
        if let Some(address) = reference(bits) {
            (self.pinned)(address);
        }
    }
}

/// Names a provider, to remove it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProviderId(u64);

#[derive(Default)]
pub(crate) struct Providers {
    inner: Mutex<ProviderList>,
    /// Number of providers. Written under the lock, Relaxed: for readers without it.
    count: AtomicUsize,
}

#[derive(Default)]
struct ProviderList {
    providers: Vec<(ProviderId, Box<dyn RootProvider>)>,
    /// Number of providers ever added.
    ever: u64,
}

impl Providers {
    pub(super) fn is_at_rest(&self) -> bool {
        self.inner.try_lock().is_ok()
    }

    fn with<R>(&self, action: impl FnOnce(&mut ProviderList) -> R) -> R {
        action(&mut super::lock_roots(&self.inner, "a root provider panicked"))
    }

    pub(crate) fn add(&self, provider: Box<dyn RootProvider>) -> ProviderId {
        self.with(|inner| {
            inner.ever += 1;
            let id = ProviderId(inner.ever);
            inner.providers.push((id, provider));
            self.count.store(inner.providers.len(), Ordering::Relaxed);
            id
        })
    }

    pub(crate) fn remove(&self, id: ProviderId) -> Option<Box<dyn RootProvider>> {
        self.with(|inner| {
            let place = inner.providers.iter().position(|(other, _)| *other == id)?;
            let (_, provider) = inner.providers.swap_remove(place);
            self.count.store(inner.providers.len(), Ordering::Relaxed);
            Some(provider)
        })
    }

    /// Number of providers, at about this moment. Takes no lock.
    pub(in crate::mutator) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Calls `slots` with the slots of all providers, and `pinned` with the addresses that they
    /// pin. The providers receive the frames from which generated code called.
    ///
    /// # Safety
    /// - The frames are those of threads that cannot return from their calls meanwhile: they are
    ///   stopped, or kept in a blocking region.
    pub(in crate::mutator) unsafe fn visit(
        &self,
        slots: &mut SlotVisitor<'_>,
        pinned: &mut dyn FnMut(usize),
        frames: &[*const GeneratedFrame],
    ) {
        let mut roots = RootVisitor { slots, pinned, frames };
        self.with(|inner| inner.providers.iter().for_each(|(_, provider)| provider.visit_roots(&mut roots)));
    }
}
