//! The collectors: one file each, plus the parts that they share.

mod build;
mod concurrent;
mod control;
mod epsilon;
pub(crate) mod evacuate;
pub(crate) mod full;
mod history;
pub(crate) mod kernel;
mod log;
mod mark_compact;
mod overhead;
mod parallel;
mod parts;
mod record;
mod settings;
pub mod shenandoah;
pub mod sizing;
#[cfg(all(test, not(loom)))]
mod tests;
pub(crate) mod verify;
pub(crate) mod work;

pub(crate) use build::{Built, build};
pub(crate) use log::GcLog;
pub(crate) use parts::Parts;

pub use history::{Collections, Times};
pub(crate) use history::{History, Listener, Print};
pub use record::{
    CollectionKind, CollectionRecord, CollectionSums, CycleRecord, CycleScope, Details, EnlargedEden,
    FullRecord, GenerationsRecord, IdleLook, LastPart, OldMarking, Phase, SizingRecord, WantedWorkers,
    YoungRecord,
};
