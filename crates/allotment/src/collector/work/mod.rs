//! Threads that share the work of a collection: a gang of them, helped by threads that wait at the
//! safepoint, and the stacks over which they pass pieces of work.
//!
//! [`Gang`] has the threads and does not know the work. [`TaskQueues`] has the stacks and does not
//! know threads: a thread with a number is that worker. A stack holds words, to which [`WorkEntry`]
//! gives a meaning.

mod claimer;
mod entry;
mod gang;
#[cfg(all(test, loom))]
mod model;
mod queue_pool;
mod ring;
mod sleep;
mod stack;
mod task_queues;
#[cfg(all(test, not(loom)))]
mod tests;
mod trace;
mod workers;

pub(crate) use claimer::Claimer;
pub(crate) use entry::{WorkEntry, chunk_slots};
pub(crate) use gang::{Gang, Workers};
pub(crate) use queue_pool::TaskQueuePool;
pub(crate) use ring::Ring;
pub(crate) use stack::WorkStack;
pub(crate) use task_queues::{StackLimits, TaskQueues};
pub(crate) use trace::{AHEAD, Trace, trace};
pub(crate) use workers::{default_concurrent_workers, default_workers, wanted_workers};
