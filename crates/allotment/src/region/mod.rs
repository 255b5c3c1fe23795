//! Regions: equal, power-of-two pieces of the heap, and who may allocate in which.
//!
//! **Invariant:** owning a region is having cleared its bit in the free set; only the owner changes its
//! state. **Invariant:** a region that others were led to leaves the state [`State::Shared`] only while
//! no mutator is between two safepoints, so a stale look at a shared region meets a region that is full,
//! never one that belongs to somebody else. **Invariant:** "there is none" is true of one moment of the
//! call, whatever other threads move about meanwhile.
//!
//! This layer does not know what lies in a region; of cards and starts of objects it keeps what it was told.

mod backing;
mod bitmap;
mod capacity;
mod card_bytes;
mod cards;
mod carve;
mod collection;
mod disposal;
mod extend;
mod free_set;
mod geometry;
mod humongous;
mod quarantine;
mod refill_lock;
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

pub(crate) use backing::Backing;
pub(crate) use capacity::Occupancy;
pub(crate) use card_bytes::{CARD_BYTES, CARD_SHIFT};
pub(crate) use cards::{CardTable, DIRTY};
pub(crate) use carve::{Attempts, Carve};
pub(crate) use free_set::FreeSet;
pub use geometry::{
    Geometry, GeometryError, MAX_HEAP_BYTES, MAX_REGION_BYTES, MIN_REGION_BYTES, MIN_REGIONS, TARGET_REGIONS,
};
pub(crate) use humongous::Run;
pub(crate) use quarantine::Disposal;
pub(crate) use refill_lock::RefillMode;
pub(crate) use starts::StartTable;
pub use table::State;
pub(crate) use table::{Region, RegionTable};
