//! An attached thread: its state, the state that all threads of a heap share, attaching and
//! detaching.

mod attached;
pub(super) mod attachment;
mod barrier_calls;
mod barrier_kind;
mod barrier_tables;
mod blocking;
mod collector;
mod debt;
mod end;
mod forked;
mod handle;
pub(super) mod hot;
mod hot_layout;
#[cfg(all(test, loom))]
mod model;
mod pointer;
mod policy;
mod private;
pub(super) mod registry;
mod sampling;
mod satb;
mod shared;
mod stalls;
pub(super) mod state;
mod statistics;
pub(super) mod stopping;
mod threads;
mod watch;

pub use attached::AttachedThread;
pub(crate) use attachment::{OwnState, attach};
pub use barrier_calls::{BarrierCalls, CompareExchangeSlow, LoadSlow, StoreSlow};
pub use barrier_kind::{AfterAccess, BarrierKind};
pub(crate) use barrier_tables::BarrierTables;
pub use collector::Cause;
pub(crate) use collector::{Collector, Concurrent, Outcome};
pub(crate) use debt::Debt;
pub(crate) use end::EndSignal;
pub(crate) use forked::HERE;
pub use handle::Mutator;
pub use hot::Hot;
pub use hot_layout::HotField;
pub(crate) use policy::Policy;
pub(super) use private::{LogPosition, Private};
pub(crate) use registry::Registry;
pub use registry::{AttachError, Attachments};
pub(crate) use satb::SatbQueue;
pub(crate) use shared::Shared;
pub use stalls::Stalls;
pub(crate) use threads::Threads;
pub(crate) use watch::{HeapLimitHook, OutOfMemoryHook, Watch};
