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
    /// Not the embedder's: `SnapshotOnOutOfMemory`.
    pub(super) out_of_memory: Option<OutOfMemoryHook>,
    pub(super) collection: Option<Listener>,
    pub(super) clock: Option<ClockHook>,
    pub(super) stack_walker: Option<Walker>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = |set: bool| if set { "set" } else { "not set" };
        f.debug_struct("Hooks")
            .field("late_thread", &format_args!("{}", set(self.late_thread.is_some())))
            .field("heap_limit", &format_args!("{}", set(self.heap_limit.is_some())))
            .field("out_of_memory", &format_args!("{}", set(self.out_of_memory.is_some())))
            .field("collection", &format_args!("{}", set(self.collection.is_some())))
            .field("clock", &format_args!("{}", set(self.clock.is_some())))
            .field("stack_walker", &format_args!("{}", set(self.stack_walker.is_some())))
            .finish()
    }
}
