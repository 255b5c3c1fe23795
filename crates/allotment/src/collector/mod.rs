//! The collectors: one file each, plus the parts that they share.
//!
//! The parts, lowest first. A part uses only parts above it in this list; those on one line know
//! nothing of each other. `.ci/layers` reads the list.
//!
//! ```text
//! control                     a thread that waits for requests and knows no collection
//! work                        a gang of threads, which knows no work, and stacks of words
//! kernel                      what marking, evacuation and full collections share: maps, forwarding
//! sizing                      sizes of the next collection: numbers only
//! overhead                    the limit on the cost of collections
//! full, evacuate, concurrent  three ways to collect, which do not know who calls them
//! record                      what a collection tells
//! log                         the lines of collections in a file
//! history                     the latest records, and sums
//! verify                      the checker of a stopped heap
//! settings                    options of every collector, and the frame around a full collection
//! epsilon, mark_compact, parallel, shenandoah   the collectors: choreographies of the parts
//! ```

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
pub mod shenandoah;
pub mod sizing;
#[cfg(all(test, not(loom)))]
mod tests;
pub(crate) mod verify;
pub(crate) mod work;

pub(crate) use epsilon::Epsilon;
pub(crate) use kernel::Pages;
pub(crate) use log::GcLog;

pub use history::{Collections, Times};
pub(crate) use history::{History, Listener, Print};
pub(crate) use mark_compact::MarkCompact;
pub(crate) use overhead::Overhead;
pub(crate) use parallel::{Parallel, Parts as ParallelParts};
pub use record::{
    CollectionKind, CollectionRecord, CollectionSums, CycleRecord, CycleScope, Details, EnlargedEden,
    FullRecord, GenerationsRecord, IdleLook, LastPart, OldMarking, Phase, SizingRecord, WantedWorkers,
    YoungRecord,
};
pub(crate) use settings::Settings;
pub(crate) use shenandoah::{Parts as ShenandoahParts, Shenandoah};
