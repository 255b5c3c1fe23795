//! A thread's side of the heap: its buffer, the fast path, and what happens when that fails.
//!
//! The fast path is load, add, compare, store, header. Everything that must ever stop it (the end of
//! the buffer, a window of zeroed memory, a sampling point, a request to come to a safepoint) lowers
//! the one number it compares with; see [`limit`](self) in ARCHITECTURE.md for the protocol.
//!
//! This layer does not know which collector there is: it asks the [`Collector`] trait for room.

mod alloc;
mod barrier;
mod blocking;
mod burst;
mod collector;
mod hot;
mod identity;
mod initialise;
mod limit;
mod make_room;
mod outside;
mod prefetch;
mod recycle;
mod refill;
mod registry;
mod roots;
mod safepoint;
mod sampling;
mod shared;
mod site;
mod state;
mod stopping;
#[cfg(all(test, not(loom)))]
mod tests;
mod world;
mod zeal;

pub use alloc::Mutator;
pub use burst::Burst;
pub use collector::{Cause, Collector, OutOfMemory, Outcome};
pub use hot::Hot;
pub use initialise::{Ahead, ByCaller, PerObject, Zeroing};
pub use make_room::Reservation;
pub use prefetch::{BySize, NoPrefetch, Prefetch, Write};
pub use recycle::Mark;
pub use registry::{AttachError, Attachments};
pub(crate) use registry::{Registry, attach};
pub(crate) use roots::Roots;
pub use roots::{LinkedRoot, Pin, ProviderId, RootHandle, RootLink, RootProvider, RootVisitor};
pub(crate) use safepoint::{Hook as LateThreadHook, Late};
pub use safepoint::{LateThread, SafepointStatistics, ThreadIdentity};
pub(crate) use shared::{Committer, HeapLimitHook, Shared};
pub use site::{ArraySite, Site};
pub use world::{StopError, World};
pub(crate) use zeal::ZealSchedule;
