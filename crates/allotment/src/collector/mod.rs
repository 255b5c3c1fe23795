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
//! full, evacuate, concurrent  three ways to collect, which do not know their callers
//! record                      the record of one collection, and its lines in a log
//! log                         the lines of collections in a file
//! history                     the latest records, and sums
//! verify                      the checker of a stopped heap
//! settings                    options of every collector, and the frame around a full collection
//! parts                       what every collector is made from
//! timer                       what a heap does while the program rests
//! epsilon, mark_compact, parallel, shenandoah   the collectors: choreographies of the parts
//! build                       the collector that the options name
//! ```

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
pub(crate) mod record;
mod settings;
pub(crate) mod shenandoah;
pub(crate) mod sizing;
#[cfg(all(test, not(loom)))]
mod tests;
mod timer;
pub(crate) mod verify;
pub(crate) mod work;

pub(crate) use build::{Built, build};
pub(crate) use log::GcLog;
pub(crate) use parts::Parts;

pub use history::{CollectionHistory, TimePercentiles};
pub(crate) use history::{History, Listener};
pub use record::{
    CollectionKind, CollectionRecord, CollectionSums, CycleDetails, CycleScope, FullDetails,
    GenerationsDetails, OldMarking, Phase, WantedWorkers, YoungDetails,
};
