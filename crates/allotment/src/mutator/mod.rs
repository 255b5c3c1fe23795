//! A mutator's side of the heap: its allocation buffer, the fast path and its slow paths.
//!
//! The fast path is load, add, compare, store, header. Several events must be able to stop it: the
//! end of the buffer, the end of a window of zeroed memory, a sampling point, and a request for a
//! safepoint. Each of them lowers the one number that the fast path compares with: the limit. Under
//! "Invariants", ARCHITECTURE.md has the limit's protocol.
//!
//! This layer does not know which collector is in use. It asks the [`Collector`] trait for room.
//!
//! The rooms and files of this folder, lowest first. A room uses only rooms above it in this list;
//! `.ci/layers` reads the list.
//!
//! ```text
//! gc_overhead    the share of time that collections take
//! out_of_memory  the error of an allocation
//! fork_error     the error of a heap in a child of `fork()`
//! zeal           collections and errors where a program does not expect them
//! barrier_bits   the barriers in force
//! safepoint      the protocol that stops threads: it knows statuses and limits, no mutator, so it
//!                is model-checked alone
//! roots          tables and lists of references from outside: they need no thread
//! sampling       which allocations are sampled: sampled objects have a table of weak roots
//! thread         a thread's state, which has a list of roots, and distances of samples
//! raw            the view of a mutator for runtimes with their own object access
//! handles        the handles by which attached threads hold roots, each in a table of roots
//! alloc          allocation from a thread's buffer
//! barrier        loads and stores of slots, and of what handles hold
//! identity       identity hashes
//! stop           the stopped world, which takes back what all rooms above keep
//! generated      the entries for generated code
//! without_body   blocking regions and mutators for code that cannot pass a closure
//! ```

mod alloc;
mod barrier;
mod barrier_bits;
mod fork_error;
mod gc_overhead;
mod generated;
mod handles;
mod identity;
mod out_of_memory;
mod raw;
mod roots;
mod safepoint;
mod sampling;
mod stop;
#[cfg(all(test, not(loom)))]
mod tests;
mod thread;
mod without_body;
mod zeal;

pub use alloc::{
    Ahead, ArraySite, Burst, ByCaller, BySize, Mark, NoPrefetch, PerObject, Prefetch, Reservation, Site,
    Write, Zeroing,
};
pub(crate) use alloc::{Large, PIECE_BYTES, SLOTS_PIECE_BYTES, copy_in_pieces, hot_bytes, pieces};
pub use fork_error::ForkError;
pub use gc_overhead::GcOverhead;
pub use generated::{
    AllocateArrayObjectSlow, AllocateArraySlow, AllocateObjectSlow, AllocateSlow, GeneratedCalls,
    SafepointSlow,
};
pub use handles::{LinkedRoot, Pin, RootHandle};
pub use out_of_memory::OutOfMemory;
pub use raw::RawMutator;
#[cfg(test)]
pub(crate) use roots::CHUNK;
pub(crate) use roots::HandleExtent;
pub use roots::{
    GeneratedFrame, ProviderId, RootCounts, RootKind, RootLink, RootProvider, RootRange, RootVisitor,
    RootWord,
};
pub(crate) use safepoint::{AbortOnUnwind, Late, LateThreadHook, Volunteers, Wish};
pub use safepoint::{LateThread, SafepointStatistics, ThreadActivity, ThreadIdentity};
pub(crate) use sampling::{Bucket, DroppedSamples, Sampler, Samples, Walker};
pub use sampling::{
    DEFAULT_SAMPLE_INTERVAL, FrameName, FrameSink, MAX_FRAMES, StackWalker, sample_probability,
};
pub(crate) use stop::{BufferSizes, Halted, Pause};
pub use stop::{StopError, World, WorldObject, WorldRoot};
pub use thread::{
    AfterAccess, AttachError, AttachedThread, Attachments, BarrierCalls, BarrierKind, Cause,
    CompareExchangeSlow, Hot, HotField, LoadSlow, Mutator, Stalls, StoreSlow,
};
pub(crate) use thread::{
    BarrierTables, Collector, Concurrent, Debt, EndSignal, HERE, HeapLimitHook, OutOfMemoryHook, Outcome,
    OwnState, Policy, Registry, SatbQueue, Shared, Threads, Watch, attach,
};
pub use without_body::BlockingError;
pub(crate) use zeal::ZealSchedule;
