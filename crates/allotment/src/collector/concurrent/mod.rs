//! Marking, evacuation and update of references while threads run.
//!
//! These are the steps of a concurrent collection, each for any number of workers, each in pieces
//! that can be interrupted and gone on with by others. They do not know who calls them, nor in
//! which order: the collector (`shenandoah/`) does, and so does a stopped world that finishes what
//! was begun.
//!
//! The files, lowest first. A file uses only files above it in this list; those on one line know
//! nothing of each other. `.ci/layers` reads the list.
//!
//! ```text
//! delay, found, leftover, entries   delays in tests; counts; work that is left for others, or kept
//! objects                           an object as a thread sees it that works beside mutators
//! tables                            what is known of each object and region
//! hand_over, space                  old objects for other markers; the memory of copies
//! old                               slots in dirty cards of old regions; these regions in order
//! marker                            finds what was reachable when marking began
//! weak                              clears weak slots of dead objects
//! evacuate                          copies the live objects of a set; mutators help on loads
//! update                            slots get the new places
//! ```
//!
//! What soundness rests on:
//!
//! - Evacuation begins in a stop in which no span is open. From there on no thread has a reference
//!   to an object of the set: barriers and visits of roots hand out the copy. So the objects of the
//!   set do not change while they are copied.
//! - A copy is complete before it is published: contents first, then one compare-and-swap of the
//!   old header. (In `evacuate/`, where the world stands still, the address comes first.)
//! - An object for which there is no memory stays: its header gets the bits *kept* in the same way.
//! - An object is live if it is marked, or at or above its region's top at mark start.
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
pub(in crate::collector) use evacuate::{Buffers, Evacuator, Generations, Part};
pub(in crate::collector) use found::Found;
pub(in crate::collector) use leftover::{Interrupt, Leftover};
pub(in crate::collector) use marker::{MarkShared, Marker, OldShared};
#[cfg(test)]
pub(in crate::collector) use old::check_remembered;
pub(in crate::collector) use old::settle_old;
pub(in crate::collector) use space::CopySpace;
pub(in crate::collector) use tables::{Membership, Sought, Tables};
pub(in crate::collector) use update::{Piece, Updater};
pub(in crate::collector) use weak::Clearing;
