//! Threads that share the work of a collection: a gang of them, helped by threads that wait at the
//! safepoint, and the stacks over which they pass pieces of work.
//!
//! [`Gang`] has the threads and does not know the work. [`Crew`] has the stacks and does not know
//! threads: a thread with a number is that worker. A stack holds words, to which [`Entry`] gives a
//! meaning.

mod crew;
mod crews;
mod entry;
mod gang;
#[cfg(all(test, loom))]
mod model;
mod ring;
mod sleep;
mod stack;
#[cfg(all(test, not(loom)))]
mod tests;
mod trace;
mod turns;
mod workers;

pub(crate) use crew::{Crew, Limits};
pub(crate) use crews::Crews;
pub(crate) use entry::{Entry, chunk_slots};
pub(crate) use gang::{Gang, Team};
pub(crate) use ring::Ring;
pub(crate) use stack::WorkStack;
pub(crate) use trace::{Trace, trace};
pub(crate) use turns::Turns;
pub(crate) use workers::{default_concurrent_workers, default_workers, wanted_workers};
