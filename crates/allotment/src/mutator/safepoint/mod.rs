//! The protocol that stops the world: which threads are stopped, awaited, or waiting.
//!
//! ```text
//! running --request--> awaited --arrives (parks, blocks, detaches)--> held --resume--> safe
//! safe    --request--> held (cannot leave)                            safe --leaves--> running
//! ```
//!
//! To a stop, a thread in `blocking` and a parked thread are the same: both are *safe*. So a
//! request is one `fetch_or` on each thread's [`Status`], and its result says whether that thread
//! has to be awaited. Entering and leaving `blocking` is one compare-and-swap each. The swap fails
//! while a stop is under way, and once for a thread that has come back after a stop. A thread that
//! one stop parked may not have gone on when the next stop begins. That next stop does not wait for
//! it again.
//!
//! A thread that stays in `blocking` *sleeps* from the next stop on. No stop touches its status,
//! and the thread finds out by itself what it missed. A parked thread that spins does not
//! sleep: it goes on at once, and the next stop may call it to help.
//!
//! ```text
//! safe --a stop begins--> asleep --comes back, under the lock--> safe, with a duty
//! ```
//!
//! A stop is full or light. After a light stop each thread has a *duty*: leaving the stop or
//! `blocking` fails its swap, and the thread does its duty first. So a light stop touches nothing
//! of a thread but its status, however long the thread's list of roots is. A thread that slept has
//! a duty, too, whatever stops it slept through.
//!
//! Everything else (arriving, attaching, detaching) happens under one lock, and a waiting thread
//! parks. If there are more threads than CPUs it parks at once, because threads that have yet to
//! arrive need the CPUs. Only the last thread to arrive wakes the stopper.
//!
//! Refused:
//! - A state word and a separate request flag with fences between (Dekker). That says the same in
//!   four orders instead of one.
//! - A page whose protection is taken away, as the poll. It costs the stopper a system call and the
//!   thread a signal. The poll here is the allocation's own compare.
//! - The expedited `membarrier`, for the same reason.
//!
//! The protocol knows nothing of buffers and heaps, so loom can explore it (`model`).

mod collection_request;
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
mod thread_list;
mod unwind;
mod volunteers;
mod wakes;

pub(in crate::mutator) use collection_request::share_collection;
pub use identity::ThreadIdentity;
pub(in crate::mutator) use identity::renew_system_id;
pub use late::LateThread;
pub(crate) use late::{Late, LateThreadHook};
pub(crate) use limit::Wish;
pub use statistics::SafepointStatistics;
pub(in crate::mutator) use status::Status;
pub use status::ThreadActivity;
pub(in crate::mutator) use stop::{Arrival, Participant, SafepointState, Safepoints, StopKind};
pub(in crate::mutator) use thread_list::Place;
pub(crate) use unwind::AbortOnUnwind;
pub(crate) use volunteers::Volunteers;
