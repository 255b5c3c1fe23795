//! Functions of the embedder that a heap calls.

use crate::collector::Listener;
use crate::mutator::{HeapLimitHook, LateThreadHook, OutOfMemoryHook, Walker};
use crate::platform::ClockHook;
use std::fmt;

/// The embedder's hooks: notifications and requests. Each may be missing.
#[derive(Clone, Default)]
pub(super) struct Hooks {
    pub(super) late_thread: Option<LateThreadHook>,
    pub(super) heap_limit: Option<HeapLimitHook>,
    /// Writes a snapshot for `SnapshotOnOutOfMemory`. The only hook that is not the embedder's.
    pub(super) out_of_memory: Option<OutOfMemoryHook>,
    pub(super) collection: Option<Listener>,
    pub(super) clock: Option<ClockHook>,
    pub(super) stack_walker: Option<Walker>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}
