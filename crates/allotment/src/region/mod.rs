//! Regions: equal, power-of-two pieces of the heap, and the rules about who may allocate in which.
//!
//! **Invariant:** a thread owns a region after it has cleared the region's bit in the free set;
//! only the owner changes its state. **Invariant:** a region that other threads may know leaves the
//! state [`State::Shared`] only while no mutator is between two safepoints. So a stale reference to
//! a shared region meets a full region, never a region with another owner. **Invariant:** if a call
//! finds no region, there was none at one moment of the call, even if other threads move regions
//! meanwhile.
//!
//! This layer does not know the contents of a region. Its data about cards and starts of objects
//! comes from the layers above. Only `early.rs` walks objects, with the shapes that a [`Space`]
//! has.
//!
//! The files, lowest first. A file uses only files above it in this list; those on one line know
//! nothing of each other. `.ci/layers` reads the list.
//!
//! ```text
//! geometry, card_bytes, bitmap   sizes, and sets of numbers
//! committer, carve, refill_lock  memory of regions, a piece of it, how threads take it
//! quarantine, transit            regions that are kept from use for a while, or between two sets
//! cards, starts                  tables about slots and objects
//! spares                         rests of buffers
//! table                          the state of each region
//! free_set                       who may allocate where
//! capacity, collection, disposal, extend, humongous, occupancy, runs, supply, verify  what it does
//! space                          all of it, as a collector sees it
//! early                          headers that were written before their types had ids
//! ```

mod bitmap;
mod capacity;
mod card_bytes;
mod cards;
mod carve;
mod collection;
mod committer;
mod disposal;
mod early;
mod extend;
mod free_set;
mod geometry;
mod humongous;
mod occupancy;
mod quarantine;
mod refill_lock;
mod runs;
mod space;
mod spares;
mod starts;
mod supply;
mod table;
mod transit;
mod verify;

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use card_bytes::{CARD_BYTES, CARD_SHIFT};
pub(crate) use cards::{CardTable, DIRTY};
pub(crate) use carve::{Attempts, Carve};
pub(crate) use committer::{Backing, Committer};
pub(crate) use free_set::FreeSet;
pub use geometry::{
    Geometry, GeometryError, MAX_HEAP_BYTES, MAX_REGION_BYTES, MIN_REGION_BYTES, MIN_REGIONS, TARGET_REGIONS,
};
pub(crate) use humongous::Run;
pub(crate) use occupancy::Occupancy;
pub use occupancy::RegionUse;
pub(crate) use quarantine::Disposal;
pub(crate) use runs::WantedRun;
pub(crate) use space::Space;
pub(crate) use starts::StartTable;
pub(crate) use table::{Region, RegionTable, State};
