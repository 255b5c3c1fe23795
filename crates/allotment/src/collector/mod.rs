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
mod record;
mod settings;
pub(crate) mod shenandoah;
pub(crate) mod sizing;
#[cfg(all(test, not(loom)))]
mod tests;
pub(crate) mod verify;
pub(crate) mod work;

pub(crate) use build::{Built, Parts, build};
pub(crate) use log::GcLog;

pub use history::{CollectionHistory, TimePercentiles};
pub(crate) use history::{History, Listener, Print};
pub use record::{
    CollectionKind, CollectionRecord, CollectionSums, CycleDetails, CycleScope, Details, EnlargedEden,
    FullDetails, GenerationsDetails, IdleLook, LastPart, OldMarking, Phase, SizingDetails, WantedWorkers,
    YoungDetails,
};
