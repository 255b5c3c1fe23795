//! The protocol that stops the world: who is stopped, who is waited for, who waits.
//!
//! ```text
//! running --request--> awaited --arrives (parks, blocks, detaches)--> held --resume--> safe
//! safe    --request--> held (cannot leave)                            safe --leaves--> running
//! ```
//!
//! A thread in `blocking` and a thread that is parked are the same to a stop: *safe*. So a request is one
//! `fetch_or` on each thread's [`Status`], whose answer says whether that thread has to be waited for; the way
//! into `blocking` and out of it is one compare-and-swap each, which fails only while a stop is under
//! way; and a thread that was parked by one stop and has not woken yet when the next begins is not waited for again.
//!
//! All else (arriving, attaching, detaching) happens under one lock, and who waits parks, at once where there are more threads than
//! CPUs: each is needed by a thread that has yet to arrive. Only the last that arrives wakes the stopper.
//!
//! Refused: a state word and a separate request flag with fences between (Dekker), which says the same in
//! four orders instead of one; a page whose protection is taken away as the poll, which costs the stopper a system
//! call and the thread a signal, where the poll here is the allocation's own compare; the expedited
//! `membarrier`, for the same reason.
//!
//! It knows nothing of buffers and heaps, and so loom can explore it (`model`).

mod identity;
mod late;
pub(super) mod limit;
#[cfg(all(test, loom))]
mod model;
mod patience;
mod statistics;
mod status;
mod stop;
#[cfg(all(test, not(loom)))]
mod tests;
mod unwind;
mod volunteers;
mod wakes;

pub use identity::ThreadIdentity;
pub(in crate::mutator) use identity::renew_system_id;
pub use late::LateThread;
pub(crate) use late::{Hook, Late};
pub use statistics::SafepointStatistics;
pub(in crate::mutator) use status::Status;
pub(in crate::mutator) use stop::{Arrival, Inner, Participant, Safepoints, Unrest};
pub(crate) use unwind::AbortOnUnwind;
pub(crate) use volunteers::Volunteers;
