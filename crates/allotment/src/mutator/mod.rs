//! A thread's side of the heap: its buffer, the fast path, and what happens when that fails.
//!
//! The fast path is load, add, compare, store, header. Everything that must ever stop it (the end of
//! the buffer, a window of zeroed memory, a sampling point, a request to come to a safepoint) lowers
//! the one number it compares with; see [`limit`](self) in ARCHITECTURE.md for the protocol.
//!
//! This layer does not know which collector there is: it asks the [`Collector`] trait for room.

mod alloc;
mod barrier;
mod gc_overhead;
mod generated;
mod handles;
mod identity;
mod out_of_memory;
mod roots;
mod safepoint;
mod stop;
#[cfg(all(test, not(loom)))]
mod tests;
mod thread;
mod zeal;

pub(crate) use alloc::hot_bytes;
pub use alloc::{
    Ahead, ArraySite, Burst, ByCaller, BySize, Mark, NoPrefetch, PerObject, Prefetch, Reservation, Site,
    Write, Zeroing,
};
pub use gc_overhead::GcOverhead;
pub use generated::{AllocateArraySlow, AllocateSlow, GeneratedCalls, SafepointSlow};
pub use handles::{LinkedRoot, Pin, RootHandle};
pub use out_of_memory::OutOfMemory;
pub(crate) use roots::Roots;
pub use roots::{GeneratedFrame, ProviderId, RootLink, RootProvider, RootVisitor, RootWord};
pub(crate) use safepoint::{AbortOnUnwind, Hook as LateThreadHook, Late, Volunteers};
pub use safepoint::{LateThread, SafepointStatistics, ThreadIdentity};
pub use stop::{StopError, World};
pub use thread::{AttachError, Attachments, BufferSizes, Cause, Collector, ForkError, Hot, Mutator, Outcome};
pub(crate) use thread::{Committer, HERE, HeapLimitHook, Registry, Shared, attach};
pub(crate) use zeal::ZealSchedule;
