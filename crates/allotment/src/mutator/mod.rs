//! A mutator's side of the heap: its allocation buffer, the fast path and the slow paths behind it.
//!
//! The fast path is load, add, compare, store, header. Several events must be able to stop it: the
//! end of the buffer, the end of a window of zeroed memory, a sampling point, and a request for a
//! safepoint. Each of them lowers the one number that the fast path compares with. [`limit`](self)
//! in ARCHITECTURE.md describes the protocol.
//!
//! This layer does not know which collector is in use. It asks the [`Collector`] trait for room.

mod alloc;
mod barrier;
mod gc_overhead;
mod generated;
mod handles;
mod identity;
mod out_of_memory;
mod random;
mod raw;
mod roots;
mod safepoint;
mod sampling;
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
pub use raw::RawMutator;
pub(crate) use roots::Roots;
pub use roots::{
    GeneratedFrame, ProviderId, RootCounts, RootKind, RootLink, RootProvider, RootVisitor, RootWord,
};
pub(crate) use safepoint::{AbortOnUnwind, Hook as LateThreadHook, Late, Volunteers};
pub use safepoint::{LateThread, SafepointStatistics, ThreadActivity, ThreadIdentity};
pub(crate) use sampling::{Bucket, Sampler, Walker};
pub use sampling::{
    DEFAULT_SAMPLE_INTERVAL, FrameName, FrameSink, MAX_FRAMES, StackWalker, sample_probability,
};
pub(crate) use stop::{Halted, Pause};
pub use stop::{StopError, World};
pub use thread::{
    AttachError, AttachedThread, Attachments, BarrierCalls, BufferSizes, Cause, Collector,
    CompareExchangeSlow, ForkError, Hot, LoadSlow, Mutator, Outcome, Stalls, StoreSlow,
};
pub(crate) use thread::{
    Concurrent, HERE, HeapLimitHook, OutOfMemoryHook, Policy, Registry, Samples, SatbQueue, Shared, Threads,
    Watch, attach,
};
pub(crate) use zeal::ZealSchedule;
