//! Marking, evacuation and update of references while threads run.
//!
//! These are the steps of a concurrent collection. Each is for any number of workers, and consists
//! of pieces that can be interrupted and continued by others. The steps know neither their caller
//! nor their order. The caller is the collector (`shenandoah/`), beside threads or in a stopped
//! world.
//!
//! The files, lowest first. A file uses only files above it in this list; those on one line know
//! nothing of each other. `.ci/layers` reads the list.
//!
//! ```text
//! delay, found, leftover, entries   delays in tests; counts; work for later; work of one marker
//! objects                           headers and slots, beside mutators
//! tables                            marks, and the part of each region in the cycle
//! hand_over, space                  old objects for other markers; the memory of copies
//! old                               slots in dirty cards of old regions; the order of old regions
//! marker                            marks the objects that were reachable when marking began
//! weak                              clears weak slots of dead objects
//! evacuate                          copies the live objects of a set; mutators help on loads
//! update                            gives slots the new places
//! ```
//!
//! The collection is sound for these reasons:
//!
//! - Evacuation begins in a stop in which no span is open. After this stop no thread has a
//!   reference to an object of the set: barriers and visits of roots give the copy. So the objects
//!   of the set do not change while they are copied.
//! - A copy is complete before it is published: contents first, then one compare-and-swap of the
//!   old header. (In `evacuate/`, where the world stands still, the address comes first.)
//! - An object without memory for a copy stays: its header gets the bits *kept* in the same way.
//! - An object is live if it is marked, or lies at or above its region's top at mark start.
//!
//! Refused: a forwarding word before each object (Brooks 1984: memory, and a load for each access);
//! coloured pointers (a barrier on all loads, and the bits are the embedder's).

mod delay;
mod entries;
mod evacuate;
mod found;
mod hand_over;
mod leftover;
mod marker;
#[cfg(all(test, loom))]
mod model;
mod objects;
mod old;
mod space;
mod tables;
mod update;
mod weak;

pub(in crate::collector) use delay::passage;
pub(in crate::collector) use entries::BoundedStack;
pub(in crate::collector) use evacuate::{Copier, Evacuator, Generations, Part};
pub(in crate::collector) use found::Found;
pub(in crate::collector) use leftover::{Interrupt, MarkLeftover};
pub(in crate::collector) use marker::{MarkShared, Marker, OldShared};
#[cfg(test)]
pub(in crate::collector) use old::check_remembered;
pub(in crate::collector) use old::settle_old;
pub(in crate::collector) use space::CopySpace;
pub(in crate::collector) use tables::{Membership, Sought, Tables};
pub(in crate::collector) use update::{UpdatePiece, Updater};
pub(in crate::collector) use weak::Clearing;
